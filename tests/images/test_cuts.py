"""Normalised cuts find the cheapest cut of small graphs, and never fail on odd ones."""

from itertools import combinations

import numpy as np
import pytest

from disaggregate.images.cuts import normalised_cuts


def cliques(sizes, between):
    """Graph of groups that are fully alike inside, with this likeness between members of different ones."""
    member = np.repeat(np.arange(len(sizes)), sizes)
    return np.where(member[:, None] == member, 1.0, between), member


def cost(likeness, side):
    reach = likeness.sum(axis=1)
    between = likeness[np.ix_(side, ~side)].sum()
    return between / reach[side].sum() + between / reach[~side].sum()


def same_partition(one, other):
    return np.array_equal(one[:, None] == one, other[:, None] == other)


@pytest.mark.parametrize("between", [0.0, 0.01, 0.1])
def test_cliques_are_told_apart_in_any_order(rng, between):
    likeness, member = cliques([3, 5, 4, 2], between)
    shuffled = rng.permutation(len(member))
    part = normalised_cuts(likeness[np.ix_(shuffled, shuffled)], 4)
    assert same_partition(part, member[shuffled])


def test_two_parts_are_the_cheapest_of_all_cuts(rng):
    likeness, _ = cliques([4, 5], 0.2)
    noise = rng.uniform(0.0, 0.1, size=likeness.shape)
    likeness = np.clip(likeness - noise - noise.T, 0.0, 1.0)
    np.fill_diagonal(likeness, 1.0)
    everyone = range(len(likeness))
    sides = [np.isin(everyone, side) for n in range(1, 5) for side in combinations(everyone, n)]
    best = min(sides, key=lambda side: cost(likeness, side))
    assert same_partition(normalised_cuts(likeness, 2), best.astype(int))


@pytest.mark.parametrize("n_parts", [1, 2, 5, 9, 30])
def test_as_many_parts_as_asked_for_if_there_are_enough_nodes(rng, n_parts):
    likeness = rng.random((9, 9))
    part = normalised_cuts(likeness + likeness.T + np.eye(9), n_parts)
    assert np.array_equal(np.unique(part), np.arange(min(n_parts, 9)))


@pytest.mark.parametrize("likeness", [np.ones((20, 20)), np.eye(20), np.ones((1, 1))])
def test_flat_and_scattered_graphs_are_cut_too(likeness):
    assert len(np.unique(normalised_cuts(likeness, 6))) == min(6, len(likeness))
