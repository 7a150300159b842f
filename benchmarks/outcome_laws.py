"""The normal law of the counts of several outcomes beside their exact law, up to where the exact one ends.

Data sets of eight groups are drawn from a model with one feature and one weight per score. The posterior of the
weights is worked out on a grid under both laws of the counts. The tables show by how much the log likelihood of a
group differs, on average over the posterior, and by how much posterior means differ, beside the posterior standard
deviation. Run

    python -m benchmarks.outcome_laws [--data-sets 5]

Results go to ``benchmarks/results/outcome_laws.md``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from scipy.special import logsumexp

from benchmarks.markdown import markdown_table
from disaggregate.groups.outcome_evidence import Counts, OutcomeEvidence, Shares
from disaggregate.groups.outcomes import GroupedOutcomes, group_outcomes
from disaggregate.model.outcome_reports import OutcomeReports, make_outcome_reports
from disaggregate.model.outcomes import contrasts, logits_of, probabilities_of
from disaggregate.model.reports import EXACT, NORMAL
from disaggregate.sampler.compiled.outcomes import group_log_likelihoods

RESULT = Path(__file__).parent / "results" / "outcome_laws.md"
SIZES = {3: (5, 10, 20, 40, 80), 4: (5, 10, 20, 30)}
N_GROUPS = 8
GRID = {3: 25, 4: 11}  # points along each weight
REACH = 3.0  # standard deviations of the prior, which is N(0, 1)
AT_ONCE = 64


class Difference(NamedTuple):
    """By how much the normal law differs from the exact one.

    Attributes
    ----------
    log_likelihood : float
        Mean absolute difference per group over the posterior.
    shape : float
        The same after the mean difference over the posterior is taken off, which changes no posterior.
    weight : float
        Mean absolute difference of the posterior means of weights, in posterior standard deviations.
    probability : float
        Mean absolute difference of the posterior means of people's probabilities, in points.
    """

    log_likelihood: float
    shape: float
    weight: float
    probability: float


def simulate(
    rng: np.random.Generator, n_outcomes: int, size: int, kind: str
) -> tuple[np.ndarray, GroupedOutcomes]:
    """Draw the feature of people in groups, and what their groups report."""
    x = rng.standard_normal(N_GROUPS * size) + np.repeat(rng.standard_normal(N_GROUPS), size)
    groups = np.repeat(np.arange(N_GROUPS), size)
    p = probabilities_of(logits_of(x[:, None] * rng.standard_normal(n_outcomes - 1)))
    counts = np.add.reduceat(np.array([rng.multinomial(1, own) for own in p]), np.arange(0, len(x), size))
    reports: dict[int, OutcomeEvidence] = {}
    for j, own in enumerate(counts):
        if kind == "counts":
            reports[j] = Counts({k: int(count) for k, count in enumerate(own)})
        else:
            shares = rng.dirichlet(100.0 * own / size + 1.0)
            reports[j] = Shares(dict(enumerate(shares.tolist())), 100.0)
    return x, group_outcomes(groups.tolist(), reports, tuple(range(n_outcomes)))


def difference(x: np.ndarray, data: GroupedOutcomes) -> Difference | None:
    """Compare both laws on one data set; None where a group has no exact one."""
    n_outcomes = len(data.outcomes)
    # All that may have a lattice have one, and then none.
    with patch("disaggregate.model.outcome_reports.FEWEST_OF_ALL", 2**24):
        exact = make_outcome_reports(data)
    with patch("disaggregate.model.count_vectors.MOST_NODES", 0):
        normal = make_outcome_reports(data)
    if not ((exact.law == EXACT).all() and (normal.law == NORMAL).all()):
        return None
    axis = np.linspace(-REACH, REACH, GRID[n_outcomes])
    weights = np.stack(np.meshgrid(*[axis] * (n_outcomes - 1), indexing="ij"), axis=-1).reshape(-1, n_outcomes - 1)
    values = [_values(reports, weights, x) for reports in (exact, normal)]
    chances, means, spreads = [], [], []
    for value in values:
        log_posterior = value.sum(axis=1) - 0.5 * np.sum(weights**2, axis=1)
        chance = np.exp(log_posterior - logsumexp(log_posterior))
        mean = chance @ weights
        chances.append(chance)
        means.append(mean)
        spreads.append(np.sqrt(chance @ (weights - mean) ** 2))
    apart = values[1] - values[0]
    moved = (chances[1] - chances[0]) @ probabilities_of(
        logits_of(weights[:, None, :] * np.linspace(-2.0, 2.0, 21)[:, None])
    ).reshape(len(weights), -1)
    return Difference(
        float(chances[0] @ np.abs(apart).mean(axis=1)),
        float(chances[0] @ np.abs(apart - chances[0] @ apart).mean(axis=1)),
        float(np.mean(np.abs(means[1] - means[0]) / spreads[0])),
        100.0 * float(np.mean(np.abs(moved))),
    )


def _values(reports: OutcomeReports, weights: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Log likelihood of each group at each point of the grid."""
    by_group = np.empty((len(weights), len(reports.law)))
    for first in range(0, len(weights), AT_ONCE):
        scores = np.ascontiguousarray(weights[first : first + AT_ONCE, :, None] * x)
        group_log_likelihoods(reports, contrasts(reports.n_outcomes), scores, by_group[first : first + AT_ONCE])
    return by_group


def page(found: list[tuple[int, int, str, np.ndarray]]) -> str:
    """Write the table."""
    lines = [
        [
            str(n_outcomes),
            str(size),
            kind,
            str(len(differences)),
            *(f"{value:.2g}" for value in differences.mean(axis=0)),
        ]
        for n_outcomes, size, kind, differences in found
    ]
    header = [
        "outcomes",
        "people per group",
        "report",
        "data sets",
        "log likelihood of a group",
        "less its mean",
        "weights, standard deviations",
        "probabilities, points",
    ]
    about = (__doc__ or "").split("\n\n")[1].removesuffix(" Run").replace("\n", " ")
    table = "\n".join(markdown_table(header, lines))
    return "\n\n".join(["# Normal and exact law of several outcomes", about, table + "\n"])


def main() -> None:
    """Compare and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-sets", type=int, default=5)
    parser.add_argument("--output", type=Path, default=RESULT)
    arguments = parser.parse_args()
    found = []
    for n_outcomes, sizes in SIZES.items():
        for size in sizes:
            for kind in ("counts", "shares"):
                rngs = [np.random.default_rng([seed, n_outcomes, size]) for seed in range(arguments.data_sets)]
                every = (difference(*simulate(rng, n_outcomes, size, kind)) for rng in rngs)
                each = [own for own in every if own is not None]
                if not each:
                    continue
                found.append((n_outcomes, size, kind, np.array(each)))
                print(n_outcomes, size, kind, found[-1][3].mean(axis=0), flush=True)
                arguments.output.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
