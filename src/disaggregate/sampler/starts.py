"""Where chains start: dispersed, and possible under every group's evidence."""

from __future__ import annotations

import math

import numpy as np

from disaggregate.sampler.evidence import group_evidence, group_rows_of
from disaggregate.sampler.latent import draw_scores_given_labels
from disaggregate.sampler.model import COLLINEARITY_TOLERANCE, Prior, SparseData, State, empty_state
from disaggregate.sampler.products import fit_rows, gather_products, refresh_factor
from disaggregate.sampler.selection import outside_span
from disaggregate.sampler.weights_and_scale import draw_weights

_MOST_KERNELS = 8
_LOG_SCALE_SPREAD = 1.0


def random_start(data: SparseData, prior: Prior, n_proposals: int, rng: np.random.Generator) -> State:
    """Start from random labels that agree with the evidence, a few random kernels and a random scale.

    Parameters
    ----------
    data : SparseData
        The data.
    prior : Prior
        Centres the scale at nu / mu.
    n_proposals : int
        Births and deaths that each sweep will propose.
    rng : numpy.random.Generator
        The chain's own generator.
    """
    state = empty_state(data, n_proposals)
    state.scale[0] = _random_scale(prior, rng)
    _draw_possible_scores(data, state, rng)
    for column in data.n_fixed + rng.permutation(len(data.gram) - data.n_fixed)[:_MOST_KERNELS]:
        _add_if_independent(data, state, int(column))
    gather_products(data, prior, state, rng)
    draw_weights(data, prior, state, rng)
    fit_rows(data, prior, state, rng)
    return state


def _random_scale(prior: Prior, rng: np.random.Generator) -> float:
    center = math.log(prior.nu / prior.mu)
    return math.exp(np.clip(center + _LOG_SCALE_SPREAD * rng.standard_normal(), -10.0, 10.0))


def _draw_possible_scores(data: SparseData, state: State, rng: np.random.Generator) -> None:
    """Give each group a most likely count, at random members."""
    for group in range(len(data.evidence.offsets) - 1):
        evidence = group_evidence(data.evidence, group)
        rows = group_rows_of(data.evidence, group)
        count = rng.choice(np.flatnonzero(evidence == evidence.max()))
        order = rng.permutation(rows.stop - rows.start)
        labels = first_up_to(count, data.evidence.units[rows], order)
        draw_scores_given_labels(state, rows, labels, rng)


def first_up_to(count: int, units: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Label the first members in this order positive, as many as their units fit into the count."""
    labels = np.empty(len(order), dtype=bool)
    labels[order] = np.cumsum(units[order]) <= count
    return labels


def _add_if_independent(data: SparseData, state: State, column: int) -> None:
    size = int(state.size[0])
    if size == len(state.active):
        return
    square, _ = outside_span(data.gram, state.active[:size], state.products[:size], column, 0.0)
    if square > COLLINEARITY_TOLERANCE * data.gram[column, column]:
        state.active[size] = column
        state.size[0] += 1
        refresh_factor(data, state)
