"""Checkpoints: the state of every chain in a file, so that a run that was killed resumes to the same draws."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from disaggregate.fitting.session import CheckpointWriter
from disaggregate.groups import GroupedData
from disaggregate.groups.outcomes import GroupedOutcomes
from disaggregate.parallel.runners import Runner
from disaggregate.saving.archive import ArchiveError, read_archive, write_archive
from disaggregate.saving.checkpoint_schedule import CheckpointSchedule
from disaggregate.saving.model import CLASSES
from disaggregate.saving.tree import Reader, Writer

# What snapshots of chains consist of; those of other layouts belong to other versions.
_LAYOUT = 4

# Digits of a seed at most: those that numpy takes from the operating system have 39.
_LONGEST_SEED = 1000

# Parameters that change how a fit runs but not what it draws.
_WHERE_IT_RUNS = ("n_jobs", "progress", "executor", "random_state")


class Checkpoint(CheckpointWriter):
    """Write where the chains are, every so often.

    Parameters
    ----------
    path : str or Path
        The file; it is replaced once a newer one is complete.
    fingerprint : str
        What the run is about; see :func:`fingerprint_of`.
    seed : int
        Seed of the run's random streams.
    schedule : CheckpointSchedule, optional
        Says when it is time.
    """

    def __init__(self, path: Any, fingerprint: str, seed: int, schedule: CheckpointSchedule | None = None) -> None:
        self._path, self._fingerprint, self._seed = Path(path), fingerprint, seed
        self._schedule = schedule or CheckpointSchedule()
        self._resume_state: dict[str, Any] = {}
        self._chains: list[Runner] = []
        self._snapshots: dict[int, dict[str, Any]] = {}
        self._due: set[int] = set()
        self._is_requested = False

    def watch(self, resume_state: dict[str, Any], chains: Sequence[Runner]) -> None:
        """Begin with chains that were just set up; they are on file from now on.

        Parameters
        ----------
        resume_state : dict
            What the chains were set up with.
        chains : sequence of Runner
            All of them.
        """
        self._resume_state, self._chains = resume_state, list(chains)
        self._take_snapshots()
        self._write_snapshots()  # what cannot be written at all is an error before the first sweep

    def replan(self, resume_state: dict[str, Any]) -> None:
        """Record that the same chains have more draws to do; they must not be moving.

        With where they are now: sweeps are done in batches, the last of a round ends with it, and draws depend in
        their last digits on where a batch ends.
        """
        self._resume_state = resume_state
        self._take_snapshots()

    def after_batch(self, runner: Runner) -> None:
        """Take a snapshot of a runner if that is due."""
        index = id(runner)
        if index in self._due:
            with self._schedule.timed():
                self._snapshots[index] = runner.snapshot()
            self._due.discard(index)

    def while_waiting(self) -> None:
        """Request snapshots when it is time, and write them once they are all there."""
        if not self._is_requested and not self._schedule.is_due():
            return
        running = {id(chain) for chain in self._chains if chain.n_done < chain.n_sweeps}
        if self._due & running:
            return
        if self._is_requested:
            self._write_if_possible()
        else:
            self._due, self._is_requested = set(running), True

    def write(self) -> None:
        """Write where the chains are; they must not be moving."""
        self._take_snapshots()
        self._write_if_possible()

    def _take_snapshots(self) -> None:
        with self._schedule.timed():
            self._snapshots = {id(chain): chain.snapshot() for chain in self._chains}

    def _write_if_possible(self) -> None:
        """Write, and continue if that fails, as on a full disk; an earlier checkpoint and the draws remain."""
        try:
            self._write_snapshots()
        except OSError as error:
            warnings.warn(
                f"the checkpoint {self._path} could not be written ({error}); the fit continues, and an earlier "
                "checkpoint is as it was.",
                UserWarning,
                stacklevel=2,
            )
            self._snapshots, self._is_requested = {}, False
            self._schedule.written()

    def _write_snapshots(self) -> None:
        with self._schedule.timed():
            for chain in self._chains:
                if id(chain) not in self._snapshots:  # it was at its end before the request
                    self._snapshots[id(chain)] = chain.snapshot()
            writer = Writer(CLASSES)
            content = writer.write(
                {
                    "fingerprint": self._fingerprint,
                    "seed": str(self._seed),
                    "resume_state": self._resume_state,
                    "chains": [self._snapshots[id(chain)] for chain in self._chains],
                }
            )
            # Not packed: that takes ten times as long as writing, for a file that is needed as long as a fit.
            write_archive(self._path, {"checkpoint": content}, writer.arrays, packed=False)
        self._snapshots, self._is_requested = {}, False
        self._schedule.written()


def read_checkpoint(path: Any, fingerprint: str) -> dict[str, Any] | None:
    """Read where a run was; None if it never wrote a checkpoint.

    Parameters
    ----------
    path : str or Path
        The file.
    fingerprint : str
        What the run that is to go on is about.
    """
    if not Path(path).exists():
        return None
    document, arrays = read_archive(Path(path))
    if "checkpoint" not in document:
        raise ArchiveError(f"{path} is a saved model, not a checkpoint; load it, or give another path.")
    saved = Reader(CLASSES, arrays).read(document["checkpoint"])
    if isinstance(saved, dict) and "setting" in saved:
        raise ValueError(
            f"{path} was written by release 0.1, whose chains this version cannot resume: fit again with another "
            "checkpoint, or resume it with release 0.1."
        )
    if not isinstance(saved, dict) or not {"fingerprint", "seed", "resume_state", "chains"} <= set(saved):
        raise ArchiveError(f"{path} is damaged: it does not hold what a checkpoint holds.")
    if saved["fingerprint"] != fingerprint:
        raise ValueError(
            f"{path} belongs to another fit: its data, settings or version of disaggregate differ. Give the same "
            "ones to resume it, or another checkpoint for a new fit."
        )
    if not (isinstance(saved["seed"], str) and saved["seed"].isdecimal() and len(saved["seed"]) <= _LONGEST_SEED):
        raise ArchiveError(f"{path} is damaged: its seed is not a number.")
    return {**saved, "seed": int(saved["seed"])}


def fingerprint_of(parameters: Mapping[str, Any], features: np.ndarray, data: GroupedData) -> str:
    """Return a digest of a fit: of its settings, its data, and the version of this library.

    Parameters
    ----------
    parameters : mapping
        Those of the classifier.
    features : ndarray of shape (n_rows, n_features)
        The individuals.
    data : GroupedData
        What the groups report.
    """
    settings = {name: repr(value) for name, value in parameters.items() if name not in _WHERE_IT_RUNS}
    if isinstance(parameters["centers"], np.ndarray):
        settings["centers"] = _digest(parameters["centers"])
    text = json.dumps([settings, version("disaggregate"), _LAYOUT, np.__version__], sort_keys=True)
    known = (data.counts, data.weights, data.nodes)
    arrays = [
        *(features, data.order, data.offsets, data.units, data.log_likelihood),
        *(np.zeros(0) if array is None else array for array in known),
        np.array([repr(report.population) for report in data.evidence]),
    ]
    if isinstance(data, GroupedOutcomes):
        arrays.append(np.array([repr(data.outcomes), *map(repr, data.evidence)]))
    return hashlib.sha256("\n".join([text, *map(_digest, arrays)]).encode()).hexdigest()


def _digest(array: np.ndarray) -> str:
    plain = np.ascontiguousarray(array)
    return hashlib.sha256(f"{plain.dtype} {plain.shape}".encode() + plain.tobytes()).hexdigest()


class CheckpointFiles:
    """Reads and writes checkpoints; see :class:`disaggregate.fitting.session.Checkpoints`."""

    def fingerprint(self, parameters: Mapping[str, Any], features: np.ndarray, data: GroupedData) -> str:
        """Return a digest that identifies the fit."""
        return fingerprint_of(parameters, features, data)

    def read(self, path: Any, fingerprint: str) -> dict[str, Any] | None:
        """Read where a run was; None if it never wrote a checkpoint."""
        return read_checkpoint(path, fingerprint)

    def writer(self, path: Any, fingerprint: str, seed: int) -> Checkpoint:
        """Return what writes where chains are, every so often."""
        return Checkpoint(path, fingerprint, seed)
