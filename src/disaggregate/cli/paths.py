"""Checks that no file that a command writes is one that it reads."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from disaggregate.cli.errors import CommandError

# Arguments of all commands that name files or folders, with their names in messages. A checkpoint is read, too,
# but only to be continued.
READ = {
    "model": "the model",
    "people": "the table of people",
    "results": "the table of results",
    "sensitivity": "the table of --sensitivity",
}
WRITTEN = {"output": "--output", "checkpoint": "--checkpoint", "draws_to": "--draws-to"}


def require_separate_paths(arguments: argparse.Namespace) -> None:
    """Refuse a command that would write over one of its inputs, or write two things to one place.

    Parameters
    ----------
    arguments : Namespace
        Those of any command.
    """
    inputs, outputs = _given(arguments, READ), _given(arguments, WRITTEN)
    for index, (name, path) in enumerate(outputs):
        for other, taken in [*inputs, *outputs[:index]]:
            if _is_same(path, taken):
                raise CommandError(
                    f"{name} {str(path)!r} must not be the same file as {other}, which would be overwritten; "
                    "choose another name"
                )
            if taken.is_dir() and taken in path.parents:
                raise CommandError(
                    f"{name} {str(path)!r} must not lie in the folder of {other}, {str(taken)!r}; "
                    "choose another place"
                )


def real_path(path: str | os.PathLike[str]) -> Path:
    """Follow links and the sign for a home folder; an unknown home is a mistake of the user."""
    try:
        return Path(path).expanduser().resolve()
    except RuntimeError as error:
        raise CommandError(f"{os.fspath(path)!r} names the home of a user who is not known here") from error
    except (OSError, ValueError) as error:
        raise CommandError(f"{os.fspath(path)!r} is not a usable path: {error}") from error


def _given(arguments: argparse.Namespace, names: dict[str, str]) -> list[tuple[str, Path]]:
    given = ((called, getattr(arguments, argument, None)) for argument, called in names.items())
    return [(called, real_path(_file_of(path))) for called, path in given if path is not None]


def _file_of(path: str | os.PathLike[str]) -> Path:
    """Return the file of a sheet, such as book.xlsx#Results."""
    from disaggregate.tables.formats import split_sheet

    return split_sheet(path)[0]


def _is_same(path: Path, other: Path) -> bool:
    """Return whether two names are one file: by path, or as the file system says, for hard links."""
    if path == other:
        return True
    try:
        return path.samefile(other)
    except (OSError, ValueError):
        return False
