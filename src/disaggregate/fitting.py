"""From kernels and reports to a posterior: one way for dense weights, one for sparse ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from disaggregate.basis import Basis, unit_columns
from disaggregate.choice import Comparison, KernelScore, most_probable, pilots_of_mixture
from disaggregate.execute import Executor
from disaggregate.groups import GroupedData
from disaggregate.posterior.draws import gather_dense_draws, gather_sparse_draws
from disaggregate.posterior.ladder import LadderReport, ladder_report, mixture_report
from disaggregate.posterior.log_evidence import average_evidence
from disaggregate.posterior.mixture import Posterior, share_out, weave
from disaggregate.sampler.chain import ChainDraws, Schedule
from disaggregate.sampler.chains import proposals_a_sweep, run_chains
from disaggregate.sampler.dense.chain import DenseDraws
from disaggregate.sampler.dense.run import DenseRun, run_dense_chains
from disaggregate.sampler.ladder import tune_powers
from disaggregate.sampler.model import Prior, Problem, make_problem

# A kernel with a small share of the draws burns in for this share of the usual sweeps at least.
_LEAST_BURN = 0.2


@dataclass(frozen=True)
class Plan:
    """How to sample.

    Attributes
    ----------
    prior : Prior
        Hyper-parameters.
    schedule : Schedule
        Length of a chain, and its moves.
    n_chains : int
        How many chains.
    n_replicas : int or None
        Replicas of each; None for just enough.
    n_jobs : int or None
        Threads.
    progress : bool
        Whether to show a progress bar.
    executor : Executor or None
        Where to run instead of on threads.
    """

    prior: Prior
    schedule: Schedule
    n_chains: int
    n_replicas: int | None
    n_jobs: int | None
    progress: bool
    executor: Executor | None


@dataclass(frozen=True)
class Fitted:
    """What came out.

    Attributes
    ----------
    posterior : Posterior
        Draws.
    label_sums : ndarray of shape (n_chains, n_rows)
        In how many draws each individual was positive, in the caller's order.
    count_tallies : ndarray of shape (n_rows + n_groups,)
        In how many draws of all chains each group had each count of positives.
    ladder : LadderReport or None
        What the replicas say.
    kernels : list of KernelScore
        Kernels that were compared.
    """

    posterior: Posterior
    label_sums: np.ndarray
    count_tallies: np.ndarray
    ladder: LadderReport | None
    kernels: list[KernelScore]


def fit_dense(bases: list[Basis], comparison: Comparison, plan: Plan) -> Fitted:
    """Fit Gaussian processes, with the draws shared among the kernels by their probability.

    Parameters
    ----------
    bases : list of Basis
        Kernels to average over.
    comparison : Comparison
        Data, random streams, and how to compare kernels.
    plan : Plan
        How to sample.
    """
    pilots, kernels = pilots_of_mixture(bases, comparison, plan.n_replicas)
    n_draws = share_out(plan.schedule.n_draws, np.array([pilot.weight for pilot in pilots]))
    pilots = [pilot for pilot, share in zip(pilots, n_draws, strict=True) if share > 0]
    generators = comparison.streams.for_chains_of_kernels(plan.n_chains, len(pilots))
    runs = [
        DenseRun(pilot.tuning, _part_of(plan.schedule, int(share)), chains)
        for pilot, share, chains in zip(pilots, n_draws[n_draws > 0], generators, strict=True)
    ]
    draws = run_dense_chains(runs, plan.prior, n_jobs=plan.n_jobs, progress=plan.progress, executor=plan.executor)
    parts = [
        gather_dense_draws(chains, pilot.basis, pilot.directions.to_kernels)
        for pilot, chains in zip(pilots, draws, strict=True)
    ]
    reports = {
        pilot.place: ladder_report(chains, pilot.tuning.powers, comparison.data, plan.prior)
        for pilot, chains in zip(pilots, draws, strict=True)
    }
    posterior = weave(parts, comparison.streams.for_order())
    return Fitted(posterior, *_tallies(comparison.data, draws), _sum_up(reports, kernels), kernels)


def fit_sparse(bases: list[Basis], comparison: Comparison, plan: Plan) -> Fitted:
    """Fit spike-and-slab weights on the most probable kernel.

    Parameters
    ----------
    bases, comparison, plan
        As for :func:`fit_dense`.
    """
    basis, kernels = most_probable(bases, comparison)
    data = comparison.data
    psi, scales = unit_columns(basis.columns(comparison.X))
    problem = make_problem(psi, int(basis.intercept), data)
    powers = _sparse_powers(problem, comparison, plan)
    chains = run_chains(
        problem,
        plan.prior,
        plan.schedule,
        comparison.streams.for_chains(plan.n_chains),
        powers=powers,
        n_jobs=plan.n_jobs,
        progress=plan.progress,
        executor=plan.executor,
    )
    # Under the prior (5) a constant f has the variance delta2 / N.
    ladder = ladder_report(chains, powers, data, plan.prior._replace(nu=plan.prior.nu / len(comparison.X)))
    posterior = weave([gather_sparse_draws(chains, basis, scales)], comparison.streams.for_order())
    return Fitted(posterior, *_tallies(data, [chains]), ladder, kernels)


def _sum_up(reports: dict[int, LadderReport | None], kernels: list[KernelScore]) -> LadderReport | None:
    """Average the evidence over all kernels, those that were left out with what their short run said."""
    ladders = {place: report for place, report in reports.items() if report is not None}
    if not kernels or not ladders:
        return next(iter(reports.values()))
    evidence = [
        ladders[place].log_evidence if place in ladders else score.log_evidence
        for place, score in enumerate(kernels)
    ]
    return mixture_report(list(ladders.values()), average_evidence(evidence, [score.prior for score in kernels]))


def _part_of(schedule: Schedule, n_draws: int) -> Schedule:
    share = max(n_draws / schedule.n_draws, _LEAST_BURN)
    return replace(schedule, n_draws=n_draws, n_burn=round(share * schedule.n_burn))


def _sparse_powers(problem: Problem, comparison: Comparison, plan: Plan) -> np.ndarray:
    # Without evidence a sparse prior has many active kernels, so replicas are dear: only on request.
    if plan.n_replicas is None or plan.n_replicas == 1:
        return np.ones(1)
    n_proposals = proposals_a_sweep(problem, plan.schedule)
    return tune_powers(problem, plan.prior, int(plan.n_replicas), n_proposals, comparison.streams.for_pilots(1)[0])


def _tallies(
    data: GroupedData, draws: Sequence[Sequence[ChainDraws | DenseDraws]]
) -> tuple[np.ndarray, np.ndarray]:
    """Add up over kernels what the chains say of the training individuals, and over chains too of the groups."""
    by_chain = [np.sum([part.label_sums for part in chain], axis=0) for chain in zip(*draws, strict=True)]
    counts = np.sum([chain.count_tallies for chains in draws for chain in chains], axis=0)
    return np.stack([data.in_caller_order(sums) for sums in by_chain]), counts
