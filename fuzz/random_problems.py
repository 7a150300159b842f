"""Random valid problems through fit, predict, save, load and predict again.

Nothing may raise, nothing may be NaN or outside 0 to 1, and a loaded model must predict what the saved one did.

    python -m fuzz.random_problems --runs 10000 --seed 0
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import disaggregate as dg

KERNELS = ("rbf", "laplacian", "cosine", "sigmoid", "linear", "poly")
GROWING = ("linear", "poly")  # which refuse, with advice, features whose powers no number can hold
NAMES = ("A", "ä", "北京", "🗳", "007", "", " ", "a\nb", "nan", "None", "<b>", "../x", "\u202e", "'; --")
SIZES_OF_FEATURES = (1.0, 1.0, 1.0, 1e-8, 1e-160, 1e8, 1e50)


@dataclass(frozen=True)
class RandomProblem:
    """Individuals, groups and reports that make sense together, and settings to fit them with."""

    X: np.ndarray
    groups: list
    reports: dict
    settings: dict[str, Any]
    counts: np.ndarray | None = None


def random_problem(rng: np.random.Generator, *, defaults: bool = False) -> RandomProblem:
    """Make a problem.

    Parameters
    ----------
    rng : numpy.random.Generator
        Makes every choice.
    defaults : bool, default=False
        Whether to leave all settings but the length of the chains as they are by default.
    """
    n_groups = int(rng.integers(1, 7))
    sizes = rng.integers(1, 9, size=n_groups)
    names = _group_names(rng, n_groups)
    groups = [name for name, n in zip(names, sizes, strict=True) for _ in range(n)]
    order = rng.permutation(len(groups))
    reports = {name: random_report(rng, int(n)) for name, n in zip(names, sizes, strict=True)}
    settings = {"n_chains": 2, "n_draws": 5, "n_burn": 5, "n_jobs": 1, "random_state": int(rng.integers(2**31))}
    if not defaults:
        settings |= _settings(rng, names)
    counts = None
    if isinstance(settings.get("prior"), dg.SpikeSlab):  # they know no samples and no cells
        reports = {name: _without_population(report) for name, report in reports.items()}
    elif rng.random() < 0.25:
        counts = rng.integers(1, 50, size=len(groups))
    X = _features(rng, len(groups))
    if np.abs(X).max() > 1e20 and (defaults or settings["kernel"] in GROWING):
        X /= np.abs(X).max()
    return RandomProblem(X, [groups[place] for place in order], reports, settings, counts)


def random_report(rng: np.random.Generator, n: int) -> Any:
    """Make a report of any kind that a group of ``n`` may give."""
    low, high = sorted(int(k) for k in rng.integers(0, n + 1, size=2))
    share = float(rng.choice([0.0, 1.0, 5e-324, rng.random(), rng.integers(0, n + 1) / n]))
    size = n + int(rng.integers(0, 10**6))
    confidence = float(rng.choice([0.0, 1e-300, 1.0, 1000.0, 1e13, np.inf]))
    kinds = dg.evidence
    asked = int(rng.integers(0, n + 1))
    choices = (
        share,
        share,
        kinds.Fraction(share, confidence),
        kinds.Count(low),
        kinds.AtLeast(low),
        kinds.AtMost(low),
        kinds.Between(low, high),
        kinds.Population(share),
        kinds.Population(share, size),
        kinds.Survey(int(rng.integers(0, asked + 1)), asked),
        kinds.NoisyCount(float(rng.normal(low, 10.0)), float(10.0 ** rng.uniform(-6, 6))),
        kinds.NoisyCount(float(rng.normal(low, 3.0)), float(10.0 ** rng.uniform(-3, 3)), "gaussian"),
        kinds.Unknown(),
        kinds.AllOf((kinds.Population(0.5), kinds.Between(low, high))),
    )
    return choices[rng.integers(len(choices))]


def _without_population(report: Any) -> Any:
    population = getattr(report, "population", None)
    return report if population is None else dg.evidence.Fraction(population.share)


def check_problem(problem: RandomProblem, folder: Path) -> None:
    """Go all the way with a problem; raise on anything that should not be."""
    model = dg.GroupStatsClassifier(**problem.settings)
    model.fit(problem.X, problem.reports, groups=problem.groups, counts=problem.counts)
    before = _answers(model, problem)
    path = folder / "model.dgz"
    model.save(path)
    after = _answers(dg.load(path), problem)
    for name, values in before.items():
        if not np.isfinite(values).all() or values.min() < 0.0 or values.max() > 1.0:
            raise AssertionError(f"{name} is not a probability: {values}")
        if not np.array_equal(values, after[name]):
            raise AssertionError(f"{name} differs once the model was saved and loaded")


def run(n_problems: int, seed: int, defaults_every: int = 100) -> list[tuple[int, str]]:
    """Check many problems; return the number and the story of each that failed."""
    failures = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        for number in range(n_problems):
            rng = np.random.default_rng([seed, number])
            try:
                check_problem(random_problem(rng, defaults=number % defaults_every == 0), Path(folder))
            except Exception:
                failures.append((number, traceback.format_exc()))
                print(f"problem {number} of seed {seed}:\n{failures[-1][1]}", file=sys.stderr, flush=True)
            if number % 500 == 499:
                print(f"{number + 1:,} problems, {len(failures)} failed", flush=True)
    return failures


def main(argv: list[str] | None = None) -> int:
    """Run from the command line; the exit code tells whether all went well."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000, help="number of problems (default: 10000)")
    parser.add_argument("--seed", type=int, default=0, help="seed (default: 0)")
    arguments = parser.parse_args(argv)
    start = time.perf_counter()
    failures = run(arguments.runs, arguments.seed)
    minutes = (time.perf_counter() - start) / 60.0
    print(f"{arguments.runs:,} random problems in {minutes:.1f} minutes, {len(failures)} failed")
    return int(bool(failures))


def _answers(model: Any, problem: RandomProblem) -> dict[str, np.ndarray]:
    table = model.group_table()
    return {
        "predict_proba": model.predict_proba(problem.X),
        "predict_proba of groups": model.predict_proba(problem.X, problem.groups),
        "predict_interval": model.predict_interval(problem.X),
        "predict_draws": model.predict_draws(problem.X[:3]),
        "label_proba_": model.label_proba_,
        "group_table": table[["implied", "conf_low", "conf_high"]].to_numpy(),
    }


def _group_names(rng: np.random.Generator, n_groups: int) -> list:
    kinds = (list(NAMES), list(range(-3, 20)), [0.5 * place for place in range(20)])
    names = kinds[rng.integers(len(kinds))]
    return [names[place] for place in rng.permutation(len(names))[:n_groups]]


def _features(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    X = rng.normal(size=(n_rows, int(rng.integers(1, 6)))) * rng.choice(SIZES_OF_FEATURES)
    kind = rng.integers(5)
    if kind == 0:
        X = X[rng.integers(0, n_rows, size=n_rows)]  # the same individuals again and again
    elif kind == 1:
        X[:, 0] = X[0, 0]
    elif kind == 2:
        X = np.round(X)
    return X


def _settings(rng: np.random.Generator, names: list) -> dict[str, Any]:
    weights, latent = (("dense", "exact"), ("sparse", "exact"), ("sparse", "metropolis"))[rng.integers(3)]
    n_replicas = 1 if latent == "metropolis" or rng.random() < 0.8 else 3
    a, b = (float(10.0 ** rng.uniform(-3, 3)) for _ in range(2))
    by_group = {name: float(10.0 ** rng.uniform(-3, 6)) for name in names}
    of_groups = {"group_effects": (True, False, "auto")[rng.integers(3)], "context": bool(rng.integers(2))}
    return {
        **(of_groups if weights == "dense" else {}),
        "prior": dg.GaussianProcess() if weights == "dense" else dg.SpikeSlab(a=a, b=b, latent=latent),
        "n_replicas": n_replicas,
        "kernel": str(rng.choice(KERNELS)),
        "gamma": float(10.0 ** rng.uniform(-4, 4)) if rng.random() < 0.7 else "scale",
        "centers": ("all", 1, 3, 1000)[rng.integers(4)],
        "intercept": bool(rng.integers(2)),
        "confidence": (1000.0, 0.0, np.inf, by_group)[rng.integers(4)],
        "n_chains": int(rng.integers(1, 4)),
        "n_draws": int(rng.integers(1, 8)),
        "n_burn": int(rng.integers(0, 6)),
        "thin": int(rng.integers(1, 3)),
    }


if __name__ == "__main__":
    sys.exit(main())
