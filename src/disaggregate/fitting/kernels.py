"""Which kernels, and with what weight: each counts by how probable it makes the groups' reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from disaggregate.basis import Basis, choose_centers, principal_directions
from disaggregate.basis.directions import independent_features, leading_directions, with_constant
from disaggregate.fitting.plan import FitPlan
from disaggregate.model.outcomes import column_order, stacked
from disaggregate.model.report_noise import make_report_noise
from disaggregate.model.reports import log_peaks, make_reports
from disaggregate.parallel import hold, run_tasks
from disaggregate.parallel.held import Held
from disaggregate.parallel.one_blas_thread import one_blas_thread_here
from disaggregate.posterior.kernel_score import KernelScore
from disaggregate.posterior.log_evidence import LogEvidence, log_evidence
from disaggregate.sampler.dense.backend import Backend
from disaggregate.sampler.dense.outcomes import OutcomeData
from disaggregate.sampler.dense.partition import TILE_ROWS, PartitionRows, Recipe, storage_for
from disaggregate.sampler.dense.partitioned import PartitionedData
from disaggregate.sampler.dense.start import best_mode
from disaggregate.sampler.dense.tuning import ENOUGH_TO_COMPARE, ENOUGH_TO_TUNE, Tuning, pilot_sweeps, tune
from disaggregate.sampler.dense.whole import WholeData
from disaggregate.sampler.rungs import first_powers

# A kernel that is less probable than this is left out: it could hardly change an answer, and costs a run. Many
# that are as good as each other must not all be left out.
_LEAST_WEIGHT = 0.1
_LEAST_SHARE = 0.4

# Kernels are compared on at most this many centres; beyond, finding their directions takes longer than a short
# run.
_MOST_CENTERS = 1500

# Weights of all scores of several outcomes together: a search for modes takes the third power of their number.
_MOST_WEIGHTS = 900


@dataclass(frozen=True)
class KernelModel:
    """A kernel with its data, ready for a pilot run.

    Attributes
    ----------
    basis : Basis
        The kernel on its centres.
    to_kernels : ndarray
        Turns weights of the columns into weights of the kernels.
    backend : Backend
        Columns and reports.
    """

    basis: Basis
    to_kernels: np.ndarray
    backend: Backend


@dataclass(frozen=True)
class TunedKernel:
    """A kernel that is ready to run.

    Attributes
    ----------
    model : KernelModel
        The kernel with its data, and the evidence at the tuned powers.
    tuning : Tuning
        What a pilot run found.
    index : int
        Its number among the candidates.
    weight : float
        Its share of the draws.
    """

    model: KernelModel
    tuning: Tuning
    index: int = 0
    weight: float = 1.0


def kernel_model(plan: FitPlan, basis: Basis, powers: np.ndarray, rows: Held | None = None) -> KernelModel:
    """Find the columns of a kernel's Gaussian process, at once or partition by partition.

    Parameters
    ----------
    plan : FitPlan
        Data and model.
    basis : Basis
        The kernel.
    powers : ndarray of shape (n_rungs,)
        Powers of the evidence.
    rows : Held, optional
        The rows of the partitions, where there are any.
    """
    if plan.n_outcomes > 2:
        return _outcome_model(plan, basis, powers)
    if plan.partitions is None or rows is None:
        directions = principal_directions(basis, basis.columns(plan.X), plan.separate_constant)
        components = plan.components(directions.spread, directions.n_fixed, len(plan.X))
        noise = make_report_noise(plan.data)
        whole = WholeData(components, directions.columns, make_reports(plan.data), powers, noise)
        return KernelModel(basis, directions.to_kernels, whole)
    half = independent_features(basis, plan.separate_constant)
    gram = np.sum(rows.ask(_products_of, None, basis, half), axis=0)
    spread, _, to_kernels = leading_directions(half, gram)
    n_fixed = int(basis.intercept and plan.separate_constant)
    to_kernels = with_constant(to_kernels, n_fixed)
    storage = storage_for(plan.storage, sum(plan.partitions.n_rows), len(to_kernels))
    recipe = Recipe(basis, to_kernels, powers, storage)
    components = plan.components(spread, n_fixed, sum(plan.partitions.n_rows))
    partitioned = PartitionedData(components, rows, plan.partitions, recipe)
    return KernelModel(basis, to_kernels, partitioned)


def _outcome_model(plan: FitPlan, basis: Basis, powers: np.ndarray) -> KernelModel:
    """Give the columns of a kernel to each of several scores."""
    every = principal_directions(basis, basis.columns(plan.X), plan.separate_constant)
    directions = every.leading(max(1, _MOST_WEIGHTS // (plan.n_outcomes - 1)))
    one = plan.components(directions.spread, directions.n_fixed, len(plan.X))
    order = column_order(one)
    components = stacked(one, plan.n_outcomes, one.n_places)
    backend = OutcomeData(components, directions.columns[order], plan.outcome_reports, powers)
    return KernelModel(basis, np.ascontiguousarray(directions.to_kernels[order]), backend)


def held_rows(plan: FitPlan) -> Held | None:
    """Put the rows of the partitions where they will be worked on."""
    return None if plan.partitions is None else hold(plan.partitions.rows, plan.executor, plan.threads)


def _products_of(rows: PartitionRows, own: None, basis: Basis, half: np.ndarray) -> np.ndarray:
    """Products of the features over the rows of one partition, some rows at a time."""
    X = rows.features()
    gram = np.zeros((half.shape[1], half.shape[1]))
    with one_blas_thread_here():
        for start in range(0, len(X), TILE_ROWS):
            features = half.T @ basis.columns(X[start : start + TILE_ROWS])
            gram += features @ features.T
    return gram


def kernels_of_mixture(plan: FitPlan) -> tuple[list[TunedKernel], list[KernelScore]]:
    """Return the kernels that share the draws, ready to run, and how all of them did.

    Where groups have intercepts, the posterior has one mode and is nearly normal once they are integrated out: the
    modes tell how probable each kernel is, and chains need no ladder unless it is asked for. So it is where the
    confidence of reports is learned, as they bind less. With more than two outcomes there is none.
    """
    if plan.partitions is not None:
        return _most_probable_of_partitions(plan)
    has_one_mode = plan.has_places or plan.learns_confidence
    single = plan.n_outcomes > 2 or (has_one_mode and plan.n_replicas is None)
    n_replicas = 1 if single else plan.n_replicas
    if len(plan.bases) == 1:
        return run_pilots(plan, plan.bases, n_replicas, ENOUGH_TO_TUNE), []
    scores, pilots = (weigh_by_modes(plan), []) if single else weigh_kernels(plan)
    kept = [index for index, score in enumerate(scores) if score.weight > 0.0]
    if n_replicas is None and len(plan.bases[0].centers) <= _MOST_CENTERS:
        ready = [pilots[index] for index in kept]
    else:
        ready = run_pilots(plan, [plan.bases[index] for index in kept], n_replicas, ENOUGH_TO_TUNE)
    weighed = [
        replace(pilot, index=index, weight=scores[index].weight) for pilot, index in zip(ready, kept, strict=True)
    ]
    return weighed, scores


def weigh_kernels(plan: FitPlan) -> tuple[list[KernelScore], list[TunedKernel]]:
    """Make a short run with each kernel; return how they did, and the runs."""
    centers = choose_centers(plan.bases[0].centers, _MOST_CENTERS, plan.streams.for_centers())
    bases = [replace(basis, centers=centers) for basis in plan.bases]
    pilots = run_pilots(plan, bases, None, ENOUGH_TO_COMPARE)
    peak = float(log_peaks(plan.data).sum())
    evidence = [log_evidence([pilot.tuning.log_ratios], peak) for pilot in pilots]
    return score_kernels(plan, evidence), pilots


def weigh_by_modes(plan: FitPlan) -> list[KernelScore]:
    """Compare kernels by the evidence that each would have if its posterior were normal (Laplace)."""
    plan.prepare()
    peak = 0.0 if plan.n_outcomes > 2 else float(log_peaks(plan.data).sum())
    pairs = zip(plan.bases, plan.streams.for_pilots(len(plan.bases)), strict=True)
    modes = [best_mode(kernel_model(plan, basis, np.ones(1)).backend.target, 2, rng) for basis, rng in pairs]
    return score_kernels(plan, [LogEvidence(mode.log_evidence + peak, 0.0) for mode in modes])


def most_probable(plan: FitPlan) -> tuple[int, list[KernelScore]]:
    """Return the index of the kernel of greatest weight, and how all did; a single one needs no comparison."""
    if len(plan.bases) == 1:
        return 0, []
    scores, _ = weigh_kernels(plan)
    return int(np.argmax([score.weight for score in scores])), scores


def _most_probable_of_partitions(plan: FitPlan) -> tuple[list[TunedKernel], list[KernelScore]]:
    """Choose one kernel by the evidence that it would have if the posterior were normal (Laplace).

    With so many rows it nearly is, and this tells kernels apart in a few looks at the data, where ladders would
    take hours.
    """
    plan.prepare()
    rows, scores, index = held_rows(plan), [], 0
    if len(plan.bases) > 1:
        peak = float(log_peaks(plan.data).sum())
        rng = np.random.default_rng(0)
        modes = [
            best_mode(kernel_model(plan, basis, np.ones(1), rows).backend.target, 1, rng) for basis in plan.bases
        ]
        scores = score_kernels(plan, [LogEvidence(mode.log_evidence + peak, 0.0) for mode in modes])
        index = int(np.argmax([score.weight for score in scores]))
    n_replicas = 1 if plan.n_replicas is None else plan.n_replicas
    [rng] = plan.streams.for_pilots(1)
    model = kernel_model(plan, plan.bases[index], first_powers(n_replicas), rows)
    return [tuned(model, tune(model.backend, n_replicas, ENOUGH_TO_TUNE, rng), index)], scores


def tuned(model: KernelModel, tuning: Tuning, index: int = 0, weight: float = 1.0) -> TunedKernel:
    """Put a kernel and what its pilot found together."""
    backend = model.backend.with_powers(tuning.powers)
    return TunedKernel(replace(model, backend=backend), tuning, index, weight)


@dataclass(frozen=True)
class _PilotTask:
    """Everything that one pilot run needs."""

    model: KernelModel
    n_replicas: int | None
    n_last: int
    generator: np.random.Generator
    on_sweeps: Callable[[int], None] | None = None


def run_pilots(plan: FitPlan, bases: list[Basis], n_replicas: int | None, n_last: int) -> list[TunedKernel]:
    """Make a pilot run with each kernel, side by side, and return what they found in the same order."""
    plan.prepare()
    powers = first_powers(n_replicas)
    tasks = [
        _PilotTask(kernel_model(plan, basis, powers), n_replicas, n_last, generator)
        for basis, generator in zip(bases, plan.streams.for_pilots(len(bases)), strict=True)
    ]
    what = "tuning" if len(tasks) == 1 else "comparing kernels"
    n_sweeps = len(tasks) * pilot_sweeps(n_last)
    return run_tasks(_run_pilot, tasks, n_sweeps, what=what, threads=plan.threads, progress=plan.progress)


def _run_pilot(task: _PilotTask) -> TunedKernel:
    tuning = tune(task.model.backend, task.n_replicas, task.n_last, task.generator, task.on_sweeps)
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
