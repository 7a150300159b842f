"""Compile the sampler before the first sweep, with a notice."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from disaggregate.groups.evidence import Fraction
from disaggregate.groups.grouped import GroupedData, group_rows
from disaggregate.groups.outcome_evidence import Counts
from disaggregate.groups.outcomes import group_outcomes
from disaggregate.model.components import make_components
from disaggregate.model.outcome_reports import make_outcome_reports
from disaggregate.model.priors import inverse_gamma
from disaggregate.model.reports import make_reports
from disaggregate.sampler.chain import Moves, Schedule, SparseChain
from disaggregate.sampler.dense.chains import DenseChains
from disaggregate.sampler.dense.kernels import log_likelihood_by_draw
from disaggregate.sampler.dense.outcomes import OutcomeLikelihood
from disaggregate.sampler.dense.target import Query
from disaggregate.sampler.dense.tuning import ENOUGH_TO_TUNE, tune
from disaggregate.sampler.dense.whole import WholeData, WholeLikelihood
from disaggregate.sampler.model import Prior, make_sparse_data

_lock = threading.Lock()
_ready: set[str] = set()


def _forget_the_lock() -> None:
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # the thread that held it does not exist in a forked process
    os.register_at_fork(after_in_child=_forget_the_lock)


def prepare(moves: Moves) -> None:
    """Ensure that the compiled sweep is in memory, from the disk cache or by compiling it.

    Parameters
    ----------
    moves : {"sparse", "dense", "published"}
        The sweep that will be used.
    """
    prepare_by(moves, partial(_run_tiny_chain, moves))


def prepare_dense(*, has_places: bool = False, in_partitions: bool = False) -> None:
    """Check the settings of a dense fit.

    Parameters
    ----------
    has_places : bool, default=False
        Whether groups have intercepts, or are samples of populations.
    in_partitions : bool, default=False
        Whether the rows are in partitions.
    """
    if has_places:
        prepare_by("places", partial(_compile_likelihood, 1.0))
    elif in_partitions:
        prepare_by("partitions", partial(_compile_likelihood, 0.0))
    else:
        prepare("dense")


def prepare_outcomes(has_places: bool = False) -> None:
    """Check the settings of a fit with more than two outcomes.

    Parameters
    ----------
    has_places : bool, default=False
        Whether intercepts of groups are integrated out.
    """
    name, deviation = ("places of outcomes", 1.0) if has_places else ("outcomes", 0.0)
    prepare_by(name, partial(_compile_outcome_likelihood, deviation))


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
        from disaggregate.sampler.compiled.notice import compile_notice

        with compile_notice(), _without_garbage_collection():
            run()
        _ready.add(name)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Keep Python from looking for cycles among the millions of objects that a compiler makes and needs."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _compile_likelihood(deviation: float) -> None:
    data = group_rows(["a", "a"], {"a": Fraction(0.5)})
    likelihood = WholeLikelihood(np.array([[1.0, 1.0], [1.0, 0.5]]), make_reports(data))
    query = Query(np.zeros((1, 2)), np.zeros((1, 1)), np.full(1, deviation), np.zeros(1))
    rungs = np.zeros(1, dtype=np.int64)
    likelihood.gradient(query, rungs)
    likelihood.information(query, rungs)
    likelihood.table(query)
    _compile_log_likelihoods(data, deviation)
    likelihood.add_expected(query, np.zeros((1, 1)), np.zeros((1, 2)), np.zeros((1, int(data.tally_starts[-1]))))


def _compile_outcome_likelihood(deviation: float) -> None:
    data = group_outcomes(["a", "a"], {"a": Counts({1: 1, 2: 1, 3: 0})}, (1, 2, 3))
    likelihood = OutcomeLikelihood(np.array([[1.0, 1.0], [1.0, 0.5]]), make_outcome_reports(data))
    query = Query(np.zeros((1, 4)), np.zeros((1, 2)), np.full(1, deviation), np.zeros(1))
    likelihood.gradient(query, np.zeros(1, dtype=np.int64))
    likelihood.table(query)
    likelihood.add_expected(query, np.zeros((1, 2)), np.zeros((1, 6)), np.zeros((1, int(data.tally_starts[-1]))))


def _compile_log_likelihoods(data: GroupedData, deviation: float) -> None:
    """Compute the likelihood of each group, which is needed when the chains are done."""
    offset = np.zeros((1, 1))
    log_likelihood_by_draw(make_reports(data), np.zeros((1, 2)), offset, offset + deviation)


def _run_tiny_chain(moves: Moves) -> None:
    data = group_rows(["a", "a"], {"a": Fraction(0.5)})
    columns = np.array([[1.0, 1.0], [1.0, 0.5]])
    rng = np.random.default_rng(0)
    schedule = Schedule(n_burn=0, n_draws=1, thin=1, moves=moves)
    if moves == "dense":
        prior = inverse_gamma(3.0, 15.0)
        components = make_components(2, np.ones(2), 0, 1.0, prior, None, prior, 0, prior, 1, False)
        backend = WholeData(components, columns, make_reports(data), np.array([1.0, 0.0]))
        DenseChains(backend, tune(backend, 2, ENOUGH_TO_TUNE, rng), schedule, [0], [rng]).advance()
        _compile_log_likelihoods(data, 0.0)
    else:
        prior_of_2005 = Prior(1.0, 1.0, 1.0, 1.0)
        SparseChain(make_sparse_data(columns, 1, data), prior_of_2005, schedule, 1, rng).advance()
