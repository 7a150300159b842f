"""The one error that a command raises when its user can put things right."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_LESS_MEMORY = (
    "A fit takes less with kernels on some of the people (--centers 500) and draws in --draws-to FOLDER."
)


class CommandError(Exception):
    """A mistake of the user: told in one message, without a traceback, and exit code 2."""


@contextmanager
def told_to_the_user() -> Iterator[None]:
    """Turn what the library says of wrong input into a CommandError."""
    try:
        yield
    except BrokenPipeError:
        raise  # nobody reads on, which is no mistake
    except (ValueError, ImportError, OSError) as error:
        raise CommandError(str(error)) from error
    except MemoryError as error:
        raise CommandError(f"there is too little memory ({error}). {_LESS_MEMORY}") from error
