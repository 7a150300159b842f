"""Fits that are killed at random moments lose no finished checkpoint, no saved model, and draw nothing else.

A child process fits with checkpoints as often as they can be written, on threads or on a pool, saves the model
three times over itself, and is killed at some moment of it (SIGKILL); the processes of its pool live on. Then
another child resumes, and must come to the draws of an uninterrupted fit; a model that was saved must be whole.
Some are asked to stop instead (SIGINT, to the pool too): they must end in good order and save what was drawn.

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
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

import disaggregate as dg
from disaggregate.parallel import on_executor, round_robin
from disaggregate.parallel.interrupts import deferred_interrupts
from disaggregate.sampler.prepare import prepare
from disaggregate.saving import checkpoint_schedule
from disaggregate.saving.archive import read_archive
from disaggregate.saving.model import CLASSES
from disaggregate.saving.tree import Reader

KINDS: dict[str, dict[str, Any]] = {
    "several kernels": {"n_draws": 600, "n_burn": 200},
    "sparse": {"prior": "spike_slab", "kernel": "rbf", "gamma": "scale", "n_draws": 3000, "n_burn": 500},
    "one replica": {"kernel": "rbf", "gamma": "scale", "n_replicas": 1, "n_draws": 3000, "n_burn": 500},
}
KINDS["draws on disk"] = KINDS["sparse"]
KINDS["threads of a pool"] = KINDS["one replica"]
KINDS["processes of a pool"] = KINDS["sparse"]
KINDS["processes, draws on disk"] = KINDS["one replica"]
KINDS["dask"] = KINDS["one replica"]
FINISHED = "finished before the kill"
STOPPED, NOTHING_YET = "asked to stop, and saved what was drawn", "asked to stop before the first draw"
_groups: list[int] = []
TOWN = dg.datasets.make_districts(random_state=0)


def fit_and_save(kind: str, folder: Path, *, resume: bool) -> str:
    """Fit with checkpoints, save three times, and return a digest of all draws."""
    checkpoint_schedule.EVERY_SECONDS, checkpoint_schedule.TIME_SHARE, round_robin.POLL_SECONDS = (
        0.0,
        np.inf,
        0.001,
    )
    on_executor.FIRST_SECONDS, on_executor.GROWTH = 0.02, 1.0
    warnings.simplefilter("ignore")
    draws_to = folder / "draws" if "draws on disk" in kind else None
    how = {"checkpoint": folder / "run.dgc", "resume": resume, "draws_to": draws_to}
    with deferred_interrupts(), _pool(kind) as pool:
        model = dg.GroupStatsClassifier(random_state=0, n_chains=2, n_jobs=2, executor=pool, **KINDS[kind])
        model.fit(TOWN.X, TOWN.shares, groups=TOWN.groups, **how)
        for _ in range(3):
            model.save(folder / "model.dgz")
        return STOPPED if model.stopped_early_ else digest(model)


@contextmanager
def _pool(kind: str) -> Iterator[Any]:
    if kind.startswith("threads"):
        with ThreadPoolExecutor(2) as threads:
            yield threads
    elif kind.startswith("processes"):
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as processes:
            yield processes
    elif kind == "dask":
        from distributed import Client, LocalCluster

        with (
            LocalCluster(n_workers=2, processes=False, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            yield client
    else:
        yield None


def digest(model: Any) -> str:
    """Tell fits apart to the last bit, by their draws: predictions from a folder sum them up in parts."""
    weights = [part.weights for part in model.posterior_.parts]
    drawn = [one.toarray() if issparse(one) else np.asarray(one) for one in weights]
    arrays = (*drawn, model.posterior_.delta2, model.label_proba_)
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


def in_a_child(
    function: Any, *arguments: Any, kill_after: float | None = None, ask: bool = False, **named: Any
) -> Any:
    """Run a function in a forked process and return its result; None if it was killed first.

    Parameters
    ----------
    function : callable
        What to run, with the arguments.
    kill_after : float, optional
        Seconds after which to kill it, and not the processes that it has started.
    ask : bool, default=False
        Whether to interrupt it instead, and those as well, as a terminal does.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_report, args=(sender, function, arguments, named))
    child.start()
    _groups.append(child.pid or 0)
    sender.close()
    if kill_after is not None:
        child.join(kill_after)
        if child.is_alive() and child.pid is not None:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGINT) if ask else os.kill(child.pid, signal.SIGKILL)
    child.join()
    try:
        return receiver.recv() if receiver.poll() else None
    except EOFError:
        return None


def _report(sender: Connection, function: Any, arguments: tuple, named: dict[str, Any]) -> None:
    os.setpgrp()
    try:
        sender.send(function(*arguments, **named))
    except KeyboardInterrupt:
        sender.send(NOTHING_YET)
    except Exception as error:
        sender.send(f"{type(error).__name__}: {error}")


def _end_what_was_left() -> None:
    """End the processes of pools whose fits were killed."""
    while _groups:
        with suppress(ProcessLookupError):
            os.killpg(_groups.pop(), signal.SIGKILL)


def state_of(folder: Path, expected: str, asked: bool) -> str:
    """Say what was left behind: what was going on, or what is wrong."""
    if (folder / "model.dgz").exists():
        if not asked and digest(dg.load(folder / "model.dgz")) != expected:
            return "wrong: the saved model is another"
        return STOPPED if asked else "killed in or after saving"
    if not (folder / "run.dgc").exists():
        return NOTHING_YET if asked else "killed before the first checkpoint"
    if asked:
        return "wrong: draws, but no model" if _has_draws(folder / "run.dgc") else NOTHING_YET
    return "killed in sampling or checkpointing"


def _has_draws(checkpoint: Path) -> bool:
    """Return whether every kernel has draws in the checkpoint."""
    document, arrays = read_archive(checkpoint)
    saved = Reader(CLASSES, arrays).read(document["checkpoint"])
    kept = [chain["kept"] for chain in saved["chains"]]
    return all(any(n for n, _ in one["on_disk"]) if isinstance(one, dict) else bool(one) for one in kept)


def one_kill(kind: str, expected: str, seconds: float, rng: np.random.Generator, ask: bool = False) -> str:
    """Kill one fit, or ask it to stop, and resume it; return what happened."""
    with tempfile.TemporaryDirectory() as name:
        folder, after = Path(name), rng.uniform(0.0, 1.1 * seconds)
        try:
            ended = in_a_child(fit_and_save, kind, folder, resume=False, kill_after=after, ask=ask)
            if ended is not None and not (ask and ended in (STOPPED, NOTHING_YET)):
                return FINISHED if ended == expected else f"wrong: {ended}"
            left = in_a_child(state_of, folder, expected, ask)
            if ended is not None and left != ended:
                return f"wrong: {ended}, but {left}"
            resumed = in_a_child(fit_and_save, kind, folder, resume=True)
        finally:
            _end_what_was_left()
        return left if resumed == expected else f"wrong: resumed to {resumed} after {left}"


def main(argv: list[str] | None = None) -> int:
    """Kill many fits and count what happened; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200, help="kills (default: 200)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the moments (default: 0)")
    arguments = parser.parse_args(argv)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # else children of a job in the background ignore it
    for moves in ("dense", "sparse"):
        prepare(moves)  # type: ignore[arg-type]
    rng, tally = np.random.default_rng(arguments.seed), Counter[str]()
    known, by_kind = {}, Counter[str]()
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as name:
            began = time.monotonic()
            known[kind] = in_a_child(fit_and_save, kind, Path(name), resume=False), time.monotonic() - began
        if len(known[kind][0] or "") != 64:
            raise RuntimeError(f"{kind}: {known[kind][0]}")
    run = 0
    while tally.total() - tally[FINISHED] < arguments.runs:
        kind = list(KINDS)[run % len(KINDS)]
        expected, seconds = known[kind]
        happened = one_kill(kind, expected, seconds, rng, ask=run // len(KINDS) % 4 == 3)
        tally[happened] += 1
        by_kind[kind] += 1
        if happened == FINISHED:  # the machine is faster than it was: kill sooner
            known[kind] = expected, 0.9 * seconds
        if happened.startswith("wrong"):
            print(f"run {run}, {kind}: {happened}", flush=True)
        run += 1
        if run % 20 == 0:
            print(f"{run} fits: {dict(tally)}", flush=True)
    for happened, times in [*tally.most_common(), *by_kind.items()]:
        print(f"{times:5d}  {happened}")
    return int(any(happened.startswith("wrong") for happened in tally))


if __name__ == "__main__":
    sys.exit(main())
