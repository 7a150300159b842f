"""Do intervals cover what they claim? Simulation-based calibration on data drawn from the model's own prior.

For each data set: individuals at random, kernel, scale, weights, labels and reports drawn from the model; a fit;
and the question whether the 50 % and 90 % intervals of the individuals' probabilities hold the true ones, and
where the truth ranks among the draws. Run

    python -m benchmarks.calibration [--data-sets 500] [--case NAME ...]

It goes on where it stopped, and writes ``benchmarks/results/calibration.csv``, ``.md`` and ``.png``.
"""

from __future__ import annotations

import argparse
import csv
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.progress import track
from scipy.special import ndtr
from scipy.stats import chisquare
from sklearn.exceptions import ConvergenceWarning

from disaggregate import GroupStatsClassifier, evidence
from disaggregate.basis import Basis, candidate_kernels, principal_directions, resolve_kernel, unit_columns
from disaggregate.groups.context import context_of
from disaggregate.groups.grouped import group_rows
from disaggregate.settings import scale_prior

RESULTS = Path(__file__).parent / "results" / "calibration.csv"
LEVELS = (0.5, 0.9)
CONFIDENCE = 1000.0
GAMMA = 0.5
N_BINS = 10
SHORT = {"n_chains": 2, "n_draws": 500, "n_burn": 200}
SPARSE_CENTERS = np.array([[-1.5, 0.0], [1.5, 0.0], [0.0, 1.5], [0.0, -1.5], [0.0, 0.0]])

Report = Callable[[int, int, np.random.Generator], Any]


def fraction(count: int, n: int, rng: np.random.Generator) -> evidence.Fraction:
    """Report a share, nearly exact."""
    share = count / n
    return evidence.Fraction(rng.beta(CONFIDENCE * share + 1.0, CONFIDENCE * (1.0 - share) + 1.0), CONFIDENCE)


def at_least_one(count: int, n: int, rng: np.random.Generator) -> evidence.Evidence:
    """Report whether there is any."""
    return evidence.AtLeast(1) if count else evidence.AtMost(0)


def between(count: int, n: int, rng: np.random.Generator) -> evidence.Between:
    """Report a range of three counts."""
    return evidence.Between(count // 3 * 3, min(count // 3 * 3 + 2, n))


def population(count: int, n: int, rng: np.random.Generator) -> evidence.Population:
    """Report the share of a large population, any share being as likely as any other before its sample is seen."""
    return evidence.Population(rng.beta(count + 1.0, n - count + 1.0))


def survey(count: int, n: int, rng: np.random.Generator) -> evidence.Survey:
    """Report a poll of half of the members."""
    return evidence.Survey(int(rng.hypergeometric(count, n - count, n // 2)), n // 2)


def laplace(count: int, n: int, rng: np.random.Generator) -> evidence.NoisyCount:
    """Report a count with Laplace noise."""
    return evidence.NoisyCount(count + rng.laplace(scale=1.5), 1.5)


def gaussian(count: int, n: int, rng: np.random.Generator) -> evidence.NoisyCount:
    """Report a count with Gaussian noise."""
    return evidence.NoisyCount(count + 1.5 * rng.standard_normal(), 1.5, "gaussian")


@dataclass(frozen=True)
class Case:
    """What is drawn from the prior, and how it is fitted.

    Attributes
    ----------
    told : str
        The same in words, for the table.
    report : callable
        From a count of positives to what the group reports.
    n_groups, size : int
        Groups of so many.
    kernel : str
        Of the data and the fit; "auto" draws one by the prior odds of the candidates.
    is_sparse, is_weighted, has_context : bool
        Whether the weights of kernels are sparse, whether members have survey weights, and whether the make-up of
        groups, whose averages then differ, matters.
    settings : dict
        Of the fit.
    """

    told: str
    report: Report = fraction
    n_groups: int = 8
    size: int = 8
    kernel: str = "rbf"
    is_sparse: bool = False
    is_weighted: bool = False
    has_context: bool = False
    settings: dict[str, Any] = field(default_factory=dict)


SPARSE = {"weights": "sparse", "centers": SPARSE_CENTERS}
CASES = {
    "default": Case("all defaults, kernels averaged", kernel="auto"),
    "rbf": Case("Gaussian kernel"),
    "larger groups": Case("Gaussian kernel, larger groups", n_groups=5, size=20),
    "linear": Case("linear kernel", kernel="linear"),
    "count": Case("exact counts", lambda count, n, rng: evidence.Count(count)),
    "at least": Case("at least one, or none", at_least_one),
    "between": Case("between two counts", between),
    "population": Case("a sample of a population", population),
    "survey": Case("a poll of half of the members", survey),
    "laplace": Case("Laplace noise on counts", laplace),
    "gaussian": Case("Gaussian noise on counts", gaussian),
    "weighted": Case("survey weights", is_weighted=True),
    "context": Case(
        "make-up of groups matters", kernel="linear", n_groups=12, has_context=True, settings={"context": True}
    ),
    "sparse": Case("sparse weights", is_sparse=True, settings=SPARSE),
    "published": Case(
        "sparse weights, moves of 2005",
        is_sparse=True,
        settings={**SPARSE, "latent": "metropolis", "n_draws": 4000, "n_burn": 1000},
    ),
}


@dataclass(frozen=True)
class DataSet:
    """One draw from the prior."""

    X: np.ndarray
    groups: np.ndarray
    reports: dict[int, Any]
    weights: np.ndarray | None
    probability: np.ndarray


def simulate(rng: np.random.Generator, case: Case) -> DataSet:
    """Draw features, probabilities, labels and reports from the prior."""
    n_rows = case.n_groups * case.size
    X = rng.standard_normal((n_rows, 2))
    groups = np.repeat(np.arange(case.n_groups), case.size)
    if case.has_context:
        X += rng.standard_normal((case.n_groups, 2))[groups]
    told = groups if case.has_context else None
    probability = ndtr(sparse_scores(rng, X) if case.is_sparse else dense_scores(rng, X, case.kernel, told))
    labels = rng.random(n_rows) < probability
    weights = rng.integers(1, 4, n_rows) if case.is_weighted else np.ones(n_rows, dtype=int)
    reports = {
        group: case.report(int(weights[rows] @ labels[rows]), int(weights[rows].sum()), rng)
        for group, rows in enumerate(np.split(np.arange(n_rows), case.n_groups))
    }
    return DataSet(X, groups, reports, weights if case.is_weighted else None, probability)


def dense_scores(
    rng: np.random.Generator, X: np.ndarray, kernel: str, groups: np.ndarray | None = None
) -> np.ndarray:
    """Draw f from the Gaussian process, with the context of groups if given; and its kernel for "auto"."""
    candidates = candidate_kernels(kernel, "auto" if kernel == "auto" else GAMMA, 3, 1.0, "auto", X)
    odds = np.array([candidate.odds for candidate in candidates], dtype=float)
    chosen = candidates[rng.choice(len(odds), p=odds / odds.sum())] if len(odds) > 1 else candidates[0]
    basis, rows = Basis(chosen.kernel, X, True, groups is not None, chosen.emphasis), X
    if groups is not None:
        known = group_rows(groups.tolist(), dict.fromkeys(groups.tolist(), evidence.Unknown()))
        rows = context_of(X, known).beside(X, groups.tolist())
    directions = principal_directions(basis, basis.columns(rows))
    mu, nu = scale_prior("dense", None, None)
    delta2 = 0.5 * nu / rng.standard_gamma(0.5 * mu)
    weights = np.sqrt(delta2 * directions.spread) * rng.standard_normal(len(directions.spread))
    return weights @ directions.columns


def sparse_scores(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """Draw active kernels, scale and weights, eqs. (5) to (7) with a = b = 1."""
    basis = Basis(resolve_kernel("rbf", GAMMA, 3, 1.0, X), SPARSE_CENTERS, True)
    psi, _ = unit_columns(basis.columns(X))
    is_active = rng.random(len(psi)) < rng.random()
    is_active[0] = True  # the intercept
    active = psi[is_active]
    mu, nu = scale_prior("sparse", None, None)
    delta2 = 0.5 * nu / rng.standard_gamma(0.5 * mu)
    factor = np.linalg.cholesky(active @ active.T)
    return math.sqrt(delta2) * np.linalg.solve(factor.T, rng.standard_normal(len(active))) @ active


def fit_one(seed: int, case: Case, **settings: Any) -> dict[str, float]:
    """Fit one simulated data set; return the share of individuals covered, and the rank of one true value."""
    rng = np.random.default_rng(seed)
    data = simulate(rng, case)
    width = (
        {"kernel": "auto", "gamma": "auto"} if case.kernel == "auto" else {"kernel": case.kernel, "gamma": GAMMA}
    )
    model = GroupStatsClassifier(**{**width, "random_state": seed, **SHORT, **case.settings, **settings})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(data.X, data.reports, groups=data.groups, sample_weight=data.weights)
    found = {}
    for level in LEVELS:
        low, high = model.predict_interval(data.X, level=level, groups=data.groups).T
        found[f"covered_{level:.0%}"] = float(np.mean((low <= data.probability) & (data.probability <= high)))
    ranks = (model.predict_draws(data.X, data.groups) < data.probability).mean(axis=(0, 1))
    return found | {"rank": float(ranks[rng.integers(len(ranks))]), "mean_rank": float(ranks.mean())}


def read_rows(path: Path) -> pd.DataFrame:
    """Read what was done before."""
    names = ["case", "seed", *(f"covered_{level:.0%}" for level in LEVELS), "rank", "mean_rank"]
    return pd.read_csv(path) if path.exists() else pd.DataFrame(columns=names)


def run_case(name: str, n_sets: int, path: Path) -> None:
    """Fit what is missing of a case, a line of the file a data set."""
    known = read_rows(path)
    done = set(known.loc[known["case"] == name, "seed"])
    left = [seed for seed in range(n_sets) if seed not in done]
    for seed in track(left, description=name):
        row = {"case": name, "seed": seed, **fit_one(seed, CASES[name])}
        is_new = not path.exists()
        with path.open("a", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(row), lineterminator="\n")
            if is_new:
                writer.writeheader()
            writer.writerow({key: f"{v:.6g}" if isinstance(v, float) else v for key, v in row.items()})


def report(rows: pd.DataFrame) -> str:
    """Write the table."""
    lines = [
        "# Calibration",
        "",
        "Made by `python -m benchmarks.calibration`: data sets drawn from the prior, groups of 8 (20 in the row "
        "of larger groups); share of individuals whose true probability lies in its interval, ± standard error "
        "over data sets; and the p-value of a chi-squared test that the truth of one individual a data set ranks "
        "uniformly among its draws. The moves of 2005 hardly leave the explanation that they start from in 4,000 "
        "draws a chain; their row shows what that does to intervals.",
        "",
        "| case | data sets | 50 % interval | 90 % interval | uniform ranks |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, part in rows.groupby("case", sort=False):
        cells = [CASES[str(name)].told, str(len(part))]
        for level in LEVELS:
            values = part[f"covered_{level:.0%}"]
            cells.append(f"{values.mean():.1%} ± {values.sem():.1%}")
        counts, _ = np.histogram(part["rank"], bins=N_BINS, range=(0.0, 1.0))
        lines.append(f"| {' | '.join([*cells, f'p = {chisquare(counts).pvalue:.2f}'])} |")
    return "\n".join([*lines, "", "![Ranks of the truth among the draws](calibration.png)", ""])


def chart(rows: pd.DataFrame, path: Path) -> None:
    """Draw a histogram of ranks for each case, with the band of 95 % of the bars when ranks are uniform."""
    from matplotlib.figure import Figure
    from scipy.stats import binom

    cases = list(rows.groupby("case", sort=False))
    n_columns = min(4, len(cases))
    n_rows = -(-len(cases) // n_columns)
    figure = Figure(figsize=(3.0 * n_columns, 2.3 * n_rows), layout="constrained")
    axes = np.atleast_1d(figure.subplots(n_rows, n_columns, sharex=True)).ravel()
    for ax, (name, part) in zip(axes, cases, strict=False):
        low, high = binom.ppf([0.025, 0.975], len(part), 1.0 / N_BINS)
        ax.axhspan(low, high, color="#d8d8d8")
        ax.hist(part["rank"], bins=N_BINS, range=(0.0, 1.0), color="#542788")
        ax.set_title(CASES[str(name)].told, fontsize=9)
    for ax in axes[len(cases) :]:
        ax.set_visible(False)
    figure.supxlabel("rank of the true probability among its draws; grey: 95 % of bars when it is uniform")
    figure.savefig(path, dpi=130)


def main() -> None:
    """Run the calibration and write its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-sets", type=int, default=500, help="simulated data sets a case (default: 500)")
    parser.add_argument("--case", choices=list(CASES), action="append", help="one case, or several (default: all)")
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    arguments.output.parent.mkdir(exist_ok=True)
    for name in arguments.case or CASES:
        run_case(name, arguments.data_sets, arguments.output)
    rows = read_rows(arguments.output)
    text = report(rows)
    print(text)
    arguments.output.with_suffix(".md").write_text(text, encoding="utf-8")
    chart(rows, arguments.output.with_suffix(".png"))


if __name__ == "__main__":
    main()
