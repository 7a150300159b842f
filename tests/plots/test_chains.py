"""Traces and ranks of chains."""

import numpy as np
import pytest
from scipy.stats import rankdata

from disaggregate.plots import chain_ranks, chain_traces
from disaggregate.plots.chains import _ranks
from tests.helpers.synthetic import random_posterior


def test_traces_show_every_chain_and_the_verdict(ax, rng):
    draws = rng.normal(size=(3, 100))
    assert chain_traces(draws, "score", ax=ax) is ax
    assert [line.get_ydata().tolist() for line in ax.get_lines()] == draws.tolist()
    assert ax.get_ylabel() == "score"
    assert ax.get_title(loc="left").startswith("R-hat ")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["chain 1", "chain 2", "chain 3"]


@pytest.mark.parametrize("quantity", [None, "delta2", "n_active"])
def test_a_posterior_shows_its_quantities(ax, seed, quantity):
    posterior = random_posterior(seed, n_chains=2, n_draws=20)
    chain_traces(posterior, quantity, ax=ax)
    name = quantity or "delta2"
    assert ax.get_ylabel() == name
    assert ax.get_lines()[1].get_ydata().tolist() == getattr(posterior, name)[1].tolist()


def test_many_chains_do_not_drown_the_plot_in_a_legend(ax, rng):
    chain_traces(rng.normal(size=(12, 30)), ax=ax)
    assert ax.get_legend().get_texts()[-1].get_text() == "and 4 more"


def test_ranks_share_ties(rng):
    draws = rng.integers(0, 6, (3, 40)).astype(float)
    assert np.array_equal(_ranks(draws), rankdata(draws).reshape(3, 40))


def test_a_chain_apart_shows_as_a_slope(ax):
    low, high = np.arange(50.0), np.arange(50.0, 100.0)
    chain_ranks(np.stack([low, high]), bins=2, ax=ax)
    tops = [stairs.get_data().values for stairs in ax.patches if hasattr(stairs, "get_data")]
    # The axis runs downwards: the first chain has all of the low ranks, twice as many as are due.
    assert tops[0][0] < 0 < tops[0][1]
    assert tops[1][1] < 1 < tops[1][0]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["chain 1", "chain 2"]


def test_agreeing_chains_stay_in_the_band(ax, rng):
    chain_ranks(rng.normal(size=(4, 2000)), bins=10, ax=ax)
    spans = [patch for patch in ax.patches if not hasattr(patch, "get_data")]
    stairs = [patch for patch in ax.patches if hasattr(patch, "get_data")]
    inside = [
        np.abs(stair.get_data().values - place) <= span.get_height() / 2
        for place, (span, stair) in enumerate(zip(spans, stairs, strict=True))
    ]
    assert np.mean(inside) > 0.7


def test_few_draws_are_drawn_all_the_same(ax):
    chain_ranks([[1.0, 2.0], [1.0, 3.0]], ax=ax)
    assert ax.get_title(loc="left") == "too few draws"


def test_bad_input_is_explained(rng, seed):
    with pytest.raises(ValueError, match=r"shape \(n_chains, n_draws\), but got shape \(2, 5, 3\)"):
        chain_traces(rng.normal(size=(2, 5, 3)))
    with pytest.raises(ValueError, match="needs finite draws"):
        chain_ranks([[1.0, np.nan]])
    with pytest.raises(ValueError, match="one of delta2, n_active for a posterior, but got 'beta'"):
        chain_traces(random_posterior(seed), "beta")
    with pytest.raises(ValueError, match="bins must be an integer of at least 2"):
        chain_ranks(rng.normal(size=(2, 5)), bins=1)
