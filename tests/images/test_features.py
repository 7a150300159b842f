"""Features of known shapes and colours are the known ones, and always finite."""

import numpy as np
import pytest

from disaggregate.images import region_features


def disc(side=60, centre=(20, 35), radius=12):
    down, across = np.mgrid[0:side, 0:side]
    return (np.hypot(down - centre[0], across - centre[1]) <= radius).astype(int)


def test_a_red_disc_on_white():
    labels = disc()
    image = np.where(labels[:, :, None] == 1, [1.0, 0.0, 0.0], 1.0)
    ground, red = region_features(image, labels).to_dict("records")
    assert np.allclose(
        [red["lightness_mean"], red["green_red_mean"], red["blue_yellow_mean"]], [53.2, 80.1, 67.2], atol=0.1
    )
    assert np.allclose(
        [ground["lightness_mean"], ground["green_red_mean"], ground["blue_yellow_mean"]], [100, 0, 0], atol=0.1
    )
    assert np.allclose([red["lightness_std"], red["green_red_std"], red["blue_yellow_std"]], 0.0, atol=1e-9)
    assert np.isclose(red["area"], labels.mean())
    assert np.isclose(ground["area"], 1.0 - labels.mean())
    assert red["eccentricity"] < 0.1
    assert red["solidity"] > 0.93
    assert np.isclose(red["extent"], labels.sum() / 25**2)
    assert np.allclose([red["centre_x"], red["centre_y"]], [35.5 / 60, 20.5 / 60])


def test_a_bar_is_eccentric_and_fills_its_box():
    labels = np.zeros((30, 30), dtype=int)
    labels[14:16, 3:28] = 1
    bar = region_features(np.zeros((30, 30, 3)), labels).loc[1]
    assert bar["eccentricity"] > 0.99
    assert np.allclose(bar[["solidity", "extent"]], 1.0)


def test_texture_tells_noise_from_calm(rng):
    labels = np.repeat([[0, 1]], 20, axis=1) * np.ones((40, 1), dtype=int)
    image = np.where(labels == 1, rng.random((40, 40)), 0.5)
    calm, noise = region_features(image, labels).to_dict("records")
    for name in ("lightness_std", "gradient_mean", "gradient_std", "entropy"):
        assert noise[name] > 2 * calm[name]


def test_standard_deviations_by_hand():
    image = np.array([[[0.0] * 3, [1.0] * 3], [[0.0] * 3, [1.0] * 3]])
    features = region_features(image, [[0, 0], [0, 0]]).loc[0]
    assert np.isclose(features["lightness_mean"], 50.0)
    assert np.isclose(features["lightness_std"], 50.0)


@pytest.mark.parametrize(
    "labels",
    [
        [[0]],
        [[0, 1, 1, 2]],
        [[0], [1], [1]],
        [[0, 0, 0], [0, 1, 0], [0, 0, 0]],
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[0, 1], [2, 3]],
    ],
)
@pytest.mark.parametrize("flat", [True, False])
def test_small_and_thin_regions_have_finite_features(labels, flat, rng):
    shape = np.shape(labels)
    features = region_features(np.zeros((*shape, 3)) if flat else rng.random((*shape, 3)), labels)
    assert len(features) == np.max(labels) + 1
    assert np.isfinite(features.to_numpy()).all()


def test_labels_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"shape \(4, 5\), but got int64 of shape \(5, 4\)"):
        region_features(np.zeros((4, 5, 3)), np.zeros((5, 4), dtype=int))


def test_labels_must_be_whole_numbers():
    with pytest.raises(ValueError, match="whole number of a region"):
        region_features(np.zeros((4, 5, 3)), np.zeros((4, 5)))


@pytest.mark.parametrize("labels", [[[1, 2]], [[0, 2]], [[-1, 0]]])
def test_labels_must_count_from_zero_without_a_gap(labels):
    with pytest.raises(ValueError, match="without a gap, but got"):
        region_features(np.zeros((1, 2, 3)), labels)
