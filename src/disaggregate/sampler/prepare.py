"""Compile the sampler before the first sweep, and say so when it takes a while."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from functools import partial

import numpy as np

from disaggregate.groups.evidence import Fraction
from disaggregate.groups.grouped import group_rows
from disaggregate.sampler.chain import Moves, Schedule, SparseChain
from disaggregate.sampler.dense.chain import DenseChain
from disaggregate.sampler.dense.model import DenseProblem, Paths
from disaggregate.sampler.evidence import make_evidence, make_ladder
from disaggregate.sampler.model import Prior, make_problem

_PATIENCE = 1.0
_lock = threading.Lock()
_ready: set[str] = set()


def _forget_the_lock() -> None:
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # whoever held it is not there in a forked process to let it go
    os.register_at_fork(after_in_child=_forget_the_lock)


def prepare(moves: Moves) -> None:
    """Make sure that the compiled sweep is in memory, from the disk cache or by compiling it.

    Parameters
    ----------
    moves : {"sparse", "dense", "published"}
        The sweep that will be used.
    """
    prepare_by(moves, partial(_run_tiny_chain, moves))


def prepare_by(name: str, run: Callable[[], object]) -> None:
    """Run something small that needs the same compiled code as a fit, once in the life of a process.

    Parameters
    ----------
    name : str
        What it is, for short.
    run : callable
        Runs it.
    """
    with _lock:
        if name in _ready:
            return
        notice = threading.Timer(_PATIENCE, _tell)
        notice.start()
        try:
            run()
        finally:
            notice.cancel()
            notice.join()
        _ready.add(name)


def _tell() -> None:
    print(
        "disaggregate: compiling the sampler for this machine; only the first fit after an install waits for it.",
        file=sys.stderr,
        flush=True,
    )


def _run_tiny_chain(moves: Moves) -> None:
    data = group_rows(["a", "a"], {"a": Fraction(0.5)})
    columns = np.array([[1.0, 1.0], [1.0, 0.5]])
    prior = Prior(1.0, 1.0, 1.0, 1.0)
    rng = np.random.default_rng(0)
    schedule = Schedule(n_burn=0, n_draws=1, thin=1, moves=moves)
    if moves == "dense":
        problem = DenseProblem(columns, np.ones(2), make_ladder(make_evidence(data), np.array([1.0, 0.0])))
        DenseChain(problem, prior, Paths(np.ones(2), np.ones((2, 3))), schedule, None, rng).advance()
    else:
        SparseChain(make_problem(columns, 1, data), prior, schedule, 1, rng).advance()
