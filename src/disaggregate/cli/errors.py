"""The one error that a command raises when its user can put things right."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class CommandError(Exception):
    """A mistake of the user: told in one message, without a traceback, and exit code 2."""


@contextmanager
def told_to_the_user() -> Iterator[None]:
    """Turn what the library says of wrong input into a CommandError."""
    try:
        yield
    except (ValueError, ImportError, OSError) as error:
        raise CommandError(str(error)) from error
