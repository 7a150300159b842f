"""A stand-in for fits with counts, which gives every person of a cell a row of their own."""

import numpy as np
import pytest

import disaggregate as dg
from tests.helpers.census import make_census


@pytest.fixture
def fits(monkeypatch):
    """Let fits with counts run on one row per person; list what each fit was given."""
    given = []
    whole = dg.GroupStatsClassifier.fit

    def fit(self, X, y, groups=None, sample_weight=None, **more):
        given.append({"X": X, "y": y, "groups": groups, "sample_weight": sample_weight, **more})
        rows = np.repeat(np.arange(len(X)), more.pop("counts", np.ones(len(X), dtype=int)))
        weights = None if sample_weight is None else sample_weight[rows]
        return whole(self, X[rows], y, [groups[row] for row in rows], weights, **more)

    monkeypatch.setattr(dg.GroupStatsClassifier, "fit", fit)
    return given


@pytest.fixture
def census():
    return make_census()
