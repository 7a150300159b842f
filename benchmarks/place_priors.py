"""Priors of places, screened on census outcomes with a stand-in for the model that has a closed form.

On the probit scale, with linear scores of people, the share of an area is about normal:

    z_j = level + m_j' b + m_j' g + o_j,   b ~ N(0, s_b^2),  g = rho b + N(0, s_c^2),  o_j ~ N(0, s_o^2)

where m_j, the average features of the area, is known from a sample. Given the scales all is linear and normal, so
a grid over the scales is a fit, in half a second. It is no substitute for a fit, but says in minutes what hundreds
of fits would take hours for: which priors of the scales have small errors, intervals that hold, and differences of
the right size over many outcomes. Outcomes are those of the choosing half of ``benchmarks.truth`` and six more
that are cut from the same columns; none has to do with the half that is kept for reporting. Run

    python -m benchmarks.place_priors --data FOLDER [--rows 30] [--seeds 2]

which writes ``benchmarks/results/place_priors.md``.
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
N_DRAWS = 120
LEVEL = 2.0  # prior deviation of the level
INDIVIDUAL = (0.1, 0.2, 0.3, 0.45, 0.65, 0.9, 1.3)
CONTEXT = (0.02, 0.05, 0.1, 0.17, 0.28, 0.45)
PLACE = (0.02, 0.05, 0.1, 0.17, 0.28)
FOLLOWS = (0.0, 0.5, 1.0)


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
        Average features as the individual part and the context take them.
    missed : ndarray of shape (n_directions, n_directions)
        Covariance of what the samples do not tell of the averages.
    context_is_true : bool
        Whether context speaks of the areas' own averages, of which samples do not tell all, or of the samples'.
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
    context_is_true: bool
    prior: np.ndarray
    score: np.ndarray
    noise: np.ndarray
    origin: np.ndarray
    to_directions: np.ndarray
    spread: float


def areas_of(task: Task, X: np.ndarray, in_all_directions: bool) -> Areas:
    """Average the samples, and shrink by what sampling adds: every direction by itself, or all by one factor."""
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
        told = between / (between + chance)
        own = raw @ (rotation * told) @ rotation.T
        context, missed = own, (rotation * (between * (1.0 - told))) @ rotation.T
    else:
        along = np.trace((rotation * between) @ rotation.T @ prior)
        factor = along / (along + chance * np.trace(prior))
        own, context, missed = factor * raw, raw, factor * chance * np.eye(len(ratio))
    results = task.results.set_index(results_names(task)).loc[names]
    share = results["share"].clip(1e-3, 1.0 - 1e-3).to_numpy()
    score = ndtri(share)
    noise = share * (1.0 - share) / results["size"].to_numpy() * 2.0 * np.pi * np.exp(score**2)
    return Areas(
        own=own,
        context=context,
        missed=missed,
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
    by_individual = areas.own + scales.follows * areas.context
    signal = by_individual @ of_individual @ by_individual.T + areas.context @ of_context @ areas.context.T
    signal += LEVEL**2
    counted = float(areas.context_is_true)
    multiple = 1.0 + counted * scales.follows
    weights, left = np.zeros(len(areas.prior)), multiple**2 * of_individual + counted * of_context
    for _ in range(3):
        noise = known + weights @ areas.missed @ weights + np.trace(areas.missed @ left)
        total = signal + np.diag(noise + scales.place**2)
        factor = np.linalg.cholesky(total)
        solved = np.linalg.solve(factor, score)
        pull = multiple * np.linalg.solve(factor, by_individual @ of_individual)
        pull += counted * np.linalg.solve(factor, areas.context @ of_context)
        weights = pull.T @ solved
        left = multiple**2 * of_individual + counted * of_context - pull.T @ pull
    log_evidence = -0.5 * solved @ solved - np.log(np.diag(factor)).sum() + len(score) * np.log(stretch)
    return Posterior(log_evidence, scales, of_individual, of_context, by_individual, noise, total, score)


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
    told = level + given.by_individual @ individual + areas.context @ context + place
    told += np.sqrt(given.noise) * rng.standard_normal(n_areas)
    pull = np.linalg.solve(given.total, given.score - told)
    individual = individual + given.of_individual @ given.by_individual.T @ pull
    context = context + given.of_context @ areas.context.T @ pull
    place = place + given.scales.place**2 * pull
    level += LEVEL**2 * pull.sum()
    return float(level), individual, areas.context @ (context + given.scales.follows * individual) + place


def fit_all(task: Task, in_all_directions: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Fit one task with every prior, and judge it."""
    encoder = make_encoder(task.people, task.features)
    areas = areas_of(task, encoder.transform(task.people), in_all_directions)
    grid = [posterior_given(areas, Scales(*one)) for one in product(INDIVIDUAL, CONTEXT, PLACE, FOLLOWS)]
    people, column = encoder.transform(task.judges), task.roles["group"]
    area = np.searchsorted(np.unique(task.groups.astype(str)), task.judges[column].astype(str))
    for name, prior in PRIORS.items():
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


def page(rows: pd.DataFrame, n_rows: int, n_seeds: int) -> str:
    """Write a table per way to shrink averages."""
    parts = [
        "# Priors of places, screened in closed form",
        f"Made by `python -m benchmarks.place_priors --data FOLDER --rows {n_rows} --seeds {n_seeds}`: nine "
        f"census outcomes, {n_rows} rows per area, means over outcomes and {n_seeds} samples of people. A "
        "stand-in for the model, not the model; columns as in `truth.md`.",
    ]
    for how, part in rows.groupby("shrunk", sort=False):
        table = [
            [name, *(show(own) for show in COLUMNS.values())] for name, own in part.groupby("prior", sort=False)
        ]
        parts += [f"## Averages of samples shrunk {how}", "\n".join(markdown_table(["prior", *COLUMNS], table))]
    return "\n\n".join(parts) + "\n"


def main(given: list[str] | None = None) -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder that holds truth/")
    parser.add_argument("--rows", type=int, default=30, help="people per area (default: 30)")
    parser.add_argument("--seeds", type=int, default=2, help="samples of people (default: 2)")
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args(given)
    lines = []
    with threadpool_limits(1):
        for task in tasks(arguments.data, arguments.rows, arguments.seeds):
            for how, in_all_directions in (("by one factor", False), ("direction by direction", True)):
                found = list(fit_all(task, in_all_directions))
                lines += [{"shrunk": how, "prior": name, "outcome": task.outcome, **line} for name, line in found]
                print(task.outcome, task.seed, how, f"{found[0][1]['relative']:.2f}", flush=True)
    rows = pd.DataFrame(lines).sort_values("shrunk", kind="stable")
    text = page(rows, arguments.rows, arguments.seeds)
    arguments.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
