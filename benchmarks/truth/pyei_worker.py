"""Runs inside PyEI's own environment: fits the margins in the ``.npz`` file that it is given.

Draws of the share of positives in each cell, shape (n_draws, n_areas, n_kinds), go to the file with ``.npy``.
Where positives are a table of outcomes, draws are of the share of each, with outcomes as the last axis.
"""

import sys
from pathlib import Path

import numpy as np
from pyei.r_by_c import RowByColumnEI
from pyei.two_by_two import TwoByTwoEI

MOST_DRAWS = 1_000


def two_by_two(model, people, positives, seed):
    """Fit a model of the first kind of people against the second."""
    size = people.sum(axis=1)
    found = TwoByTwoEI(model_name=model)
    found.fit(people[:, 0] / size, positives / size, size, random_seed=seed, progressbar=False)
    posterior = found.sim_trace["posterior"]
    first, second = (posterior[name].to_numpy().reshape(-1, len(size)) for name in ("b_1", "b_2"))
    return np.stack([first, second], axis=2)


def rows_by_columns(model, people, positives, seed):
    """Fit a model of all kinds of people and outcomes, or of positives against the others."""
    size = people.sum(axis=1)
    is_table = positives.ndim == 2
    shares = (positives.T if is_table else np.stack([positives, size - positives])) / size
    found = RowByColumnEI(model_name=model)
    found.fit(people.T / size, shares, size, random_seed=seed, progressbar=False)
    cells = found.sim_trace["posterior"]["b"].to_numpy()  # chain, draw, area, kind, outcome
    cells = cells.reshape(-1, *cells.shape[2:])
    return cells if is_table else cells[..., 0]


def main(path):
    """Fit, thin and write."""
    with np.load(path) as given:
        people, positives = given["people"].astype(int), given["positives"].astype(int)
        model, seed = str(given["model"]), int(given["seed"])
    fit = rows_by_columns if model.startswith("multinomial") else two_by_two
    draws = fit(model, people, positives, seed)
    kept = np.linspace(0, len(draws) - 1, min(len(draws), MOST_DRAWS)).astype(int)
    np.save(Path(path).with_suffix(".npy"), draws[kept])


if __name__ == "__main__":
    main(sys.argv[1])
