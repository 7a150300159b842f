"""Regions follow the colours of a picture, are numbered without gaps, and are the same every time."""

import numpy as np
import pytest

from disaggregate.images import make_scenes, region_truth, segment
from disaggregate.images.regions import region_means

METHODS = ["slic", "ncut"]


def quadrants(height=40, width=60):
    """One colour a quadrant, and which quadrant each pixel is in."""
    where = 2 * (np.arange(height) >= height // 2)[:, None] + (np.arange(width) >= width // 2)
    colours = np.array([[0.9, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.9], [0.9, 0.9, 0.1]])
    return colours[where], where


@pytest.mark.parametrize("method", METHODS)
def test_quadrants_are_cut_along_their_borders(method):
    image, where = quadrants()
    labels = segment(image, method, n_regions=4)
    assert sorted(set(zip(where.ravel(), labels.ravel(), strict=True))) == sorted(
        {(quadrant, labels[where == quadrant][0]) for quadrant in range(4)}
    ), "each quadrant is one region"
    assert len(np.unique(labels)) == 4


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_regions", [1, 4, 12, 30])
def test_more_regions_never_cross_a_clear_border(method, n_regions):
    image, where = quadrants()
    labels = segment(image, method, n_regions)
    if n_regions >= 4:
        assert all(len(np.unique(where[labels == region])) == 1 for region in range(labels.max() + 1))
    assert 0.5 * n_regions <= labels.max() + 1 <= 2 * n_regions


@pytest.mark.parametrize("method", METHODS)
def test_regions_of_scenes_are_pure(method, seed):
    scenes = make_scenes(8, random_state=seed)
    for image, truth in zip(scenes.images, scenes.label_maps, strict=True):
        labels = segment(image, method)
        majority = region_truth(labels, truth, scenes.words)[labels]
        assert np.mean(majority == np.asarray(scenes.words)[truth]) > 0.95


@pytest.mark.parametrize("method", METHODS)
def test_the_same_picture_gives_the_same_regions(method, seed):
    image = make_scenes(1, random_state=seed).images[0]
    assert np.array_equal(segment(image, method), segment(image.copy(), method))
    assert np.array_equal(segment(image, method), segment(image / 255.0, method))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 30), (2, 2), (20, 20)])
@pytest.mark.parametrize("flat", [True, False])
def test_every_picture_has_regions_numbered_without_gaps(method, shape, flat, rng):
    image = np.full((*shape, 3), 0.3) if flat else rng.random((*shape, 3))
    labels = segment(image, method, n_regions=5)
    assert labels.shape == shape
    assert labels.dtype == np.int64
    assert np.array_equal(np.unique(labels), np.arange(labels.max() + 1))


def test_grey_pictures_are_cut_by_their_lightness():
    image = np.repeat([[0.1, 0.9]], 20, axis=1) * np.ones((20, 1))
    labels = segment(image, "ncut", n_regions=2)
    assert np.array_equal(labels == labels[0, 0], image == 0.1)


def test_means_of_regions_by_hand():
    values = np.array([[[1.0, 10.0], [3.0, 30.0]], [[5.0, 50.0], [7.0, 70.0]]])
    labels = np.array([[0, 0], [1, 0]])
    assert np.allclose(region_means(values, labels), [[11 / 3, 110 / 3], [5.0, 50.0]])


def test_another_method_is_refused():
    with pytest.raises(ValueError, match='method must be "slic" or "ncut", but got \'grabcut\''):
        segment(np.zeros((4, 4, 3)), "grabcut")


@pytest.mark.parametrize("n_regions", [0, -1, 2.5, True, "many"])
def test_another_number_of_regions_is_refused(n_regions):
    with pytest.raises(ValueError, match="n_regions must be a whole number of 1 or more"):
        segment(np.zeros((4, 4, 3)), n_regions=n_regions)
