"""Calibration: shares in bins of equally many, with intervals of the number of people."""

import numpy as np
import pytest
from scipy.stats import beta

from disaggregate.plots import calibration_plot


def test_bins_hold_equally_many_and_show_their_shares(ax):
    p = np.array([0.1, 0.9, 0.2, 0.8])
    y = [0, 1, 1, 1]
    assert calibration_plot(y, p, n_bins=2, level=0.8, ax=ax) is ax
    line, _, (bars,) = ax.containers[0]
    assert np.allclose(line.get_xydata(), [[0.15, 0.5], [0.85, 1.0]])
    ends = np.array(bars.get_segments())[:, :, 1]
    assert np.allclose(ends[0], beta.ppf([0.1, 0.9], 1.5, 1.5))
    assert np.allclose(ends[1], [beta.ppf(0.1, 2.5, 0.5), 1.0])


def test_the_histogram_counts_everybody(ax, rng):
    p = rng.random(300)
    calibration_plot(rng.random(300) < p, p, ax=ax)
    heights = [bar.get_height() for bar in ax.patches]
    assert np.allclose(heights, 0.18 * np.histogram(p, 25, (0, 1))[0] / np.histogram(p, 25, (0, 1))[0].max())


def test_fewer_people_than_bins(ax):
    calibration_plot([0, 1], [0.2, 0.9], ax=ax)
    assert len(ax.containers[0][0].get_xydata()) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0.2, 1.9]), "one probability from 0 to 1 per person"),
        (([0, 1], [[0.2, 0.8], [0.1, 0.9]]), r"got shape \(2, 2\). Use predict_proba"),
        (([0, 1], [0.2, np.nan]), "one probability from 0 to 1"),
        (([], []), "one probability"),
        (([0, 1, 1], [0.2, 0.8]), r"for each of the 2 probabilities, but got shape \(3,\)"),
        (([0, 2], [0.2, 0.8]), r"values such as \[0, 2\]"),
    ],
)
def test_bad_input_is_explained(arguments, message):
    with pytest.raises(ValueError, match=message):
        calibration_plot(*arguments)


def test_bins_and_level_are_checked():
    with pytest.raises(ValueError, match="n_bins must be an integer of at least 1, but got 0"):
        calibration_plot([0, 1], [0.1, 0.2], n_bins=0)
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        calibration_plot([0, 1], [0.1, 0.2], level=2)
