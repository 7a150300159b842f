"""Gaussian processes, with the draws shared among kernels by their probability."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from disaggregate.fitting.digests import digest, require_same_digest
from disaggregate.fitting.draw_storage import DrawStorage, MemoryStorage
from disaggregate.fitting.escalation import AGREE, tune_ladders, worst_rhat
from disaggregate.fitting.kernel_model import TunedKernel, distributed_rows, kernel_model, tuned
from disaggregate.fitting.kernels import kernels_of_mixture
from disaggregate.fitting.plan import FitPlan
from disaggregate.fitting.results import Fitted, even_draws, tallies
from disaggregate.fitting.resumable import (
    ChainShape,
    require_as_many,
    require_dense_chain,
    require_sound_draws,
    require_tuned_kernels,
    require_tuning,
)
from disaggregate.fitting.run import Chain
from disaggregate.posterior.draws import KernelDraws, Put, gather_dense_draws
from disaggregate.posterior.kernel_score import KernelScore
from disaggregate.posterior.ladder import LadderReport, ladder_report, mixture_report
from disaggregate.posterior.log_evidence import average_evidence
from disaggregate.posterior.mixture import Posterior, allocate, interleave
from disaggregate.sampler.chain import Schedule
from disaggregate.sampler.dense.chains import DenseChains, DenseDraws
from disaggregate.sampler.dense.metric import Metric
from disaggregate.sampler.dense.mode import Mode
from disaggregate.sampler.dense.prior import draws_from_prior
from disaggregate.sampler.dense.state import new_record, new_state
from disaggregate.sampler.dense.tuning import Tuning

# Draws from the prior, of all kernels together: enough for quartiles.
PRIOR_DRAWS = 400

# Single chains of so many draws or more that differ by more than this R-hat are in different modes, not just slow:
# slow ones have had 1.07 at most after 1,000 draws. Chains with fewer that go on anyway may just be slow up to the
# R-hat of trials.
_JUDGED_DRAWS, _IN_OTHER_MODES = 200, 1.1
_FEW_DRAWS = 1000

# A kernel with a small share of the draws burns in for this share of the usual sweeps at least.
_LEAST_BURN = 0.2


class DenseSampling:
    """Chains of Gaussian processes; see :class:`disaggregate.fitting.run.Sampling`.

    Parameters
    ----------
    plan : FitPlan
        What the fit was given.
    kernels : list of TunedKernel
        Kernels that share the draws.
    scores : list of KernelScore
        How all kernels did.
    """

    def __init__(self, plan: FitPlan, kernels: list[TunedKernel], scores: list[KernelScore]) -> None:
        shares = allocate(plan.schedule.n_draws, np.array([kernel.weight for kernel in kernels]))
        self._plan, self._scores = plan, scores
        self._kernels = [kernel for kernel, share in zip(kernels, shares, strict=True) if share > 0]
        generators = plan.streams.for_chains_of_kernels(plan.n_chains, len(self._kernels))
        self._chains = [
            _chains(kernel, _part_of(plan.schedule, int(share)), own, self.runs_on_partitions)
            for kernel, share, own in zip(self._kernels, shares[shares > 0], generators, strict=True)
        ]

    @classmethod
    def start(cls, plan: FitPlan) -> DenseSampling:
        """Compare the kernels, and set up the chains of those that matter."""
        return cls(plan, *kernels_of_mixture(plan))

    @classmethod
    def resume(cls, plan: FitPlan, found: dict[str, Any]) -> DenseSampling:
        """Set up as before, without the pilot runs."""
        require_tuned_kernels(found, len(plan.bases), plan.n_replicas)
        rows = distributed_rows(plan)
        kernels = [_restored_kernel(plan, one, rows) for one in found["kernels"]]
        sampling = cls(plan, kernels, found["scores"])
        sampling._plan_draws([one["n_draws"] for one in found["kernels"]])
        return sampling

    @property
    def runs_on_partitions(self) -> bool:
        """Whether the executor has the partitions of the data, and chains stay here."""
        return self._plan.partitions is not None

    @property
    def chains(self) -> list[Chain]:
        """All chains; those of different kernels alternate, so that they are equally far at any time."""
        return [chain for turn in zip(*self._chains, strict=True) for chain in turn]

    @property
    def n_planned(self) -> int:
        """Draws per chain that are planned."""
        return sum(self._planned())

    def so_far(self) -> Posterior:
        """Return what was drawn so far, to be judged."""
        return self._posterior(self._even_draws()[0], MemoryStorage())

    def lengthen(self, n_draws: int) -> None:
        """Plan some more draws per chain."""
        weights = np.array([kernel.weight for kernel in self._kernels])
        shares = allocate(sum(self._planned()) + n_draws, weights / weights.sum())
        self._plan_draws(np.maximum(shares, self._planned()).tolist())

    def restarted_as_ladders(self, may_go_on: bool) -> DenseSampling | None:
        """Return the same with ladders where single chains ended in different modes; None where none did.

        Chains that may go on are given the benefit of the doubt as long as their draws are few.
        """
        plan = self._plan
        if not plan.escalates or plan.n_chains == 1:
            return None
        draws, _ = self._even_draws()
        rhat = [
            worst_rhat(kernel, chains) if _is_single(kernel) and chains[0].n_draws >= _JUDGED_DRAWS else 1.0
            for kernel, chains in zip(self._kernels, draws, strict=True)
        ]
        limit = AGREE if may_go_on and self.n_planned < _FEW_DRAWS else _IN_OTHER_MODES
        apart = [index for index, value in enumerate(rhat) if value > limit]
        if not apart:
            return None
        reasons = [f"single chains did not agree at their end (R-hat {rhat[index]:.2f})" for index in apart]
        ladders = tune_ladders(plan, [self._kernels[index] for index in apart], reasons)
        kernels = list(self._kernels)
        for index, ladder in zip(apart, ladders, strict=True):
            kernels[index] = ladder
        again = DenseSampling(plan, kernels, self._scores)
        again._plan_draws(self._planned())
        return again

    def resume_state(self) -> dict[str, Any]:
        """Return what the pilot runs found."""
        return {
            "scores": self._scores,
            "kernels": [
                {
                    "index": kernel.index,
                    "weight": kernel.weight,
                    "n_draws": n_draws,  # more than the settings say after a warm start
                    "powers": kernel.tuning.powers,
                    "metric": list(kernel.tuning.metric),
                    "mode": [kernel.tuning.mode.position, list(kernel.tuning.mode.metric)],
                    "log_evidence": kernel.tuning.mode.log_evidence,
                    "log_ratios": kernel.tuning.log_ratios,
                    "columns": digest(kernel.model.to_kernels),
                    "evidence": kernel.log_evidence,
                    "reason": kernel.reason,
                }
                for kernel, n_draws in zip(self._kernels, self._planned(), strict=True)
            ],
        }

    def restore(self, snapshots: list[Any]) -> None:
        """Resume all chains from their snapshots, once these are found sound."""
        shapes = [_shapes(kernel, chains) for kernel, chains in zip(self._kernels, self._chains, strict=True)]
        expected = [shape for turn in zip(*shapes, strict=True) for shape in turn]
        require_as_many(snapshots, self.chains)
        for snapshot, shape in zip(snapshots, expected, strict=True):
            require_dense_chain(snapshot, shape)
        for chain, snapshot, shape in zip(self.chains, snapshots, expected, strict=True):
            chain.restore(snapshot)
            require_sound_draws(chain.store.joined(shape.nothing))

    def fitted(self, storage: DrawStorage) -> Fitted:
        """Return what was drawn so far, with the draws where they are to be."""
        draws, missing = self._even_draws()
        plan, data = self._plan, self._plan.data
        is_constant = not (plan.separate_constant or plan.has_places or plan.learns_confidence)
        constant = plan.scale_priors.individual if is_constant else None
        reports = {
            kernel.index: ladder_report(
                chains, kernel.tuning.powers, data, constant, kernel.log_evidence, kernel.reason
            )
            for kernel, chains in zip(self._kernels, draws, strict=True)
        }
        ladder = _sum_up(reports, self._scores)
        posterior = self._beside_prior(self._posterior(draws, storage))
        return Fitted(posterior, *tallies(data, draws), ladder, self._scores, missing)

    def _even_draws(self) -> tuple[list[list[DenseDraws]], str]:
        """Return as many draws of each chain of a kernel, and what is missing, in words."""
        drawn = [[draws for chain in chains for draws in chain.draws()] for chains in self._chains]
        return even_draws(drawn, self._planned())

    def _posterior(self, draws: list[list[DenseDraws]], storage: DrawStorage) -> Posterior:
        """Put the draws of all kernels together."""
        parts = [
            self._gathered(kernel, chains, partial(storage.put, number))
            for number, (kernel, chains) in enumerate(zip(self._kernels, draws, strict=True))
        ]
        return interleave(parts, self._plan.streams.for_order())

    def _beside_prior(self, posterior: Posterior) -> Posterior:
        """Put draws from the prior beside those of each kernel, in the same proportions."""
        rng = self._plan.streams.for_prior()
        n_draws = np.array([part.shape[1] for part in posterior.parts])
        counts = allocate(PRIOR_DRAWS, n_draws / n_draws.sum())
        parts = [
            replace(part, prior=self._from_prior(kernel, max(int(count), 1), rng))
            for part, kernel, count in zip(posterior.parts, self._kernels, counts, strict=True)
        ]
        return replace(posterior, parts=tuple(parts))

    def _from_prior(self, kernel: TunedKernel, n_draws: int, rng: np.random.Generator) -> KernelDraws:
        """Draw from the prior of one kernel, in memory: there are few."""
        drawn = draws_from_prior(kernel.model.backend.target.components, n_draws, rng)
        return self._gathered(kernel, [drawn], lambda name, shape, kind, pieces: np.concatenate(list(pieces)))

    def _gathered(self, kernel: TunedKernel, chains: list[DenseDraws], put: Put) -> KernelDraws:
        """Turn the draws of one kernel into weights of the kernel."""
        return gather_dense_draws(
            chains,
            replace(kernel.model.basis, context=self._plan.context is not None, weights=None),
            kernel.model.to_kernels,
            kernel.model.backend.target.components,
            self._plan.context_norm,
            put,
        )

    def _planned(self) -> list[int]:
        return [chains[0].schedule.n_draws for chains in self._chains]

    def _plan_draws(self, planned: list[int]) -> None:
        for chains, n_draws in zip(self._chains, planned, strict=True):
            for chain in chains:
                chain.schedule = replace(chain.schedule, n_draws=n_draws)


def _is_single(kernel: TunedKernel) -> bool:
    return len(kernel.tuning.powers) == 1


def _chains(
    kernel: TunedKernel, schedule: Schedule, generators: list[np.random.Generator], in_lock_step: bool
) -> list[DenseChains]:
    """Set up the chains of one kernel, all together or each by itself."""
    numbers = list(range(len(generators)))
    if in_lock_step:
        return [DenseChains(kernel.model.backend, kernel.tuning, schedule, numbers, generators)]
    return [
        DenseChains(kernel.model.backend, kernel.tuning, schedule, [number], [rng])
        for number, rng in zip(numbers, generators, strict=True)
    ]


def _shapes(kernel: TunedKernel, chains: list[DenseChains]) -> list[ChainShape]:
    """Say what snapshots of the chains of a kernel look like; those of fresh chains give most of it."""
    backend, n_rungs = kernel.model.backend, len(kernel.tuning.powers)
    shapes = []
    for chain in chains:
        fresh = chain.snapshot()
        n_chains = len(fresh["generators"])
        position = np.zeros((n_chains, n_rungs, backend.target.components.n_coordinates))
        nothing = new_record(backend, n_chains, n_rungs, 0, labels=False)[:3]
        shapes.append(ChainShape(fresh=fresh, state=new_state(position), nothing=nothing, n_sweeps=chain.n_sweeps))
    return shapes


def _restored_kernel(plan: FitPlan, found: dict[str, Any], rows: Any) -> TunedKernel:
    model = kernel_model(plan, plan.bases[found["index"]], found["powers"], rows)
    require_same_digest(model.to_kernels, found["columns"])
    require_tuning(found, model.backend.target.components.n_coordinates)
    position, metric = found["mode"]
    mode = Mode(position, Metric(*metric), found["log_evidence"])
    tuning = Tuning(found["powers"], Metric(*found["metric"]), mode, found["log_ratios"])
    again = tuned(model, tuning, found["index"], found["weight"])
    return replace(again, log_evidence=found["evidence"], reason=found["reason"])


def _part_of(schedule: Schedule, n_draws: int) -> Schedule:
    share = max(n_draws / schedule.n_draws, _LEAST_BURN)
    return replace(schedule, n_draws=n_draws, n_burn=round(share * schedule.n_burn))


def _sum_up(reports: dict[int, LadderReport | None], scores: list[KernelScore]) -> LadderReport | None:
    """Average the evidence over all kernels, those that were left out with what their short run said."""
    ladders = {index: report for index, report in reports.items() if report is not None}
    if not scores or not ladders:
        return next(iter(reports.values()))
    evidence = [
        ladders[index].log_evidence if index in ladders else score.log_evidence
        for index, score in enumerate(scores)
    ]
    return mixture_report(list(ladders.values()), average_evidence(evidence, [score.prior for score in scores]))
