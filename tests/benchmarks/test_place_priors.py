"""The closed-form stand-in, on data that it was made for."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

from benchmarks.place_priors import NOW, Scales, areas_of, draw_people, factor_along, posterior_given
from benchmarks.truth.task import Task


def task_of(rng, context=0.0, n_areas=200, n_rows=40):
    """Two features, of which the first matters to people and, if asked to, to everybody in an area."""
    means = rng.normal(size=(n_areas, 2)) * 0.5
    X = np.repeat(means, n_rows, axis=0) + rng.normal(size=(n_areas * n_rows, 2))
    level = 0.7 * means[:, 0] + context * means[:, 0]
    share = ndtr(level / np.sqrt(1.0 + 0.7**2))
    people = pd.DataFrame(
        {"area": np.repeat([f"{j:03d}" for j in range(n_areas)], n_rows), "a": X[:, 0], "b": X[:, 1]}
    )
    results = pd.DataFrame({"area": people["area"].unique(), "share": share, "size": 50_000})
    nothing = np.zeros(len(people))
    names = {"table": "made up", "outcome": "yes", "case": "sample", "seed": 0}
    return X, Task(
        people=people, results=results, roles={"group": "area"}, labels=nothing, judges=people, truth=nothing,
        by=people[["area"]], groupings=[], halves={}, **names,
    )  # fmt: skip


@pytest.mark.parametrize("in_all_directions", [False, True])
def test_individual_effects_are_found_where_there_is_no_context(rng, in_all_directions):
    X, task = task_of(rng)
    areas = areas_of(task, X, in_all_directions)
    grid = [posterior_given(areas, Scales(scale, 0.02, 0.02, 0.0)) for scale in (0.3, 0.65, 1.3)]
    new = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]])
    drawn = draw_people(areas, grid, NOW, new, np.zeros(4, dtype=int))
    low, high, left, right = drawn.mean(axis=0)
    effect = np.subtract(*ndtr([0.7, -0.7]))
    assert high - low == pytest.approx(effect, abs=0.06)
    assert right - left == pytest.approx(0.0, abs=0.06)


def test_the_factor_along_scores_is_that_of_their_direction(rng):
    n_areas, n_rows = 2_000, 25
    means = rng.normal(size=(n_areas, 2)) * [0.2, 0.0]  # of a variance within areas of 1
    X = np.repeat(means, n_rows, axis=0) + rng.normal(size=(n_areas * n_rows, 2))
    _, task = task_of(rng, n_areas=n_areas, n_rows=n_rows)
    areas = areas_of(task, X, False)
    first, second = (np.outer(side, side) for side in np.linalg.inv(areas.to_directions).T)
    expected = 0.2**2 / (0.2**2 + 1.0 / n_rows)
    assert factor_along(areas, first) == pytest.approx(expected, abs=0.06)
    assert factor_along(areas, second) < 0.12


def test_evidence_knows_that_areas_differ(rng):
    X, task = task_of(rng, context=0.8)
    areas = areas_of(task, X, True)
    none = posterior_given(areas, Scales(0.1, 0.02, 0.02, 0.0)).log_evidence
    some = posterior_given(areas, Scales(0.65, 0.45, 0.02, 0.0)).log_evidence
    assert some > none + 10.0


def test_a_multiple_that_the_prior_excludes_has_no_weight():
    assert NOW.log_density(Scales(0.5, 0.1, 0.1, 0.5)) == -np.inf
    assert np.isfinite(NOW._replace(follows=(0.0, 0.5)).log_density(Scales(0.5, 0.1, 0.1, 0.5)))
