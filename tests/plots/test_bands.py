"""Bands: lines for numbers, points for levels, one for each value of a second column."""

import numpy as np
import pandas as pd
import pytest

from disaggregate.plots import effect_bands


def predictions(**keys):
    n = len(next(iter(keys.values())))
    estimate = np.linspace(0.2, 0.6, n)
    return pd.DataFrame(
        {**keys, "estimate": estimate, "std_error": 0.05, "conf_low": estimate - 0.1, "conf_high": estimate + 0.1}
    )


def test_numbers_make_a_line_with_a_band(ax):
    assert effect_bands(predictions(age=[40, 20, 60]), ax=ax) is ax
    (line,) = ax.get_lines()
    assert np.allclose(line.get_xydata(), [[20, 0.4], [40, 0.2], [60, 0.6]])
    (band,) = ax.collections
    assert np.allclose(band.get_datalim(ax.transData).intervaly, [0.1, 0.7])
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_legend()) == ("age", "average probability", None)


def test_a_second_column_gives_a_line_each(ax):
    effect_bands(predictions(age=[20, 20, 60, 60], sex=["f", "m", "f", "m"]), ax=ax)
    assert [line.get_label() for line in ax.get_lines()] == ["f", "m"]
    assert len({line.get_linestyle() for line in ax.get_lines()}) == 2
    assert ax.get_legend().get_title().get_text() == "sex"


@pytest.mark.parametrize("levels", [pd.Categorical(["low", "high"], categories=["low", "high"]), [False, True]])
def test_levels_make_points_in_their_order(ax, levels):
    effect_bands(predictions(level=levels), ax=ax)
    assert [text.get_text() for text in ax.get_xticklabels()] == [str(level) for level in levels]
    assert np.allclose(ax.containers[0][0].get_xydata(), [[0, 0.2], [1, 0.6]])


def test_points_of_a_second_column_stand_side_by_side(ax):
    effect_bands(predictions(town=["a", "a", "b", "b"], year=[1.0, 2.5, 1.0, 2.5]), ax=ax)
    first, second = (container[0].get_xdata() for container in ax.containers)
    assert (first < second).all()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["1", "2.5"]


def test_bad_input_is_explained():
    with pytest.raises(ValueError, match=r"along one column, or two, but the table has 3 .*\['a', 'b', 'c'\]"):
        effect_bands(predictions(a=[1], b=[1], c=[1]))
    with pytest.raises(ValueError, match=r"8 colours .*'b' has 9 values"):
        effect_bands(predictions(a=[1] * 9, b=list(range(9))))
    with pytest.raises(ValueError, match=r"predictions\(...\) returns, but there is no column 'estimate'"):
        effect_bands(pd.DataFrame({"a": [1]}))
