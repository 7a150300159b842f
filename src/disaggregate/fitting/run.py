"""Running what was set up, to its end or to an interrupt."""

from __future__ import annotations

from typing import Any, Protocol

from disaggregate.fitting.draw_storage import DrawStorage
from disaggregate.fitting.plan import FitPlan
from disaggregate.fitting.results import Fitted
from disaggregate.parallel.round_robin import run_round_robin
from disaggregate.parallel.runners import Runner, Watcher
from disaggregate.posterior.mixture import Posterior
from disaggregate.storage.draw_store import DrawStore


class Chain(Runner, Protocol):
    """A chain, and where it keeps its draws."""

    store: DrawStore


class Sampling(Protocol):
    """Chains that were set up, with what they need to become a posterior."""

    @property
    def runs_on_partitions(self) -> bool:
        """Whether the executor has the partitions of the data, and chains stay here."""

    @property
    def chains(self) -> list[Chain]:
        """All chains."""

    @property
    def n_planned(self) -> int:
        """Draws per chain that are planned."""

    def so_far(self) -> Posterior:
        """Return what was drawn so far, to be judged."""

    def lengthen(self, n_draws: int) -> None:
        """Plan some more draws per chain."""

    def restarted_as_ladders(self, may_go_on: bool) -> Sampling | None:
        """Return the same with ladders where single chains ended in different modes; None where none did.

        Chains that may go on are given the benefit of the doubt as long as their draws are few.
        """

    def resume_state(self) -> dict[str, Any]:
        """Return what the chains were set up with, as far as it took time to find."""

    def restore(self, snapshots: list[Any]) -> None:
        """Resume all chains from their snapshots, once these are found sound."""

    def fitted(self, storage: DrawStorage) -> Fitted:
        """Return what was drawn so far, with the draws where they are to be."""


def run(sampling: Sampling, plan: FitPlan, watcher: Watcher | None = None) -> bool:
    """Run the chains to their end and return True; after an interrupt they are where they were.

    Parameters
    ----------
    sampling : Sampling
        The chains.
    plan : FitPlan
        Where to run.
    watcher : Watcher, optional
        Called after every batch.
    """
    plan.prepare()
    return run_round_robin(
        sampling.chains,
        threads=plan.threads,
        progress=plan.progress,
        executor=None if sampling.runs_on_partitions else plan.executor,
        watcher=watcher,
    )
