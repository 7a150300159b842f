"""Predictors made by hand: probits whose draws are known."""

import numpy as np
from scipy.special import ndtr


def of_table(draws):
    """Make a predictor by rows of a whole table of draws, which keeps the rows that were requested."""
    draws = np.asarray(draws, dtype=float)
    asked = []

    def probability(rows):
        asked.append(np.arange(draws.shape[1])[rows])
        return draws[:, rows]

    probability.asked = asked
    return probability


def probit(constants, slopes, name="x"):
    """Make a predictor of a table: Phi(a + b x), with an a and a b for each draw."""
    constants, slopes = np.asarray(constants, float), np.asarray(slopes, float)

    def predict(people):
        x = people[name].to_numpy().astype(float)
        return ndtr(constants[:, None] + slopes[:, None] * x)

    return predict
