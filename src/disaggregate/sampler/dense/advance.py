"""Sweeps in NumPy, of one chain or of several in lock step, and their records."""

from __future__ import annotations

import numpy as np

from disaggregate.model.components import scores_at
from disaggregate.sampler.dense.state import Record, State, Sweeps
from disaggregate.sampler.dense.sweep import dense_sweep
from disaggregate.sampler.dense.target import Target


def advance_in_numpy(target: Target, sweeps: Sweeps) -> int:
    """Do some sweeps and record the kept ones; return how many those are."""
    state, rngs = sweeps.state, sweeps.rngs
    n_chains, n_rungs, _ = state.position.shape
    log_ratios = np.zeros((n_chains, n_rungs - 1, 2))
    kept = 0
    for _ in range(sweeps.n_sweeps):
        dense_sweep(target, sweeps.metric, state, sweeps.tally, log_ratios, rngs)
        # In every sweep, so that draws do not depend on which of them are kept.
        noise = np.array([rng.standard_normal(target.components.n_places) for rng in rngs])
        after_burn = int(state.sweep[0]) - sweeps.n_burn
        if after_burn > 0 and after_burn % sweeps.thin == 0:
            _record_draw(target, state, sweeps.record, log_ratios, kept, noise)
            kept += 1
    return kept


def _record_draw(
    target: Target, state: State, record: Record, log_ratios: np.ndarray, kept: int, noise: np.ndarray
) -> None:
    """Write down weights, scales and intercepts of the first rung, and add up expected labels and shares."""
    components, position = target.components, state.position[:, 0]
    scores, n_weights = scores_at(components, position), components.n_weights
    record.weights[kept, :, :n_weights] = scores.weights
    record.scales[kept] = np.exp(position[:, n_weights : n_weights + len(components.priors)])
    record.log_ratios[kept] = log_ratios
    if not components.n_places and not record.label_sums.shape[1]:
        return
    if not components.n_places:
        noise = np.zeros_like(scores.group)
    offsets = target.likelihood.add_expected(
        target.query(position), noise, record.label_sums, record.share_tallies
    )
    if components.n_places:
        record.weights[kept, :, n_weights:] = offsets - scores.group
