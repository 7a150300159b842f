"""Intercepts of groups integrated out, for several outcomes: against dense quadrature and differences."""

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp

from disaggregate.groups.evidence import Unknown
from disaggregate.groups.outcome_evidence import Counts, Shares
from disaggregate.model.components import make_components
from disaggregate.model.outcome_places import rule_of
from disaggregate.model.outcome_reports import make_outcome_reports
from disaggregate.model.outcomes import contrasts, stacked
from disaggregate.model.priors import half_normal, inverse_gamma
from disaggregate.model.reports import EXACT, NORMAL
from disaggregate.sampler.compiled.outcomes import group_log_likelihoods
from disaggregate.sampler.dense.outcome_places import OutcomePlaces, integrated
from disaggregate.sampler.dense.outcomes import OutcomeLikelihood
from disaggregate.sampler.dense.target import Query, Target
from tests.helpers.outcome_problems import REPORTS_OF_FIVE, grouped

H = contrasts(3)
SMALL = [*REPORTS_OF_FIVE.values(), Unknown()]
LARGE = [
    Counts({"a": 130, "b": 250, "c": 220}),
    Counts({"a": 900, "b": 20, "c": 80}),
    Shares({"a": 0.2, "b": 0.3, "c": 0.5}, 500.0),
]


@pytest.fixture(params=["small", "large"])
def reports(request):
    """Groups of five people with reports of every kind, and groups of three cells of hundreds of people."""
    if request.param == "small":
        return make_outcome_reports(grouped(SMALL, [5] * len(SMALL)))
    people = np.array([200, 300, 100, 500, 300, 200, 150, 250, 400])
    return make_outcome_reports(grouped(LARGE, [3] * len(LARGE), counts=people))


def some_places(reports, rng, deviation=0.5):
    individual = rng.standard_normal((2, reports.offsets[-1]))
    return OutcomePlaces(reports, H, individual, 0.5 * rng.standard_normal((2, len(reports.law))), deviation)


def compiled(places):
    return integrated(places.reports, H, places.individual, places.center.T, places.deviation)


def draw(places, rng):
    center = places.center.T
    return compiled(places).draw(center, places.deviation, rng.standard_normal(center.shape))


def on_a_grid(places, reach=9.0, n=161):
    """Log integral over all groups' offsets, their mean and their covariance, from a dense grid."""
    z = np.linspace(-reach, reach, n)
    grid = np.stack(np.meshgrid(z, z, indexing="ij"), axis=-1).reshape(-1, 2)
    offsets = places.modes.offsets + np.einsum("gab,nb->nga", places.modes.root, grid)
    sizes, center = np.diff(places.reports.offsets), places.center
    value = np.empty((len(grid), len(sizes)))
    scores = places.individual + np.repeat(np.moveaxis(offsets, 2, 1), sizes, axis=2)
    group_log_likelihoods(places.reports, H, np.ascontiguousarray(scores), value)
    value -= 0.5 * np.sum(((offsets - center) / places.deviation) ** 2, axis=2)
    volume = np.linalg.slogdet(places.modes.root)[1] + 2.0 * np.log((z[1] - z[0]) / places.deviation)
    total = logsumexp(value, axis=0)
    chance = np.exp(value - total)
    mean = np.einsum("ng,nga->ga", chance, offsets)
    away = offsets - mean
    return total + volume - np.log(2.0 * np.pi), mean, np.einsum("ng,nga,ngb->gab", chance, away, away)


@pytest.mark.parametrize(("n_contrasts", "degree"), [(2, 7), (3, 5), (4, 5)])
def test_rules_are_exact_to_their_degree(n_contrasts, degree):
    rule, moments = rule_of(n_contrasts), (1.0, 0.0, 1.0, 0.0, 3.0, 0.0, 15.0, 0.0)
    assert (rule.weights > 0.0).all()
    for powers in itertools.product(range(degree + 1), repeat=n_contrasts):
        if sum(powers) <= degree:
            found = rule.weights @ np.prod(rule.nodes ** np.array(powers), axis=1)
            assert found == pytest.approx(np.prod([moments[power] for power in powers]), abs=1e-10)


@pytest.mark.parametrize(("deviation", "tolerance"), [(0.3, 1e-3), (0.8, 0.01)])
def test_integrals_are_those_of_a_dense_grid(reports, deviation, tolerance, rng):
    places = some_places(reports, rng, deviation)
    assert set(reports.law.tolist()) - {0} in ({EXACT}, {NORMAL})
    expected, mean, covariance = on_a_grid(places)
    np.testing.assert_allclose(on_a_grid(places, 8.0, 121)[0], expected, atol=1e-4)
    np.testing.assert_allclose(compiled(places).log_likelihood, expected, atol=tolerance)
    np.testing.assert_allclose(places.gradient().log_likelihood, expected, atol=tolerance)
    drawn = np.stack([draw(places, rng).T for _ in range(400)])
    root = np.linalg.cholesky(covariance)
    z = np.linalg.solve(root, (drawn - mean)[..., None])[..., 0]
    assert np.abs(z.mean(axis=0)).max() < 5.0 / np.sqrt(len(z))
    np.testing.assert_allclose(z.var(axis=0), 1.0, atol=0.4)


@pytest.mark.parametrize(("deviation", "tolerance"), [(0.3, 5e-3), (0.6, 0.05)])
def test_a_large_group_that_tells_one_outcome_of_three(deviation, tolerance, rng):
    """The density lies on a curve, which the rule follows the less the longer it is."""
    data = grouped([Counts({"b": 180})], [3], counts=np.array([200, 300, 100]))
    places = some_places(make_outcome_reports(data), rng, deviation)
    expected = on_a_grid(places, 9.0, 601)[0]
    np.testing.assert_allclose(on_a_grid(places, 9.0, 501)[0], expected, atol=1e-3)
    np.testing.assert_allclose(compiled(places).log_likelihood, expected, atol=tolerance)


def test_a_report_that_says_nothing_leaves_the_prior(rng):
    places = some_places(make_outcome_reports(grouped(SMALL, [5] * len(SMALL))), rng)
    assert compiled(places).log_likelihood[-1] == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(places.modes.root[-1] @ places.modes.root[-1].T, 0.25 * np.eye(2), atol=1e-9)


def test_gradients_are_differences(reports, rng):
    places = some_places(reports, rng)
    found, step = compiled(places), 1e-3

    def value(individual, center, log_scale):
        moved = places.individual + step * individual, places.center.T + step * center
        deviation = places.deviation * np.exp(0.5 * step * log_scale)
        return integrated(reports, H, *moved, deviation).log_likelihood.sum()

    def slope(*change):
        return (value(*change) - value(*(-np.asarray(part) for part in change))) / (2.0 * step)

    toward = rng.standard_normal(places.individual.shape), rng.standard_normal(places.center.T.shape)
    assert slope(toward[0], 0.0, 0.0) == pytest.approx(np.sum(found.by_score * toward[0]), rel=0.01, abs=0.01)
    assert slope(0.0, toward[1], 0.0) == pytest.approx(np.sum(found.by_center * toward[1]), rel=0.01, abs=0.01)
    assert slope(0.0, 0.0, 1.0) == pytest.approx(found.by_scale, rel=0.01, abs=0.01)


def test_information_is_what_is_left_when_normal_offsets_are_integrated_out(reports, rng):
    """The inverse of the curvature of everything, offsets included, has the same block of weights."""
    n_groups, prior = len(reports.law), inverse_gamma(6.0, 8.0)
    columns = rng.standard_normal((2, reports.offsets[-1]))
    one = make_components(
        2, np.ones(2), 0, 1.0, prior, None, prior, n_groups, half_normal(0.4, 0.1), n_groups, False
    )
    likelihood = OutcomeLikelihood(columns, reports)
    integrated = Target(stacked(one, 3), likelihood, np.ones(1))
    position = np.append(0.5 * rng.standard_normal(4), [-0.2, -1.5])
    query, rungs = integrated.query(position[None]), np.zeros(1, dtype=np.int64)
    [found] = likelihood.information(query, rungs)
    places = OutcomePlaces(
        reports, H, likelihood.individual(query)[0], np.zeros((2, n_groups)), float(query.deviation[0])
    )
    there = Query(query.weights, places.modes.offsets.T.reshape(1, -1), np.zeros(1), np.zeros(1))
    [given] = likelihood.information(there, rungs)
    blocks = np.zeros((2, n_groups, 2, n_groups))
    blocks[:, np.arange(n_groups), :, np.arange(n_groups)] = given.group
    group = blocks.reshape(2 * n_groups, 2 * n_groups)
    left = np.linalg.inv(group + np.eye(2 * n_groups) / places.deviation**2)
    np.testing.assert_allclose(found.columns, given.columns - given.cross @ left @ given.cross.T, rtol=1e-6)
    np.testing.assert_allclose(found.cross, given.cross @ (np.eye(2 * n_groups) - left @ group), atol=1e-6)
