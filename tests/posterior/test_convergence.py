"""The diagnostics agree with ArviZ, with known truths, and with their own conventions."""

from zlib import crc32

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.special import ndtri
from scipy.stats import rankdata

from disaggregate.posterior import convergence
from disaggregate.posterior.convergence import bulk_ess, rank_rhat, tail_ess


@pytest.fixture
def rng(request):
    return np.random.default_rng(crc32(request.node.name.encode()))


def autoregressive(rng, rho, shape):
    """AR(1) chains along axis 1, started in their stationary law."""
    noise = rng.normal(size=shape) * np.sqrt(1 - rho**2)
    noise[:, 0] = rng.normal(size=noise[:, 0].shape)
    return lfilter([1.0], [1.0, -rho], noise, axis=1)


def iid_chains(rng, shape):
    return rng.normal(size=shape)


def persistent_chains(rng, shape):
    return autoregressive(rng, 0.9, shape)


def alternating_chains(rng, shape):
    return autoregressive(rng, -0.6, shape)


def integer_chains(rng, shape):
    return rng.poisson(np.exp(0.5 * autoregressive(rng, 0.8, shape)))


def two_valued_chains(rng, shape):
    return autoregressive(rng, 0.7, shape) > 0.4


def rare_event_chains(rng, shape):
    return (autoregressive(rng, 0.5, shape) > 2.2).astype(float)


def disagreeing_chains(rng, shape):
    shift = np.arange(shape[0]).reshape(-1, *[1] * (len(shape) - 1))
    return autoregressive(rng, 0.3, shape) + shift


def drifting_chains(rng, shape):
    time = np.linspace(0, 3, shape[1]).reshape(1, -1, *[1] * (len(shape) - 2))
    return autoregressive(rng, 0.3, shape) + time


def chains_of_different_width(rng, shape):
    width = 1.0 + np.arange(shape[0]).reshape(-1, *[1] * (len(shape) - 1))
    return autoregressive(rng, 0.3, shape) * width


def heavy_tailed_chains(rng, shape):
    return rng.standard_cauchy(size=shape)


KINDS = [
    iid_chains,
    persistent_chains,
    alternating_chains,
    integer_chains,
    two_valued_chains,
    rare_event_chains,
    disagreeing_chains,
    drifting_chains,
    chains_of_different_width,
    heavy_tailed_chains,
]
SHAPES = [(4, 500), (2, 101, 7), (3, 64, 2, 3), (5, 37, 4), (8, 9, 3)]


def never_changes(draws):
    return (draws == draws[:1, :1]).all(axis=(0, 1))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
class TestAgainstArviz:
    @pytest.fixture
    def array_stats(self):
        return pytest.importorskip("arviz_stats.base").array_stats

    @pytest.mark.filterwarnings("ignore::RuntimeWarning")
    def test_rhat(self, array_stats, rng, kind, shape):
        draws = kind(rng, shape)
        expected = array_stats.rhat(draws.astype(float), chain_axis=0, draw_axis=1, method="rank")
        expected = np.where(never_changes(draws), 1.0, expected)
        np.testing.assert_allclose(rank_rhat(draws), expected, rtol=1e-10)

    def test_bulk_ess(self, array_stats, rng, kind, shape):
        draws = kind(rng, shape)
        expected = array_stats.ess(draws.astype(float), chain_axis=0, draw_axis=1, method="bulk")
        expected = np.where(never_changes(draws), shape[0] * shape[1], expected)
        np.testing.assert_allclose(bulk_ess(draws), expected, rtol=1e-8)

    def test_tail_ess(self, array_stats, rng, kind, shape):
        draws = kind(rng, shape)
        expected = array_stats.ess(
            draws.astype(float), chain_axis=0, draw_axis=1, method="tail", prob=(0.05, 0.95)
        )
        expected = np.where(never_changes(draws), shape[0] * shape[1], expected)
        np.testing.assert_allclose(tail_ess(draws), expected, rtol=1e-8)


@pytest.mark.parametrize("n_draws", range(4, 20))
def test_short_chains_agree_with_arviz(rng, n_draws):
    array_stats = pytest.importorskip("arviz_stats.base").array_stats
    draws = autoregressive(rng, 0.4, (3, n_draws, 20))
    axes = {"chain_axis": 0, "draw_axis": 1}
    np.testing.assert_allclose(rank_rhat(draws), array_stats.rhat(draws, method="rank", **axes), rtol=1e-10)
    np.testing.assert_allclose(bulk_ess(draws), array_stats.ess(draws, method="bulk", **axes), rtol=1e-8)
    tail = array_stats.ess(draws, method="tail", prob=(0.05, 0.95), **axes)
    np.testing.assert_allclose(tail_ess(draws), tail, rtol=1e-8)


def test_one_chain_is_split(rng):
    draws = np.cumsum(rng.normal(size=(1, 301)), axis=1)
    halves = np.stack([draws[0, :150], draws[0, -150:]])

    def split_rhat(values):
        scores = ndtri((rankdata(values) - 3 / 8) / (values.size + 1 / 4)).reshape(values.shape)
        between, within = scores.mean(axis=1).var(ddof=1), scores.var(axis=1, ddof=1).mean()
        return np.sqrt(between / within + 149 / 150)

    expected = max(split_rhat(halves), split_rhat(np.abs(halves - np.median(halves))))
    assert rank_rhat(draws) == pytest.approx(expected, rel=1e-12)
    assert rank_rhat(draws) > 1.1


@pytest.mark.parametrize(("effective_size", "tolerance"), [(bulk_ess, 0.03), (tail_ess, 0.06)])
def test_independent_draws_count_fully(rng, effective_size, tolerance):
    ess = effective_size(rng.normal(size=(4, 1000, 200)))
    assert ess.mean() == pytest.approx(4000, rel=tolerance)
    assert ess.std() < 400


@pytest.mark.parametrize("rho", [0.3, 0.8, 0.95])
def test_bulk_ess_of_autoregression_is_the_known_share(rng, rho):
    n_chains, n_draws = 4, 4000
    ess = bulk_ess(autoregressive(rng, rho, (n_chains, n_draws, 60)))
    assert ess.mean() / (n_chains * n_draws) == pytest.approx((1 - rho) / (1 + rho), rel=0.05)


def test_converged_chains_have_rhat_near_one(rng):
    rhat = rank_rhat(autoregressive(rng, 0.5, (4, 1000, 100)))
    assert rhat.max() < 1.02
    assert rhat.min() > 0.999


def test_disagreement_in_place_and_in_width_are_both_seen(rng):
    draws = rng.normal(size=(4, 1000, 2))
    draws[0, :, 0] += 1.0
    draws[0, :, 1] *= 3.0
    assert (rank_rhat(draws) > 1.05).all()


def test_nothing_depends_on_a_monotone_transform_or_on_the_order_of_chains(rng):
    draws = autoregressive(rng, 0.6, (4, 200, 10))
    for statistic in (bulk_ess, tail_ess):
        np.testing.assert_allclose(statistic(np.exp(draws)), statistic(draws), rtol=1e-10)
    for statistic in (rank_rhat, bulk_ess, tail_ess):
        np.testing.assert_allclose(statistic(draws[::-1]), statistic(draws), rtol=1e-10)


def test_a_variable_that_never_changes(rng):
    draws = np.full((4, 25), 0.1)
    assert rank_rhat(draws) == 1.0
    assert bulk_ess(draws) == 100
    assert tail_ess(draws) == 100


def test_a_change_in_the_middle_draw_alone():
    draws = np.zeros((2, 25))
    draws[0, 12] = 1.0
    assert rank_rhat(draws) == 1.0
    assert bulk_ess(draws) == 48


def test_chains_that_never_move_but_differ():
    draws = np.repeat([[0.1], [0.1], [0.3]], 25, axis=1)
    assert rank_rhat(draws) == np.inf
    assert bulk_ess(draws) == 3
    assert tail_ess(draws) == 3


def test_half_chains_that_never_move_but_differ():
    draws = np.repeat([[0.1, 0.3]] * 3, 12, axis=1)
    assert rank_rhat(draws) == np.inf
    assert bulk_ess(draws) < 7
    assert tail_ess(draws) < 7


def test_constant_neighbours_do_not_disturb_a_variable(rng):
    moving = rng.normal(size=(4, 50))
    draws = np.stack([np.ones((4, 50)), moving, np.tile(np.arange(4.0)[:, None], 50)], axis=2)
    for statistic in (rank_rhat, bulk_ess, tail_ess):
        assert statistic(draws)[1] == statistic(moving)


@pytest.mark.parametrize("statistic", [rank_rhat, bulk_ess, tail_ess])
class TestConventions:
    def test_shapes_follow_the_variables(self, rng, statistic):
        assert statistic(rng.normal(size=(4, 10))).shape == ()
        assert statistic(rng.normal(size=(4, 10, 3))).shape == (3,)
        assert statistic(rng.normal(size=(4, 10, 3, 2))).shape == (3, 2)
        assert statistic(rng.normal(size=(4, 10, 0))).shape == (0,)

    def test_three_draws_are_too_few(self, rng, statistic):
        assert np.isnan(statistic(rng.normal(size=(4, 3, 2)))).all()
        assert np.isfinite(statistic(rng.normal(size=(4, 4, 2)))).all()

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_a_draw_that_is_not_finite_spoils_its_own_variable_only(self, rng, statistic, bad):
        draws = rng.normal(size=(4, 20, 2))
        draws[1, 3, 0] = bad
        values = statistic(draws)
        assert np.isnan(values[0])
        assert np.isfinite(values[1])

    def test_chunks_leave_no_trace(self, rng, statistic, monkeypatch):
        draws = integer_chains(rng, (4, 30, 11))
        whole = statistic(draws)
        monkeypatch.setattr(convergence, "CHUNK_DRAWS", 3 * 4 * 30)
        np.testing.assert_array_equal(statistic(draws), whole)

    def test_draws_are_left_as_they_were(self, rng, statistic):
        draws = rng.normal(size=(2, 20, 3))
        before = draws.copy()
        statistic(draws)
        np.testing.assert_array_equal(draws, before)

    def test_a_flat_array_is_refused_with_advice(self, statistic):
        with pytest.raises(ValueError, match="newaxis"):
            statistic(np.arange(10.0))
