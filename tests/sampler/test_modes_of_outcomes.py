"""Modes where groups of thousands of people tell their intercepts, which are weights, to within a hair."""

import numpy as np
import pytest

from disaggregate.groups.outcome_evidence import Counts
from disaggregate.model.components import make_components
from disaggregate.model.outcome_reports import make_outcome_reports
from disaggregate.model.outcomes import logits_of, probabilities_of, stacked
from disaggregate.model.priors import half_normal
from disaggregate.sampler.dense import mode
from disaggregate.sampler.dense.mode import find_mode
from disaggregate.sampler.dense.outcomes import OutcomeData
from disaggregate.sampler.dense.start import prior_center
from tests.helpers.outcome_problems import OUTCOMES, grouped

N_GROUPS, N_CELLS = 60, 3


@pytest.fixture
def target(rng):
    """Three kinds of people in each group, with context and intercepts; groups of thousands."""
    kind = np.tile(np.eye(N_CELLS), N_GROUPS)
    people = (4000 * rng.dirichlet([1.0, 0.6, 0.3], N_GROUPS) + 2).astype(int)
    by_kind = np.array([[0.0, 1.6, 1.5], [0.3, 1.2, 1.0]])
    places = np.repeat(0.25 * rng.standard_normal((2, N_GROUPS)), N_CELLS, axis=1)
    p = probabilities_of(logits_of((by_kind @ kind + places).T))
    votes = np.array([rng.multinomial(n, own) for n, own in zip(people.ravel(), p, strict=True)])
    counts = votes.reshape(N_GROUPS, N_CELLS, 3).sum(axis=1)
    evidence = [Counts(dict(zip(OUTCOMES, own.tolist(), strict=True))) for own in counts]
    data = grouped(evidence, [N_CELLS] * N_GROUPS, counts=people.ravel())
    context = people / people.sum(axis=1, keepdims=True)
    context -= context.mean(axis=0)
    one = make_components(
        N_CELLS, np.ones(N_CELLS), 0, 1.0, half_normal(1.0, 0.1), context / context.std(), half_normal(0.15, 0.1),
        N_GROUPS, half_normal(0.2, 0.1), N_GROUPS, False,
    )  # fmt: skip
    return OutcomeData(stacked(one, 3, are_weights=True), kind, make_outcome_reports(data), np.ones(1)).target


def starts(target):
    center = prior_center(target.components)
    low = center.copy()
    low[target.components.n_weights + 1 :] -= 4.0
    return center, low


def test_searches_from_typical_and_from_low_scales_find_the_same_mode(target):
    found = [find_mode(target, start).log_evidence for start in starts(target)]
    assert found[1] == pytest.approx(found[0], abs=1.0)


def test_scales_that_follow_from_the_first_step_lead_astray(target, monkeypatch):
    expected = find_mode(target, starts(target)[0]).log_evidence
    monkeypatch.setattr(mode, "with_converged_weights", lambda target, view, rung: view)
    found = max(find_mode(target, start).log_evidence for start in starts(target))
    assert found < expected - 50.0
