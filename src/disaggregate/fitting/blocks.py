"""Gaussian processes on data of many blocks, with the most probable kernel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from disaggregate.basis import Basis, Kernel
from disaggregate.choice import Comparison, KernelScore, kernel_score, kernel_weights
from disaggregate.execute import hold
from disaggregate.execute.held import Held
from disaggregate.fitting.digits import digest, require_same_digits
from disaggregate.fitting.draws_place import DrawsPlace
from disaggregate.fitting.plan import Fitted, Plan, even_draws, tallies
from disaggregate.fitting.run import Chain
from disaggregate.groups import group_rows
from disaggregate.groups.evidence import Fraction
from disaggregate.posterior.draws import gather_dense_draws
from disaggregate.posterior.ladder import ladder_report
from disaggregate.posterior.log_evidence import LogEvidence
from disaggregate.posterior.mixture import weave
from disaggregate.sampler.blocks import cut
from disaggregate.sampler.blocks.block import Recipe, make_block, storage_for
from disaggregate.sampler.blocks.chains import BlockChains
from disaggregate.sampler.blocks.climb import climb
from disaggregate.sampler.blocks.data import BlockData, cut_into_blocks
from disaggregate.sampler.blocks.directions import BlockDirections, block_directions
from disaggregate.sampler.blocks.model import BlockProblem
from disaggregate.sampler.blocks.sums import Sums
from disaggregate.sampler.chain import Schedule
from disaggregate.sampler.model import Prior
from disaggregate.sampler.prepare import prepare_by
from disaggregate.sampler.rungs import first_powers


class BlockSampling:
    """Chains over blocks; see :class:`disaggregate.fitting.run.Sampling`.

    Parameters
    ----------
    bases : list of Basis
        Kernels to choose from.
    comparison : Comparison
        Groups and random streams.
    plan : Plan
        How to sample.
    setting : dict, optional
        What was found before; without it the kernel is chosen.
    """

    runs_on_blocks = True

    def __init__(
        self,
        bases: list[Basis],
        comparison: Comparison,
        plan: Plan,
        setting: dict[str, Any] | None = None,
    ) -> None:
        if plan.executor is None:
            prepare_blocks()
        self._comparison, self._plan = comparison, plan
        self._blocks = comparison.blocks or cut_into_blocks(comparison.X, comparison.data)
        rows = hold(self._blocks.rows, plan.executor, plan.n_jobs)
        self._kernels: list[KernelScore] = (
            compare(bases, rows, self._blocks, comparison, plan.storage) if setting is None else setting["kernels"]
        )
        self._place = int(np.argmax([score.weight for score in self._kernels])) if self._kernels else 0
        self._basis = bases[self._place]
        self._powers = first_powers(1 if plan.n_replicas is None else plan.n_replicas)
        self._directions = block_directions(rows, self._basis)
        if setting is not None:
            require_same_digits(self._directions.to_kernels, setting["directions"])
        problem = problem_of(
            rows, self._basis, self._directions, self._blocks, plan.prior, self._powers, plan.storage,
            comparison.streams.seed,
        )  # fmt: skip
        [shared] = comparison.streams.for_pilots(1)
        own = comparison.streams.for_chains(plan.n_chains)
        self._chains = BlockChains(problem, plan.schedule, shared, own, self._blocks.starts, self._blocks.sizes)

    @classmethod
    def start(cls, bases: list[Basis], comparison: Comparison, plan: Plan) -> BlockSampling:
        """Choose the kernel, and set up its chains."""
        return cls(bases, comparison, plan)

    @classmethod
    def set_up_again(
        cls, bases: list[Basis], comparison: Comparison, plan: Plan, setting: dict[str, Any]
    ) -> BlockSampling:
        """Set up as before, without the choice."""
        sampling = cls(bases, comparison, plan, setting)
        sampling.lengthen(setting["n_draws"] - plan.schedule.n_draws)
        return sampling

    @property
    def chains(self) -> list[Chain]:
        """All chains, which move as one."""
        return [self._chains]

    def lengthen(self, n_draws: int) -> None:
        """Plan some more draws a chain."""
        self._chains.lengthen(n_draws)

    def setting(self) -> dict[str, Any]:
        """Return what was found before the chains began."""
        return {
            "kernels": self._kernels,
            "directions": digest(self._directions.to_kernels),
            "n_draws": self._chains.schedule.n_draws,  # more than the settings say after a warm start
        }

    def fitted(self, place: DrawsPlace) -> Fitted:
        """Return what was drawn so far, with the draws where they are to be."""
        [chains], missing = even_draws([self._chains.draws()], [self._chains.schedule.n_draws])
        data, streams = self._comparison.data, self._comparison.streams
        put = partial(place.put, 0)
        draws = gather_dense_draws(chains, self._basis, self._directions.to_kernels, put)
        posterior = weave([draws], streams.for_order())
        ladder = ladder_report(chains, self._powers, data, self._plan.prior)
        return Fitted(posterior, *tallies(data, [chains]), ladder, self._kernels, missing)


def compare(
    bases: Sequence[Basis], rows: Held, blocks: BlockData, comparison: Comparison, storage: str
) -> list[KernelScore]:
    """Judge each kernel by its evidence on all the data; a single one needs no comparison.

    With so many rows the posterior is nearly normal, and the evidence that it would have if it were quite so
    (Laplace) tells kernels apart in a few looks at the data, where a ladder would take hours.

    Parameters
    ----------
    bases : sequence of Basis
        The candidates.
    rows : Held
        The rows of the blocks.
    blocks : BlockData
        What is known of them.
    comparison : Comparison
        Hyper-parameters and prior odds.
    storage : str
        How columns are kept.
    """
    if len(bases) == 1:
        return []
    values = []
    for basis in bases:
        directions = block_directions(rows, basis)
        problem = problem_of(rows, basis, directions, blocks, comparison.prior, np.ones(1), storage, 0)
        start = np.zeros((1, len(directions.spread) + 1))
        start[0, -1] = np.log(comparison.prior.nu / comparison.prior.mu)
        values.append(float(climb(problem, start, np.zeros(1, dtype=np.int64)).log_evidence[0]))
    prior = comparison.odds / comparison.odds.sum()
    weights = kernel_weights(np.array(values), prior)
    return [
        kernel_score(basis, LogEvidence(value + blocks.peak, 0.0), before, after)
        for basis, value, before, after in zip(bases, values, prior.tolist(), weights.tolist(), strict=True)
    ]


def problem_of(
    rows: Held,
    basis: Basis,
    directions: BlockDirections,
    blocks: BlockData,
    prior: Prior,
    powers: np.ndarray,
    storage: str,
    seed: int,
) -> BlockProblem:
    """Make the blocks of a kernel, where their rows are."""
    n_columns = len(directions.spread)
    recipe = Recipe(
        basis, directions.to_kernels, powers, storage_for(storage, sum(blocks.sizes), n_columns), cut.IN_ONE_PIECE
    )
    sums = Sums(rows.then(make_block, recipe), n_columns)
    deviation = np.sqrt(directions.spread)
    return BlockProblem(sums, deviation, prior, seed, len(powers), blocks.has_large_groups, cut.IN_ONE_PIECE)


def prepare_blocks() -> None:
    """Make sure that what blocks need is compiled; see ``sampler.prepare``."""
    prepare_by("blocks", _run_tiny_chains)


def _run_tiny_chains() -> None:
    """Take two people through everything that is compiled."""
    data = group_rows(["a", "a"], {"a": Fraction(0.5)})
    blocks = cut_into_blocks(np.array([[0.0], [1.0]]), data)
    rows = hold(blocks.rows, None, 1)
    basis = Basis(Kernel("linear", 1.0, 3.0, 1.0), np.array([[0.0], [1.0]]), True)
    problem = problem_of(
        rows, basis, block_directions(rows, basis), blocks, Prior(1.0, 1.0, 3.0, 15.0), np.ones(1), "float64", 0
    )
    rngs = [np.random.default_rng(place) for place in range(2)]
    BlockChains(problem, Schedule(0, 1, 1, "dense"), rngs[0], rngs[1:], blocks.starts, blocks.sizes).advance()
