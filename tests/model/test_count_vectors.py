"""The law of the counts of several outcomes, against enumeration and against finite differences."""

import numpy as np
import pytest
from scipy.special import log_softmax

from disaggregate.groups.outcome_evidence import Counts, Shares
from disaggregate.model.count_vectors import (
    MOST_NODES,
    allowed_counts,
    exact_expected,
    make_lattice,
    normal_expected,
)
from disaggregate.model.outcomes import contrasts, logits_of, probabilities_of, scores_of
from tests.helpers.outcome_problems import OUTCOMES, REPORTS_OF_FIVE, enumerated, some_probabilities


def by_category(p, report, outcomes=OUTCOMES):
    """Probabilities of the outcomes that a report tells apart, the others together."""
    reported = [outcomes.index(name) for name in report.named_outcomes]
    rest = [k for k in range(len(outcomes)) if k not in reported]
    columns = [p[:, k] for k in reported] + ([p[:, rest].sum(axis=1)] if rest else [])
    return np.column_stack(columns), bool(rest)


def exact(p, report, outcomes=OUTCOMES):
    own, has_rest = by_category(p, report, outcomes)
    counts, log_likelihood = allowed_counts(report, len(p), has_rest)
    return exact_expected(own, make_lattice(counts), log_likelihood)


@pytest.mark.parametrize("kind", REPORTS_OF_FIVE)
def test_exact_law_is_that_of_all_labels(kind, rng):
    p, report = some_probabilities(rng, 5), REPORTS_OF_FIVE[kind]
    value, labels = enumerated(p, report)
    found = exact(p, report)
    assert found.log_likelihood == pytest.approx(value, abs=1e-9)
    own, _ = by_category(labels, report)
    np.testing.assert_allclose(found.labels, own, atol=1e-9)
    assert found.final.sum() == pytest.approx(1.0)


def test_exact_law_of_four_outcomes(rng):
    p, report = some_probabilities(rng, 4, 4), Shares({"a": 0.25, "c": 0.3}, 30.0)
    value, _ = enumerated(p, report, ("a", "b", "c", "d"))
    assert exact(p, report, ("a", "b", "c", "d")).log_likelihood == pytest.approx(value, abs=1e-9)


def test_lattice_of_tallies_has_no_more_than_it_needs():
    counts, _ = allowed_counts(Counts({"a": 2, "b": 1, "c": 3}), 6, has_rest=False)
    assert make_lattice(counts).starts[-1] == 3 * 2 * 4


def test_lattices_that_are_too_large_are_none():
    even = dict.fromkeys("abcd", 20)
    assert allowed_counts(Counts(even), 80, has_rest=False) is None
    assert make_lattice(np.full((1, 4), 20)) is None
    assert MOST_NODES < 21**4


def log_likelihood_of(logits, law):
    return law(np.exp(log_softmax(logits, axis=1))).log_likelihood


@pytest.mark.parametrize("law", ["exact", "normal", "normal shares"])
def test_gradient_in_the_logits_is_expected_labels_less_probabilities(law, rng):
    people = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    reports = {
        "exact": Counts({"a": 2, "b": 1, "c": 3}),
        "normal": Counts({"a": 2, "b": 1, "c": 3}),
        "normal shares": Shares({"a": 0.3, "b": 0.2, "c": 0.5}, 40.0),
    }
    report = reports[law]

    def of(p):
        return (
            exact(p, report) if law == "exact" else normal_expected(p, people, *report.normal(6, has_rest=False))
        )

    logits = rng.standard_normal((6, 3))
    p = probabilities_of(logits)
    gradient, step = of(p).labels - p, 1e-5
    for i, k in ((0, 0), (3, 1), (5, 2)):
        moved = np.zeros_like(logits)
        moved[i, k] = step
        slope = (log_likelihood_of(logits + moved, of) - log_likelihood_of(logits - moved, of)) / (2.0 * step)
        assert gradient[i, k] == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize("reported", ["counts", "shares"])
def test_normal_law_is_near_the_exact_one_in_larger_groups(reported, rng):
    n = 60
    p = some_probabilities(rng, n, spread=0.7)
    numbers = np.rint(p.sum(axis=0) + np.array([2.0, -3.0, 0.0])).astype(int)
    numbers[2] = n - numbers[:2].sum()
    report = Counts(dict(zip(OUTCOMES, numbers.tolist(), strict=True)))
    if reported == "shares":
        report = Shares(dict(zip(OUTCOMES, (numbers / n).tolist(), strict=True)), 300.0)
    found, near = exact(p, report), normal_expected(p, np.ones(n), *report.normal(n, has_rest=False))
    assert near.log_likelihood == pytest.approx(found.log_likelihood, abs=0.05)
    np.testing.assert_allclose(near.labels, found.labels, atol=0.01)


def test_contrasts_are_orthonormal_and_scores_come_back(rng):
    rows = contrasts(5)
    np.testing.assert_allclose(rows @ rows.T, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(rows.sum(axis=1), 0.0, atol=1e-12)
    scores = rng.standard_normal((7, 4))
    np.testing.assert_allclose(scores_of(logits_of(scores)), scores, atol=1e-12)


@pytest.mark.parametrize("n_outcomes", [3, 4])
def test_intercepts_of_new_groups_are_about_integrated_out(n_outcomes, rng):
    variance = 0.6
    scores = 1.2 * rng.standard_normal((12, n_outcomes - 1))
    intercepts = np.sqrt(variance) * rng.standard_normal((4000, 1, n_outcomes - 1))
    exact = probabilities_of(logits_of(scores + np.concatenate([intercepts, -intercepts]))).mean(axis=0)
    near = probabilities_of(logits_of(scores / np.sqrt(1.0 + variance)))
    np.testing.assert_allclose(near, exact, atol=0.02)
