"""Spike-and-slab weights on the most probable kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from disaggregate.basis import unit_columns
from disaggregate.fitting.draw_storage import DrawStorage, MemoryStorage
from disaggregate.fitting.kernels import most_probable
from disaggregate.fitting.plan import FitPlan
from disaggregate.fitting.results import Fitted, even_draws, tallies
from disaggregate.fitting.resumable import (
    SparseShape,
    require_active_columns,
    require_as_many,
    require_sound_draws,
    require_sparse_chain,
    require_sparse_found,
)
from disaggregate.fitting.run import Chain
from disaggregate.model.priors import inverse_gamma
from disaggregate.parallel.monitor import Monitor
from disaggregate.posterior.draws import gather_sparse_draws
from disaggregate.posterior.kernel_score import KernelScore
from disaggregate.posterior.ladder import ladder_report
from disaggregate.posterior.mixture import Posterior, interleave
from disaggregate.sampler.chain import NO_DRAWS, ChainDraws, SparseChain
from disaggregate.sampler.chains import proposals_per_sweep, sparse_chains
from disaggregate.sampler.ladder import PILOT_SWEEPS, LadderChain, tune_powers
from disaggregate.sampler.model import SparseData, empty_state, make_sparse_data


class SparseSampling:
    """Chains with sparse weights; see :class:`disaggregate.fitting.run.Sampling`.

    Parameters
    ----------
    plan : FitPlan
        What the fit was given.
    found : dict, optional
        What pilot runs found before; without it they are made.
    """

    runs_on_partitions = False

    def __init__(self, plan: FitPlan, found: dict[str, Any] | None = None) -> None:
        self._plan = plan
        chosen = (found["index"], found["scores"]) if found else most_probable(plan)
        self._index: int = chosen[0]
        self._scores: list[KernelScore] = chosen[1]
        self._basis = plan.bases[self._index]
        psi, self._column_scales = unit_columns(self._basis.columns(plan.X))
        self._data = make_sparse_data(psi, int(self._basis.intercept), plan.data)
        self._powers = _powers(self._data, plan) if found is None else found["powers"]
        generators = plan.streams.for_chains(plan.n_chains)
        self._chains: Sequence[SparseChain | LadderChain] = sparse_chains(
            self._data, plan.prior, plan.schedule, self._powers, generators
        )

    @classmethod
    def start(cls, plan: FitPlan) -> SparseSampling:
        """Choose the kernel, and set up its chains."""
        return cls(plan)

    @classmethod
    def resume(cls, plan: FitPlan, found: dict[str, Any]) -> SparseSampling:
        """Set up as before, without the pilot runs."""
        require_sparse_found(found, len(plan.bases), plan.n_replicas)
        sampling = cls(plan, found)
        sampling.lengthen(found["n_draws"] - plan.schedule.n_draws)
        return sampling

    @property
    def chains(self) -> list[Chain]:
        """All chains."""
        return list(self._chains)

    @property
    def n_planned(self) -> int:
        """Draws per chain that are planned."""
        return self._chains[0].schedule.n_draws

    def so_far(self) -> Posterior:
        """Return what was drawn so far, to be judged."""
        [chains], _ = even_draws([[chain.draws() for chain in self._chains]], [self.n_planned])
        return self._posterior(chains, MemoryStorage())

    def lengthen(self, n_draws: int) -> None:
        """Plan some more draws per chain."""
        for chain in self._chains:
            chain.schedule = replace(chain.schedule, n_draws=chain.schedule.n_draws + n_draws)

    def restarted_as_ladders(self, may_go_on: bool) -> None:
        """Leave chains as they are: ladders of sparse weights are expensive, and used only on request."""

    def resume_state(self) -> dict[str, Any]:
        """Return what the pilot runs found."""
        return {
            "scores": self._scores,
            "index": self._index,
            "powers": self._powers,
            "n_draws": self._chains[0].schedule.n_draws,  # more than the settings say after a warm start
        }

    def restore(self, snapshots: list[Any]) -> None:
        """Resume all chains from their snapshots, once these are found sound."""
        require_as_many(snapshots, self._chains)
        for chain, snapshot in zip(self._chains, snapshots, strict=True):
            require_sparse_chain(snapshot, self._shape(chain))
        for chain, snapshot in zip(self._chains, snapshots, strict=True):
            chain.restore(snapshot)
            require_sound_draws(chain.store.joined(self._shape(chain).nothing))
            require_active_columns(chain.draws(), len(self._data.gram))  # also those that are in files

    def _shape(self, chain: SparseChain | LadderChain) -> SparseShape:
        """Say what the snapshot of a chain looks like; that of a fresh one gives most of it."""
        data, n_rungs = self._data, len(self._powers)
        sums = [np.zeros(n, dtype=np.int64) for n in (data.psi.shape[1], len(data.evidence.likelihood))]
        of_ladder = (np.zeros(n_rungs - 1),) if n_rungs > 1 else ()
        ratios = (np.empty((0, n_rungs - 1, 2)),) if n_rungs > 1 else ()
        return SparseShape(
            fresh=chain.snapshot(),
            state=empty_state(data, proposals_per_sweep(data, chain.schedule)),
            data=data,
            n_rungs=n_rungs,
            sums=[*sums, *of_ladder],
            nothing=(*NO_DRAWS, *ratios),
            n_sweeps=chain.n_sweeps,
        )

    def fitted(self, storage: DrawStorage) -> Fitted:
        """Return what was drawn so far, with the draws where they are to be."""
        drawn = [chain.draws() for chain in self._chains]
        [chains], missing = even_draws([drawn], [self._chains[0].schedule.n_draws])
        data, prior = self._plan.data, self._plan.prior
        # Under the prior (5) a constant f has the variance delta2 / N.
        ladder = ladder_report(chains, self._powers, data, inverse_gamma(prior.mu, prior.nu / len(self._plan.X)))
        return Fitted(self._posterior(chains, storage), *tallies(data, [chains]), ladder, self._scores, missing)

    def _posterior(self, chains: list[ChainDraws], storage: DrawStorage) -> Posterior:
        part = gather_sparse_draws(chains, self._basis, self._column_scales, partial(storage.put, 0))
        return interleave([part], self._plan.streams.for_order())


def _powers(data: SparseData, plan: FitPlan) -> np.ndarray:
    # Without evidence a sparse prior has many active kernels, so replicas are expensive: only on request.
    if plan.n_replicas is None or plan.n_replicas == 1:
        return np.ones(1)
    n_proposals = proposals_per_sweep(data, plan.schedule)
    generator = plan.streams.for_pilots(1)[0]
    with Monitor(PILOT_SWEEPS, callback=plan.progress, what="tuning") as monitor:
        return tune_powers(data, plan.prior, int(plan.n_replicas), n_proposals, generator, monitor.on_sweeps)
