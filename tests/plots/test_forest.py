"""The forest: rows in order, what they are, where they lie, and their numbers."""

import numpy as np
import pandas as pd
import pytest

from disaggregate.plots import subgroup_forest

ESTIMATES = {
    "estimate": [0.2, 0.5],
    "std_error": [0.05, 0.1],
    "conf_low": [0.1, 0.3],
    "conf_high": [0.3, 0.7],
}


def tick_labels(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


@pytest.fixture
def table():
    return pd.DataFrame(
        {"sex": ["f", "f"], "age": pd.Categorical(["old", None]), **ESTIMATES, "n": 3, "weight": 3.0}
    )


def test_rows_stand_in_order_with_their_numbers(ax, table):
    assert subgroup_forest(table, ax=ax) is ax
    line, _, (bars,) = ax.containers[0]
    assert line.get_xydata().tolist() == [[0.2, 0], [0.5, 1]]
    assert np.allclose(bars.get_segments(), [[[0.1, 0], [0.3, 0]], [[0.3, 1], [0.7, 1]]])
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    assert [text.get_text() for text in ax.texts] == ["0.20  [0.10, 0.30]", "0.50  [0.30, 0.70]"]
    assert ax.get_xlabel() == "estimated share"


def test_what_all_rows_share_is_not_repeated(ax, table):
    subgroup_forest(table, ax=ax)
    assert tick_labels(ax) == ["old", "missing"]


def test_everybody_together_has_a_name(ax):
    subgroup_forest(pd.DataFrame(ESTIMATES).iloc[:1], ax=ax)
    assert tick_labels(ax) == ["all"]


@pytest.mark.parametrize(
    ("contrasts", "line", "label"),
    [
        (["f - m", "+1"], 0.0, "change in probability"),
        (["f / m", "g / m"], 1.0, "ratio of shares"),
        (["dY/dX", "dY/dX"], 0.0, "change in probability by unit"),
    ],
)
def test_contrasts_have_a_line_where_nothing_differs(ax, contrasts, line, label):
    subgroup_forest(pd.DataFrame({"term": ["a", "b"], "contrast": contrasts, **ESTIMATES}), ax=ax)
    assert ax.get_lines()[0].get_xdata()[0] == line
    assert ax.get_xlabel() == label
    assert tick_labels(ax)[0] == f"a: {contrasts[0]}"


def test_a_reference_may_be_given(ax, table):
    subgroup_forest(table, reference=0.37, ax=ax)
    assert ax.get_lines()[0].get_xdata()[0] == 0.37


def test_small_numbers_are_not_rounded_away(ax):
    tiny = {"estimate": [2e-6], "conf_low": [-1e-9], "conf_high": [5e-6]}
    subgroup_forest(pd.DataFrame({"term": ["income"], "contrast": ["dY/dX"], **tiny}), ax=ax)
    assert ax.texts[0].get_text() == "0.0000020  [-0.000000001, 0.0000050]"


def test_each_row_has_the_digits_that_it_is_worth(ax):
    mixed = {"estimate": [0.1, 3e-7], "conf_low": [0.0, 1e-7], "conf_high": [0.3, 5e-7]}
    subgroup_forest(pd.DataFrame({"term": ["sex", "income"], "contrast": ["f - m", "+1"], **mixed}), ax=ax)
    assert [text.get_text() for text in ax.texts] == [
        "0.10  [0.00, 0.30]",
        "0.00000030  [0.00000010, 0.00000050]",
    ]


def test_a_row_without_an_estimate_stays_empty(ax, table):
    subgroup_forest(table.assign(estimate=[0.2, np.nan], conf_low=np.nan, conf_high=np.nan), ax=ax)
    assert len(ax.texts) == 1


def test_a_suppressed_row_says_so(ax, table):
    notes = ["suppressed: fewer than 10 people", ""]
    subgroup_forest(table.assign(estimate=[np.nan, 0.2], conf_low=np.nan, conf_high=np.nan, note=notes), ax=ax)
    assert ax.texts[0].get_text() == "suppressed"


def test_a_new_figure_grows_with_the_rows(table):
    low = subgroup_forest(table).figure.get_figheight()
    high = subgroup_forest(pd.concat([table] * 20)).figure.get_figheight()
    assert high > 4 * low


def test_numbers_lie_beside_the_axes(table):
    ax = subgroup_forest(table)
    ax.figure.draw_without_rendering()
    assert ax.texts[0].get_window_extent().x0 >= ax.get_window_extent().x1
    assert ax.texts[0].get_window_extent().x1 <= ax.figure.bbox.x1


def test_another_table_is_refused(table):
    with pytest.raises(ValueError, match=r"subgroups\(...\).* no column 'conf_low'"):
        subgroup_forest(table.drop(columns="conf_low"))
