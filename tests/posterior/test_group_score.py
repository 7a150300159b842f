from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp, ndtr
from scipy.stats import norm

from disaggregate.groups import group_rows
from disaggregate.groups.evidence import AtLeast, Between, Count, Fraction, NoisyCount, Population, Survey, Unknown
from disaggregate.model.populations import share_law
from disaggregate.model.reports import make_reports
from disaggregate.posterior import group_score
from disaggregate.posterior.group_score import group_log_scores
from disaggregate.posterior.individuals import Individuals
from tests.helpers.synthetic import make_posterior, random_posterior

EVIDENCE = {
    "b": Fraction(0.4, 10.0),
    "a": Count(2),
    "h": Fraction(0.0, 5.0),
    "c": AtLeast(1),
    "e": NoisyCount(1.2, 0.7),
    "f": Unknown(),
    "g": Survey(1, 2),
    "i": Between(1, 2),
}
IDS = list(EVIDENCE) * 3 + ["b", "a", "e", "i"]
X = np.random.default_rng(8).normal(size=(len(IDS), 2))


def brute_force(posterior, ids, evidence):
    """Sum over every labelling of every group in every draw."""
    probability = ndtr(posterior.scores(X))
    scores = []
    for name in dict.fromkeys(ids):
        members = np.flatnonzero([group == name for group in ids])
        likelihood = np.exp(evidence[name].log_likelihood(len(members)))
        total = 0.0
        for labels in product([0, 1], repeat=len(members)):
            chance = np.where(labels, probability[:, members], 1 - probability[:, members]).prod(axis=1)
            total += chance * likelihood[sum(labels)]
        scores.append(np.log(np.mean(total)))
    return scores


def test_scores_are_the_average_likelihood_over_labels_and_draws(seed):
    posterior = random_posterior(seed, n_chains=2, n_draws=20)
    data = group_rows(IDS, EVIDENCE)
    assert_allclose(
        group_log_scores(posterior, X, data), brute_force(posterior, IDS, EVIDENCE), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("batch_size", [1, 4, 9])
def test_runs_of_groups_do_not_show(seed, batch_size, monkeypatch):
    posterior = random_posterior(seed, n_chains=2, n_draws=20)
    data = group_rows(IDS, EVIDENCE)
    whole = group_log_scores(posterior, X, data)
    monkeypatch.setattr(group_score, "VALUES_AT_ONCE", batch_size * 40)
    assert len(group_score.runs_of_groups(data.sizes, batch_size)) > 2
    assert_allclose(group_log_scores(posterior, X, data), whole, rtol=1e-12, atol=1e-14)


def population_scores(posterior, data, rows, offsets):
    """Average the likelihood of each share over the draws, by the plain law of a sample."""
    reports = make_reports(data)
    individual = posterior.scores(rows)[:, data.order] - np.repeat(offsets, data.sizes, axis=1)
    laws = [share_law(reports, u, o, 0.0) for u, o in zip(individual, offsets, strict=True)]
    by_draw = norm.logpdf(reports.share, [law.mean for law in laws], np.sqrt([law.variance for law in laws]))
    return logsumexp(by_draw, axis=0) - np.log(len(by_draw))


POPULATIONS = {"a": Population(0.3, 900), "b": Population(0.6), "c": Population(0.5, 40)}


def test_shares_of_populations_are_scored_by_their_own_law(seed):
    posterior = random_posterior(seed, n_chains=2, n_draws=20)
    data = group_rows([("a", "b", "c")[row % 3] for row in range(len(X))], POPULATIONS)
    expected = population_scores(posterior, data, X, np.zeros((40, 3)))
    assert_allclose(group_log_scores(posterior, X, data), expected, rtol=1e-9)


def test_the_offset_of_a_place_is_distinguished_from_what_its_people_are_like(seed):
    posterior = with_places(random_posterior(seed, n_chains=2, n_draws=20), n_groups=3, seed=seed)
    data = group_rows([("a", "b", "c")[row % 3] for row in range(len(X))], POPULATIONS)
    rows = Individuals(X, None, np.arange(len(X)) % 3)
    expected = population_scores(posterior, data, rows, posterior.offsets(None, np.arange(3)))
    assert_allclose(group_log_scores(posterior, rows, data), expected, rtol=1e-5)  # pooled means are interpolated
    assert np.abs(expected - population_scores(posterior, data, rows, np.zeros((40, 3)))).max() > 1e-3


def with_places(posterior, n_groups, seed):
    """Give each group an intercept."""
    rng = np.random.default_rng(seed)
    parts = [
        replace(
            part,
            places=rng.standard_normal((part.delta2.size, n_groups)),
            place_delta2=np.full(part.delta2.shape, 0.3),
        )
        for part in posterior.parts
    ]
    return replace(posterior, parts=tuple(parts))


def test_nothing_known_scores_nothing():
    posterior = random_posterior(0)
    data = group_rows(["a"] * len(X), {"a": Unknown()})
    assert_allclose(group_log_scores(posterior, X, data), 0.0, atol=1e-12)


@pytest.mark.parametrize("weight", [30.0, 1e5, 1e160, 1e300])
def test_evidence_that_the_draws_hardly_allow_is_finite(weight):
    posterior = make_posterior([[weight, 0, 0, 0], [weight, 0, 0, 0]], n_chains=1)
    data = group_rows(["a"] * 3, {"a": Count(1)})
    (score,) = group_log_scores(posterior, X[:3], data)
    assert np.isfinite(score)
    assert score == pytest.approx(-(min(weight, 1e150) ** 2), rel=0.02)


def test_runs_hold_all_groups_in_order():
    runs = group_score.runs_of_groups(np.array([3, 1, 1, 9, 2, 2]), 4)
    assert runs == [(0, 2), (2, 3), (3, 4), (4, 6)]
