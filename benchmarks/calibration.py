"""Do intervals cover what they claim? Simulation-based calibration on data drawn from the model's own prior.

For each data set: individuals at random, a scale, weights, labels and reports drawn from the model; a fit; and the
question whether the 50 % and 90 % intervals of the individuals' probabilities hold the true ones. Run
``python benchmarks/calibration.py``; it takes a few minutes and writes ``benchmarks/results/calibration.md``.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from rich.progress import track
from scipy.special import ndtr
from sklearn.exceptions import ConvergenceWarning

from disaggregate import GroupStatsClassifier
from disaggregate.basis import Basis, principal_directions, resolve_kernel
from disaggregate.settings import scale_prior

RESULTS = Path(__file__).parent / "results" / "calibration.md"
LEVELS = (0.5, 0.9)
CONFIDENCE = 1000.0
GAMMA = 0.5


def simulate(
    rng: np.random.Generator, kernel: str, n_groups: int, size: int
) -> tuple[np.ndarray, dict[int, float], np.ndarray, np.ndarray]:
    """Draw features, reports, group ids and true probabilities from the prior."""
    X = rng.standard_normal((n_groups * size, 2))
    basis = Basis(resolve_kernel(kernel, GAMMA, 3, 1.0, X), X, True)
    directions = principal_directions(basis, basis.columns(X))
    mu, nu = scale_prior("dense", None, None)
    delta2 = 0.5 * nu / rng.standard_gamma(0.5 * mu)
    weights = np.sqrt(delta2 * directions.spread) * rng.standard_normal(len(directions.spread))
    probability = ndtr(weights @ directions.columns)
    labels = rng.random(len(X)) < probability
    groups = np.repeat(np.arange(n_groups), size)
    share = labels.reshape(n_groups, size).mean(axis=1)
    reports = rng.beta(CONFIDENCE * share + 1.0, CONFIDENCE * (1.0 - share) + 1.0)
    return X, dict(enumerate(reports)), groups, probability


def coverage(
    seed: int, kernel: str, n_groups: int, size: int, **settings: object
) -> tuple[np.ndarray, np.ndarray]:
    """Fit one simulated data set; return which share of individuals each interval covers, and the true ranks."""
    X, reports, groups, probability = simulate(np.random.default_rng(seed), kernel, n_groups, size)
    model = GroupStatsClassifier(kernel=kernel, gamma=GAMMA, confidence=CONFIDENCE, random_state=seed, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, reports, groups=groups)
    covered = []
    for level in LEVELS:
        low, high = model.predict_interval(X, level=level).T
        covered.append(np.mean((low <= probability) & (probability <= high)))
    ranks = (model.predict_draws(X) < probability).mean(axis=(0, 1))
    return np.array(covered), ranks


def main() -> None:
    """Run the calibration and write its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-sets", type=int, default=200, help="simulated data sets a row (default: 200)")
    n_sets = parser.parse_args().data_sets
    lines = [
        "# Calibration",
        "",
        f"Made by `python benchmarks/calibration.py`: {n_sets} data sets a row, drawn from the prior; share of",
        "individuals whose true probability lies in its interval, ± standard error over data sets.",
        "",
        "| kernel | groups | 50 % interval | 90 % interval |",
        "| --- | --- | --- | --- |",
    ]
    for kernel, n_groups, size in (("rbf", 8, 8), ("rbf", 5, 20), ("linear", 8, 8)):
        what = f"{kernel}, {n_groups} groups of {size}"
        covered = np.array(
            [
                coverage(seed, kernel, n_groups, size, n_chains=2, n_draws=500, n_burn=200)[0]
                for seed in track(range(n_sets), description=what)
            ]
        )
        error = covered.std(axis=0, ddof=1) / np.sqrt(n_sets)
        cells = [f"{m:.1%} ± {e:.1%}" for m, e in zip(covered.mean(axis=0), error, strict=True)]
        lines.append(f"| {kernel} | {n_groups} of {size} | {cells[0]} | {cells[1]} |")
    text = "\n".join([*lines, ""])
    print(text)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
