"""Small fits that were stopped half-way, to be resumed by the thousand.

A whole ``fit`` spends most of its time on what no checkpoint can change: reading the data, setting up threads,
judging the draws. Here these are done once per kind of fit. What is read from a checkpoint or from a folder of
draws goes the way that it goes in a fit: it is checked, chains are set up from it, sweep, and become a posterior.
"""

from __future__ import annotations

import _thread
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

SHORT = {"n_chains": 1, "n_draws": 200, "n_burn": 2, "n_jobs": 1, "random_state": 0, "kernel": "rbf", "gamma": 1.0}
KINDS: tuple[dict[str, Any], ...] = (
    {"n_replicas": 1, "n_chains": 2},
    {"n_replicas": 3},
    {"prior": "spike_slab"},
    {"prior": "spike_slab", "n_replicas": 3},
    {"n_replicas": 1, "group_effects": True},
    {"n_replicas": 1, "n_draws": "auto"},
    {"n_replicas": 1, "kernel": "auto"},
    {"n_replicas": 1, "confidence": "auto"},
    {"n_replicas": 1, "size": 500, "group_effects": True, "context": True},
    {"n_replicas": 1, "outcomes": 3},
    {"n_replicas": 1, "outcomes": 3, "size": 500, "group_effects": True, "context": True},
)
_REPORTS = ("outcomes", "size")  # what the groups report; the others are settings
_SWEEPS_LEFT = 2
_MOST_MODELS = 8
_PRIOR_DRAWS = 4  # beside the posterior; a checkpoint says nothing about them


def make_fit(kind: Mapping[str, Any]) -> Callable[..., Any]:
    """Return a small fit, to be called with what says how to resume it."""
    import disaggregate as dg

    settings = {name: value for name, value in kind.items() if name not in _REPORTS}
    groups = np.repeat(["a", "b", "c"], [2, 4, 3])
    X = np.random.default_rng(0).normal(size=(len(groups), 2))
    reports: dict[str, Any] = {"a": 0.5, "b": 0.25, "c": 0.9}
    if "outcomes" in kind:
        reports = {
            name: {"x": share, "y": (1.0 - share) / 2.0, "z": (1.0 - share) / 2.0}
            for name, share in reports.items()
        }
    if "size" in kind:
        evidence = dg.evidence.PopulationShares if "outcomes" in kind else dg.evidence.Population
        reports = {name: evidence(share, kind["size"]) for name, share in reports.items()}

    def fit(**how: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # six draws are too few to judge
            return dg.GroupStatsClassifier(**{**SHORT, **settings}).fit(X, reports, groups=groups, **how)

    return fit


class StoppedFit:
    """A fit that was stopped half-way.

    Parameters
    ----------
    kind : mapping
        Settings that differ from the usual ones.
    folder : Path
        New folder for its checkpoint, and for its draws.
    in_folder : bool
        Whether its draws are in files.

    Attributes
    ----------
    tree : dict
        What is in its checkpoint.
    saved : bytes
        The checkpoint.
    """

    def __init__(self, kind: Mapping[str, Any], folder: Path, *, in_folder: bool) -> None:
        folder.mkdir()
        self.fit, self.checkpoint = make_fit(kind), folder / "run.dgc"
        self.draws = folder / "draws" if in_folder else None
        n_batches = 12  # those in which chains adapt, and two
        if kind.get("prior") == "spike_slab":
            n_batches = 8 if "n_replicas" in kind else 2
        with stopped_after(n_batches * kind.get("n_chains", 1) * (4 if "kernel" in kind else 1)):
            stopped = self.fit(checkpoint=self.checkpoint, draws_to=self.draws)
        self._is_slow = {"outcomes", "size"} <= set(kind)  # its sweeps take 40 ms each
        self._models: dict[Any, Any] = {}
        self._plan, self._data = stopped._session.plan, stopped._data
        self._fingerprint = stopped._session._fingerprint
        self.tree = _nearly_done(read_tree(self.checkpoint), stopped._session._ready.chains)
        write_tree(self.checkpoint, self.tree)
        self.saved = self.checkpoint.read_bytes()

    def resume(self, tree: dict[str, Any] | None = None) -> str:
        """Resume it for a few sweeps, and tell whether that was refused.

        Parameters
        ----------
        tree : dict, optional
            What the checkpoint is taken to hold; without it the file is read.
        """
        from disaggregate.sampler.streams import Streams

        plan = replace(self._plan, streams=Streams(0))
        files = _KnownFit(self._fingerprint, tree)
        with _what_no_checkpoint_changes(self._models):
            return self._resume(plan, files)

    def _resume(self, plan: Any, files: _KnownFit) -> str:
        from disaggregate.fitting.session import FitSession

        try:
            session = FitSession(files, {}, plan.X, self._data, self.checkpoint, True, self.draws)
            session.seed_or(0)
            session.start_or_resume(plan)
        except (ValueError, OSError):
            return "refused"
        chains = session._ready.chains
        with warnings.catch_warnings(), suppress(KeyboardInterrupt):  # what a fit says that has no draws
            warnings.simplefilter("ignore")  # scores beyond all numbers, of weights that a forger made large
            for chain in chains:
                if self._is_slow:
                    chain._backend.sweeps_per_batch = _SWEEPS_LEFT  # a forged number of draws makes 50 of them
                if chain.n_done < chain.n_sweeps:
                    chain.advance()
            session._ready.fitted(session._storage)
        return "resumed"

    def resume_whole(self) -> str:
        """Resume it as its owner would, with all that belongs to a fit."""
        try:
            with stopped_after(8):
                self.fit(checkpoint=self.checkpoint, draws_to=self.draws, resume=True)
        except (ValueError, OSError):
            return "refused"
        except KeyboardInterrupt:  # it was stopped before anything was drawn
            pass
        return "resumed"


def read_tree(path: Path) -> dict[str, Any]:
    """Read what is in a checkpoint."""
    from disaggregate.saving.archive import read_archive
    from disaggregate.saving.model import CLASSES
    from disaggregate.saving.tree import Reader

    document, arrays = read_archive(path)
    return Reader(CLASSES, arrays).read(document["checkpoint"])


def write_tree(path: Path, tree: dict[str, Any]) -> None:
    """Write a checkpoint, as its writer does."""
    from disaggregate.saving.archive import write_archive
    from disaggregate.saving.model import CLASSES
    from disaggregate.saving.tree import Writer

    writer = Writer(CLASSES)
    write_archive(path, {"checkpoint": writer.write(tree)}, writer.arrays, packed=False)


def _nearly_done(tree: dict[str, Any], chains: Sequence[Any]) -> dict[str, Any]:
    """Plan so few draws that those who resume are done after some sweeps; chains of several kernels alternate."""
    found = tree["resume_state"]
    kernels = found.get("kernels", [found])
    for number, planned in enumerate(kernels):
        left = min(chain.n_sweeps - chain.n_done for chain in chains[number :: len(kernels)])
        planned["n_draws"] -= left - _SWEEPS_LEFT
    return tree


class _KnownFit:
    """Reads checkpoints of a fit whose fingerprint is known, or gives out what somebody has forged."""

    def __init__(self, fingerprint: str, tree: dict[str, Any] | None) -> None:
        self._fingerprint, self._tree = fingerprint, tree

    def fingerprint(self, *given: Any) -> str:
        return self._fingerprint

    def read(self, path: Path, fingerprint: str) -> dict[str, Any] | None:
        from disaggregate.saving.checkpoint import read_checkpoint

        if self._tree is None:
            return read_checkpoint(path, fingerprint)
        return {**self._tree, "seed": 0}

    def writer(self, *given: Any) -> Any:
        raise AssertionError("nothing is written here")


@contextmanager
def _what_no_checkpoint_changes(models: dict[Any, Any]) -> Iterator[None]:
    """Compute columns of kernels once, and few draws from the prior."""
    from disaggregate.fitting import dense

    make_model, n_prior = dense.kernel_model, dense.PRIOR_DRAWS

    def known_model(plan: Any, basis: Any, powers: Any, rows: Any = None) -> Any:
        key = id(basis), powers.tobytes()
        if key not in models:
            if len(models) >= _MOST_MODELS:
                models.clear()
            models[key] = make_model(plan, basis, powers, rows)
        return models[key]

    dense.kernel_model, dense.PRIOR_DRAWS = known_model, _PRIOR_DRAWS
    try:
        yield
    finally:
        dense.kernel_model, dense.PRIOR_DRAWS = make_model, n_prior


@contextmanager
def stopped_after(n_batches: int) -> Iterator[None]:
    """Interrupt chains after so many batches in all, as a forged number of draws may have no end."""
    from disaggregate.sampler.chain import SparseChain
    from disaggregate.sampler.dense.chains import DenseChains
    from disaggregate.sampler.ladder import LadderChain

    kinds, left = (SparseChain, DenseChains, LadderChain), [n_batches]
    before = [kind.advance for kind in kinds]
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore interrupts
    one_by_one = threading.Lock()  # two threads must not interrupt twice

    def counted(advance: Callable[[Any], None]) -> Callable[[Any], None]:
        def count(chain: Any) -> None:
            with one_by_one:
                left[0] -= 1
                may_advance, is_over = left[0] >= 0, left[0] == -1
            if may_advance:
                advance(chain)
                return
            if is_over:
                _thread.interrupt_main()
            time.sleep(0.002)

        return count

    for kind, advance in zip(kinds, before, strict=True):
        kind.advance = counted(advance)  # type: ignore[method-assign]
    try:
        yield
    finally:
        for kind, advance in zip(kinds, before, strict=True):
            kind.advance = advance  # type: ignore[method-assign]
        signal.signal(signal.SIGINT, handler)
