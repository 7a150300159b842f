"""The process of one fit: reads what is asked, fits, and writes everything that the page shows of it.

Run ``python -m disaggregate.web.fit_process FOLDER``. Its checkpoint, its progress and what became of it are
files in that folder, so that the page needs not live as long as the fit, nor the fit as long as the page.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

from disaggregate.parallel.interrupts import noted_interrupts
from disaggregate.web.fits import CHECKPOINT, MODEL, PROGRESS, STATUS
from disaggregate.web.tasks import PEOPLE, RESULTS

_EVERY = 0.4


class Progress:
    """Writes down how far the fit is, some times a second."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._last = folder, 0.0
        self._since: dict[str, tuple[float, int]] = {}

    def __call__(self, n_done: int, n_sweeps: int, what: str) -> None:
        """Learn how far it is."""
        now = time.time()
        self._since.setdefault(what, (now, n_done))
        if now - self._last < _EVERY and n_done not in (0, n_sweeps):
            return
        self._last = now
        begun, before = self._since[what]
        pace = (n_done - before) / (now - begun) if now > begun else 0.0
        left = (n_sweeps - n_done) / pace if pace > 0.0 else None
        self.write(what, n_done, n_sweeps, left)

    def write(self, what: str, n_done: int = 0, n_sweeps: int = 0, left: float | None = None) -> None:
        """Write one state of affairs."""
        _write(self._folder, PROGRESS, {"what": what, "done": n_done, "total": n_sweeps, "left": left})


def main(folder: Path) -> int:
    """Fit, and write what became of it; return the exit code."""
    progress = Progress(folder)
    try:
        progress.write("starting")
        job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
        with noted_interrupts():  # once something was drawn, the answer is written too
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
        progress.write("writing")
        return _write_answer(folder, analysis)


def _write_answer(folder: Path, analysis: Any) -> dict[str, Any]:
    """Write what the page shows and hands out, and the model last: with it there is an answer."""
    from disaggregate.report import write_report
    from disaggregate.report.page import make_sections, render_sections
    from disaggregate.web.take_home import write_tables

    people = analysis.read(folder / PEOPLE)
    sections = make_sections(analysis, people)
    for name, part in (("answer.html", sections[:1]), ("more.html", sections[1:])):
        (folder / name).write_text(render_sections(part), encoding="utf-8")
    write_report(analysis, people, folder / "report.html", sections=sections)
    write_tables(analysis, people, folder)
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
