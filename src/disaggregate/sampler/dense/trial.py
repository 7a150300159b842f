"""A trial of single replicas from dispersed starts: chains need a ladder if they disagree."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from disaggregate.sampler.dense.mode import Mode, find_mode
from disaggregate.sampler.dense.start import NEGLIGIBLE, random_start, start_around
from disaggregate.sampler.dense.state import Sweeps, empty_tally, new_record, new_state
from disaggregate.sampler.dense.target import Target
from disaggregate.sampler.dense.tuning import Tuning
from disaggregate.sampler.dense.whole import WholeData
from disaggregate.sampler.evenly_spaced import evenly_spaced

# Starts of a trial, sweeps before the first draw, and sweeps between two draws.
N_STARTS = 4
_N_BURN = 40
_THIN = 3

# Modes are the same where no individual's probability differs by more than this: searches stop a little before
# their end, which moved no probability by more than 0.06 where all of them reached one mode.
_SAME_MODE = 0.2

# Values of which R-hat is taken.
_MOST_ROWS = 60

_NEVER = np.iinfo(np.int64).max // 2


class Trial(NamedTuple):
    """What single replicas drew, and what they say of the individuals.

    Attributes
    ----------
    position : ndarray of shape (n_starts, n_draws, n_coordinates)
        Draws.
    judged : ndarray of shape (n_starts, n_draws, n_values)
        Scores of some rows, offsets of some groups and log scales in each.
    """

    position: np.ndarray
    judged: np.ndarray


def trial_sweeps(n_draws: int) -> int:
    """Sweeps of a trial with so many draws per start."""
    return N_STARTS * (_N_BURN + _THIN * n_draws)


def search_modes(target: Target, n_starts: int, rng: np.random.Generator) -> list[Mode]:
    """Search for modes from draws of the prior, and from those with weights of the opposite sign."""
    starts: list[np.ndarray] = []
    while len(starts) < n_starts:
        start = random_start(target.components, rng)
        opposite = start.copy()
        opposite[: target.components.n_weights] *= -1.0
        starts += [start, opposite]
    return [find_mode(target, start) for start in starts[:n_starts]]


def best_modes(modes: list[Mode]) -> list[Mode]:
    """Sort modes by their mass, the best one first, and leave those out around which no chain would start."""
    ordered = sorted(modes, key=lambda mode: -mode.log_evidence)
    return [mode for mode in ordered if mode.log_evidence > ordered[0].log_evidence - NEGLIGIBLE] or ordered[:1]


def distinct_modes(data: WholeData, modes: list[Mode]) -> list[Mode]:
    """Leave out modes that say the same of all individuals as one before them."""
    distinct: list[Mode] = []
    for mode in modes:
        if all(_farthest(data, mode, other) > _SAME_MODE for other in distinct):
            distinct.append(mode)
    return distinct


def _farthest(data: WholeData, one: Mode, other: Mode) -> float:
    """By how much the probabilities of two modes differ at most."""
    probability = ndtr(data.scores(np.stack([one.position, other.position]), np.arange(data.n_rows)))
    return float(np.abs(probability[0] - probability[1]).max(initial=0.0))


def run_trial(
    data: WholeData,
    tuning: Tuning,
    modes: list[Mode],
    n_draws: int,
    rng: np.random.Generator,
    on_sweeps: Callable[[int], None] | None = None,
) -> Trial:
    """Draw a little from each of some starts, around the modes that were found.

    Parameters
    ----------
    data : WholeData
        Data, with one rung.
    tuning : Tuning
        Steps and masses.
    modes : list of Mode
        Start after start is around the next of them.
    n_draws : int
        Draws per start.
    rng : numpy.random.Generator
        The trial's own generator.
    on_sweeps : callable, optional
        Called with the number of sweeps that were done.
    """
    starts = [start_around(data.target, modes[start % len(modes)], rng) for start in range(N_STARTS)]
    position = np.stack([_draws_from(data, tuning, start, n_draws, rng, on_sweeps) for start in starts])
    return Trial(position, np.stack([_judged(data, draws) for draws in position]))


def _draws_from(
    data: WholeData,
    tuning: Tuning,
    start: np.ndarray,
    n_draws: int,
    rng: np.random.Generator,
    on_sweeps: Callable[[int], None] | None,
) -> np.ndarray:
    state, tally, record = new_state(start[None]), empty_tally(1, 1), new_record(data, 1, 1, 0, labels=False)
    drawn = np.empty((n_draws, start.shape[1]))
    sweeps = Sweeps(tuning.metric, state, [rng], _N_BURN, _NEVER, 1, tally, record)
    data.advance(sweeps)
    for index in range(n_draws):
        data.advance(sweeps._replace(n_sweeps=_THIN))
        drawn[index] = state.position[0, 0]
    if on_sweeps is not None:
        on_sweeps(_N_BURN + _THIN * n_draws)
    return drawn


def _judged(data: WholeData, position: np.ndarray) -> np.ndarray:
    components = data.target.components
    scales = position[:, components.n_weights : components.n_weights + len(components.priors)]
    return np.concatenate([data.scores(position, evenly_spaced(data.n_rows, _MOST_ROWS)), scales], axis=1)
