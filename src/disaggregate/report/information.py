"""What each estimate rests on, and its bounds under any assumption."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from disaggregate.posterior.bounds import HIGH, LOW
from disaggregate.posterior.contraction import CONTRACTION, ON_BOTH, ON_GROUPS, ON_PRIOR, RESTS_ON
from disaggregate.report.elements import Element, Fold, Text
from disaggregate.report.subgroups import Rates
from disaggregate.report.tables import as_estimates

_SENTENCES = {
    ON_GROUPS: ("good", "Shares by {} rest on the results of the groups."),
    ON_BOTH: ("", "Shares by {} rest on the results of the groups and on the prior: they are partly assumed."),
    ON_PRIOR: ("bad", "Shares by {} rest on the prior: the results of the groups say little about them."),
}


def resting_on_prior(found: Sequence[Rates]) -> tuple[int, int]:
    """Count the estimates that rest on the prior, and all of which that is known."""
    words = [word for rates in found for word in rates.table.get(RESTS_ON, []) if word]
    return words.count(ON_PRIOR), len(words)


def information_by_column(found: Sequence[Rates]) -> list[tuple[str, str]]:
    """Say of each column what the shares by it rest on; the worst of its subgroups decides."""
    names: dict[str, list[str]] = {word: [] for word in _SENTENCES}
    for rates in found:
        own = set(rates.table.get(RESTS_ON, []))
        worst = next((word for word in (ON_PRIOR, ON_BOTH, ON_GROUPS) if word in own), None)
        if worst is not None:
            names[worst].append(rates.name)
    return [
        (tone, sentence.format(_listed(names[word])))
        for word, (tone, sentence) in _SENTENCES.items()
        if names[word]
    ]


def information_elements(found: Sequence[Rates]) -> list[Element]:
    """Tabulate what each estimate rests on, with the bounds where there are any."""
    tables = [one.table.assign(by=one.name) for one in found if RESTS_ON in one.table]
    if not tables:
        return []
    table = pd.concat(tables, ignore_index=True)
    headings = {"by": "By", "label": "Who", "estimate": "Share"}
    text = (
        "An interval can be narrow because the results of the groups say so, or because the prior does. The share "
        "of the prior variance that the results removed shows which it is."
    )
    if LOW in table:
        headings |= {LOW: "Bounds from", HIGH: "to"}
        text += (
            " Bounds hold under any assumption about people, if the results are exact: they follow from how many "
            "people of each group are of this kind."
        )
    headings |= {CONTRACTION: "Prior variance removed", RESTS_ON: "Rests on"}
    caption = "What each share rests on."
    return [Text(text), Fold("What each share rests on", [as_estimates(table, caption, headings)])]


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
