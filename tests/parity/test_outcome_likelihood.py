"""The compiled likelihood of reports on several outcomes is that of plain NumPy."""

import numpy as np
import pytest

from disaggregate.groups.evidence import Unknown
from disaggregate.groups.outcome_evidence import Counts, Shares
from disaggregate.groups.outcomes import group_outcomes
from disaggregate.model.count_vectors import exact_expected, make_lattice, normal_expected
from disaggregate.model.outcome_reports import _LARGEST_WITH_PLACES, make_outcome_reports
from disaggregate.model.outcomes import UNIT, contrasts, logits_of, probabilities_of
from disaggregate.model.reports import EXACT, NORMAL, NOTHING
from disaggregate.sampler.compiled.outcomes import group_log_likelihoods, replica_expectations, replica_gradients
from disaggregate.sampler.dense.outcome_places import OutcomePlaces, integrated
from tests.helpers.outcome_problems import OUTCOMES, REPORTS_OF_FIVE, enumerated, grouped

H = contrasts(3)


@pytest.fixture(scope="module")
def five():
    evidence = [*REPORTS_OF_FIVE.values(), Unknown()]
    return grouped(evidence, [5] * len(evidence))


def random_scores(rng, data, spread=1.0, n_replicas=2):
    return spread * rng.standard_normal((n_replicas, 2, len(data.order)))


def gradients(reports, scores):
    by_group, by_score = np.empty((len(scores), len(reports.law))), np.empty_like(scores)
    replica_gradients(reports, H, scores, by_group, by_score)
    return by_group.sum(axis=1), by_score


def test_every_kind_of_report_against_enumeration(five, rng):
    reports, scores = make_outcome_reports(five), random_scores(rng, five)
    assert reports.law.tolist() == [EXACT] * len(REPORTS_OF_FIVE) + [NOTHING]
    log_likelihood, by_score = gradients(reports, scores)
    by_group, labels = np.empty((2, len(five.names))), np.zeros((2, 3 * len(five.order)))
    group_log_likelihoods(reports, H, scores, by_group)
    tallies = np.zeros((2, int(five.tally_starts[-1])))
    replica_expectations(reports, H, scores, labels, tallies)
    p = probabilities_of(logits_of(np.moveaxis(scores, 1, 2)))
    for r in range(2):
        for j, report in enumerate(five.evidence):
            rows = slice(*five.offsets[j : j + 2])
            value, expected = enumerated(p[r, rows], report)
            assert by_group[r, j] == pytest.approx(0.0 if isinstance(report, Unknown) else value, abs=1e-8)
            np.testing.assert_allclose(labels[r].reshape(-1, 3)[rows], expected, atol=1e-8)
            slope = UNIT * (expected - p[r, rows]) @ H.T
            np.testing.assert_allclose(by_score[r, :, rows], slope.T, atol=1e-8)
    np.testing.assert_allclose(log_likelihood, by_group.sum(axis=1))
    np.testing.assert_allclose(np.add.reduceat(tallies, five.tally_starts[:-1], axis=1), 1.0)


def test_tallies_of_exact_reports_are_the_law_of_the_counts(five, rng):
    reports, scores = make_outcome_reports(five), random_scores(rng, five, n_replicas=1)
    labels, tallies = np.zeros((1, 3 * len(five.order))), np.zeros((1, int(five.tally_starts[-1])))
    replica_expectations(reports, H, scores, labels, tallies)
    shares = np.add.reduceat(labels[0].reshape(-1, 3), five.offsets[:-1], axis=0) / 5
    for j in range(4):
        for k in range(3):
            own = tallies[0, five.tally_starts[3 * j + k] : five.tally_starts[3 * j + k + 1]]
            if j != 1:  # where only one outcome is reported, the others' tallies are rough
                assert own @ np.arange(6) / 5 == pytest.approx(shares[j, k], abs=1e-8)


def test_cells_of_several_people_are_as_many_single_people(rng):
    report = Counts({"a": 3, "b": 2, "c": 2})
    cells = grouped([report], [3], counts=np.array([2, 4, 1]))
    single = grouped([report], [7])
    scores = random_scores(rng, cells)
    spelt_out = np.repeat(scores, [2, 4, 1], axis=2)
    value, slope = gradients(make_outcome_reports(cells), scores)
    expected, by_person = gradients(make_outcome_reports(single), spelt_out)
    np.testing.assert_allclose(value, expected)
    np.testing.assert_allclose(slope, np.add.reduceat(by_person, [0, 2, 6], axis=2))


def test_extreme_scores_are_worked_out_by_logarithms(rng):
    data = grouped([Counts({"a": 10, "b": 10, "c": 10})], [30])
    scores = random_scores(rng, data, spread=0.1)
    scores[:, 0] -= 60.0  # everybody is of the second outcome, all but surely
    value, slope = gradients(make_outcome_reports(data), scores)
    lattice = make_lattice(np.array([[10, 10, 10]]))
    for r in range(2):
        expected = exact_expected(probabilities_of(logits_of(scores[r].T)), lattice, np.zeros(1))
        assert value[r] == pytest.approx(expected.log_likelihood)
        assert value[r] < -700.0
    assert np.isfinite(slope).all()


@pytest.mark.parametrize("report", [Counts({"a": 90, "b": 130, "c": 80}), Shares({"b": 0.4}, 200.0)])
def test_large_groups_have_the_normal_law(report, rng, monkeypatch):
    monkeypatch.setattr("disaggregate.model.count_vectors.MOST_NODES", 100)
    data = grouped([report], [100], counts=np.full(100, 3))
    reports, scores = make_outcome_reports(data), random_scores(rng, data)
    assert reports.law.tolist() == [NORMAL]
    value, slope = gradients(reports, scores)
    p = probabilities_of(logits_of(np.moveaxis(scores, 1, 2)))
    reported = [OUTCOMES.index(name) for name in report.named_outcomes]
    rest = [k for k in range(3) if k not in reported]
    for r in range(2):
        columns = [p[r][:, k] for k in reported] + ([p[r][:, rest].sum(axis=1)] if rest else [])
        normal = report.normal(300, bool(rest))
        expected = normal_expected(np.column_stack(columns), np.full(100, 3.0), *normal)
        assert value[r] == pytest.approx(expected.log_likelihood, abs=1e-8)
    step = 1e-5
    for a, i in ((0, 3), (1, 70)):
        moved = np.zeros_like(scores)
        moved[:, a, i] = step
        up, down = gradients(reports, scores + moved)[0], gradients(reports, scores - moved)[0]
        np.testing.assert_allclose(slope[:, a, i], (up - down) / (2.0 * step), atol=1e-5)


def test_fewer_groups_have_the_exact_law_where_intercepts_are_integrated_out():
    ids, counts = [0, 0, 1, 1], np.array([2, 3, 40, 50])
    reports = {0: Counts({"a": 1, "b": 2, "c": 2}), 1: Counts({"a": 30, "b": 30, "c": 30})}
    assert 31**3 > _LARGEST_WITH_PLACES > 6
    data = group_outcomes(ids, reports, ("a", "b", "c"), counts)
    assert make_outcome_reports(data).law.tolist() == [EXACT, EXACT]
    assert make_outcome_reports(data, integrates_places=True).law.tolist() == [EXACT, NORMAL]


# Groups of three cells: large ones, whose outcomes are in another order than their categories, and others.
CELLS = [
    Counts({"a": 130, "b": 250, "c": 220}),
    Counts({"a": 500, "b": 300, "c": 200}),
    Counts({"a": 9, "b": 401, "c": 340}),
    Counts({"b": 180}),
    Counts({"a": 3, "b": 1, "c": 2}),
    Unknown(),
]
PEOPLE = np.array([200, 300, 100, 500, 300, 200, 150, 250, 350, 200, 300, 100, 3, 1, 2, 2, 2, 2])


@pytest.mark.parametrize("deviation", [0.05, 0.4, 2.0])
def test_integrals_over_offsets_are_those_of_their_twin(deviation, rng):
    reports = make_outcome_reports(grouped(CELLS, [3] * len(CELLS), counts=PEOPLE))
    assert reports.is_large.tolist() == [True, True, False, False, False, False]
    assert set(reports.law.tolist()) == {EXACT, NORMAL, NOTHING}
    individual, center = rng.standard_normal((2, len(PEOPLE))), 0.5 * rng.standard_normal((2, len(CELLS)))
    given = reports, H, individual, center, deviation
    for found, expected in zip(integrated(*given), OutcomePlaces(*given).gradient(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_four_outcomes_have_more_nodes_than_fit_side_by_side(rng):
    reports = make_outcome_reports(
        group_outcomes([0] * 4, {0: Counts({"a": 90, "b": 70, "c": 60, "d": 80})}, tuple("abcd"), np.full(4, 75))
    )
    assert reports.is_large.all()
    given = reports, contrasts(4), rng.standard_normal((3, 4)), 0.5 * rng.standard_normal((3, 1)), 0.4
    for found, expected in zip(integrated(*given), OutcomePlaces(*given).gradient(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
