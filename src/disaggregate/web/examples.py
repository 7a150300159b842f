"""Two examples to try the page with: simulated, so that they may be shown to anybody."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from disaggregate.datasets import make_population

EXAMPLES = {"country": "purple", "new-york": "voted for the challenger"}
_DISTRICTS = 27


def write_example(name: str, folder: Path) -> tuple[str, str]:
    """Write people.csv and results.csv of an example, and return their names.

    Parameters
    ----------
    name : {"country", "new-york"}
        Which one.
    folder : Path
        Where to.
    """
    if name not in EXAMPLES:
        raise ValueError(f"there is no example {name!r}; there are {', '.join(EXAMPLES)}.")
    people, results = _country() if name == "country" else _new_york()
    people.to_csv(folder / "people.csv", index=False)
    results.to_csv(folder / "results.csv", index=False)
    return "people.csv", "results.csv"


def _country() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate a survey of 500 voters in 25 districts, and the official results of all 20,000."""
    country = make_population(20_000, n_groups=25, random_state=1)
    voters = country.X.assign(district=country.groups)
    official = voters.groupby("district").size().rename("voters").reset_index()
    official["share_purple"] = country.shares.to_numpy().round(4)
    return voters.sample(500, random_state=1), official


def _new_york() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate a survey like one of New York: categories only, 27 districts that differ most by race and age."""
    rng = np.random.default_rng(2016)
    n = 60_000
    district = rng.integers(_DISTRICTS, size=n)
    city = (rng.beta(0.7, 0.7, _DISTRICTS))[district]
    race = np.where(rng.random(n) < 0.06 + 0.86 * city, rng.choice(["Black", "Hispanic", "Asian"], n), "White")
    ages = ["18 to 24 years", "25 to 34 years", "35 to 44 years", "45 to 64 years", "65 years and over"]
    age = np.digitize(rng.normal(0.4 - 0.5 * city, 1.0), [-1.2, -0.5, 0.1, 1.1])
    schools = ["HS or Less", "Some College", "4-Year", "Post-Grad"]
    school = np.digitize(rng.normal(0.3 * city, 1.0), [-0.6, 0.2, 1.0])
    gender = rng.choice(["Female", "Male"], n)
    score = 0.25 + 0.18 * (age - 2) - 0.25 * (school - 1) - 1.4 * (race != "White") + 0.2 * (gender == "Male")
    vote = rng.random(n) < 1.0 / (1.0 + np.exp(-score))
    names = np.array([f"NY-{number + 1:02d}" for number in range(_DISTRICTS)])
    voters = pd.DataFrame(
        {
            "cd": names[district],
            "age": np.array(ages)[age],
            "gender": gender,
            "race": race,
            "educ": np.array(schools)[school],
        }
    )
    results = vote_shares(voters["cd"], vote)
    return voters.sample(1200, random_state=1), results


def vote_shares(district: pd.Series, vote: np.ndarray) -> pd.DataFrame:
    """Tabulate the result of each district: ``cd, pct_challenger, votes``."""
    grouped = pd.Series(vote).groupby(district.to_numpy()).agg(["mean", "size"]).reset_index()
    grouped.columns = ["cd", "pct_challenger", "votes"]
    return grouped.assign(pct_challenger=(100.0 * grouped["pct_challenger"]).round(2))
