"""Kernels and their weights: the posterior probability of each kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from disaggregate.basis import Basis, choose_centers
from disaggregate.basis.centers import ALL_ROWS
from disaggregate.fitting.escalation import try_kernels
from disaggregate.fitting.kernel_model import KernelModel, TunedKernel, distributed_rows, kernel_model, tuned
from disaggregate.fitting.plan import FitPlan
from disaggregate.model.powers import log_maxima
from disaggregate.parallel.dispatch import run_tasks
from disaggregate.parallel.monitor import Monitor
from disaggregate.posterior.kernel_score import KernelScore
from disaggregate.posterior.log_evidence import LogEvidence, log_evidence
from disaggregate.sampler.dense.mode import Mode
from disaggregate.sampler.dense.start import best_mode
from disaggregate.sampler.dense.tuning import ENOUGH_TO_COMPARE, ENOUGH_TO_TUNE, pilot_sweeps, tune
from disaggregate.sampler.rungs import first_powers

# A kernel that is less probable than this is left out: it could hardly change an answer, and costs a run. Many
# that are equally good must not all be left out.
_LEAST_WEIGHT = 0.1
_LEAST_SHARE = 0.4

# Kernels are compared on at most this many centres; beyond, finding their directions takes longer than a short
# run.
_MOST_CENTERS = ALL_ROWS


def kernels_of_mixture(plan: FitPlan) -> tuple[list[TunedKernel], list[KernelScore]]:
    """Return the kernels that share the draws, ready to run, and the scores of all.

    Where groups have intercepts, the posterior has one mode and is nearly normal once they are integrated out: the
    modes show how probable each kernel is, and chains need no ladder unless it is requested. So it is where the
    confidence of reports is learned, as they bind less. With more than two outcomes there is none.
    Otherwise trials decide (:mod:`disaggregate.fitting.escalation`).
    """
    if plan.partitions is not None:
        return _most_probable_of_partitions(plan)
    has_one_mode = plan.has_places or plan.learns_confidence
    by_modes = plan.n_outcomes > 2 or (has_one_mode and plan.n_replicas is None)
    n_replicas = 1 if by_modes else plan.n_replicas
    if len(plan.bases) == 1 and n_replicas is not None:
        return run_pilots(plan, plan.bases, [n_replicas], ENOUGH_TO_TUNE), []
    if by_modes:
        scores, modes = weigh_by_modes(plan)
        kept = _kept(scores)
        found = None if plan.n_outcomes > 2 else [modes[index] for index in kept]
        bases = [plan.bases[index] for index in kept]
        ready = run_pilots(plan, bases, [n_replicas] * len(kept), ENOUGH_TO_TUNE, found)
    else:
        scores, tried = weigh_by_trials(plan)
        kept = _kept(scores)
        ready = _ready_to_run(plan, kept, n_replicas, tried)
    weighed = [
        replace(pilot, index=index, weight=scores[index].weight) for pilot, index in zip(ready, kept, strict=True)
    ]
    return weighed, scores if len(scores) > 1 else []


def _kept(scores: Sequence[KernelScore]) -> list[int]:
    return [index for index, score in enumerate(scores) if score.weight > 0.0]


def _ready_to_run(
    plan: FitPlan, kept: list[int], n_replicas: int | None, tried: list[TunedKernel | None]
) -> list[TunedKernel]:
    """Tune the kernels that are kept, unless their trials have done so on the centres of the fit."""
    bases = [plan.bases[index] for index in kept]
    if n_replicas is not None:
        return run_pilots(plan, bases, [n_replicas] * len(kept), ENOUGH_TO_TUNE)
    known = [kernel for index in kept if (kernel := tried[index]) is not None]
    if len(plan.bases) == 1 or len(plan.bases[0].centers) <= _MOST_CENTERS:
        return known
    replicas = [1 if len(kernel.tuning.powers) == 1 else None for kernel in known]
    again = run_pilots(plan, bases, replicas, ENOUGH_TO_TUNE)
    return [
        replace(kernel, log_evidence=before.log_evidence, reason=before.reason)
        for kernel, before in zip(again, known, strict=True)
    ]


def weigh_by_trials(plan: FitPlan) -> tuple[list[KernelScore], list[TunedKernel | None]]:
    """Try each kernel, as far as it is worth it; return how they did, and those that were tuned."""
    evidence, tried = try_kernels(plan, _compared(plan))
    return score_kernels(plan, evidence), tried


def _compared(plan: FitPlan) -> list[Basis]:
    """Return the kernels on as many centres as it takes to compare them; a single one keeps its own."""
    if len(plan.bases) == 1:
        return plan.bases
    known = plan.bases[0]
    centers = choose_centers(known.centers, _MOST_CENTERS, plan.streams.for_centers(), known.weights)
    return [replace(basis, centers=centers.points, weights=centers.weights) for basis in plan.bases]


def weigh_by_ladders(plan: FitPlan) -> list[KernelScore]:
    """Compare kernels by pilot runs of ladders."""
    pilots = run_pilots(plan, _compared(plan), [None] * len(plan.bases), ENOUGH_TO_COMPARE)
    log_maximum = float(log_maxima(plan.data).sum())
    return score_kernels(plan, [log_evidence([pilot.tuning.log_ratios], log_maximum) for pilot in pilots])


def weigh_by_modes(plan: FitPlan) -> tuple[list[KernelScore], list[Mode]]:
    """Compare kernels by the evidence that each would have if its posterior were normal (Laplace)."""
    plan.prepare()
    log_maximum = 0.0 if plan.n_outcomes > 2 else float(log_maxima(plan.data).sum())
    pairs = zip(plan.bases, plan.streams.for_pilots(len(plan.bases)), strict=True)
    modes = [best_mode(kernel_model(plan, basis, np.ones(1)).backend.target, 2, rng) for basis, rng in pairs]
    return score_kernels(plan, [LogEvidence(mode.log_evidence + log_maximum, 0.0) for mode in modes]), modes


def most_probable(plan: FitPlan) -> tuple[int, list[KernelScore]]:
    """Return the index of the kernel of greatest weight, and how all did; a single one needs no comparison."""
    if len(plan.bases) == 1:
        return 0, []
    scores = weigh_by_ladders(plan)
    return int(np.argmax([score.weight for score in scores])), scores


def _most_probable_of_partitions(plan: FitPlan) -> tuple[list[TunedKernel], list[KernelScore]]:
    """Choose one kernel by the evidence that it would have if the posterior were normal (Laplace).

    With so many rows it nearly is, and this compares kernels in a few passes over the data, where ladders would
    take hours.
    """
    plan.prepare()
    rows, scores, index = distributed_rows(plan), [], 0
    if len(plan.bases) > 1:
        log_maximum = float(log_maxima(plan.data).sum())
        rng = np.random.default_rng(0)
        modes = [
            best_mode(kernel_model(plan, basis, np.ones(1), rows).backend.target, 1, rng) for basis in plan.bases
        ]
        scores = score_kernels(plan, [LogEvidence(mode.log_evidence + log_maximum, 0.0) for mode in modes])
        index = int(np.argmax([score.weight for score in scores]))
    n_replicas = 1 if plan.n_replicas is None else plan.n_replicas
    [rng] = plan.streams.for_pilots(1)
    model = kernel_model(plan, plan.bases[index], first_powers(n_replicas), rows)
    with Monitor(pilot_sweeps(ENOUGH_TO_TUNE), callback=plan.progress, what="tuning") as monitor:
        tuning = tune(model.backend, n_replicas, ENOUGH_TO_TUNE, rng, monitor.on_sweeps)
    return [tuned(model, tuning, index)], scores


@dataclass(frozen=True)
class _PilotTask:
    """Everything that one pilot run needs."""

    model: KernelModel
    n_replicas: int | None
    n_last: int
    generator: np.random.Generator
    mode: Mode | None
    on_sweeps: Callable[[int], None] | None = None


def run_pilots(
    plan: FitPlan,
    bases: list[Basis],
    replicas: Sequence[int | None],
    n_last: int,
    modes: Sequence[Mode] | None = None,
) -> list[TunedKernel]:
    """Make a pilot run with each kernel, side by side, and return what they found in the same order.

    Parameters
    ----------
    plan : FitPlan
        Data and model.
    bases : list of Basis
        The kernels.
    replicas : sequence of int or None
        Replicas of each; None for just enough.
    n_last : int
        Sweeps of the last phase.
    modes : sequence of Mode, optional
        The best mode that is known of each; without them searches are made.
    """
    plan.prepare()
    known = [None] * len(bases) if modes is None else modes
    rngs = plan.streams.for_pilots(len(bases))
    tasks = [
        _PilotTask(kernel_model(plan, basis, first_powers(n_replicas)), n_replicas, n_last, rng, mode)
        for basis, n_replicas, rng, mode in zip(bases, replicas, rngs, known, strict=True)
    ]
    what = "tuning" if len(tasks) == 1 else "comparing kernels"
    n_sweeps = len(tasks) * pilot_sweeps(n_last)
    return run_tasks(_run_pilot, tasks, n_sweeps, what=what, threads=plan.threads, progress=plan.progress)


def _run_pilot(task: _PilotTask) -> TunedKernel:
    tuning = tune(task.model.backend, task.n_replicas, task.n_last, task.generator, task.on_sweeps, task.mode)
    return tuned(task.model, tuning)


def score_kernels(plan: FitPlan, evidence: list[LogEvidence]) -> list[KernelScore]:
    """Put together what was found of each kernel: its evidence, and its probability before and after."""
    prior = plan.odds / plan.odds.sum()
    weights = kernel_weights(np.array([one.value for one in evidence]), prior)
    parts = zip(plan.bases, evidence, prior.tolist(), weights.tolist(), strict=True)
    return [
        KernelScore(_kernel_name(basis), basis.kernel.gamma, found, before, after, basis.context, basis.emphasis)
        for basis, found, before, after in parts
    ]


def kernel_weights(log_evidence: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Probability of each kernel after the reports are seen, with the negligible ones left out.

    Parameters
    ----------
    log_evidence : ndarray
        Log marginal likelihood of each.
    prior : ndarray
        Probability of each before.
    """
    weights = softmax(log_evidence + np.log(prior))
    weights[weights < min(_LEAST_WEIGHT, _LEAST_SHARE / len(weights))] = 0.0
    return weights / weights.sum()


def _kernel_name(basis: Basis) -> str:
    """Name of a kernel, or of the function that it is."""
    name = basis.kernel.name
    return name if isinstance(name, str) else getattr(name, "__name__", repr(name))
