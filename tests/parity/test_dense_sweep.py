"""Sweeps over all data, compiled ones or not, give the draws of plain NumPy, from the same random numbers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from disaggregate.model.components import scores_at
from disaggregate.model.likelihood import expected_labels
from disaggregate.sampler.dense.metric import metric_of
from disaggregate.sampler.dense.mode import find_mode
from disaggregate.sampler.dense.start import prior_center
from disaggregate.sampler.dense.state import Record, State, Sweeps, Tally, empty_tally, new_record, new_state
from disaggregate.sampler.dense.sweep import dense_sweep
from disaggregate.sampler.dense.target import Target
from disaggregate.sampler.dense.whole import WholeData
from tests.helpers.dense_problems import (
    CASES,
    PlainLikelihood,
    columns_for,
    components_for,
    metric_for,
    positions,
    powers_for,
    reports_of,
)

SHAPES = {
    "individual alone": {"context": False, "places": False},
    "places": {"context": False, "places": True},
    "context and places": {"context": True, "places": True},
}
# Shares of small towns, as those of endless populations leave no room for what interpolation changes.
SWEPT = [
    "fractions",
    "every kind",
    "survey weights",
    "small cells",
    "samples of towns",
    "samples of towns and counts",
]


def copy(state: State) -> State:
    return State(*(array.copy() for array in state))


def both(name: str, n_rungs: int, shape: str, rng: np.random.Generator) -> tuple[Target, WholeData, State]:
    """A problem as the plain sweep and as the compiled one see it, and where to start."""
    data, reports = reports_of(CASES[name], rng)
    components, columns = components_for(data, rng, **SHAPES[shape]), columns_for(data, rng)
    whole = WholeData(components, columns, reports, powers_for(n_rungs))
    plain = Target(components, PlainLikelihood(columns, whole.target.likelihood.reports), powers_for(n_rungs))
    return plain, whole, new_state(positions(components, n_rungs, rng)[None])


def assert_same_state(one: State, other: State, target: Target, tolerance: float) -> None:
    """Positions agree; energies and forces do where both know them, and are those of the position."""
    np.testing.assert_allclose(other.position, one.position, rtol=tolerance, atol=tolerance)
    assert one.sweep[0] == other.sweep[0]
    known = (one.is_known[0] == 1) & (other.is_known[0] == 1)
    # The compiled jump finds the energy alone, so what it knows is what the plain one knows, or less.
    assert np.all(one.is_known >= other.is_known)
    rungs = np.flatnonzero(known)
    if len(rungs):
        energy, force = target.evaluate(one.position[0, rungs], rungs)
        for state in (one, other):
            scale = 1.0 + np.abs(force).max()
            np.testing.assert_allclose(state.energy[0, rungs], energy, rtol=tolerance, atol=10.0 * tolerance)
            np.testing.assert_allclose(state.force[0, rungs] / scale, force / scale, atol=10.0 * tolerance)


# On a ladder, plain sweeps with intercepts take seconds: some, with a context beside them, stand for all.
ON_A_LADDER = ("fractions", "every kind", "samples of towns")


def is_thorough(name: str, n_rungs: int, shape: str) -> bool:
    return n_rungs > 1 and (shape == "places" or (shape == "context and places" and name not in ON_A_LADDER))


EACH_SWEEP = [
    pytest.param(*case, marks=[pytest.mark.thorough] if is_thorough(*case) else [])
    for case in product(SWEPT, (1, 4), SHAPES)
]


@pytest.mark.parametrize(("name", "n_rungs", "shape"), EACH_SWEEP)
def test_sweep(name: str, n_rungs: int, shape: str, rng: np.random.Generator) -> None:
    plain, whole, _ = both(name, n_rungs, shape, rng)
    start = find_mode(whole.target, prior_center(plain.components)).position
    start = start + 0.3 * rng.standard_normal((n_rungs, plain.components.n_coordinates))
    state = new_state(start[None])
    curvature = whole.target.curvature(start, np.arange(n_rungs))
    metric = metric_of(plain.components, np.linspace(0.3, 0.5, 2 * n_rungs), curvature)
    tolerance = 2e-4 if "samples" in name else 1e-7
    if plain.components.n_places:
        tolerance = 2e-3  # nodes of the integrals over intercepts are laid a little differently
    n_accepted = 0.0
    has_places = plain.components.n_places > 0
    state.sweep[0] = int(has_places)  # plain ones are slow: an odd sweep and an even one, which holds the scales
    for _ in range(2 if has_places else 6):
        twin, seed = copy(state), int(rng.integers(2**31))
        tallies: list[Tally] = []
        ratios = np.zeros((1, n_rungs - 1, 2))
        own, other = np.random.default_rng(seed), np.random.default_rng(seed)
        tallies.append(empty_tally(1, n_rungs))
        dense_sweep(plain, metric, state, tallies[0], ratios, [own])
        tallies.append(empty_tally(1, n_rungs))
        record = new_record(whole, 1, n_rungs, 1)
        kept = whole.advance(Sweeps(metric, twin, [other], 1, int(twin.sweep[0]), 1, tallies[1], record))
        assert kept == 1
        own.standard_normal(plain.components.n_places)  # for the intercepts of the draw that is kept
        assert own.random() == other.random()
        assert_same_state(state, twin, plain, tolerance)
        for mine, theirs in zip(*tallies, strict=True):
            np.testing.assert_allclose(theirs, mine, rtol=tolerance, atol=20.0 * tolerance)
        np.testing.assert_allclose(record.log_ratios[0], ratios, rtol=tolerance, atol=20.0 * tolerance)
        assert_record(plain, state, record, tolerance)
        n_accepted += tallies[0].accepted.sum()
        state.position[:] = twin.position  # so that what is interpolated does not add up
        state.is_known[:] = twin.is_known[:] = 0
    assert n_accepted > 1.0


def assert_record(plain: Target, state: State, record: Record, tolerance: float) -> None:
    components = plain.components
    scores = scores_at(components, state.position[0, :1])
    n_weights = components.n_weights
    np.testing.assert_allclose(
        record.weights[0, 0, :n_weights], scores.weights[0], rtol=tolerance, atol=10.0 * tolerance
    )
    assert record.weights.shape[2] == n_weights + components.n_places
    scales = np.exp(state.position[0, 0, n_weights : n_weights + len(components.priors)])
    np.testing.assert_allclose(record.scales[0, 0], scales, rtol=10.0 * tolerance)
    individual = scores.weights[0, : components.n_columns] @ plain.likelihood.columns
    offsets = scores.group[0]
    if components.n_places:
        offsets = offsets + record.weights[0, 0, n_weights:]
    expected = expected_labels(plain.likelihood.reports, individual, offsets, float(scores.error[0]))
    np.testing.assert_allclose(record.label_sums[0], expected.labels, atol=20.0 * tolerance)


@pytest.mark.parametrize("n_rungs", [1, 3])
def test_many_sweeps_in_one_call_are_one_after_the_other(n_rungs: int, rng: np.random.Generator) -> None:
    _, whole, state = both("fractions", n_rungs, "context and places", rng)
    metric, twin = metric_for(whole.target.components, n_rungs, rng), copy(state)
    together, apart = new_record(whole, 1, n_rungs, 3), []
    tally = empty_tally(1, n_rungs)
    own, other = np.random.default_rng(5), np.random.default_rng(5)
    assert whole.advance(Sweeps(metric, state, [own], 8, 2, 2, tally, together)) == 3
    labels = np.zeros_like(together.label_sums)
    for sweep in range(8):
        one = new_record(whole, 1, n_rungs, 1)
        if whole.advance(Sweeps(metric, twin, [other], 1, 2, 2, empty_tally(1, n_rungs), one)):
            apart.append(one)
            labels += one.label_sums
            assert sweep in (3, 5, 7)
    np.testing.assert_array_equal(together.weights, np.concatenate([one.weights for one in apart]))
    np.testing.assert_allclose(together.label_sums, labels)
    np.testing.assert_array_equal(state.position, twin.position)
    twice = 2.0 if n_rungs > 1 else 1.0  # the first rung moves twice in a sweep if there are others
    assert tally.moves[0, [0, n_rungs]].tolist() == [4.0 * twice, 4.0 * twice]  # free ones, and with fixed scales


def test_the_plain_sweep_moves_several_chains_as_it_moves_each(rng: np.random.Generator) -> None:
    """But for the length of trajectories, which all chains share."""
    plain, _, state = both("fractions", 3, "context and places", rng)
    metric = metric_for(plain.components, 3, rng)
    start = np.concatenate([state.position, positions(plain.components, 3, rng)[None]])
    together = new_state(start.copy())
    seeds = [11, 12]
    ratios = np.zeros((2, 2, 2))
    dense_sweep(plain, metric, together, empty_tally(2, 3), ratios, [np.random.default_rng(s) for s in seeds])
    alone = new_state(start[:1].copy())
    own = np.zeros((1, 2, 2))
    dense_sweep(plain, metric, alone, empty_tally(1, 3), own, [np.random.default_rng(seeds[0])])
    np.testing.assert_allclose(together.position[0], alone.position[0], rtol=1e-9)
    np.testing.assert_allclose(ratios[0], own[0], rtol=1e-9)
    assert not np.allclose(together.position[0], together.position[1])
