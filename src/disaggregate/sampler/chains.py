"""Several chains at once, each with its own start and its own generator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from disaggregate.execute import Executor, run_tasks
from disaggregate.sampler.chain import ChainDraws, Schedule, run_chain
from disaggregate.sampler.ladder import run_ladder_chain
from disaggregate.sampler.model import Prior, Problem
from disaggregate.sampler.prepare import prepare
from disaggregate.sampler.starts import random_start

# Births and deaths proposed a sweep: few enough to cost little beside the Hamiltonian path, and measured to gain
# nothing beyond (benchmarks/mixing.py).
_PROPOSALS = 256

_NO_LADDER = np.ones(1)


@dataclass(frozen=True)
class ChainTask:
    """Everything that one chain needs; can be sent to another process."""

    problem: Problem
    prior: Prior
    schedule: Schedule
    generator: np.random.Generator
    powers: np.ndarray
    on_sweeps: Callable[[int], None] | None = None


def run_chains(
    problem: Problem,
    prior: Prior,
    schedule: Schedule,
    generators: list[np.random.Generator],
    *,
    powers: np.ndarray = _NO_LADDER,
    n_jobs: int | None = None,
    progress: bool = False,
    executor: Executor | None = None,
) -> list[ChainDraws]:
    """Run one chain a generator and return their draws in the same order.

    Parameters
    ----------
    problem, prior, schedule : Problem, Prior, Schedule
        Data, hyper-parameters, length and moves.
    generators : list of numpy.random.Generator
        One a chain.
    powers : ndarray, default=[1.0]
        Powers of the evidence, one a replica; with one there is no ladder.
    n_jobs : int or None
        Threads to use when no executor is given.
    progress : bool
        Whether to show a progress bar.
    executor : Executor, optional
        Where to run instead; its chains cannot report progress.
    """
    prepare(schedule.moves)
    tasks = [ChainTask(problem, prior, schedule, generator, powers) for generator in generators]
    n_sweeps = schedule.n_sweeps * len(tasks)
    return run_tasks(run_task, tasks, n_sweeps, n_jobs=n_jobs, progress=progress, executor=executor)


def run_task(task: ChainTask) -> ChainDraws:
    """Start and run one chain."""
    n_proposals = proposals_a_sweep(task.problem, task.schedule)
    if len(task.powers) > 1:
        return run_ladder_chain(
            task.problem, task.prior, task.powers, n_proposals, task.generator, task.schedule, task.on_sweeps
        )
    start = random_start(task.problem, task.prior, n_proposals, task.generator)
    return run_chain(task.problem, task.prior, start, task.generator, task.schedule, task.on_sweeps)


def proposals_a_sweep(problem: Problem, schedule: Schedule) -> int:
    """Births and deaths that a sweep proposes: as many as there are kernels in the paper, else a few."""
    n_selectable = len(problem.gram) - problem.n_fixed
    return n_selectable if schedule.moves == "published" else min(_PROPOSALS, n_selectable)
