"""The joint-distribution test (Geweke, 2004) for replicas of dense weights, in its sharpest form.

Draw everything from the model: scales, weights, intercepts of groups, labels and reports, or shares of
populations. Apply a move, in which intercepts are integrated out, and draw them anew given the reports. If both
leave the posterior invariant, what comes out is again a draw from the model, so every statistic keeps its mean.

Every replica gets reports of its own, drawn together with it, instead of one report at several powers: a move
must leave each pair of replica and reports as it is, whatever the reports are, and swaps must leave all of them
together as they are. Labels are summed out of all moves, so they are forgotten once the reports are drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtr

from disaggregate.groups import GroupedData
from disaggregate.groups.evidence import Evidence, Fraction, Population, Unknown
from disaggregate.model.components import Components, draw_from_prior, make_components, scores_at
from disaggregate.model.populations import ShareLaw, share_law
from disaggregate.model.priors import half_normal, inverse_gamma
from disaggregate.model.reports import EXACT, NOTHING, Reports, make_reports
from disaggregate.sampler.dense.metric import Metric
from disaggregate.sampler.dense.state import State, Tally, empty_tally, new_state
from disaggregate.sampler.dense.target import LikelihoodGradient, Query, Target
from disaggregate.sampler.dense.whole import WholeLikelihood
from tests.helpers.dense_problems import grouped, metric_for
from tests.helpers.joint import Report, report_count, report_noisy_count, report_nothing

CONFIDENCE = 60.0


def report_share(count: int, n: int, rng: np.random.Generator) -> Evidence:
    """A share that tells the count to within one or two."""
    share = count / n
    return Fraction(rng.beta(CONFIDENCE * share + 1.0, CONFIDENCE * (1.0 - share) + 1.0), CONFIDENCE)


REPORTS: tuple[Report, ...] = (report_share, report_noisy_count, report_count, report_nothing, report_count)


@dataclass(frozen=True)
class World:
    """A small problem: groups, columns and components, with a place and a context per group."""

    data: GroupedData
    columns: np.ndarray
    components: Components
    reports: tuple[Report, ...]

    @property
    def base(self) -> Reports:
        """Reports that say nothing."""
        return make_reports(self.data)


def make_world(
    rng: np.random.Generator,
    sizes: tuple[int, ...] = (9, 6, 8, 3, 7),
    reports: tuple[Report, ...] = REPORTS,
    *,
    counts: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    population: bool = False,
    place: float = 0.5,
    has_places: bool = True,
    learns_confidence: bool = False,
) -> World:
    """Draw columns and contexts. Scales of the components have very different priors."""
    n_groups = len(sizes)
    evidence: list[Evidence] = [Fraction(0.5, "auto") if learns_confidence else Unknown()] * n_groups
    if population:
        evidence = ([Population(0.5, 200), Population(0.5)] * n_groups)[:n_groups]
    data = grouped(evidence, list(sizes), weights, counts)
    if weights is not None:  # groups of which nothing is known have no units otherwise
        data = grouped([report(1, 4, rng) for report in reports], list(sizes), weights)
    columns = rng.standard_normal((3, sum(sizes)))
    columns[0] = 1.0
    components = make_components(
        n_columns=3,
        column_deviation=np.array([1.5, 0.8]),
        n_fixed=1,
        fixed_deviation=0.7,
        individual=inverse_gamma(8.0, 12.0),
        context=rng.standard_normal((n_groups, 1)) + 0.5,
        context_prior=half_normal(0.7),
        n_places=n_groups if has_places else 0,
        place_prior=half_normal(place),
        n_groups=n_groups,
        has_samples=population,
        report_prior=half_normal(0.3) if learns_confidence else None,
    )
    return World(data, columns, components, reports)


def draw_scores(world: World, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw positions and intercepts from the prior; return positions with u and o."""
    position = np.array([draw_from_prior(world.components, rng) for _ in range(n)])
    scores = scores_at(world.components, position)
    offsets = scores.group + scores.deviation[:, None] * rng.standard_normal(scores.group.shape)
    return position, scores.weights[:, : world.components.n_columns] @ world.columns, offsets


def draw_joint(
    world: World, n: int, rng: np.random.Generator, *, last_is_prior: bool = False
) -> tuple[np.ndarray, np.ndarray, Reports]:
    """Draw positions, offsets and the reports that their labels lead to; the last one may report nothing."""
    base = world.base
    position, individual, group = draw_scores(world, n, rng)
    chance = ndtr(individual + np.repeat(group, np.diff(base.offsets), axis=1))
    positives = rng.binomial(base.counts, chance)
    counts = np.add.reduceat(base.units * positives, base.offsets[:-1], axis=1)
    evidence = np.zeros((n, int(base.starts[-1])))
    for j, report in enumerate(world.reports):
        total = int(base.total[j])
        for replica in range(n - int(last_is_prior)):
            reported = report(int(counts[replica, j]), total, rng).log_likelihood(total)
            evidence[replica, base.starts[j] : base.starts[j + 1]] = reported - reported.max()
    return position, group, with_evidence(base, evidence)


def offsets_given(
    target: Target, position: np.ndarray, own: list[Reports], rng: np.random.Generator
) -> np.ndarray:
    """Draw the offsets of each replica given its own reports, as recorded draws do."""
    query, columns = target.query(position), target.likelihood.columns
    noise = rng.standard_normal(query.group.shape)
    nothing = np.zeros((1, 0))
    drawn = [
        WholeLikelihood(columns, reports).add_expected(
            Query(*(part[k : k + 1] for part in query)), noise[k : k + 1], nothing, nothing
        )
        for k, reports in enumerate(own)
    ]
    return np.concatenate(drawn)


def offsets_of_the_prior(
    target: Target, position: np.ndarray, own: list[Reports], rng: np.random.Generator
) -> np.ndarray:
    """Draw the offsets of each replica as if nothing were reported, which is wrong."""
    query = target.query(position)
    return query.group + query.deviation[:, None] * rng.standard_normal(query.group.shape)


def by_rung(reports: Reports) -> list[Reports]:
    """The reports of each rung, alone."""
    names = ("log_likelihood", "likelihood", "fewest", "most")
    return [
        reports._replace(powers=np.ones(1), **{name: getattr(reports, name)[k : k + 1] for name in names})
        for k in range(len(reports.powers))
    ]


def with_evidence(base: Reports, evidence: np.ndarray) -> Reports:
    """Reports with an own log likelihood of counts on each rung."""
    ends = [
        [np.flatnonzero(np.isfinite(evidence[:, start:stop][r]))[[0, -1]] for r in range(len(evidence))]
        for start, stop in zip(base.starts[:-1], base.starts[1:], strict=True)
    ]
    fewest, most = (np.array([[own[r][which] for own in ends] for r in range(len(evidence))]) for which in (0, 1))
    is_uninformative = np.array(
        [not evidence[:, start:stop].any() for start, stop in zip(base.starts[:-1], base.starts[1:], strict=True)]
    )
    width = base.total + 1
    people = np.add.reduceat(base.counts, base.offsets[:-1])
    return base._replace(
        law=np.where(is_uninformative, NOTHING, EXACT).astype(np.int64),
        log_likelihood=evidence,
        likelihood=np.exp(evidence),
        fewest=fewest.astype(np.int64),
        most=most.astype(np.int64),
        powers=np.ones(len(evidence)),
        capacity=np.array([people.max(), width.max(), ((people + 1) * width).max(), *base.capacity[3:]]),
    )


def reported_counts(reports: Reports) -> np.ndarray:
    """Mean count that each group's report suggests by itself, for each replica."""
    count = np.arange(reports.starts[-1]) - np.repeat(reports.starts[:-1], np.diff(reports.starts))
    weighted, total = (
        np.add.reduceat(x, reports.starts[:-1], axis=1) for x in (reports.likelihood * count, reports.likelihood)
    )
    return weighted / total


def statistics(world: World, position: np.ndarray, group: np.ndarray, reported: np.ndarray) -> np.ndarray:
    """Moments of each replica and of its groups' offsets, and products with what was reported of its groups."""
    components = world.components
    scores = scores_at(components, position)
    individual = scores.weights[:, : components.n_columns] @ world.columns
    offsets = world.data.offsets
    chance = ndtr(individual + np.repeat(group, np.diff(offsets), axis=1))
    counted = world.data.units * (1 if world.data.counts is None else world.data.counts)
    expected = np.add.reduceat(counted * chance, offsets[:-1], axis=1) / np.add.reduceat(counted, offsets[:-1])
    n_weights = components.n_weights
    log_scales = position[:, n_weights : n_weights + len(components.priors)]
    log_scales = np.maximum(log_scales, -8.0)  # half-normal ones have long tails
    seen, place, intercept = np.tanh(individual[:, :3]), np.tanh(group), np.tanh(group - scores.group)
    values = [position[:, :n_weights], position[:, :n_weights] ** 2, log_scales, log_scales**2, seen, place]
    values += [expected, expected**2, reported * expected, reported * place, reported * log_scales[:, :1]]
    values += [reported * log_scales[:, -1:], log_scales * np.mean(place**2, axis=1)[:, None]]
    values += [intercept, intercept**2, reported * intercept, log_scales * np.mean(intercept**2, axis=1)[:, None]]
    values += [reported * np.tanh(scores.group), reported * position[:, n_weights - 1 : n_weights]]
    values += [log_scales * np.mean(seen**2, axis=1)[:, None], log_scales * (position[:, 1:2] ** 2)]
    if components.n_errors:
        error = position[:, -1:]
        values += [error, error**2, error * reported, error * expected]
    return np.hstack(values)


class OnePerChain:
    """The likelihood of many chains, each with reports of its own: rung r of the reports is chain r's."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.columns = inner, inner.columns

    def gradient(self, query: Query, rungs: np.ndarray) -> LikelihoodGradient:
        return self.inner.gradient(query, np.arange(len(rungs)))


class SharesPerChain:
    """The likelihood of many chains, each with shares of its own populations."""

    def __init__(self, columns: np.ndarray, reports: Reports, shares: np.ndarray) -> None:
        self.columns = columns
        self.parts = [WholeLikelihood(columns, reports._replace(share=own)) for own in shares]

    def gradient(self, query: Query, rungs: np.ndarray) -> LikelihoodGradient:
        found = [
            part.gradient(Query(*(own[k : k + 1] for own in query)), rungs[k : k + 1])
            for k, part in enumerate(self.parts)
        ]
        return LikelihoodGradient(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


@dataclass(frozen=True)
class Moment:
    """Everything that a move needs or changes; it may record intercepts of the first chain's first replica."""

    target: Target
    metric: Metric
    state: State
    tally: Tally
    log_ratios: np.ndarray
    rngs: list[np.random.Generator]
    reports: Reports
    recorded: list[np.ndarray]


Move = Callable[[Moment], None]
Corrupt = Callable[[Reports], Reports]
Redraw = Callable[[Target, np.ndarray, list[Reports], np.random.Generator], np.ndarray]


def z_of(changes: np.ndarray) -> np.ndarray:
    """Standardised mean change of each statistic; those that never change are left out."""
    spread = changes.std(axis=0, ddof=1)
    moved = spread > 1e-9
    assert moved.any(), "the move changes nothing"
    return changes.mean(axis=0)[moved] / (spread[moved] / np.sqrt(len(changes)))


def chains_z(
    move: Move,
    world: World,
    rng: np.random.Generator,
    *,
    n_draws: int = 2400,
    n_repeats: int = 2,
    n_batches: int = 3,
    corrupt: Corrupt = lambda reports: reports,
    redraw: Redraw = offsets_given,
) -> np.ndarray:
    """Test a move of the plain sweep on many chains with one replica each."""
    n = n_draws // n_batches
    metric = metric_for(world.components, 1, rng)
    changes = []
    for _ in range(n_batches):
        position, group, reports = draw_joint(world, n, rng)
        given = corrupt(reports)
        target = Target(world.components, OnePerChain(WholeLikelihood(world.columns, given)), np.ones(1))
        before = position, group, reported_counts(reports)
        changes.append(_changes(move, world, before, target, metric, by_rung(given), rng, n_repeats, redraw))
    return z_of(np.concatenate(changes))


def populations_z(
    move: Move,
    world: World,
    rng: np.random.Generator,
    *,
    n_draws: int = 1200,
    n_repeats: int = 2,
    law_of: Callable[..., ShareLaw] = share_law,
    redraw: Redraw = offsets_given,
) -> np.ndarray:
    """Test a move where the shares of populations are drawn from their law, z included, or from another one."""
    metric = metric_for(world.components, 1, rng)
    metric = metric._replace(step=np.full(2, 0.25))
    position, individual, group = draw_scores(world, n_draws, rng)
    shares, base = np.empty_like(group), world.base
    for k in range(n_draws):
        law = law_of(base, individual[k], group[k], float(position[k, -1]))
        shares[k] = law.mean + np.sqrt(law.variance) * rng.standard_normal(len(law.mean))
    target = Target(world.components, SharesPerChain(world.columns, base, shares), np.ones(1))
    own = [base._replace(share=reported) for reported in shares]
    return z_of(_changes(move, world, (position, group, shares), target, metric, own, rng, n_repeats, redraw))


def _changes(
    move: Move,
    world: World,
    before: tuple[np.ndarray, np.ndarray, np.ndarray],
    target: Target,
    metric: Metric,
    own: list[Reports],
    rng: np.random.Generator,
    n_repeats: int,
    redraw: Redraw,
) -> np.ndarray:
    """Move chains from where they are, with offsets and what was reported, and see what changes."""
    position, _, reported = before
    n = len(position)
    state = new_state(position[:, None].copy())
    rngs = [np.random.default_rng(seed) for seed in rng.spawn(1)[0].bit_generator.seed_seq.spawn(n)]
    for _ in range(n_repeats):
        move(Moment(target, metric, state, empty_tally(n, 1), np.zeros((n, 0, 2)), rngs, own[0], []))
    after = state.position[:, 0]
    assert not np.array_equal(after, position), "the move changes nothing"
    return statistics(world, after, redraw(target, after, own, rng), reported) - statistics(world, *before)


def ladder_z(
    move: Move,
    world: World,
    rng: np.random.Generator,
    *,
    n_rungs: int = 4,
    n_draws: int = 600,
    n_repeats: int = 2,
    last_is_prior: bool = True,
    corrupt: Corrupt = lambda reports: reports,
    redraw: Redraw = offsets_given,
) -> np.ndarray:
    """Test a move of all replicas on a ladder, one chain at a time; every rung has reports of its own."""
    metric = metric_for(world.components, n_rungs, rng)
    changes = []
    for turn in range(n_draws):
        position, group, reports = draw_joint(world, n_rungs, rng, last_is_prior=last_is_prior)
        reported = reported_counts(reports)
        state = new_state(position[None].copy())
        state.sweep[0] = turn % 24
        given, recorded = corrupt(reports), []
        target = Target(world.components, WholeLikelihood(world.columns, given), np.ones(n_rungs))
        ratios = np.zeros((1, n_rungs - 1, 2))
        for _ in range(n_repeats):
            move(Moment(target, metric, state, empty_tally(1, n_rungs), ratios, [rng], given, recorded))
        after = state.position[0]
        offsets = redraw(target, after, by_rung(given), rng)
        if recorded:
            offsets[0] = target.query(after[:1]).group[0] + recorded[-1]
        changes.append(
            (statistics(world, after, offsets, reported) - statistics(world, position, group, reported)).ravel()
        )
    return z_of(np.array(changes))


def with_components(target: Target, **changed: Any) -> Target:
    """The same target with other components, for moves that are wrong on purpose."""
    return replace(target, components=target.components._replace(**changed))
