import numpy as np
import pytest
from disaggregate.sampler.dense.chain import DenseChain

from disaggregate.execute.turns import run_to_end
from disaggregate.groups import group_rows
from disaggregate.groups.evidence import Fraction
from disaggregate.sampler.chain import Schedule
from disaggregate.sampler.dense.tuning import ENOUGH_TO_TUNE, tune
from disaggregate.sampler.evidence import make_evidence
from disaggregate.sampler.model import Prior

PRIOR = Prior(1.0, 1.0, 3.0, 15.0)


@pytest.fixture
def parts(rng):
    sizes = [12] * 6
    shares = rng.uniform(0.1, 0.9, size=6)
    ids = np.repeat(np.arange(6), sizes).tolist()
    data = group_rows(ids, {j: Fraction(share) for j, share in enumerate(shares)})
    columns = np.ascontiguousarray(np.linalg.qr(rng.standard_normal((72, 6)))[0].T)
    return columns, np.linspace(6.0, 1.0, 6), make_evidence(data)


@pytest.mark.parametrize("n_replicas", [None, 1, 5])
def test_tuned_chains_accept_and_swap(parts, n_replicas, rng):
    tuning = tune(*parts, PRIOR, n_replicas, ENOUGH_TO_TUNE, rng)
    n_rungs = len(tuning.powers)
    assert n_rungs == n_replicas if n_replicas else n_rungs >= 4
    assert tuning.powers[0] == 1.0
    chain = DenseChain(tuning.problem, PRIOR, tuning.paths, Schedule(100, 200, 1, "dense"), None, rng)
    run_to_end(chain)
    draws = chain.draws()
    moving = draws.tally.moves > 0
    assert moving.sum() == max(n_rungs - 1, 1)
    accepted = (draws.tally.accepted / np.maximum(draws.tally.moves, 1.0))[moving]
    assert np.all((accepted > 0.5) & (accepted < 0.999))
    assert np.all(draws.tally.swapped / draws.n_sweeps > 0.1)
    assert draws.stones.shape == (200, n_rungs - 1, 2)
