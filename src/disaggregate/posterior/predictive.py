"""Whether the groups' reports look like those that the fitted model would produce.

Each draw of f produces shares of its own: labels are tossed, counted and reported with the noise that the evidence
admits. Where the real reports lie farther from what f expects than those, the model explains them badly: groups
differ in more than their members' features, or reports are less exact than was claimed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from disaggregate.groups import GroupedData
from disaggregate.groups.evidence import Count, Fraction, Population
from disaggregate.posterior.group_score import runs_of_groups
from disaggregate.posterior.mixture import Posterior

# Draws that are checked: beyond this many, an even choice of them.
_MOST_DRAWS = 200
_VALUES_AT_ONCE = 2**23

# Members of the groups that are checked, about: beyond this many, an even choice of groups.
_MOST_ROWS = 20_000

# Below this probability of larger discrepancies the reports are called surprising.
SURPRISING = 0.01

# Beyond this confidence a report is taken for exact.
_EXACT = 1e9

# A group of which f is certain would make any error infinite.
_LEAST_VARIANCE = 1e-12

_TELL_SHARES = (Fraction, Count, Population)


@dataclass(frozen=True)
class PredictiveCheck:
    """How the reports compare with those that the model would produce.

    Attributes
    ----------
    p_value : float
        Posterior predictive probability of reports that are as far from what the model expects, over all groups
        that report a share; NaN where none does. Far below one half means that the model explains them badly.
    groups : tuple
        The groups that report a share.
    surprise : ndarray of shape (n_groups,)
        How many standard deviations each group's report lies above what f expects, on average over draws.
    """

    p_value: float
    groups: tuple
    surprise: np.ndarray

    @property
    def is_surprising(self) -> bool:
        """Whether the model explains the reports badly."""
        return self.p_value < SURPRISING


def check_reports(posterior: Posterior, X: np.ndarray, data: GroupedData) -> PredictiveCheck:
    """Compare the reports with those of replicated groups.

    Parameters
    ----------
    posterior : Posterior
        Draws.
    X : ndarray of shape (n_rows, n_features)
        Training individuals in the caller's order.
    data : GroupedData
        Groups and evidence.
    """
    groups = _checked_groups(data)
    if not len(groups):
        return PredictiveCheck(np.nan, (), np.empty(0))
    rng = np.random.default_rng(len(X))  # the answer does not change when it is asked for again
    mean, variance, tossed = _shares(posterior, X, data, groups, rng)
    confidence = np.array([getattr(data.evidence[group], "confidence", np.inf) for group in groups])
    spread = np.sqrt(variance + mean * (1.0 - mean) / (confidence + 3.0))
    distance = (data.reported_shares[groups] - mean) / spread
    replicated = (_with_noise(tossed, confidence, rng) - mean) / spread
    farther = (replicated**2).sum(axis=1) >= (distance**2).sum(axis=1)
    return PredictiveCheck(
        float(farther.mean()), tuple(data.names[group] for group in groups), distance.mean(axis=0)
    )


def _checked_groups(data: GroupedData) -> np.ndarray:
    """Find the groups that report a share, or an even choice of them if they have very many members."""
    tells = np.array([isinstance(known, _TELL_SHARES) for known in data.evidence])
    told = np.flatnonzero(tells & (data.sizes <= _MOST_ROWS))
    n_rows = int(data.sizes[told].sum())
    n_groups = max(1, round(len(told) * min(1.0, _MOST_ROWS / max(n_rows, 1))))
    return told[np.unique(np.linspace(0, len(told) - 1, n_groups).astype(int))] if len(told) else told


def _shares(
    posterior: Posterior, X: np.ndarray, data: GroupedData, groups: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and variance of each group's share given f, and that of labels tossed by f, (n_draws, n_groups)."""
    n_draws = posterior.delta2.size
    chosen = np.unique(np.linspace(0, n_draws - 1, min(n_draws, _MOST_DRAWS)).astype(int))
    mean, variance, tossed = np.zeros((3, len(chosen), len(groups)))
    for first, last in runs_of_groups(data.sizes[groups], max(1, _VALUES_AT_ONCE // n_draws)):
        rows = np.concatenate([np.arange(*data.offsets[group : group + 2]) for group in groups[first:last]])
        starts = np.cumsum(data.sizes[groups[first:last]]) - data.sizes[groups[first:last]]
        weight = data.units[rows] / np.repeat(data.totals[groups[first:last]], data.sizes[groups[first:last]])
        p = ndtr(posterior.scores(X[data.order[rows]])[chosen])
        mean[:, first:last] = np.add.reduceat(p * weight, starts, axis=1)
        variance[:, first:last] = np.add.reduceat(p * (1.0 - p) * weight**2, starts, axis=1)
        tossed[:, first:last] = np.add.reduceat((rng.random(p.shape) < p) * weight, starts, axis=1)
    return mean, np.maximum(variance, _LEAST_VARIANCE), tossed


def _with_noise(share: np.ndarray, confidence: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Report the shares with the Beta noise of section 3.1; exact ones as they are."""
    chi = np.minimum(confidence, _EXACT)
    noisy = rng.beta(chi * share + 1.0, chi * (1.0 - share).clip(0.0) + 1.0)
    return np.where(confidence >= _EXACT, share, noisy)
