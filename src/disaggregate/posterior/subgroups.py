"""Rates of subgroups: probabilities of people averaged by any columns, draw by draw, with survey weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from disaggregate.groups import GroupedData
from disaggregate.posterior.batches import Probability, batches
from disaggregate.posterior.bounds import HIGH, LOW, ReportedShares, subgroup_bounds
from disaggregate.posterior.cell_rates import OwnCells, rates_of_cells
from disaggregate.posterior.contraction import CONTRACTION, RESTS_ON, in_words, rate_contraction
from disaggregate.posterior.members import given_reports
from disaggregate.posterior.summaries import summarise
from disaggregate.tables.counts import Counts, read_counts, weights_of_rows
from disaggregate.tables.people import (
    Cells,
    Rows,
    as_names,
    cells,
    read_weights,
    require_columns,
    require_free_names,
)
from disaggregate.tables.suppression import effective_members

FloatArray = NDArray[np.float64]

# Successive differences, as in the American Community Survey (80 replicates) and the Current Population Survey
# (160): the mean square of the replicates' deviations is an eighth of the sum of squared differences between
# neighbours, and the variance is a half of it.
_SUCCESSIVE_DIFFERENCES = 4.0


@dataclass(frozen=True)
class SubgroupDraws:
    """Rates of subgroups in each posterior draw.

    Attributes
    ----------
    keys : DataFrame
        Levels of each subgroup, one row per subgroup.
    draws : ndarray of shape (n_draws, n_subgroups)
        Rate of each subgroup in each draw.
    n : ndarray of int, shape (n_subgroups,)
        People in the table.
    weight : ndarray of shape (n_subgroups,)
        Sum of their weights.
    replicates : ndarray of shape (n_replicates, n_subgroups) or None
        Mean rate over the draws under each set of replicate weights.
    design_factor : float
        Factor of the sum of squared deviations of the replicates.
    effective : ndarray of int, shape (n_subgroups,), or None
        Effective number of people per rate: people without weight do not count.
    contraction : ndarray of shape (n_subgroups,) or None
        Share of the prior variance that the reports removed; see :mod:`disaggregate.posterior.contraction`.
    bounds : ndarray of shape (n_subgroups, 2) or None
        Bounds of the shares that hold under any assumption; see :mod:`disaggregate.posterior.bounds`.
    """

    keys: pd.DataFrame
    draws: FloatArray
    n: NDArray[np.intp]
    weight: FloatArray
    replicates: FloatArray | None = None
    design_factor: float = np.nan
    effective: NDArray[np.int64] | None = None
    contraction: FloatArray | None = None
    bounds: FloatArray | None = None

    def only(self, **levels: Any) -> SubgroupDraws:
        """Keep the subgroups with these levels, such as ``only(sex="female")``."""
        kept = np.ones(len(self.keys), dtype=bool)
        for name, level in levels.items():
            require_columns(self.keys, [name])
            kept &= (self.keys[name] == level).to_numpy(dtype=bool, na_value=False)
        if not kept.any():
            raise ValueError(f"no subgroup has {levels}; there are {self.keys.to_dict('records')[:5]} and so on.")
        return replace(
            self,
            keys=self.keys[kept].reset_index(drop=True),
            draws=self.draws[:, kept],
            n=self.n[kept],
            weight=self.weight[kept],
            replicates=None if self.replicates is None else self.replicates[:, kept],
            effective=None if self.effective is None else self.effective[kept],
            contraction=None if self.contraction is None else self.contraction[kept],
            bounds=None if self.bounds is None else self.bounds[kept],
        )

    def beside(self, prior: SubgroupDraws) -> SubgroupDraws:
        """Return the same with what the estimates rest on, given the same rates in draws from the prior."""
        return replace(self, contraction=rate_contraction(self.draws, prior.draws, self.weight))

    def table(self, level: float = 0.9) -> pd.DataFrame:
        """Tabulate estimates with their uncertainty.

        Parameters
        ----------
        level : float, default=0.9
            Probability of the credible intervals.

        Returns
        -------
        DataFrame
            The columns of ``by``, then ``estimate, std_error, conf_low, conf_high, n, weight``; with replicate
            weights also ``std_error_posterior, std_error_design``, whose squares add up to that of ``std_error``.
            A subgroup without any weight has no estimate.
        """
        columns = summarise(self.draws, level, self._design_variance(), bounds=(0.0, 1.0))
        table = with_counts(self.keys, columns, self.n, self.weight)
        if self.bounds is not None:
            table = table.assign(**{LOW: self.bounds[:, 0], HIGH: self.bounds[:, 1]})
        if self.contraction is not None:
            table = table.assign(**{CONTRACTION: self.contraction, RESTS_ON: in_words(self.contraction)})
        return table

    def _design_variance(self) -> FloatArray | None:
        if self.replicates is None:
            return None
        return self.design_factor * squares(self.replicates, self.draws.mean(axis=0))


def subgroup_draws(
    probability: Probability,
    people: Any,
    by: str | Sequence[str],
    weights: ArrayLike | None = None,
    replicates: ArrayLike | None = None,
    members: GroupedData | None = None,
    *,
    counts: ArrayLike | None = None,
    outcomes: bool = False,
    design_factor: float | None = None,
    random_state: Any = 0,
    reported: ReportedShares | None = None,
    own: OwnCells | None = None,
) -> SubgroupDraws:
    """Find the share of positives in each subgroup, in each draw.

    A rate can mean two things. By default it is the mean *probability* of the people in the subgroup: the share
    such people have in the long run, or in the large population that the table stands for. With
    ``outcomes=True`` it is the share of positives among *exactly these people*, whose labels are random even when
    their probabilities are known; the smaller the subgroup, the wider its interval.

    Parameters
    ----------
    probability : callable
        From rows of the table, a slice or an array of row numbers, to their probabilities in each draw, shape
        (n_draws, n_rows), such as ``lambda rows: model.predict_draws(X.iloc[rows])``. It is never called for
        more rows at once than a bounded number of values allows.
    people : dataframe
        One row per person, or per cell of a table with ``counts``.
    by : str or sequence of str
        Columns that make the subgroups; none for everybody together. Missing values are a level of their own.
    weights : array-like of shape (n_rows,), optional
        Survey weights.
    replicates : array-like of shape (n_rows, n_replicates), optional
        Replicate weights. The design variance is the ``design_factor`` times the sum of squares of the
        replicates' deviations from the estimate.
    members : GroupedData, optional
        The reported groups that these rows are the members of. Each probability is then that given the own
        group's report too, as ``label_proba_`` is, and labels of ``outcomes=True`` are drawn to agree with
        the reports.
    counts : array-like of shape (n_rows,), optional
        Number of people per row, one by default. Weights are per person.
    outcomes : bool, default=False
        Whether to estimate the share of positives among exactly these people.
    design_factor : float, optional
        By default 4 / n_replicates, that of successive differences; 1 / n_replicates for balanced repeated
        replication, (n_replicates - 1) / n_replicates for a jackknife.
    random_state : None, int or numpy Generator, default=0
        Seed of the labels of ``outcomes=True``.
    reported : ReportedShares, optional
        What the groups of the people report, for the bounds.
    own : OwnCells, optional
        Groups of the cells, where rates of cells lie around their probability.
    """
    names = as_names(by)
    require_columns(people, names)
    require_free_names(names)
    _require_one_population(people, replicates, members, outcomes)
    _require_people(members, counts)
    found, n_each = cells(people, names), read_counts(counts, len(people))
    weight = weights_of_rows(weights, n_each)
    replicate = None if replicates is None else _read_replicates(replicates, len(people)) * n_each[:, None]
    rng = np.random.default_rng(random_state) if outcomes or own is not None else None
    if own is not None and rng is not None:
        answers: Iterator[tuple[Rows, FloatArray]] = rates_of_cells(probability, own, rng, outcomes)
    else:
        answers = _answers(probability, len(people), members, None if counts is None else n_each, rng)
    sums, replicate_sums = _sums(answers, found, weight, replicate)
    total = _by_cell(found, slice(None), weight[:, None])[:, 0]
    return SubgroupDraws(
        keys=found.keys,
        draws=_ratio(sums, total).T,
        n=np.bincount(found.codes, weights=n_each, minlength=len(found.keys)).astype(np.intp),
        weight=total,
        replicates=None
        if replicate is None
        else _ratio(replicate_sums, _by_cell(found, slice(None), replicate)).T,
        design_factor=_factor(replicate, design_factor),
        effective=effective_members(read_weights(weights, len(people)), n_each, found.codes, len(found.keys)),
        bounds=None if reported is None else subgroup_bounds(found.codes, reported, weight),
    )


def with_counts(
    keys: pd.DataFrame, columns: dict[str, FloatArray], n: NDArray[np.intp], weight: FloatArray
) -> pd.DataFrame:
    """Put a table together: what, how much, and how many; the parts of the standard error come last."""
    parts = {name: values for name, values in columns.items() if name.startswith("std_error_")}
    main = {name: values for name, values in columns.items() if name not in parts}
    return keys.assign(**main, n=n, weight=weight, **parts)


def squares(replicates: FloatArray, estimate: FloatArray) -> FloatArray:
    """Sum of squares of the replicates' deviations from the estimate."""
    return np.square(replicates - estimate).sum(axis=0)


def _answers(
    probability: Probability,
    n_rows: int,
    members: GroupedData | None,
    counts: Counts | None,
    rng: np.random.Generator | None,
) -> Iterator[tuple[Rows, FloatArray]]:
    """Go through probabilities, or labels, of everybody; a cell has the share of its people's labels."""
    if members is not None:
        yield from given_reports(probability, members, rng)
        return
    for rows, draws in batches(probability, n_rows):
        yield rows, draws if rng is None else _labels(draws, None if counts is None else counts[rows], rng)


def _labels(draws: FloatArray, counts: Counts | None, rng: np.random.Generator) -> FloatArray:
    if counts is None:
        return (rng.random(draws.shape) < draws).astype(np.float64)
    return rng.binomial(counts, draws) / np.maximum(counts, 1)


def _sums(
    answers: Iterator[tuple[Rows, FloatArray]], found: Cells, weight: FloatArray, replicate: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Add up by subgroup: each draw under the weights, and the mean of the draws under the replicate weights."""
    sums, replicate_sums = np.zeros(1), np.zeros(1)
    for rows, draws in answers:
        sums = sums + _by_cell(found, rows, draws.T * weight[rows, None])
        if replicate is not None:
            mean = draws.mean(axis=0)
            replicate_sums = replicate_sums + _by_cell(found, rows, mean[:, None] * replicate[rows])
    return sums, replicate_sums


def _by_cell(found: Cells, rows: Rows, values: FloatArray) -> FloatArray:
    """Sum of the rows of each subgroup, shape (n_subgroups, n_columns)."""
    codes = found.codes[rows]
    ones, starts = np.ones(len(codes)), np.arange(len(codes) + 1)
    membership = csr_array((ones, codes, starts), shape=(len(codes), len(found.keys)))
    return membership.T @ values


def _ratio(sums: FloatArray, total: FloatArray) -> FloatArray:
    below = total if total.ndim == sums.ndim else total[:, None]
    return np.divide(sums, below, out=np.full(sums.shape, np.nan), where=below != 0.0)


def _factor(replicate: FloatArray | None, design_factor: float | None) -> float:
    if replicate is None:
        return np.nan
    if design_factor is None:
        return _SUCCESSIVE_DIFFERENCES / replicate.shape[1]
    if not design_factor > 0.0:
        raise ValueError(f"design_factor must be above 0, such as 4 / n_replicates; got {design_factor!r}.")
    return float(design_factor)


def _read_replicates(replicates: ArrayLike, n_rows: int) -> FloatArray:
    # Some surveys publish replicate weights below zero, so only their shape can be checked, and gaps.
    values = np.asarray(replicates, dtype=np.float64)
    if values.ndim != 2 or len(values) != n_rows or values.shape[1] < 2:
        raise ValueError(
            f"replicates must hold two or more columns of replicate weights for each of the {n_rows} people, got "
            f"shape {values.shape}. Pass the columns of replicate weights of the same table."
        )
    if not np.isfinite(values).all():
        raise ValueError("replicates must hold finite numbers, but some are missing; drop or correct such rows.")
    return values


def _require_people(members: GroupedData | None, counts: Any) -> None:
    if members is not None and counts is not None:
        raise ValueError(
            "members are single people, whose labels are drawn to agree with the reports; counts are of cells. "
            "Give one of the two."
        )


def _require_one_population(people: Any, replicates: Any, members: GroupedData | None, outcomes: bool) -> None:
    if outcomes and replicates is not None:
        raise ValueError(
            "outcomes=True is about exactly these people, replicate weights about the population from which they "
            "were drawn; give one of the two."
        )
    if members is not None and len(members.order) != len(people):
        raise ValueError(
            f"members must hold the groups of the {len(people)} people in the table, got {len(members.order)} "
            "members. Pass the table and the groups of the same rows, in the same order."
        )
