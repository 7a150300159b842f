"""Settings of release 0.1: accepted with a warning that says what to write, and the same fit as before."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold

import disaggregate as dg
from disaggregate.settings import OLD_NAMES, with_new_names, with_old_names
from disaggregate.settings.published import settings_of_tables

# As release 0.1 had them, with what stands for them today.
SAME = {
    "dense": ({"weights": "dense"}, {}),
    "sparse": ({"weights": "sparse"}, {"prior": "spike_slab"}),
    "a scale": ({"mu": 2.0, "nu": 4.0}, {"prior": dg.GaussianProcess(mu=2.0, nu=4.0)}),
    "an emphasis": ({"emphasis": 1.0}, {"prior": dg.GaussianProcess(emphasis=1.0)}),
    "a share": ({"weights": "sparse", "a": 2.0, "b": 9.0}, {"prior": dg.SpikeSlab(a=2.0, b=9.0)}),
    "the moves of 2005": (
        {"weights": "sparse", "latent": "metropolis", "mu": 1.0},
        {"prior": dg.SpikeSlab(latent="metropolis", mu=1.0)},
    ),
    "what dense weights never used": ({"a": 2.0, "b": 9.0, "latent": "exact"}, {}),
    "what sparse weights never used": ({"weights": "sparse", "emphasis": 2.0}, {"prior": "spike_slab"}),
    "a kernel": ({"degree": 2, "coef0": 0.5}, {"kernel_params": {"degree": 2, "coef0": 0.5}}),
    "one of two": ({"degree": 2}, {"kernel_params": {"degree": 2}}),
    "the usual kernel": ({"degree": 3, "coef0": 1.0}, {}),
    "something of a prior": (
        {"prior": dg.GaussianProcess(emphasis=1.0), "mu": 2.0},
        {"prior": dg.GaussianProcess(emphasis=1.0, mu=2.0)},
    ),
}


def params(model):
    return model.get_params(deep=False)


@pytest.mark.parametrize(("old", "new"), SAME.values(), ids=SAME)
def test_old_arguments_are_taken_with_a_warning(old, new):
    with pytest.warns(FutureWarning, match="no longer an argument of the classifier"):
        made = dg.GroupStatsClassifier(**old)
    assert params(made) == params(dg.GroupStatsClassifier(**new))


@pytest.mark.parametrize(("old", "new"), SAME.values(), ids=SAME)
def test_so_are_they_by_set_params(old, new):
    made = dg.GroupStatsClassifier(**({"prior": old["prior"]} if "prior" in old else {}))
    with pytest.warns(FutureWarning):
        made.set_params(**{name: value for name, value in old.items() if name != "prior"})
    assert params(made) == params(dg.GroupStatsClassifier(**new))


def test_the_warning_says_what_to_write():
    with pytest.warns(FutureWarning, match=r"weights, mu.*write prior=SpikeSlab\(mu=1.0\)"):
        dg.GroupStatsClassifier(weights="sparse", mu=1.0)
    with pytest.warns(FutureWarning, match="weights, latent.*leave them out"):
        dg.GroupStatsClassifier(weights="dense", latent="exact")


def test_the_settings_of_today_are_taken_in_silence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = dg.GroupStatsClassifier(prior=dg.SpikeSlab(a=2.0), kernel_params={"degree": 2})
        twin = clone(model).set_params(prior__b=3.0)
    assert twin.prior == dg.SpikeSlab(a=2.0, b=3.0)
    assert model.prior == dg.SpikeSlab(a=2.0), "clones must not share a prior"


def test_unknown_arguments_are_refused_by_name():
    with pytest.raises(TypeError, match="unexpected keyword argument 'wieghts'"):
        dg.GroupStatsClassifier(wieghts="sparse")
    with pytest.raises(ValueError, match="Invalid parameter 'wieghts'"):
        dg.GroupStatsClassifier().set_params(wieghts="sparse")


def test_the_moves_of_2005_need_their_prior():
    with pytest.raises(ValueError, match=r"metropolis.*spike_slab"):
        dg.GroupStatsClassifier(latent="metropolis")


UNUSED = ({"a": 0.0}, {"b": -1.0}, {"latent": "gibbs"}, {"weights": "sparse", "emphasis": -1.0})


@pytest.mark.parametrize("old", UNUSED, ids=repr)
def test_bad_values_are_refused_even_where_the_prior_does_not_use_them(old):
    *_, name = old
    with pytest.raises(ValueError, match=rf"^{name} must be"):
        dg.GroupStatsClassifier(**old)


@pytest.mark.parametrize("name", OLD_NAMES)
def test_old_attributes_are_read_and_set_with_a_warning(name):
    value = {"weights": "sparse", "latent": "exact", "emphasis": "auto"}.get(name, 2.0)
    model = dg.GroupStatsClassifier(prior=dg.SpikeSlab())
    with pytest.warns(FutureWarning):
        setattr(model, name, value)
    with pytest.warns(FutureWarning):
        assert getattr(model, name) == value


def test_parameters_of_a_prior_can_be_searched():
    rng = np.random.default_rng(0)
    districts = np.repeat(np.arange(4), 6)
    short = {"n_chains": 2, "n_draws": 5, "n_burn": 5, "n_replicas": 1, "kernel": "linear", "random_state": 0}
    grid = {"prior__nu": [1.0, 20.0]}
    search = GridSearchCV(
        dg.GroupStatsClassifier(**short), grid, cv=GroupKFold(2), refit=False, error_score="raise"
    )
    target = dg.group_target(districts, {0: 0.1, 1: 0.4, 2: 0.6, 3: 0.9})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(rng.normal(size=(24, 2)), target, groups=districts)
    assert search.best_params_["prior__nu"] in (1.0, 20.0)


@pytest.mark.parametrize("new", [{}, *(new for _, new in SAME.values())], ids=repr)
def test_files_keep_the_old_names(new):
    """What is written to files and fingerprints has every old name, and leads back to the same settings."""
    settings = params(dg.GroupStatsClassifier(**new))
    saved = with_old_names(settings)
    assert set(saved) == {*settings, *OLD_NAMES} - {"prior", "kernel_params"}
    assert with_old_names({**settings, **with_new_names(saved)}) == saved


def test_a_prior_and_its_name_are_the_same_fit():
    names, objects = (
        with_old_names(params(dg.GroupStatsClassifier(prior=prior))) for prior in ("spike_slab", dg.SpikeSlab())
    )
    assert names == objects


def test_tables_take_groups_for_places_unless_a_prior_says_otherwise():
    of_places = dg.GaussianProcess(emphasis=1.0, cells=True)
    assert settings_of_tables({}) == {"context": "auto", "prior": of_places}
    assert settings_of_tables({"prior": "gaussian_process"})["prior"] == of_places
    assert settings_of_tables({"prior": dg.GaussianProcess()})["prior"] == dg.GaussianProcess()
    assert settings_of_tables({"prior": "spike_slab"}) == {"prior": "spike_slab"}
    assert settings_of_tables({"weights": "sparse"}) == {"weights": "sparse"}
    with pytest.warns(FutureWarning):
        made = dg.GroupStatsClassifier(**settings_of_tables({"mu": 2.0}))
    assert made.prior == dg.GaussianProcess(emphasis=1.0, mu=2.0, cells=True)
