import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from disaggregate.basis import centers, choose_centers

X = np.random.default_rng(3).normal(size=(20, 2))


def choose(centers, seed=0):
    return choose_centers(X, centers, np.random.default_rng(seed)).points


def test_all_are_the_individuals():
    assert_array_equal(choose("all"), X)


@pytest.mark.parametrize("number", [1, 5, 19, np.int64(5)])
def test_a_number_is_so_many_different_individuals(number):
    landmarks = choose(number)
    assert landmarks.shape == (number, 2)
    rows = [np.flatnonzero((point == X).all(axis=1)).tolist() for point in landmarks]
    assert all(len(row) == 1 for row in rows)
    assert rows == sorted(rows)
    assert len({row[0] for row in rows}) == number


def test_landmarks_depend_on_the_seed_alone():
    assert_array_equal(choose(5, seed=1), choose(5, seed=1))
    assert not np.array_equal(choose(5, seed=1), choose(5, seed=2))


@pytest.mark.parametrize("number", [20, 1000])
def test_more_than_there_are_is_all(number):
    assert_array_equal(choose(number), X)


@pytest.mark.parametrize("points", [[[1, 2]], np.arange(6).reshape(3, 2), pd.DataFrame({"a": [1], "b": [2]})])
def test_given_points_are_taken(points):
    assert_array_equal(choose(points), np.asarray(points, dtype=float))


@pytest.mark.parametrize(
    ("centers", "message"),
    [
        ("some", 'centers must be "auto", "all", a number or an array of points, got \'some\''),
        (0, "centers must be 1 or more, got 0"),
        (-3, "centers must be 1 or more, got -3"),
        (None, r"centers as an array must have shape \(n_centers, 2\)"),
        (True, r"centers as an array must have shape"),
        (2.5, r"centers as an array must have shape"),
        ([1.0, 2.0], r"one column for each feature of X; got \(2,\)"),
        ([[1.0, 2.0, 3.0]], r"one column for each feature of X; got \(1, 3\)"),
        (np.empty((0, 2)), r"got \(0, 2\)"),
        ([[1.0, np.nan]], "centers contains NaN or infinite values"),
        ([["a", "b"]], "centers must be .* could not convert string"),
        ([[1.0, 2.0], [3.0]], "centers must be .* inhomogeneous"),
    ],
)
def test_bad_centers_are_refused(centers, message):
    with pytest.raises(ValueError, match=message):
        choose(centers)


def test_more_individuals_than_memory_holds_are_refused_with_advice(monkeypatch):
    monkeypatch.setattr(centers, "memory", lambda: 2**30)
    X = np.zeros((10_000, 1))
    with pytest.raises(ValueError, match=r"each of the 10,000 individuals .* some 2 GB .* centers=500"):
        choose_centers(X, "all", np.random.default_rng(0))
    assert choose_centers(X[:5000], "all", np.random.default_rng(0)).points.shape == (5000, 1)


def test_landmarks_of_many_individuals_are_some_of_them(monkeypatch):
    monkeypatch.setattr(centers, "ENOUGH_ROWS", 100)
    X = np.random.default_rng(0).standard_normal((5000, 2))
    chosen, weights = choose_centers(X, 30, np.random.default_rng(1))
    assert weights.mean() == pytest.approx(1.0)
    assert len(np.unique(chosen, axis=0)) == 30
    assert {tuple(row) for row in chosen} <= {tuple(row) for row in X}
    np.testing.assert_array_equal(chosen, choose_centers(X, 30, np.random.default_rng(1)).points)
    assert choose_centers(X, 300, np.random.default_rng(1)).points.shape == (300, 2)


def test_auto_is_every_row_of_few_and_landmarks_of_many(monkeypatch):
    monkeypatch.setattr(centers, "ALL_ROWS", 20)
    monkeypatch.setattr(centers, "LANDMARKS", 7)
    X = np.random.default_rng(0).standard_normal((21, 2))
    np.testing.assert_array_equal(choose_centers(X[:20], "auto", np.random.default_rng(0)).points, X[:20])
    assert choose_centers(X, "auto", np.random.default_rng(0)).points.shape == (7, 2)


def test_a_landmark_stands_for_the_individuals_that_are_nearest():
    points = np.repeat([[0.0], [1.0], [10.0]], [60, 30, 10], axis=0)
    chosen, weights = choose_centers(points, 40, np.random.default_rng(0))
    np.testing.assert_array_equal(chosen, [[0.0], [1.0], [10.0]])  # equal individuals are one landmark
    np.testing.assert_allclose(weights, [1.8, 0.9, 0.3])
    again, carried = choose_centers(chosen, 2, np.random.default_rng(0), weights)
    assert len(again) == 2
    np.testing.assert_allclose(sorted(carried), [0.2, 1.8])  # 0 and 1 are near each other


@pytest.mark.parametrize("given", ["all", [[1.0, 2.0], [3.0, 4.0]], 20])
def test_other_centers_count_alike(given):
    assert choose_centers(X, given, np.random.default_rng(0)).weights is None
