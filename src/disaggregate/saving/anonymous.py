"""A model without individuals, for a file to share."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from disaggregate.fitting import Fitted
from disaggregate.groups import GroupedData
from disaggregate.groups.context import Context
from disaggregate.groups.outcomes import GroupedOutcomes
from disaggregate.posterior.diagnostics import Diagnostics
from disaggregate.posterior.draws import KernelDraws
from disaggregate.posterior.individuals import GroupEffects
from disaggregate.tables.encoded_columns import CategoryColumn
from disaggregate.tables.suppression import hidden, members_of_groups

_RARE = ["(rare)"]  # stands for the names of rare levels; an unknown level counts as rare all the same


def without_individuals(model: Any, min_group_size: int) -> Any:
    """Return a copy of a fitted classifier that predicts the same and knows no training individual.

    It keeps the weights of the kernels and their centres, and of each group that is large enough its report, the
    count that follows, and its members' average features where these matter. It drops everybody's label
    probability and row in the table.

    Parameters
    ----------
    model : GroupStatsClassifier
        Fitted on centres that the caller gave.
    min_group_size : int
        Smaller groups are dropped.
    """
    if isinstance(model.centers, (str, int, np.integer)):
        whose = "every individual" if isinstance(model.centers, str) else "some of the individuals"
        whose = "individuals" if model.centers == "auto" else whose
        raise ValueError(
            f"this model cannot be anonymised: with centers={model.centers!r} its kernels sit on {whose}, and it "
            "needs their features to predict. Fit with centers=disaggregate.privacy.landmarks(X, 200), which are "
            "averages of several individuals each (disaggregate fit --landmarks 200), and save again."
        )
    twin = copy.copy(model)
    kept = ~hidden(members_of_groups(model._data), min_group_size)
    if not kept.any():
        raise ValueError(
            f"this model cannot be anonymised: none of its groups has {min_group_size} members; lower "
            "min_group_size, or join groups before the fit."
        )
    twin._data, tallies = _large_groups(model._data, model._fitted.count_tallies, kept)
    twin.context_ = _of_large_groups(model.context_, twin._data)
    twin._fitted = _without_individuals(model._fitted, tallies, kept)
    twin.posterior_ = twin._fitted.posterior
    twin.group_effects_ = None if model.group_effects_ is None else GroupEffects(twin._data.names)
    twin.diagnostics_ = _summed_up(model.diagnostics_.naming_only(twin._data.names))
    if hasattr(model.confidence, "items"):
        twin.confidence = {name: value for name, value in model.confidence.items() if name in twin._data.names}
    twin.__dict__.pop("label_proba_", None)  # a model that was read from such a file has none
    return twin


def without_rare_levels(tables: dict[str, Any]) -> dict[str, Any]:
    """Drop what an analysis remembers of single people: names of rare levels, remarks that quote the tables."""
    columns = [
        {**column, "pooled": _RARE} if column["kind"] == CategoryColumn.kind and column["pooled"] else column
        for column in tables["encoder"]["columns"]
    ]
    return {**tables, "encoder": {"columns": columns, "notes": []}, "problems": ()}


def _large_groups(data: GroupedData, tallies: np.ndarray, kept: np.ndarray) -> tuple[GroupedData, np.ndarray]:
    people, totals = data.people[kept], data.totals[kept]
    entries = np.repeat(kept, np.diff(data.starts))
    tallied = np.repeat(kept, len(data.outcomes)) if isinstance(data, GroupedOutcomes) else kept
    by_tally = np.repeat(tallied, np.diff(data.tally_starts))
    is_cells = data.counts is not None
    sizes = np.ones(len(people), dtype=np.int64) if is_cells else people  # one row stands for everybody
    groups = replace(
        data,
        names=tuple(name for name, keep in zip(data.names, kept, strict=True) if keep),
        evidence=tuple(known for known, keep in zip(data.evidence, kept, strict=True) if keep),
        offsets=np.concatenate([[0], np.cumsum(sizes)]),
        order=np.arange(sizes.sum()),
        units=np.ones(len(people), dtype=np.int64) if is_cells else _anonymous_units(sizes, totals),
        log_likelihood=data.log_likelihood[entries],
        counts=people if is_cells else None,
        weights=None,
        nodes=None if data.nodes is None else data.nodes[entries],
        lengths=None if data.lengths is None else data.lengths[kept],
        steps=None if data.steps is None else data.steps[kept],
    )
    return groups, tallies[by_tally]


def _of_large_groups(context: Context | None, data: GroupedData) -> Context | None:
    """Forget the averages of small groups; of a group of one it is a person's features."""
    if context is None:
        return None
    kept = [index for index, name in enumerate(context.names) if name in set(data.names)]
    return replace(context, names=data.names, means=context.means[kept])


def _anonymous_units(sizes: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Keep the groups' totals, and no survey weights of individuals."""
    units = np.ones(sizes.sum(), dtype=np.int64)
    units[np.cumsum(sizes) - sizes] += totals - sizes
    return units


def _without_individuals(fitted: Fitted, tallies: np.ndarray, kept: np.ndarray) -> Fitted:
    parts = tuple(_without_small(part, kept) for part in fitted.posterior.parts)
    posterior = replace(fitted.posterior, parts=parts)
    no_labels = np.zeros((len(fitted.label_sums), 0))
    return replace(fitted, posterior=posterior, label_sums=no_labels, count_tallies=tallies)


def _without_small(part: KernelDraws, kept: np.ndarray) -> KernelDraws:
    prior = None if part.prior is None else _without_small(part.prior, kept)
    places = None if part.places is None else _of_kept(part, kept)
    return replace(part, places=places, prior=prior)


def _of_kept(part: KernelDraws, kept: np.ndarray) -> np.ndarray:
    """Take the intercepts of the groups that are kept, for every score."""
    return np.ascontiguousarray(np.asarray(part.places)[:, np.tile(kept, part.n_outcomes - 1)])


def _summed_up(diagnostics: Diagnostics) -> Diagnostics:
    """Keep the worst of everything that has a value for each individual."""
    rhat = {name: np.max(values, keepdims=True) for name, values in diagnostics.rhat.items()}
    bulk = {name: np.min(values, keepdims=True) for name, values in diagnostics.ess_bulk.items()}
    tail = {name: np.min(values, keepdims=True) for name, values in diagnostics.ess_tail.items()}
    none = np.empty(0, dtype=np.int64)
    return replace(diagnostics, rhat=rhat, ess_bulk=bulk, ess_tail=tail, individuals=none, reports=None)
