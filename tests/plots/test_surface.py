"""The probability surface shows what the model predicts, where the individuals are."""

import zlib

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot
from matplotlib.contour import QuadContourSet

from disaggregate.plots import probability_surface


class Slope:
    """Probability rises along the first feature and crosses one half at ``middle``."""

    def __init__(self, middle=0.0):
        self.middle = middle

    def predict_proba(self, X):
        self.asked = X
        p = 1 / (1 + np.exp(-(np.asarray(X)[:, 0] - self.middle)))
        return np.column_stack([1 - p, p])


@pytest.fixture
def rng(request):
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


@pytest.fixture
def X(rng):
    return rng.normal(size=(40, 2)) * [1.0, 10.0]


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def contours(ax):
    return [child for child in ax.get_children() if isinstance(child, QuadContourSet)]


def points_labelled(ax, label):
    (collection,) = [drawn for drawn in ax.collections if drawn.get_label() == label]
    return np.asarray(collection.get_offsets())


def test_the_grid_spans_the_individuals_with_a_margin(ax, X):
    model = Slope()
    probability_surface(model, X, ax=ax, resolution=30)
    assert model.asked.shape == (900, 2)
    assert (model.asked.min(axis=0) < X.min(axis=0)).all()
    assert (model.asked.max(axis=0) > X.max(axis=0)).all()
    assert np.allclose(ax.get_xlim(), [model.asked[:, 0].min(), model.asked[:, 0].max()])
    assert np.allclose(ax.get_ylim(), [model.asked[:, 1].min(), model.asked[:, 1].max()])


def test_colours_follow_the_second_column_of_probabilities(ax, X):
    model = Slope(middle=1.0)
    probability_surface(model, X, ax=ax)
    expected = model.predict_proba(model.asked)[:, 1]
    (filled, _) = contours(ax)
    assert np.allclose([filled.zmin, filled.zmax], [expected.min(), expected.max()])
    certainly_positive = filled.cmap(filled.norm(0.95))
    assert certainly_positive[2] > certainly_positive[1], "purple, as the colour bar says"


@pytest.mark.parametrize("middle", [-0.5, 0.0, 0.7])
def test_the_line_runs_where_the_probability_is_one_half(ax, X, middle):
    probability_surface(Slope(middle), X, ax=ax)
    _, line = contours(ax)
    vertices = np.concatenate([path.vertices for path in line.get_paths()])
    assert np.allclose(vertices[:, 0], middle, atol=0.01)
    assert "probability 0.5" in legend_texts(ax)


def test_no_line_where_the_model_never_changes_its_mind(ax, X):
    probability_surface(Slope(middle=100.0), X, ax=ax)
    assert len(contours(ax)) == 1
    assert "probability 0.5" not in legend_texts(ax)


def test_rounding_past_one_leaves_no_hole(ax, X):
    class JustPastOne(Slope):
        def predict_proba(self, X):
            p = np.full(len(X), 1.0 + 1e-12)
            return np.column_stack([1 - p, p])

    probability_surface(JustPastOne(), X, ax=ax)
    assert contours(ax)[0].zmax <= 1.0


def test_true_labels_are_distinguished(ax, X, rng):
    y = rng.integers(2, size=len(X))
    probability_surface(Slope(), X, y, ax=ax)
    assert np.allclose(points_labelled(ax, "true label 1"), X[y == 1])
    assert np.allclose(points_labelled(ax, "true label 0"), X[y == 0])
    assert {"true label 1", "true label 0"} < set(legend_texts(ax))


def test_without_labels_all_individuals_look_alike(ax, X):
    probability_surface(Slope(), X, ax=ax)
    assert np.allclose(points_labelled(ax, "individual"), X)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_named_columns_reach_the_model_and_the_axes(ax, X, frame):
    model = Slope()
    probability_surface(model, frame({"age": X[:, 0], "income": X[:, 1]}), ax=ax)
    assert isinstance(model.asked, frame)
    assert list(model.asked.columns) == ["age", "income"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "income")


def test_given_axes_are_used_and_no_figure_is_opened(ax, X):
    assert probability_surface(Slope(), X, ax=ax) is ax
    assert pyplot.get_fignums() == []


def test_a_new_figure_holds_the_axes_and_the_colour_bar(X):
    axes = probability_surface(Slope(), X)
    assert pyplot.get_fignums() == [axes.figure.number]
    assert [other.get_ylabel() for other in axes.figure.axes if other is not axes] == ["probability of a positive"]


def test_the_colour_bar_can_be_left_out(X):
    axes = probability_surface(Slope(), X, colorbar=False)
    assert axes.figure.axes == [axes]


def test_a_feature_that_never_varies_is_drawn(ax, X):
    X[:, 1] = 3.0
    probability_surface(Slope(), X, ax=ax)
    assert ax.get_ylim() == (2.0, 4.0)


@pytest.mark.parametrize("n_features", [1, 3])
def test_other_than_two_features_are_refused(n_features):
    with pytest.raises(ValueError, match=rf"exactly 2 features, but got {n_features} features\. Pass the two"):
        probability_surface(Slope(), np.zeros((5, n_features)))


def test_a_flat_array_is_refused():
    with pytest.raises(ValueError, match=r"exactly 2 features, but got an array of shape \(5,\)"):
        probability_surface(Slope(), np.zeros(5))


def test_words_and_missing_values_are_refused():
    with pytest.raises(ValueError, match="2 numeric features"):
        probability_surface(Slope(), np.array([["a", "b"]]))
    with pytest.raises(ValueError, match="2 rows, 1 values not finite"):
        probability_surface(Slope(), [[0.0, np.nan], [1.0, 2.0]])


@pytest.mark.parametrize("y", [[0, 1], [0, 1, 2], [[0], [1], [1]], ["a", "b", "c"]])
def test_bad_labels_are_refused(y):
    with pytest.raises(ValueError, match="y must hold one label, 0 or 1, for each of the 3 rows"):
        probability_surface(Slope(), np.zeros((3, 2)), y)


@pytest.mark.parametrize("resolution", [1, 0, 10.5])
def test_a_grid_needs_two_points_a_side(X, resolution):
    with pytest.raises(ValueError, match="resolution must be an integer of at least 2"):
        probability_surface(Slope(), X, resolution=resolution)
