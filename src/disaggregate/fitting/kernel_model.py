"""A kernel with its data: the columns of its Gaussian process, at once or partition by partition."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from disaggregate.basis import Basis, principal_directions
from disaggregate.basis.directions import independent_features, leading_directions, with_constant
from disaggregate.fitting.plan import FitPlan
from disaggregate.model.outcomes import column_order, stacked
from disaggregate.parallel.dispatch import distribute
from disaggregate.parallel.one_blas_thread import one_blas_thread_here
from disaggregate.parallel.partitions import Partitions
from disaggregate.posterior.log_evidence import LogEvidence
from disaggregate.sampler.dense.backend import Backend
from disaggregate.sampler.dense.outcomes import OutcomeData
from disaggregate.sampler.dense.partition import TILE_ROWS, PartitionSource, Recipe, storage_for
from disaggregate.sampler.dense.partitioned import PartitionedData
from disaggregate.sampler.dense.tuning import Tuning
from disaggregate.sampler.dense.whole import WholeData

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
    log_evidence : LogEvidence or None
        Log marginal likelihood of the reports, where it was found before the chains.
    reason : str
        Why its chains are ladders, or single replicas, where that was found out.
    """

    model: KernelModel
    tuning: Tuning
    index: int = 0
    weight: float = 1.0
    log_evidence: LogEvidence | None = None
    reason: str = ""


def kernel_model(plan: FitPlan, basis: Basis, powers: np.ndarray, rows: Partitions | None = None) -> KernelModel:
    """Find the columns of a kernel's Gaussian process, at once or partition by partition.

    Parameters
    ----------
    plan : FitPlan
        Data and model.
    basis : Basis
        The kernel.
    powers : ndarray of shape (n_rungs,)
        Powers of the evidence.
    rows : Partitions, optional
        The rows of the partitions, where there are any.
    """
    if plan.n_outcomes > 2:
        return _outcome_model(plan, basis, powers)
    if plan.partitions is None or rows is None:
        directions = principal_directions(basis, basis.columns(plan.X), plan.separate_constant)
        components = plan.components(directions.spread, directions.n_fixed, len(plan.X))
        whole = WholeData(components, directions.columns, plan.reports, powers, plan.report_noise)
        return KernelModel(basis, directions.to_kernels, whole)
    half = independent_features(basis, plan.separate_constant)
    gram = np.sum(rows.query(_products_of, None, basis, half), axis=0)
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
    components = stacked(one, plan.n_outcomes, plan.intercepts_are_weights)
    backend = OutcomeData(
        components, directions.columns[order], plan.outcome_reports, powers, plan.outcome_samples
    )
    return KernelModel(basis, np.ascontiguousarray(directions.to_kernels[order]), backend)


def distributed_rows(plan: FitPlan) -> Partitions | None:
    """Put the rows of the partitions where they will be worked on."""
    return None if plan.partitions is None else distribute(plan.partitions.rows, plan.executor, plan.threads)


def _products_of(rows: PartitionSource, own: None, basis: Basis, half: np.ndarray) -> np.ndarray:
    """Products of the features over the rows of one partition, some rows at a time."""
    X = rows.features()
    gram = np.zeros((half.shape[1], half.shape[1]))
    with one_blas_thread_here():
        for start in range(0, len(X), TILE_ROWS):
            features = half.T @ basis.columns(X[start : start + TILE_ROWS])
            gram += features @ features.T
    return gram


def tuned(model: KernelModel, tuning: Tuning, index: int = 0, weight: float = 1.0) -> TunedKernel:
    """Put a kernel and what its pilot found together."""
    backend = model.backend.with_powers(tuning.powers)
    return TunedKernel(replace(model, backend=backend), tuning, index, weight)
