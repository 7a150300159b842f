"""Every move of the replicas leaves the model's joint distribution as it is; wrong ones do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from disaggregate.basis import Basis, Kernel
from disaggregate.model import populations
from disaggregate.model.populations import ShareLaw
from disaggregate.model.reports import Reports, run_of_groups
from disaggregate.parallel.partitions import LocalPartitions
from disaggregate.sampler.dense import sweep as sweeps
from disaggregate.sampler.dense.advance import advance_in_numpy
from disaggregate.sampler.dense.partition import Partition, Recipe, Tile
from disaggregate.sampler.dense.partitioned import PartitionedLikelihood, PartitionSources
from disaggregate.sampler.dense.state import Record, Sweeps
from tests.helpers.dense_joint import (
    Moment,
    Move,
    World,
    chains_z,
    ladder_z,
    make_world,
    offsets_of_the_prior,
    populations_z,
    report_share,
    with_components,
)
from tests.helpers.joint import report_count, report_nothing

# About 70 statistics per replica: a right move exceeds this once in several thousand runs, and seeds are fixed.
PASSES = 4.7
FAILS = 7.0


def paths(at: Moment) -> None:
    at.state.is_known[:] = 0
    sweeps.move_replicas(at.target, at.metric, at.state, at.tally, at.rngs)
    at.state.sweep[0] += 1


def held_paths(at: Moment) -> None:
    """Trajectories of the weights alone."""
    at.state.sweep[0] = 2
    assert sweeps.holds_scales(2, 3)
    at.state.is_known[:] = 0
    sweeps.move_replicas(at.target, at.metric, at.state, at.tally, at.rngs)


def slices(at: Moment) -> None:
    sweeps.slice_scales(at.target, at.state, at.rngs)


def jumps(at: Moment) -> None:
    at.state.is_known[:] = 0
    every = list(range(len(at.target.components.priors)))
    sweeps.jump_in_scales(at.target, at.state, at.rngs, every)


def swaps(at: Moment) -> None:
    sweeps.exchange_replicas(at.target, at.state, at.tally, at.log_ratios, at.rngs)


def plain_sweep(at: Moment) -> None:
    sweeps.dense_sweep(at.target, at.metric, at.state, at.tally, at.log_ratios, at.rngs)


def empty_record(at: Moment) -> Record:
    components, n_rungs = at.target.components, at.state.position.shape[1]
    return Record(
        weights=np.empty((1, 1, components.n_weights + components.n_places)),
        scales=np.empty((1, 1, len(components.priors))),
        log_ratios=np.empty((1, 1, n_rungs - 1, 2)),
        label_sums=np.zeros((1, 0)),
        share_tallies=np.zeros((1, 0)),
    )


def recorded_sweep(at: Moment) -> None:
    """The plain sweep, and what is written down of it."""
    record = empty_record(at)
    assert advance_in_numpy(at.target, Sweeps(at.metric, at.state, at.rngs[:1], 1, 0, 1, at.tally, record)) == 1
    at.recorded.append(record.weights[0, 0, at.target.components.n_weights :])


def compiled_sweep(at: Moment) -> None:
    from disaggregate.sampler.compiled.dense import advance_dense

    columns, components, record = at.target.likelihood.columns, at.target.components, empty_record(at)
    kept = advance_dense(
        columns, at.reports, components, at.metric, at.state, at.rngs[0], 1, 0, 1, at.tally, record
    )  # fmt: skip
    assert kept == 1


def partitioned_sweep(at: Moment) -> None:
    """The same with a partition of two groups, and one of the others with a tile per group."""
    columns, reports = at.target.likelihood.columns, at.reports
    nobody = Basis(Kernel("linear", 1.0, 1.0, 0.0), np.zeros((1, 1)), False)
    recipe = Recipe(nobody, np.zeros((len(columns), 1)), reports.powers)
    parts, n_groups = [], len(reports.law)
    for index, (first, last) in enumerate(((0, 2), (2, n_groups))):
        own = run_of_groups(reports, first, last)
        tiles = tuple(
            Tile(
                slice(*own.offsets[[g, g + 1]].tolist()), slice(g, g + 1), contiguous(run_of_groups(own, g, g + 1))
            )
            for g in range(last - first)
        )
        rows = slice(*reports.offsets[[first, last]].tolist())
        parts.append(Partition(index, recipe, tiles, np.ascontiguousarray(columns[:, rows].T)))
    sizes = PartitionSources([], tuple(part.n_rows for part in parts), (2, n_groups - 2), (0, 0))
    likelihood = PartitionedLikelihood(LocalPartitions(parts, SimpleNamespace(map=map)), sizes)
    plain_sweep(replace(at, target=replace(at.target, likelihood=likelihood)))


def contiguous(reports: Reports) -> Reports:
    return Reports(*map(np.ascontiguousarray, reports))


def with_cells(rng: np.random.Generator, **how: bool) -> World:
    counts = np.array([5, 1, 4, 6, 3, 2, 7, 4, 2])
    return make_world(rng, (3, 3, 3), (report_share, report_share, report_count), counts=counts, **how)


def with_survey_weights(rng: np.random.Generator, **how: bool) -> World:
    weights = np.array([1.0, 3.0, 1.0, 2.0, 1.0, 1.0, 2.0, 1.0, 4.0])
    return make_world(rng, (4, 3, 2), (report_share,) * 3, weights=weights, **how)


def sampled_world(rng: np.random.Generator, place: float = 0.5) -> World:
    return make_world(rng, (4, 6, 3, 5, 6, 8), (report_nothing,) * 6, population=True, place=place)


WORLDS: dict[str, Callable[..., World]] = {
    "counts": make_world,
    "cells": with_cells,
    "survey weights": with_survey_weights,
}
ALONE: dict[str, Move] = {
    "path": paths,
    "held path": held_paths,
    "slice": slices,
    "jump": jumps,
    "sweep": plain_sweep,
}
SWEEPS: dict[str, Move] = {"plain": plain_sweep, "recorded": recorded_sweep, "partitioned": partitioned_sweep}


def largest(z: np.ndarray) -> float:
    return float(np.abs(z).max())


def mostly_thorough(moves: dict[str, Move], *always: tuple[str, str]) -> Any:
    """Every move in every world; those that are not named have close relatives among those that are."""
    pairs = [(name, world) for name in moves for world in WORLDS]
    marks = {pair: [] if pair in always else [pytest.mark.thorough] for pair in pairs}
    return pytest.mark.parametrize(("name", "world"), [pytest.param(*pair, marks=marks[pair]) for pair in pairs])


# A sweep consists of all the moves, and what is recorded is of a plain sweep.
@mostly_thorough(ALONE, *((name, "counts") for name in ALONE), ("sweep", "cells"), ("sweep", "survey weights"))
def test_move(name: str, world: str, rng: np.random.Generator) -> None:
    assert largest(chains_z(ALONE[name], WORLDS[world](rng), rng)) < PASSES


@pytest.mark.parametrize("world", WORLDS)
def test_swaps(world: str, rng: np.random.Generator) -> None:
    z = ladder_z(swaps, WORLDS[world](rng), rng, last_is_prior=False, n_repeats=1)
    assert largest(z) < PASSES


@mostly_thorough(SWEEPS, *(("recorded", world) for world in WORLDS), ("partitioned", "cells"))
def test_sweep_of_a_ladder(name: str, world: str, rng: np.random.Generator) -> None:
    assert largest(ladder_z(SWEEPS[name], WORLDS[world](rng), rng, n_draws=120)) < PASSES


@pytest.mark.parametrize("world", WORLDS)
def test_compiled_sweep_of_a_ladder(world: str, rng: np.random.Generator) -> None:
    assert largest(ladder_z(compiled_sweep, WORLDS[world](rng, has_places=False), rng, n_draws=800)) < PASSES


@pytest.mark.parametrize("name", ALONE)
def test_move_with_samples(name: str, rng: np.random.Generator) -> None:
    world = sampled_world(rng)
    assert largest(populations_z(ALONE[name], world, rng)) < PASSES


# Moves that are wrong on purpose.


def one_scale(at: Moment, which: int = 0) -> Moment:
    """All weights have the scale of one component: of the individual part, or of context."""
    scale_of = np.minimum(at.target.components.scale_of, 0)
    scale_of[scale_of == 0] = which
    return replace(at, target=with_components(at.target, scale_of=scale_of))


@pytest.mark.parametrize("name", ["path", "jump"])
def test_one_scale_for_all_components_is_caught(name: str, rng: np.random.Generator) -> None:
    z = chains_z(lambda at: ALONE[name](one_scale(at)), make_world(rng), rng, n_repeats=4)
    assert largest(z) > FAILS


def test_slices_with_one_scale_for_all_components_are_caught(rng: np.random.Generator) -> None:
    """They feel no report, so it takes reports that determine the weights well, and a scale that moves far."""
    world = make_world(rng, (40, 30, 40, 20, 30), (report_count,) * 5)
    assert largest(chains_z(slices, world, rng, n_repeats=10)) < PASSES
    z = chains_z(lambda at: slices(one_scale(at, 1)), world, rng, n_draws=4800, n_repeats=10)
    assert largest(z) > FAILS


def test_one_scale_in_compiled_sweeps_is_caught(rng: np.random.Generator) -> None:
    world = make_world(rng, has_places=False)
    z = ladder_z(lambda at: compiled_sweep(one_scale(at)), world, rng, n_draws=1200, n_repeats=10)
    assert largest(z) > FAILS


def test_a_composition_that_is_not_pooled_is_caught(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shares are drawn from the law without pooling, and the sampler takes them for pooled ones."""

    def not_pooled(*state: Any) -> ShareLaw:
        with monkeypatch.context() as patch:
            patch.setattr(populations, "own_weight", lambda reports, j, ratio: 1.0)
            return populations.share_law(*state)

    z = populations_z(paths, sampled_world(rng), rng, n_draws=600, n_repeats=3, law_of=not_pooled)
    assert largest(z) > FAILS


def test_an_error_of_the_ratio_of_another_size_is_caught(rng: np.random.Generator) -> None:
    def larger(reports: Reports, individual: np.ndarray, group: np.ndarray, error: float) -> ShareLaw:
        return populations.share_law(reports, individual, group, 120.0 * error)

    z = populations_z(paths, sampled_world(rng), rng, n_draws=1800, n_repeats=10, law_of=larger)
    assert largest(z) > 1.2 * PASSES  # it shows little in a world of six groups


def test_intercepts_of_the_prior_are_caught(rng: np.random.Generator) -> None:
    """As if they were not drawn given the reports; the moves themselves are right."""
    z = chains_z(paths, make_world(rng, place=3.0), rng, n_draws=1200, redraw=offsets_of_the_prior)
    assert largest(z) > FAILS


def test_intercepts_of_the_prior_are_caught_with_samples(rng: np.random.Generator) -> None:
    world = sampled_world(rng, place=1.5)
    assert largest(populations_z(paths, world, rng, redraw=offsets_of_the_prior)) > FAILS


def test_recorded_intercepts_of_the_prior_are_caught(rng: np.random.Generator) -> None:
    def forgetful(at: Moment) -> None:
        recorded_sweep(at)
        where = at.target.query(at.state.position[0, :1])
        at.recorded[-1] = where.deviation[0] * rng.standard_normal(where.group.shape[1])

    world = make_world(rng, place=4.0)
    assert largest(ladder_z(forgetful, world, rng, n_rungs=2, n_draws=900, n_repeats=1)) > FAILS


@pytest.mark.parametrize("name", ["plain", "compiled"])
def test_a_cell_counted_as_one_person_is_caught(name: str, rng: np.random.Generator) -> None:
    """One who counts as often as the cell has people: they would all have one label."""

    def as_one(reports: Reports) -> Reports:
        capacity = reports.capacity.copy()
        capacity[4] = 0
        return reports._replace(
            units=reports.units * reports.counts, counts=np.ones_like(reports.counts), capacity=capacity
        )

    counts = np.array([5, 1, 4, 6, 3, 2, 7, 4, 2])
    world = make_world(rng, (3, 3, 3), (report_share,) * 3, counts=counts, has_places=name == "plain")
    if name == "compiled":
        z = ladder_z(compiled_sweep, world, rng, n_draws=1200, n_repeats=10, corrupt=as_one)
    else:
        z = chains_z(plain_sweep, world, rng, n_draws=2000, n_repeats=4, corrupt=as_one)
    assert largest(z) > FAILS


def without_reports(reports: Reports) -> Reports:
    return reports._replace(
        log_likelihood=np.zeros_like(reports.log_likelihood),
        likelihood=np.ones_like(reports.likelihood),
        fewest=np.zeros_like(reports.fewest),
        most=np.tile(reports.total, (len(reports.fewest), 1)),
    )


def test_moves_that_ignore_the_reports_are_caught(rng: np.random.Generator) -> None:
    assert largest(chains_z(paths, make_world(rng), rng, n_draws=1500, corrupt=without_reports)) > FAILS


def test_swaps_that_are_always_made_are_caught(rng: np.random.Generator) -> None:
    z = ladder_z(swaps, make_world(rng), rng, last_is_prior=False, n_repeats=1, corrupt=without_reports)
    assert largest(z) > FAILS


def test_evidence_of_the_wrong_rung_is_caught(rng: np.random.Generator) -> None:
    def upside_down(reports: Reports) -> Reports:
        turned = {
            name: np.ascontiguousarray(getattr(reports, name)[::-1])
            for name in ("log_likelihood", "likelihood", "fewest", "most")
        }
        return reports._replace(**turned)

    world = make_world(rng, has_places=False)
    assert largest(ladder_z(compiled_sweep, world, rng, n_draws=800, corrupt=upside_down)) > FAILS


@pytest.mark.parametrize("move", [paths, slices, jumps])
def test_delta2_instead_of_its_logarithm_is_caught(move: Move, rng: np.random.Generator) -> None:
    """A power that is one too large: the density of delta2 taken for that of its logarithm."""

    def wrong(at: Moment) -> None:
        priors = at.target.components.priors.copy()
        priors[:, 0] += 1.0
        move(replace(at, target=with_components(at.target, priors=priors)))

    assert largest(chains_z(wrong, make_world(rng), rng, n_draws=900)) > FAILS


def test_weights_of_the_wrong_prior_variance_are_caught(rng: np.random.Generator) -> None:
    """Of the constant, which has no scale that could make up for it."""

    def wide(at: Moment) -> None:
        deviation = at.target.components.deviation.copy()
        deviation[0] *= 3.0
        paths(replace(at, target=with_components(at.target, deviation=deviation)))

    assert largest(chains_z(wide, make_world(rng), rng, n_draws=600, n_repeats=4)) > FAILS
