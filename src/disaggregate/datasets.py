"""Simulated populations with known truth.

Every function returns a scikit-learn ``Bunch`` with what a fit and its judgement need: ``X``, ``groups`` (one
id per row), ``shares`` (a Series by group id) and ``y``, the true labels, which no fit may see.
"""

from __future__ import annotations

import math
from numbers import Integral
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import Bunch

__all__ = ["make_districts", "make_hidden_cluster", "make_population"]

RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

# ---- the paper's first experiment ----------------------------------------------------------------------

DISTRICTS = pd.DataFrame(
    {"n": [19, 16, 20], "positives": [14, 4, 17], "reported": [0.73, 0.25, 0.85]},
    index=pd.Index(["A", "B", "C"], name="group"),
)
POSITIVE_CENTRES = np.array([[-2.0, 1.0], [2.0, -1.0]])
NEGATIVE_CENTRE = np.zeros(2)
POSITIVE_SPREAD, NEGATIVE_SPREAD = 0.8, 0.65


def make_districts(*, random_state: RandomState = None) -> Bunch:
    """Draw three districts with reported shares: the layout of the paper's first experiment.

    Groups A, B and C hold 19, 16 and 20 individuals, of whom 14, 4 and 17 are positive; the shares are
    those that the paper reports: 0.73, 0.25 and 0.85. Positives lie in two clouds with the
    negatives between them, so that no straight line separates them. Positions depend only on the label
    in every district.

    Parameters
    ----------
    random_state : int, numpy Generator, numpy RandomState or None, default=None
        Seed of the positions. The sizes and the shares are always the same.

    Returns
    -------
    Bunch
        ``X`` (55, 2), ``groups`` (strings), ``shares`` (Series), ``y`` (0 or 1) and ``DESCR``.

    Examples
    --------
    >>> from disaggregate.datasets import make_districts
    >>> data = make_districts(random_state=0)
    >>> data.shares.to_dict()
    {'A': 0.73, 'B': 0.25, 'C': 0.85}
    """
    rng = make_generator(random_state)
    groups = np.repeat(DISTRICTS.index.to_numpy(dtype=str), DISTRICTS["n"])
    seats = zip(DISTRICTS["n"], DISTRICTS["positives"], strict=True)
    y = np.concatenate([rng.permutation(np.arange(n) < k) for n, k in seats]).astype(np.int64)
    cloud = rng.integers(len(POSITIVE_CENTRES), size=len(y))
    centre = np.where(y[:, None] == 1, POSITIVE_CENTRES[cloud], NEGATIVE_CENTRE)
    spread = np.where(y == 1, POSITIVE_SPREAD, NEGATIVE_SPREAD)
    X = centre + spread[:, None] * rng.standard_normal((len(y), 2))
    return Bunch(
        X=X,
        groups=groups,
        shares=DISTRICTS["reported"].rename("share"),
        y=y,
        DESCR="Three districts of 19, 16 and 20 individuals in the plane with reported shares 0.73, 0.25 and "
        "0.85: the layout of the first experiment of Kück & de Freitas (2005). Positives lie in two clouds, "
        "negatives between them.",
    )


# ---- a cluster of positives hidden under the negatives -------------------------------------------------

GROUP_SIZE = 8
MOST_POSITIVES = 6
POSITIVE_GROUPS, ALL_GROUPS = 13, 75
BAYES_AUC = 0.94
BACKGROUND_SPREAD = 3.0
# The squared radius is exponential in both classes, with means 2 s^2 and 2 S^2, so the area under the curve
# of the best possible score is exactly S^2 / (S^2 + s^2); solved for s.
CLUSTER_SPREAD = BACKGROUND_SPREAD * math.sqrt(1.0 / BAYES_AUC - 1.0)


def make_hidden_cluster(*, n_groups: int = ALL_GROUPS, random_state: RandomState = None) -> Bunch:
    """Draw groups of eight, few of which hold positives: a tight cluster hidden under a wide background.

    Negatives are N(0, 3^2 I) in the plane and positives N(0, s^2 I), with s such that the best possible
    score has an area under the curve of exactly 0.94. By default 13 of 75 groups hold between one and six
    positives each; all other groups have a share of 0.

    Parameters
    ----------
    n_groups : int, default=75
        Number of groups of eight. Thirteen in 75 (rounded, at least one) hold positives, so a fresh or a
        larger test set of the same population is one call with another ``random_state``.
    random_state : int, numpy Generator, numpy RandomState or None, default=None
        Seed of the positions, the groups with positives, and the positives within them.

    Returns
    -------
    Bunch
        ``X`` (8 * n_groups, 2), ``groups`` (integers from 0), ``shares`` (Series), ``y`` (0 or 1),
        ``bayes_auc`` (0.94, of the population), ``bayes_score`` (the log density ratio of positives to
        negatives at each row) and ``DESCR``.

    Examples
    --------
    >>> from disaggregate.datasets import make_hidden_cluster
    >>> data = make_hidden_cluster(random_state=0)
    >>> data.X.shape, int((data.shares > 0).sum())
    ((600, 2), 13)
    """
    n_groups = positive_int("n_groups", n_groups)
    rng = make_generator(random_state)
    n_with_positives = max(1, round(n_groups * POSITIVE_GROUPS / ALL_GROUPS))
    positives = np.zeros(n_groups, dtype=np.int64)
    chosen = rng.choice(n_groups, size=n_with_positives, replace=False)
    positives[chosen] = rng.integers(1, MOST_POSITIVES, size=n_with_positives, endpoint=True)

    in_order = np.arange(GROUP_SIZE) < positives[:, None]
    y = rng.permuted(in_order, axis=1).ravel().astype(np.int64)
    spread = np.where(y == 1, CLUSTER_SPREAD, BACKGROUND_SPREAD)
    X = spread[:, None] * rng.standard_normal((len(y), 2))
    groups = np.repeat(np.arange(n_groups), GROUP_SIZE)
    return Bunch(
        X=X,
        groups=groups,
        shares=_realised_shares(groups, y, n_groups),
        y=y,
        bayes_auc=BAYES_AUC,
        bayes_score=_hidden_cluster_score(X),
        DESCR=f"{n_groups} groups of {GROUP_SIZE} individuals in the plane, {n_with_positives} of which hold "
        f"one to {MOST_POSITIVES} positives. Positives form a tight cluster in the middle of the negatives; "
        f"the best possible score has an area under the curve of {BAYES_AUC}.",
    )


def _hidden_cluster_score(X: FloatArray) -> FloatArray:
    """Log density ratio of positives to negatives."""
    squared_radius = np.square(X).sum(axis=1)
    precision_gap = CLUSTER_SPREAD**-2 - BACKGROUND_SPREAD**-2
    score: FloatArray = 2.0 * math.log(BACKGROUND_SPREAD / CLUSTER_SPREAD) - 0.5 * precision_gap * squared_radius
    return score


# ---- a census-like population --------------------------------------------------------------------------

EDUCATION_LEVELS = ["primary", "secondary", "vocational", "bachelor", "master"]
EDUCATION_CUTS = [-1.2, -0.1, 0.5, 1.2]
YOUNGEST, OLDEST = 18, 95


def make_population(n: int = 2000, *, n_groups: int = 50, random_state: RandomState = None) -> Bunch:
    """Draw a census-like population in districts that differ in size, wealth, age and education.

    The probability of a positive depends on the individual's own features only: it falls and rises again
    with age, rises with income up to a ceiling, and education counts for more among women than among men.
    The districts matter through their composition alone, so a classifier of individuals can, in principle,
    explain every share.

    Parameters
    ----------
    n : int, default=2000
        Number of individuals.
    n_groups : int, default=50
        Number of districts, at most ``n``; none is empty.
    random_state : int, numpy Generator, numpy RandomState or None, default=None
        Seed of the whole population.

    Returns
    -------
    Bunch
        ``X`` (DataFrame: age, income, education, sex, employed, household_size), ``groups`` (integers from
        0, in no order), ``shares`` (Series: realised share of positives), ``y`` (0 or 1), ``p`` (the
        probability from which each label was drawn) and ``DESCR``.

    Examples
    --------
    >>> from disaggregate.datasets import make_population
    >>> data = make_population(500, n_groups=10, random_state=0)
    >>> list(data.X.columns)
    ['age', 'income', 'education', 'sex', 'employed', 'household_size']
    """
    n, n_groups = positive_int("n", n), positive_int("n_groups", n_groups)
    if n < n_groups:
        raise ValueError(
            f"make_population needs at least one individual per group, but got n={n} for n_groups={n_groups}. "
            "Raise n or lower n_groups."
        )
    rng = make_generator(random_state)
    groups = _district_of_each(rng, n, n_groups)
    X = _people(rng, groups, n_groups)
    p = _population_probability(X)
    y = (rng.random(n) < p).astype(np.int64)
    return Bunch(
        X=X,
        groups=groups,
        shares=_realised_shares(groups, y, n_groups),
        y=y,
        p=p,
        DESCR=f"A census-like population of {n} individuals in {n_groups} districts that differ in size, "
        "wealth, age and education. Labels depend on the individual's features only, through the known "
        "probability p.",
    )


def _district_of_each(rng: np.random.Generator, n: int, n_groups: int) -> IntArray:
    """Districts of unequal size in random order; the first n_groups seats make sure that none is empty."""
    weights = rng.gamma(4.0, size=n_groups)
    rest = rng.choice(n_groups, size=n - n_groups, p=weights / weights.sum())
    return rng.permutation(np.concatenate([np.arange(n_groups), rest]))


def _people(rng: np.random.Generator, groups: IntArray, n_groups: int) -> pd.DataFrame:
    """Draw everybody's features given the wealth and the age of their district."""
    n = len(groups)
    wealth = rng.normal(0.0, 0.7, size=n_groups)[groups]
    youth = rng.normal(0.0, 0.35, size=n_groups)[groups]

    age = np.floor(YOUNGEST + (OLDEST + 1 - YOUNGEST) * rng.beta(1.6, 2.6 * np.exp(youth))).astype(np.int64)
    years_from_middle = (age - 46) / 10.0
    level = np.digitize(0.7 * wealth - 0.12 * years_from_middle + rng.standard_normal(n), EDUCATION_CUTS)
    female = rng.random(n) < 0.51
    employed = rng.random(n) < _logistic(2.2 + 0.25 * (level - 2) - 0.55 * years_from_middle**2)
    log_income = 9.9 + 0.18 * level + 0.35 * wealth + 0.5 * employed + rng.normal(0.0, 0.5, size=n)
    household_size = 1 + rng.poisson(0.4 + 1.5 * np.exp(-(((age - 40) / 14.0) ** 2)))
    return pd.DataFrame(
        {
            "age": age,
            "income": np.exp(log_income).round(2),
            "education": pd.Categorical.from_codes(level, categories=EDUCATION_LEVELS, ordered=True),
            "sex": pd.Categorical.from_codes(female.astype(np.int8), categories=["male", "female"]),
            "employed": employed,
            "household_size": household_size,
        }
    )


def _population_probability(X: pd.DataFrame) -> FloatArray:
    """Probability of a positive: a valley in age, a ceiling in income, education by sex."""
    valley = ((X["age"].to_numpy() - 50.0) / 18.0) ** 2 - 1.0
    ceiling = np.tanh(1.5 * (np.log(X["income"].to_numpy()) - 10.6))
    level = X["education"].cat.codes.to_numpy() - 2.0
    female = (X["sex"] == "female").to_numpy()
    out_of_work = ~X["employed"].to_numpy()
    alone = (X["household_size"] == 1).to_numpy()
    circumstances = 0.4 * alone - 0.5 * out_of_work
    return _logistic(0.8 * valley + 1.3 * ceiling + np.where(female, 0.8, -0.1) * level + circumstances - 0.4)


# ---- shared by all -------------------------------------------------------------------------------------


def _realised_shares(groups: IntArray, y: IntArray, n_groups: int) -> pd.Series:
    positives = np.bincount(groups, weights=y, minlength=n_groups)
    sizes = np.bincount(groups, minlength=n_groups)
    return pd.Series(positives / sizes, index=pd.RangeIndex(n_groups, name="group"), name="share")


def _logistic(score: FloatArray) -> FloatArray:
    return 0.5 * (1.0 + np.tanh(0.5 * score))


def make_generator(random_state: RandomState) -> np.random.Generator:
    """Return a generator, whichever way the seed was given."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    if isinstance(random_state, Integral) and not isinstance(random_state, bool) and random_state >= 0:
        return np.random.default_rng(int(random_state))
    raise ValueError(
        "random_state must be None, a non-negative integer, a numpy Generator or a numpy RandomState, "
        f"but got {random_state!r}. Pass, for instance, random_state=0."
    )


def positive_int(name: str, value: int) -> int:
    """Return a requested size, or say what is wrong with it."""
    if isinstance(value, Integral) and not isinstance(value, bool) and value > 0:
        return int(value)
    raise ValueError(f"{name} must be a positive integer, but got {value!r}. Pass, for instance, {name}=100.")
