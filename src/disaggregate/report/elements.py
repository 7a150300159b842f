"""What a page is made of: sections, and in them text, facts, notes, tables, figures and parts that are folded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from disaggregate.report.axis import Axis


@dataclass(frozen=True)
class Text:
    """A paragraph; ``tone`` "lead" makes it large, "good" or "bad" sets it apart in a box."""

    kind: ClassVar[str] = "text"

    text: str
    tone: str = ""


@dataclass(frozen=True)
class Facts:
    """Names with their values."""

    kind: ClassVar[str] = "facts"

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Notes:
    """A list of sentences."""

    kind: ClassVar[str] = "notes"

    lines: Sequence[str]


@dataclass(frozen=True)
class Judgement:
    """What may be relied on: a heading, and a list of pairs of "good", "bad" or "" and a sentence."""

    kind: ClassVar[str] = "judgement"

    heading: str
    lines: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    kind: ClassVar[str] = "heading"

    text: str


@dataclass(frozen=True)
class Cell:
    """One cell of a table: what is read, and what it is sorted by (None: it comes last)."""

    text: str
    sort: str | float | None


@dataclass(frozen=True)
class Column:
    """Heading of a column, and whether it holds numbers."""

    heading: str
    is_number: bool


@dataclass(frozen=True)
class Table:
    """A table that its reader can sort."""

    kind: ClassVar[str] = "table"

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Interval:
    """A row of a forest: positions in per cent of the axis, and the numbers in words.

    Attributes
    ----------
    label : str
        What the row is.
    estimate, low, high : float or None
        Positions on the axis; None where nothing may be shown.
    value, between : str
        The estimate and its interval, to read.
    mark : float or None
        Position of what was reported.
    beside : str
        What else is known of the row, such as a number of people.
    """

    label: str
    estimate: float | None
    low: float | None
    high: float | None
    value: str
    between: str
    mark: float | None = None
    beside: str = ""


@dataclass(frozen=True)
class ForestPart:
    """Rows under a heading of their own, which may be empty."""

    heading: str
    rows: Sequence[Interval]


@dataclass(frozen=True)
class Forest:
    """A figure that is a table: each row has its interval drawn on one axis, and written beside it."""

    kind: ClassVar[str] = "forest"

    caption: str
    axis: Axis
    parts: Sequence[ForestPart]
    headings: tuple[str, str]
    reference: float | None = None
    beside: str = ""


@dataclass(frozen=True)
class Segment:
    """A part of a bar: where it starts and how wide it is, in per cent, and what is written in it."""

    start: float
    width: float
    text: str


@dataclass(frozen=True)
class StackedRow:
    """A bar, in the order of the legend; without parts where nothing may be shown."""

    label: str
    segments: Sequence[Segment]
    beside: str


@dataclass(frozen=True)
class Stacked:
    """Bars that are divided among outcomes; parts are pairs of a heading, which may be empty, and rows."""

    kind: ClassVar[str] = "stacked"

    caption: str
    outcomes: Sequence[str]
    parts: Sequence[tuple[str, Sequence[StackedRow]]]
    beside: str


@dataclass(frozen=True)
class Point:
    """A point of a scatter plot with its interval, in units of the drawing."""

    x: float
    y: float
    low: float
    high: float
    is_off: bool
    label: str


@dataclass(frozen=True)
class Scatter:
    """Points over a diagonal, both axes alike."""

    kind: ClassVar[str] = "scatter"

    caption: str
    axis: Axis
    points: Sequence[Point]
    x_label: str
    y_label: str
    legend: tuple[str, str]


@dataclass(frozen=True)
class Fold:
    """What is shown when its reader opens it."""

    kind: ClassVar[str] = "fold"

    title: str
    elements: Sequence[Element]


Element = Text | Facts | Notes | Judgement | Heading | Table | Forest | Stacked | Scatter | Fold


@dataclass(frozen=True)
class Section:
    """A part of the page, with a name to link to; folded parts are for those who want to check."""

    key: str
    title: str
    elements: Sequence[Element]
