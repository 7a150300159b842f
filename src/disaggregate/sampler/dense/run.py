"""Pilot runs and chains of replicas, several at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import numpy as np
from threadpoolctl import threadpool_limits

from disaggregate.execute import Executor, run_tasks
from disaggregate.sampler.chain import Schedule
from disaggregate.sampler.dense.chain import DenseDraws, run_dense_chain
from disaggregate.sampler.dense.starts import regression_guesses, start_at
from disaggregate.sampler.dense.tuning import ENOUGH_TO_TUNE, Tuning, pilot_sweeps, tune
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
    n_last: int = ENOUGH_TO_TUNE
    on_sweeps: Callable[[int], None] | None = None


@dataclass(frozen=True)
class DenseRun:
    """The chains of one kernel.

    Attributes
    ----------
    tuning : Tuning
        What the pilot found.
    schedule : Schedule
        Length of each chain.
    generators : list of numpy.random.Generator
        One a chain.
    """

    tuning: Tuning
    schedule: Schedule
    generators: list[np.random.Generator]


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
        n_sweeps = sum(pilot_sweeps(task.n_last) for task in tasks)
        return run_tasks(run_pilot_task, tasks, n_sweeps, what=what, n_jobs=n_jobs, progress=progress)


def run_dense_chains(
    runs: list[DenseRun],
    prior: Prior,
    *,
    n_jobs: int | None = None,
    progress: bool = False,
    executor: Executor | None = None,
) -> list[list[DenseDraws]]:
    """Run the chains of one or several kernels side by side; return for each run its chains' draws.

    Parameters
    ----------
    runs : list of DenseRun
        One a kernel.
    prior : Prior
        Hyper-parameters.
    n_jobs : int or None
        Threads to use when no executor is given.
    progress : bool
        Whether to show a progress bar.
    executor : Executor, optional
        Where to run instead; its chains cannot report progress.
    """
    prepare("dense")
    tasks = [task for run in runs for task in _tasks_of(run, prior)]
    n_sweeps = sum(task.schedule.n_sweeps for task in tasks)
    with _one_blas_thread():
        draws = iter(
            run_tasks(run_dense_task, tasks, n_sweeps, n_jobs=n_jobs, progress=progress, executor=executor)
        )
        return [list(islice(draws, len(run.generators))) for run in runs]


def _tasks_of(run: DenseRun, prior: Prior) -> list[DenseTask]:
    """One a chain: the first two start from regressions on what the groups report, the others at random.

    When they agree nevertheless, the answer is the posterior's and not the start's.
    """
    guesses = [*regression_guesses(run.tuning.problem, prior), *[None] * len(run.generators)]
    return [
        DenseTask(run.tuning, prior, run.schedule, guess, generator)
        for guess, generator in zip(guesses, run.generators, strict=False)
    ]


def run_pilot_task(task: PilotTask) -> Tuning:
    """Run one pilot."""
    return tune(
        task.columns,
        task.deviation,
        task.evidence,
        task.prior,
        task.n_replicas,
        task.n_last,
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
