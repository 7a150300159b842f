"""Plots as SVG text that can stand in a page beside others: no name clashes, no address of another host."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pandas as pd
from pandas.api import types

from disaggregate.plots.canvas import new_figure
from disaggregate.report.blocks import Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Narrow, so that letters are still large enough when the figure is shrunk to the width of a phone.
WIDTH = 4.6
LONGEST_LABEL = 28
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def draw(name: str, caption: str, height: float, plot: Callable[[Axes], Any]) -> Drawing:
    """Draw a plot on a figure of its own.

    Parameters
    ----------
    name : str
        Letters and digits, another for each figure of a page.
    caption : str
        What it shows, in words.
    height : float
        In inches; all figures are equally wide.
    plot : callable
        Draws on the Axes that it is given.
    """
    figure = new_figure(WIDTH, height)
    with _plain_text():
        plot(figure.add_subplot())
        written = io.StringIO()
        figure.savefig(written, format="svg", metadata=_NO_METADATA, transparent=True)
    return Drawing(_for_a_page(written.getvalue(), name), caption)


def short_labels(table: pd.DataFrame) -> pd.DataFrame:
    """Cut long names, which would leave no room for the plot."""
    texts = [name for name in table if not types.is_numeric_dtype(table[name].dtype)]
    return table.assign(**{name: table[name].map(_short, na_action="ignore").astype(object) for name in texts})


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"


@contextmanager
def _plain_text() -> Iterator[None]:
    """Text stays text, and a dollar sign in somebody's label is no formula."""
    import matplotlib

    settings = {"svg.fonttype": "none", "svg.hashsalt": "disaggregate", "text.parse_math": False, "font.size": 9.0}
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        # The reader's browser has the letters that the fonts of this machine lack.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield


def _for_a_page(svg: str, name: str) -> str:
    """Cut the drawing out of its document, scale it by its box, and give its names a prefix."""
    svg = svg[svg.index("<svg") :]
    opening, rest = svg.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', opening)
    rest = re.sub(r"<style[^>]*>.*?</style>", "", rest, flags=re.DOTALL)
    rest = re.sub(r"<!--.*?-->", "", rest, flags=re.DOTALL)
    return f"<svg {box.group() if box else ''}>{_with_prefix(rest, name)}".strip()


def _with_prefix(svg: str, name: str) -> str:
    """Prefix names inside of tags only: the same letters may stand in a label."""

    def prefixed(tag: re.Match[str]) -> str:
        return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", tag.group())

    return re.sub(r"<[^>]*>", prefixed, svg)
