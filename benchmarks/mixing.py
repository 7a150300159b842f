"""Effective draws per second: the moves of 2005 against ours, on the same model in the same run.

The model is that of the paper's second experiment (`make_hidden_cluster`): Gaussian kernel of width 1 on every
individual, chi = 1,000, a = b = 1, mu = 10, nu = 1,000, no intercept. Only the moves differ; dense weights are
another prior and stand beside them for information, without and with their ladder. Then: do four chains agree on
the three districts, how long does a default fit take, and what does the ladder cost. Run
``python benchmarks/mixing.py``; it takes about 20 minutes, prints its tables and writes them to
``benchmarks/results/mixing.md``.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import cpu_count
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch

from disaggregate import GaussianProcess, GroupStatsClassifier, SpikeSlab
from disaggregate.datasets import make_districts, make_hidden_cluster, make_population
from disaggregate.sampler.prepare import prepare

RESULTS = Path(__file__).parent / "results" / "mixing.md"
MODEL = {"kernel": "rbf", "gamma": 0.5, "intercept": False, "random_state": 0, "n_chains": 4}
PLAIN = {"prior": GaussianProcess(emphasis=1.0)}
RUNS = {
    # Shorter runs of the published moves overrate them by far: k and delta2 then seem to move, because the slow
    # turn that both take together over 100,000 sweeps and more does not show yet.
    "published": {"prior": SpikeSlab(latent="metropolis"), "n_burn": 40000, "n_draws": 4000, "thin": 400},
    # Thinned as well: else half of its time goes into diagnostics of draws that are much like their neighbours.
    "sparse": {"prior": "spike_slab", "n_burn": 1000, "n_draws": 4000, "thin": 8},
    "dense, one replica": {**PLAIN, "n_replicas": 1, "n_burn": 1000, "n_draws": 4000},
    "dense, ladder": PLAIN,
}


def measure(name: str) -> dict[str, float]:
    """Fit once and divide the effective draws by the wall time of the whole fit, warm-up included."""
    prepare("published" if name == "published" else "sparse" if name == "sparse" else "dense")
    data = make_hidden_cluster(random_state=0)
    model = GroupStatsClassifier(**MODEL, **RUNS[name])
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(data.X, data.shares, groups=data.groups)
    seconds = time.perf_counter() - started
    ess = model.diagnostics_.ess_bulk
    return {
        "seconds": seconds,
        "f, median": float(np.median(ess["f"])) / seconds,
        "f, worst": float(np.min(ess["f"])) / seconds,
        "k": float(ess["n_active"]) / seconds,
        "delta2": float(ess["delta2"]) / seconds,
        "R-hat": model.diagnostics_.worst_rhat,
        "AUC": roc_auc_score(data.y, model.predict_proba(data.X)[:, 1]),
    }


def quiet_fit(model: GroupStatsClassifier, data: Bunch) -> float:
    """Fit and return the seconds that it took."""
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(data.X, data.shares, groups=data.groups)
    return time.perf_counter() - started


def districts() -> list[str]:
    """Worst R-hat over ten simulated sets of three districts, with all defaults."""
    worst = []
    for seed in range(10):
        model = GroupStatsClassifier(random_state=seed)
        quiet_fit(model, make_districts(random_state=seed))
        worst.append(model.diagnostics_.worst_rhat)
    return [
        f"`make_districts()`, all defaults, ten seeds: worst R-hat {np.median(worst):.4f} in the median, "
        f"{max(worst):.4f} at most.",
        "",
    ]


def patience() -> list[str]:
    """Seconds of default fits."""
    lines = ["| default fit | seconds | replicas | worst R-hat |", "| --- | --- | --- | --- |"]
    for n_groups, size in ((10, 30), (200, 10)):
        data = make_population(n_groups * size, n_groups=n_groups, random_state=0)
        data.X = StandardScaler().fit_transform(pd.get_dummies(data.X).to_numpy(dtype=float))
        model = GroupStatsClassifier(random_state=0)
        seconds = quiet_fit(model, data)
        n_replicas = len(model.diagnostics_.ladder.powers)
        lines.append(
            f"| {len(data.X)} individuals in {n_groups} groups | {seconds:.0f} | {n_replicas} "
            f"| {model.diagnostics_.worst_rhat:.3f} |"
        )
    return [*lines, ""]


def ladder_cost() -> list[str]:
    """Time of a fit with the default ladder over one with a single replica, beside replicas / cores * 1.3."""
    data = make_hidden_cluster(random_state=0)
    single = quiet_fit(GroupStatsClassifier(**MODEL, **PLAIN, n_replicas=1), data)
    model = GroupStatsClassifier(**MODEL, **PLAIN)
    ladder = quiet_fit(model, data)
    n_replicas, n_cores = len(model.diagnostics_.ladder.powers), cpu_count()
    return [
        f"Ladder of {n_replicas} replicas on {n_cores} cores: {ladder / single:.1f} times the fit with one "
        f"replica ({ladder:.1f} s, {single:.1f} s); the mark is {1.3 * n_replicas / n_cores:.1f}.",
        "",
    ]


def main() -> None:
    results = {name: measure(name) for name in RUNS}
    rates = ["f, median", "f, worst", "k", "delta2"]
    lines = [
        "# Mixing",
        "",
        "Made by `python benchmarks/mixing.py`: effective draws per second of wall time, warm-up and diagnostics",
        "included, compilation excluded; four chains on two cores, `make_hidden_cluster(random_state=0)`.",
        "",
        "| moves | seconds | " + " | ".join(rates) + " | worst R-hat | AUC, training |",
        "| --- |" + " --- |" * 7,
    ]
    for name, row in results.items():
        cells = [f"{row[rate]:.2f}" if rate != "k" or "dense" not in name else "-" for rate in rates]
        cells = [f"{row['seconds']:.0f}", *cells, f"{row['R-hat']:.3f}", f"{row['AUC']:.3f}"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    ratios = [f"{results['sparse'][rate] / results['published'][rate]:.0f}" for rate in rates]
    lines += ["| sparse / published | | " + " | ".join(ratios) + " | | |", ""]
    lines += [*districts(), *patience(), *ladder_cost()]
    print("\n".join(lines))
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
