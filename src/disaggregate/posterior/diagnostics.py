"""Whether the draws can be trusted, in numbers and in words."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from disaggregate.posterior.contraction import ON_BOTH, ON_PRIOR, in_words, total_contraction
from disaggregate.posterior.convergence import bulk_ess, rank_rhat, tail_ess
from disaggregate.posterior.kernel_score import KernelScore
from disaggregate.posterior.ladder import LadderReport
from disaggregate.posterior.mixture import Posterior
from disaggregate.posterior.predictive import PredictiveCheck
from disaggregate.sampler.evenly_spaced import evenly_spaced
from disaggregate.tables.dataframes import dataframe_of

if TYPE_CHECKING:
    from pandas import DataFrame

# Individuals whose scores are checked: beyond this many, evenly spaced ones. And values of f in memory at once.
_MOST_INDIVIDUALS = 500
VALUES_AT_ONCE = 2**23

# Individuals whose differences are compared with those of the prior.
_MOST_JUDGED = 100

_AGREE = 1.01
_DISAGREE = 1.05
_ENOUGH_DRAWS = 100.0
_FEW_SWAPS = 0.1

# Log odds below which the features count as not shown to matter: 3 to 1.
_LITTLE = 1.1

# Groups whose report does not fit that the verdict names.
_MOST_NAMED = 8

# What the verdict says of the one group that is farthest off; a name may hold anything.
_OF_ONE_GROUP = re.compile(
    r"; group .* standard deviations (?:above|below) what its members' features (?:predict|tell)", re.DOTALL
)


@dataclass(frozen=True)
class Diagnostics:
    """Convergence diagnostics of the chains, and checks of the fit.

    Attributes
    ----------
    rhat, ess_bulk, ess_tail : dict
        Rank-normalised R-hat, and effective draws for the centre and for the tails, of ``delta2``,
        ``n_active`` and ``f``; for ``f`` an array, one value per individual checked. ``delta2_context`` and
        ``delta2_place`` are the scales of these components, where the model has them.
    individuals : ndarray of int
        Rows of the training table whose ``f`` was checked.
    worst_rhat, fewest_effective : float
        The worst over everything above.
    ladder : LadderReport or None
        Powers and swap rates of the ladder of replicas, the evidence, and why there is a ladder or none. A single
        replica has one power and no swap rates; None if the evidence is not available.
    kernels : list of KernelScore
        Kernels that were compared, with their evidence; empty if there was only one.
    converged : bool
        Whether the chains agree well enough to use the results.
    verdict : str
        The same in words, with advice.
    rounding_error : float
        Largest possible change of a group's share by the rounding of survey weights to whole units.
    reports : PredictiveCheck or None
        Posterior predictive check of the reports.
    contraction : float
        Share of the prior variance of differences between individuals that the reports removed; NaN where the
        prior is not known. See :mod:`disaggregate.posterior.contraction`.
    """

    rhat: dict[str, np.ndarray]
    ess_bulk: dict[str, np.ndarray]
    ess_tail: dict[str, np.ndarray]
    individuals: np.ndarray
    worst_rhat: float
    fewest_effective: float
    ladder: LadderReport | None
    kernels: list[KernelScore]
    converged: bool
    verdict: str
    rounding_error: float = 0.0
    reports: PredictiveCheck | None = None
    contraction: float = math.nan

    @property
    def rests_on(self) -> str:
        """What the differences between individuals rest on, in words; empty where the prior is not known."""
        return in_words(np.array([self.contraction]))[0]

    def summary(self) -> DataFrame:
        """Tabulate the worst value of each quantity: ``quantity, rhat, ess_bulk, ess_tail``."""
        names = list(self.rhat)
        return dataframe_of(
            {
                "quantity": names,
                "rhat": np.array([np.max(self.rhat[name]) for name in names]),
                "ess_bulk": np.array([np.min(self.ess_bulk[name]) for name in names]),
                "ess_tail": np.array([np.min(self.ess_tail[name]) for name in names]),
            }
        )

    def naming_only(self, groups: Collection[Hashable]) -> Diagnostics:
        """Return the same with a verdict that names no single groups but these.

        Parameters
        ----------
        groups : collection of hashable
            Names of the groups that are large enough to be spoken of.
        """
        known, verdict = self.reports, self.verdict
        if known is not None and known.misfits:
            shown = {name: p for name, p in known.misfits.items() if name in groups}
            hidden = len(known.misfits) - len(shown)
            verdict = verdict.replace(_judge_misfits(known.misfits), _judge_misfits(shown, hidden))
        if known is None or not len(known.groups) or known.groups[_farthest(known)] not in groups:
            verdict = _OF_ONE_GROUP.sub("", verdict)
        return replace(self, verdict=verdict)

    def _repr_html_(self) -> str:
        """Show the verdict and the numbers behind it in a notebook."""
        table = self.summary().to_html(index=False, border=0, float_format="{:.3f}".format)
        return f"<p>{escape(self.verdict)}</p>{table}"

    def __str__(self) -> str:
        lines = [self.verdict, self.summary().to_string(index=False, float_format="{:.3f}".format)]
        if self.ladder is not None:
            constant = self.ladder.log_evidence_constant
            beside = "" if np.isnan(constant) else f"; of a constant {constant:.2f}"
            lines.append(f"log evidence {self.ladder.log_evidence}{beside}")
        if self.kernels:
            lines.append("kernels compared: " + "; ".join(map(str, self.kernels)))
        if self.rounding_error > 0.0:
            lines.append(
                f"survey weights in whole units: they move no group's share by more than {self.rounding_error:.2g}"
            )
        return "\n".join(lines)


def diagnose(
    posterior: Posterior,
    X: Any,
    ladder: LadderReport | None = None,
    kernels: Sequence[KernelScore] = (),
    rounding_error: float = 0.0,
    stopped_early: str = "",
    reports: PredictiveCheck | None = None,
) -> Diagnostics:
    """Judge the draws of delta2, of the number of active kernels and of f at the individuals.

    Parameters
    ----------
    posterior : Posterior
        Draws.
    X : Individuals or ndarray of shape (n_rows, n_features)
        Training individuals.
    ladder : LadderReport, optional
        What the ladder of replicas says.
    kernels : sequence of KernelScore, optional
        Kernels that were compared.
    rounding_error : float, default=0.0
        Of survey weights; see :class:`Diagnostics`.
    stopped_early : str, default=""
        What is missing when the fit was interrupted.
    reports : PredictiveCheck, optional
        Posterior predictive check of the reports.
    """
    individuals = evenly_spaced(len(X), _MOST_INDIVIDUALS)
    rhat, ess_bulk, ess_tail = _measured(posterior, X[individuals])
    worst, fewest = _extremes(rhat, ess_bulk, ess_tail)
    n_chains, n_draws = posterior.shape
    converged, verdict = _judge(worst, fewest, n_chains, n_draws)
    scores = float(min(ess_bulk["f"].min(), ess_tail["f"].min()))
    if fewest < _ENOUGH_DRAWS < scores:
        verdict += (
            f" Predictions rest on f at the individuals alone, which has at least {scores:.0f} effective draws."
        )
    removed = _removed(posterior, X[individuals[:: max(1, len(individuals) // _MOST_JUDGED)]])
    verdict += _judge_information(removed)
    if ladder is not None:
        verdict += _judge_swaps(ladder) + _judge_gain(ladder)
    if reports is not None and reports.is_surprising:
        verdict += _judge_reports(reports)
    if reports is not None:
        verdict += _judge_misfits(reports.misfits)
    verdict = f"{stopped_early} {verdict}".lstrip()
    return Diagnostics(
        rhat,
        ess_bulk,
        ess_tail,
        individuals,
        worst,
        fewest,
        ladder,
        list(kernels),
        converged,
        verdict,
        rounding_error,
        reports,
        removed,
    )


def agreement(posterior: Posterior, X: Any) -> tuple[float, float]:
    """Return the worst R-hat, and the effective draws of what has fewest, as the verdict gives them.

    Parameters
    ----------
    posterior : Posterior
        Draws.
    X : Individuals or ndarray of shape (n_rows, n_features)
        Training individuals.
    """
    return _extremes(*_measured(posterior, X[evenly_spaced(len(X), _MOST_INDIVIDUALS)]))


def _extremes(rhat: dict[str, np.ndarray], *ess: dict[str, np.ndarray]) -> tuple[float, float]:
    worst = float(np.max([np.max(values) for values in rhat.values()]))
    return worst, float(np.min([np.min(values) for one in ess for values in one.values()]))


def _measured(posterior: Posterior, X: Any) -> list[dict[str, np.ndarray]]:
    """Measure delta2, n_active and f; f in pieces, so that memory does not grow with the number of draws."""
    measures = (rank_rhat, bulk_ess, tail_ess)
    at_once = max(1, VALUES_AT_ONCE // posterior.delta2.size)
    pieces = (posterior.scores(X[first : first + at_once]) for first in range(0, len(X), at_once))
    chains = (scores.reshape(*posterior.shape, -1) for scores in pieces)
    of_f = np.concatenate([[measure(scores) for measure in measures] for scores in chains], axis=1)
    scales = {"delta2" if name == "individual" else f"delta2_{name}": v for name, v in posterior.scales.items()}
    scalars = {**scales, "n_active": posterior.n_active.astype(float)}
    return [
        {**{name: np.asarray(measure(draws)) for name, draws in scalars.items()}, "f": values}
        for measure, values in zip(measures, of_f, strict=True)
    ]


def _removed(posterior: Posterior, X: Any) -> float:
    """Share of the prior variance of differences between some individuals that the reports removed."""
    prior = posterior.prior
    if prior is None or len(X) < 2:
        return math.nan
    after, before = (_differences(draws.scores(X)) for draws in (posterior, prior))
    return total_contraction(after, before)


def _differences(scores: np.ndarray) -> np.ndarray:
    """How far the scores of each individual lie from the average of all, shape (n_draws, n)."""
    return (scores - scores.mean(axis=1, keepdims=True)).reshape(len(scores), -1)


def _judge_information(removed: float) -> str:
    on = in_words(np.array([removed]))[0]
    if not on:
        return ""
    share = f"the reports removed {removed:.0%} of the prior variance of differences between them"
    if on == ON_PRIOR:
        return (
            f" How individuals differ rests on the prior: {share}. Treat rates of subgroups as assumptions, not "
            "as findings; more groups, or groups that differ more in composition, would say more."
        )
    how = "rests on the groups and on the prior" if on == ON_BOTH else "rests on the groups"
    return f" How individuals differ {how}: {share}."


def _judge_swaps(ladder: LadderReport) -> str:
    """Say why there is a ladder of replicas, or none, and how well it mixes."""
    because = f", because {ladder.reason}" if ladder.reason else ""
    if not ladder.is_ladder:
        return f" Each chain is a single replica{because}."
    why = f" Each chain is a ladder of replicas{because}." if because else ""
    return why + _judge_mixing(ladder)


def _judge_mixing(ladder: LadderReport) -> str:
    lowest, n_rungs = float(ladder.swap_rates.min()), len(ladder.powers)
    seen = f"{n_rungs} replicas per chain, neighbours swap in {lowest:.0%} of the attempts or more"
    if lowest < _FEW_SWAPS:
        return (
            f" The replicas swap too rarely to help the chains out of a wrong explanation ({seen}): "
            f"set n_replicas={2 * n_rungs}."
        )
    return f" The replicas swap well ({seen})."


def _judge_gain(ladder: LadderReport) -> str:
    """Say whether the reports say more than the base rate, where that was compared."""
    if np.isnan(ladder.gain):
        return ""
    odds = f"{_rounded(np.exp(min(abs(ladder.gain), 13.8)))} to 1"
    if ladder.gain >= _LITTLE:
        return f" The reports say more than the base rate: the odds are {odds} that the features matter."
    doubt = f"only {odds} that the features matter"
    if ladder.gain <= 0.0:
        doubt = f"{odds} that the features do not matter"
    return (
        f" The reports say little beyond the base rate: the odds are {doubt}. Individual probabilities stay near "
        "the base rate with wide intervals; more groups, smaller ones, or groups that differ more in composition "
        "would say more."
    )


def _judge_reports(reports: PredictiveCheck) -> str:
    worst = _farthest(reports)
    side = "above" if reports.surprise[worst] > 0.0 else "below"
    chance = "p below 0.001" if reports.p_value < 0.001 else f"p = {reports.p_value:.2g}"
    return (
        f" The model explains the reports badly ({chance}; group {reports.groups[worst]!r} lies "
        f"{abs(reports.surprise[worst]):.1f} standard deviations {side} what its members' features predict): "
        "groups differ in more than these features, or the reports are less exact than was claimed. Intervals are "
        "then too narrow: add features in which the groups differ, set group_effects=True, or let the "
        'confidence be learned (confidence="auto").'
    )


def _judge_misfits(misfits: Mapping[Hashable, float], n_unnamed: int = 0) -> str:
    """Name the groups whose report does not fit, a few of many."""
    n_groups = len(misfits) + n_unnamed
    if not n_groups:
        return ""
    named = [f"{name!r} ({probability:.0%})" for name, probability in list(misfits.items())[:_MOST_NAMED]]
    more = n_groups - len(named)
    others = "" if not more else f"{' and ' if named else ''}{more} {'more ' if named else ''}of them"
    return (
        " The reports of some groups do not fit their members, and have little weight: "
        f"{', '.join(named)}{others} "
        "(probability that the report is wrong, or the group unlike all others)."
    )


def _farthest(reports: PredictiveCheck) -> int:
    return int(np.argmax(np.abs(reports.surprise)))


def _rounded(odds: float) -> str:
    """Two digits are all that odds deserve, and a million is enough."""
    return "a million" if odds > 9e5 else f"{float(f'{odds:.2g}'):,.10g}"


def _judge(worst: float, fewest: float, n_chains: int, n_draws: int) -> tuple[bool, str]:
    if np.isnan(worst) or np.isnan(fewest):
        return False, f"{n_draws} draws per chain are too few to judge the result: set n_draws to 100 or more."
    seen = f"worst R-hat {worst:.3f}, at least {fewest:.0f} effective draws"
    if worst > _DISAGREE:
        who = "The chains do not agree" if n_chains > 1 else "The chain has not settled"
        return False, (
            f"{who} ({seen}): the result depends on where they started, so do not rely on it yet. "
            f"Run longer (n_burn={4 * n_draws}, n_draws={4 * n_draws}); if that does not help, the groups may "
            "be too few or too large to decide between several explanations, and fewer centers or a wider kernel "
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
            f"The chains nearly agree ({seen}): averages are accurate; for accurate interval ends run longer, "
            f"for instance n_draws={2 * n_draws}."
        )
    return True, f"The chains agree ({seen})."
