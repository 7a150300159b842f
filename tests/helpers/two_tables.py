"""A table of people and one of results, and settings of short fits to them."""

import numpy as np
import pandas as pd

SETTINGS = {"n_chains": 2, "n_draws": 60, "n_burn": 60, "n_replicas": 1, "kernel": "linear", "random_state": 0}
SETTINGS |= {"context": False}  # one kernel without a context, so that there is nothing to compare


def make_tables(seed=0, n_groups=12, size=20):
    """Older people and townspeople are positive more often; weights double for women."""
    rng = np.random.default_rng(seed)
    n = n_groups * size
    district = np.repeat([f"d{i:02d}" for i in range(n_groups)], size)
    age = rng.normal(50.0 + 12.0 * np.repeat(rng.standard_normal(n_groups), size), 10.0)
    town = rng.random(n) < np.repeat(rng.random(n_groups), size)
    sex = rng.choice(["f", "m"], size=n)
    y = rng.random(n) < 1.0 / (1.0 + np.exp(-(0.1 * (age - 50.0) + 2.0 * town - 1.0)))
    people = pd.DataFrame(
        {"district": district, "age": age, "place": np.where(town, "town", "land"), "sex": sex}
    ).assign(w=np.where(sex == "f", 2.0, 1.0))
    people.loc[3, "age"] = np.nan
    results = pd.Series(y).groupby(district).agg(["sum", "size"]).reset_index(names="district")
    results = results.rename(columns={"sum": "yes", "size": "all"}).assign(share=lambda t: t["yes"] / t["all"])
    return people, results, y
