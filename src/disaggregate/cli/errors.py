"""The one error that a command raises when its user can correct the mistake."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from disaggregate.cli.wording import as_options

_LESS_MEMORY = (
    "A fit takes less with kernels on some of the people (--centers 500) and draws in --draws-to FOLDER."
)


class CommandError(Exception):
    """A mistake of the user: one message without a traceback, and exit code 2."""


@contextmanager
def errors_for_user() -> Iterator[None]:
    """Turn what the library says about wrong input into a CommandError."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of the output has ended, which is no mistake
    except (ValueError, ImportError, OSError) as error:
        raise CommandError(as_options(in_words(error))) from error
    except MemoryError as error:
        raise CommandError(f"there is too little memory ({error}). {_LESS_MEMORY}") from error


def in_words(error: Exception) -> str:
    """Return what an error says, without the number that the system has for it."""
    if not (isinstance(error, OSError) and error.strerror):
        return str(error)
    return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
