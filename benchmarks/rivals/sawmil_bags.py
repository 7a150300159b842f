"""sawmil: sparse multiple-instance learning, sMIL (Bunescu & Mooney, 2007), given only which groups are positive.

A group is positive if it has any positive member. Where all have some, as large groups do, those of at least the
median share are positive; the members of the others then count as negatives, which is wrong of some, but all that
a learner of bags can be given. Its zero divides bags, not individuals, so its scores are turned into the log odds
that suit the shares. The package's other learner of individuals, sAwMIL, needs a commercial solver (0.2.1).
"""

from __future__ import annotations

import logging
from itertools import product

import numpy as np
import pandas as pd

from benchmarks.rivals.bags import Bags, read_bags
from benchmarks.rivals.group_folds import Decide
from benchmarks.rivals.link import fit_link
from benchmarks.rivals.missing import require
from benchmarks.rivals.tuned import TunedRival

SETTINGS = tuple(product(("linear", "rbf"), (1.0, 10.0, 100.0)))
INSTALL = "pip install 'sawmil[osqp]'"


def fit_sawmil(setting: tuple[str, float], X: np.ndarray, shares: pd.Series, groups: np.ndarray) -> Decide:
    """Fit with one kernel and cost."""
    sawmil = require("sawmil", INSTALL)
    require("osqp", INSTALL)
    logging.getLogger("sparse_mil.kernels").setLevel(logging.ERROR)  # it warns that there is nothing to warn of
    name, cost = setting
    kernel = sawmil.Linear() if name == "linear" else sawmil.RBF(gamma=1.0 / X.shape[1])
    bags = read_bags(shares, groups)
    members = [X[bags.place == group] for group in range(len(bags.sizes))]
    model = sawmil.sMIL(C=cost, kernel=kernel, solver="osqp", normalizer="featurespace")
    model.fit(members, np.where(positive_bags(bags), 1.0, -1.0))

    def score(new: np.ndarray) -> np.ndarray:
        return model.decision_function(list(new[:, None, :]))  # each individual is a bag of one

    link = fit_link(score(X), shares, groups)
    return lambda new: link.slope * score(new) + link.offset


def positive_bags(bags: Bags) -> np.ndarray:
    """Tell positive groups from negative ones; both kinds are needed."""
    has_any = bags.share > 0.0
    if has_any.any() and not has_any.all():
        return has_any
    high = bags.share >= np.median(bags.share)
    if not high.all():
        return high
    low = bags.share == bags.share.min()
    return ~low if not low.all() else np.arange(len(low)) % 2 == 0  # any half will do when all are alike


class SawmilBags(TunedRival):
    """Kernel and cost tuned on group error."""

    name = "sawmil sMIL (bags)"
    settings = SETTINGS
    fit_one = staticmethod(fit_sawmil)
