"""The process of one fit: reads the request, fits, and writes everything that the page shows of it.

Run ``python -m disaggregate.web.fit_process FOLDER``. Its checkpoint, its progress and what became of it are
files in that folder, so that either can end before the other.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

from disaggregate.parallel.interrupts import deferred_interrupts
from disaggregate.web.fits import CHECKPOINT, MODEL, PROGRESS, STATUS
from disaggregate.web.tasks import PEOPLE, RESULTS

_EVERY = 0.4
_DRAWS, _AFTER = 0.6, 0.1  # the draws, and what comes after them, as shares of the whole time


class Progress:
    """Writes down what the fit is doing and how far it is, several times per second.

    Parameters
    ----------
    folder : Path
        Where to.
    seconds : float or None
        About how long the whole fit takes, where that is known.
    """

    def __init__(self, folder: Path, seconds: float | None = None) -> None:
        self._folder, self._seconds = folder, seconds
        self._begun, self._last = time.time(), 0.0
        self._since: dict[str, tuple[float, int]] = {}

    def __call__(self, n_done: int, n_sweeps: int, what: str) -> None:
        """Learn how far it is."""
        now = time.time()
        if n_done == 0 or what not in self._since:  # chains may be run again, as ladders
            self._since[what] = (now, n_done)
        if now - self._last < _EVERY and n_done not in (0, n_sweeps):
            return
        self._last = now
        if what == "sampling" and n_done >= n_sweeps:
            self.enter("judging")
            return
        since, before = self._since[what]
        rate = (n_done - before) / (now - since) if now > since else 0.0
        of_part = (n_sweeps - n_done) / rate if rate > 0.0 else None
        self._write(what, n_done, n_sweeps, self._left(what, of_part))

    def enter(self, what: str) -> None:
        """Learn that a part begins whose progress is not known."""
        self._write(what, 0, 0, self._left(what, None))

    def _left(self, what: str, of_part: float | None) -> float | None:
        """Return about how many seconds are left of the whole fit; None if unknown."""
        after = _AFTER * (self._seconds or 0.0)
        if what == "sampling" and of_part is not None:
            return of_part + after
        if what in ("judging", "writing"):
            return None
        if self._seconds is None:
            return of_part
        so_far = time.time() - self._begun
        return max(self._seconds - so_far, (of_part or 0.0) + _DRAWS * self._seconds + after)

    def _write(self, what: str, n_done: int, n_sweeps: int, left: float | None) -> None:
        progress = {"what": what, "done": n_done, "total": n_sweeps, "left": left, "at": time.time()}
        _write(self._folder, PROGRESS, progress)


class FitStartHandler(logging.Handler):
    """Learns from the log that the tables are read and the fit begins; progress is reported only later."""

    def __init__(self, progress: Progress, what: str) -> None:
        super().__init__(logging.INFO)
        self._progress, self._what = progress, what

    def emit(self, record: logging.LogRecord) -> None:
        """Take a line of the log."""
        if record.msg.startswith("fitting"):
            self._progress.enter(self._what)


def main(folder: Path) -> int:
    """Fit, and write what became of it; return the exit code."""
    try:
        job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
        progress = Progress(folder, None if job["resume"] else job.get("seconds"))
        progress.enter("reading")
        with deferred_interrupts():  # once something was drawn, the answer is written too
            state = _fit(folder, job, progress)
    except KeyboardInterrupt:
        state = {"state": "stopped"}
    except MemoryError:
        state = {"state": "failed", "message": "There is too little memory for this fit. Choose a quick look."}
    except (ValueError, ImportError, OSError) as error:
        state = {"state": "failed", "message": str(error)}
    except Exception:
        state = {"state": "failed", "message": traceback.format_exc(limit=-3)}
    _write(folder, STATUS, state)
    return 0


def _fit(folder: Path, job: dict[str, Any], progress: Progress) -> dict[str, Any]:
    from disaggregate.analysis import fit_tables

    log = logging.getLogger("disaggregate")
    log.setLevel(logging.INFO)
    log.addHandler(FitStartHandler(progress, "preparing" if "kernel" in job["settings"] else "comparing kernels"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the answer says whether the chains agree
        analysis = fit_tables(
            folder / PEOPLE,
            folder / RESULTS,
            settings={**job["settings"], "progress": progress},
            how={"checkpoint": folder / CHECKPOINT, "resume": job["resume"]},
            outcome=job["outcome"],
            sampled=job["sampled"],
            **job["roles"],
        )
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # what was drawn is written, also if it is stopped now
        progress.enter("writing")
        return _write_answer(folder, analysis, job.get("min_group_size", 1))


def _write_answer(folder: Path, analysis: Any, min_group_size: int = 1) -> dict[str, Any]:
    """Write what the page shows and hands out, and the model last: with it there is an answer."""
    from disaggregate.report import write_report
    from disaggregate.report.findings import find
    from disaggregate.report.page import render_sections, require_enough, sections_of
    from disaggregate.web.downloads import write_tables

    people = analysis.read(folder / PEOPLE)
    require_enough(analysis, people, min_group_size)
    findings = find(analysis, people, min_group_size=min_group_size)
    sections = sections_of(analysis, findings)
    for name, part in (("answer.html", sections[:1]), ("more.html", sections[1:])):
        (folder / name).write_text(render_sections(part), encoding="utf-8")
    write_report(analysis, people, folder / "report.html", sections=sections)
    write_tables(analysis, findings, folder)
    analysis.save(folder / MODEL)
    diagnostics = analysis.classifier.diagnostics_
    return {
        "state": "done",
        "converged": bool(diagnostics.converged),
        "stopped_early": analysis.classifier.stopped_early_,
        "columns": [str(name) for name in people],
    }


def _write(folder: Path, name: str, found: dict[str, Any]) -> None:
    partial = folder / f"{name}.partial"
    partial.write_text(json.dumps(found), encoding="utf-8")
    os.replace(partial, folder / name)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
