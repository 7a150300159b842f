"""A pilot run finds the ladder's rungs and the paths' steps and masses; the chains then leave them alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from disaggregate.sampler.dense.chain import DenseRecord
from disaggregate.sampler.dense.model import DenseProblem, Paths, Replicas, Tally, empty_tally
from disaggregate.sampler.dense.starts import regression_guesses, start_at
from disaggregate.sampler.evidence import EvidenceArrays, make_ladder
from disaggregate.sampler.model import Prior
from disaggregate.sampler.rungs import first_powers, place, respaced

_ACCEPTED = 0.85
_FIRST_STEP = 0.2
_LARGEST_STEP = 1.2

# Sweeps of each phase of the pilot but the last, and between two changes of the steps.
_PHASES = (60, 60, 120)
_LEARN_EVERY = 10

# Sweeps of the last phase: enough for the steps, and enough for the evidence to compare kernels by.
ENOUGH_TO_TUNE = 120
ENOUGH_TO_COMPARE = 240


def pilot_sweeps(n_last: int) -> int:
    """Sweeps of a pilot whose last phase has ``n_last``."""
    return sum(_PHASES) + n_last


@dataclass(frozen=True)
class Tuning:
    """What the pilot found.

    Attributes
    ----------
    powers : ndarray of shape (n_rungs,)
        Powers of the evidence, from 1 down to 0.
    problem : DenseProblem
        The data with the evidence at these powers.
    paths : Paths
        Steps and masses.
    stones : ndarray of shape (n_sweeps, n_rungs - 1, 2)
        Log likelihood ratios between neighbouring rungs in the pilot's last phase.
    """

    powers: np.ndarray
    problem: DenseProblem
    paths: Paths
    stones: np.ndarray


def tune(
    columns: np.ndarray,
    deviation: np.ndarray,
    evidence: EvidenceArrays,
    prior: Prior,
    n_replicas: int | None,
    n_last: int,
    rng: np.random.Generator,
    on_sweeps: Callable[[int], None] | None = None,
) -> Tuning:
    """Run a pilot chain and tune on it.

    The first phase only finds its feet; after each of the next two the rungs are placed anew, and their number
    is settled after the first of these.

    Parameters
    ----------
    columns, deviation, evidence
        As in :class:`DenseProblem`.
    prior : Prior
        Hyper-parameters.
    n_replicas : int or None
        Number of rungs; None for just enough that neighbours swap well.
    n_last : int
        Sweeps of the last phase, from which the evidence is estimated.
    rng : numpy.random.Generator
        The pilot's own generator.
    on_sweeps : callable, optional
        Told how many sweeps were done, some times a second.
    """
    powers = first_powers(n_replicas)
    problem = DenseProblem(columns, deviation, make_ladder(evidence, powers))
    paths = _first_paths(len(powers), len(deviation) + 1)
    replicas = start_at(problem, prior, regression_guesses(problem, prior)[0], rng)
    for phase, n_sweeps in enumerate((*_PHASES, n_last)):
        paths, tally, stones = _run_phase(problem, prior, paths, replicas, n_sweeps, rng, on_sweeps)
        if phase == len(_PHASES):
            break  # the last steps belong to the present masses and rungs
        paths = paths._replace(mass=_mass(tally))
        if phase > 0 and len(powers) > 1:
            spaced = respaced(powers, 1.0 - tally.swapped / n_sweeps, n_replicas)
            nearest = np.abs(place(powers)[:, None] - place(spaced)).argmin(axis=0)
            replicas = Replicas(
                replicas.position[nearest], replicas.fitted[nearest], replicas.scores[nearest], replicas.sweep
            )
            paths = Paths(paths.step[nearest], paths.mass[nearest])
            powers, n_replicas = spaced, len(spaced)
            problem = problem._replace(ladder=make_ladder(evidence, powers))
    return Tuning(powers, problem, paths, stones)


def _first_paths(n_rungs: int, n_coordinates: int) -> Paths:
    return Paths(np.full(n_rungs, _FIRST_STEP), np.ones((n_rungs, n_coordinates)))


def _run_phase(
    problem: DenseProblem,
    prior: Prior,
    paths: Paths,
    replicas: Replicas,
    n_sweeps: int,
    rng: np.random.Generator,
    on_sweeps: Callable[[int], None] | None,
) -> tuple[Paths, Tally, np.ndarray]:
    """Adapt the steps along the way."""
    from disaggregate.sampler.compiled.dense import advance_dense

    n_rungs, n_coordinates = replicas.position.shape
    total = empty_tally(n_rungs, n_coordinates)
    stones = np.empty((n_sweeps, n_rungs - 1, 2))
    step = paths.step.copy()
    for turn in range(n_sweeps // _LEARN_EVERY):
        tally = empty_tally(n_rungs, n_coordinates)
        never = int(replicas.sweep[0]) + _LEARN_EVERY
        record = _stones_only(stones[turn * _LEARN_EVERY : (turn + 1) * _LEARN_EVERY], n_coordinates - 1)
        advance_dense(
            problem, prior, paths._replace(step=step), replicas, rng, _LEARN_EVERY, never, 1, tally, record
        )
        rate = 1.5 / math.sqrt(1.0 + turn)
        surplus = np.where(tally.moves > 0, tally.accepted / np.maximum(tally.moves, 1.0) - _ACCEPTED, 0.0)
        step = np.minimum(step * np.exp(rate * surplus), _LARGEST_STEP)
        for kept, new in zip(total, tally, strict=True):
            kept += new
        if on_sweeps is not None:
            on_sweeps(_LEARN_EVERY)
    return paths._replace(step=step), total, stones


def _mass(tally: Tally) -> np.ndarray:
    """Take the geometric mean of two measures of narrowness: the mean curvature and one over the variance.

    For a Gaussian they are the same. Where there are several modes the variance says how far apart they are, and
    the curvature, which equals the mean squared force, how narrow each is. Few sweeps are trusted less.
    """
    few = 10.0
    moves = np.maximum(tally.moves, 1.0)[:, None]
    curvature = (tally.forces + few) / (moves + few)
    variance = np.maximum(tally.squares - tally.sums**2 / moves, 0.0)
    return np.sqrt(curvature / ((variance + few) / (moves + few)))


def _stones_only(stones: np.ndarray, n_columns: int) -> DenseRecord:
    nobody = np.empty(0, dtype=np.int64)
    return DenseRecord(np.empty((0, n_columns)), np.empty(0), stones, nobody, nobody)
