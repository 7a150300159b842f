"""Fits in processes of their own: a few at a time, others wait; they can be stopped, and resumed when killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STATUS, PROGRESS, CHECKPOINT, MODEL = "status.json", "progress.json", "checkpoint.dgc", "model.dgz"
GRACE_SECONDS = 60.0  # seconds for a fit that was asked to stop, until it begins to write


@dataclass
class Fit:
    """One fit: its process, and its request."""

    folder: Path
    job: dict[str, Any]
    process: subprocess.Popen[bytes] | None = None
    started: float = field(default_factory=time.time)
    asked_to_stop: float = 0.0


class Fits:
    """All fits of a server.

    Parameters
    ----------
    most : int
        How many run at a time.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[str, Fit] = {}

    def start(self, key: str, folder: Path, job: dict[str, Any]) -> None:
        """Start a fit, or let it wait for its turn; a fit of the same session that still runs stays.

        Parameters
        ----------
        key : str
            Session.
        folder : Path
            Its folder.
        job : dict
            Arguments of ``fit_tables``, and ``resume``.
        """
        if self.state(key)["state"] in ("waiting", "running", "stopping"):
            return
        stale = [STATUS, PROGRESS, MODEL] + ([] if job["resume"] else [CHECKPOINT])
        for name in stale:
            (folder / name).unlink(missing_ok=True)
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
        self._known[key] = Fit(folder, job)
        self.advance()

    def advance(self) -> None:
        """Start fits that wait, as far as there is room, the oldest first."""
        running = [fit for fit in self._known.values() if _is_running(fit)]
        waiting = [fit for fit in self._known.values() if fit.process is None and not fit.asked_to_stop]
        for fit in sorted(waiting, key=lambda one: one.started)[: max(0, self._most - len(running))]:
            fit.started = time.time()
            fit.process = launched(fit.folder)
        for fit in running:
            if fit.asked_to_stop and time.time() > fit.asked_to_stop + GRACE_SECONDS and not _is_writing(fit):
                _end(fit.process)

    def job(self, key: str) -> dict[str, Any] | None:
        """Return the request of the fit of a session."""
        fit = self._known.get(key)
        return None if fit is None else fit.job

    def stop(self, key: str) -> None:
        """Ask a fit to end early and keep what it drew."""
        fit = self._known.get(key)
        if fit is None or fit.asked_to_stop:
            return
        fit.asked_to_stop = time.time()
        if fit.process is not None and _is_running(fit):
            fit.process.send_signal(signal.SIGINT if os.name == "posix" else signal.CTRL_C_EVENT)  # type: ignore[attr-defined,unused-ignore]

    def forget(self, key: str) -> None:
        """End a fit at once."""
        fit = self._known.pop(key, None)
        if fit is not None:
            _end(fit.process)

    def close(self) -> None:
        """End all fits."""
        for key in list(self._known):
            self.forget(key)

    def state(self, key: str) -> dict[str, Any]:
        """Return how far a fit is: ``state``, and what else is known of it."""
        self.advance()
        fit = self._known.get(key)
        if fit is None:
            return {"state": "none"}
        state = {
            "can_resume": (fit.folder / CHECKPOINT).exists(),
            "seconds": time.time() - fit.started,
            **_progress(fit),
        }
        if fit.process is None:
            return {**state, "state": "stopped" if fit.asked_to_stop else "waiting", "ahead": self._ahead(fit)}
        if _is_running(fit):
            return {**state, "state": "stopping" if fit.asked_to_stop else "running"}
        status = _read(fit, STATUS)
        if status:
            return {**state, **status}
        if fit.asked_to_stop:
            return {**state, "state": "stopped"}
        return {**state, "state": "killed", "code": fit.process.returncode}

    def _ahead(self, fit: Fit) -> int:
        return sum(
            1
            for one in self._known.values()
            if one is not fit and (_is_running(one) or (one.process is None and one.started < fit.started))
        )


def launched(folder: Path) -> subprocess.Popen[bytes]:
    """Start the process of a fit."""
    with (folder / "fit.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "disaggregate.web.fit_process", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder,
            start_new_session=os.name == "posix",  # Ctrl-C in the terminal is for the page, which ends its fits
        )


def _progress(fit: Fit) -> dict[str, Any]:
    """Read how far a fit is; what was left then has become less, where nothing was reported since."""
    state = _read(fit, PROGRESS)
    if state.get("left") is not None:
        state["left"] = max(0.0, state["left"] - max(0.0, time.time() - state.pop("at", time.time())))
    return state


def _is_writing(fit: Fit) -> bool:
    return _read(fit, PROGRESS).get("what") == "writing"


def _is_running(fit: Fit) -> bool:
    return fit.process is not None and fit.process.poll() is None


def _end(process: subprocess.Popen[bytes] | None) -> None:
    if process is None:
        return
    if process.poll() is None:
        process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=5.0)


def _read(fit: Fit, name: str) -> dict[str, Any]:
    try:
        found = json.loads((fit.folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
