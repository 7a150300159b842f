"""Normalised cuts find the cheapest cut of small graphs, and never fail on odd ones."""

from itertools import combinations

import numpy as np
import pytest

from disaggregate.images.cuts import normalised_cuts


def cliques(sizes, between):
    """Graph of groups that are fully alike inside, with this affinity between members of different ones."""
    member = np.repeat(np.arange(len(sizes)), sizes)
    return np.where(member[:, None] == member, 1.0, between), member


def cost(affinity, side):
    reach = affinity.sum(axis=1)
    between = affinity[np.ix_(side, ~side)].sum()
    return between / reach[side].sum() + between / reach[~side].sum()


def same_partition(one, other):
    return np.array_equal(one[:, None] == one, other[:, None] == other)


@pytest.mark.parametrize("between", [0.0, 0.01, 0.1])
def test_cliques_are_distinguished_in_any_order(rng, between):
    affinity, member = cliques([3, 5, 4, 2], between)
    shuffled = rng.permutation(len(member))
    part = normalised_cuts(affinity[np.ix_(shuffled, shuffled)], 4)
    assert same_partition(part, member[shuffled])


def test_two_parts_are_the_cheapest_of_all_cuts(rng):
    affinity, _ = cliques([4, 5], 0.2)
    noise = rng.uniform(0.0, 0.1, size=affinity.shape)
    affinity = np.clip(affinity - noise - noise.T, 0.0, 1.0)
    np.fill_diagonal(affinity, 1.0)
    everyone = range(len(affinity))
    sides = [np.isin(everyone, side) for n in range(1, 5) for side in combinations(everyone, n)]
    best = min(sides, key=lambda side: cost(affinity, side))
    assert same_partition(normalised_cuts(affinity, 2), best.astype(int))


@pytest.mark.parametrize("n_parts", [1, 2, 5, 9, 30])
def test_as_many_parts_as_asked_for_if_there_are_enough_nodes(rng, n_parts):
    affinity = rng.random((9, 9))
    part = normalised_cuts(affinity + affinity.T + np.eye(9), n_parts)
    assert np.array_equal(np.unique(part), np.arange(min(n_parts, 9)))


@pytest.mark.parametrize("affinity", [np.ones((20, 20)), np.eye(20), np.ones((1, 1))])
def test_flat_and_scattered_graphs_are_cut_too(affinity):
    assert len(np.unique(normalised_cuts(affinity, 6))) == min(6, len(affinity))
