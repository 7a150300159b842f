"""Compiled twin of ``sampler.sweep``, and many sweeps in one call."""

from disaggregate.sampler.compiled.arrays import copy, lesser
from disaggregate.sampler.compiled.compile import inlined_part, kernel
from disaggregate.sampler.compiled.exchange import swap_order
from disaggregate.sampler.compiled.expansion import expand_scores, slice_fit_scale
from disaggregate.sampler.compiled.hamiltonian import move_weights
from disaggregate.sampler.compiled.latent import draw_scores_exactly, tally_labels, walk_scores
from disaggregate.sampler.compiled.products import fit_rows, gather_products, refresh_factor
from disaggregate.sampler.compiled.relocation import relocate_kernels
from disaggregate.sampler.compiled.selection import select_kernels
from disaggregate.sampler.compiled.turnover import turn_over_kernels
from disaggregate.sampler.compiled.weights_and_scale import draw_scale, draw_weights, slice_scale
from disaggregate.sampler.model import TURNOVERS

# Rounding creeps into a factor that is only ever updated, so it is recomputed this often.
_SWEEPS_A_FACTOR = 50


@kernel
def advance_sparse(data, prior, state, rng, n_sweeps, n_burn, thin, record):
    """Do up to ``n_sweeps`` sweeps and record the kept ones; stop early if the active set may outgrow its arrays.

    Returns the number of draws recorded. Sweeps before ``n_burn`` are not kept, after it every ``thin``-th is.
    """
    first = draws_kept(state, n_burn, thin)
    for _ in range(n_sweeps):
        if may_outgrow(data, state):
            break
        start_sweep(data, state)
        gather_products(data, prior, state, rng)
        expand_scores(data, prior, state, rng)
        select_kernels(data, prior, state, rng)
        slice_scale(data, prior, state, rng)
        draw_weights(data, prior, state, rng)
        fit_rows(data, prior, state, rng)
        relocate_kernels(data, prior, state, rng)
        turn_over_kernels(data, prior, state, rng)
        move_weights(data, prior, state, rng)
        slice_fit_scale(data, prior, state, rng)
        draw_scores_exactly(data, prior, state, rng)
        record_draw(data, state, n_burn, thin, record, first)
    return draws_kept(state, n_burn, thin) - first


@kernel
def advance_published(data, prior, state, rng, n_sweeps, n_burn, thin, record):
    """Do the same with the moves of 2005."""
    first = draws_kept(state, n_burn, thin)
    for _ in range(n_sweeps):
        if may_outgrow(data, state):
            break
        start_sweep(data, state)
        gather_products(data, prior, state, rng)
        select_kernels(data, prior, state, rng)
        draw_weights(data, prior, state, rng)
        draw_scale(data, prior, state, rng)
        fit_rows(data, prior, state, rng)
        walk_scores(data, prior, state, rng)
        record_draw(data, state, n_burn, thin, record, first)
    return draws_kept(state, n_burn, thin) - first


@kernel
def swap_sparse(ladder, fitted, scores, swapped, log_ratios, rng):
    """Propose swaps between the replicas of a ladder."""
    return swap_order(ladder, fitted, scores, swapped, log_ratios, rng)


@kernel
def redraw_scores(data, prior, state, rng):
    """Draw the scores again after a swap, under the evidence of the new rung."""
    draw_scores_exactly(data, prior, state, rng)


@inlined_part
def start_sweep(data, state):
    if state.sweep[0] % _SWEEPS_A_FACTOR == 0:
        refresh_factor(data, state)
    state.sweep[0] += 1


@inlined_part
def draws_kept(state, n_burn, thin):
    after_burn = state.sweep[0] - n_burn
    return after_burn // thin if after_burn > 0 else 0


@inlined_part
def may_outgrow(data, state):
    most = state.size[0] + state.candidates.size + TURNOVERS
    return state.active.size < lesser(data.gram.shape[0], most)


@inlined_part
def record_draw(data, state, n_burn, thin, record, first):
    """Record the draw if the last sweep is a kept one."""
    after_burn = state.sweep[0] - n_burn
    if after_burn <= 0 or after_burn % thin != 0:
        return
    index = draws_kept(state, n_burn, thin) - first - 1
    size = state.size[0]
    record.size[index] = size
    record.scale[index] = state.scale[0]
    copy(record.active[index, :size], state.active)
    copy(record.weights[index, :size], state.weights)
    tally_labels(data.evidence, state.scores, record.label_sums, record.share_tallies)
