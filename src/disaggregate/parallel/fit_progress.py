"""One line for a whole fit: what it is doing, how far it is, and how long it will take."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import TracebackType
from typing import Literal

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from disaggregate.parallel.durations import duration
from disaggregate.parallel.monitor import ProgressCallback, progress_console

ShowProgress = bool | Literal["auto"]

_LOG = logging.getLogger("disaggregate")

# With progress="auto", fits that take longer than this many seconds show their progress.
_LONG = 10.0

# The pace is known after this many seconds of sweeps, and this share of all of them.
_SECONDS, _SHARE = 1.0, 0.02

_LAST = "sampling"


class Forecast:
    """How far a fit is and how long it will take, from the sweeps that its stages report.

    Parameters
    ----------
    n_sampled : int
        Sweeps of all chains, which are the last stage, in as many rounds as it takes.
    """

    def __init__(self, n_sampled: int) -> None:
        self._n_sampled = n_sampled  # less those of rounds that are over
        self._n_before = 0  # sweeps of stages that are over
        self._stage, self._n_done, self._n_sweeps = "", 0, 0
        self._before, self._own = _Pace(), _Pace()
        self.share = 0.0

    def update(self, n_done: int, n_sweeps: int, what: str, now: float) -> None:
        """Record how far a stage is; a new one first reports that nothing is done.

        Parameters
        ----------
        n_done, n_sweeps : int
            Sweeps of the stage, done and in all.
        what : str
            What they are for.
        now : float
            Time in seconds.
        """
        if n_done == 0 or what != self._stage:
            self._n_before += self._n_done
            self._n_sampled -= self._n_done if self._stage == _LAST else 0
            self._before, self._own = self._before.together(self._own), _Pace()
            self._stage = what
        self._own.update(n_done, now)
        self._n_done, self._n_sweeps = n_done, n_sweeps
        done, left = self._n_before + n_done, n_sweeps - n_done + self._n_later
        self.share = max(self.share, done / max(done + left, 1))

    @property
    def seconds_left(self) -> float | None:
        """Seconds that are left of the fit; None where the pace is not known yet."""
        of_all = self._before.together(self._own)
        if not of_all.is_known or self.share < _SHARE:
            return None
        of_stage = self._own if self._own.is_known else of_all
        n_left = self._n_sweeps - self._n_done
        return n_left * of_stage.seconds_per_sweep + self._n_later * of_all.seconds_per_sweep

    @property
    def is_done(self) -> bool:
        """Whether the chains did all the sweeps of their last round."""
        return self._stage == _LAST and self._n_done == self._n_sweeps

    @property
    def _n_later(self) -> int:
        return max(self._n_sampled - self._n_sweeps, 0) if self._stage == _LAST else self._n_sampled


@dataclass
class _Pace:
    """How long sweeps took, from the first of them that were reported: what happens before them is no sweep."""

    n_sweeps: int = 0
    seconds: float = 0.0
    first: tuple[int, float] | None = None

    def update(self, n_done: int, now: float) -> None:
        if self.first is not None:
            self.n_sweeps, self.seconds = n_done - self.first[0], now - self.first[1]
        elif n_done > 0:
            self.first = n_done, now

    def together(self, other: _Pace) -> _Pace:
        return _Pace(self.n_sweeps + other.n_sweeps, self.seconds + other.seconds)

    @property
    def is_known(self) -> bool:
        return self.n_sweeps > 0 and self.seconds > _SECONDS

    @property
    def seconds_per_sweep(self) -> float:
        return self.seconds / self.n_sweeps


class FitProgress:
    """Shows one line on standard error, and says how long the fit will take as soon as that is known.

    Parameters
    ----------
    n_sampled : int
        Sweeps that are expected of all chains.
    show : bool or "auto"
        Whether to show it; "auto" where the fit takes longer than some ten seconds. It is logged anyway.
    clock : callable, optional
        Returns the time in seconds.
    """

    def __init__(self, n_sampled: int, show: ShowProgress, clock: Callable[[], float] = time.monotonic) -> None:
        self._forecast, self._show, self._clock = Forecast(n_sampled), show, clock
        self._is_announced, self._is_shown, self._begun = False, False, clock()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=progress_console(),
        )
        self._task = self._bar.add_task("preparing", total=1.0, left="")

    def __enter__(self) -> FitProgress:
        if self._show is True:
            self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._forecast.is_done:  # maybe sooner than was expected
            self._bar.update(self._task, completed=1.0, left="")
        if self._is_shown:
            self._bar.stop()

    def __call__(self, n_done: int, n_sweeps: int, what: str) -> None:
        """Record how far a stage of the fit is."""
        self._forecast.update(n_done, n_sweeps, what, self._clock())
        left = self._forecast.seconds_left
        if left is not None:
            self._announce(left)
        words = f"about {duration(left)} left" if left else ""
        self._bar.update(self._task, completed=self._forecast.share, description=what, left=words)

    def _announce(self, left: float) -> None:
        """Say once how long it will take, and show the line if that is long."""
        in_all = left + self._clock() - self._begun
        if self._show == "auto" and in_all > _LONG and not self._is_shown:
            self._start()
            self._is_announced = False
        if self._is_announced:
            return
        self._is_announced = True
        sentence = f"this fit takes about {duration(in_all)}"
        _LOG.info("%s", sentence)
        if self._is_shown and in_all > _LONG:
            self._bar.console.print(f"disaggregate: {sentence}.", highlight=False)

    def _start(self) -> None:
        self._is_shown = True
        self._bar.start()


def fit_progress(
    n_sampled: int, show: ShowProgress | ProgressCallback
) -> AbstractContextManager[ProgressCallback | None]:
    """Return a context to which the stages of a fit report their progress.

    Parameters
    ----------
    n_sampled : int
        Sweeps that are expected of all chains.
    show : bool, "auto" or callable
        As of :class:`FitProgress`, or what is called instead.
    """
    return nullcontext(show) if callable(show) else FitProgress(n_sampled, show)
