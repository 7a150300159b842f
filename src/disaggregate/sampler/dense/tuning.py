"""A pilot run finds the rungs of the ladder, and the steps and masses of trajectories; chains leave them alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from disaggregate.sampler.dense.backend import Backend
from disaggregate.sampler.dense.metric import Metric, metric_of
from disaggregate.sampler.dense.mode import Mode
from disaggregate.sampler.dense.start import best_mode, start_chains
from disaggregate.sampler.dense.state import State, Sweeps, Tally, empty_tally, new_record, new_state
from disaggregate.sampler.rungs import log_powers, respaced

_ACCEPTED = 0.8
_FIRST_STEP, _LARGEST_STEP = 0.4, 1.6

# Sweeps of each phase of the pilot but the last, and between two changes of the steps. The curvature is measured
# at several positions of a phase: one position is not like all others.
PHASES = (40, 60, 80)
_LEARN_EVERY = 10

# Sweeps of the last phase: enough for the steps, and enough for the evidence to compare kernels by.
ENOUGH_TO_TUNE = 60
ENOUGH_TO_COMPARE = 240


def pilot_sweeps(n_last: int) -> int:
    """Sweeps of a pilot whose last phase has ``n_last``."""
    return sum(PHASES) + n_last


@dataclass(frozen=True)
class Tuning:
    """What the pilot found.

    Attributes
    ----------
    powers : ndarray of shape (n_rungs,)
        Powers of the evidence, from 1 down to 0.
    metric : Metric
        Steps and masses.
    mode : Mode
        The best mode that was found.
    log_ratios : ndarray of shape (n_sweeps, n_rungs - 1, 2)
        Log likelihood ratios between neighbouring rungs in the pilot's last phase.
    """

    powers: np.ndarray
    metric: Metric
    mode: Mode
    log_ratios: np.ndarray


def tune(
    backend: Backend,
    n_replicas: int | None,
    n_last: int,
    rng: np.random.Generator,
    on_sweeps: Callable[[int], None] | None = None,
    mode: Mode | None = None,
) -> Tuning:
    """Run a pilot chain and tune on it.

    After each phase but the last the masses are estimated again, and the rungs are placed so that all neighbours
    swap equally often; their number is settled after the second phase.

    Parameters
    ----------
    backend : Backend
        Data, with the powers to begin with.
    n_replicas : int or None
        Number of rungs; None for just enough that neighbours swap well.
    n_last : int
        Sweeps of the last phase, from which the evidence is estimated.
    rng : numpy.random.Generator
        The pilot's own generator.
    on_sweeps : callable, optional
        Called with the number of sweeps done, several times per second.
    mode : Mode, optional
        The best mode that is known; without it a search is made.
    """
    if mode is None:
        mode = best_mode(backend.target, backend.n_starts, rng)
    powers = backend.target.powers
    state = new_state(start_chains(backend.target, [0], mode, [rng]))
    components = backend.target.components
    metric = metric_of(components, np.full(2 * len(powers), _FIRST_STEP), _tempered(backend, mode, powers))
    for phase, n_sweeps in enumerate((*PHASES, n_last)):
        is_last = phase == len(PHASES)  # its steps belong to the present masses and rungs
        found = _run_phase(backend, metric, state, n_sweeps, rng, on_sweeps, with_curvature=not is_last)
        metric = metric._replace(step=found.step)
        if is_last:
            break
        metric = metric_of(components, metric.step, typical_curvature(found.curvatures))
        if phase > 0 and len(powers) > 1:
            spaced = respaced(powers, 1.0 - found.swapped / n_sweeps, n_replicas)
            nearest = np.abs(log_powers(powers)[:, None] - log_powers(spaced)).argmin(axis=0)
            state = new_state(state.position[:, nearest])._replace(sweep=state.sweep)
            sets = np.concatenate([nearest, len(powers) + nearest])
            metric = Metric(*(np.ascontiguousarray(part[sets]) for part in metric))
            powers, n_replicas = spaced, len(spaced)
            backend = backend.with_powers(powers)
    return Tuning(powers, metric, mode, found.log_ratios)


def _tempered(backend: Backend, mode: Mode, powers: np.ndarray) -> np.ndarray:
    """Curvature at the mode under each rung's evidence."""
    rungs = np.arange(len(powers))
    return backend.target.curvature(np.repeat(mode.position[None], len(rungs), axis=0), rungs)


def adapted(step: np.ndarray, tally: Tally, rate: float) -> np.ndarray:
    """Lengthen steps where more is accepted than needed, and shorten them where less is.

    Parameters
    ----------
    step : ndarray of shape (n_sets,)
        Present steps.
    tally : Tally
        What was accepted with them.
    rate : float
        How fast to learn.
    """
    moves = tally.moves.sum(axis=0)
    surplus = np.where(moves > 0, tally.accepted.sum(axis=0) / np.maximum(moves, 1.0) - _ACCEPTED, 0.0)
    return np.minimum(step * np.exp(rate * surplus), _LARGEST_STEP)


@dataclass(frozen=True)
class _Phase:
    step: np.ndarray
    curvatures: list[np.ndarray]
    swapped: np.ndarray
    log_ratios: np.ndarray


def _run_phase(
    backend: Backend,
    metric: Metric,
    state: State,
    n_sweeps: int,
    rng: np.random.Generator,
    on_sweeps: Callable[[int], None] | None,
    with_curvature: bool,
) -> _Phase:
    """Adapt the steps along the way, and measure the curvature in the second half of it, if that is wanted."""
    n_rungs = state.position.shape[1]
    swapped, step, steps = np.zeros(n_rungs - 1), metric.step.copy(), []
    curvatures: list[np.ndarray] = []
    log_ratios = np.empty((n_sweeps, n_rungs - 1, 2))
    rungs = np.arange(n_rungs)
    for turn in range(n_sweeps // _LEARN_EVERY):
        tally = empty_tally(1, n_rungs)
        record = new_record(backend, 1, n_rungs, _LEARN_EVERY, labels=False)
        n_burn = int(state.sweep[0])
        here = metric._replace(step=step)
        backend.advance(Sweeps(here, state, [rng], _LEARN_EVERY, n_burn, 1, tally, record))
        log_ratios[turn * _LEARN_EVERY : (turn + 1) * _LEARN_EVERY] = record.log_ratios[:, 0]
        step = adapted(step, tally, 1.5 / math.sqrt(1.0 + turn))
        steps.append(np.log(step))
        swapped += tally.swapped[0]
        if with_curvature and 2 * turn + 2 > n_sweeps // _LEARN_EVERY:
            curvatures.append(backend.target.curvature(state.position[0], rungs))
        if on_sweeps is not None:
            on_sweeps(_LEARN_EVERY)
    late = np.exp(np.mean(steps[len(steps) // 2 :], axis=0))
    return _Phase(late, curvatures, swapped, log_ratios)


def typical_curvature(curvatures: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """Average the curvatures of several positions.

    Some positions are much narrower than others along this direction or that, and an average of the curvatures
    would make all trajectories crawl. An average of the widths lets them go where there is room.
    """
    return np.linalg.inv(np.mean([np.linalg.inv(curvature) for curvature in curvatures], axis=0))
