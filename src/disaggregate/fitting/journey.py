"""One fit from its start, or from where it was, to its end: checkpoints, resuming, and going on later."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from disaggregate.basis import Basis
from disaggregate.choice import Comparison
from disaggregate.fitting.blocks import BlockSampling
from disaggregate.fitting.dense import DenseSampling
from disaggregate.fitting.draws_place import DrawsInFolder, DrawsInMemory, DrawsPlace
from disaggregate.fitting.plan import Plan
from disaggregate.fitting.run import Sampling, run
from disaggregate.fitting.sparse import SparseSampling
from disaggregate.groups import GroupedData
from disaggregate.sampler.kept import are_on_disk


class Journey:
    """What a fit is about, and where it is written down on the way.

    Parameters
    ----------
    parameters : mapping
        Those of the classifier.
    features : ndarray of shape (n_rows, n_features)
        The individuals.
    data : GroupedData
        What the groups report.
    checkpoint : path or None
        File for the state of the chains.
    resume : bool
        Whether to go on from that file.
    draws_to : path or None
        Folder for the draws.
    """

    def __init__(
        self,
        parameters: Mapping[str, Any],
        features: np.ndarray,
        data: GroupedData,
        checkpoint: Any,
        resume: bool,
        draws_to: Any,
    ) -> None:
        from disaggregate.saving.checkpoint import fingerprint_of, read_checkpoint

        if resume and checkpoint is None:
            raise ValueError("resume=True needs checkpoint=, the file that an earlier fit was writing.")
        self.fingerprint = fingerprint_of(parameters, features, data)
        self._path, self._resume = checkpoint, resume
        self._saved = read_checkpoint(checkpoint, self.fingerprint) if resume else None
        self._seed = 0
        self._folder = None if draws_to is None else DrawsInFolder(Path(draws_to).absolute())

    @property
    def place(self) -> DrawsPlace:
        """Where the draws are."""
        return self._folder or DrawsInMemory()

    def seed_or(self, random_state: Any) -> Any:
        """Return the seed of the fit that goes on, or else that of the classifier."""
        return random_state if self._saved is None else self._saved["seed"]

    def begun(
        self,
        kind: type[BlockSampling] | type[DenseSampling] | type[SparseSampling],
        bases: list[Basis],
        comparison: Comparison,
        plan: Plan,
    ) -> Sampling:
        """Set the chains up, anew or as they are on file."""
        self._seed = comparison.streams.seed
        if self._folder is not None and not self._has_draws_on_disk():
            self._folder.claim(again=self._resume)
        if self._saved is None:
            return self._in_place(kind.start(bases, comparison, plan))
        sampling = self._in_place(kind.set_up_again(bases, comparison, plan, self._saved["setting"]))
        for chain, snapshot in zip(sampling.chains, self._saved["chains"], strict=True):
            chain.restore(snapshot)
        return sampling

    def _has_draws_on_disk(self) -> bool:
        return self._saved is not None and any(are_on_disk(chain["kept"]) for chain in self._saved["chains"])

    def _in_place(self, sampling: Sampling) -> Sampling:
        for number, chain in enumerate(sampling.chains):
            chain.kept = self.place.kept(number)
        return sampling

    def continued(self, last: Journey | None, sampling: Sampling | None) -> Sampling:
        """Take the chains of the last fit, if it was about the same."""
        if last is None or sampling is None:
            raise ValueError(
                "warm_start needs the chains of the last fit, which copies and saved models leave behind; fit "
                "anew with more n_draws."
            )
        if last.fingerprint != self.fingerprint:
            raise ValueError(
                "warm_start goes on from the last fit, which had other data or settings; give the same, or "
                "fit anew without it."
            )
        if last._folder != self._folder:
            raise ValueError("warm_start adds draws where those of the last fit are; give the same draws_to=.")
        self._seed = last._seed
        return sampling

    def run(self, sampling: Sampling, plan: Plan) -> None:
        """Run the chains, with checkpoints if they are wanted."""
        if self._path is None:
            run(sampling, plan)
            return
        from disaggregate.saving.checkpoint import Checkpoint

        checkpoint = Checkpoint(self._path, self.fingerprint, self._seed)
        checkpoint.watch(sampling.setting(), sampling.chains)
        run(sampling, plan, checkpoint)
        checkpoint.write()
