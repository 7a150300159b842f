"""Chains over the scores of several outcomes: against quadrature, and jointly with reports."""

import numpy as np
import pytest
from scipy.special import logsumexp

from disaggregate.groups.evidence import Unknown
from disaggregate.groups.outcome_evidence import Bounds, Counts, PopulationShares, Shares
from disaggregate.model import outcome_places, outcome_populations
from disaggregate.model.components import draw_from_prior, make_components, scale_coordinates
from disaggregate.model.outcome_populations import make_outcome_samples, outcome_share_gradient
from disaggregate.model.outcome_reports import make_outcome_reports
from disaggregate.model.outcomes import logits_of, probabilities_of, stacked
from disaggregate.model.priors import half_normal, inverse_gamma
from disaggregate.posterior.convergence import bulk_ess
from disaggregate.sampler.chain import Schedule
from disaggregate.sampler.dense.chains import DenseChains
from disaggregate.sampler.dense.metric import factored
from disaggregate.sampler.dense.outcomes import OutcomeData, OutcomeLikelihood
from disaggregate.sampler.dense.state import empty_tally, new_state
from disaggregate.sampler.dense.sweep import dense_sweep
from disaggregate.sampler.dense.target import Target
from disaggregate.sampler.dense.tuning import ENOUGH_TO_TUNE, tune
from tests.helpers.outcome_problems import OUTCOMES, enumerated, grouped

pytestmark = pytest.mark.full_pilots

# Two groups of three people with one column, so that two weights and a scale are all there is.
COLUMN = np.array([[1.0, -0.5, 0.3, 1.5, 0.2, -1.0]])
PAIRS = {
    "counts": (Counts({"a": 2, "b": 1, "c": 0}), Counts({"c": 2})),
    "shares": (Shares({"a": 0.3, "b": 0.3, "c": 0.4}, 15.0), Unknown()),
    "bounds": (Bounds({"a": (1, 2)}), Shares({"b": 0.7}, 30.0)),
}
PRIOR = inverse_gamma(6.0, 8.0)
ONE = make_components(1, np.ones(1), 0, 1.0, PRIOR, None, PRIOR, 0, PRIOR, 2, False)


def probabilities_at(position):
    """Probabilities of the six people at some positions, shape (n_positions, 6, 3)."""
    weights = position[:, :2] * np.exp(0.5 * position[:, 2:3])
    return probabilities_of(logits_of(weights[:, None, :] * COLUMN[0][:, None]))


def by_quadrature(evidence, n_weights=21, n_scales=17):
    """Posterior mean of everybody's probabilities, labels enumerated."""
    nodes, log_weights = np.polynomial.hermite_e.hermegauss(n_weights)
    scales = np.linspace(-3.5, 4.5, n_scales)
    grid = np.stack(np.meshgrid(nodes, nodes, scales, indexing="ij"), axis=-1).reshape(-1, 3)
    weight = np.log(log_weights)[:, None, None] + np.log(log_weights)[None, :, None] + PRIOR.log_density(scales)
    p = probabilities_at(grid)
    log_likelihood = np.zeros(len(grid))
    for rows, report in zip((slice(0, 3), slice(3, 6)), evidence, strict=True):
        log_likelihood += [enumerated(own[rows], report)[0] for own in p]
    posterior = weight.ravel() + log_likelihood
    return np.exp(posterior - logsumexp(posterior)) @ p.reshape(len(grid), -1)


@pytest.mark.parametrize("kind", PAIRS)
def test_chains_agree_with_quadrature(kind, rng):
    evidence = list(PAIRS[kind])
    expected = by_quadrature(evidence)
    np.testing.assert_allclose(by_quadrature(evidence, 15, 13), expected, atol=2e-3)
    data = grouped(evidence, [3, 3])
    backend = OutcomeData(stacked(ONE, 3), COLUMN, make_outcome_reports(data), np.ones(1))
    tuning = tune(backend, 1, ENOUGH_TO_TUNE, rng)
    chain = DenseChains(backend, tuning, Schedule(50, 1500, 1, "dense"), [0], [rng])
    while chain.n_done < chain.n_sweeps:
        chain.advance()
    [draws] = chain.draws()
    scores = draws.weights[:, None, :] * COLUMN[0][:, None]
    p = probabilities_of(logits_of(scores)).reshape(len(scores), -1)
    error = p.std(axis=0) / np.sqrt(np.minimum(bulk_ess(p[None]), len(p)))
    assert np.abs((p.mean(axis=0) - expected) / error).max() < 5.0


# A group that is a sample beside one that is not: two weights, a scale, and the error z of the ratio of variances.
SAMPLED = [PopulationShares({"a": 0.55, "b": 0.3, "c": 0.15}, 8), PopulationShares({"b": 0.4}, 6)]
WITH_ERROR = make_components(1, np.ones(1), 0, 1.0, PRIOR, None, PRIOR, 0, PRIOR, 2, True)


def sampled_by_quadrature(samples, n_weights=16, n_scales=9, n_errors=5):
    """Posterior mean of everybody's probabilities under the law of samples.

    Numbers of nodes are even: where all weights are zero nobody differs, and the ratio of variances has no value.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(n_weights)
    errors, of_errors = np.polynomial.hermite_e.hermegauss(n_errors)
    scales = np.linspace(-3.5, 4.5, n_scales)
    grid = np.stack(np.meshgrid(nodes, nodes, scales, errors, indexing="ij"), axis=-1).reshape(-1, 4)
    parts = np.meshgrid(
        np.log(weights), np.log(weights), PRIOR.log_density(scales), np.log(of_errors), indexing="ij"
    )
    posterior = sum(parts).ravel()
    scores = grid[:, :2, None] * np.exp(0.5 * grid[:, 2])[:, None, None] * COLUMN[0]
    nowhere = np.zeros((2, 2))
    posterior += [
        outcome_share_gradient(samples, own, nowhere, error).log_density.sum()
        for own, error in zip(scores, grid[:, 3], strict=True)
    ]
    p = probabilities_at(grid).reshape(len(grid), -1)
    return np.exp(posterior - logsumexp(posterior)) @ p


def sampled_z(rng):
    """How far chains are from quadrature, in standard errors."""
    data = grouped(SAMPLED, [3, 3])
    samples = make_outcome_samples(data)
    expected = sampled_by_quadrature(samples)
    components = stacked(WITH_ERROR, 3)
    backend = OutcomeData(components, COLUMN, make_outcome_reports(data), np.ones(1), samples)
    tuning = tune(backend, 1, ENOUGH_TO_TUNE, rng)
    chain = DenseChains(backend, tuning, Schedule(50, 800, 1, "dense"), [0], [rng])
    while chain.n_done < chain.n_sweeps:
        chain.advance()
    [draws] = chain.draws()
    p = probabilities_of(logits_of(draws.weights[:, None, :] * COLUMN[0][:, None])).reshape(len(draws.weights), -1)
    error = p.std(axis=0) / np.sqrt(np.minimum(bulk_ess(p[None]), len(p)))
    return np.abs((p.mean(axis=0) - expected) / error).max(), expected


def test_samples_of_populations_agree_with_quadrature(rng):
    z, expected = sampled_z(rng)
    samples = make_outcome_samples(grouped(SAMPLED, [3, 3]))
    np.testing.assert_allclose(sampled_by_quadrature(samples, 12, 9, 5), expected, atol=4e-3)
    assert z < 5.0


def test_a_law_of_samples_without_covariances_is_noticed(rng, monkeypatch):
    expected = sampled_by_quadrature(make_outcome_samples(grouped(SAMPLED, [3, 3])), 10, 5, 2)
    whole = outcome_populations.category_covariance
    monkeypatch.setattr(outcome_populations, "category_covariance", lambda *given: whole(*given) * np.eye(2))
    wrong = sampled_by_quadrature(make_outcome_samples(grouped(SAMPLED, [3, 3])), 10, 5, 2)
    assert np.abs(wrong - expected).max() > 0.02


def share_report(counts, rng):
    alpha = 20.0 * counts / counts.sum() + 1.0
    return Shares(dict(zip(OUTCOMES, rng.dirichlet(alpha).tolist(), strict=True)), 20.0)


def count_report(counts, rng):
    return Counts({"b": int(counts[1])})


def all_counts(counts, rng):
    return Counts(dict(zip(OUTCOMES, counts.tolist(), strict=True)))


MAKERS = (share_report, count_report, all_counts)


def joint_changes(rng, n, reorder=(0, 1, 2), are_weights=False):
    """Draw position and reports together, do sweeps, and see what changes; ``reorder`` mixes outcomes up.

    Intercepts of groups are integrated out, or weights.
    """
    sizes, n_context = [4, 3, 5], 1
    columns = rng.standard_normal((2, sum(sizes)))
    one = make_components(
        2, np.array([1.0, 0.7]), 0, 1.0, inverse_gamma(8.0, 8.0), rng.standard_normal((3, n_context)),
        half_normal(0.6, 0.1), 3, half_normal(0.5, 0.1), 3, False,
    )  # fmt: skip
    components = stacked(one, 3, are_weights)
    metric = factored(np.full(2, 0.25), np.repeat(np.eye(components.n_coordinates)[None], 2, axis=0))
    held = scale_coordinates(components)
    metric.inverse[1][held] = 0.0
    changes = []
    for turn in range(n):
        position = draw_from_prior(components, rng)
        plain = OutcomeLikelihood(columns, make_outcome_reports(grouped([Unknown()] * 3, sizes)))
        offsets = components.n_places and np.exp(0.5 * position[-1]) * rng.standard_normal(components.n_places)
        p = chances(plain, components, position, offsets)
        labels = np.array([rng.multinomial(1, own) for own in p])
        counts = np.add.reduceat(labels, [0, 4, 7], axis=0)[:, list(reorder)]
        evidence = [maker(own, rng) for maker, own in zip(MAKERS, counts, strict=True)]
        likelihood = OutcomeLikelihood(columns, make_outcome_reports(grouped(evidence, sizes)))
        target = Target(components, likelihood, np.ones(1))
        state = new_state(position[None, None].copy())
        state.sweep[0] = turn % 12
        reported = np.array([*evidence[0].shares.values(), *counts[1:].ravel()])
        for _ in range(2):
            dense_sweep(target, metric, state, empty_tally(1, 1), np.zeros((1, 0, 2)), [rng])
        after = state.position[0, 0]
        drawn = drawn_offsets(target, after, rng)
        changes.append(
            statistics(likelihood, components, after, reported, drawn)
            - statistics(likelihood, components, position, reported, offsets)
        )
    return np.array(changes)


def drawn_offsets(target, position, rng):
    """Draw the offsets that are integrated out, as what lies beyond their centres."""
    query, nothing = target.query(position[None]), np.zeros((1, 0))
    noise = rng.standard_normal((1, target.components.n_places))
    return (target.likelihood.add_expected(query, noise, nothing, nothing) - query.group)[0]


def chances(likelihood, components, position, offsets=0.0):
    query = Target(components, likelihood, np.ones(1)).query(position[None])
    query = query._replace(group=query.group + offsets)
    return probabilities_of(logits_of(likelihood.scores(query)[0].T))


def statistics(likelihood, components, position, reported, offsets):
    p = np.add.reduceat(chances(likelihood, components, position, offsets), [0, 4, 7], axis=0).ravel()
    scales = position[components.n_weights :]
    return np.concatenate(
        [position, position**2, p, p**2, p * reported[:9], np.outer(reported[:3], scales).ravel()]
    )


def z_of(changes):
    spread = changes.std(axis=0, ddof=1)
    return changes.mean(axis=0) / (spread / np.sqrt(len(changes)))


@pytest.mark.parametrize("are_weights", [False, True])
def test_sweeps_keep_the_joint_distribution_of_position_and_reports(are_weights, rng):
    assert np.abs(z_of(joint_changes(rng, 400, are_weights=are_weights))).max() < 5.0


def test_an_integral_without_its_prior_deviation_is_noticed(rng, monkeypatch):
    whole = outcome_places.log_weights_of

    def without(rule, deviation):
        return whole(rule, deviation) + 2.0 * np.log(deviation)

    monkeypatch.setattr("disaggregate.sampler.dense.outcome_places.log_weights_of", without)
    assert np.abs(z_of(joint_changes(rng, 100))).max() > 5.0


def test_reports_of_the_wrong_outcomes_are_noticed(rng):
    assert np.abs(z_of(joint_changes(rng, 400, reorder=(1, 2, 0)))).max() > 5.0


def test_a_likelihood_without_its_normaliser_is_noticed(rng, monkeypatch):
    def without(self, counts):
        alpha = self.confidence * counts / counts.sum(axis=1, keepdims=True)
        return np.sum(alpha * np.log(list(self.shares.values())), axis=1)

    monkeypatch.setattr(Shares, "log_likelihood", without)
    assert np.abs(z_of(joint_changes(rng, 400))).max() > 5.0
