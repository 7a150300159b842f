"""The scatter of groups shows who is where, and says what was reported."""

import zlib

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from disaggregate.datasets import make_districts, make_hidden_cluster
from disaggregate.groups.evidence import AtLeast, Fraction
from disaggregate.plots import group_scatter


@pytest.fixture
def seed(request):
    return zlib.crc32(request.node.name.encode())


@pytest.fixture
def data(seed):
    return make_districts(random_state=seed)


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_legend_says_what_was_reported(ax, data):
    group_scatter(data.X, data.groups, data.shares, ax=ax)
    assert legend_texts(ax) == [
        "A: 19 people, 73 % reported",
        "B: 16 people, 25 % reported",
        "C: 20 people, 85 % reported",
    ]


def test_rows_in_any_order_find_their_group(ax, data, seed):
    shuffled = np.random.default_rng(seed).permutation(len(data.y))
    group_scatter(data.X[shuffled], data.groups[shuffled], data.shares, ax=ax)
    for drawn, group in zip(ax.collections, "ABC", strict=True):
        expected = data.X[data.groups == group]
        offsets = np.asarray(drawn.get_offsets())
        assert np.allclose(np.sort(offsets, axis=0), np.sort(expected, axis=0))


def test_groups_differ_in_colour_and_in_mark(ax, data):
    group_scatter(data.X, data.groups, ax=ax)
    colours = {to_hex(drawn.get_facecolor()[0]) for drawn in ax.collections}
    marks = {drawn.get_paths()[0].vertices.tobytes() for drawn in ax.collections}
    assert len(colours) == len(marks) == 3


def test_without_shares_the_legend_counts_people(ax):
    group_scatter([[0, 0], [1, 1], [2, 2]], ["x", "x", "y"], ax=ax)
    assert legend_texts(ax) == ["x: 2 people", "y: 1 person"]


def test_reports_of_every_kind_are_put_into_words(ax):
    reports = {1: Fraction(0.125), 2: AtLeast(1), 3: np.nan, 5: 1}
    group_scatter(np.arange(10).reshape(5, 2), [1, 2, 3, 4, 5], reports, ax=ax)
    assert legend_texts(ax) == [
        "1: 1 person, 12.5 % reported",
        f"2: 1 person, {AtLeast(1)}",
        "3: 1 person, no report",
        "4: 1 person, no report",
        "5: 1 person, 100 % reported",
    ]


def test_many_groups_do_not_drown_the_plot_in_a_legend(ax, seed):
    data = make_hidden_cluster(random_state=seed)
    group_scatter(data.X, data.groups, data.shares, ax=ax)
    assert len(ax.collections) == 75
    assert len(legend_texts(ax)) == 13
    assert legend_texts(ax)[-1] == "and 63 more groups"
    ax.figure.draw_without_rendering()
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1


def test_ids_that_cannot_be_sorted_keep_their_order(ax):
    group_scatter(np.zeros((3, 2)), ["b", 1, "a"], ax=ax)
    assert legend_texts(ax) == ["b: 1 person", "1: 1 person", "a: 1 person"]


def test_columns_name_the_axes(ax, data):
    assert group_scatter(pd.DataFrame(data.X, columns=["age", "income"]), data.groups, ax=ax) is ax
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "income")


def test_three_features_are_refused():
    with pytest.raises(ValueError, match="exactly 2 features, but got 3 features"):
        group_scatter(np.zeros((4, 3)), [0, 0, 1, 1])


def test_groups_of_another_length_are_refused():
    with pytest.raises(ValueError, match="groups has 3 entries but X has 4 rows"):
        group_scatter(np.zeros((4, 2)), [0, 0, 1])


def test_shares_of_other_groups_are_refused():
    with pytest.raises(ValueError, match=r"such as \[0, 1\], but got \['0', '1'\]\. Use the same ids"):
        group_scatter(np.zeros((2, 2)), [0, 1], {"0": 0.5, "1": 0.5})
