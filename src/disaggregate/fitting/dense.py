"""Gaussian processes, with the draws shared among kernels by their probability."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from disaggregate.basis import Basis
from disaggregate.choice import Comparison, KernelScore, Pilot, pilots_of_mixture
from disaggregate.fitting.digits import digest, require_same_digits
from disaggregate.fitting.draws_place import DrawsPlace
from disaggregate.fitting.plan import Fitted, Plan, even_draws, tallies
from disaggregate.fitting.run import Chain
from disaggregate.posterior.draws import gather_dense_draws
from disaggregate.posterior.ladder import LadderReport, ladder_report, mixture_report
from disaggregate.posterior.log_evidence import average_evidence
from disaggregate.posterior.mixture import share_out, weave
from disaggregate.sampler.chain import Schedule
from disaggregate.sampler.dense.model import DenseProblem, Paths
from disaggregate.sampler.dense.run import dense_chains
from disaggregate.sampler.dense.tuning import Tuning
from disaggregate.sampler.evidence import make_evidence, make_ladder

# A kernel with a small share of the draws burns in for this share of the usual sweeps at least.
_LEAST_BURN = 0.2


class DenseSampling:
    """Chains of Gaussian processes; see :class:`disaggregate.fitting.run.Sampling`.

    Parameters
    ----------
    comparison : Comparison
        Data and random streams.
    plan : Plan
        How to sample.
    pilots : list of Pilot
        Kernels that share the draws.
    kernels : list of KernelScore
        How all kernels did.
    """

    runs_on_blocks = False

    def __init__(
        self, comparison: Comparison, plan: Plan, pilots: list[Pilot], kernels: list[KernelScore]
    ) -> None:
        shares = share_out(plan.schedule.n_draws, np.array([pilot.weight for pilot in pilots]))
        self._comparison, self._plan, self._kernels = comparison, plan, kernels
        self._pilots = [pilot for pilot, share in zip(pilots, shares, strict=True) if share > 0]
        generators = comparison.streams.for_chains_of_kernels(plan.n_chains, len(self._pilots))
        self._chains = [
            dense_chains(pilot.tuning, plan.prior, _part_of(plan.schedule, int(share)), own)
            for pilot, share, own in zip(self._pilots, shares[shares > 0], generators, strict=True)
        ]

    @classmethod
    def start(cls, bases: list[Basis], comparison: Comparison, plan: Plan) -> DenseSampling:
        """Compare the kernels, and set up the chains of those that matter."""
        return cls(comparison, plan, *pilots_of_mixture(bases, comparison, plan.n_replicas))

    @classmethod
    def set_up_again(
        cls, bases: list[Basis], comparison: Comparison, plan: Plan, setting: dict[str, Any]
    ) -> DenseSampling:
        """Set up as before, without the short runs."""
        pilots = [_pilot(bases, comparison, found) for found in setting["pilots"]]
        sampling = cls(comparison, plan, pilots, setting["kernels"])
        sampling._plan_draws([found["n_draws"] for found in setting["pilots"]])
        return sampling

    @property
    def chains(self) -> list[Chain]:
        """All chains; those of different kernels alternate, so that they are equally far at any time."""
        return [chain for turn in zip(*self._chains, strict=True) for chain in turn]

    def lengthen(self, n_draws: int) -> None:
        """Plan some more draws a chain."""
        weights = np.array([pilot.weight for pilot in self._pilots])
        shares = share_out(sum(self._planned()) + n_draws, weights / weights.sum())
        self._plan_draws(np.maximum(shares, self._planned()).tolist())

    def setting(self) -> dict[str, Any]:
        """Return what the short runs found."""
        return {
            "kernels": self._kernels,
            "pilots": [
                {
                    "place": pilot.place,
                    "weight": pilot.weight,
                    "n_draws": n_draws,  # more than the settings say after a warm start
                    "powers": pilot.tuning.powers,
                    "paths": list(pilot.tuning.paths),
                    "stones": pilot.tuning.stones,
                    "columns": digest(pilot.tuning.problem.columns),
                }
                for pilot, n_draws in zip(self._pilots, self._planned(), strict=True)
            ],
        }

    def fitted(self, place: DrawsPlace) -> Fitted:
        """Return what was drawn so far, with the draws where they are to be."""
        drawn = [[chain.draws() for chain in chains] for chains in self._chains]
        draws, missing = even_draws(drawn, self._planned())
        data, prior = self._comparison.data, self._plan.prior
        parts = [
            gather_dense_draws(chains, pilot.basis, pilot.directions.to_kernels, partial(place.put, number))
            for number, (pilot, chains) in enumerate(zip(self._pilots, draws, strict=True))
        ]
        reports = {
            pilot.place: ladder_report(chains, pilot.tuning.powers, data, prior)
            for pilot, chains in zip(self._pilots, draws, strict=True)
        }
        posterior = weave(parts, self._comparison.streams.for_order())
        ladder = _sum_up(reports, self._kernels)
        return Fitted(posterior, *tallies(data, draws), ladder, self._kernels, missing)

    def _planned(self) -> list[int]:
        return [chains[0].schedule.n_draws for chains in self._chains]

    def _plan_draws(self, planned: list[int]) -> None:
        for chains, n_draws in zip(self._chains, planned, strict=True):
            for chain in chains:
                chain.schedule = replace(chain.schedule, n_draws=n_draws)


def _pilot(bases: list[Basis], comparison: Comparison, found: dict[str, Any]) -> Pilot:
    basis = bases[found["place"]]
    directions = comparison.directions(basis)
    require_same_digits(directions.columns, found["columns"])
    ladder = make_ladder(make_evidence(comparison.data), found["powers"])
    problem = DenseProblem(directions.columns, np.sqrt(directions.spread), ladder)
    tuning = Tuning(found["powers"], problem, Paths(*found["paths"]), found["stones"])
    return Pilot(basis, directions, tuning, found["place"], found["weight"])


def _part_of(schedule: Schedule, n_draws: int) -> Schedule:
    share = max(n_draws / schedule.n_draws, _LEAST_BURN)
    return replace(schedule, n_draws=n_draws, n_burn=round(share * schedule.n_burn))


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
