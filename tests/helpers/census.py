"""A census as a table of cells, and the votes of its districts."""

import numpy as np
import pandas as pd

SETTINGS = {"n_chains": 2, "n_draws": 60, "n_burn": 60, "n_replicas": 1, "kernel": "linear", "random_state": 0}
SETTINGS |= {"context": False}  # one kernel without a context, so that there is nothing to compare
ROLES = {"group": "district", "positives": "yes", "total": "valid"}


def make_census(seed=0, n_groups=10):
    """Return cells of district, age and place with their number of people, and the votes: old people say yes."""
    rng = np.random.default_rng(seed)
    levels = [[f"d{place:02d}" for place in range(n_groups)], [25, 45, 65], ["land", "town"]]
    cells = pd.MultiIndex.from_product(levels, names=["district", "age", "place"]).to_frame(index=False)
    lean = np.repeat(rng.normal(0.0, 0.8, n_groups), 6)
    cells["n"] = rng.poisson(8.0 * np.exp(lean * (cells["age"] - 45.0) / 40.0)) + 1
    yes = rng.binomial(cells["n"], 1.0 / (1.0 + np.exp(-(cells["age"] - 45.0) / 10.0)))
    votes = cells.assign(yes=yes).groupby("district", as_index=False)[["yes", "n"]].sum()
    return cells, votes.rename(columns={"n": "valid"})


def one_row_per_person(cells):
    """Write every person of the cells down in a row."""
    return cells.loc[np.repeat(cells.index, cells["n"])].drop(columns="n").reset_index(drop=True)
