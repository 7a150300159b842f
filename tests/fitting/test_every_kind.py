"""Every kind of fit is resumed to the very draws of an uninterrupted one."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from disaggregate.sampler.dense.chains import DenseChains
from disaggregate.sampler.dense.whole import WholeData
from tests.helpers.interrupted_fits import Killed, killed_after
from tests.helpers.small import GROUPS, KINDS, SHARES, small_features, small_fit

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X = small_features()
DENSE = [kind for kind, own in KINDS.items() if own.is_dense]


# Whose sweeps take milliseconds: there is time for several checkpoints in a few of them.
SLOW = ("partitions", "group effects", "population", "counts")


@pytest.fixture(autouse=True)
def small_batches(request, monkeypatch):
    if request.getfixturevalue("kind") in SLOW:
        monkeypatch.setattr(WholeData, "sweeps_per_batch", 5)


def fit(kind, how=None, **settings):
    length = {"n_draws": 40 if kind in SLOW else 600, "n_replicas": 1}
    return small_fit(kind, X, SHARES, GROUPS, how, **{**length, **settings})


@cache
def uninterrupted(kind):
    """What several tests are held against."""
    return fit(kind)


def assert_same(one, other):
    assert_array_equal(one.predict_draws(X, GROUPS), other.predict_draws(X, GROUPS))
    assert_array_equal(one.predict_draws(X), other.predict_draws(X))
    assert_array_equal(one.label_proba_, other.label_proba_)
    for name, scale in one.posterior_.scales.items():
        assert_array_equal(scale, other.posterior_.scales[name])
    assert one.group_table().equals(other.group_table())


@pytest.mark.parametrize("kind", DENSE)
@pytest.mark.parametrize("n_writes", [1, 3])
def test_a_killed_fit_is_resumed(kind, n_writes, tmp_path, monkeypatch):
    whole, how = uninterrupted(kind), {"checkpoint": tmp_path / "run.dgc"}
    with monkeypatch.context() as patch:
        killed_after(n_writes, patch)
        with pytest.raises(Killed):
            fit(kind, how)
    for _ in range(2):  # from where it was killed, and from its end
        assert_same(fit(kind, how | {"resume": True}), whole)


@pytest.mark.parametrize("kind", ["group effects", "population", "counts"])
def test_other_counts_populations_and_effects_are_another_fit(kind, tmp_path):
    how = {"checkpoint": tmp_path / "run.dgc"}
    fit(kind, how, n_draws=10)
    how["resume"] = True
    with pytest.raises(ValueError, match="belongs to another fit"):
        fit("dense", how, n_draws=10)
    with pytest.raises(ValueError, match="belongs to another fit"):
        fit(kind, how, n_draws=10, group_effects=False)


@pytest.mark.parametrize("kind", ["dense", "partitions", "group effects"])
def test_draws_of_a_folder_are_those_in_memory(kind, tmp_path):
    assert_same(fit(kind, {"draws_to": tmp_path / "draws"}, n_draws=30), fit(kind, n_draws=30))
    names = {path.name for path in (tmp_path / "draws").glob("*.npy")}
    assert any("weights" in name for name in names)
    assert any("places" in name for name in names) == (kind == "group effects")


@pytest.mark.parametrize("kind", ["dense", "partitions"])
def test_thinning_keeps_as_many_log_ratios_as_draws(kind, monkeypatch):
    real, found = DenseChains.draws, []

    def draws(self):
        found.extend(real(self))
        return found

    monkeypatch.setattr(DenseChains, "draws", draws)
    model = small_fit(kind, X, SHARES, GROUPS, n_draws=9, n_burn=5, thin=7, n_replicas=3, n_chains=1)
    assert model.posterior_.shape == (1, 9)
    assert [(own.n_draws, own.log_ratios.shape) for own in found] == [(9, (9, 2, 2))]
    assert np.isfinite(found[0].log_ratios).all()
    assert np.isfinite(model.log_evidence_.value)
