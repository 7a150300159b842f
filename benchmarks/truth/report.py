"""The page of what was measured: means over tasks in both halves, every task, and the rates of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from benchmarks.markdown import markdown_table
from benchmarks.truth.cells import KIND
from benchmarks.truth.scores import is_covered
from benchmarks.truth.task import BOTH, HALVES

MEANS = {
    "log_loss": "log loss",
    "auc": "AUC",
    "error": "error of rates",
    "coverage": "90 % holds",
    "width": "width",
}
EACH = {**MEANS, "slope": "slope", "seconds": "seconds", "rhat": "R-hat"}
AREAS = {"area_error": "error", "area_coverage": "90 % holds", "area_width": "width"}
_PER_CENT = ("coverage", "area_coverage")

INTRODUCTION = """\
# Real groups with known truth

Made by `python -m benchmarks.truth --data FOLDER`. Methods see features of people, or counts of cells, and a \
share per group; what people or cells really are is known to the judge alone. Census areas: 76 areas of North \
Carolina, some rows each with the share of everybody in the area, and once 30 rows with the share of these rows \
("full count"), judged on 8,000 others. New York 2016: respondents with the official result of their district, \
judged on their reported votes. Counties of 1910 and precincts: cells with both margins of each table, judged on \
the tables.

Error of rates: mean absolute error of the rate of each subgroup of 100 judges or more (30 in New York) by one \
column or two; in tables of cells, of each kind of people in all areas together. Subgroups overlap. 90 % holds: \
how many of the intervals for these very people hold their true rate; only some methods have intervals. Slope: of \
true rates on estimated ones; below 1 differences are overstated. Log loss and AUC of cells count every person. \
Seconds: wall time, on machines with more or less other work. Fits of more than 500 areas or 5,000 rows have \
shorter chains: see R-hat.

Outcomes, in the order of their names, belong in turn to the half for choosing defaults and to the half for \
reporting; where there is one outcome its areas do, and every method is fitted to all of them.
"""


def page(rows: pd.DataFrame, rates: pd.DataFrame, methods: Sequence[str], missing: Mapping[str, str]) -> str:
    """Write the page.

    Parameters
    ----------
    rows : DataFrame
        A line of scores per task, method and half.
    rates : DataFrame
        Rates of subgroups by one column.
    methods : sequence of str
        In the order of the tables.
    missing : mapping
        Methods that could not run, and why.
    """
    orders = {name: rows[name].unique() for name in ("table", "case", "outcome")} | {"method": methods}
    rows = rows.assign(**{name: pd.Categorical(rows[name], order, ordered=True) for name, order in orders.items()})
    lines = [INTRODUCTION, *(f"Skipped: {name}: {why}" for name, why in missing.items())]
    lines += ["## Means over tasks, choosing half / reporting half", "", *means_table(rows), ""]
    if rows["area_error"].notna().any():
        lines += ["## Rates of cells, area by area", "", *areas_table(rows), ""]
    if len(of_cells := rates[rates["by"] == KIND]):
        lines += ["## Rates of cells, all areas together", "", *rates_table(of_cells, methods), ""]
    lines += ["## Every task", "", *tasks_table(rows)]
    return "\n".join([*lines, ""])


def means_table(rows: pd.DataFrame) -> list[str]:
    """Average the tasks of each half; a mean over fewer outcomes than others have says so."""
    table = []
    for (name, case), part in rows[rows["half"] != BOTH].groupby(["table", "case"], observed=True):
        most = part.groupby("half")["outcome"].nunique()
        for method, own in part.groupby("method", observed=True):
            by_half = {half: own[own["half"] == half] for half in HALVES}
            n_each = [by_half[half]["outcome"].nunique() for half in HALVES]
            is_whole = all(n == most.get(half, 0) for n, half in zip(n_each, HALVES, strict=True))
            note = "" if is_whole else f" ({' / '.join(map(str, n_each))} outcomes)"
            cells = [
                " / ".join(shown(by_half[half][column].mean(), column) for half in HALVES) for column in MEANS
            ]
            table.append([name, case, f"{method}{note}", *cells])
    return markdown_table(["table", "given", "method", *MEANS.values()], table)


def areas_table(rows: pd.DataFrame) -> list[str]:
    """Tabulate the cells of each area."""
    part = rows[rows["area_error"].notna()].sort_values(["table", "outcome", "half", "method"])
    table = [
        [row["table"], row["outcome"], row["half"], str(row["method"]), f"{row['area_subgroups']:.0f}"]
        + [shown(row[column], column) for column in AREAS]
        for _, row in part.iterrows()
    ]
    return markdown_table(["table", "outcome", "half", "method", "cells", *AREAS.values()], table)


def rates_table(rates: pd.DataFrame, methods: Sequence[str]) -> list[str]:
    """Set the estimates of all methods beside the true rate of each kind of people; ``*`` marks a miss."""
    ran = [method for method in methods if (rates["method"] == method).any()]
    table = []
    for key, part in rates[rates["seed"] == 0].groupby(["table", "outcome", "half", "subgroup"], sort=False):
        by_method = {row["method"]: row for _, row in part.iterrows()}
        cells = [_estimate(by_method[method]) if method in by_method else "" for method in ran]
        table.append([*map(str, key), f"{part['truth'].iloc[0]:.3f}", *cells])
    return markdown_table(["table", "outcome", "half", "people", "truth", *ran], table)


def _estimate(row: pd.Series) -> str:
    if np.isnan(row["low"]):
        return f"{row['estimate']:.3f}"
    missed = "" if is_covered(row.to_frame().T).iloc[0] else " *"
    return f"{row['estimate']:.3f} ({row['low']:.3f} to {row['high']:.3f}){missed}"


def tasks_table(rows: pd.DataFrame) -> list[str]:
    """Tabulate every task, averaged over seeds."""
    keys = ["table", "case", "outcome", "half", "method"]
    means = rows.groupby(keys, observed=True)[list(EACH)].mean().reset_index()
    table = [
        [*map(str, row[keys]), *(shown(row[column], column) for column in EACH)] for _, row in means.iterrows()
    ]
    return markdown_table(["table", "given", "outcome", "half", "method", *EACH.values()], table)


def shown(value: float, column: str) -> str:
    """Write a number, or a dash where there is none."""
    if not np.isfinite(value):
        return "-"
    if column in _PER_CENT:
        return f"{value:.0%}"
    return f"{value:.1f}" if column == "seconds" else f"{value:.3f}"
