"""How reports are laid out: the law of each count, powers of the evidence, and runs of groups."""

from __future__ import annotations

import numpy as np
import pytest

from disaggregate.groups.evidence import AtLeast, AtMost, Count, Fraction, Population, Unknown
from disaggregate.model.likelihood import log_likelihood_gradient
from disaggregate.model.powers import log_maxima
from disaggregate.model.reports import (
    EXACT,
    MOST_STATES,
    MOST_STATES_OF_CELLS,
    NORMAL,
    NOTHING,
    make_reports,
    run_of_groups,
    with_powers,
)
from tests.helpers.dense_problems import CASES, WITHOUT_SAMPLES, grouped

LARGEST = int(np.sqrt(MOST_STATES))  # members of the largest group whose count has an exact law


def test_laws() -> None:
    evidence = [Unknown(), Count(1), Population(0.5), Fraction(0.4), Fraction(0.4), Fraction(0.4, 0.0)]
    sizes = [4, 3, 5, LARGEST - 1, LARGEST + 1, 6]
    assert make_reports(grouped(evidence, sizes)).law.tolist() == [NOTHING, EXACT, NOTHING, EXACT, NORMAL, NOTHING]


def test_cells_have_the_law_of_their_people() -> None:
    most = int(np.sqrt(MOST_STATES_OF_CELLS))
    data = grouped([Fraction(0.4)] * 3, [2, 2, 3], counts=np.array([1, 2, most, most, most - 16, 5, 10]))
    assert make_reports(data).law.tolist() == [EXACT, NORMAL, EXACT]


def test_arrays_have_one_type_whatever_is_reported(rng: np.random.Generator) -> None:
    """Compiled code would be compiled anew for every other one, in the middle of a fit."""
    types = {
        name: [(values.dtype, values.ndim, values.flags.c_contiguous) for values in make_reports(case.data(rng))]
        for name, case in CASES.items()
    }
    for name, found in types.items():
        assert found == types["fractions"], name


@pytest.mark.parametrize("name", CASES)
def test_evidence_is_scaled_to_its_peak(name: str, rng: np.random.Generator) -> None:
    data = CASES[name].data(rng)
    reports, maxima = make_reports(data), log_maxima(data)
    for j, (start, stop) in enumerate(zip(reports.starts[:-1], reports.starts[1:], strict=True)):
        own = reports.log_likelihood[0, start:stop]
        assert own.max() == 0.0
        np.testing.assert_allclose(own + maxima[j], data.log_likelihood[start:stop])
    np.testing.assert_array_equal(reports.likelihood, np.exp(reports.log_likelihood))


def test_fewest_and_most() -> None:
    evidence = [Count(3), AtLeast(2), AtMost(1), Unknown(), Fraction(0.0), Fraction(1.0), Fraction(0.5, np.inf)]
    reports = make_reports(grouped(evidence, [5] * 7))
    assert reports.fewest[0].tolist() == [3, 2, 0, 0, 0, 5, 2]
    assert reports.most[0].tolist() == [3, 5, 1, 5, 0, 5, 3]


def test_powers_of_soft_evidence() -> None:
    data = grouped([Fraction(0.4, 30.0)], [6])
    base = make_reports(data).log_likelihood[0]
    reports = make_reports(data, np.array([1.0, 0.3, 0.0]))
    np.testing.assert_allclose(reports.log_likelihood, [base, 0.3 * base, 0.0 * base])


def test_excluded_counts_come_back_as_the_power_falls() -> None:
    powers = np.array([1.0, 0.9, 0.5, 0.1, 0.0])
    reports = make_reports(grouped([Count(2)], [5]), powers)
    likelihood = reports.log_likelihood
    assert likelihood[0].tolist() == [-np.inf, -np.inf, 0.0, -np.inf, -np.inf, -np.inf]
    assert np.all(np.diff(likelihood[1:], axis=0)[:, [0, 1, 3, 4, 5]] > 0.0)  # the lower the power, the easier
    assert np.all(np.diff(likelihood[1:4, 2:], axis=1) < 0.0)  # the farther away, the harder
    assert np.all(likelihood[-1] == 0.0)
    assert reports.fewest[:, 0].tolist() == [2, 0, 0, 0, 0]
    assert reports.most[:, 0].tolist() == [2, 5, 5, 5, 5]


def test_excluded_counts_are_judged_by_people_not_by_units() -> None:
    """A survey weight in finer units is no harder to contradict."""
    coarse = make_reports(grouped([Fraction(0.0)], [4]), np.array([1.0, 0.5]))
    fine = make_reports(grouped([Fraction(0.0)], [4], np.array([1.0, 1.0, 1.0, 1.5])), np.array([1.0, 0.5]))
    assert fine.total[0] > coarse.total[0]
    assert fine.log_likelihood[1, -1] == pytest.approx(coarse.log_likelihood[1, -1])


@pytest.mark.parametrize("name", CASES)
def test_the_evidence_itself_comes_back(name: str, rng: np.random.Generator) -> None:
    reports = make_reports(CASES[name].data(rng))
    again = with_powers(with_powers(reports, np.array([1.0, 0.4, 0.0])), np.ones(1))
    for name_of_field, one, other in zip(reports._fields, reports, again, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name_of_field)


def test_samples() -> None:
    data = grouped(
        [Population(0.3, 50), Count(1), Population(0.6)],
        [2, 2, 3],
        np.array([1.0, 3.0, 1.0, 1.0, 2.0, 2.0, 2.0]),
    )
    reports = make_reports(data)
    assert reports.is_sample.tolist() == [1, 0, 1]
    assert reports.share.tolist() == [0.3, 0.5, 0.6]
    assert reports.size.tolist() == [50.0, np.inf, np.inf]
    np.testing.assert_allclose(reports.effective, [16.0 / 10.0, 1.0, 3.0])
    np.testing.assert_allclose(reports.weight, [0.25, 0.75, 0.0, 0.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0])
    np.testing.assert_allclose(reports.pooled, [0.1, 0.3, 0.0, 0.0, 0.2, 0.2, 0.2])


def test_cells_of_a_sample_count_as_their_people() -> None:
    data = grouped([Population(0.3), Population(0.6)], [2, 1], counts=np.array([3, 1, 4]))
    reports = make_reports(data)
    np.testing.assert_allclose(reports.effective, [4.0, 4.0])
    np.testing.assert_allclose(reports.weight, [0.75, 0.25, 1.0])
    np.testing.assert_allclose(reports.pooled, [3.0 / 8.0, 1.0 / 8.0, 0.5])


@pytest.mark.parametrize("name", WITHOUT_SAMPLES)
def test_runs_of_groups_add_up(name: str, rng: np.random.Generator) -> None:
    data = CASES[name].data(rng)
    reports = make_reports(data, np.array([1.0, 0.3]))
    individual = rng.standard_normal(int(data.offsets[-1]))
    group = 0.5 * rng.standard_normal(len(data.names))
    whole = log_likelihood_gradient(reports, 1, individual, group, 0.0, 0.0)
    total, rows, offsets = 0.0, [], []
    for first, last in ((0, 1), (1, len(group))):
        own = run_of_groups(reports, first, last)
        of_run = slice(int(data.offsets[first]), int(data.offsets[last]))
        found = log_likelihood_gradient(own, 1, individual[of_run], group[first:last], 0.0, 0.0)
        total += found.log_likelihood
        rows.append(found.individual)
        offsets.append(found.group)
    assert total == pytest.approx(whole.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(np.concatenate(rows), whole.individual)
    np.testing.assert_allclose(np.concatenate(offsets), whole.group)
