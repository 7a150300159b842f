"""The average features of groups, beside those of their members."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from disaggregate.groups.context import Context, context_of
from disaggregate.groups.evidence import Unknown
from disaggregate.groups.grouped import group_rows

X = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 1.0]])
GROUPS = ["b", "a", "b", "a"]


@pytest.fixture
def context():
    return context_of(X, group_rows(GROUPS, {"a": Unknown(), "b": Unknown()}))


def test_groups_are_averaged(context):
    assert context.names == ("b", "a")
    assert_allclose(context.means, [[2.0, 3.0], [4.0, 2.0]])
    assert_allclose(context.origin, [3.0, 2.5])
    assert_allclose(context.scale, np.sqrt(np.mean(np.sum((X - [3.0, 2.5]) ** 2, axis=1))))


def test_survey_weights_count(context):
    weights = np.array([3.0, 1.0, 1.0, 1.0])
    weighted = context_of(X, group_rows(GROUPS, {"a": Unknown(), "b": Unknown()}, weights))
    assert_allclose(weighted.means, [[1.0, 2.0], [4.0, 2.0]])


def test_cells_count_as_their_people_do():
    counts = np.array([3, 1, 2, 1])
    known = {"a": Unknown(), "b": Unknown()}
    of_cells = context_of(X, group_rows(GROUPS, known, counts=counts))
    rows = np.repeat(np.arange(4), counts)
    of_people = context_of(X[rows], group_rows([GROUPS[row] for row in rows], known))
    assert_allclose(of_cells.means, of_people.means)
    assert_allclose(of_cells.origin, of_people.origin)
    assert_allclose(of_cells.scale, of_people.scale)


def test_everybody_has_their_groups_context_beside_their_features(context):
    rows = context.beside(X, GROUPS)
    assert_array_equal(rows[:, :2], X)
    expected = (np.array([[2.0, 3.0], [4.0, 2.0]]) - [3.0, 2.5]) / context.scale
    assert_allclose(rows[:, 2:], expected[[0, 1, 0, 1]])


def test_unknown_groups_are_like_everybody(context):
    assert_array_equal(context.beside(X, None)[:, 2:], 0.0)
    assert_array_equal(context.beside(X, [None, "a", None, None])[[0, 2, 3], 2:], 0.0)


def test_new_groups_are_known_by_the_rows_given(context):
    new = np.array([[1.0, 1.0], [3.0, 1.0], [9.0, 9.0]])
    rows = context.beside(new, ["c", "c", "a"])
    assert_allclose(rows[:2, 2:] * context.scale + context.origin, [[2.0, 1.0]] * 2)
    assert_allclose(rows[2, 2:] * context.scale + context.origin, [4.0, 2.0])  # as in the fit, whoever comes


def test_pieces_tell_as_much_as_the_whole(context, rng):
    new = rng.normal(size=(50, 2))
    groups = [str(code) for code in rng.integers(5, size=50)]
    groups[3] = None
    whole = context.with_groups([(new, groups)])
    in_pieces = context.with_groups(
        [(new[:20], groups[:20]), (new[20:21], groups[20:21]), (new[21:], groups[21:])]
    )
    assert set(whole.names) == {"a", "b", *(name for name in groups if name)}
    assert whole.names == in_pieces.names
    assert_allclose(whole.means, in_pieces.means)


def test_features_that_do_not_vary_do_no_harm():
    data = group_rows([0, 1], {0: Unknown(), 1: Unknown()})
    context = context_of(np.ones((2, 3)), data)
    assert isinstance(context, Context)
    assert_array_equal(context.beside(np.ones((2, 3)), [0, 1])[:, 3:], 0.0)
