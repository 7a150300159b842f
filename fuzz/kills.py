"""Fits that are killed at random moments lose no finished checkpoint, no saved model, and draw nothing else.

A child process fits with checkpoints as often as they can be written, saves the model three times over itself,
and is killed at some moment of it (SIGKILL). Then another child resumes, and must come to the draws of an
uninterrupted fit; and a model that was saved must be whole.

    python -m fuzz.kills --runs 200
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import disaggregate as dg
from disaggregate.parallel import turns
from disaggregate.sampler.prepare import prepare
from disaggregate.saving import pace

KINDS: dict[str, dict[str, Any]] = {
    "several kernels": {"n_draws": 600, "n_burn": 200},
    "sparse": {"weights": "sparse", "kernel": "rbf", "gamma": "scale", "n_draws": 3000, "n_burn": 500},
    "one replica": {"kernel": "rbf", "gamma": "scale", "n_replicas": 1, "n_draws": 3000, "n_burn": 500},
}
KINDS["draws on disk"] = KINDS["sparse"]
FINISHED = "finished before the kill"
TOWN = dg.datasets.make_districts(random_state=0)


def fit_and_save(kind: str, folder: Path, *, resume: bool) -> str:
    """Fit with checkpoints, save three times, and return a digest of all draws."""
    pace._EVERY, pace._SHARE, turns._GLANCE = 0.0, np.inf, 0.001
    warnings.simplefilter("ignore", ConvergenceWarning)
    model = dg.GroupStatsClassifier(random_state=0, n_chains=2, n_jobs=2, **KINDS[kind])
    draws_to = folder / "draws" if kind == "draws on disk" else None
    how = {"checkpoint": folder / "run.dgc", "resume": resume, "draws_to": draws_to}
    model.fit(TOWN.X, TOWN.shares, groups=TOWN.groups, **how)
    for _ in range(3):
        model.save(folder / "model.dgz")
    return digest(model)


def digest(model: Any) -> str:
    """Tell fits apart to the last bit."""
    arrays = (model.predict_draws(TOWN.X), model.posterior_.delta2, model.label_proba_)
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


def in_a_child(function: Any, *arguments: Any, kill_after: float | None = None, **named: Any) -> Any:
    """Run a function in a forked process and return its result; None if it was killed first."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_report, args=(sender, function, arguments, named))
    child.start()
    sender.close()
    if kill_after is not None:
        time.sleep(kill_after)
        if child.is_alive() and child.pid is not None:
            os.kill(child.pid, signal.SIGKILL)
    try:
        result = receiver.recv()
    except EOFError:
        result = None
    child.join()
    return result


def _report(sender: Connection, function: Any, arguments: tuple, named: dict[str, Any]) -> None:
    try:
        sender.send(function(*arguments, **named))
    except Exception as error:
        sender.send(f"{type(error).__name__}: {error}")


def state_of(folder: Path, expected: str) -> str:
    """Say what a kill left behind: what was going on, or what is wrong."""
    if (folder / "model.dgz").exists():
        if digest(dg.load(folder / "model.dgz")) != expected:
            return "wrong: the saved model is another"
        return "killed in or after saving"
    if not (folder / "run.dgc").exists():
        return "killed before the first checkpoint"
    return "killed in sampling or checkpointing"


def one_kill(kind: str, expected: str, seconds: float, rng: np.random.Generator) -> str:
    """Kill one fit and resume it; return what happened."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        finished = in_a_child(fit_and_save, kind, folder, resume=False, kill_after=rng.uniform(0.0, 1.1 * seconds))
        if finished is not None:
            return FINISHED if finished == expected else f"wrong: {finished}"
        left = in_a_child(state_of, folder, expected)
        resumed = in_a_child(fit_and_save, kind, folder, resume=True)
        return left if resumed == expected else f"wrong: resumed to {resumed} after {left}"


def main(argv: list[str] | None = None) -> int:
    """Kill many fits and count what happened; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200, help="kills (default: 200)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the moments (default: 0)")
    arguments = parser.parse_args(argv)
    for moves in ("dense", "sparse"):
        prepare(moves)  # type: ignore[arg-type]
    rng, told = np.random.default_rng(arguments.seed), Counter[str]()
    known = {}
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as name:
            began = time.monotonic()
            known[kind] = in_a_child(fit_and_save, kind, Path(name), resume=False), time.monotonic() - began
    run = 0
    while told.total() - told[FINISHED] < arguments.runs:
        kind = list(KINDS)[run % len(KINDS)]
        expected, seconds = known[kind]
        happened = one_kill(kind, expected, seconds, rng)
        told[happened] += 1
        if happened == FINISHED:  # the machine is faster than it was: kill sooner
            known[kind] = expected, 0.9 * seconds
        if happened.startswith("wrong"):
            print(f"run {run}, {kind}: {happened}", flush=True)
        run += 1
    for happened, times in told.most_common():
        print(f"{times:5d}  {happened}")
    return int(any(happened.startswith("wrong") for happened in told))


if __name__ == "__main__":
    sys.exit(main())
