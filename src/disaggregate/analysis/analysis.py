"""A fitted model with the roles of the columns: each question of an analyst is one method."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from disaggregate.analysis.dependence import predictions
from disaggregate.analysis.effects import avg_comparisons
from disaggregate.analysis.identification import between_group_share
from disaggregate.analysis.views import view
from disaggregate.estimator import GroupStatsClassifier
from disaggregate.posterior.batches import row_predictor
from disaggregate.posterior.bounds import ReportedShares, reported_shares
from disaggregate.posterior.cell_rates import OwnCells, own_cells
from disaggregate.posterior.outcomes import OUTCOME, by_outcome
from disaggregate.posterior.predictions import probability_summary
from disaggregate.posterior.subgroups import SubgroupDraws, subgroup_draws
from disaggregate.tables.counts import averages_by_group, counts_of, people_per_row, weights_of_rows
from disaggregate.tables.encoding import Encoder
from disaggregate.tables.files import read_table
from disaggregate.tables.ids import ids_like
from disaggregate.tables.messages import did_you_mean
from disaggregate.tables.outcome import outcome_of_column
from disaggregate.tables.people import as_names, require_columns
from disaggregate.tables.problems import Problem, TableError
from disaggregate.tables.roles import Roles
from disaggregate.tables.row_numbers import unnamed
from disaggregate.tables.suppression import withhold

LONGEST_LINE = 100


@dataclass(frozen=True)
class Analysis:
    """A classifier with the tables' roles and encoding; made by :func:`fit_tables`.

    Attributes
    ----------
    classifier : GroupStatsClassifier
        Fitted on the encoded features.
    encoder : Encoder
        Encodes people as features.
    roles : Roles
        Roles of the columns.
    schema : dict
        Types of the columns of the people, so that other tables of people are read in the same way.
    sampled : bool
        Whether people are a sample of the group that the results describe.
    problems : tuple of Problem
        Warnings and advice of the check step.
    outcome : str
        Name of the outcome; empty by default.
    chosen : hashable or None
        With more than two outcomes, the one that :meth:`of_outcome` chose; None for all of them.
    """

    classifier: GroupStatsClassifier
    encoder: Encoder
    roles: Roles
    schema: dict[str, str]
    sampled: bool
    problems: tuple[Problem, ...] = ()
    outcome: str = ""
    chosen: Hashable | None = None

    def of_outcome(self, outcome: Hashable) -> Analysis:
        """Return the same analysis for one outcome against all others, if there are more than two.

        Parameters
        ----------
        outcome : hashable
            One of ``outcomes``.
        """
        classes = self.classifier.classes_.tolist()
        if len(classes) == 2 or outcome not in classes:
            raise TableError(f"name one of the outcomes {classes if len(classes) > 2 else []}; got {outcome!r}.")
        return replace(self, chosen=outcome)

    @property
    def outcome_name(self) -> str:
        """Name of the outcome: as given, or else the name of the column of results."""
        if self.chosen is not None:
            return str(self.chosen)
        return self.outcome or outcome_of_column(self.roles)

    def __repr__(self) -> str:
        """Say in five lines what was learned from what."""
        groups = self.classifier._data
        n_chains, n_draws = self.classifier.posterior_.shape
        whom = "a sample of each group" if self.sampled else "all people of each group"
        lines = [
            f"Analysis of “{self.outcome_name}” by {self.roles.group}",
            f"  people    {int(groups.people.sum()):,} in {len(groups.names):,} groups, {whom}",
            f"  features  {_shortened(', '.join(self.encoder.features))}",
            f"  draws     {n_chains} chains of {n_draws:,}",
            f"  verdict   {_shortened(self.classifier.diagnostics_.verdict)}",
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Show the same in a notebook."""
        title, *lines = repr(self).splitlines()
        rows = [line.strip().partition("  ") for line in lines]
        cells = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(value.strip())}</td></tr>" for name, _, value in rows
        )
        return f"<table><caption>{escape(title)}</caption><tbody>{cells}</tbody></table>"

    @property
    def plot(self) -> Any:
        """Plots of this analysis: ``plot.subgroups``, ``plot.effects``, ``plot.groups`` and ``plot.traces``."""
        return view("plots")(self)

    def report(self, people: Any, path: str | Path | None = None, **options: Any) -> Any:
        """Make the HTML report, which a notebook displays; it is written to a file if a path is given.

        Parameters
        ----------
        people : path or dataframe
            People that the report describes.
        path : str or Path, optional
            File to write, usually ``*.html``.
        **options
            As for :func:`disaggregate.report.write_report`.

        Returns
        -------
        Report
            With ``html``, the page, and ``save(path)``.
        """
        made = view("report")(self, people, **options)
        if path is not None:
            made.save(path)
        return made

    def predictions(
        self, people: Any, variables: str | Sequence[str] | Mapping[str, Any], *, level: float = 0.9
    ) -> pd.DataFrame:
        """Average probability if all people had a given value of a feature; see :func:`.effects.predictions`.

        Parameters
        ----------
        people : path or dataframe
            Over whom to average.
        variables : str, sequence of str, or mapping
            Features of the grid, with their values in a mapping.
        level : float, default=0.9
            Probability of the credible band at each point.
        """
        table = self.read(people)
        weight = self.roles.weight
        weights = weights_of_rows(
            table[weight].astype(float) if weight else None, people_per_row(table, self.roles)
        )
        return predictions(self.with_groups([table]).predict_draws, table, variables, weights=weights, level=level)

    def predict(self, people: Any, level: float = 0.9) -> pd.DataFrame:
        """Tabulate ``probability, conf_low, conf_high`` of each person.

        With more than two outcomes these are three columns for each, such as ``probability_green``.

        Parameters
        ----------
        people : path or dataframe
            One row per person, or per cell, with the features of the fit.
        level : float, default=0.9
            Probability of the credible intervals.
        """
        table = self.read(people)
        known = self.with_groups([table])
        posterior, rows = known.classifier._fitted_and_rows(self.encoder.transform(table), known._groups_of(table))
        summary = probability_summary(posterior, rows, level)
        names = ["probability", "conf_low", "conf_high"]
        if summary.ndim == 3 and self.chosen is not None:
            summary = summary[:, self._chosen_number]
        elif summary.ndim == 3:
            names = [f"{name}_{outcome}" for outcome in self.outcomes for name in names]
        return pd.DataFrame(summary.reshape(len(summary), -1), columns=names, index=unnamed(table).index)

    @property
    def outcomes(self) -> list[Hashable]:
        """The outcomes, where there are more than two and none was chosen; else none."""
        classes = self.classifier.classes_.tolist()
        return classes if len(classes) > 2 and self.chosen is None else []

    @property
    def _chosen_number(self) -> int:
        return int(self.classifier.classes_.tolist().index(self.chosen))

    @property
    def reported_shares(self) -> np.ndarray:
        """The share that each group reports, NaN where none; a column each of more than two outcomes."""
        shares = self.classifier._data.reported_shares
        return shares if self.chosen is None else shares[:, self._chosen_number]

    def group_table(self, level: float = 0.9, *, min_group_size: int = 1) -> pd.DataFrame:
        """Tabulate reported and implied share of each group; see the method of the classifier."""
        table = self.classifier.group_table(level, min_group_size=min_group_size)
        if self.chosen is None:
            return table
        return table[table[OUTCOME] == self.chosen].drop(columns=OUTCOME).reset_index(drop=True)

    def predict_draws(self, people: Any) -> np.ndarray:
        """Probability of each person in each posterior draw, shape (n_chains, n_draws, n_rows).

        With more than two outcomes, of which none was chosen, of shape (n_chains, n_draws, n_rows, n_outcomes).
        In a fit with context or group effects people count as members of the group that their row names.
        """
        draws = self.classifier.predict_draws(self.encoder.transform(people), self._groups_of(people))
        return draws if self.chosen is None else draws[..., self._chosen_number]

    def _draws_of(self, outcome: Hashable | None) -> Callable[[Any], np.ndarray]:
        """Return what predicts one outcome: the positive class, or the requested one."""
        if not self.outcomes:
            return self.predict_draws
        if outcome not in self.outcomes:
            raise TableError(f"name one of the outcomes {self.outcomes}; got {outcome!r}.")
        number = self.outcomes.index(outcome)
        return lambda people: self.predict_draws(people)[..., number]

    def with_groups(self, tables: Iterable[pd.DataFrame]) -> Analysis:
        """Return an analysis with the average features of all groups, before some of their people are predicted.

        Parameters
        ----------
        tables : iterable of DataFrame
            People, in one table or in pieces, as :meth:`read` gives them.
        """
        context = self.classifier.context_
        if context is None:
            return self
        classifier = copy.copy(self.classifier)
        new = averages_by_group(self._of_new_groups(tables, set(context.names)))
        classifier.context_ = context.with_groups([new])
        return replace(self, classifier=classifier)

    def _of_new_groups(
        self, tables: Iterable[pd.DataFrame], old: set[Hashable]
    ) -> Iterator[tuple[np.ndarray, list[Hashable], np.ndarray]]:
        """Encode only those whose group is not known yet; with their groups, and people per row."""
        for table in tables:
            groups = self._groups_of(table) or []
            indices = [index for index, name in enumerate(groups) if name is not None and name not in old]
            if indices:
                rows = table.iloc[indices]
                names = [groups[index] for index in indices]
                yield self.encoder.transform(rows), names, people_per_row(rows, self.roles)

    @property
    def group_names(self) -> Sequence[Hashable] | None:
        """Names of the groups that predictions depend on; None where they depend on no group."""
        effects = getattr(self.classifier, "group_effects_", None)
        known = self.classifier.context_ if effects is None else effects
        return None if known is None else known.names

    def _groups_of(self, people: pd.DataFrame) -> list[Hashable | None] | None:
        """Group of each row, where the fit needs it and the table has it."""
        known = self.group_names
        if known is None or self.roles.group not in people:
            return None
        return ids_like(people[self.roles.group], known)

    def subgroups(
        self,
        people: Any,
        by: str | Sequence[str],
        weights: str | None = None,
        replicates: Iterable[str] = (),
        *,
        level: float = 0.9,
        outcomes: bool = False,
        min_group_size: int = 1,
    ) -> pd.DataFrame:
        """Estimate the rate of each subgroup.

        A rate can mean two things. By default it is the mean *probability* of the people in the subgroup: the
        share of positives in a large population with their features, which the table represents. With
        ``outcomes=True`` it is the share of positives among *exactly these people*, whose labels are random even
        when their probabilities are known; the smaller the subgroup, the wider its interval.

        Parameters
        ----------
        people : path or dataframe
            One row per person, or per cell, which counts as many times as it has people; with the features of the
            fit.
        by : str or sequence of str
            Columns that make the subgroups.
        weights : str, optional
            Column of survey weights; that of the fit by default.
        replicates : iterable of str
            Columns of replicate weights; those of the fit by default.
        level : float, default=0.9
            Probability of the credible intervals.
        outcomes : bool, default=False
            Whether to estimate the share of positives among exactly these people.
        min_group_size : int, default=1
            Subgroups of fewer people, and rows that would reveal them, have no estimate, and a ``note`` says so.
            People without weight do not count.

        Returns
        -------
        DataFrame
            The columns of ``by``, then ``estimate, std_error, conf_low, conf_high, n, weight``; with replicate
            weights ``std_error_posterior, std_error_design``, whose squares add up to that of ``std_error``. Then
            ``bound_low, bound_high``, bounds of the share of exactly these people that hold under any assumption,
            if the people are those of the fit; ``contraction``, the share of the prior variance that the reports
            removed; and ``rests_on``, in words, whether the estimate rests on the groups.
        """

        def table_of(drawn: SubgroupDraws) -> pd.DataFrame:
            return withhold(drawn.table(level), min_group_size, members=drawn.effective, by=as_names(by))

        how: dict[str, Any] = {"outcomes": outcomes, "min_group_size": min_group_size}
        if not self.outcomes:
            return table_of(self.subgroup_draws(people, by, weights, replicates, **how))
        drawn = {
            name: self.subgroup_draws(people, by, weights, replicates, **how, outcome=name)
            for name in self.outcomes
        }
        return by_outcome(drawn, table_of, len(as_names(by)))

    def subgroup_draws(
        self,
        people: Any,
        by: str | Sequence[str],
        weights: str | None = None,
        replicates: Iterable[str] = (),
        *,
        outcomes: bool = False,
        outcome: Hashable | None = None,
        min_group_size: int = 1,
    ) -> SubgroupDraws:
        """Find the rate of each subgroup in each draw.

        Parameters
        ----------
        people, by, weights, replicates, outcomes
            As of :meth:`subgroups`.
        outcome : hashable, optional
            The outcome, if there are more than two.
        min_group_size : int, default=1
            Reports of smaller groups, and of groups that would reveal them, are not used for bounds.
        """
        table = self.read(people)
        weight = weights or self.roles.weight
        # The share among exactly these people has no design error: they are not a sample of themselves.
        columns = list(replicates) or ([] if outcomes else list(self.roles.replicates))
        require_columns(table, [*([weight] if weight else []), *columns])
        known = self.with_groups([table])
        weight_of_rows = table[weight].astype(float) if weight else None
        how: dict[str, Any] = {"counts": counts_of(table, self.roles), "outcomes": outcomes}
        own = self._own_cells(table)
        drawn = subgroup_draws(
            row_predictor(known._draws_of(outcome), table),
            table,
            by,
            weight_of_rows,
            table[columns].to_numpy(dtype=float) if columns else None,
            reported=self._reported(table, min_group_size) if weight == self.roles.weight else None,
            own=own,
            **how,
        )
        prior = known.prior()
        if prior is None:
            return drawn
        alike = prior.classifier.posterior_.correlation
        own = None if own is None or alike is None else own.before_reports(alike)
        return drawn.beside(
            subgroup_draws(
                row_predictor(prior._draws_of(outcome), table), table, by, weight_of_rows, own=own, **how
            )
        )

    def prior(self) -> Analysis | None:
        """Return the same analysis before any report was seen; None where a file of 0.1 lacks it."""
        before = self.classifier.posterior_.prior
        if before is None:
            return None
        classifier = copy.copy(self.classifier)
        classifier.posterior_ = before
        return replace(self, classifier=classifier)

    def _own_cells(self, table: pd.DataFrame) -> OwnCells | None:
        """Return the groups of the cells, if the overdispersion of cells was learned."""
        counts = counts_of(table, self.roles)
        if counts is None or self.roles.group not in table:
            return None
        data = self.classifier._data
        ids = ids_like(table[self.roles.group], data.names)
        return own_cells(self.classifier.posterior_, data, ids, counts)

    def _reported(self, table: pd.DataFrame, min_group_size: int) -> ReportedShares | None:
        """Return what the groups of the people report, where the people are those of the fit."""
        if self.sampled or self.roles.group not in table:
            return None
        data, counts = self.classifier._data, counts_of(table, self.roles)
        return reported_shares(data, ids_like(table[self.roles.group], data.names), counts, min_group_size)

    def effects(
        self,
        people: Any,
        features: str | Sequence[str] | Mapping[str, Any] | None = None,
        *,
        level: float = 0.9,
        min_group_size: int = 1,
    ) -> pd.DataFrame:
        """Compare predictions when a feature is changed for all people; with the information of groups about it.

        Parameters
        ----------
        people : path or dataframe
            Over whom to average; a cell counts as many times as it has people.
        features : str, sequence of str, or mapping, optional
            Features of the fit; by default all that vary. A mapping says by how much a number or
            date is increased, and with which level a category is compared, such as ``{"income": 1000, "born":
            "year", "educ": "primary"}``; see :func:`disaggregate.analysis.effects.avg_comparisons`.
        level : float, default=0.9
            Probability of the credible intervals.
        min_group_size : int, default=1
            Levels that fewer people have, and rows that would reveal them, have no effect, and a ``note`` says so.

        Returns
        -------
        DataFrame
            Columns ``term, contrast, estimate, std_error, conf_low, conf_high, contraction, rests_on``; with more
            than two outcomes a row for each, named by ``outcome`` after the contrast. ``contraction`` is the share
            of the prior variance that the reports removed; ``rests_on`` says in words what the effect rests on.
        """
        table = self.read(people)
        unknown = [name for name in as_names(features or ()) if name not in self.encoder.features]
        if unknown:
            raise TableError(
                f"{unknown[0]!r} is not a feature of the fit; {did_you_mean(unknown[0], self.encoder.features)}"
            )
        weight = self.roles.weight
        require_columns(table, [*self.encoder.features, *([weight] if weight else [])])
        known = self.with_groups([table])
        group = [] if known._groups_of(table) is None else [self.roles.group]

        prior = known.prior()

        def table_of(outcome: Hashable | None) -> pd.DataFrame:
            return avg_comparisons(
                known._draws_of(outcome),
                table[[*self.encoder.features, *group]],
                features or _not_empty(table[self.encoder.features]),
                weights=table[weight].astype(float) if weight else None,
                counts=counts_of(table, self.roles),
                level=level,
                min_group_size=min_group_size,
                prior=None if prior is None else prior._draws_of(outcome),
            )

        if not self.outcomes:
            return table_of(None)
        return by_outcome({name: name for name in self.outcomes}, table_of, 2)

    def between_groups(self, people: Any) -> pd.DataFrame:
        """Tabulate how much of each feature's variance lies between groups, the only part that reports reflect."""
        table = self.read(people)
        require_columns(table, [self.roles.group])
        groups, counts = table[self.roles.group].to_numpy(), counts_of(table, self.roles)
        return between_group_share(table[self.encoder.features], groups, counts)

    def read(self, people: Any) -> pd.DataFrame:
        """Read a table of people in the same way as that of the fit."""
        return read_table(people, self.schema)

    def save(self, path: str | Path, *, anonymise: bool = False, min_group_size: int = 5) -> None:
        """Write the analysis to a file, which :func:`disaggregate.load` reads; arguments as for a classifier."""
        from disaggregate.saving import save_analysis

        save_analysis(self, path, anonymise=anonymise, min_group_size=min_group_size)


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else f"{text[: LONGEST_LINE - 1]}…"


def _not_empty(people: pd.DataFrame) -> list[str]:
    """Columns that hold anything to compare."""
    return [str(name) for name in people if people[name].notna().any()]
