"""Where scikit-image comes from: it is an extra, so it is imported here and only when a picture is worked on."""

from __future__ import annotations

from importlib import import_module
from typing import Any

MISSING = "Pictures need scikit-image, which is not installed. Run: pip install 'disaggregate[images]'"


def scikit_image(part: str) -> Any:
    """Return a part of scikit-image, such as "segmentation"."""
    try:
        return import_module(f"skimage.{part}")
    except ImportError as error:
        raise ImportError(MISSING) from error
