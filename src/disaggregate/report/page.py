"""The page itself: sections into a template, and the whole into one file that needs no other."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from disaggregate.analysis.two_outcomes import require_two_outcomes
from disaggregate.complete_file import complete_or_absent
from disaggregate.report.background import method_section, settings_section
from disaggregate.report.blocks import Section
from disaggregate.report.data import data_section
from disaggregate.report.estimates import default_columns, effects_section, groups_section, subgroups_section
from disaggregate.report.sensitivity import read_sensitivity, sensitivity_section
from disaggregate.report.verdict import verdict_section
from disaggregate.tables.counts import n_people, people_per_row
from disaggregate.tables.suppression import effective_members, hidden

if TYPE_CHECKING:
    from pandas import DataFrame

    from disaggregate.analysis import Analysis

MISSING_JINJA = "Reports need jinja2, which is not installed. Run: pip install 'disaggregate[report]'"


def write_report(
    analysis: Analysis,
    people: Any,
    path: str | os.PathLike[str],
    *,
    by: str | Sequence[str] = (),
    features: str | Sequence[str] | None = None,
    title: str | None = None,
    question: str | None = None,
    level: float = 0.9,
    min_group_size: int = 1,
    sensitivity: Any = None,
) -> None:
    """Write one HTML page about an analysis; an earlier file is replaced once the new one is complete.

    Parameters
    ----------
    analysis : Analysis
        Made by :func:`disaggregate.fit_tables`, or loaded.
    people : path or dataframe
        Whom subgroups and effects speak of.
    path : str or path
        Where to, usually ``*.html``.
    by : str or sequence of str
        Columns whose levels are the subgroups, each column by itself; by default the features that are
        categories with at most 12 levels.
    features : str or sequence of str, optional
        Features whose effects are told; by default the first 8 that can be compared.
    title, question : str, optional
        Heading of the page, and what was to be found out.
    level : float, default=0.9
        Probability of the credible intervals.
    min_group_size : int, default=1
        No numbers are told of groups and subgroups of fewer people, nor what would give them away.
    sensitivity : path or dataframe, optional
        What :func:`disaggregate.analysis.sensitivity.subgroup_sensitivity` returned, or the command wrote.
    """
    require_two_outcomes(analysis, "the report", "subgroups, effects and group_table, which name each outcome")
    moved = None if sensitivity is None else read_sensitivity(sensitivity, min_group_size)
    table = analysis.read(people)
    size = n_people(table, analysis.roles)
    if size < min_group_size or hidden(_effective(analysis, table), min_group_size).any():
        raise ValueError(
            f"the table has {size} people, fewer than min_group_size={min_group_size}: nothing may be told."
        )
    columns = [by] if isinstance(by, str) else list(by)
    chosen = [features] if isinstance(features, str) else features
    page = (
        _environment()
        .from_string(_resource("page.html.j2"))
        .render(
            title=title or f"What the results of groups say about {size:,} people",
            question=question or _question(analysis),
            sections=_sections(analysis, table, columns, chosen, level, min_group_size, moved),
            style=_resource("page.css"),
            script=_resource("sort.js"),
            script_hash=_hash(_resource("sort.js")),
        )
    )
    _write(Path(path).expanduser(), page)


def _effective(analysis: Analysis, people: DataFrame) -> NDArray[np.int64]:
    """Return how many people an average over everybody speaks of, by their weights."""
    weight, counts = analysis.roles.weight, people_per_row(people, analysis.roles)
    weights = people[weight].to_numpy(dtype=float) if weight in people else np.ones(len(people))
    return effective_members(weights, counts, np.zeros(len(people), dtype=np.intp), 1)


def _sections(
    analysis: Analysis,
    people: DataFrame,
    by: Sequence[str],
    features: Sequence[str] | None,
    level: float,
    min_group_size: int,
    moved: DataFrame | None,
) -> list[Section]:
    column = next(iter([*by, *default_columns(analysis)]), "COLUMN")
    return [
        data_section(analysis, people, min_group_size),
        verdict_section(analysis, min_group_size),
        groups_section(analysis, level, min_group_size),
        subgroups_section(analysis, people, by, level, min_group_size),
        effects_section(analysis, people, features, level, min_group_size),
        sensitivity_section(moved, column),
        method_section(analysis),
        settings_section(analysis),
    ]


def _question(analysis: Analysis) -> str:
    n_groups = len(analysis.classifier.group_table())
    return (
        f"Who is positive? Nobody's own answer is known, only the results of {n_groups:,} groups "
        f"({analysis.roles.group}), and of each person: {', '.join(analysis.encoder.features)}."
    )


def _environment() -> Any:
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise ImportError(MISSING_JINJA) from error
    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def _resource(name: str) -> str:
    return files("disaggregate.report").joinpath(name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    """Let the browser run our script and no other, should one have found its way into the page."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _write(path: Path, page: str) -> None:
    with complete_or_absent(path) as partial:
        partial.write_text(page, encoding="utf-8", newline="\n")
