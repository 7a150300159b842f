"""The steps of a chain: adapted where it starts, and then near those of the pilot run."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from disaggregate.sampler.chain import Schedule
from disaggregate.sampler.dense.chains import DenseChains
from disaggregate.sampler.dense.metric import metric_of
from disaggregate.sampler.dense.mode import find_mode
from disaggregate.sampler.dense.start import prior_center
from disaggregate.sampler.dense.state import Sweeps
from disaggregate.sampler.dense.tuning import Tuning
from disaggregate.sampler.dense.whole import WholeData
from tests.helpers.dense_problems import CASES, columns_for, components_for, reports_of

PILOT = np.array([0.3, 0.2])  # of free trajectories, and of those with fixed scales
TARGET_RATE = 0.8


class Accepting(WholeData):
    """Stays where it is, accepts at a rate that depends on the sweep, and notes the steps that it was given."""

    rate: Callable[[int], float]
    steps: list[np.ndarray]

    def advance(self, sweeps: Sweeps) -> int:
        """Count moves, and record no draws."""
        self.steps.append(sweeps.metric.step.copy())
        sweeps.tally.moves[:] += sweeps.n_sweeps
        sweeps.tally.accepted[:] += sweeps.n_sweeps * self.rate(int(sweeps.state.sweep[0]))
        sweeps.state.sweep[0] += sweeps.n_sweeps
        return 0


@pytest.fixture
def steps_with(rng: np.random.Generator) -> Callable[[Callable[[int], float]], list[np.ndarray]]:
    """Run a chain, and return the steps of its batches of sweeps."""
    data, reports = reports_of(CASES["fractions"], rng)
    components = components_for(data, rng, places=False)
    backend = Accepting(components, columns_for(data, rng), reports, np.ones(1))
    mode = find_mode(backend.target, prior_center(components))
    metric = metric_of(components, PILOT, np.eye(components.n_coordinates)[None])

    def steps(rate: Callable[[int], float]) -> list[np.ndarray]:
        backend.rate, backend.steps = rate, []
        tuning = Tuning(np.ones(1), metric, mode, np.zeros((0, 0, 2)))
        chain = DenseChains(backend, tuning, Schedule(40, 20, 1, "dense"), [0], [rng])
        while chain.n_done < chain.n_sweeps:
            chain.advance()
        return backend.steps

    return steps


def test_what_suits_the_start_is_forgotten(steps_with):
    steps = steps_with(lambda sweep: 0.0 if sweep < 40 else TARGET_RATE)
    assert min(step[0] for step in steps) < PILOT[0] / 4.0  # nothing is accepted far from the mode
    assert_allclose(steps[-1], PILOT)


@pytest.mark.parametrize(("rate", "factor"), [(0.0, 0.5), (1.0, 2.0)])
def test_own_steps_stay_near_those_of_the_pilot(steps_with, rate, factor):
    steps = steps_with(lambda sweep: rate if sweep >= 60 else TARGET_RATE)
    assert np.all(np.abs(np.log(steps[-1] / PILOT)) <= np.log(2.0) + 1e-12)
    assert np.all((steps[-1] / PILOT - 1.0) * (factor - 1.0) > 0.0)


def test_steps_are_settled_before_the_burn_in(steps_with):
    steps = steps_with(lambda sweep: TARGET_RATE if sweep < WholeData.n_adapting else 0.0)
    assert len(steps) > WholeData.n_adapting // 10
    assert_allclose(steps[-1], PILOT)
