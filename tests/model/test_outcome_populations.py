"""The shares of several outcomes in a population of which rows are a sample: law, limits and gradient."""

import numpy as np
import pytest
from scipy.special import ndtri

from disaggregate.groups.evidence import Population, Unknown
from disaggregate.groups.outcome_evidence import Counts, PopulationShares
from disaggregate.groups.outcomes import group_outcomes
from disaggregate.model import outcome_populations
from disaggregate.model.outcome_populations import (
    make_outcome_samples,
    mean_slopes,
    outcome_share_gradient,
    outcome_share_law,
)
from disaggregate.model.outcomes import logits_of, probabilities_of
from disaggregate.model.populations import share_gradient, variance_ratio
from disaggregate.model.reports import make_reports
from tests.helpers.dense_problems import grouped as grouped_of_two

THREE = ("a", "b", "c")
FOUR = ("a", "b", "c", "d")
REPORTS = {
    "all reported": (
        THREE,
        [{"a": 0.2, "b": 0.5, "c": 0.3}, {"a": 0.1, "b": 0.1, "c": 0.8}, {"a": 0.4, "b": 0.35, "c": 0.25}],
    ),
    "some reported": (FOUR, [{"a": 0.2, "b": 0.5}, {"c": 0.3}, {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}]),
}  # fmt: skip
SIZES = [5, 3, 6]


def samples_of(outcomes, shares, sizes=SIZES, population=None, **given):
    evidence = {j: PopulationShares(own, population) for j, own in enumerate(shares)}
    ids = np.repeat(np.arange(len(sizes)), sizes).tolist()
    return make_outcome_samples(group_outcomes(ids, evidence, outcomes, **given))


def random_parts(rng, samples, n_outcomes):
    n_scores = n_outcomes - 1
    individual = rng.standard_normal((n_scores, int(samples.offsets[-1])))
    return individual, 0.5 * rng.standard_normal((n_scores, len(samples.sizes)))


def cases(rng):
    for name, (outcomes, shares) in REPORTS.items():
        for size in (None, 40):
            for weights in (None, rng.uniform(0.5, 3.0, sum(SIZES))):
                yield name, outcomes, samples_of(outcomes, shares, population=size, weights=weights)


def test_gradient(rng):
    h = 1e-6
    for name, outcomes, samples in cases(rng):
        for error in (-1.0, 0.6):
            u, o = random_parts(rng, samples, len(outcomes))

            def value(u, o, z, samples=samples):
                return outcome_share_gradient(samples, u, o, z).log_density.sum()

            found = outcome_share_gradient(samples, u, o, error)
            for part, slopes in ((0, found.individual), (1, found.group)):
                for index in np.ndindex(slopes.shape):
                    move = np.zeros_like(slopes)
                    move[index] = h
                    up = value(*(x + move if k == part else x for k, x in enumerate((u, o))), error)
                    down = value(*(x - move if k == part else x for k, x in enumerate((u, o))), error)
                    assert slopes[index] == pytest.approx((up - down) / (2 * h), rel=2e-4, abs=2e-4), (name, part)
            expected = (value(u, o, error + h) - value(u, o, error - h)) / (2 * h)
            assert found.error == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_slopes_of_the_means(rng):
    h = 1e-6
    for _, outcomes, samples in cases(rng):
        u, o = random_parts(rng, samples, len(outcomes))

        def means(u, o, z, samples=samples):
            mean, _ = outcome_share_law(samples, u, o, z)
            return np.einsum("gkc,gk->gc", samples.indicator, mean)

        slopes = mean_slopes(samples, u, o, 0.3)
        for index in [(0, 0), (1, 7), (0, 13)]:
            move = np.zeros_like(u)
            move[index] = h
            expected = (means(u + move, o, 0.3) - means(u - move, o, 0.3)) / (2 * h)
            np.testing.assert_allclose([own.rows[:, *index] for own in slopes], expected, atol=1e-6)
        for j, own in enumerate(slopes):
            move = np.zeros_like(o)
            move[1, j] = h
            expected = (means(u, o + move, 0.3) - means(u, o - move, 0.3)) / (2 * h)
            np.testing.assert_allclose(own.group[:, 1], expected[j], atol=1e-6)
        expected = (means(u, o, 0.3 + h) - means(u, o, 0.3 - h)) / (2 * h)
        np.testing.assert_allclose([own.error for own in slopes], expected, atol=1e-6)


def test_two_outcomes_have_the_law_of_one_share(rng):
    shares, n = [0.3, 0.6, 0.45], sum(SIZES)
    weights = rng.uniform(0.5, 2.0, n)
    of_two = make_reports(grouped_of_two([Population(share, 90) for share in shares], SIZES, weights=weights))
    samples = samples_of((0, 1), [{0: 1.0 - s, 1: s} for s in shares], population=90, weights=weights)
    scores, nowhere = rng.standard_normal((1, n)), np.zeros((1, 3))
    p = probabilities_of(logits_of(scores.T))[:, 1]
    ratio = variance_ratio(of_two, ndtri(p), 0.4)
    expected = [share_gradient(of_two, j, ndtri(p), 0.0, ratio).log_density for j in range(3)]
    np.testing.assert_allclose(outcome_share_gradient(samples, scores, nowhere, 0.4).log_density, expected)


def test_log_density_is_that_of_a_normal_vector(rng):
    from scipy.stats import multivariate_normal

    outcomes, shares = REPORTS["all reported"]
    samples = samples_of(outcomes, shares, population=500)
    u, o = random_parts(rng, samples, 3)
    law = outcome_populations._law(samples, u, o, 0.2)
    found = outcome_share_gradient(samples, u, o, 0.2).log_density
    for j, own in enumerate(shares):
        free = [k for k, name in enumerate(outcomes) if name != max(own, key=own.get)]
        noise = outcome_populations.SHARE_ERROR**2 * 3**0.5 * (np.eye(3) - 1 / 3)
        covariance = (law.covariance[j] + noise)[np.ix_(free, free)]
        expected = multivariate_normal(law.mean[j, free], covariance).logpdf([own[outcomes[k]] for k in free])
        assert found[j] == pytest.approx(expected)


def test_whichever_outcome_is_left_out_the_density_is_the_same(rng, monkeypatch):
    outcomes, shares = REPORTS["all reported"]
    samples = samples_of(outcomes, shares)
    u, o = random_parts(rng, samples, 3)
    expected = outcome_share_gradient(samples, u, o, 0.0).log_density

    def as_it_was(category, reported, width):
        return category, np.arange(width)

    monkeypatch.setattr(outcome_populations, "largest_last", as_it_was)
    other = outcome_share_gradient(samples_of(outcomes, shares), u, o, 0.0).log_density
    np.testing.assert_allclose(other, expected)


def test_a_sample_of_everybody_leaves_no_doubt_about_composition(rng):
    samples = samples_of(THREE, REPORTS["all reported"][1][:1], [6], population=6)
    u, o = random_parts(rng, samples, 3)
    p = probabilities_of(logits_of((u + o).T))
    mean, variance = outcome_share_law(samples, u, o, 0.0)
    np.testing.assert_allclose(mean[0], p.mean(axis=0))
    np.testing.assert_allclose(variance[0], mean[0] * (1 - mean[0]) / 6, atol=1e-6)


def test_a_pool_of_some_rows_is_near_that_of_all(rng, monkeypatch):
    n_groups, size = 40, 60
    shares = [{"a": 0.2, "b": 0.5, "c": 0.3}] * n_groups
    whole = samples_of(THREE, shares, [size] * n_groups)
    monkeypatch.setattr(outcome_populations, "LARGEST_POOL", 1000)
    part = samples_of(THREE, shares, [size] * n_groups)
    assert len(part.pool) == 1000 < len(whole.pool)
    u, o = random_parts(rng, whole, 3)
    means = [outcome_share_law(samples, u, o, 0.0)[0] for samples in (whole, part)]
    assert 0.0 < np.abs(means[0] - means[1]).max() < 0.02


def test_no_samples(rng):
    data = group_outcomes(["x", "x", "y"], {"x": Counts({"a": 1, "b": 1, "c": 0}), "y": Unknown()}, THREE)
    assert make_outcome_samples(data) is None
