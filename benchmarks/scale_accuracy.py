"""Whether a million individuals are learned about as well as they could be, and intervals hold what they promise.

A population is drawn from the model's own prior, so that the truth is known and the model can be right. It is
learned once from the shares of groups of 50 and once from everybody's own label: the second is the ceiling of the
first. On people that neither has seen: AUC of both, and of the truth. On 50 subgroups, tenths of features: how
many 90 % intervals of their rates hold the true rate. Run

    python -m benchmarks.scale_accuracy [--rows 1000000] [--draws 300]
    python -m benchmarks.scale_accuracy --coverage 12 --rows 100000    # intervals in so many populations

It writes ``benchmarks/results/scale_accuracy.md`` after each step, and ``scale_coverage.md`` for the second; each
takes about half an hour on two cores.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.special import ndtr
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

from disaggregate import GaussianProcess, GroupStatsClassifier
from disaggregate.basis import Basis, resolve_kernel
from disaggregate.basis.directions import independent_features

RESULTS = Path(__file__).parent / "results" / "scale_accuracy.md"
COVERAGE = RESULTS.with_name("scale_coverage.md")
N_FEATURES, N_CENTERS, SIZE, N_TEST = 5, 200, 50, 50_000
SCALE = 4.0


class Population:
    """People whose f is a draw from a Gaussian process on some centres.

    Parameters
    ----------
    n_rows : int
        People to learn from; as many as ``N_TEST`` more are for judging.
    seed : int
        Seed.
    """

    def __init__(self, n_rows: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.groups = np.arange(n_rows) // SIZE
        centers_of_groups = 0.8 * rng.standard_normal((self.groups[-1] + 1, N_FEATURES))
        self.X = rng.standard_normal((n_rows, N_FEATURES)) + centers_of_groups[self.groups]
        own = rng.integers(len(centers_of_groups), size=N_TEST)
        self.X_test = rng.standard_normal((N_TEST, N_FEATURES)) + centers_of_groups[own]
        self.centers = self.X[rng.choice(n_rows, N_CENTERS, replace=False)]
        self._basis = Basis(resolve_kernel("rbf", "scale", 3.0, 1.0, self.X), self.centers, False)
        half = independent_features(self._basis)
        self._weights = np.sqrt(SCALE) * half @ rng.standard_normal(half.shape[1])
        self.probability = self.true_probability(self.X)
        self.y = (rng.random(n_rows) < self.probability).astype(int)
        self.y_test = (rng.random(N_TEST) < self.true_probability(self.X_test)).astype(int)
        self.shares = dict(enumerate(np.bincount(self.groups, weights=self.y) / SIZE))

    def true_probability(self, X: np.ndarray) -> np.ndarray:
        """Probability of each row, some rows at a time."""
        pieces = [
            self._weights @ self._basis.columns(part) for part in np.array_split(X, max(1, len(X) // 20_000))
        ]
        return ndtr(np.concatenate(pieces))


def fitted(population: Population, n_draws: int, n_chains: int, *, supervised: bool) -> GroupStatsClassifier:
    model = GroupStatsClassifier(
        kernel="rbf", gamma="scale", prior=GaussianProcess(emphasis=1.0), centers=population.centers,
        n_chains=n_chains, n_draws=n_draws, n_burn=100, confidence=np.inf, random_state=1, progress=True,
    )  # fmt: skip
    if supervised:
        return model.fit(population.X, population.y)
    return model.fit(population.X, population.shares, groups=population.groups)


def subgroup_rows(X: np.ndarray) -> list[np.ndarray]:
    """Tenths of each of five features."""
    return [part for column in X.T for part in np.array_split(np.argsort(column), 10)]


def rates_by_draw(
    model: GroupStatsClassifier, X: np.ndarray, rows: list[np.ndarray], step: int = 5_000
) -> np.ndarray:
    """Mean probability of each subgroup in each draw, shape (n_draws, n_subgroups)."""
    member = np.zeros((len(X), len(rows)), dtype=bool)
    for place, own in enumerate(rows):
        member[own, place] = True
    total = 0.0
    for start in range(0, len(X), step):
        part = slice(start, start + step)
        draws = model.predict_draws(X[part])
        total = total + draws.reshape(-1, draws.shape[-1]) @ member[part]
    return total / member.sum(axis=0)


def holds_truth(model: GroupStatsClassifier, population: Population) -> tuple[np.ndarray, np.ndarray]:
    """Whether the 90 % interval of each subgroup's rate holds the true rate, and how wide it is."""
    rows = subgroup_rows(population.X)
    truth = np.array([population.probability[own].mean() for own in rows])
    low, high = np.quantile(rates_by_draw(model, population.X, rows), [0.05, 0.95], axis=0)
    return (low <= truth) & (truth <= high), high - low


def coverage(options: argparse.Namespace) -> None:
    """Look at the intervals of several populations, whose subgroups are about one verdict each."""
    shares = []
    lines = ["# Intervals of subgroup rates", ""]
    lines += [f"`python -m benchmarks.scale_accuracy --coverage {options.coverage} --rows {options.rows}`", ""]
    lines += [
        f"{options.rows:,} people in groups of {SIZE}, {options.chains} chains of {options.draws} draws; 50 "
    ]
    lines += ["subgroups each, tenths of five features, whose errors go together.", ""]
    for seed in range(options.coverage):
        population = Population(options.rows, seed)
        model = fitted(population, options.draws, options.chains, supervised=False)
        shares.append(holds_truth(model, population)[0].mean())
        print(seed, shares[-1], model.diagnostics_.worst_rhat, flush=True)
        error = np.std(shares, ddof=1) / np.sqrt(len(shares)) if len(shares) > 1 else np.nan
        found = f"{np.mean(shares):.1%} ± {error:.1%} in {len(shares)} populations"
        text = "\n".join([*lines, f"90 % intervals that hold the truth: {found}.", ""])
        COVERAGE.write_text(text, encoding="utf-8")


def main() -> None:
    """Run, and write after each step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--coverage", type=int, default=0, help="populations to look at the intervals of")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    if options.coverage:
        coverage(options)
        return
    population = Population(options.rows, options.seed)
    lines = ["# Accuracy at scale", "", f"`python -m benchmarks.scale_accuracy --rows {options.rows}`", ""]
    lines += [f"{options.rows:,} people in groups of {SIZE}, {N_FEATURES} features, {N_CENTERS} kernels, "]
    lines += [f"{options.chains} chains of {options.draws} draws.", "", "| what | found |", "| --- | --- |"]

    def tell(what: str, found: str) -> None:
        lines.append(f"| {what} | {found} |")
        print(lines[-1], flush=True)
        options.output.write_text("\n".join([*lines, ""]), encoding="utf-8")

    tell(
        "AUC of the truth",
        f"{roc_auc_score(population.y_test, population.true_probability(population.X_test)):.4f}",
    )
    began = time.perf_counter()
    model = fitted(population, options.draws, options.chains, supervised=False)
    tell("minutes to learn from groups", f"{(time.perf_counter() - began) / 60:.1f}")
    tell("verdict", model.diagnostics_.verdict)
    from_groups = roc_auc_score(population.y_test, model.predict_proba(population.X_test)[:, 1])
    tell("AUC, learned from groups", f"{from_groups:.4f}")
    inside, width = holds_truth(model, population)
    tell("90 % intervals of 50 subgroup rates that hold the truth", f"{inside.sum()} of {len(inside)}")
    tell("median width of these intervals", f"{np.median(width):.4f}")
    began = time.perf_counter()
    ceiling = fitted(population, options.draws, options.chains, supervised=True)
    tell("minutes to learn from labels", f"{(time.perf_counter() - began) / 60:.1f}")
    from_labels = roc_auc_score(population.y_test, ceiling.predict_proba(population.X_test)[:, 1])
    tell("AUC, learned from everybody's label: the ceiling", f"{from_labels:.4f}")
    tell("below the ceiling by", f"{from_labels - from_groups:.4f}")


if __name__ == "__main__":
    main()
