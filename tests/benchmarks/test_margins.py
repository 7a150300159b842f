"""Rivals that know only the margins of tables; those of other packages where they are installed."""

import os
import shutil

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from benchmarks.rivals.missing import RivalMissing
from benchmarks.truth import r_rivals
from benchmarks.truth.cells import task_of_cells
from benchmarks.truth.margins import RivalOnMargins, margins_of
from benchmarks.truth.methods import BaseRate, applies_to
from benchmarks.truth.pyei_rival import PyEIRowsByColumns, PyEITwoByTwo
from benchmarks.truth.r_rivals import Eco, EiPack, require_package
from benchmarks.truth.scores import scores

RATES = {"black": 0.3, "white": 0.8}


def task_of(rng, kinds, n_areas=30):
    counts = pd.DataFrame({kind: rng.integers(0, 500, n_areas) for kind in kinds}, index=range(n_areas))
    rates = pd.DataFrame({kind: np.full(n_areas, RATES.get(kind, 0.5)) for kind in kinds})
    positives = np.rint((counts * rates.to_numpy()).sum(axis=1)).astype(int).to_numpy()
    names = {"table": "made up", "outcome": "yes", "case": "cells", "seed": 0}
    return task_of_cells(counts, rates, positives, "choosing", **names)


@pytest.fixture
def task(rng):
    return task_of(rng, ["white", "black"])


class Told(RivalOnMargins):
    """Draws that are told to it, in the order of the margins."""

    name = "told"

    def draw(self, margins, seed):
        return np.stack([margins.people.to_numpy() / 1000.0, margins.people.to_numpy() / 2000.0])


def test_margins_are_those_of_the_areas(task):
    margins = margins_of(task)
    assert list(margins.people) == ["black", "white"]
    reported = task.results.set_index("area").loc[margins.people.index]
    assert_array_equal(margins.size, reported["size"])
    assert_array_equal(margins.positives, reported["positives"])


def test_draws_of_cells_find_their_rows(task):
    found = Told().fit(task).predict(task.judges)
    assert_allclose(found.draws[0], task.judges["n"] / 1000.0)
    assert_allclose(found.probability, task.judges["n"] / 1000.0 * 0.75)


def test_shares_of_these_very_people_get_no_chance_on_top(task):
    (line,), rates = scores(task, Told().fit(task).predict(task.judges))
    assert line["area_width"] > 0.0
    people = task.judges["n"].to_numpy(dtype=float)
    white = (task.judges["people"] == "white").to_numpy()
    low = np.average(people[white] / 2000.0, weights=people[white])
    found = rates[rates["subgroup"] == "white"].iloc[0]
    assert_allclose([found["low"], found["high"]], [1.05 * low, 1.95 * low])


def test_a_rival_of_two_kinds_leaves_three_alone(rng, task):
    assert applies_to(PyEITwoByTwo, task)
    assert applies_to(Eco, task)
    three = task_of(rng, ["white", "black", "natam"])
    assert not applies_to(PyEITwoByTwo, three)
    assert applies_to(PyEIRowsByColumns, three)
    assert applies_to(BaseRate, three)


def test_what_is_not_installed_says_how_to_get_it(task, monkeypatch):
    monkeypatch.delenv("PYEI_ENVIRONMENT", raising=False)
    with pytest.raises(RivalMissing, match=r"python -m benchmarks\.truth\.pyei_rival FOLDER"):
        PyEITwoByTwo().fit(task)
    monkeypatch.setattr(r_rivals.shutil, "which", lambda name: None)
    with pytest.raises(RivalMissing, match="apt-get install r-base-core r-cran-eipack"):
        EiPack().fit(task)


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed here")
def test_a_package_that_r_does_not_have_is_missing():
    with pytest.raises(RivalMissing, match="r-cran-nosuchpackage"):
        require_package("noSuchPackage")


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed here")
def test_eco_finds_rates_that_are_the_same_everywhere(task):
    try:
        found = Eco().fit(task)
    except RivalMissing:
        pytest.skip("eco is not installed in R")
    _, rates = scores(task, found.predict(task.judges))
    assert_allclose(rates.set_index("subgroup").loc[list(RATES), "estimate"], list(RATES.values()), atol=0.05)


@pytest.mark.skipif("PYEI_ENVIRONMENT" not in os.environ, reason="PyEI has no environment here")
def test_pyei_finds_rates_that_are_the_same_everywhere(task):
    _, rates = scores(task, PyEITwoByTwo().fit(task).predict(task.judges))
    assert_allclose(rates.set_index("subgroup").loc[list(RATES), "estimate"], list(RATES.values()), atol=0.05)
