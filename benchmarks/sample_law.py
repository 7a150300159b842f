"""The law of a sample: what rows that are a sample of a population, and the population's share, tell of people.

Populations of 2,000 people have a feature whose frequency differs between them, and 10 % of people without the
feature and 30 % of those with it are positive. The fit sees some rows per group and the share of each population.
The two rates are estimated by the predicted probability of a person with and without the feature, averaged over
groups. For each row of the table: how far the estimates are off on average, how often their 90 % intervals hold
the true rates, and how wide they are. Run

    python -m benchmarks.sample_law [--data-sets 100] [--row NAME ...]

It goes on where it stopped, and writes ``benchmarks/results/sample_law.csv`` and ``.md``.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from benchmarks.markdown import markdown_table, share_and_error
from benchmarks.resumable import read_rows, run_left
from disaggregate import GroupStatsClassifier, evidence

RESULTS = Path(__file__).parent / "results" / "sample_law.csv"
N_GROUPS, POPULATION = 100, 2_000
RATES = (0.10, 0.30)  # of people without and with the feature
FREQUENCY = (4.0, 4.0)  # Beta distribution of the feature's frequency
LIKELIER = 3.0  # how many times as likely a person with the feature is to be sampled, where that is unequal
LEVEL = 0.9
SAMPLED = (5, 20, 60)
# A linear kernel of one feature is the same with centres at its two values as on every row, and is quicker there.
SETTINGS = {
    "kernel": "linear",
    "centers": [[0.0], [1.0]],
    "n_replicas": 1,
    "n_chains": 2,
    "n_draws": 300,
    "n_burn": 150,
}


@dataclass(frozen=True)
class Law:
    """A row of the table.

    Attributes
    ----------
    description : str
        What the fit knows of the sample, in words.
    n_sampled : int
        Rows per group.
    is_weighted : bool
        Whether some are likelier to be sampled than others, and rows have weights that make up for it.
    knows_size : bool
        Whether the report says how large the population is.
    """

    description: str
    n_sampled: int
    is_weighted: bool = False
    knows_size: bool = True


LAWS = {
    **{f"{n} rows": Law("size of the population", n) for n in SAMPLED},
    **{f"{n} rows, weights": Law("size, unequal probabilities, weights", n, is_weighted=True) for n in SAMPLED},
    **{f"{n} rows, no size": Law("no size", n, knows_size=False) for n in SAMPLED},
}


@dataclass(frozen=True)
class Sample:
    """What the fit sees; ``weights`` is None where all were equally likely to be sampled.

    People of a group who are alike are one row, with how many they are in ``counts``: the posterior is the same.
    """

    X: np.ndarray
    groups: np.ndarray
    counts: np.ndarray
    reports: dict[int, evidence.Population]
    weights: np.ndarray | None


def simulate(rng: np.random.Generator, law: Law, n_groups: int = N_GROUPS) -> Sample:
    """Draw populations, and a sample of each.

    Populations come first, so that all rows of the table see samples of the same ones.
    """
    frequency = rng.beta(*FREQUENCY, n_groups)
    feature = (rng.random((n_groups, POPULATION)) < frequency[:, None]).astype(int)
    labels = rng.random(feature.shape) < np.array(RATES)[feature]
    size = POPULATION if law.knows_size else None
    reports = {group: evidence.Population(share, size) for group, share in enumerate(labels.mean(axis=1).tolist())}
    liking = np.where(feature == 1, LIKELIER, 1.0) if law.is_weighted else np.ones(feature.shape)
    drawn = [unequal_sample(rng, own, law.n_sampled) for own in liking]
    people = pd.DataFrame(
        {
            "group": np.repeat(np.arange(n_groups), law.n_sampled),
            "feature": np.concatenate([own[chosen] for own, (chosen, _) in zip(feature, drawn, strict=True)]),
            "weight": 1.0 / np.concatenate([chance for _, chance in drawn]),
        }
    )
    cells = people.groupby(["group", "feature"], as_index=False).agg(
        count=("weight", "size"), weight=("weight", "first")
    )
    X, weights = cells[["feature"]].to_numpy(float), cells["weight"].to_numpy()
    counts, groups = cells["count"].to_numpy(), cells["group"].to_numpy()
    return Sample(X, groups, counts, reports, weights if law.is_weighted else None)


def unequal_sample(rng: np.random.Generator, liking: np.ndarray, n_sampled: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a systematic sample in random order, without replacement.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the order and the start.
    liking : ndarray of shape (n_people,)
        How likely each is to be sampled, in any unit; nobody's share may be above 1 / n_sampled.
    n_sampled : int
        Size of the sample.

    Returns
    -------
    chosen, chance : ndarray of shape (n_sampled,)
        Who was sampled, and how probable it was that each of them would be.
    """
    order = rng.permutation(len(liking))
    chance = n_sampled * liking / liking.sum()
    place = np.searchsorted(np.cumsum(chance[order]), rng.random() + np.arange(n_sampled), side="right")
    chosen = order[np.minimum(place, len(order) - 1)]  # the sum may end a rounding error too early
    return chosen, chance[chosen]


def judged(draws: np.ndarray) -> dict[str, float]:
    """Compare draws of the two rates, shape (n_draws, 2), with the truth."""
    low, high = np.quantile(draws, [0.5 - 0.5 * LEVEL, 0.5 + 0.5 * LEVEL], axis=0)
    found = {}
    for place, rate in enumerate(RATES):
        found[f"estimate_{place}"] = float(draws[:, place].mean())
        found[f"covered_{place}"] = float(low[place] <= rate <= high[place])
        found[f"width_{place}"] = float(high[place] - low[place])
    return found


def rate_draws(model: Any, groups: np.ndarray) -> np.ndarray:
    """Average the probability of a person without and with the feature over groups, shape (n_draws, 2)."""
    names = np.unique(groups)
    draws = [model.predict_draws(np.full((len(names), 1), value), names) for value in (0.0, 1.0)]
    return np.column_stack([own.reshape(-1, len(names)).mean(axis=1) for own in draws])


def fit_one(seed: int, law: Law, n_groups: int = N_GROUPS) -> dict[str, float]:
    """Simulate, fit and judge one data set."""
    data = simulate(np.random.default_rng(seed), law, n_groups)
    model = GroupStatsClassifier(**SETTINGS, random_state=seed)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(data.X, data.reports, groups=data.groups, counts=data.counts, sample_weight=data.weights)
    seconds = time.perf_counter() - began
    return judged(rate_draws(model, data.groups)) | {"seconds": seconds}


def report(rows: pd.DataFrame) -> str:
    """Write the table, a line per rate."""
    parts = [(law, rows[rows["case"] == name]) for name, law in LAWS.items()]
    table = [line_of(law, part, place) for law, part in parts if len(part) for place in range(len(RATES))]
    header = ["rows per group", "what is known", "data sets", "true rate", "mean estimate", "bias"]
    lines = [
        "# The law of a sample",
        "",
        f"Made by `python -m benchmarks.sample_law`: {N_GROUPS} groups, populations of {POPULATION:,}, a feature "
        f"whose frequency has a Beta{FREQUENCY} distribution over groups, and rates of {RATES[0]:.2f} without it "
        f"and {RATES[1]:.2f} with it. The fit sees some people per group, those alike as one row, and the share "
        "of each population, with a linear kernel. An estimate is the predicted probability averaged over groups; "
        "± are standard errors over data sets. Where probabilities are unequal, people with the feature are "
        f"{LIKELIER:.0f} times as likely to be sampled, and rows have the inverse of their probability as weight. "
        "Seconds: median over fits.",
        "",
        *markdown_table([*header, "90 % interval", "its width", "seconds"], table),
    ]
    return "\n".join([*lines, ""])


def line_of(law: Law, rows: pd.DataFrame, place: int) -> list[str]:
    """Return the cells of one rate."""
    estimate, rate = rows[f"estimate_{place}"], RATES[place]
    return [
        str(law.n_sampled),
        law.description,
        str(len(rows)),
        f"{rate:.2f}",
        f"{estimate.mean():.4f}",
        f"{estimate.mean() - rate:+.4f} ± {estimate.sem():.4f}",
        share_and_error(rows[f"covered_{place}"]),
        f"{rows[f'width_{place}'].mean():.4f}",
        f"{rows['seconds'].median():.1f}",
    ]


def main() -> None:
    """Run all rows and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-sets", type=int, default=100, help="simulations per row (default: 100)")
    parser.add_argument("--row", choices=list(LAWS), action="append", help="one row, or several (default: all)")
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    for name in arguments.row or LAWS:
        run_left(arguments.output, arguments.data_sets, lambda seed, n=name: fit_one(seed, LAWS[n]), case=name)
        text = report(read_rows(arguments.output))
        arguments.output.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
