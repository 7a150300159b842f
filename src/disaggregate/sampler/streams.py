"""Independent random streams from one seed."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np


class Streams:
    """Generators for one fit: for its chains, its pilot runs, its centres, and the order of its draws.

    Parameters
    ----------
    random_state : None, int, numpy Generator or RandomState
        The seed. None takes a fresh one from the operating system.
    """

    def __init__(self, random_state: Any) -> None:
        root = np.random.SeedSequence(_seed(random_state))
        self.seed: Any = root.entropy  # the same one gives the same streams, also where none was given
        children = root.spawn(6)
        self._centers, self._chains, self._pilots, self._order, self._prior, self._ladders = children

    def for_centers(self) -> np.random.Generator:
        """Return the generator that chooses landmarks."""
        return np.random.default_rng(self._centers)

    def for_chains(self, n_chains: int) -> list[np.random.Generator]:
        """Return one generator a chain; a chain's stream does not depend on how many others there are."""
        return self.for_chains_of_kernels(n_chains, 1)[0]

    def for_chains_of_kernels(self, n_chains: int, n_kernels: int) -> list[list[np.random.Generator]]:
        """Return for each kernel one generator a chain."""
        by_chain = [child.spawn(n_kernels) for child in self._chains.spawn(n_chains)]
        return [[np.random.default_rng(child) for child in kernel] for kernel in zip(*by_chain, strict=True)]

    def for_pilots(self, n_pilots: int) -> list[np.random.Generator]:
        """Return one generator a pilot run."""
        return [np.random.default_rng(child) for child in self._pilots.spawn(n_pilots)]

    def for_ladders(self, n_ladders: int) -> list[np.random.Generator]:
        """Return one generator a ladder that is tuned because single chains disagreed."""
        return [np.random.default_rng(child) for child in self._ladders.spawn(n_ladders)]

    def for_order(self) -> np.random.Generator:
        """Return the generator that shuffles the draws of several kernels."""
        return np.random.default_rng(self._order)

    def for_prior(self) -> np.random.Generator:
        """Return the generator that draws from the prior."""
        return np.random.default_rng(self._prior)


def _seed(random_state: Any) -> int | None:
    if random_state is None:
        return None
    if isinstance(random_state, Integral):
        if random_state < 0:
            raise ValueError(f"random_state must be 0 or more, got {random_state}.")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise ValueError(
        f"random_state must be None, a whole number, a numpy Generator or a RandomState; got {random_state!r}."
    )
