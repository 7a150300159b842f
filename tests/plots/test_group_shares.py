"""Reported against implied shares: misses stand out and have their names."""

import numpy as np
import pandas as pd
import pytest

from disaggregate.plots import group_shares


@pytest.fixture
def table():
    return pd.DataFrame(
        {
            "group": [10, 11, 12, 13],
            "n": [20, 20, 20, 20],
            "reported": [0.2, 0.5, 0.7, np.nan],
            "implied": [0.22, 0.3, 0.7, 0.4],
            "conf_low": [0.15, 0.25, 0.7, 0.2],
            "conf_high": [0.3, 0.4, 0.7, 0.6],
        }
    )


def test_groups_are_drawn_where_they_belong(ax, table):
    assert group_shares(table, ax=ax) is ax
    holds, misses = ax.containers[:2]
    assert holds[0].get_xydata().tolist() == [[0.2, 0.22], [0.7, 0.7]]
    assert misses[0].get_xydata().tolist() == [[0.5, 0.3]]
    (bar,) = misses[2][0].get_segments()
    assert np.allclose(bar, [[0.5, 0.25], [0.5, 0.4]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("reported share", "implied share")


def test_the_legend_counts_and_the_misses_are_named(ax, table):
    group_shares(table, ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "as reported",
        "interval contains the report (2)",
        "interval misses it (1)",
        "without a reported share, not drawn (1)",
    ]
    assert [text.get_text() for text in ax.texts] == ["11"]


def test_the_legend_says_that_groups_are_suppressed(ax, table):
    numbers = ["reported", "implied", "conf_low", "conf_high"]
    hidden = table.assign(note=["suppressed: fewer than 10 people", *[""] * (len(table) - 1)])
    hidden.loc[0, numbers] = np.nan
    labels = [text.get_text() for text in group_shares(hidden, ax=ax).get_legend().get_texts()]
    assert any(label.startswith("suppressed or without a reported share") for label in labels)


def test_an_edge_of_the_interval_is_no_miss(ax, table):
    group_shares(table.iloc[[2]], ax=ax)
    assert not ax.texts


def test_a_mean_outside_its_interval_can_be_drawn(ax, table):
    drawn = group_shares(table.assign(implied=[0.1, 0.3, 0.7, 0.4]), ax=ax)
    assert 0.7 in drawn.containers[0][0].get_ydata()


def test_a_new_figure_is_made(table):
    assert group_shares(table).figure is not None


def test_bad_input_is_explained(table):
    with pytest.raises(ValueError, match=r"needs the table that model.group_table\(\) returns, but got dict"):
        group_shares({})
    with pytest.raises(ValueError, match="there is no column 'implied' among"):
        group_shares(table.drop(columns="implied"))
    with pytest.raises(ValueError, match="one without rows"):
        group_shares(table.iloc[:0])
    with pytest.raises(ValueError, match="No group in the table reports a share"):
        group_shares(table.iloc[[3]])
