"""Pictures of every usual form become colours from 0 to 1; what is no picture is refused with a reason."""

import numpy as np
import pytest
from skimage.io import imsave

from disaggregate.images.read_images import list_images, read_image


def test_bytes_become_shares():
    picture = read_image(np.array([[[0, 51, 255]]], dtype=np.uint8))
    assert picture.dtype == np.float64
    assert np.allclose(picture, [[[0.0, 0.2, 1.0]]])


def test_sixteen_bits_become_shares():
    assert read_image(np.full((2, 2, 3), 65535, dtype=np.uint16)).min() == 1.0


def test_floats_stay(rng):
    image = rng.random((3, 4, 3))
    assert np.array_equal(read_image(image), image)
    assert np.allclose(read_image(image.astype(np.float32)), image, atol=1e-6)


@pytest.mark.parametrize("shape", [(3, 4), (3, 4, 1)])
def test_grey_is_widened(rng, shape):
    image = rng.random(shape)
    picture = read_image(image)
    assert picture.shape == (3, 4, 3)
    assert all(np.array_equal(picture[:, :, channel], image.reshape(3, 4)) for channel in range(3))


def test_transparency_is_dropped(rng):
    image = rng.random((3, 4, 4))
    assert np.array_equal(read_image(image), image[:, :, :3])
    assert np.array_equal(read_image(image[:, :, :2])[:, :, 2], image[:, :, 0])


def test_files_are_read(rng, tmp_path):
    image = rng.integers(0, 256, size=(5, 7, 3), dtype=np.uint8)
    imsave(tmp_path / "a.png", image, check_contrast=False)
    assert np.array_equal(read_image(tmp_path / "a.png"), image / 255.0)
    assert np.array_equal(read_image(str(tmp_path / "a.png")), image / 255.0)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no picture at"):
        read_image(tmp_path / "none.png")


@pytest.mark.filterwarnings("ignore:The legacy:DeprecationWarning")  # of readers that are tried in turn
def test_a_file_that_is_no_picture(tmp_path):
    (tmp_path / "a.png").write_text("no picture")
    with pytest.raises(ValueError, match="could not be read as a picture"):
        read_image(tmp_path / "a.png")


@pytest.mark.parametrize("shape", [(4,), (4, 4, 5), (2, 4, 4, 3), (0, 4, 3), ()])
def test_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match=r"must have the shape \(height, width, 3\).*Put the colours on the last"):
        read_image(np.zeros(shape))


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.full((2, 2, 3), 200), r"but got int64\. Values from 0 to 255 become a picture with image\.astype"),
        (np.full((2, 2, 3), True), "but got bool"),
        (np.full((2, 2, 3), 200.0), "but got 200 to 200. Divide values from 0 to 255 by 255"),
        (np.full((2, 2, 3), -0.1), "from 0 to 1, but got -0.1"),
        (np.full((2, 2, 3), np.nan), "finite numbers, but got NaN"),
        (np.full((2, 2, 3), "red"), "unsigned integers, or floats from 0 to 1"),
    ],
)
def test_other_values_are_refused(image, message):
    with pytest.raises(ValueError, match=message):
        read_image(image)


@pytest.mark.parametrize("single", [np.zeros((4, 4, 3)), np.zeros((4, 4)), "a.png"])
def test_a_single_picture_is_no_sequence(single):
    with pytest.raises(ValueError, match=r"got a single one\. Put it into a list: \[image\]"):
        list_images(single)


def test_a_stack_is_a_sequence():
    assert len(list_images(np.zeros((5, 4, 4, 3)))) == 5


def test_no_pictures_are_refused():
    with pytest.raises(ValueError, match="at least one picture, but it is empty"):
        list_images([])
