"""The one error that a table raises when its owner can put things right."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    """One way to settle what a table leaves open.

    Parameters
    ----------
    setting : str
        Name of the setting, one of those of :class:`disaggregate.tables.reading.Reading`.
    value : str
        Its value.
    meaning : str
        What the table then says.
    """

    setting: str
    value: str
    meaning: str


class TableError(ValueError):
    """A mistake in a table, or in what was said of it: what was expected, what came, what to do.

    Parameters
    ----------
    message : str
        The message.
    kind : str, default="table"
        One word or two for the kind of mistake, for programs.
    choices : tuple of Choice
        The ways to go on, where the table can be read in several.
    """

    def __init__(self, message: str, kind: str = "table", choices: tuple[Choice, ...] = ()) -> None:
        super().__init__(message)
        self.kind = kind
        self.choices = choices
