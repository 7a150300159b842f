"""milwrap: multiple-instance learning under bounds on the counts, around any classifier; here logistic regression.

The classifier labels all members, labels that break a group's bounds are changed, and it is fitted again; here
both bounds are the reported count.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from benchmarks.rivals.bags import Bags, read_bags
from benchmarks.rivals.group_folds import Decide
from benchmarks.rivals.missing import require
from benchmarks.rivals.tuned import TunedRival

INSTALL = "pip install milwrap"
COSTS = (0.01, 0.1, 1.0, 10.0)


def fit_milwrap(cost: float, X: np.ndarray, shares: pd.Series, groups: np.ndarray) -> Decide:
    """Fit with one inverse penalty."""
    milwrap = require("milwrap", INSTALL)
    bags = read_bags(shares, groups)
    bounds = np.column_stack([bags.sizes - bags.counts, bags.counts])
    if not bounds.any(axis=0).all():  # one class, with which it stops
        return lambda new: np.full(len(new), np.sign(bounds[:, 1].sum() - 0.5))
    members = [np.flatnonzero(bags.place == group) for group in range(len(bags.sizes))]
    learner = milwrap.MilCountBasedMultiClassLearner(LogisticRegression(C=cost, max_iter=1000))
    legacy = np.random.get_state()  # noqa: NPY002  it draws from the global generator
    np.random.seed(0)  # noqa: NPY002
    try:
        classifier, _ = learner.fit(
            [X[rows] for rows in members],
            bounds,
            bounds,
            n_classes=2,
            initial_y=_first_labels(bounds, bags),
            seed=0,
            debug=False,
        )
    finally:
        np.random.set_state(legacy)  # noqa: NPY002
    return classifier.decision_function


def _first_labels(bounds: np.ndarray, bags: Bags) -> list[np.ndarray]:
    """Label whole groups by the rank of their counts, the package's own choice; if all are alike, at random."""
    labels = require("milwrap.countbase", INSTALL).get_order_based_initial_y(bounds, bounds, list(bags.sizes))
    if len(np.unique(np.concatenate(labels))) == 2:
        return labels
    rng = np.random.default_rng(0)
    return [rng.permutation(np.arange(n) < k).astype(int) for n, k in zip(bags.sizes, bags.counts, strict=True)]


class MilwrapCounts(TunedRival):
    """Penalty tuned on group error."""

    name = "milwrap"
    settings = COSTS
    fit_one = staticmethod(fit_milwrap)
