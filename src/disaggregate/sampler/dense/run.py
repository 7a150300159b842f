"""Pilot runs and chains of replicas, several at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from disaggregate.execute import Executor, run_tasks
from disaggregate.sampler.chain import Schedule
from disaggregate.sampler.dense.chain import DenseDraws, run_dense_chain
from disaggregate.sampler.dense.starts import regression_guesses, start_at
from disaggregate.sampler.dense.tuning import PILOT_SWEEPS, Tuning, tune
from disaggregate.sampler.evidence import EvidenceArrays
from disaggregate.sampler.model import Prior
from disaggregate.sampler.prepare import prepare


@dataclass(frozen=True)
class PilotTask:
    """Everything that one pilot run needs."""

    columns: np.ndarray
    deviation: np.ndarray
    evidence: EvidenceArrays
    prior: Prior
    n_replicas: int | None
    generator: np.random.Generator
    on_sweeps: Callable[[int], None] | None = None


@dataclass(frozen=True)
class DenseTask:
    """Everything that one chain needs; can be sent to another process."""

    tuning: Tuning
    prior: Prior
    schedule: Schedule
    guess: np.ndarray | None
    generator: np.random.Generator
    on_sweeps: Callable[[int], None] | None = None


def run_pilots(tasks: list[PilotTask], *, n_jobs: int | None = None, progress: bool = False) -> list[Tuning]:
    """Run the pilots side by side and return what they found, in the same order."""
    prepare("dense")
    what = "tuning" if len(tasks) == 1 else "comparing kernels"
    with _one_blas_thread():
        return run_tasks(run_pilot_task, tasks, PILOT_SWEEPS, what=what, n_jobs=n_jobs, progress=progress)


def run_dense_chains(
    tuning: Tuning,
    prior: Prior,
    schedule: Schedule,
    generators: list[np.random.Generator],
    *,
    n_jobs: int | None = None,
    progress: bool = False,
    executor: Executor | None = None,
) -> list[DenseDraws]:
    """Run one chain a generator and return their draws in the same order.

    The first two chains start from regressions on what the groups report, the others at random: when they agree
    nevertheless, the answer is the posterior's and not the start's.

    Parameters
    ----------
    tuning : Tuning
        What the pilot found.
    prior, schedule : Prior, Schedule
        Hyper-parameters and length.
    generators : list of numpy.random.Generator
        One a chain.
    n_jobs : int or None
        Threads to use when no executor is given.
    progress : bool
        Whether to show a progress bar.
    executor : Executor, optional
        Where to run instead; its chains cannot report progress.
    """
    prepare("dense")
    guesses = [*regression_guesses(tuning.problem, prior), *[None] * len(generators)]
    tasks = [
        DenseTask(tuning, prior, schedule, guess, generator)
        for guess, generator in zip(guesses, generators, strict=False)
    ]
    with _one_blas_thread():
        return run_tasks(
            run_dense_task, tasks, schedule.n_sweeps, n_jobs=n_jobs, progress=progress, executor=executor
        )


def run_pilot_task(task: PilotTask) -> Tuning:
    """Run one pilot."""
    return tune(
        task.columns,
        task.deviation,
        task.evidence,
        task.prior,
        task.n_replicas,
        task.generator,
        task.on_sweeps,
    )


def run_dense_task(task: DenseTask) -> DenseDraws:
    """Start and run one chain."""
    start = start_at(task.tuning.problem, task.prior, task.guess, task.generator)
    return run_dense_chain(
        task.tuning.problem, task.prior, task.tuning.paths, start, task.generator, task.schedule, task.on_sweeps
    )


def _one_blas_thread() -> threadpool_limits:
    """Chains already fill the cores; products that split up again would only wait for each other."""
    return threadpool_limits(limits=1, user_api="blas")
