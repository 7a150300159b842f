"""Whether the draws can be trusted, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from disaggregate.posterior.convergence import bulk_ess, rank_rhat, tail_ess
from disaggregate.posterior.draws import Posterior
from disaggregate.tables.frames import as_table

if TYPE_CHECKING:
    from pandas import DataFrame

# Individuals whose scores are checked: beyond this many, an even choice of them.
_MOST_INDIVIDUALS = 500

_AGREE = 1.01
_DISAGREE = 1.05
_ENOUGH_DRAWS = 100.0


@dataclass(frozen=True)
class Diagnostics:
    """Convergence of the chains.

    Attributes
    ----------
    rhat, ess_bulk, ess_tail : dict
        Rank-normalised R-hat, and effective draws for the centre and for the tails, of ``delta2``,
        ``n_active`` and ``f``; for ``f`` an array, one value an individual checked.
    individuals : ndarray of int
        Rows of the training table whose ``f`` was checked.
    worst_rhat, fewest_effective : float
        The worst over everything above.
    converged : bool
        Whether the chains agree well enough to use the results.
    verdict : str
        The same in words, with advice.
    """

    rhat: dict[str, np.ndarray]
    ess_bulk: dict[str, np.ndarray]
    ess_tail: dict[str, np.ndarray]
    individuals: np.ndarray
    worst_rhat: float
    fewest_effective: float
    converged: bool
    verdict: str

    def summary(self) -> DataFrame:
        """Tabulate the worst value of each quantity: ``quantity, rhat, ess_bulk, ess_tail``."""
        names = list(self.rhat)
        return as_table(
            {
                "quantity": names,
                "rhat": np.array([np.max(self.rhat[name]) for name in names]),
                "ess_bulk": np.array([np.min(self.ess_bulk[name]) for name in names]),
                "ess_tail": np.array([np.min(self.ess_tail[name]) for name in names]),
            }
        )

    def __str__(self) -> str:
        return f"{self.verdict}\n{self.summary().to_string(index=False, float_format='{:.3f}'.format)}"


def diagnose(posterior: Posterior, X: np.ndarray) -> Diagnostics:
    """Judge the draws of delta2, of the number of active kernels and of f at the individuals.

    Parameters
    ----------
    posterior : Posterior
        Draws.
    X : ndarray of shape (n_rows, n_features)
        Training individuals.
    """
    n_checked = min(len(X), _MOST_INDIVIDUALS)
    individuals = np.unique(np.linspace(0, len(X) - 1, n_checked).astype(int))
    draws = {
        "delta2": posterior.delta2,
        "n_active": posterior.n_active.astype(float),
        "f": posterior.scores(X[individuals]).reshape(*posterior.shape, -1),
    }
    rhat = {name: np.asarray(rank_rhat(values)) for name, values in draws.items()}
    ess_bulk = {name: np.asarray(bulk_ess(values)) for name, values in draws.items()}
    ess_tail = {name: np.asarray(tail_ess(values)) for name, values in draws.items()}
    worst = float(np.max([np.max(values) for values in rhat.values()]))
    fewest = float(np.min([np.min(values) for ess in (ess_bulk, ess_tail) for values in ess.values()]))
    n_chains, n_draws = posterior.shape
    converged, verdict = _judge(worst, fewest, n_chains, n_draws)
    scores = float(min(ess_bulk["f"].min(), ess_tail["f"].min()))
    if fewest < _ENOUGH_DRAWS < scores:
        verdict += (
            f" Predictions rest on f at the individuals alone, which has at least {scores:.0f} effective draws."
        )
    return Diagnostics(rhat, ess_bulk, ess_tail, individuals, worst, fewest, converged, verdict)


def _judge(worst: float, fewest: float, n_chains: int, n_draws: int) -> tuple[bool, str]:
    if np.isnan(worst) or np.isnan(fewest):
        return False, f"{n_draws} draws a chain are too few to judge the result: set n_draws to 100 or more."
    seen = f"worst R-hat {worst:.3f}, at least {fewest:.0f} effective draws"
    if worst > _DISAGREE:
        who = "The chains do not agree" if n_chains > 1 else "The chain has not settled"
        return False, (
            f"{who} ({seen}): the result depends on where they started, so do not rely on it yet. "
            f"Run longer (n_burn={4 * n_draws}, n_draws={4 * n_draws}); if that does not help, the groups may "
            "be too few or too large to tell several explanations apart, and fewer centers or a wider kernel "
            "(smaller gamma) may settle it."
        )
    if fewest < _ENOUGH_DRAWS:
        return False, (
            f"The draws are too few for reliable intervals ({seen}): run longer, "
            f"for instance n_draws={4 * n_draws}."
        )
    if n_chains == 1:
        return True, (
            f"The chain looks settled ({seen}), but one chain cannot show whether others would agree: "
            "use n_chains=4 before you rely on it."
        )
    if worst > _AGREE:
        return True, (
            f"The chains nearly agree ({seen}): averages are good; for exact interval ends run longer, "
            f"for instance n_draws={2 * n_draws}."
        )
    return True, f"The chains agree ({seen})."
