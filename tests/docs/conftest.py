"""A folder to run pages in, and fits that are short."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

from disaggregate import GroupStatsClassifier
from disaggregate.basis import candidates
from disaggregate.fitting import kernels
from disaggregate.sampler import rungs
from disaggregate.sampler.dense import tuning

SHORT = {"n_chains": 2, "n_draws": 24, "n_burn": 12}
FEW_CENTERS = 30


@pytest.fixture
def short_fits(monkeypatch):
    """Make fits short whatever a page asks for: few draws, centres, kernels and replicas, and a short pilot."""
    whole = GroupStatsClassifier.fit

    def fit(self, *arguments, **more):
        for name, most in SHORT.items():
            asked = getattr(self, name)
            setattr(self, name, most if asked == "auto" else min(asked, most))
        if isinstance(self.centers, str):
            self.centers = FEW_CENTERS
        return whole(self, *arguments, **more)

    monkeypatch.setattr(GroupStatsClassifier, "fit", fit)
    monkeypatch.setattr(candidates, "BY_WIDTH", {1.0: 1.0})
    monkeypatch.setattr(rungs, "MOST", rungs.FEWEST)
    monkeypatch.setattr(tuning, "PHASES", (10, 10, 10))
    monkeypatch.setattr(kernels, "ENOUGH_TO_COMPARE", 20)


@pytest.fixture
def reader(tmp_path, monkeypatch, short_fits):
    """Stand in an empty folder that has the tables which the README and the page about tables speak of."""
    monkeypatch.chdir(tmp_path)
    people, results = make_tables()
    people.to_csv("people.csv", index=False)
    results.to_csv("results.csv", index=False)
    results.rename(columns={"district": "cd", "share": "pct"}).to_csv("official.csv", index=False)
    census, votes = make_census()
    census.to_csv("census.csv", index=False)
    votes.to_csv("votes.csv", index=False)
    yield tmp_path
    pyplot.close("all")  # a notebook closes the figures of a cell itself


def make_tables(n_groups=8, size=12):
    """People with the columns that those pages name, and the result of each district."""
    rng = np.random.default_rng(0)
    n = n_groups * size
    district = np.repeat(np.arange(n_groups), size)
    people = pd.DataFrame(
        {
            "id": np.arange(n),
            "district": district,
            "cd": district,
            "age": rng.normal(30 + 5 * district, 10).round(1),
            "educ": rng.choice(["low", "high"], size=n),
            "race": rng.choice(["a", "b"], size=n),
            "sex": rng.choice(["f", "m"], size=n),
            "w": rng.uniform(0.5, 2.0, size=n).round(2),
        }
    )
    y = rng.random(n) < 1.0 / (1.0 + np.exp(-(people["age"] - 50) / 10))
    share = y.groupby(district).mean()
    return people, pd.DataFrame({"district": share.index, "share": share.to_numpy(), "votes": 1200})


def make_census(n_groups=8):
    """Cells of district, age and sex with their number of people, and the votes of each district."""
    rng = np.random.default_rng(0)
    levels = [range(1, n_groups + 1), ["18-39", "40-64", "65-"], ["f", "m"]]
    census = pd.MultiIndex.from_product(levels, names=["district", "age", "sex"]).to_frame(index=False)
    census["n"] = rng.integers(1, 12, size=len(census))
    yes = rng.binomial(census["n"], census["age"].map({"18-39": 0.2, "40-64": 0.5, "65-": 0.8}))
    votes = census.assign(yes=yes, valid=census["n"]).groupby("district", as_index=False)[["yes", "valid"]].sum()
    return census, votes
