"""Whether to believe it: the verdict in words, and the numbers behind it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from disaggregate.posterior.contraction import ON_PRIOR
from disaggregate.report.elements import Element, Facts, Table, Text
from disaggregate.report.information import resting_on_prior
from disaggregate.report.subgroups import Rates
from disaggregate.report.tables import as_table
from disaggregate.tables.suppression import hidden, members_of_groups

if TYPE_CHECKING:
    from disaggregate.analysis import Analysis
    from disaggregate.posterior.diagnostics import Diagnostics

_QUANTITIES = {
    "delta2": "scale of the weights (delta2)",
    "delta2_context": "scale of the effect of group composition (delta2_context)",
    "delta2_place": "scale of the effect of the group as a whole (delta2_place)",
    "n_active": "active kernels (n_active)",
    "f": "score of a person (f)",
}


def publishable_diagnostics(analysis: Analysis, min_group_size: int = 1) -> Diagnostics:
    """Return the diagnostics with a verdict that names no group that is too small."""
    classifier = analysis.classifier
    is_shown = ~hidden(members_of_groups(classifier._data), min_group_size)
    names = {name for name, one_is in zip(classifier._data.names, is_shown, strict=True) if one_is}
    return classifier.diagnostics_.naming_only(names)


def verdict_elements(analysis: Analysis, diagnostics: Diagnostics, found: Sequence[Rates] = ()) -> list[Element]:
    """Say whether the chains agree and whether the reports say anything, with the numbers behind it."""
    head, tone = _head(diagnostics, found)
    elements: list[Element] = [
        Text(f"{head} {diagnostics.verdict}", tone=tone),
        Facts(_facts(analysis)),
        _quantities(diagnostics),
    ]
    if diagnostics.kernels:
        elements.append(_kernels(diagnostics))
    return elements


def _head(diagnostics: Diagnostics, found: Sequence[Rates]) -> tuple[str, str]:
    """Sum up in a word; chains that agree make nothing ready that rests on the prior."""
    if not diagnostics.converged:
        return "Not yet reliable.", "bad"
    n_prior, n_known = resting_on_prior(found)
    if n_prior:
        return f"Converged, but {n_prior} of {n_known} shares rest on the prior, not on the results.", "bad"
    if diagnostics.rests_on == ON_PRIOR:
        return "Converged, but how people differ rests on the prior, not on the results.", "bad"
    return "Ready to use.", "good"


def _facts(analysis: Analysis) -> list[tuple[str, str]]:
    diagnostics = analysis.classifier.diagnostics_
    n_chains, n_draws = analysis.classifier.posterior_.shape
    facts = [
        ("Chains and draws", f"{n_chains} chains of {n_draws:,} draws"),
        ("Worst R-hat (1 is best, below 1.01 is good)", _number(diagnostics.worst_rhat, ".3f")),
        ("Fewest effective draws (100 or more are good)", _number(diagnostics.fewest_effective, ",.0f")),
    ]
    ladder = diagnostics.ladder
    if ladder is None:
        return [*facts, ("Log evidence", "not known: this fit had no ladder of replicas")]
    facts.append(("Log evidence of the reports", str(ladder.log_evidence)))
    if not math.isnan(ladder.gain):
        facts += [
            ("The same if all people had one probability", f"{ladder.log_evidence_constant:.2f}"),
            ("Gain from the features", f"{ladder.gain:+.2f}"),
        ]
    if not ladder.is_ladder:
        return facts
    return [
        *facts,
        ("Replicas, and how often the worst pair swaps", f"{len(ladder.powers)}, {ladder.swap_rates.min():.0%}"),
    ]


def _number(value: float, form: str) -> str:
    return "not known" if math.isnan(value) else format(value, form)


def _quantities(diagnostics: Diagnostics) -> Table:
    summary = diagnostics.summary()
    shown = summary.assign(
        quantity=summary["quantity"].map(lambda name: _QUANTITIES.get(name, name)),
        ess_bulk=_whole(summary["ess_bulk"]),
        ess_tail=_whole(summary["ess_tail"]),
    )
    headings = {
        "quantity": "Quantity",
        "rhat": "R\u2011hat",  # a hyphen would let it break in two
        "ess_bulk": "Effective draws, centre",
        "ess_tail": "Effective draws, tails",
    }
    return as_table(shown, "Agreement of the chains: the worst value of each quantity.", headings)


def _whole(numbers: pd.Series) -> pd.Series:
    return numbers.round().astype("Int64")


def _kernels(diagnostics: Diagnostics) -> Table:
    frame = pd.DataFrame(
        {
            "kernel": [score.kernel for score in diagnostics.kernels],
            "gamma": [None if score.kernel == "linear" else score.gamma for score in diagnostics.kernels],
            "emphasis": [score.emphasis for score in diagnostics.kernels],
            "evidence": [score.log_evidence.value for score in diagnostics.kernels],
            "error": [score.log_evidence.std_error for score in diagnostics.kernels],
            "prior": [score.prior for score in diagnostics.kernels],
            "weight": [score.weight for score in diagnostics.kernels],
        }
    ).astype({"gamma": float})
    headings = {
        "kernel": "Kernel",
        "gamma": "Gamma",
        "emphasis": "Emphasis",
        "evidence": "Log evidence",
        "error": "Standard error",
        "prior": "Weight before",
        "weight": "Weight after",
    }
    return as_table(frame, "Kernels that were compared, and the weight of each in the results.", headings, 4)
