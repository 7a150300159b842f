"""How good a prediction is for people, for subgroups of them, and for its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.metrics import log_loss, roc_auc_score

from benchmarks.truth.task import Task, people_per_row

LEVEL = 0.9
_LEAST = 1e-6


@dataclass(frozen=True)
class Prediction:
    """What a method says of the judges.

    Attributes
    ----------
    probability : ndarray of shape (n_rows,)
        Probability of the positive class.
    draws : ndarray of shape (n_draws, n_rows), optional
        The same in each draw, from methods that have intervals.
    of_these_people : bool
        Whether draws are shares among the judges themselves, not probabilities.
    """

    probability: np.ndarray
    draws: np.ndarray | None = None
    of_these_people: bool = False


def scores(task: Task, prediction: Prediction) -> tuple[list[dict[str, Any]], pd.DataFrame]:
    """Judge each half on its own; return a line of scores per half, and the rates of subgroups by one column."""
    lines, tables = [], []
    outcomes = prediction.draws
    if outcomes is not None and not prediction.of_these_people:
        outcomes = _outcomes(outcomes, people_per_row(task.judges))
    for half, rows in task.halves.items():
        people = people_per_row(task.judges)[rows]
        probability, truth = prediction.probability[rows], task.truth[rows]
        drawn = None if outcomes is None else outcomes[:, rows]
        by = task.by[rows].reset_index(drop=True)
        subgroups, areas = (
            rates_of(by, groupings, people, truth, probability, drawn, task.fewest)
            for groupings in (task.groupings, [task.by_area] if task.by_area else [])
        )
        lines.append(
            {
                "half": half,
                **of_people(truth, people, probability),
                **of_rates(subgroups),
                "slope": slope(subgroups),
                **{f"area_{name}": value for name, value in of_rates(areas).items()},
            }
        )
        tables.append(subgroups[~subgroups["by"].str.contains(" x ")].assign(half=half))
    return lines, pd.concat(tables, ignore_index=True)


def of_people(truth: np.ndarray, people: np.ndarray, probability: np.ndarray) -> dict[str, float]:
    """Log loss and AUC of individuals; a cell is as many people, of whom the true share are positive."""
    y = np.repeat([1, 0], len(truth))
    weight = np.concatenate([people * truth, people * (1.0 - truth)])
    chance = np.tile(probability.clip(_LEAST, 1.0 - _LEAST), 2)
    return {
        "log_loss": float(log_loss(y, chance, sample_weight=weight, labels=[0, 1])),
        "auc": float(roc_auc_score(y, chance, sample_weight=weight)),
    }


def rates_of(
    by: pd.DataFrame,
    groupings: Sequence[Sequence[str]],
    people: np.ndarray,
    truth: np.ndarray,
    probability: np.ndarray,
    outcomes: np.ndarray | None,
    fewest: int,
) -> pd.DataFrame:
    """Tabulate the subgroups that are large enough: truth, estimate, and the ends of the interval.

    Parameters
    ----------
    by : DataFrame
        Columns that make subgroups.
    groupings : sequence of sequence of str
        Columns that are taken together.
    people : ndarray
        How many people each row stands for.
    truth, probability : ndarray
        Share of positives in each row, true and predicted.
    outcomes : ndarray of shape (n_draws, n_rows) or None
        Share of positives in each row, drawn.
    fewest : int
        People in the smallest subgroup.
    """
    parts = [_rates(by, list(names), people, truth, probability, outcomes) for names in groupings]
    columns = ["by", "subgroup", "n", "truth", "estimate", "low", "high"]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns, dtype=float)
    return table[table["n"] >= fewest].reset_index(drop=True)


def _rates(
    by: pd.DataFrame,
    names: list[str],
    people: np.ndarray,
    truth: np.ndarray,
    probability: np.ndarray,
    outcomes: np.ndarray | None,
) -> pd.DataFrame:
    labels = by[names[0]].astype(str).str.cat(by[names[1:]].astype(str), sep=", ")
    codes, subgroups = pd.factorize(labels, sort=True)
    rows = np.arange(len(by))
    n = np.bincount(codes, weights=people)
    averaging = csr_array((people / n[codes], (codes, rows)), shape=(len(subgroups), len(by)))
    low = high = np.full(len(subgroups), np.nan)
    if outcomes is not None:
        low, high = np.quantile(averaging @ outcomes.T, [0.5 - 0.5 * LEVEL, 0.5 + 0.5 * LEVEL], axis=1)
    return pd.DataFrame(
        {
            "by": " x ".join(names),
            "subgroup": subgroups,
            "n": n.astype(int),
            "truth": averaging @ truth,
            "estimate": averaging @ probability,
            "low": low,
            "high": high,
        }
    )


def of_rates(table: pd.DataFrame) -> dict[str, float]:
    """Mean absolute error of rates, how often their intervals hold the truth, and how wide these are."""
    nothing = {"subgroups": 0, "error": np.nan, "coverage": np.nan, "width": np.nan}
    if not len(table):
        return nothing
    found = {**nothing, "subgroups": len(table), "error": float((table["estimate"] - table["truth"]).abs().mean())}
    if table["low"].notna().all():
        found["coverage"] = float(is_covered(table).mean())
        found["width"] = float((table["high"] - table["low"]).mean())
    return found


def is_covered(table: pd.DataFrame) -> pd.Series:
    """Whether each interval holds the truth."""
    # Rates are counts over n: a bound that is such a count must not fail by rounding.
    return table["truth"].between(table["low"] - 1e-9, table["high"] + 1e-9)


def slope(table: pd.DataFrame) -> float:
    """Slope of the truth on the estimate, by number of people: 1 if differences are as large as they should be."""
    if len(table) < 3 or np.ptp(table["estimate"]) < 1e-6:
        return np.nan
    return float(np.polyfit(table["estimate"], table["truth"], 1, w=np.sqrt(table["n"]))[0])


def _outcomes(draws: np.ndarray, people: np.ndarray) -> np.ndarray:
    """Draw outcomes of these very people, as their true shares are those of outcomes and not of probabilities."""
    rng = np.random.default_rng(0)
    if (people == 1.0).all():
        return (rng.random(draws.shape, dtype=np.float32) < draws).astype(np.float32)
    return rng.binomial(people.astype(int), draws.clip(0.0, 1.0)) / people
