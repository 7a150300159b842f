"""Effective draws a second: the moves of 2005 against ours, on the same model in the same run.

The model is that of the paper's second experiment (`make_hidden_cluster`): Gaussian kernel of width 1 on every
individual, chi = 1,000, a = b = 1, mu = 10, nu = 1,000, no intercept. Only the moves differ; dense weights are
another prior and stand beside them for information. Run ``python benchmarks/mixing.py``; it takes about two
minutes, prints its table and writes it to ``benchmarks/results/mixing.md``.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

from disaggregate import GroupStatsClassifier
from disaggregate.datasets import make_hidden_cluster
from disaggregate.sampler.prepare import prepare

RESULTS = Path(__file__).parent / "results" / "mixing.md"
MODEL = {"gamma": 0.5, "intercept": False, "random_state": 0, "n_chains": 4}
RUNS = {
    "published": {"weights": "sparse", "latent": "metropolis", "n_burn": 4000, "n_draws": 4000, "thin": 10},
    "sparse": {"weights": "sparse", "n_burn": 1000, "n_draws": 8000},
    "dense": {"weights": "dense", "n_burn": 1000, "n_draws": 4000},
}


def measure(name: str) -> dict[str, float]:
    """Fit once and divide the effective draws by the wall time of the whole fit, warm-up included."""
    prepare(name)
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


def main() -> None:
    results = {name: measure(name) for name in RUNS}
    rates = ["f, median", "f, worst", "k", "delta2"]
    lines = [
        "# Mixing",
        "",
        "Made by `python benchmarks/mixing.py`: effective draws a second of wall time, warm-up and diagnostics",
        "included, compilation excluded; four chains on two cores, `make_hidden_cluster(random_state=0)`.",
        "",
        "| moves | seconds | " + " | ".join(rates) + " | worst R-hat | AUC, training |",
        "| --- |" + " --- |" * 7,
    ]
    for name, row in results.items():
        cells = [f"{row[rate]:.2f}" if rate != "k" or name != "dense" else "-" for rate in rates]
        cells = [f"{row['seconds']:.0f}", *cells, f"{row['R-hat']:.3f}", f"{row['AUC']:.3f}"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    ratios = [f"{results['sparse'][rate] / results['published'][rate]:.0f}" for rate in rates]
    lines += ["| sparse / published | | " + " | ".join(ratios) + " | | |", ""]
    print("\n".join(lines))
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
