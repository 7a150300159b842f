"""The page itself: sections into a template, and the whole into one file that needs no other."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from disaggregate.report.answer import answer_section
from disaggregate.report.background import method_elements, settings_elements
from disaggregate.report.data import data_elements
from disaggregate.report.effects import effects_section
from disaggregate.report.elements import Element, Fold, Section
from disaggregate.report.findings import Findings, find
from disaggregate.report.groups import groups_section
from disaggregate.report.limits import limits_section
from disaggregate.report.outcomes import outcome_sections
from disaggregate.report.sensitivity import read_sensitivity, sensitivity_section
from disaggregate.report.subgroups import axis_of, subgroups_section
from disaggregate.report.verdict import publishable_diagnostics, verdict_elements
from disaggregate.storage.atomic_files import atomic_write
from disaggregate.tables.counts import n_people, people_per_row
from disaggregate.tables.outcome import NAMELESS
from disaggregate.tables.suppression import effective_members, hidden

if TYPE_CHECKING:
    from pandas import DataFrame

    from disaggregate.analysis import Analysis
    from disaggregate.posterior.diagnostics import Diagnostics
    from disaggregate.report.subgroups import Rates

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
    sections: Sequence[Section] | None = None,
) -> None:
    """Write one HTML page about an analysis; an earlier file is replaced once the new one is complete.

    Parameters
    ----------
    analysis : Analysis
        Made by :func:`disaggregate.fit_tables`, or loaded.
    people : path or dataframe
        The people that subgroups and effects describe.
    path : str or path
        File to write, usually ``*.html``.
    by : str or sequence of str
        Columns whose levels are the subgroups, each column by itself; by default the features that are
        categories with at most 15 levels, or numbers, which are put into bands.
    features : str or sequence of str, optional
        Features whose effects are shown; by default the first 8 that can be compared.
    title, question : str, optional
        Title of the page, and the question that it answers.
    level : float, default=0.9
        Probability of the credible intervals.
    min_group_size : int, default=1
        No numbers are shown for groups and subgroups of fewer people, nor any from which those could be computed.
    sensitivity : path or dataframe, optional
        What :func:`disaggregate.analysis.sensitivity.subgroup_sensitivity` returned, or the command wrote.
    sections : sequence of Section, optional
        Result of :func:`make_sections`; then only title and question are used.
    """
    given: dict[str, Any] = {"by": by, "features": features, "level": level, "min_group_size": min_group_size}
    found = sections or make_sections(analysis, people, **given, sensitivity=sensitivity)
    _write(Path(path).expanduser(), _page(analysis, found, title, question))


class Report:
    """A report that a notebook shows and that can be saved; parameters as of :func:`write_report`."""

    def __init__(
        self,
        analysis: Analysis,
        people: Any,
        *,
        title: str | None = None,
        question: str | None = None,
        **options: Any,
    ) -> None:
        self._sections = make_sections(analysis, people, **options)
        self.html = _page(analysis, self._sections, title, question)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page; an earlier file is replaced once the new one is complete."""
        _write(Path(path).expanduser(), self.html)

    def _repr_html_(self) -> str:
        """Show the page in a frame, so that its style stays its own."""
        return f'<iframe srcdoc="{escape(self.html)}" width="100%" height="700" title="Report"></iframe>'


def _page(analysis: Analysis, sections: Sequence[Section], title: str | None, question: str | None) -> str:
    return _rendered(
        "page.html.j2",
        title=title or default_title(analysis),
        question=question or _question(analysis),
        sections=sections,
        style=resource("page.css"),
        script=resource("sort.js"),
        script_hash=_hash(resource("sort.js")),
    )


def make_sections(
    analysis: Analysis,
    people: Any,
    *,
    by: str | Sequence[str] = (),
    features: str | Sequence[str] | None = None,
    level: float = 0.9,
    min_group_size: int = 1,
    sensitivity: Any = None,
) -> list[Section]:
    """Find everything that a page shows; parameters as of :func:`write_report`."""
    moved = None if sensitivity is None else read_sensitivity(sensitivity, min_group_size)
    table = analysis.read(people)
    require_enough(analysis, table, min_group_size)
    columns = [by] if isinstance(by, str) else list(by)
    chosen = [features] if isinstance(features, str) else features
    options: dict[str, Any] = {"level": level, "min_group_size": min_group_size}
    if analysis.outcomes:
        found = {
            name: find(analysis.of_outcome(name), table, by=columns, features=chosen, **options)
            for name in analysis.outcomes
        }
        diagnostics = publishable_diagnostics(analysis, min_group_size)
        every = [rates for own in found.values() for rates in own.rates]
        appendix = _appendix(analysis, table, min_group_size, diagnostics, every)
        return [*outcome_sections(analysis, found, diagnostics, moved), appendix]
    return sections_of(analysis, find(analysis, table, by=columns, features=chosen, **options), moved)


def require_enough(analysis: Analysis, people: DataFrame, min_group_size: int) -> None:
    """Refuse a table of so few people that nothing about them may be shown.

    Parameters
    ----------
    analysis : Analysis
        Fitted.
    people : DataFrame
        As ``analysis.read`` gives it.
    min_group_size : int
        Fewest people that a number may describe.
    """
    size = n_people(people, analysis.roles)
    if size < min_group_size or hidden(_effective(analysis, people), min_group_size).any():
        raise ValueError(
            f"the table has {size} people, fewer than min_group_size={min_group_size}: nothing may be shown."
        )


def sections_of(analysis: Analysis, findings: Findings, moved: DataFrame | None = None) -> list[Section]:
    """Put what was found into sections.

    Parameters
    ----------
    analysis : Analysis
        Fitted.
    findings : Findings
        Its estimates.
    moved : DataFrame, optional
        A sensitivity run, as :func:`.sensitivity.read_sensitivity` returns it.
    """
    table, everybody, found, between = findings.people, findings.everybody, findings.rates, findings.between
    level, min_group_size, outcome = findings.level, findings.min_group_size, analysis.outcome_name
    axis = axis_of(found, everybody)
    diagnostics = publishable_diagnostics(analysis, min_group_size)
    sections = [
        answer_section(analysis, everybody, found, axis, diagnostics, level),
        *([subgroups_section(found, everybody, axis, outcome, level)] if found else []),
        effects_section(analysis, table, findings.effects, level, is_chosen=findings.features_chosen),
        groups_section(analysis, findings.groups, level, min_group_size),
        limits_section(analysis, between, found),
    ]
    if moved is not None:
        sections.append(sensitivity_section(moved, outcome))
    return [*sections, _appendix(analysis, table, min_group_size, diagnostics, found)]


def _appendix(
    analysis: Analysis,
    table: DataFrame,
    min_group_size: int,
    diagnostics: Diagnostics,
    found: Sequence[Rates],
) -> Section:
    folds: list[Element] = [
        Fold("Data", data_elements(analysis, table, min_group_size)),
        Fold("Chains and kernels", verdict_elements(analysis, diagnostics, found)),
        Fold("Method", method_elements(analysis)),
        Fold("Settings and versions", settings_elements(analysis)),
    ]
    return Section("appendix", "Appendix", folds)


def render_sections(sections: Sequence[Section], *, heading: int = 2) -> str:
    """Write sections as HTML, for a page that has its own head and style.

    Parameters
    ----------
    sections : sequence of Section
        As :func:`make_sections` returns them.
    heading : int, default=2
        Level of their headings.
    """
    return _rendered("sections.html.j2", sections=sections, heading=heading)


def _rendered(template: str, **values: Any) -> str:
    return str(_environment().from_string(resource(template)).render(**values))


def default_title(analysis: Analysis) -> str:
    """Name the outcome and the groups, where the outcome has a name."""
    name = analysis.outcome_name
    if name == NAMELESS:
        return f"What the results by {analysis.roles.group} say about people"
    if analysis.outcomes:
        return f"{name}: what the results by {analysis.roles.group} say"
    return f"Who is “{name}”? What the results by {analysis.roles.group} say"


def _effective(analysis: Analysis, people: DataFrame) -> NDArray[np.int64]:
    """Return how many people an average over everybody represents, by their weights."""
    weight, counts = analysis.roles.weight, people_per_row(people, analysis.roles)
    weights = people[weight].to_numpy(dtype=float) if weight in people else np.ones(len(people))
    return effective_members(weights, counts, np.zeros(len(people), dtype=np.intp), 1)


def _question(analysis: Analysis) -> str:
    n_groups = len(analysis.classifier._data.names)
    return (
        f"No person's own outcome is known, only results of {n_groups:,} groups ({analysis.roles.group}), and of "
        f"each person: {', '.join(analysis.encoder.features)}."
    )


def _environment() -> Any:
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(MISSING_JINJA) from error
    return _environment_of(jinja2)


@cache  # an environment keeps the templates that it has read
def _environment_of(jinja2: Any) -> Any:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("disaggregate.report", ""),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def resource(name: str) -> str:
    """Return the text of a file of this folder."""
    return files("disaggregate.report").joinpath(name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    """Let the browser run our script and no other, should one have found its way into the page."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _write(path: Path, page: str) -> None:
    with atomic_write(path) as partial:
        partial.write_text(page, encoding="utf-8", newline="\n")
