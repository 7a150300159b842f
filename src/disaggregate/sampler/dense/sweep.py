"""One sweep of all replicas of some chains in plain NumPy; ``compiled.dense`` is its twin for one chain."""

from __future__ import annotations

import math

import numpy as np

from disaggregate.model.components import Components, draw_from_prior, scale_coordinates
from disaggregate.model.priors import LOG_SCALE_BOUND, SLICE_WIDTH, ScalePrior, slice_step
from disaggregate.sampler.dense.metric import Metric, kinetic_energy, momentum_from, velocity_of
from disaggregate.sampler.dense.state import State, Tally, moving_rungs
from disaggregate.sampler.dense.target import Target
from disaggregate.sampler.exchange import swap_replicas

# Trajectories of half to all of this length. The mass makes the density nearly round, where a quarter of a turn
# is enough.
PATH_LENGTH = 3.2
MOST_STEPS = 40

# Every so often steps are this much shorter: where the density is much narrower than where trajectories were
# tuned, all others may be refused.
CAREFUL, CAREFUL_EVERY = 0.1, 9

# How far a scale jumps, as a standard deviation of its logarithm; and in which sweeps, if it is the only one.
# Several jump in every sweep, but alternately where a likelihood costs as much as the rest of a sweep.
JUMP = 1.0
JUMP_EVERY = 4

Generators = list[np.random.Generator]


def dense_sweep(
    target: Target, metric: Metric, state: State, tally: Tally, log_ratios: np.ndarray, rngs: Generators
) -> None:
    """Move every replica, and let neighbours swap; labels are summed out of all of it.

    Parameters
    ----------
    target, metric : Target, Metric
        Densities, and the trajectories' steps and masses.
    state : State
        Moved in place.
    tally : Tally
        Added to.
    log_ratios : ndarray of shape (n_chains, n_rungs - 1, 2)
        Filled, as by :func:`disaggregate.sampler.exchange.swap_order`.
    rngs : list of numpy.random.Generator
        One per chain; the first also gives what all chains share.
    """
    n_rungs, sweep = state.position.shape[1], int(state.sweep[0])
    move_replicas(target, metric, state, tally, rngs)  # weights and scales given the reports
    if n_rungs > 1:
        move_replicas(target, metric, state, tally, rngs, np.zeros(1, dtype=np.int64))
    slice_scales(target, state, rngs)  # scales given the weights
    jump_in_scales(target, state, rngs, jumping_scales(target.components, sweep))
    if n_rungs > 1:
        refresh_prior(target, state, rngs)
        exchange_replicas(target, state, tally, log_ratios, rngs)
    state.sweep[0] += 1


def move_replicas(
    target: Target,
    metric: Metric,
    state: State,
    tally: Tally,
    rngs: Generators,
    moving: np.ndarray | None = None,
) -> None:
    """Move weights and scales of some rungs along Hamiltonian trajectories, each under its rung's posterior.

    The density is that of :mod:`disaggregate.model.components`: standard normal weights, the priors of the scales,
    and the likelihood of the reports with labels summed out.
    """
    n_chains, n_rungs, n_coordinates = state.position.shape
    sweep = int(state.sweep[0])
    is_held = holds_scales(sweep, len(target.components.priors))
    moving = moving_rungs(n_rungs, sweep) if moving is None else moving
    chains, rungs = np.repeat(np.arange(n_chains), len(moving)), np.tile(moving, n_chains)
    sets = rungs + n_rungs * is_held
    length, longest = PATH_LENGTH * (1.0 - 0.5 * rngs[0].random()), metric.step[n_rungs * is_held]
    n_steps = min(max(math.ceil(length / longest), 1), MOST_STEPS)
    shorter = CAREFUL if sweep % CAREFUL_EVERY == 0 else min(length / n_steps / longest, 1.0)
    step = metric.step[sets, None] * shorter
    noise = np.concatenate([rng.standard_normal((len(moving), n_coordinates)) for rng in rngs])
    if is_held:
        noise[:, scale_coordinates(target.components)] = 0.0
    evaluate_replicas(target, state, chains, rungs)
    position, force = state.position[chains, rungs], state.force[chains, rungs]
    momentum = momentum_from(metric, sets, noise)
    before = state.energy[chains, rungs] + 0.5 * np.sum(noise**2, axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(n_steps):
            momentum = momentum + 0.5 * step * force
            position = position + step * velocity_of(metric, sets, momentum)
            energy, force = target.evaluate(position, rungs)
            momentum = momentum + 0.5 * step * force
        log_ratio = before - energy - kinetic_energy(metric, sets, momentum)
    for index, (chain, rung) in enumerate(zip(chains.tolist(), rungs.tolist(), strict=True)):
        if is_accepted(log_ratio[index], tally, chain, int(sets[index]), rngs[chain]):
            state.position[chain, rung] = position[index]
            state.energy[chain, rung], state.force[chain, rung] = energy[index], force[index]


def holds_scales(sweep: int, n_scales: int) -> bool:
    """Return whether trajectories hold the scales, where there are several: two sweeps do not, the next two do."""
    return n_scales > 1 and sweep // 2 % 2 == 1


def evaluate_replicas(target: Target, state: State, chains: np.ndarray, rungs: np.ndarray) -> None:
    """Work out energies and forces that are not known."""
    unknown = np.flatnonzero(state.is_known[chains, rungs] == 0)
    if len(unknown):
        where = chains[unknown], rungs[unknown]
        state.energy[where], state.force[where] = target.evaluate(state.position[where], rungs[unknown])
        state.is_known[where] = 1


def is_accepted(log_ratio: float, tally: Tally, chain: int, number: int, rng: np.random.Generator) -> bool:
    """Decide on the end of a trajectory, and count it for its set of steps and masses."""
    threshold = -rng.standard_exponential()
    tally.moves[chain, number] += 1.0
    if not math.isfinite(log_ratio):
        return False
    tally.accepted[chain, number] += math.exp(min(log_ratio, 0.0))
    return bool(threshold < log_ratio)


def slice_scales(target: Target, state: State, rngs: Generators) -> None:
    """Draw each scale of each replica given the weights themselves, which the reports do not feel.

    Trajectories move scales with the standard weights; where the reports determine the weights well, the two
    then lie on a narrow curve. Given n weights of squares that add up to Q, in units of their deviations, the log
    scale t has log density (power - n/2) t - rate e^t - (inverse_rate + Q/2) e^-t up to a constant.
    """
    components = target.components
    n_weights = components.n_weights
    n_moving = max(state.position.shape[1] - 1, 1)
    for chain, rng in enumerate(rngs):
        for rung in range(n_moving):
            position, force = state.position[chain, rung], state.force[chain, rung]
            for s, prior in enumerate(components.scale_priors):
                own = np.flatnonzero(components.scale_of == s)
                if not len(own):
                    continue  # intercepts are integrated out, so the reports do feel their scale
                before = float(position[n_weights + s])
                half_square = 0.5 * float(np.sum(position[own] ** 2)) * math.exp(before)
                given = ScalePrior(prior.power - 0.5 * len(own), prior.rate, prior.inverse_rate + half_square)
                after = slice_step(given.log_kernel_at, before, SLICE_WIDTH, rng)
                factor = math.exp(0.5 * (after - before))
                by_weight = force[own] + position[own]
                state.energy[chain, rung] -= 0.5 * float(np.sum(position[own] ** 2))
                position[own] /= factor
                position[n_weights + s] = after
                force[own] = factor * by_weight - position[own]
                force[n_weights + s] += prior.slope(after) - prior.slope(before)
                state.energy[chain, rung] += 0.5 * float(np.sum(position[own] ** 2))
                state.energy[chain, rung] += prior.log_kernel_at(before) - prior.log_kernel_at(after)


def jumping_scales(components: Components, sweep: int) -> list[int]:
    """List the scales that jump in a sweep."""
    n_scales = len(components.priors)
    if components.n_places or components.n_errors:
        return [sweep % n_scales]
    return list(range(n_scales)) if n_scales > 1 or sweep % JUMP_EVERY == 0 else []


def jump_in_scales(target: Target, state: State, rngs: Generators, scales: list[int]) -> None:
    """Propose another value of some scales to each replica, with the standard weights as they are.

    Where the reports say little about the weights, this moves a scale far at once; and a replica that is where the
    density is so narrow that all trajectories are rejected can leave.
    """
    if not scales:
        return
    components, n_rungs = target.components, state.position.shape[1]
    n_moving = max(n_rungs - 1, 1)
    every = np.indices((len(rngs), n_moving)).reshape(2, -1)
    evaluate_replicas(target, state, *every)
    noise = np.array(
        [
            [[(rng.standard_normal(), -rng.standard_exponential()) for _ in scales]]
            for rng in rngs
            for _ in range(n_moving)
        ]
    ).reshape(len(rngs) * n_moving, len(scales), 2)
    for turn, which in enumerate(scales):
        position = state.position[tuple(every)]
        position[:, components.n_weights + which] += JUMP * noise[:, turn, 0]
        inside = np.abs(position[:, components.n_weights + which]) <= LOG_SCALE_BOUND
        tried = np.where(inside[:, None], position, state.position[tuple(every)])
        energy, force = target.evaluate(tried, every[1])
        for index, (chain, rung) in enumerate(every.T):
            if inside[index] and noise[index, turn, 1] < state.energy[chain, rung] - energy[index]:
                state.position[chain, rung] = position[index]
                state.energy[chain, rung], state.force[chain, rung] = energy[index], force[index]


def refresh_prior(target: Target, state: State, rngs: Generators) -> None:
    """Draw the replica of the last rung, which no evidence binds, from the prior."""
    for chain, rng in enumerate(rngs):
        state.position[chain, -1] = draw_from_prior(target.components, rng)
    state.is_known[:, -1] = 0


def exchange_replicas(
    target: Target, state: State, tally: Tally, log_ratios: np.ndarray, rngs: Generators
) -> None:
    """Let neighbours on the ladder swap; see :func:`disaggregate.sampler.exchange.swap_order`."""
    n_chains, n_rungs, n_coordinates = state.position.shape
    tables = target.table(state.position.reshape(-1, n_coordinates)).reshape(n_chains, n_rungs, n_rungs)
    for chain, rng in enumerate(rngs):
        order = swap_replicas(tables[chain], tally.swapped[chain], log_ratios[chain], rng)
        state.position[chain] = state.position[chain, order]
        state.is_known[chain, order != np.arange(n_rungs)] = 0
