import inspect
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import disaggregate as dg
from disaggregate.settings import check_settings

DEFAULTS = dg.GroupStatsClassifier().get_params()


def test_defaults_are_sound():
    check_settings(DEFAULTS)
    assert set(DEFAULTS) == set(inspect.signature(dg.GroupStatsClassifier).parameters)
    assert len(DEFAULTS) == 19


def test_published_settings_are_those_of_the_paper():
    published = dg.published_settings()
    model = dg.GroupStatsClassifier(**published)
    assert model.prior == dg.SpikeSlab(a=1, b=1, mu=1, nu=1, latent="metropolis")
    assert model.confidence == 1000
    assert (model.n_draws, model.n_burn, model.thin, model.n_replicas) == (1000, 1000, 1, 1)
    assert (model.kernel, model.centers) == ("rbf", "all")
    assert not model.intercept
    check_settings(model.get_params(deep=False))
    published["prior"].a = 7.0
    assert dg.published_settings()["prior"].a == 1.0


GOOD = [
    {"prior": dg.SpikeSlab(a=1e-9, b=1e9, mu=np.float32(1), nu=3)},
    {"kernel_params": {"degree": 2}},
    {"n_burn": 0, "n_draws": 1, "n_chains": np.int64(1), "thin": 7},
    {"confidence": 0},
    {"confidence": np.inf},
    {"confidence": {}},
    {"confidence": {"a": 0, "b": np.inf}},
    {"confidence": pd.Series({"a": 1, "b": 2})},
    {"prior": dg.SpikeSlab(latent="metropolis"), "n_replicas": 1, "intercept": np.False_, "progress": True},
    {"n_replicas": 1},
    {"n_replicas": np.int64(9)},
    {"n_jobs": -1},
    {"n_jobs": np.int64(2)},
    {"executor": ThreadPoolExecutor(1)},
]


@pytest.mark.parametrize("settings", GOOD)
def test_sound_settings_pass(settings):
    assert check_settings({**DEFAULTS, **settings}) is None


BAD = [
    *[(name, value) for name in ("n_chains", "n_draws", "thin") for value in (0, -1, 1.0, "1", None, True)],
    ("n_chains", 2**32 - 1),
    *[("n_burn", value) for value in (-1, 1.5, "1", None, False)],
    *[("n_replicas", value) for value in (0, 1.0, "many", 201, 10**9)],
    *[("confidence", value) for value in (-1, np.nan, "1", None, True, [1, 2], np.array([1.0, 2.0]))],
    *[("prior", value) for value in ("thick", None, ["spike_slab"], np.array(["spike_slab"]), dg.SpikeSlab)],
    *[("kernel_params", value) for value in (3, "degree", {"width": 1.0}, [("degree", 3)])],
    *[(name, value) for name in ("intercept", "progress") for value in (1, "yes", None)],
    *[("n_jobs", value) for value in (0, 1.5, "2", True, [1])],
    *[("executor", value) for value in ("threads", 3)],
]


@pytest.mark.parametrize(("name", "value"), BAD, ids=repr)
def test_unsound_settings_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be .*; got "):
        check_settings({**DEFAULTS, name: value})


BAD_PARTS = [
    *[(name, value) for name in ("a", "b", "mu", "nu") for value in (0, -1, np.inf, np.nan, "1", True)],
    *[(name, value) for name in ("mu", "nu") for value in (1e300, 1e-300)],
    *[(name, None) for name in ("a", "b")],
    *[("latent", value) for value in ("gibbs", None, np.array(["exact", "exact"]))],
]


@pytest.mark.parametrize(("name", "value"), BAD_PARTS, ids=repr)
def test_unsound_parameters_of_priors_are_refused_by_name(name, value):
    for kind in (dg.SpikeSlab, dg.GaussianProcess) if name in ("mu", "nu") else (dg.SpikeSlab,):
        with pytest.raises(ValueError, match=f"^{name} must be .*; got "):
            check_settings({**DEFAULTS, "prior": kind(**{name: value})})


@pytest.mark.parametrize("value", [-1, np.nan, "high", None])
def test_unsound_confidence_of_a_group_is_refused_by_name(value):
    for confidence in ({"a": 1.0, "b": value}, pd.Series({"a": 1.0, "b": value}, dtype=object)):
        with pytest.raises(ValueError, match="confidence of group 'b' must be a number of 0 or more"):
            check_settings({**DEFAULTS, "confidence": confidence})
