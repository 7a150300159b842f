"""What a page is made of: sections, and in them text, facts, notes, tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Text:
    """A paragraph; ``tone`` "good" or "bad" sets it apart in a box."""

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
class Code:
    """Something to type in."""

    kind: ClassVar[str] = "code"

    text: str


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
class Drawing:
    """A figure as SVG text, with what it shows in words."""

    kind: ClassVar[str] = "drawing"

    svg: str
    caption: str


Block = Text | Facts | Notes | Code | Heading | Table | Drawing


@dataclass(frozen=True)
class Section:
    """A part of the page, with a name to link to."""

    key: str
    title: str
    blocks: Sequence[Block]
