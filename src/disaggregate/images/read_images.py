"""Pictures in: arrays of any usual form and files become colours from 0 to 1, with errors that say what is odd."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MISSING = "Pictures need scikit-image, which is not installed. Run: pip install 'disaggregate[images]'"


def read_image(image: Any) -> NDArray[np.float64]:
    """Return one picture as red, green and blue from 0 to 1.

    Parameters
    ----------
    image : array or path
        Shape (height, width, 3) of unsigned integers, or of floats from 0 to 1. Greyscale, of shape (height,
        width), is widened to three equal colours, and a channel of transparency is dropped.

    Returns
    -------
    ndarray of shape (height, width, 3)
        The colours.
    """
    if isinstance(image, (str, os.PathLike)):
        return _read_file(Path(image))
    pixels = np.asarray(image)
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if pixels.ndim != 3 or pixels.shape[2] not in (1, 2, 3, 4) or pixels.size == 0:
        raise ValueError(
            "A picture must have the shape (height, width, 3), or (height, width) if it is grey, but got "
            f"{np.shape(image)}. Put the colours on the last axis."
        )
    opaque = pixels[:, :, :-1] if pixels.shape[2] in (2, 4) else pixels
    return np.repeat(_from_0_to_1(opaque), 3 // opaque.shape[2], axis=2)


def list_images(images: Any) -> list[Any]:
    """Return the pictures, not yet read, as a list; a single one in place of a sequence is refused."""
    if isinstance(images, (str, os.PathLike)) or (isinstance(images, np.ndarray) and images.ndim in (2, 3)):
        raise ValueError(
            "images must be a sequence of pictures, but got a single one. Put it into a list: [image]."
        )
    pictures = list(images)
    if not pictures:
        raise ValueError("images must hold at least one picture, but it is empty.")
    return pictures


def scikit_image(part: str) -> Any:
    """Return a part of scikit-image, such as "segmentation": an extra, imported when a picture is worked on."""
    try:
        return import_module(f"skimage.{part}")
    except ImportError as error:
        raise ImportError(_MISSING) from error


def _from_0_to_1(pixels: NDArray[Any]) -> NDArray[np.float64]:
    if np.issubdtype(pixels.dtype, np.unsignedinteger):
        return pixels / float(np.iinfo(pixels.dtype).max)
    if not np.issubdtype(pixels.dtype, np.floating):
        raise ValueError(
            f"A picture must hold unsigned integers, or floats from 0 to 1, but got {pixels.dtype}. "
            "Values from 0 to 255 become a picture with image.astype(np.uint8)."
        )
    colours = pixels.astype(np.float64)
    if not np.isfinite(colours).all():
        raise ValueError("A picture must hold finite numbers, but got NaN or infinity. Fill them in first.")
    if colours.min() < 0.0 or colours.max() > 1.0:
        raise ValueError(
            f"A picture of floats must hold values from 0 to 1, but got {colours.min():g} to {colours.max():g}. "
            "Divide values from 0 to 255 by 255."
        )
    return colours


def _read_file(path: Path) -> NDArray[np.float64]:
    io = scikit_image("io")
    if not path.is_file():
        raise FileNotFoundError(f"There is no picture at {str(path)!r}. Check the path.")
    try:
        pixels = io.imread(path)
    except Exception as error:  # each format has a reader of its own, with errors of its own
        raise ValueError(f"The file {str(path)!r} could not be read as a picture: {error}.") from error
    return read_image(pixels)
