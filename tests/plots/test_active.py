"""The law of the number of active kernels."""

from dataclasses import replace

import numpy as np
import pytest

from disaggregate.plots import active_kernels
from disaggregate.plots.active import _edges
from tests.helpers.synthetic import random_posterior


def test_shares_are_those_of_the_draws(ax, seed):
    posterior = random_posterior(seed, n_chains=2, n_draws=40)
    assert active_kernels(posterior, ax=ax) is ax
    stairs = [patch.get_data() for patch in ax.patches]
    counts = posterior.n_active
    for drawn, of in zip(stairs, [counts, counts[0], counts[1]], strict=True):
        whole = np.arange(counts.min(), counts.max() + 1)
        assert np.allclose(drawn.values[: len(whole)], [(of == k).mean() for k in whole])
        assert drawn.values.sum() == pytest.approx(1.0)
    assert ax.get_xlabel() == "active kernels, of 3"


@pytest.mark.parametrize(("fewest", "most"), [(3, 3), (0, 39), (0, 40), (5, 500)])
def test_every_count_has_its_bin(fewest, most):
    edges = _edges(fewest, most)
    assert edges[0] == fewest - 0.5
    assert edges[-1] > most
    assert len(edges) <= 42
    assert len(set(np.diff(edges))) == 1
    assert np.diff(edges)[0] == int(np.diff(edges)[0])


def test_dense_weights_and_other_things_are_refused(seed):
    sparse = random_posterior(seed)
    dense = replace(sparse, parts=(replace(sparse.parts[0], weights=sparse.parts[0].weights.toarray()),))
    with pytest.raises(ValueError, match=r'weights are dense\. Fit with prior="spike_slab"'):
        active_kernels(dense)
    with pytest.raises(ValueError, match=r"needs model\.posterior_, but got list"):
        active_kernels([1, 2])
