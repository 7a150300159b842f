"""Spike-and-slab weights on the most probable kernel."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from disaggregate.basis import Basis, unit_columns
from disaggregate.choice import Comparison, KernelScore, most_probable
from disaggregate.execute.monitor import Monitor
from disaggregate.fitting.draws_place import DrawsPlace
from disaggregate.fitting.plan import Fitted, Plan, even_draws, tallies
from disaggregate.fitting.run import Chain
from disaggregate.posterior.draws import gather_sparse_draws
from disaggregate.posterior.ladder import ladder_report
from disaggregate.posterior.mixture import weave
from disaggregate.sampler.chains import proposals_a_sweep, sparse_chains
from disaggregate.sampler.ladder import PILOT_SWEEPS, tune_powers
from disaggregate.sampler.model import Problem, make_problem


class SparseSampling:
    """Chains with sparse weights; see :class:`disaggregate.fitting.run.Sampling`.

    Parameters
    ----------
    bases : list of Basis
        Kernels to choose from.
    comparison : Comparison
        Data and random streams.
    plan : Plan
        How to sample.
    setting : dict, optional
        What short runs found before; without it they are made.
    """

    runs_on_blocks = False

    def __init__(
        self, bases: list[Basis], comparison: Comparison, plan: Plan, setting: dict[str, Any] | None = None
    ) -> None:
        self._comparison, self._plan = comparison, plan
        found = (setting["place"], setting["kernels"]) if setting else most_probable(bases, comparison)
        self._place: int = found[0]
        self._kernels: list[KernelScore] = found[1]
        self._basis = bases[self._place]
        psi, self._scales = unit_columns(self._basis.columns(comparison.X))
        problem = make_problem(psi, int(self._basis.intercept), comparison.data)
        self._powers = _powers(problem, comparison, plan) if setting is None else setting["powers"]
        generators = comparison.streams.for_chains(plan.n_chains)
        self._chains = sparse_chains(problem, plan.prior, plan.schedule, self._powers, generators)

    @classmethod
    def start(cls, bases: list[Basis], comparison: Comparison, plan: Plan) -> SparseSampling:
        """Choose the kernel, and set up its chains."""
        return cls(bases, comparison, plan)

    @classmethod
    def set_up_again(
        cls, bases: list[Basis], comparison: Comparison, plan: Plan, setting: dict[str, Any]
    ) -> SparseSampling:
        """Set up as before, without the short runs."""
        sampling = cls(bases, comparison, plan, setting)
        sampling.lengthen(setting["n_draws"] - plan.schedule.n_draws)
        return sampling

    @property
    def chains(self) -> list[Chain]:
        """All chains."""
        return list(self._chains)

    def lengthen(self, n_draws: int) -> None:
        """Plan some more draws a chain."""
        for chain in self._chains:
            chain.schedule = replace(chain.schedule, n_draws=chain.schedule.n_draws + n_draws)

    def setting(self) -> dict[str, Any]:
        """Return what the short runs found."""
        return {
            "kernels": self._kernels,
            "place": self._place,
            "powers": self._powers,
            "n_draws": self._chains[0].schedule.n_draws,  # more than the settings say after a warm start
        }

    def fitted(self, place: DrawsPlace) -> Fitted:
        """Return what was drawn so far, with the draws where they are to be."""
        drawn = [chain.draws() for chain in self._chains]
        [chains], missing = even_draws([drawn], [self._chains[0].schedule.n_draws])
        data, prior = self._comparison.data, self._plan.prior
        # Under the prior (5) a constant f has the variance delta2 / N.
        of_constant = prior._replace(nu=prior.nu / len(self._comparison.X))
        ladder = ladder_report(chains, self._powers, data, of_constant)
        part = gather_sparse_draws(chains, self._basis, self._scales, partial(place.put, 0))
        posterior = weave([part], self._comparison.streams.for_order())
        return Fitted(posterior, *tallies(data, [chains]), ladder, self._kernels, missing)


def _powers(problem: Problem, comparison: Comparison, plan: Plan) -> np.ndarray:
    # Without evidence a sparse prior has many active kernels, so replicas are dear: only on request.
    if plan.n_replicas is None or plan.n_replicas == 1:
        return np.ones(1)
    n_proposals = proposals_a_sweep(problem, plan.schedule)
    generator = comparison.streams.for_pilots(1)[0]
    with Monitor(PILOT_SWEEPS, show=plan.progress, what="tuning") as monitor:
        return tune_powers(problem, plan.prior, int(plan.n_replicas), n_proposals, generator, monitor.on_sweeps)
