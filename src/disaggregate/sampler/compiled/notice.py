"""Say that the sampler is being compiled, when it is."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager

from numba.core.event import Event, Listener, install_listener


class _Notice(Listener):
    """Called for each function that is compiled, and for none that comes from the disk cache."""

    def __init__(self) -> None:
        self._is_shown = False

    def on_start(self, event: Event) -> None:
        """Warn of the first."""
        if not self._is_shown:
            self._is_shown = True
            print(
                "disaggregate: compiling the sampler for this machine, half a minute or less;"
                " only the first fit after an install waits for it.",
                file=sys.stderr,
                flush=True,
            )

    def on_end(self, event: Event) -> None:
        """Say nothing more."""


def compile_notice() -> AbstractContextManager[object]:
    """Return a context in which a notice is printed as soon as numba compiles anything."""
    notice: AbstractContextManager[object] = install_listener("numba:compile", _Notice())
    return notice
