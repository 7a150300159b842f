"""One fit: starting or resuming its chains, running them, and writing checkpoints on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from disaggregate.fitting.dense import DenseSampling
from disaggregate.fitting.draw_storage import DrawStorage, FolderStorage, MemoryStorage
from disaggregate.fitting.outcomes import OutcomeSampling
from disaggregate.fitting.plan import FitPlan
from disaggregate.fitting.results import Fitted
from disaggregate.fitting.run import Sampling, run
from disaggregate.fitting.sparse import SparseSampling
from disaggregate.groups import GroupedData
from disaggregate.parallel.monitor import ProgressCallback
from disaggregate.parallel.runners import Watcher
from disaggregate.posterior.mixture import Posterior
from disaggregate.posterior.stopping import more_draws
from disaggregate.storage.atomic_files import require_disk_space
from disaggregate.storage.draw_store import are_on_disk


class Checkpoints(Protocol):
    """Reads and writes checkpoints; given to a session, so that fitting knows nothing about files."""

    def fingerprint(self, parameters: Mapping[str, Any], features: np.ndarray, data: GroupedData) -> str:
        """Return a digest that identifies the fit."""

    def read(self, path: Any, fingerprint: str) -> dict[str, Any] | None:
        """Read where a run was; None if it never wrote a checkpoint."""

    def writer(self, path: Any, fingerprint: str, seed: int) -> CheckpointWriter:
        """Return what writes where chains are, every so often."""


class CheckpointWriter(Watcher):
    """Writes where chains are."""

    def watch(self, resume_state: dict[str, Any], chains: Any) -> None:
        """Begin with chains that were just set up; they are on file from now on."""

    def replan(self, resume_state: dict[str, Any]) -> None:
        """Record that the same chains have more draws to do."""

    def write(self) -> None:
        """Write where the chains are; they must not be moving."""


class FitSession:
    """What a fit is about, its chains, and where its checkpoints go.

    Parameters
    ----------
    checkpoints : Checkpoints
        Reads and writes checkpoints.
    parameters : mapping
        Those of the classifier.
    features : ndarray of shape (n_rows, n_features)
        The individuals.
    data : GroupedData
        What the groups report.
    checkpoint : path or None
        File for the state of the chains.
    resume : bool
        Whether to resume from that file.
    draws_to : path or None
        Folder for the draws.
    """

    def __init__(
        self,
        checkpoints: Checkpoints,
        parameters: Mapping[str, Any],
        features: np.ndarray,
        data: GroupedData,
        checkpoint: Any,
        resume: bool,
        draws_to: Any,
    ) -> None:
        if resume and checkpoint is None:
            raise ValueError("resume=True needs checkpoint=, the file that an earlier fit was writing.")
        self._checkpoints = checkpoints
        self._fingerprint = checkpoints.fingerprint(parameters, features, data)
        self._path, self._resume = checkpoint, resume
        self._saved = checkpoints.read(checkpoint, self._fingerprint) if resume else None
        self._folder = None if draws_to is None else FolderStorage(Path(draws_to).absolute())
        self._sampling: Sampling | None = None
        self._singles: Sampling | None = None  # chains that were run again as ladders
        self._plan: FitPlan | None = None
        self._seed = 0

    @property
    def plan(self) -> FitPlan:
        """What the chains were set up with."""
        if self._plan is None:
            raise RuntimeError("the chains of this session were not set up.")
        return self._plan

    def seed_or(self, random_state: Any) -> Any:
        """Return the seed of the fit that is resumed, or else that of the classifier; they must not differ."""
        if self._saved is None:
            return random_state
        if isinstance(random_state, Integral) and int(random_state) != self._saved["seed"]:
            raise ValueError(
                f"{self._path} belongs to a fit with random_state={self._saved['seed']}, not {random_state}. Give "
                "the same seed to resume it, or another checkpoint for a new fit."
            )
        return self._saved["seed"]

    def start_or_resume(self, plan: FitPlan) -> None:
        """Set the chains up, as new ones or from the checkpoint."""
        self._require_no_other_checkpoint()
        self._seed, self._plan = plan.streams.seed, plan
        if self._folder is not None and not self._has_draws_on_disk():
            require_disk_space(self._folder.folder, plan.least_bytes)
            self._folder.claim(again=self._resume)
        kind: type[DenseSampling] | type[SparseSampling]
        kind = DenseSampling if plan.schedule.moves == "dense" else SparseSampling
        kind = OutcomeSampling if plan.n_outcomes > 2 else kind
        if self._saved is None:
            self._sampling = self._with_store(kind.start(plan))
            return
        self._sampling = self._with_store(kind.resume(plan, self._saved["resume_state"]))
        self._sampling.restore(self._saved["chains"])

    def warm_start(self, last: FitSession | None, n_draws: int, progress: ProgressCallback | None) -> None:
        """Take the chains of the last fit, if it was about the same, and plan some more draws."""
        if last is None or last._sampling is None:
            raise ValueError(
                "warm_start needs the chains of the last fit, which copies and saved models leave behind; fit "
                "again with more n_draws."
            )
        if last._fingerprint != self._fingerprint:
            raise ValueError(
                "warm_start continues the last fit, which had other data or settings; give the same, or "
                "fit again without it."
            )
        if last._folder != self._folder:
            raise ValueError("warm_start stores draws beside those of the last fit; give the same draws_to=.")
        self._seed, self._sampling = last._seed, last._sampling
        self._plan = replace(last.plan, progress=progress)
        self._sampling.lengthen(n_draws)

    def run(self, missing_draws: Callable[[Posterior], float] | None = None) -> Fitted:
        """Run the chains, with checkpoints if they are wanted, and return what they drew.

        Parameters
        ----------
        missing_draws : callable, optional
            Returns how many draws per chain are missing; without it there is one round of them.
        """
        plan, writer = self.plan, None
        with plan.threads:
            if self._path is not None:
                writer = self._checkpoints.writer(self._path, self._fingerprint, self._seed)
                writer.watch(self._ready.resume_state(), self._ready.chains)
            while run(self._ready, plan, writer) and self._has_more(missing_draws, writer):
                pass
            if writer is not None:
                writer.write()
        return self._fitted()

    def _fitted(self) -> Fitted:
        """Return what was drawn; what single chains drew, if ladders in their stead were stopped before a draw."""
        try:
            return self._ready.fitted(self._storage)
        except KeyboardInterrupt:
            if self._singles is None or self._folder is not None:  # files are written over
                raise
            self._sampling = self._singles
            return self._ready.fitted(self._storage)

    def _has_more(
        self, missing_draws: Callable[[Posterior], float] | None, writer: CheckpointWriter | None
    ) -> bool:
        """Return whether chains that are done have to go on, as ladders or for another round of draws."""
        may_go_on = missing_draws is not None and more_draws(self._ready.n_planned) > 0
        ladders = self._ready.restarted_as_ladders(may_go_on)
        if ladders is not None:
            self._singles, self._sampling = self._ready, self._with_store(ladders)
            if writer is not None:
                writer.watch(ladders.resume_state(), ladders.chains)
            return True
        sampling = self._ready
        if missing_draws is None or not may_go_on:
            return False
        n_more = more_draws(sampling.n_planned, missing_draws(sampling.so_far()))
        if n_more == 0:
            return False
        sampling.lengthen(n_more)
        if writer is not None:
            writer.replan(sampling.resume_state())
        return True

    def _require_no_other_checkpoint(self) -> None:
        """Refuse to replace the checkpoint of another fit, which may have taken hours."""
        if self._path is not None and not self._resume and Path(self._path).exists():
            raise ValueError(
                f"checkpoint={str(self._path)!r} exists already. Resume it (resume=True), remove it, or "
                "give another one."
            )

    @property
    def _ready(self) -> Sampling:
        if self._sampling is None:
            raise RuntimeError("the chains of this session were not set up.")
        return self._sampling

    @property
    def _storage(self) -> DrawStorage:
        return self._folder or MemoryStorage()

    def _has_draws_on_disk(self) -> bool:
        """Return whether a checkpoint has its draws in a folder; its content is checked later."""
        chains = [] if self._saved is None else self._saved["chains"]
        known = [chain for chain in chains if isinstance(chain, dict)] if isinstance(chains, list) else []
        return any(are_on_disk(chain.get("kept")) for chain in known)

    def _with_store(self, sampling: Sampling) -> Sampling:
        for number, chain in enumerate(sampling.chains):
            chain.store = self._storage.store_for(number)
        return sampling
