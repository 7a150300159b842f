"""Data and fits that are small enough for a test."""

import numpy as np

from disaggregate import GroupStatsClassifier

GROUPS = np.array(["B", "A", "C", "B", "A", "A", "C", "B", "B", "A", "C", "C", "A", "D", "B"])
SHARES = {"A": 0.73, "B": 0.25, "C": 0.5, "D": 0.9}


# The three kinds of sweep, and the settings that choose them.
MOVES = {
    "dense": {"weights": "dense"},
    "sparse": {"weights": "sparse"},
    "published": {"weights": "sparse", "latent": "metropolis"},
}


def small_model(moves="dense", **settings):
    """A classifier that fits in a few milliseconds."""
    small = {"n_chains": 2, "n_draws": 50, "n_burn": 20, "n_jobs": 1, "random_state": 0}
    small |= {"kernel": "rbf", "gamma": "scale"}  # one kernel, so that there are none to compare
    return GroupStatsClassifier(**{**small, **MOVES[moves], **settings})


def small_features(n=15, n_features=2, seed=0):
    """Features of a few individuals."""
    return np.random.default_rng(seed).normal(size=(n, n_features))
