"""Types of command-line arguments: each reads a string or says what was expected."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from disaggregate.cli.errors import in_words
from disaggregate.storage.atomic_files import require_writable

FIGURE_FORMATS = (".png", ".pdf", ".svg", ".jpg")
# The largest seed that numpy's legacy generators, and so scikit-learn, accept.
LARGEST = 2**32 - 1


def whole_number(at_least: int, at_most: int = LARGEST) -> Callable[[str], int]:
    """Return a reader of whole numbers between two bounds."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = at_least - 1
        if not at_least <= value <= at_most:
            expected = f"of at least {at_least}" if value < at_least else f"of at most {at_most}"
            raise argparse.ArgumentTypeError(f"expected a whole number {expected}, got {text!r}")
        return value

    return read


def number_or_auto(at_least: int) -> Callable[[str], int | str]:
    """Return a reader of whole numbers from a bound, or of the word auto."""
    number = whole_number(at_least)
    return lambda text: text if text == "auto" else number(text)


def probability(text: str) -> float:
    """Read a probability between 0 and 1."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0.0 < value < 1.0:
        meant = f"; did you mean {value / 100.0:g}?" if 1.0 < value < 100.0 else ""
        raise argparse.ArgumentTypeError(f"expected a number between 0 and 1, such as 0.9, got {text!r}{meant}")
    return value


def output_path(text: str) -> Path:
    """Read where to write, and refuse early what could not be written after long work."""
    try:
        path = Path(text).expanduser()
        if path.is_dir():
            raise argparse.ArgumentTypeError(f"expected a file, got the folder {text!r}")
        if not path.parent.is_dir():
            raise argparse.ArgumentTypeError(f"folder {str(path.parent)!r} does not exist; create it first")
        require_writable(path)
    except (OSError, RuntimeError, ValueError) as error:
        raise argparse.ArgumentTypeError(
            f"cannot write {text!r} ({in_words(error)}); choose another place"
        ) from error
    return path


def figure_path(text: str) -> Path:
    """Read where to write a figure."""
    if Path(text).suffix.lower() not in FIGURE_FORMATS:
        raise argparse.ArgumentTypeError(f"expected a file that ends in {', '.join(FIGURE_FORMATS)}, got {text!r}")
    return output_path(text)
