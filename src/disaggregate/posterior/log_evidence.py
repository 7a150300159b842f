"""Log marginal likelihood of the reports, from the ladder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logsumexp
from scipy.stats import t as student

from disaggregate.model.priors import ScalePrior
from disaggregate.model.reports import Reports
from disaggregate.sampler.dense.kernels import log_likelihood_by_draw

# Bisecting the whole range of floats takes some 1,100 steps; brentq may take twice as many.
_MOST_HALVINGS = 4000
_FEWEST_ESTIMATES = 4
_NODES = 201
_FARTHEST_CONSTANT = 8.0


@dataclass(frozen=True)
class LogEvidence:
    """Log marginal likelihood of the groups' reports.

    Attributes
    ----------
    value : float
        The estimate; ``float()`` gives it too.
    std_error : float
        Its Monte Carlo standard error; NaN if it is the Laplace approximation at modes.
    """

    value: float
    std_error: float

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.2f}" if np.isnan(self.std_error) else f"{self.value:.2f} ± {self.std_error:.2f}"


def log_evidence(log_ratios: list[np.ndarray], log_maximum: float = 0.0) -> LogEvidence:
    """Estimate the log evidence along the ladder, from the prior to the posterior, by one ratio per pair of rungs.

    The ratio of the normalisers of two neighbouring rungs is found by Bennett's acceptance ratio, which uses the
    draws of both. The standard error comes from the spread of the chains' own estimates; few chains are cut
    into pieces for it.

    Parameters
    ----------
    log_ratios : list of ndarray of shape (n_sweeps, n_rungs - 1, 2)
        For each chain the log likelihood ratios of each pair of neighbours, the colder rung's over the
        hotter one's: at the hotter replica, and at the colder one.
    log_maximum : float, default=0.0
        Log likelihood that was taken out of the evidence to scale it.
    """
    n_pieces = -(-_FEWEST_ESTIMATES // len(log_ratios))
    pieces = [piece for chain in log_ratios for piece in np.array_split(chain, n_pieces) if len(piece)]
    estimates = [_sum_of_ratios(piece) for piece in pieces]
    is_known = len(estimates) > 1 and np.all(np.isfinite(estimates))
    spread = float(np.std(estimates, ddof=1)) if is_known else np.nan
    return LogEvidence(log_maximum + _sum_of_ratios(np.concatenate(log_ratios)), spread / np.sqrt(len(estimates)))


def average_evidence(parts: Sequence[LogEvidence], prior: Sequence[float]) -> LogEvidence:
    """Log marginal likelihood when one of several models is true, and each has a prior probability.

    Parameters
    ----------
    parts : sequence of LogEvidence
        Of each model.
    prior : sequence of float
        Prior probability of each.
    """
    joint = np.log(prior) + [part.value for part in parts]
    value = float(logsumexp(joint))
    errors = np.exp(joint - value) * [part.std_error for part in parts]
    # Errors that are not known belong to models of negligible weight.
    return LogEvidence(value, float(np.sqrt(np.nansum(errors**2))))


def _sum_of_ratios(log_ratios: np.ndarray) -> float:
    return float(
        sum(_log_ratio(log_ratios[:, pair, 0], log_ratios[:, pair, 1]) for pair in range(log_ratios.shape[1]))
    )


def _log_ratio(at_hotter: np.ndarray, at_colder: np.ndarray) -> float:
    """Solve Bennett's equation for the log ratio of normalisers."""

    def imbalance(guess: float) -> float:
        return float(expit(at_hotter - guess).sum() - expit(guess - at_colder).sum())

    if np.all(np.isneginf(at_hotter)):
        return -np.inf  # no hotter draw was possible under the colder evidence
    finite = np.concatenate([at_hotter, at_colder])
    finite = finite[np.isfinite(finite)]
    bracket = finite.min() - 50.0, finite.max() + 50.0
    return float(brentq(imbalance, *bracket, xtol=1e-6, maxiter=_MOST_HALVINGS))


def log_evidence_of_constant(reports: Reports, prior: ScalePrior) -> float:
    """Log marginal likelihood of the reports if everybody had the same probability Phi(c).

    A priori c is N(0, delta2), as the intercept is; with an inverse-gamma delta2 integrated out it is a t
    variable.
    """
    mu, nu = -2.0 * prior.power, 2.0 * prior.inverse_rate
    n_rows, n_groups = len(reports.units), len(reports.law)

    def log_integrand(grid: np.ndarray) -> np.ndarray:
        log_prior = student.logpdf(grid, mu, scale=np.sqrt(nu / mu))
        no_offset = np.zeros((len(grid), n_groups))
        constant = np.repeat(grid[:, None], n_rows, axis=1)
        return log_prior + log_likelihood_by_draw(reports, constant, no_offset, no_offset).sum(axis=1)

    grid = np.linspace(-_FARTHEST_CONSTANT, _FARTHEST_CONSTANT, _NODES)
    coarse = log_integrand(grid)
    likely = grid[coarse >= coarse.max() - 40.0]
    step = grid[1] - grid[0]
    fine = np.linspace(likely[0] - step, likely[-1] + step, _NODES)
    return float(logsumexp(log_integrand(fine)) + np.log(fine[1] - fine[0]))
