"""What calibration draws from the prior: components of f, cells and populations."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtri

from benchmarks import calibration
from benchmarks.calibration import CASES, Case, context_of_groups, drawn_kernel, process, reports_of, simulate
from disaggregate import GaussianProcess, evidence
from disaggregate.fitting import FitSession, ScalePriors
from disaggregate.fitting.plan import CONSTANT_DEVIATION


@pytest.fixture
def scales(monkeypatch):
    """Scales of the components that a test sets."""
    values = {"individual": 1.0, "context": 1.0, "place": 1.0}
    monkeypatch.setattr(calibration, "drawn_scale", lambda rng, name, of_places: values[name])
    return values


def test_components_follow_the_settings():
    assert CASES["rbf"].components == ()
    assert CASES["cells of counts"].components == ()
    assert CASES["context"].components == ("context",)
    assert CASES["place and context"].components == ("context", "place")


def test_a_place_shifts_all_of_its_people(rng, scales):
    scales.update(individual=1e-12, place=4.0)
    case = replace(CASES["place"], n_groups=150)
    f = ndtri(simulate(rng, case).probability).reshape(150, case.size)
    assert_allclose(f, np.broadcast_to(f[:, :1], f.shape), atol=1e-4)
    assert 1.6 < f[:, 0].std() < 2.4


def test_make_up_is_linear_in_the_averages_of_groups(rng, scales):
    scales.update(individual=1e-12)
    data = simulate(rng, CASES["context"])
    known = context_of_groups(data.X, data.groups)[data.groups]
    f = ndtri(data.probability)
    assert_allclose(known @ np.linalg.lstsq(known, f, rcond=None)[0], f, atol=1e-4)


def test_the_scale_of_context_is_the_variance_of_what_it_does(rng, scales):
    scales.update(individual=1e-12, context=0.25)
    found = [ndtri(simulate(rng, CASES["context"]).probability[:: CASES["context"].size]) for _ in range(300)]
    assert np.mean(np.square(found)) == pytest.approx(0.25, rel=0.2)


@pytest.mark.parametrize(("name", "deviation"), [("cells", CONSTANT_DEVIATION), ("place and context", 0.0)])
def test_only_the_constant_of_places_has_no_scale(name, deviation, rng, scales):
    scales.update(individual=1e-12, context=1e-12, place=1e-12)
    constants = [ndtri(simulate(rng, CASES[name]).probability[0]) for _ in range(300)]
    assert np.std(constants) == pytest.approx(deviation, rel=0.15, abs=1e-4)


class Planned(Exception):
    """Stops a fit as soon as it is planned."""


@pytest.mark.parametrize("name", ["rbf", "context", "place", "population", "cells", "cells of counts"])
def test_data_are_drawn_from_the_model_that_is_fitted(name, monkeypatch):
    def stop(session, plan):
        raise Planned(plan)

    monkeypatch.setattr(FitSession, "start_or_resume", stop)
    case = CASES[name]
    with pytest.raises(Planned) as stopped:
        calibration.fit_one(0, case)
    [plan] = stopped.value.args
    assert plan.separate_constant == case.is_of_places
    assert plan.has_places == ("place" in case.components)
    assert (plan.context is not None) == ("context" in case.components)
    priors = GaussianProcess().component_priors(case.is_of_places)
    assert plan.scale_priors == ScalePriors(**priors)
    if plan.context is not None:
        data = simulate(np.random.default_rng(0), case)
        assert_allclose(plan.context / plan.context_norm, context_of_groups(data.X, data.groups))


def test_the_fit_sees_some_of_a_population(rng, scales):
    data = simulate(rng, CASES["population"])
    assert np.bincount(data.groups).tolist() == [15] * 12
    assert len(data.X) == len(data.probability) == 180
    assert all(report.size == 500 for report in data.reports.values())
    expected = data.probability.reshape(12, 15).mean(axis=1)
    assert np.corrcoef(expected, [report.share for report in data.reports.values()])[0, 1] > 0.7


def test_cells_report_on_all_of_their_people(rng, scales):
    data = simulate(rng, CASES["cells of counts"])
    assert set(data.counts) <= set(range(1, 7))
    totals = data.counts.reshape(8, 8).sum(axis=1)
    assert all(report.positives <= total for report, total in zip(data.reports.values(), totals, strict=True))
    plain = Case("", lambda count, n, rng: (count, n), n_groups=2)
    counts = np.array([2, 3, 1, 4])
    assert reports_of(rng, plain, np.array([2, 1, 0, 4]), None, counts) == {0: (3, 5), 1: (4, 5)}
    assert reports_of(rng, plain, np.array([1, 0, 1, 1]), np.array([1, 2, 3, 1]), None) == {0: (1, 3), 1: (4, 4)}


def test_a_population_reports_its_own_share(rng):
    assert calibration.population(125, 500, rng) == evidence.Population(0.25, size=500)


def test_the_process_has_the_variance_of_its_scale(rng):
    X = rng.standard_normal((40, 2))
    chosen = drawn_kernel(rng, "rbf", X)
    draws = np.array([process(rng, X, chosen, X, 2.0, separate_constant=False) for _ in range(500)])
    assert draws.var(axis=0).mean() == pytest.approx(4.0, rel=0.1)  # kernel and intercept, 2 each
    draws = np.array([process(rng, X, chosen, X, 2.0, separate_constant=True) for _ in range(500)])
    assert draws.mean(axis=1).std() == pytest.approx(CONSTANT_DEVIATION, rel=0.1)
    assert draws.var(axis=1).mean() == pytest.approx(2.0, rel=0.1)
