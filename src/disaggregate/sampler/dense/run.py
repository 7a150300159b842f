"""Pilot runs, several at once, and the chains of replicas that follow them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from disaggregate.execute import run_tasks
from disaggregate.sampler.chain import Schedule
from disaggregate.sampler.dense.chain import DenseChain
from disaggregate.sampler.dense.starts import regression_guesses
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


def run_pilots(tasks: list[PilotTask], *, n_jobs: int | None = None, progress: bool = False) -> list[Tuning]:
    """Run the pilots side by side and return what they found, in the same order."""
    prepare("dense")
    what = "tuning" if len(tasks) == 1 else "comparing kernels"
    n_sweeps = sum(pilot_sweeps(task.n_last) for task in tasks)
    return run_tasks(run_pilot_task, tasks, n_sweeps, what=what, n_jobs=n_jobs, progress=progress)


def dense_chains(
    tuning: Tuning, prior: Prior, schedule: Schedule, generators: list[np.random.Generator]
) -> list[DenseChain]:
    """Set up one chain a generator: the first two start from regressions on the reports, the others at random.

    When they agree nevertheless, the answer is the posterior's and not the start's.

    Parameters
    ----------
    tuning : Tuning
        What the pilot found.
    prior, schedule : Prior, Schedule
        Hyper-parameters and length.
    generators : list of numpy.random.Generator
        One a chain.
    """
    guesses = [*regression_guesses(tuning.problem, prior), *[None] * len(generators)]
    return [
        DenseChain(tuning.problem, prior, tuning.paths, schedule, guess, rng)
        for guess, rng in zip(guesses, generators, strict=False)
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
