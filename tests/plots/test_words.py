"""The overlay shows each region's probability where the region is."""

import sys

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.collections import LineCollection

from disaggregate.plots import word_overlay

LABELS = np.array([[0, 0, 1], [0, 0, 1], [2, 2, 2]])
PROBABILITY = [0.1, 0.9, 0.5]


@pytest.fixture
def image(rng):
    return rng.random((3, 3, 3))


def borders(ax):
    (lines,) = [drawn for drawn in ax.collections if isinstance(drawn, LineCollection)]
    return {tuple(map(tuple, segment.tolist())) for segment in lines.get_segments()}


def test_pixels_have_the_probability_of_their_region(ax, image):
    word_overlay(image, LABELS, PROBABILITY, ax=ax)
    _, tint = ax.images
    assert np.allclose(tint.get_array(), [[0.1, 0.1, 0.9], [0.1, 0.1, 0.9], [0.5, 0.5, 0.5]])
    assert tint.get_clim() == (0.0, 1.0)
    assert 0.0 < tint.get_alpha() < 1.0


def test_the_picture_below_is_grey_and_never_black(ax):
    image = np.zeros((3, 3, 3))
    image[0] = [0.0, 1.0, 0.0]
    image[1] = 1.0
    word_overlay(image, LABELS, PROBABILITY, ax=ax)
    shade = ax.images[0].get_array()
    assert shade.shape == (3, 3)
    assert 0.2 < shade[2, 0] < shade[0, 0] < shade[1, 0] == pytest.approx(1.0)


def test_borders_run_between_regions_and_nowhere_else(ax, image):
    word_overlay(image, LABELS, PROBABILITY, ax=ax)
    assert borders(ax) == {
        ((1.5, -0.5), (1.5, 0.5)),
        ((1.5, 0.5), (1.5, 1.5)),
        ((-0.5, 1.5), (0.5, 1.5)),
        ((0.5, 1.5), (1.5, 1.5)),
        ((1.5, 1.5), (2.5, 1.5)),
    }


def test_a_single_region_has_no_borders(ax, image):
    word_overlay(image, np.zeros((3, 3), dtype=int), [0.3], ax=ax)
    assert borders(ax) == set()
    ax.figure.draw_without_rendering()


def test_the_title_and_the_colour_bar(image):
    axes = word_overlay(image, LABELS, PROBABILITY, title="sun")
    assert axes.get_title() == "sun"
    assert [other.get_ylabel() for other in axes.figure.axes if other is not axes] == ["probability of the word"]
    axes.figure.draw_without_rendering()


def test_given_axes_are_used_and_the_colour_bar_can_be_left_out(ax, image):
    assert word_overlay(image, LABELS, PROBABILITY, ax=ax, colorbar=False) is ax
    assert ax.figure.axes == [ax]
    assert pyplot.get_fignums() == []


def test_labels_of_another_picture_are_refused(image):
    with pytest.raises(ValueError, match=r"each pixel.*\(3, 3\).*\(2, 3\)"):
        word_overlay(image, LABELS[:2], PROBABILITY)


@pytest.mark.parametrize("probability", [[0.1, 0.9], [[0.1], [0.2], [0.3]], [0.1, 0.2, np.nan]])
def test_another_number_of_probabilities_is_refused(image, probability):
    with pytest.raises(ValueError, match="a finite number for each of the 3 regions in labels"):
        word_overlay(image, LABELS, probability)


def test_missing_matplotlib_says_how_to_install_it(image, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'disaggregate\[plots\]'"):
        word_overlay(image, LABELS, PROBABILITY)
