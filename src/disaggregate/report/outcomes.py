"""The sections of a report on more than two outcomes: all of them side by side, then each by itself."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from disaggregate.report.answer import main_columns, reliance
from disaggregate.report.axis import Axis
from disaggregate.report.effects import effects_section
from disaggregate.report.elements import (
    Cell,
    Column,
    Element,
    Fold,
    Forest,
    Heading,
    Judgement,
    Section,
    Segment,
    Stacked,
    StackedRow,
    Table,
    Text,
)
from disaggregate.report.findings import Findings
from disaggregate.report.groups import groups_section
from disaggregate.report.information import information_elements
from disaggregate.report.limits import limits_section
from disaggregate.report.percentages import level_in_words, plain, share
from disaggregate.report.sensitivity import of_outcome, sensitivity_section
from disaggregate.report.subgroups import MOST_ROWS_DRAWN, Rates, axis_of, forest_part
from disaggregate.report.tables import NOTHING
from disaggregate.tables.suppression import NOTE, SUPPRESSED, is_suppressed

if TYPE_CHECKING:
    from disaggregate.analysis import Analysis
    from disaggregate.posterior.diagnostics import Diagnostics

ByOutcome = Mapping[Hashable, Findings]

# Parts of a bar that are narrower, in per cent, have no number inside.
_NARROW = 7.0

EVERYBODY = "Everybody"


def outcome_sections(
    analysis: Analysis, found: ByOutcome, diagnostics: Diagnostics, moved: pd.DataFrame | None = None
) -> list[Section]:
    """Put what was found of each outcome into sections.

    Parameters
    ----------
    analysis : Analysis
        Fitted with more than two outcomes, none of them chosen.
    found : mapping
        Outcome to its findings, all about the same people and columns.
    diagnostics : Diagnostics
        With a verdict that names no group that is too small.
    moved : DataFrame, optional
        A sensitivity run, as :func:`.sensitivity.read_sensitivity` returns it.
    """
    first = next(iter(found.values()))
    return [
        _answer(analysis, found, diagnostics),
        *([_subgroups(found)] if first.rates else []),
        _each("effects", "Effects", found, lambda name: _effects(analysis.of_outcome(name), found[name])),
        _each("groups", "Groups", found, lambda name: _groups(analysis.of_outcome(name), found[name])),
        _limits(analysis, found),
        *([] if moved is None else [_each("sensitivity", "Sensitivity", found, _moved(moved))]),
    ]


def _moved(table: pd.DataFrame) -> Callable[[Hashable], Section]:
    return lambda name: sensitivity_section(of_outcome(table, name), str(name))


def _effects(one: Analysis, findings: Findings) -> Section:
    return effects_section(
        one, findings.people, findings.effects, findings.level, is_chosen=findings.features_chosen
    )


def _groups(one: Analysis, findings: Findings) -> Section:
    return groups_section(one, findings.groups, findings.level, findings.min_group_size)


def _each(key: str, title: str, found: ByOutcome, section_of: Callable[[Hashable], Section]) -> Section:
    """Put the sections of all outcomes under one title."""
    elements: list[Element] = []
    for name in found:
        elements += [Heading(str(name)), *section_of(name).elements]
    return Section(key, title, elements)


def _answer(analysis: Analysis, found: ByOutcome, diagnostics: Diagnostics) -> Section:
    first = next(iter(found.values()))
    columns = _main_columns(found)
    rows = [_row(EVERYBODY, {name: own.everybody.iloc[0] for name, own in found.items()})]
    parts = [("", rows), *((name, _rows_of(estimates_by_column(found, name))) for name in columns)]
    level = first.level
    elements: list[Element] = [
        Text(_summary(analysis, found, columns), "lead"),
        Stacked("Estimated shares of the outcomes", [str(name) for name in found], parts, "People"),
        Text(
            f"The {level_in_words(level)} intervals of these shares are in the tables below; those of everybody: "
            f"{_everybody(found)}."
        ),
        Judgement("What may be relied on", _reliance(analysis, found, diagnostics, level)),
    ]
    return Section("answer", "The answer", elements)


def _reliance(
    analysis: Analysis, found: ByOutcome, diagnostics: Diagnostics, level: float
) -> list[tuple[str, str]]:
    """Judge by the shares of all outcomes; a column is known as badly as its worst outcome."""
    every: dict[str, list[pd.DataFrame]] = {}
    for findings in found.values():
        for rates in findings.rates:
            every.setdefault(rates.name, []).append(rates.table)
    joined = [Rates(name, pd.concat(tables, ignore_index=True)) for name, tables in every.items()]
    return reliance(analysis, diagnostics, joined, level)


def _main_columns(found: ByOutcome) -> list[str]:
    """Name the columns by which people differ most, by the outcome that differs most by any."""
    widest = max(found.values(), key=lambda own: max((rates.spread for rates in own.rates), default=0.0))
    return [rates.name for rates in main_columns(widest.rates)]


def estimates_by_column(found: ByOutcome, column: str) -> dict[Hashable, pd.DataFrame]:
    """Find the estimates by one column, for each outcome in the same order of rows: that of the first.

    Parameters
    ----------
    found : mapping
        Outcome to its findings.
    column : str
        One of those that the findings have rates by.
    """
    tables = {
        name: next(rates.table for rates in own.rates if rates.name == column) for name, own in found.items()
    }
    labels = next(iter(tables.values()))["label"]
    return {name: table.set_index("label").loc[labels].reset_index() for name, table in tables.items()}


def _rows_of(tables: Mapping[Hashable, pd.DataFrame]) -> list[StackedRow]:
    labels = next(iter(tables.values()))["label"]
    return [
        _row(str(label), {name: table.iloc[index] for name, table in tables.items()})
        for index, label in enumerate(labels)
    ]


def _row(label: str, by_outcome: Mapping[Hashable, pd.Series]) -> StackedRow:
    """Make a bar of the shares of all outcomes; an empty one where nothing may be shown."""
    n = f"{int(next(iter(by_outcome.values()))['n']):,}"
    shares = np.array([row["estimate"] for row in by_outcome.values()], dtype=float)
    if not np.isfinite(shares).all():
        return StackedRow(label, [], n)
    widths = 100.0 * shares / shares.sum()
    starts = np.concatenate([[0.0], np.cumsum(widths)[:-1]])
    segments = [
        Segment(round(float(start), 3), round(float(width), 3), f"{width:.0f}" if width >= _NARROW else "")
        for start, width in zip(starts, widths, strict=True)
    ]
    return StackedRow(label, segments, n)


def _summary(analysis: Analysis, found: ByOutcome, columns: Sequence[str]) -> str:
    rows = {name: own.everybody.iloc[0] for name, own in found.items()}
    ordered = sorted(rows, key=lambda name: -rows[name]["estimate"])
    shares = [f"“{name}” {plain(rows[name]['estimate'])}" for name in ordered]
    weighted = f", weighted by {analysis.roles.weight}" if analysis.roles.weight else ""
    n = int(rows[ordered[0]]["n"])
    sentence = f"Among {n:,} people{weighted}, the estimated shares are {', '.join(shares[:-1])} and {shares[-1]}."
    return f"{sentence} They differ most by {columns[0]}." if columns else sentence


def _everybody(found: ByOutcome) -> str:
    texts = []
    for name, own in found.items():
        row = own.everybody.iloc[0]
        value, between = share(row["estimate"], row["conf_low"], row["conf_high"])
        texts.append(f"{name} {value} ({between})")
    return ", ".join(texts)


def _subgroups(found: ByOutcome) -> Section:
    """Set the shares of all outcomes beside each other, by each column: a table, and intervals on one axis."""
    first = next(iter(found.values()))
    axis = axis_of([rates for own in found.values() for rates in own.rates], _all_people_table(found))
    elements: list[Element] = [
        Text(
            "Estimated share of each outcome in each subgroup: a row of a table adds up to 100%. In brackets its "
            f"{level_in_words(first.level)} interval."
        )
    ]
    for rates in first.rates:
        tables = estimates_by_column(found, rates.name)
        elements += [Heading(f"By {rates.name}"), transfer_table(rates.name, tables)]
        if len(rates.table) <= MOST_ROWS_DRAWN:
            elements.append(Fold("The same, drawn on one axis", [_forest(rates.name, tables, axis)]))
    return Section("subgroups", "Subgroups", elements)


def _all_people_table(found: ByOutcome) -> pd.DataFrame:
    return pd.concat([own.everybody for own in found.values()], ignore_index=True)


def transfer_table(column: str, tables: Mapping[Hashable, pd.DataFrame]) -> Table:
    """Make a table of subgroups by outcomes, each share with its interval.

    Parameters
    ----------
    column : str
        What the subgroups are by.
    tables : mapping
        Outcome to its estimates, with the same rows.
    """
    first = next(iter(tables.values()))
    columns = [Column(column, False), *(Column(str(name), True) for name in tables), Column("People", True)]
    rows = [
        [
            Cell(str(label), str(label)),
            *(_cell(table.iloc[index]) for table in tables.values()),
            Cell(f"{int(n):,}", float(n)),
        ]
        for index, (label, n) in enumerate(zip(first["label"], first["n"], strict=True))
    ]
    return Table(f"Share of each outcome by {column}", columns, rows)


def _cell(row: pd.Series) -> Cell:
    if not np.isfinite(row["estimate"]):
        return Cell(SUPPRESSED if is_suppressed(row.get(NOTE, "")) else NOTHING, None)
    value, between = share(row["estimate"], row["conf_low"], row["conf_high"])
    return Cell(f"{value} ({between.rstrip('%')})", float(row["estimate"]))


def _forest(column: str, tables: Mapping[Hashable, pd.DataFrame], axis: Axis) -> Forest:
    parts = [replace(forest_part(Rates(column, table), axis), heading=str(name)) for name, table in tables.items()]
    return Forest(f"Share of each outcome by {column}", axis, parts, (column, "Share"), None, "People")


def _limits(analysis: Analysis, found: ByOutcome) -> Section:
    first = next(iter(found.values()))
    section = limits_section(analysis, first.between)
    elements = list(section.elements)
    for name, own in found.items():
        elements = information_elements(own.rates)
        if elements:
            fold = next(element for element in elements if isinstance(element, Fold))
            elements.append(replace(fold, title=f"{fold.title} of “{name}”"))
    return replace(section, elements=elements)
