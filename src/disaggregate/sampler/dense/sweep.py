"""One sweep over all replicas, in plain NumPy."""

from __future__ import annotations

import numpy as np

from disaggregate.sampler.dense.model import DenseProblem, Paths, Replicas, Tally
from disaggregate.sampler.dense.moves import (
    JUMP_EVERY,
    draw_large_labels,
    draw_signs,
    exchange_replicas,
    jump_in_scale,
    move_replicas,
    refresh_prior,
)
from disaggregate.sampler.model import Prior


def dense_sweep(
    problem: DenseProblem,
    prior: Prior,
    paths: Paths,
    replicas: Replicas,
    tally: Tally,
    stones: np.ndarray,
    rng: np.random.Generator,
) -> None:
    """Move every replica, let neighbours trade places, and draw labels on the first rung."""
    move_replicas(problem, prior, paths, replicas, tally, rng)  # beta, delta2 given the evidence
    if replicas.sweep[0] % JUMP_EVERY == 0:
        jump_in_scale(problem, prior, replicas, rng)
    if len(replicas.position) > 1:
        refresh_prior(problem, prior, replicas, rng)
        draw_large_labels(problem, replicas, rng)
        exchange_replicas(problem.ladder, replicas, tally, stones, rng)
    draw_signs(problem, replicas, 0, 0, rng)  # y given f and the evidence
    replicas.sweep[0] += 1
