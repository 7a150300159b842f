"""Compiled parts of the sampler have no way in from Python, so that fits compile sooner; tests make their own."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numba
import numpy as np

from disaggregate.sampler.chain import empty_record
from disaggregate.sampler.compiled import collapsed as _collapsed
from disaggregate.sampler.compiled import counts as _counts
from disaggregate.sampler.compiled import expansion as _expansion
from disaggregate.sampler.compiled import hamiltonian as _hamiltonian
from disaggregate.sampler.compiled import latent as _latent
from disaggregate.sampler.compiled import normal as _normal
from disaggregate.sampler.compiled import products as _products
from disaggregate.sampler.compiled import relocation as _relocation
from disaggregate.sampler.compiled import selection as _selection
from disaggregate.sampler.compiled import sweep as _sweep
from disaggregate.sampler.compiled import turnover as _turnover
from disaggregate.sampler.compiled import weights_and_scale as _scale
from disaggregate.sampler.compiled.disk_cache import keep_on_disk
from disaggregate.sampler.model import Prior, SparseData, State


def compiled(function: Callable) -> Callable:
    """Compile a way into a part, and keep it on disk for other processes that run tests."""
    return keep_on_disk(numba.njit(function, nogil=True))


@compiled
def expand_scores(problem, prior, state, rng):
    _expansion.expand_scores(problem, prior, state, rng)


@compiled
def slice_fit_scale(problem, prior, state, rng):
    _expansion.slice_fit_scale(problem, prior, state, rng)


@compiled
def relocate_kernels(problem, prior, state, rng):
    _relocation.relocate_kernels(problem, prior, state, rng)


@compiled
def turn_over_kernels(problem, prior, state, rng):
    _turnover.turn_over_kernels(problem, prior, state, rng)


@compiled
def move_weights(problem, prior, state, rng):
    _hamiltonian.move_weights(problem, prior, state, rng)


@compiled
def draw_scores_exactly(problem, prior, state, rng):
    _latent.draw_scores_exactly(problem, prior, state, rng)


@compiled
def walk_scores(problem, prior, state, rng):
    _latent.walk_scores(problem, prior, state, rng)


@compiled
def gather_products(problem, prior, state, rng):
    _products.gather_products(problem, prior, state, rng)


@compiled
def fit_rows(problem, prior, state, rng):
    _products.fit_rows(problem, prior, state, rng)


@compiled
def draw_scale(problem, prior, state, rng):
    _scale.draw_scale(problem, prior, state, rng)


@compiled
def slice_scale(problem, prior, state, rng):
    _scale.slice_scale(problem, prior, state, rng)


@compiled
def draw_weights(problem, prior, state, rng):
    _scale.draw_weights(problem, prior, state, rng)


@compiled
def select_kernels(problem, prior, state, rng):
    _selection.select_kernels(problem, prior, state, rng)


# Blocks again and again, with what is then true written down as bits: the way in takes longer than a small block.


@compiled
def labels_by_exact_draws(problem, prior, state, rng, found):
    for turn in range(len(found)):
        _latent.draw_scores_exactly(problem, prior, state, rng)
        found[turn] = 0
        for row in range(len(state.scores)):
            if state.scores[row] > 0.0:
                found[turn] += 1 << row


@compiled
def labels_by_walks(problem, prior, state, rng, found):
    for turn in range(len(found)):
        _latent.walk_scores(problem, prior, state, rng)
        found[turn] = 0
        for row in range(len(state.scores)):
            if state.scores[row] > 0.0:
                found[turn] += 1 << row


@compiled
def selected_kernels(problem, prior, state, rng, found):
    for turn in range(len(found)):
        _products.gather_products(problem, prior, state, rng)
        _selection.select_kernels(problem, prior, state, rng)
        found[turn] = 0
        for k in range(state.size[0]):
            found[turn] += 1 << state.active[k]


def one_sweep(advance: Callable) -> Callable:
    """Do one sweep, and record nothing."""
    nothing = empty_record(0, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))

    def sweep(problem: SparseData, prior: Prior, state: State, rng: np.random.Generator) -> None:
        before = int(state.sweep[0])
        advance(problem, prior, state, rng, 1, before + 1, 1, nothing)
        assert state.sweep[0] == before + 1

    return sweep


expansion = SimpleNamespace(expand_scores=expand_scores, slice_fit_scale=slice_fit_scale)
relocation = SimpleNamespace(relocate_kernels=relocate_kernels)
turnover = SimpleNamespace(turn_over_kernels=turn_over_kernels)
hamiltonian = SimpleNamespace(move_weights=move_weights)
latent = SimpleNamespace(
    draw_scores_exactly=draw_scores_exactly,
    walk_scores=walk_scores,
    labels_by_exact_draws=labels_by_exact_draws,
    labels_by_walks=labels_by_walks,
)
products = SimpleNamespace(gather_products=gather_products, fit_rows=fit_rows)
scale = SimpleNamespace(draw_scale=draw_scale, slice_scale=slice_scale)
selection = SimpleNamespace(select_kernels=select_kernels, selected_kernels=selected_kernels)
sweep = SimpleNamespace(
    sparse_sweep=one_sweep(_sweep.advance_sparse),
    published_sweep=one_sweep(_sweep.advance_published),
)
weights = SimpleNamespace(draw_weights=draw_weights)


@compiled
def draw_positive_normal(mean, rng):
    return _normal.draw_positive_normal(mean, rng)


@compiled
def log_normal_cdf(x):
    return _normal.log_normal_cdf(x)


@compiled
def chances_of(fitted):
    return _normal.chances_of(fitted)


@compiled
def count_law(fitted, units, law, longer):
    positive, negative, _ = _normal.chances_of(fitted)
    return _counts.count_law(positive, negative, units, law, longer)


@compiled
def log_evidence_given_fitted(fitted, units, likelihood, log_likelihood, law, longer):
    found = count_law(fitted, units, law, longer)
    return _counts.log_evidence_given_law(found, fitted, units, likelihood, log_likelihood)


@compiled
def collapsed_likelihood(evidence, scores, fitted, least):
    return _collapsed.collapsed_likelihood(evidence, scores, fitted, least)


@compiled
def collapsed_gradient(evidence, scores, fitted, gradient):
    return _collapsed.collapsed_gradient(evidence, scores, fitted, gradient)


collapsed = SimpleNamespace(collapsed_gradient=collapsed_gradient, collapsed_likelihood=collapsed_likelihood)
normal = SimpleNamespace(
    draw_positive_normal=draw_positive_normal, log_normal_cdf=log_normal_cdf, chances_of=chances_of
)
counts = SimpleNamespace(count_law=count_law, log_evidence_given_fitted=log_evidence_given_fitted)
