"""Data and fits that are small enough for a test."""

from contextlib import nullcontext
from numbers import Real
from typing import NamedTuple

import numpy as np
import pytest

from disaggregate import GroupStatsClassifier, SpikeSlab
from disaggregate.groups.evidence import Population
from disaggregate.settings import is_sparse
from tests.helpers.partitions import use_small_partitions

GROUPS = np.array(["B", "A", "C", "B", "A", "A", "C", "B", "B", "A", "C", "C", "A", "D", "B"])
SHARES = {"A": 0.73, "B": 0.25, "C": 0.5, "D": 0.9}


# The three kinds of sweep, and the settings that choose them.
MOVES = {
    "dense": {"prior": "gaussian_process"},
    "sparse": {"prior": "spike_slab"},
    "published": {"prior": SpikeSlab(latent="metropolis")},
}


class Kind(NamedTuple):
    """A kind of fit: its settings, and what its data are."""

    settings: dict
    in_partitions: bool = False
    of_samples: bool = False
    of_cells: bool = False

    @property
    def is_dense(self):
        return not is_sparse(self.settings)

    def reports(self, shares):
        """Plain shares as reports on populations, where rows are samples of them."""
        if not self.of_samples:
            return shares
        return {name: Population(share) if isinstance(share, Real) else share for name, share in shares.items()}

    def counts(self, n_rows):
        """How many people each row stands for, where rows are cells."""
        return 1 + np.arange(n_rows) % 3 if self.of_cells else None

    def partitions(self):
        """A context in which small data are cut into partitions too, if this kind is."""
        return _SmallPartitions() if self.in_partitions else nullcontext()


class _SmallPartitions:
    def __enter__(self):
        self._patch = pytest.MonkeyPatch()
        use_small_partitions(self._patch, 5)

    def __exit__(self, *error):
        self._patch.undo()


# Every kind of fit that goes its own way somewhere.
KINDS = {
    "dense": Kind({}),
    "partitions": Kind({}, in_partitions=True),
    "group effects": Kind({"group_effects": True}),
    "context": Kind({"context": True}),
    "population": Kind({}, of_samples=True),
    "counts": Kind({}, of_cells=True),
    "sparse": Kind(MOVES["sparse"]),
    "sparse ladder": Kind({"prior": "spike_slab", "n_replicas": 4}),
    "published": Kind(MOVES["published"]),
}


def small_model(moves="dense", **settings):
    """A classifier that fits in a few milliseconds."""
    small = {"n_chains": 2, "n_draws": 50, "n_burn": 20, "n_jobs": 1, "random_state": 0}
    small |= {"kernel": "rbf", "gamma": "scale"}  # one kernel, so that there are none to compare
    return GroupStatsClassifier(**{**small, **MOVES[moves], **settings})


def small_fit(kind, X, shares, groups, how=None, **settings):
    """Fit a small model of some kind."""
    own = KINDS[kind]
    model = small_model(**{**own.settings, **settings})
    with own.partitions():
        return model.fit(X, own.reports(shares), groups=groups, counts=own.counts(len(X)), **(how or {}))


def small_features(n=15, n_features=2, seed=0):
    """Features of a few individuals."""
    return np.random.default_rng(seed).normal(size=(n, n_features))
