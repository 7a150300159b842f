"""Spike-and-slab weights on the most probable kernel."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from disaggregate.basis import unit_columns
from disaggregate.execute.monitor import Monitor
from disaggregate.fitting.draws_place import DrawsPlace
from disaggregate.fitting.kernels import most_probable
from disaggregate.fitting.plan import FitPlan
from disaggregate.fitting.results import Fitted, even_draws, tallies
from disaggregate.fitting.run import Chain
from disaggregate.model.priors import inverse_gamma
from disaggregate.posterior.draws import gather_sparse_draws
from disaggregate.posterior.kernel_score import KernelScore
from disaggregate.posterior.ladder import ladder_report
from disaggregate.posterior.mixture import weave
from disaggregate.sampler.chains import proposals_a_sweep, sparse_chains
from disaggregate.sampler.ladder import PILOT_SWEEPS, tune_powers
from disaggregate.sampler.model import Problem, make_problem


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
        problem = make_problem(psi, int(self._basis.intercept), plan.data)
        self._powers = _powers(problem, plan) if found is None else found["powers"]
        generators = plan.streams.for_chains(plan.n_chains)
        self._chains = sparse_chains(problem, plan.prior, plan.schedule, self._powers, generators)

    @classmethod
    def start(cls, plan: FitPlan) -> SparseSampling:
        """Choose the kernel, and set up its chains."""
        return cls(plan)

    @classmethod
    def resume(cls, plan: FitPlan, found: dict[str, Any]) -> SparseSampling:
        """Set up as before, without the pilot runs."""
        sampling = cls(plan, found)
        sampling.lengthen(found["n_draws"] - plan.schedule.n_draws)
        return sampling

    @property
    def chains(self) -> list[Chain]:
        """All chains."""
        return list(self._chains)

    def lengthen(self, n_draws: int) -> None:
        """Plan some more draws per chain."""
        for chain in self._chains:
            chain.schedule = replace(chain.schedule, n_draws=chain.schedule.n_draws + n_draws)

    def resume_state(self) -> dict[str, Any]:
        """Return what the pilot runs found."""
        return {
            "scores": self._scores,
            "index": self._index,
            "powers": self._powers,
            "n_draws": self._chains[0].schedule.n_draws,  # more than the settings say after a warm start
        }

    def fitted(self, place: DrawsPlace) -> Fitted:
        """Return what was drawn so far, with the draws where they are to be."""
        drawn = [chain.draws() for chain in self._chains]
        [chains], missing = even_draws([drawn], [self._chains[0].schedule.n_draws])
        data, prior = self._plan.data, self._plan.prior
        # Under the prior (5) a constant f has the variance delta2 / N.
        ladder = ladder_report(chains, self._powers, data, inverse_gamma(prior.mu, prior.nu / len(self._plan.X)))
        part = gather_sparse_draws(chains, self._basis, self._column_scales, partial(place.put, 0))
        posterior = weave([part], self._plan.streams.for_order())
        return Fitted(posterior, *tallies(data, [chains]), ladder, self._scores, missing)


def _powers(problem: Problem, plan: FitPlan) -> np.ndarray:
    # Without evidence a sparse prior has many active kernels, so replicas are expensive: only on request.
    if plan.n_replicas is None or plan.n_replicas == 1:
        return np.ones(1)
    n_proposals = proposals_a_sweep(problem, plan.schedule)
    generator = plan.streams.for_pilots(1)[0]
    with Monitor(PILOT_SWEEPS, show=plan.progress, what="tuning") as monitor:
        return tune_powers(problem, plan.prior, int(plan.n_replicas), n_proposals, generator, monitor.on_sweeps)
