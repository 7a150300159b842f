"""Do intervals cover what they claim? Simulation-based calibration on data drawn from the model's own prior.

For each data set: individuals at random, kernel, scales, weights, labels and reports drawn from the model; a fit;
and the question whether the 50 % and 90 % intervals of the individuals' probabilities hold the true ones, and
where the truth ranks among the draws. Run

    python -m benchmarks.calibration [--data-sets 500] [--case NAME ...]

It goes on where it stopped, and writes ``benchmarks/results/calibration.csv``, ``.md`` and ``.png``.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr
from scipy.stats import chisquare
from sklearn.exceptions import ConvergenceWarning

from benchmarks.markdown import markdown_table, share_and_error
from benchmarks.resumable import read_rows, run_left
from disaggregate import GroupStatsClassifier, evidence
from disaggregate.basis import Basis, candidate_kernels, principal_directions, resolve_kernel, unit_columns
from disaggregate.basis.candidates import Candidate
from disaggregate.fitting.plan import CONSTANT_DEVIATION
from disaggregate.groups.context import context_of
from disaggregate.groups.grouped import group_rows
from disaggregate.model.outcomes import logits_of, probabilities_of
from disaggregate.settings import GaussianProcess, SpikeSlab

RESULTS = Path(__file__).parent / "results" / "calibration.csv"
LEVELS = (0.5, 0.9)
CONFIDENCE = 1000.0
GAMMA = 0.5
LARGEST_CELL, LARGE_CELL = 6, 600
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


def exact(count: int, n: int, rng: np.random.Generator) -> evidence.Count:
    """Report the count."""
    return evidence.Count(count)


def population(count: int, n: int, rng: np.random.Generator) -> evidence.Population:
    """Report the share of the population that the rows are a sample of."""
    return evidence.Population(count / n, size=n)


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
    description : str
        The same in words, for the table.
    report : callable
        From a count of positives to what the group reports.
    n_groups, size : int
        Groups of so many.
    kernel : str
        Of the data and the fit; "auto" draws one by the prior odds of the candidates.
    is_sparse, is_weighted, has_cells : bool
        Whether the weights of kernels are sparse, whether members have survey weights, and whether a row is a cell
        of several people.
    are_alike : bool
        Whether cells are of hundreds of people, who are more alike than their features say.
    population : int
        People per group, of which the rows are a sample; 0 where the rows are everybody.
    n_outcomes : int
        Number of outcomes; reports on more than two are shares of each.
    settings : dict
        Of the fit. With ``context`` or ``group_effects`` among them the groups' averages differ, and f has these
        components too.
    """

    description: str
    report: Report = fraction
    n_groups: int = 8
    size: int = 8
    kernel: str = "rbf"
    is_sparse: bool = False
    is_weighted: bool = False
    has_cells: bool = False
    are_alike: bool = False
    population: int = 0
    n_outcomes: int = 2
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def components(self) -> tuple[str, ...]:
        """Components of f beside that of the individuals."""
        names = {"context": "context", "group_effects": "place"}
        return tuple(name for setting, name in names.items() if self.settings.get(setting))

    @property
    def largest_cell(self) -> int:
        """People in the largest cell."""
        return LARGE_CELL if self.are_alike else LARGEST_CELL

    @property
    def is_of_places(self) -> bool:
        """Whether rows are samples or cells of places; other priors hold there."""
        return self.has_cells or self.population > 0


SPARSE = {"prior": "spike_slab", "centers": SPARSE_CENTERS}
# Components beside the individual one cost more per draw, and data sets are worth more than draws.
FEWER = {"n_replicas": 1, "n_draws": 200, "n_burn": 100}
PLACE = {"group_effects": True, **FEWER}
CONTEXT = {"context": True, **FEWER}
CELLS = {"prior": GaussianProcess(cells=True)}
CASES = {
    "default": Case("all defaults, kernels averaged", kernel="auto"),
    "rbf": Case("Gaussian kernel"),
    "larger groups": Case("Gaussian kernel, larger groups", n_groups=5, size=20),
    "linear": Case("linear kernel", kernel="linear"),
    "count": Case("exact counts", exact),
    "at least": Case("at least one, or none", at_least_one),
    "between": Case("between two counts", between),
    "population": Case(
        "a sample of a population", population, n_groups=12, size=15, population=500, settings=PLACE
    ),
    "survey": Case("a poll of half of the members", survey),
    "laplace": Case("Laplace noise on counts", laplace),
    "gaussian": Case("Gaussian noise on counts", gaussian),
    "weighted": Case("survey weights", is_weighted=True),
    "context": Case("make-up of groups matters", kernel="linear", n_groups=12, settings=CONTEXT),
    "place": Case("places have effects", n_groups=12, settings=PLACE),
    "place and context": Case(
        "places have effects, and their make-up", kernel="linear", n_groups=12, settings={**PLACE, **CONTEXT}
    ),
    "cells": Case("cells of people, places have effects", has_cells=True, settings=PLACE),
    "cells of counts": Case(
        "cells of people, exact counts", exact, has_cells=True, settings={**FEWER, "group_effects": False}
    ),
    "large cells": Case(
        "cells of hundreds, whose rates differ",
        exact,
        has_cells=True,
        are_alike=True,
        n_groups=12,
        settings=PLACE | CELLS,
    ),
    "three outcomes": Case("three outcomes", n_outcomes=3),
    "three outcomes, places": Case(
        "three outcomes, a sample of a population",
        n_groups=12,
        size=15,
        population=500,
        n_outcomes=3,
        settings=PLACE,
    ),
    "sparse": Case("sparse weights", is_sparse=True, settings=SPARSE),
    "published": Case(
        "sparse weights, moves of 2005",
        is_sparse=True,
        settings={**SPARSE, "prior": SpikeSlab(latent="metropolis"), "n_draws": 4000, "n_burn": 1000},
    ),
}


@dataclass(frozen=True)
class DataSet:
    """One draw from the prior; ``weights`` and ``counts`` are None where every row counts as one."""

    X: np.ndarray
    groups: np.ndarray
    reports: dict[int, Any]
    weights: np.ndarray | None
    counts: np.ndarray | None
    probability: np.ndarray


def simulate(rng: np.random.Generator, case: Case) -> DataSet:
    """Draw features, probabilities, labels and reports from the prior.

    People of a group are alike before anything is known of them, so its first ones are a random sample.
    """
    n_people = case.population or case.size
    groups = np.repeat(np.arange(case.n_groups), n_people)
    X = rng.standard_normal((len(groups), 2))
    if case.components:
        X += rng.standard_normal((case.n_groups, 2))[groups]
    is_seen = np.arange(len(groups)) % n_people < case.size
    if case.n_outcomes > 2:
        probability = outcome_probabilities(rng, case, X, groups, is_seen)
        reports = outcome_reports(rng, case, probability, groups)
        return DataSet(X[is_seen], groups[is_seen], reports, None, None, probability[is_seen])
    probability = ndtr(scores_of(rng, case, X, groups, is_seen))
    counts = rng.integers(1, case.largest_cell + 1, len(groups)) if case.has_cells else None
    rate = rates_of_cells(rng, probability) if case.are_alike else probability
    labels = rng.random(len(groups)) < rate if counts is None else rng.binomial(counts, rate)
    weights = rng.integers(1, 4, len(groups)) if case.is_weighted else None
    reports = reports_of(rng, case, labels, weights, counts)
    return DataSet(X[is_seen], groups[is_seen], reports, weights, counts, probability[is_seen])


def rates_of_cells(rng: np.random.Generator, probability: np.ndarray) -> np.ndarray:
    """Draw how alike people of one cell are, and the rate of each cell."""
    precision = 1.0 / drawn_scale(rng, "cell", of_places=True)
    found: np.ndarray = rng.beta(precision * probability, precision * (1.0 - probability))
    return found


def reports_of(
    rng: np.random.Generator,
    case: Case,
    labels: np.ndarray,
    weights: np.ndarray | None,
    counts: np.ndarray | None,
) -> dict[int, Any]:
    """Let each group report on its people, weighted where they have weights.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the noise of the reports.
    case : Case
        How groups report.
    labels : ndarray
        Number of positives of each row: 0 or 1 where it is a person.
    weights, counts : ndarray or None
        Weight of each row, and number of people.
    """
    each = np.ones(len(labels), dtype=int) if weights is None else weights
    positives = (each * labels).reshape(case.n_groups, -1).sum(axis=1)
    totals = (each if counts is None else counts).reshape(case.n_groups, -1).sum(axis=1)
    return {
        group: case.report(int(count), int(total), rng)
        for group, (count, total) in enumerate(zip(positives, totals, strict=True))
    }


def outcome_probabilities(
    rng: np.random.Generator, case: Case, X: np.ndarray, groups: np.ndarray, is_seen: np.ndarray
) -> np.ndarray:
    """Draw the probabilities of several outcomes; all scores have the same kernel and scales."""
    n_scores, centers = case.n_outcomes - 1, X[is_seen]
    chosen = drawn_kernel(rng, case.kernel, centers)
    delta2 = drawn_scale(rng, "individual", of_places=case.is_of_places)
    how = {"separate_constant": case.is_of_places}
    scores = np.stack([process(rng, X, chosen, centers, delta2, **how) for _ in range(n_scores)], axis=1)
    if "place" in case.components:
        offsets = rng.standard_normal((case.n_groups, n_scores))
        scores += math.sqrt(drawn_scale(rng, "place", of_places=case.is_of_places)) * offsets[groups]
    return probabilities_of(logits_of(scores))


def outcome_reports(
    rng: np.random.Generator, case: Case, probability: np.ndarray, groups: np.ndarray
) -> dict[int, Any]:
    """Let each group report the share of each outcome: of its people, with noise, or of its population."""
    reports: dict[int, Any] = {}
    for group in range(case.n_groups):
        counts = rng.multinomial(1, probability[groups == group]).sum(axis=0)
        shares = counts / counts.sum()
        if case.population:
            reports[group] = evidence.PopulationShares(dict(enumerate(shares.tolist())), case.population)
        else:
            drawn_shares = rng.dirichlet(CONFIDENCE * shares + 1.0)
            reports[group] = evidence.Shares(dict(enumerate(drawn_shares.tolist())), CONFIDENCE)
    return reports


def scores_of(
    rng: np.random.Generator, case: Case, X: np.ndarray, groups: np.ndarray, is_seen: np.ndarray
) -> np.ndarray:
    """Draw f of everybody: what individuals differ by, and the offsets of their groups."""
    if case.is_sparse:
        return sparse_scores(rng, X)
    f = dense_scores(rng, X, case.kernel, X[is_seen], of_places=case.is_of_places)
    if "context" in case.components:
        context = context_of_groups(X[is_seen], groups[is_seen])
        offsets = context @ rng.standard_normal(X.shape[1])
        f += math.sqrt(drawn_scale(rng, "context", of_places=case.is_of_places)) * offsets[groups]
    if "place" in case.components:
        offsets = rng.standard_normal(case.n_groups)
        f += math.sqrt(drawn_scale(rng, "place", of_places=case.is_of_places)) * offsets[groups]
    return f


def drawn_scale(rng: np.random.Generator, name: str, *, of_places: bool) -> float:
    """Draw delta2 of a component of f from its prior."""
    return GaussianProcess(cells=True).component_priors(of_places)[name].draw(rng)


def context_of_groups(X: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Average features of each group as the model takes them, shape (n_groups, n_features)."""
    known = group_rows(groups.tolist(), dict.fromkeys(groups.tolist(), evidence.Unknown()))
    context = context_of(X, known)
    return context.relative_means / context.norm


def dense_scores(
    rng: np.random.Generator,
    X: np.ndarray,
    kernel: str,
    centers: np.ndarray | None = None,
    *,
    of_places: bool = False,
) -> np.ndarray:
    """Draw the individual part of f from its Gaussian process; and its kernel for "auto".

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws kernel, scale and weights.
    X : ndarray of shape (n_rows, n_features)
        Where the process is asked for.
    kernel : str
        Its kernel.
    centers : ndarray of shape (n_centers, n_features), optional
        The rows of the fit, on which kernels sit; ``X`` by default.
    of_places : bool, default=False
        Whether rows are samples or cells of places; the constant then stands outside the process and its scale.
    """
    centers = X if centers is None else centers
    chosen = drawn_kernel(rng, kernel, centers)
    delta2 = drawn_scale(rng, "individual", of_places=of_places)
    return process(rng, X, chosen, centers, delta2, separate_constant=of_places)


def process(
    rng: np.random.Generator,
    X: np.ndarray,
    chosen: Candidate,
    centers: np.ndarray,
    delta2: float,
    *,
    separate_constant: bool,
) -> np.ndarray:
    """Draw the Gaussian process that some centres span, with its intercept.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the weights.
    X : ndarray of shape (n_rows, n_features)
        Where the process is asked for.
    chosen : Candidate
        Its kernel.
    centers : ndarray of shape (n_centers, n_features)
        The rows of the fit.
    delta2 : float
        Its scale.
    separate_constant : bool
        Whether the intercept has a known variance instead.
    """
    basis = Basis(chosen.kernel, centers, True, emphasis=chosen.emphasis)
    directions = principal_directions(basis, basis.columns(centers), separate_constant)
    fixed = np.full(directions.n_fixed, CONSTANT_DEVIATION)
    deviation = np.concatenate([fixed, np.sqrt(delta2 * directions.spread)])
    weights = deviation * rng.standard_normal(len(deviation))
    return weights @ directions.to_kernels @ basis.columns(X)


def drawn_kernel(rng: np.random.Generator, kernel: str, X: np.ndarray) -> Candidate:
    """Draw one of the candidates by their prior odds."""
    candidates = candidate_kernels(kernel, "auto" if kernel == "auto" else GAMMA, {}, "auto", X)
    odds = np.array([candidate.odds for candidate in candidates], dtype=float)
    return candidates[rng.choice(len(odds), p=odds / odds.sum())] if len(odds) > 1 else candidates[0]


def sparse_scores(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """Draw active kernels, scale and weights, eqs. (5) to (7) with a = b = 1."""
    basis = Basis(resolve_kernel("rbf", GAMMA, 3, 1.0, X), SPARSE_CENTERS, True)
    psi, _ = unit_columns(basis.columns(X))
    is_active = rng.random(len(psi)) < rng.random()
    is_active[0] = True  # the intercept
    active = psi[is_active]
    mu, nu = SpikeSlab().scale_prior()
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
    cells = {} if data.counts is None else {"counts": data.counts}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(data.X, data.reports, groups=data.groups, sample_weight=data.weights, **cells)
    found = {}
    for level in LEVELS:
        interval = model.predict_interval(data.X, level=level, groups=data.groups)
        low, high = interval[..., 0], interval[..., 1]
        found[f"covered_{level:.0%}"] = float(np.mean((low <= data.probability) & (data.probability <= high)))
    ranks = (model.predict_draws(data.X, data.groups) < data.probability).mean(axis=(0, 1)).ravel()
    return found | {"rank": float(ranks[rng.integers(len(ranks))]), "mean_rank": float(ranks.mean())}


def run_case(name: str, n_sets: int, path: Path) -> None:
    """Fit what is missing of a case, a line of the file per data set."""
    run_left(path, n_sets, lambda seed: fit_one(seed, CASES[name]), case=name)


def report(rows: pd.DataFrame) -> str:
    """Write the table."""
    table = [
        [
            CASES[str(name)].description,
            str(len(part)),
            *(share_and_error(part[f"covered_{level:.0%}"]) for level in LEVELS),
            f"p = {uniform_p_value(part['rank']):.2f}",
        ]
        for name, part in rows.groupby("case", sort=False)
    ]
    lines = [
        "# Calibration",
        "",
        "Made by `python -m benchmarks.calibration`: data sets drawn from the prior, groups of 8 (20 in the row "
        "of larger groups); share of individuals whose true probability lies in its interval, ± standard error "
        "over data sets; and the p-value of a chi-squared test that the truth of one individual per data set "
        "ranks uniformly among its draws. Where places or their make-up have effects, the average features of "
        "groups differ. In the row of a sample the fit sees 15 of 500 people per group. Cells hold 1 to 6 people, "
        "and the probability of each cell is compared. All these rows have two chains of one replica and "
        f"{FEWER['n_draws']} draws. The moves of 2005 hardly leave the explanation that they "
        "start from in 4,000 draws per chain; their row shows what that does to intervals.",
        "",
        *markdown_table(["case", "data sets", "50 % interval", "90 % interval", "uniform ranks"], table),
    ]
    return "\n".join([*lines, "", "![Ranks of the truth among the draws](calibration.png)", ""])


def uniform_p_value(ranks: pd.Series) -> float:
    """Test whether ranks from 0 to 1 are uniform."""
    counts, _ = np.histogram(ranks, bins=N_BINS, range=(0.0, 1.0))
    return float(chisquare(counts).pvalue)


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
        ax.set_title(CASES[str(name)].description, fontsize=9)
    for ax in axes[len(cases) :]:
        ax.set_visible(False)
    figure.supxlabel("rank of the true probability among its draws; grey: 95 % of bars when it is uniform")
    figure.savefig(path, dpi=130)


def main() -> None:
    """Run the calibration and write its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-sets", type=int, default=500, help="simulated data sets per case (default: 500)")
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
