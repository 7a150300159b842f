"""How far a fit is, in words that the page and its script show as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from disaggregate.parallel.durations import duration

PHASES = {
    "reading": "Reading the tables",
    "preparing": "Finding good steps",
    "comparing kernels": "Comparing kernels",
    "tuning": "Finding good steps",
    "sampling": "Drawing",
    "judging": "Judging the draws",
    "writing": "Writing the answer",
}
_STAY = "You may close this page and come back."


def describe(fit: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``what`` is going on, ``percent`` of it (None if unknown), and the time that is ``left``.

    Parameters
    ----------
    fit : mapping
        As :meth:`disaggregate.web.fits.Fits.state` returns it.
    """
    if fit["state"] == "waiting":
        others = "1 fit is" if fit["ahead"] == 1 else f"{fit['ahead']} fits are"
        return {"what": f"{others} before this one.", "percent": 0, "left": _STAY}
    if fit["state"] == "stopping":
        return {"what": "Saving the draws made so far …", "percent": None, "left": _STAY}
    phase = str(fit.get("what", ""))
    words = PHASES.get(phase, phase[:1].upper() + phase[1:]) or "Starting"
    total = fit.get("total", 0)
    percent = int(100 * fit["done"] / total) if total else None
    return {
        "what": f"{words}: {percent}%" if percent is not None else f"{words} …",
        "percent": percent,
        "left": f"{_left(fit)} {duration(fit.get('seconds', 0.0))} so far. {_STAY}".strip(),
    }


def _left(fit: Mapping[str, Any]) -> str:
    left = fit.get("left")
    if left is None:
        return ""
    if left > 0.0:
        return f"About {duration(left)} left."
    if fit.get("what") == "sampling":
        return "It takes longer than usual."
    return "It takes longer than usual: the first fit after an installation compiles the sampler."
