"""Priors of places, screened on census outcomes with a stand-in for the model that has a closed form.

On the probit scale, with linear scores of people, the share of an area is about normal:

    z_j = level + m_j' b + m_j' g + o_j,   b ~ N(0, s_b^2),  g = rho b + N(0, s_c^2),  o_j ~ N(0, s_o^2)

where m_j, the average features of the area, is known from a sample. Given the scales all is linear and normal, so
a grid over the scales is a fit, in seconds. It is no substitute for a fit, but says in minutes what hundreds
of fits would take hours for: which priors of the scales have small errors, intervals that hold, and differences of
the right size over many outcomes. Outcomes are those of the choosing half of ``benchmarks.truth`` and six more
that are cut from the same columns; none has to do with the half that is kept for reporting.

The noise of samples is taken off their averages in one of two ways. Along the scores, as the model does: one
factor, from how far areas differ along the present scores. Or direction by direction: one factor per direction in
which features can differ, for people and context alike. Run

    python -m benchmarks.place_priors --data FOLDER [--rows 30 10 100] [--seeds 2]

which writes ``benchmarks/results/place_priors.md``: all priors with the first number of rows, and the present one
with the others.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri
from threadpoolctl import threadpool_limits

from benchmarks.markdown import markdown_table
from benchmarks.truth.census import OUTCOMES, Outcome, tasks_of_outcomes
from benchmarks.truth.scores import Prediction, scores
from benchmarks.truth.task import CHOOSING, Task, half_of_outcome
from disaggregate.model.populations import SMOOTHNESS
from disaggregate.tables.encoding import make_encoder

RESULTS = Path(__file__).parent / "results" / "place_priors.md"
MORE = {
    "age under 30": Outcome("age", lambda column: column < 30),
    "age 75 and over": Outcome("age", lambda column: column >= 75),
    "female": Outcome("sex", lambda column: column == "Female"),
    "three vehicles or more": Outcome("vehicles", lambda column: column.str.contains("[3-9]")),
    "high income": Outcome("income", lambda column: column >= column.quantile(0.8)),
    "low income": Outcome("income", lambda column: column <= column.quantile(0.2)),
}
WAYS = (("along the scores", False), ("direction by direction", True))
N_DRAWS = 120
LEVEL = 2.0  # prior deviation of the level
INDIVIDUAL = (0.1, 0.2, 0.3, 0.45, 0.65, 0.9, 1.3)
CONTEXT = (0.02, 0.05, 0.1, 0.17, 0.28, 0.45)
PLACE = (0.02, 0.05, 0.1, 0.17, 0.28)
FOLLOWS = (0.0, 0.5, 1.0)
STEPS = 5  # until the noise of compositions suits the weights


class Scales(NamedTuple):
    """Standard deviations of the components, and the multiple of individual effects that context follows."""

    individual: float
    context: float
    place: float
    follows: float


class Prior(NamedTuple):
    """Gamma law of the individual variance, half-normal deviations of the others, and multiples that may be."""

    shape: float
    mean: float
    context: float
    place: float
    follows: tuple[float, ...] = (0.0,)

    def log_density(self, scales: Scales) -> float:
        """Log density on the grid, whose steps are even in the logarithms."""
        if scales.follows not in self.follows:
            return -np.inf
        variance = scales.individual**2
        individual = self.shape * np.log(variance) - self.shape / self.mean * variance
        others = ((scales.context, self.context), (scales.place, self.place))
        return individual + sum(np.log(found) - 0.5 * (found / deviation) ** 2 for found, deviation in others)


NOW = Prior(2.0, 0.64, 0.15, 0.2)
PRIORS = {
    "as it is: variance 0.64, context 0.15, place 0.2": NOW,
    "variance 0.3": NOW._replace(mean=0.3),
    "variance 1.0": NOW._replace(mean=1.0),
    "variance 1.6": NOW._replace(mean=1.6),
    "variance 0.35, shape 4": NOW._replace(mean=0.35, shape=4.0),
    "context 0.08": NOW._replace(context=0.08),
    "context 0.3": NOW._replace(context=0.3),
    "place 0.1": NOW._replace(place=0.1),
    "variance 0.3, context 0.3": NOW._replace(mean=0.3, context=0.3),
    "variance 1.0, context 0.3": NOW._replace(mean=1.0, context=0.3),
    "context follows people by 0, 0.5 or 1": NOW._replace(follows=FOLLOWS),
    "variance 1.0, context follows": NOW._replace(mean=1.0, follows=FOLLOWS),
}


class Areas(NamedTuple):
    """Areas as their samples show them, in directions in which people of an area have unit variance.

    Attributes
    ----------
    own, context : ndarray of shape (n_areas, n_directions)
        Average features as the individual part and the context take them; where they are shrunk along the scores,
        the individual part takes those of the sample.
    missed : ndarray of shape (n_directions, n_directions)
        Covariance of what the samples do not tell of the averages; before they are shrunk along the scores.
    ratio : ndarray of shape (n_directions, n_directions)
        Covariance of the samples' averages, in units of what sampling alone gives.
    context_is_true : bool
        Whether context speaks of the areas' own averages, of which samples do not tell all, or of the samples';
        the first where averages are shrunk direction by direction.
    prior : ndarray of shape (n_directions, n_directions)
        Covariance of weights that count equally for each encoded column.
    score, noise : ndarray of shape (n_areas,)
        Share on the probit scale, and the variance that the size of the area gives it.
    origin, to_directions : ndarray
        From encoded people to directions.
    spread : float
        Variance of all encoded columns together.
    """

    own: np.ndarray
    context: np.ndarray
    missed: np.ndarray
    ratio: np.ndarray
    context_is_true: bool
    prior: np.ndarray
    score: np.ndarray
    noise: np.ndarray
    origin: np.ndarray
    to_directions: np.ndarray
    spread: float


def areas_of(task: Task, X: np.ndarray, in_all_directions: bool) -> Areas:
    """Average the samples, and shrink by what sampling adds: every direction by itself, or along the scores."""
    names, group = np.unique(task.groups.astype(str), return_inverse=True)
    n = np.bincount(group)
    means = np.stack([np.bincount(group, column) / n for column in X.T], axis=1)
    within = (X - means[group]).T @ (X - means[group]) / (len(X) - len(n))
    variance, axes = np.linalg.eigh(within)
    kept = variance > 1e-6 * variance.max()
    whiten, back = axes[:, kept] / np.sqrt(variance[kept]), axes[:, kept] * np.sqrt(variance[kept])
    raw = (means - X.mean(axis=0)) @ whiten
    prior, chance = back.T @ back, 1.0 / n.mean()
    ratio, rotation = np.linalg.eigh(raw.T @ raw / (len(n) - 1))
    between = np.maximum(ratio - chance, 0.0)
    if in_all_directions:
        reported = between / (between + chance)
        own = raw @ (rotation * reported) @ rotation.T
        context, missed = own, (rotation * (between * (1.0 - reported))) @ rotation.T
    else:
        own, context, missed = raw, raw, chance * np.eye(len(ratio))
    results = task.results.set_index(results_names(task)).loc[names]
    share = results["share"].clip(1e-3, 1.0 - 1e-3).to_numpy()
    score = ndtri(share)
    noise = share * (1.0 - share) / results["size"].to_numpy() * 2.0 * np.pi * np.exp(score**2)
    return Areas(
        own=own,
        context=context,
        missed=missed,
        ratio=(rotation * ratio / chance) @ rotation.T,
        context_is_true=in_all_directions,
        prior=prior,
        score=score,
        noise=noise,
        origin=X.mean(axis=0),
        to_directions=whiten,
        spread=float(X.var(axis=0).sum()),
    )


def results_names(task: Task) -> pd.Series:
    """Return the area of each result, as a string."""
    return task.results[task.roles["group"]].astype(str)


class Posterior(NamedTuple):
    """Given the scales: log evidence, covariances of everything, and what the shares leave open."""

    log_evidence: float
    scales: Scales
    of_individual: np.ndarray
    of_context: np.ndarray
    by_individual: np.ndarray
    noise: np.ndarray
    total: np.ndarray
    score: np.ndarray


def posterior_given(areas: Areas, scales: Scales) -> Posterior:
    """Integrate over all weights; the noise of compositions depends on them, and is taken at their expectation."""
    stretch = np.sqrt(1.0 + scales.individual**2 + scales.place**2)
    score, known = stretch * areas.score, stretch**2 * areas.noise
    of_individual = scales.individual**2 * areas.prior / areas.spread
    size = np.mean(np.sum(areas.context @ areas.prior * areas.context, axis=1))
    of_context = scales.context**2 * areas.prior / size
    counted = float(areas.context_is_true)
    multiple = 1.0 + counted * scales.follows
    weights, left = np.zeros(len(areas.prior)), multiple**2 * of_individual + counted * of_context
    for _ in range(STEPS):
        factor = 1.0 if areas.context_is_true else factor_along(areas, np.outer(weights, weights) + left)
        by_individual, missed = factor * areas.own + scales.follows * areas.context, factor * areas.missed
        signal = by_individual @ of_individual @ by_individual.T + areas.context @ of_context @ areas.context.T
        noise = known + weights @ missed @ weights + np.trace(missed @ left)
        total = signal + LEVEL**2 + np.diag(noise + scales.place**2)
        root = np.linalg.cholesky(total)
        solved = np.linalg.solve(root, score)
        pull = multiple * np.linalg.solve(root, by_individual @ of_individual)
        pull += counted * np.linalg.solve(root, areas.context @ of_context)
        weights = pull.T @ solved
        left = multiple**2 * of_individual + counted * of_context - pull.T @ pull
    log_evidence = -0.5 * solved @ solved - np.log(np.diag(root)).sum() + len(score) * np.log(stretch)
    return Posterior(log_evidence, scales, of_individual, of_context, by_individual, noise, total, score)


def factor_along(areas: Areas, second_moments: np.ndarray) -> float:
    """Return how much of the samples' averages is to be believed along weights with these second moments."""
    ratio = np.sum(second_moments * areas.ratio) / np.trace(second_moments) - 1.0
    excess = 0.5 * (ratio + np.hypot(ratio, SMOOTHNESS))
    return float(excess / (1.0 + excess))


def draw_people(
    areas: Areas, grid: list[Posterior], prior: Prior, people: np.ndarray, area: np.ndarray
) -> np.ndarray:
    """Draw probabilities of people, shape (n_draws, n_people)."""
    rng = np.random.default_rng(0)
    log_weight = np.array([given.log_evidence + prior.log_density(given.scales) for given in grid])
    weight = np.exp(log_weight - log_weight.max())
    directions = (people - areas.origin) @ areas.to_directions
    drawn = np.empty((N_DRAWS, len(people)))
    for row, number in enumerate(rng.choice(len(grid), N_DRAWS, p=weight / weight.sum())):
        level, weights, offset = draw_weights(areas, grid[number], rng)
        drawn[row] = ndtr(level + directions @ weights + offset[area])
    return drawn


def draw_weights(areas: Areas, given: Posterior, rng: np.random.Generator) -> tuple[float, np.ndarray, np.ndarray]:
    """Draw from the prior and move the draw by what the shares say (Matheron's rule)."""
    n_areas, n = areas.own.shape
    jitter = 1e-12 * np.eye(n)
    individual = np.linalg.cholesky(given.of_individual + jitter) @ rng.standard_normal(n)
    context = np.linalg.cholesky(given.of_context + jitter) @ rng.standard_normal(n)
    level, place = LEVEL * rng.standard_normal(), given.scales.place * rng.standard_normal(n_areas)
    reported = level + given.by_individual @ individual + areas.context @ context + place
    reported += np.sqrt(given.noise) * rng.standard_normal(n_areas)
    pull = np.linalg.solve(given.total, given.score - reported)
    individual = individual + given.of_individual @ given.by_individual.T @ pull
    context = context + given.of_context @ areas.context.T @ pull
    place = place + given.scales.place**2 * pull
    level += LEVEL**2 * pull.sum()
    return float(level), individual, areas.context @ (context + given.scales.follows * individual) + place


def fit_all(
    task: Task, in_all_directions: bool, priors: Mapping[str, Prior]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Fit one task with each prior, and judge it."""
    encoder = make_encoder(task.people, task.features)
    areas = areas_of(task, encoder.transform(task.people), in_all_directions)
    multiples = sorted({multiple for prior in priors.values() for multiple in prior.follows})
    grid = [posterior_given(areas, Scales(*one)) for one in product(INDIVIDUAL, CONTEXT, PLACE, multiples)]
    people, column = encoder.transform(task.judges), task.roles["group"]
    area = np.searchsorted(np.unique(task.groups.astype(str)), task.judges[column].astype(str))
    for name, prior in priors.items():
        drawn = draw_people(areas, grid, prior, people, area)
        (line,), _ = scores(task, Prediction(drawn.mean(axis=0), drawn))
        (base,), _ = scores(task, Prediction(np.full(len(people), task.base_rate)))
        yield name, {**line, "relative": line["error"] / base["error"]}


def tasks(data: Path, n_rows: int, n_seeds: int) -> Iterator[Task]:
    """Make the tasks of all outcomes that are for choosing."""
    chosen = {name: one for name, one in OUTCOMES.items() if half_of_outcome(name, OUTCOMES) == CHOOSING}
    for seed in range(n_seeds):
        yield from tasks_of_outcomes(data, seed, {**chosen, **MORE}, [f"{n_rows} rows"])


COLUMNS: Mapping[str, Callable[[pd.DataFrame], str]] = {
    "error of rates": lambda rows: f"{rows['error'].mean():.4f}",
    "relative to base rate": lambda rows: f"{rows['relative'].mean():.2f}",
    "90 % holds": lambda rows: f"{rows['coverage'].mean():.0%}",
    "least": lambda rows: f"{rows['coverage'].min():.0%}",
    "width": lambda rows: f"{rows['width'].mean():.2f}",
    "slope, median": lambda rows: f"{rows['slope'].median():.2f}",
    "slopes": lambda rows: f"{rows['slope'].min():.1f} to {rows['slope'].max():.1f}",
    "log loss": lambda rows: f"{rows['log_loss'].mean():.4f}",
}


def page(rows: pd.DataFrame, n_rows: list[int], n_seeds: int) -> str:
    """Write how the two ways to shrink averages compare, and a table of priors for each."""
    now = next(iter(PRIORS))
    given = " ".join(map(str, n_rows))
    compared = [
        [str(n), how, *(show(own) for show in COLUMNS.values())]
        for (n, how), own in rows[rows["prior"] == now].groupby(["n_rows", "shrunk"])
    ]
    parts = [
        "# Priors of places, screened in closed form",
        f"Made by `python -m benchmarks.place_priors --data FOLDER --rows {given} --seeds {n_seeds}`: nine census "
        f"outcomes, means over outcomes and samples of people ({n_seeds} per outcome). A stand-in for the model, "
        "not the model; columns as in `truth.md`.",
        "## How averages of samples are shrunk",
        "Along the scores: by one factor, from how far areas differ along the present scores, as the model does. "
        "Direction by direction: each direction by a factor of its own, for people and context alike. With the "
        "present prior.",
        "\n".join(markdown_table(["rows per area", "shrunk", *COLUMNS], compared)),
    ]
    for how, part in rows[rows["n_rows"] == n_rows[0]].groupby("shrunk"):
        table = [
            [name, *(show(own) for show in COLUMNS.values())] for name, own in part.groupby("prior", sort=False)
        ]
        parts.append(f"## {n_rows[0]} rows per area, averages shrunk {how}")
        parts.append("\n".join(markdown_table(["prior", *COLUMNS], table)))
    return "\n\n".join(parts) + "\n"


def main(given: list[str] | None = None) -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder that holds truth/")
    parser.add_argument("--rows", type=int, nargs="+", default=[30, 10, 100], help="people per area")
    parser.add_argument("--seeds", type=int, default=2, help="samples of people (default: 2)")
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args(given)
    lines = []
    with threadpool_limits(1):
        for n_rows in arguments.rows:
            priors = PRIORS if n_rows == arguments.rows[0] else dict([next(iter(PRIORS.items()))])
            for task, (how, in_all_directions) in product(tasks(arguments.data, n_rows, arguments.seeds), WAYS):
                found = list(fit_all(task, in_all_directions, priors))
                key = {"n_rows": n_rows, "shrunk": how, "outcome": task.outcome}
                lines += [{**key, "prior": name, **line} for name, line in found]
                print(n_rows, task.outcome, task.seed, how, f"{found[0][1]['relative']:.2f}", flush=True)
    text = page(pd.DataFrame(lines), arguments.rows, arguments.seeds)
    arguments.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
