"""Measurements in processes of their own, whose time and peak memory are theirs alone."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"


def answer_of(module: str, setting: Mapping[str, Any], cache: Path, source: Path = SOURCE) -> dict[str, Any]:
    """Run ``python -m module child SETTING`` and return the JSON of the last line that it prints.

    Parameters
    ----------
    module : str
        A module of this folder, such as "benchmarks.cells".
    setting : mapping
        What the child is to measure; written as JSON.
    cache : Path
        Folder for compiled code. One per state of the code cannot be stale.
    source : Path, optional
        Folder that ``disaggregate`` is imported from.
    """
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(source), str(ROOT)]),
        "NUMBA_CACHE_DIR": str(cache),
    }
    finished = subprocess.run(
        [sys.executable, "-m", module, "child", json.dumps(setting)],
        cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return json.loads(finished.stdout.splitlines()[-1])


def in_turns(measure: Callable[[str], Mapping[str, Any]], names: tuple[str, str], repeat: int) -> dict[str, Any]:
    """Measure two things one after the other, the first one first and every other time the second one.

    Parameters
    ----------
    measure : callable
        From one of the names to what was found.
    names : tuple of str
        What is compared; what was found of each gets its name in front.
    repeat : int
        How many times both were measured before.
    """
    found = {name: measure(name) for name in (names[::-1] if repeat % 2 else names)}
    return {f"{name}_{what}": value for name in names for what, value in found[name].items()}


def code_of(source: Path) -> str:
    """Return a short name for the state of the code in a folder."""
    code = hashlib.sha256()
    for file in sorted(source.rglob("*.py")):
        code.update(str(file.relative_to(source)).encode() + file.read_bytes())
    return code.hexdigest()[:12]


def main_or_child(main: Callable[[], None], child: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
    """Do what the command line asks for: all measurements, or one of them as a child."""
    if sys.argv[1:2] == ["child"]:
        print(json.dumps(child(json.loads(sys.argv[2]))))
    else:
        main()


def peak_memory() -> float:
    """Peak of this process so far, in GB.

    Linux counts in ``ru_maxrss`` what the parent held when the process was started, but not in ``VmHWM``.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 2**20
    except (OSError, StopIteration):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30
