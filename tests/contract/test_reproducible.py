"""The same seed gives the same bits, wherever and however the chains run."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from tests.helpers.short_pilots import shorten_for_good
from tests.helpers.small import GROUPS, KINDS, SHARES, small_features, small_fit, small_model

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X = small_features()
EACH_KIND = pytest.mark.parametrize("kind", list(KINDS))


def fit(kind="dense", **settings):
    return small_fit(kind, X, SHARES, GROUPS, **settings)


def as_array(weights):
    return weights if isinstance(weights, np.ndarray) else weights.toarray()


def assert_same_draws(one, other):
    assert_array_equal(one.posterior_.delta2, other.posterior_.delta2)
    assert_array_equal(one.posterior_.n_active, other.posterior_.n_active)
    for part, twin in zip(one.posterior_.parts, other.posterior_.parts, strict=True):
        assert_array_equal(as_array(part.weights), as_array(twin.weights))
        if part.places is not None:
            assert_array_equal(part.places, twin.places)
    for name, scale in one.posterior_.scales.items():
        assert_array_equal(scale, other.posterior_.scales[name])
    assert_array_equal(one.label_proba_, other.label_proba_)
    assert_array_equal(one.predict_proba(X, GROUPS), other.predict_proba(X, GROUPS))
    assert one.group_table().equals(other.group_table())
    assert one.diagnostics_.verdict == other.diagnostics_.verdict


@EACH_KIND
def test_draws_do_not_depend_on_the_number_of_threads(kind):
    one = fit(kind, n_chains=3, n_jobs=1)
    for n_jobs in (2, 4, -1, None) if kind in ("dense", "partitions", "sparse") else (2,):
        assert_same_draws(fit(kind, n_chains=3, n_jobs=n_jobs), one)


@EACH_KIND
def test_draws_do_not_depend_on_a_pool_of_threads(kind):
    with ThreadPoolExecutor(2) as pool:
        assert_same_draws(fit(kind, executor=pool), fit(kind))


def test_draws_do_not_depend_on_a_pool_of_processes():
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn, initializer=shorten_for_good) as pool:
        for kind in KINDS:
            assert_same_draws(fit(kind, executor=pool, n_draws=20), fit(kind, n_draws=20))


def test_progress_changes_nothing(capsys):
    assert_same_draws(fit(progress=True), fit())
    assert "sampling" in (line := capsys.readouterr().err)
    assert line.count("100%") == 1


@EACH_KIND
def test_a_chain_does_not_depend_on_how_many_others_there_are(kind):
    few, many = fit(kind, n_chains=1), fit(kind, n_chains=3)
    # Chains on partitions move in lock step, and products with more rows round otherwise.
    rtol = 1e-6 if KINDS[kind].in_partitions else 0.0
    assert_allclose(many.posterior_.delta2[:1], few.posterior_.delta2, rtol=rtol)
    assert_allclose(many.predict_draws(X)[:1], few.predict_draws(X), rtol=rtol)
    assert not np.array_equal(many.posterior_.delta2[0], many.posterior_.delta2[1])


@EACH_KIND
def test_burn_in_and_thinning_do_not_change_the_draws_that_remain(kind):
    every = fit(kind, n_burn=0, n_draws=75)
    for n_burn, thin in ((20, 1), (51, 4)):
        assert_thinned(every, fit(kind, n_burn=n_burn, thin=thin, n_draws=6), n_burn, thin)


def assert_thinned(every, some, n_burn, thin):
    kept = slice(n_burn + thin - 1, n_burn + 6 * thin, thin)
    assert_array_equal(some.posterior_.delta2, every.posterior_.delta2[:, kept])
    assert_array_equal(some.posterior_.n_active, every.posterior_.n_active[:, kept])
    # Which kernels were ever active differs, and with it the order in which a product is summed.
    assert_allclose(some.predict_draws(X), every.predict_draws(X)[:, kept], rtol=1e-9, atol=1e-300)


def test_a_second_fit_starts_anew():
    model = fit()
    first = model.label_proba_
    assert_array_equal(model.fit(X, SHARES, groups=GROUPS).label_proba_, first)


def test_different_seeds_differ():
    assert not np.array_equal(fit(random_state=0).posterior_.delta2, fit(random_state=1).posterior_.delta2)
    assert not np.array_equal(fit(random_state=None).posterior_.delta2, fit(random_state=None).posterior_.delta2)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState, np.int64])
def test_seeds_of_every_kind(make, seed):
    seed %= 2**31
    assert_same_draws(fit(random_state=make(seed)), fit(random_state=make(seed)))
    assert not np.array_equal(
        fit(random_state=make(seed)).posterior_.delta2, fit(random_state=make(seed + 1)).posterior_.delta2
    )


def test_a_generator_moves_on_between_fits():
    generator = np.random.default_rng(0)
    assert not np.array_equal(
        fit(random_state=generator).posterior_.delta2, fit(random_state=generator).posterior_.delta2
    )


def test_landmarks_follow_the_seed():
    assert_array_equal(
        fit(centers=5).posterior_.parts[0].basis.centers,
        fit(centers=5, n_chains=1).posterior_.parts[0].basis.centers,
    )
    one, other = (fit(centers=5, random_state=seed).posterior_.parts[0].basis.centers for seed in (0, 1))
    assert not np.array_equal(one, other)


def test_the_draws_do_not_depend_on_the_threads_of_the_linear_algebra(rng):
    crowd = rng.standard_normal((700, 4))
    groups, shares = np.arange(700) % 7, {group: 0.1 + 0.1 * group for group in range(7)}
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(limits=n_threads, user_api="blas"):
            model = small_model(n_draws=3, n_burn=2, n_replicas=1).fit(crowd, shares, groups=groups)
        found.append(model.posterior_.delta2)
    assert_array_equal(*found)
