"""What the fits of :mod:`benchmarks.sample_law` should find: the same law on the same data, by quadrature.

With one feature of two values and no other effects the law has three unknowns: both rates, here with flat priors,
and the error z of the ratio of variances. The formulas are written down once more, apart from the package. For
each number of rows: how far the posterior means are from the true rates, how often their 90 % intervals hold them,
and how far the fits are from quadrature on the data sets that both saw. Run

    python -m benchmarks.sample_law_quadrature [--data-sets 100]

It writes ``benchmarks/results/sample_law_quadrature.md``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.markdown import markdown_table, share_and_error
from benchmarks.resumable import read_rows
from benchmarks.sample_law import LAWS, LEVEL, N_GROUPS, POPULATION, RATES, SAMPLED, Sample, simulate
from benchmarks.sample_law import RESULTS as OF_FITS

RESULTS = Path(__file__).parent / "results" / "sample_law_quadrature.md"
SMOOTHNESS, SHARE_ERROR = 0.1, 5e-4
FIRST_RANGE = np.array([[0.005, 0.25], [0.12, 0.5]])
N_POINTS, N_ERRORS, REACH = 41, 7, 4.0


def frequencies_of(data: Sample, n_sampled: int) -> np.ndarray:
    """Return how many of a group's rows have the feature, as a share."""
    return np.bincount(data.groups, weights=data.X[:, 0] * data.counts, minlength=N_GROUPS) / n_sampled


def log_density(
    low: np.ndarray, high: np.ndarray, own_weight: float, frequency: np.ndarray, share: np.ndarray, n: int
) -> np.ndarray:
    """Log density of all shares for rates ``low`` and ``high``, and lambda, at each pair of rates."""
    low, high = low[..., None], high[..., None]
    sampled, pooled = n / POPULATION, frequency.mean()
    own = low + (high - low) * frequency
    mixed = own_weight * frequency + (1.0 - own_weight) * pooled
    blend, square = low + (high - low) * mixed, low**2 + (high**2 - low**2) * mixed
    mean = sampled * own + (1.0 - sampled) * blend
    variance = (1.0 - sampled) ** 2 * own_weight / (n + own_weight) * (square - blend**2)
    variance += mean * (1.0 - mean) / POPULATION + SHARE_ERROR**2
    return -0.5 * ((share - mean) ** 2 / variance + np.log(variance)).sum(axis=-1)


def own_weights(frequency: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return lambda at some errors z of the ratio of variances, and how probable these are."""
    z, chance = np.polynomial.hermite_e.hermegauss(N_ERRORS)
    free = len(frequency) * (n - 1)
    ratio = frequency.var(ddof=1) * n / ((n * frequency * (1.0 - frequency)).sum() / free)
    excess = ratio * np.exp(np.sqrt(2.0 / (len(frequency) - 1) + 2.0 / free) * z) - 1.0
    excess = 0.5 * (excess + np.hypot(excess, SMOOTHNESS))
    return excess / (excess + 1.0), chance / chance.sum()


def judged(frequency: np.ndarray, share: np.ndarray, n: int) -> dict[str, float]:
    """Find mean and interval of both rates, on a grid around where the posterior is."""
    weights, chance = own_weights(frequency, n)
    ends = FIRST_RANGE
    for _ in range(2):  # the first grid only finds the second one
        grids = [np.linspace(*own, N_POINTS) for own in ends]
        low, high = np.meshgrid(*grids, indexing="ij")
        value = np.stack([log_density(low, high, own, frequency, share, n) for own in weights])
        mass = np.tensordot(chance, np.exp(value - value.max()), axes=1)
        laws = [mass.sum(axis=1) / mass.sum(), mass.sum(axis=0) / mass.sum()]
        means = [own @ grid for own, grid in zip(laws, grids, strict=True)]
        spreads = [np.sqrt(o @ (g - m) ** 2) for o, g, m in zip(laws, grids, means, strict=True)]
        ends = np.array([[m - REACH * s, m + REACH * s] for m, s in zip(means, spreads, strict=True)])
    found = {}
    for place, (law, grid) in enumerate(zip(laws, grids, strict=True)):
        below = np.cumsum(law) - 0.5 * law
        first, last = np.interp([0.5 - 0.5 * LEVEL, 0.5 + 0.5 * LEVEL], below, grid)
        found[f"estimate_{place}"], found[f"width_{place}"] = float(means[place]), float(last - first)
        found[f"covered_{place}"] = float(first <= RATES[place] <= last)
    return found


def judge_one(seed: int, n_sampled: int) -> dict[str, float]:
    """Simulate the data set of a fit, and integrate."""
    data = simulate(np.random.default_rng(seed), LAWS[f"{n_sampled} rows"])
    share = np.array([data.reports[group].share for group in range(N_GROUPS)])
    return {"rows": n_sampled, "seed": seed, **judged(frequencies_of(data, n_sampled), share, n_sampled)}


def report(rows: pd.DataFrame, fits: pd.DataFrame) -> str:
    """Write the table, a line per rate."""
    table = []
    for n_sampled, part in rows.groupby("rows"):
        both = part.merge(fits[fits["case"] == f"{n_sampled} rows"], on="seed", suffixes=("", "_fit"))
        for place, rate in enumerate(RATES):
            estimate = part[f"estimate_{place}"]
            apart = both[f"estimate_{place}_fit"] - both[f"estimate_{place}"]
            table.append(
                [
                    str(n_sampled),
                    str(len(part)),
                    f"{rate:.2f}",
                    f"{estimate.mean() - rate:+.4f} ± {estimate.sem():.4f}",
                    share_and_error(part[f"covered_{place}"]),
                    f"{part[f'width_{place}'].mean():.4f}",
                    str(len(both)),
                    f"{apart.mean():+.4f} (up to {apart.abs().max():.4f})" if len(both) else "",
                ]
            )
    header = ["rows per group", "data sets", "true rate", "bias", "90 % interval", "its width", "fits"]
    lines = [
        "# The law of a sample by quadrature",
        "",
        "Made by `python -m benchmarks.sample_law_quadrature`: the data of the fits of `sample_law.md`, with flat "
        "priors of both rates and no other effects, integrated on a grid. The last columns compare the estimates "
        "of the fits with those of quadrature, on the data sets that were fitted.",
        "",
        *markdown_table([*header, "estimate of the fit less that of quadrature"], table),
    ]
    return "\n".join([*lines, ""])


def main() -> None:
    """Integrate for all data sets and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-sets", type=int, default=100, help="simulations per row (default: 100)")
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    rows = [judge_one(seed, n_sampled) for n_sampled in SAMPLED for seed in range(arguments.data_sets)]
    text = report(pd.DataFrame(rows), read_rows(OF_FITS))
    arguments.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
