"""Checks the content of a checkpoint, types, shapes and sizes, before chains and compiled code use it.

Compiled code does not check where it writes. So no part of a file reaches it that does not match the data of the
fit to be resumed, no matter where the file was written.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec

import numpy as np

from disaggregate.posterior.kernel_score import KernelScore
from disaggregate.posterior.log_evidence import LogEvidence
from disaggregate.sampler.model import LOG_SCALE_BOUND, SparseData, State
from disaggregate.storage.draw_store import Batch, are_on_disk

Given = ParamSpec("Given")

_MOST_DRAWS = 2**40
_MOST_RUNGS = 1000
_LARGEST = 1e50
_ROUNDING = 1e-6
ROWS_AT_ONCE = 2**14
# Words of generators and of checksums are unsigned, of so many bits at most.
_WORDS = {"has_uint32": 2, "uinteger": 2**32}
_LARGEST_WORD = 2**128


def _one_complaint(check: Callable[Given, None]) -> Callable[Given, None]:
    """Raise the same error for anything wrong, as parts may be missing or of any type."""

    @functools.wraps(check)
    def checked(*given: Given.args, **named: Given.kwargs) -> None:
        try:
            check(*given, **named)
        except (KeyError, TypeError, IndexError, AttributeError, OverflowError) as error:
            raise _damaged(f"{type(error).__name__}: {str(error)[:200]}") from error

    return checked


@_one_complaint
def require_tuned_kernels(found: Any, n_bases: int, n_replicas: int | None) -> None:
    """Check what pilot runs of Gaussian processes found, as far as it can be judged without the kernels.

    Parameters
    ----------
    found : dict
        What ``DenseSampling.resume_state`` returned.
    n_bases : int
        Number of candidates.
    n_replicas : int or None
        Replicas that were requested.
    """
    _require(isinstance(found, dict) and set(found) == {"scores", "kernels"}, "what pilot runs found")
    _require_scores(found["scores"], n_bases)
    kernels = found["kernels"]
    _require(isinstance(kernels, list) and 0 < len(kernels) <= n_bases, "its kernels")
    for one in kernels:
        _require(isinstance(one, dict) and set(one) == _KERNEL, "its kernels")
        _require(_is_whole(one["index"], 0, n_bases - 1), "the number of a kernel")
        _require(_is_number(one["weight"]) and 0.0 < one["weight"] <= 1.0 + 1e-9, "the weight of a kernel")
        _require(_is_whole(one["n_draws"], 1, _MOST_DRAWS), "the number of draws")
        _require_powers(one["powers"], n_replicas)
        _require(isinstance(one["columns"], str), "the digits of a kernel")
        _require(_is_number(one["log_evidence"]), "the evidence of a kernel")
        _require(one["evidence"] is None or _is_evidence(one["evidence"]), "the evidence of a kernel")
        _require(isinstance(one["reason"], str), "the reason for its ladder")
    _require(len({one["index"] for one in kernels}) == len(kernels), "its kernels")
    _require(abs(sum(one["weight"] for one in kernels) - 1.0) < 1e-6 or len(kernels) < n_bases, "its weights")


_KERNEL = {
    *("index", "weight", "n_draws", "powers", "metric", "mode", "log_evidence", "log_ratios", "columns"),
    *("evidence", "reason"),
}


@_one_complaint
def require_tuning(found: dict[str, Any], n_coordinates: int) -> None:
    """Check steps, masses and mode of one kernel against its number of coordinates.

    Parameters
    ----------
    found : dict
        One of the kernels that :func:`require_tuned_kernels` has let pass.
    n_coordinates : int
        Coordinates of a position.
    """
    n_rungs = len(found["powers"])
    _require_metric(found["metric"], 2 * n_rungs, n_coordinates)
    _require(isinstance(found["mode"], list) and len(found["mode"]) == 2, "its mode")
    at = found["mode"][0]
    _require(_is_finite(at, (n_coordinates,)) and _are_moderate(at), "its mode")
    _require_metric(found["mode"][1], None, n_coordinates)
    ratios = found["log_ratios"]
    _require(_is_array(ratios, np.float64) and ratios.ndim == 3, "its likelihood ratios")
    _require(ratios.shape[1:] == (n_rungs - 1, 2), "its likelihood ratios")


@dataclass(frozen=True, kw_only=True)
class ChainShape:
    """What the snapshot of a chain, or of several in lock step, must look like.

    Attributes
    ----------
    fresh : dict
        The snapshot of the same chains before their first sweep.
    state : sequence of ndarray
        A state of the right shapes and types.
    nothing : tuple of ndarray
        An empty batch of draws.
    n_sweeps : int
        Sweeps in all.
    """

    fresh: dict[str, Any]
    state: Sequence[np.ndarray]
    nothing: Batch
    n_sweeps: int


@_one_complaint
def require_dense_chain(snapshot: Any, shape: ChainShape) -> None:
    """Check the snapshot of some chains of a Gaussian process.

    Parameters
    ----------
    snapshot : dict
        As it came out of a file.
    shape : ChainShape
        What it must look like.
    """
    fresh = shape.fresh
    _require_parts(snapshot, fresh)
    _require(_is_whole(snapshot["n_done"], 0, shape.n_sweeps), "the number of sweeps")
    for name in ("generators", "sums", "tally", "step"):
        _require_like(snapshot[name], fresh[name], f"{name} of a chain")
    for state in snapshot["generators"]:
        _require_generator(state)
    _require(bool((snapshot["step"] > 0.0).all()), "the steps of a chain")
    _require_draws(snapshot["kept"], shape.nothing)
    if snapshot["state"] is None:
        _require(snapshot["n_done"] == 0, "the state of a chain")
        return
    _require_like(snapshot["state"], list(shape.state), "the state of a chain")
    position, _, _, is_known, sweep = snapshot["state"]
    _require(bool(np.isfinite(position).all()) and _are_moderate(position), "the position of a chain")
    _require(bool(((is_known == 0) | (is_known == 1)).all()), "the state of a chain")
    _require(0 <= int(sweep[0]) <= shape.n_sweeps, "the number of sweeps")


@_one_complaint
def require_sparse_found(found: Any, n_bases: int, n_replicas: int | None) -> None:
    """Check what pilot runs of sparse weights found.

    Parameters
    ----------
    found : dict
        What ``SparseSampling.resume_state`` returned.
    n_bases : int
        Number of candidates.
    n_replicas : int or None
        Replicas that were requested.
    """
    _require(isinstance(found, dict) and set(found) == {"scores", "index", "powers", "n_draws"}, "what it found")
    _require_scores(found["scores"], n_bases)
    _require(_is_whole(found["index"], 0, n_bases - 1), "the number of a kernel")
    _require(_is_whole(found["n_draws"], 1, _MOST_DRAWS), "the number of draws")
    _require_powers(found["powers"], 1 if n_replicas is None else n_replicas)


@dataclass(frozen=True, kw_only=True)
class SparseShape(ChainShape):
    """What the snapshot of a chain with sparse weights must look like.

    The arrays of active columns of its state may have another length.

    Attributes
    ----------
    data : SparseData
        The columns, and what the groups report.
    n_rungs : int
        Replicas.
    sums : list of ndarray
        Sums over draws of the right shapes and types.
    """

    data: SparseData
    n_rungs: int
    sums: list[np.ndarray]


@_one_complaint
def require_sparse_chain(snapshot: Any, shape: SparseShape) -> None:
    """Check the snapshot of a chain with sparse weights, whose states hold indices into arrays.

    Parameters
    ----------
    snapshot : dict
        As it came out of a file.
    shape : SparseShape
        What it must look like.
    """
    _require_parts(snapshot, shape.fresh)
    _require_like(snapshot["generator"], shape.fresh["generator"], "the generator of a chain")
    _require_generator(snapshot["generator"])
    _require_draws(snapshot["kept"], shape.nothing)
    _require_active_draws(snapshot["kept"], shape)
    if snapshot["sums"] is not None or shape.fresh["sums"] is not None or snapshot["state"] is not None:
        _require_like(snapshot["sums"], shape.sums, "the sums of a chain")
    if snapshot["state"] is None:
        return
    states = [snapshot["state"]] if shape.n_rungs == 1 else snapshot["state"]
    _require(isinstance(states, list) and len(states) == shape.n_rungs, "the replicas of a chain")
    for state in states:
        _require_sparse_state(state, shape)


def require_as_many(snapshots: Any, chains: Sequence[Any]) -> None:
    """Check that there is one snapshot per chain."""
    _require(isinstance(snapshots, list) and len(snapshots) == len(chains), "the number of chains")


@_one_complaint
def require_sound_draws(drawn: Batch) -> None:
    """Check draws by their numbers, also those in files, of which only sizes and checksums were looked at.

    Parameters
    ----------
    drawn : tuple of ndarray
        All draws of a chain: of dense weights one row per draw in each array; of sparse ones in all but the active
        columns and their weights.
    """
    by_draw = drawn if drawn[0].ndim > 1 else (*drawn[:2], *drawn[4:])
    lengths = {len(array) for array in by_draw if np.prod(array.shape[1:])}  # rows of nothing take no file
    _require(len(lengths) == 1, "its draws")
    for array in drawn:
        for first in range(0, len(array), ROWS_AT_ONCE):
            _require(_are_moderate(array[first : first + ROWS_AT_ONCE]), "its draws")


def require_active_columns(draws: Any, n_columns: int) -> None:
    """Check the draws of a chain with sparse weights, wherever they are kept: which columns are active.

    Parameters
    ----------
    draws : ChainDraws
        What was drawn.
    n_columns : int
        Number of columns.
    """
    _require_columns(draws.size, draws.active, draws.weights, n_columns)


def _require_parts(snapshot: Any, fresh: dict[str, Any]) -> None:
    _require(isinstance(snapshot, dict) and set(snapshot) == set(fresh), "the state of a chain")


def _require_sparse_state(state: Any, shape: SparseShape) -> None:
    """Check a state: lengths that agree, columns that there are, and what follows from them."""
    _require(isinstance(state, list) and len(state) == len(shape.state), "the state of a chain")
    n_fixed, n_columns = shape.data.n_fixed, len(shape.data.gram)
    capacity = len(state[3]) if _is_array(state[3], np.int64) else -1
    _require(n_fixed <= capacity <= n_columns, "the active columns of a chain")
    resized = {3: (capacity,), 4: (capacity, capacity), 5: (capacity,), 6: (capacity,), 7: (capacity,)}
    for number, (part, like) in enumerate(zip(state, shape.state, strict=True)):
        expected = resized.get(number, like.shape)
        _require(_is_array(part, like.dtype) and part.shape == expected, "the state of a chain")
        _require(bool(np.isfinite(part).all()) and _are_moderate(part), "the state of a chain")
    size, active, candidates, sweep = int(state[2][0]), state[3], state[9], int(state[11][0])
    _require(n_fixed <= size <= capacity, "the active columns of a chain")
    _require(bool((active[:n_fixed] == np.arange(n_fixed)).all()), "the fixed columns of a chain")
    for columns in (active, candidates):
        _require(bool(((columns >= 0) & (columns < n_columns)).all()), "the active columns of a chain")
    _require(len(set(active[:size].tolist())) == size, "the active columns of a chain")
    _require(0 <= sweep <= shape.n_sweeps, "the number of sweeps")
    _require_consistent(State(*state), size, shape.data)


def _require_consistent(state: State, size: int, data: SparseData) -> None:
    """Check what follows from the active columns and their weights: slice moves do not end where it does not."""
    active, weights = state.active[:size], state.weights[:size]
    factor, gram = np.tril(state.factor[:size, :size]), data.gram[np.ix_(active, active)]
    _require(bool((np.diagonal(factor) > 0.0).all()), "the factor of a chain")
    _require(_is_close(factor @ factor.T, gram, np.abs(gram)), "the factor of a chain")
    terms = data.psi[active] * weights[:, np.newaxis]
    _require(_is_close(terms.sum(axis=0), state.fitted, np.abs(terms)), "the scores of a chain")
    scale = float(state.scale[0])
    _require(scale > 0.0 and abs(np.log(scale)) <= LOG_SCALE_BOUND + _ROUNDING, "the scale of a chain")


def _is_close(found: np.ndarray, expected: np.ndarray, parts: np.ndarray) -> bool:
    """Return whether two sums agree up to rounding, given the sizes of their parts."""
    return bool((np.abs(found - expected) <= _ROUNDING * parts.max(initial=0.0)).all())


def _require_active_draws(kept: Any, shape: SparseShape) -> None:
    if not are_on_disk(kept):
        for batch in kept:
            _require_columns(batch[0], batch[2], batch[3], len(shape.data.gram))


def _require_columns(size: np.ndarray, active: np.ndarray, weights: np.ndarray, n_columns: int) -> None:
    inside = bool(((size >= 0) & (size <= n_columns)).all())
    _require(inside and int(size.sum()) == len(active) == len(weights), "the active columns of its draws")
    _require(bool(((active >= 0) & (active < n_columns)).all()), "the active columns of its draws")


def _require_draws(kept: Any, nothing: Batch) -> None:
    """Check draws in memory by what an empty batch looks like, and of those in files how long these must be."""
    if are_on_disk(kept):
        known = kept["on_disk"]
        _require(isinstance(known, list) and len(known) in (0, len(nothing)), "its draws")
        for entry, like in zip(known, nothing, strict=bool(known)):
            _require(isinstance(entry, list) and len(entry) == 2, "its draws")
            row = like.dtype.itemsize * int(np.prod(like.shape[1:]))
            _require(_is_whole(entry[0], 0, 2**60) and _is_whole(entry[1], 0, 2**32 - 1), "its draws")
            _require(entry[0] % row == 0 if row else entry[0] == 0, "its draws")
        return
    _require(isinstance(kept, (list, tuple)), "its draws")
    for batch in kept:
        _require(isinstance(batch, (list, tuple)) and len(batch) == len(nothing), "its draws")
        for array, like in zip(batch, nothing, strict=True):
            sound = _is_array(array, like.dtype) and array.ndim == like.ndim and array.shape[1:] == like.shape[1:]
            _require(sound and _are_moderate(array), "its draws")
        if nothing[0].ndim > 1:  # of dense weights all arrays have one row per draw
            _require(len({len(array) for array in batch}) == 1, "its draws")


def _require_metric(metric: Any, n_sets: int | None, n_coordinates: int) -> None:
    _require(isinstance(metric, list) and len(metric) == 3, "its mass matrices")
    step = metric[0]
    sound = _is_array(step, np.float64) and step.ndim == 1 and len(step) > 0 and n_sets in (None, len(step))
    _require(sound and bool(np.isfinite(step).all() and (step > 0.0).all()), "its steps")
    square = (len(step), n_coordinates, n_coordinates)
    _require(all(_is_finite(part, square) for part in metric[1:]), "its mass matrices")


def _require_powers(powers: Any, n_replicas: int | None) -> None:
    _require(_is_array(powers, np.float64) and powers.ndim == 1, "its ladder")
    _require(0 < len(powers) <= _MOST_RUNGS and n_replicas in (None, len(powers)), "its ladder")
    inside = bool(np.isfinite(powers).all() and (powers >= 0.0).all() and (np.diff(powers) < 0.0).all())
    _require(inside and powers[0] == 1.0, "its ladder")


def _require_scores(scores: Any, n_bases: int) -> None:
    _require(isinstance(scores, list) and len(scores) in (0, n_bases), "its comparison of kernels")
    for score in scores:
        _require(isinstance(score, KernelScore) and isinstance(score.kernel, str), "its comparison of kernels")
        numbers = (score.gamma, score.prior, score.weight, score.emphasis)
        _require(all(map(_is_number, numbers)), "its comparison of kernels")
        _require(_is_evidence(score.log_evidence) and isinstance(score.context, bool), "its evidence")


def _is_evidence(known: Any) -> bool:
    """Return whether this is evidence, whose error need not be known."""
    error = known.std_error if isinstance(known, LogEvidence) else None
    return isinstance(error, float) and _is_number(known.value) and (np.isnan(error) or _is_number(error))


def _require_generator(state: dict[str, Any]) -> None:
    for name, value in state.items():
        if isinstance(value, dict):
            _require_generator(value)
        elif not isinstance(value, str):
            _require(_is_whole(value, 0, _WORDS.get(name, _LARGEST_WORD) - 1), "a generator")


def _require_like(value: Any, template: Any, what: str) -> None:
    """Check that plain data have the form of a template: the same keys, lengths, shapes and types, and no NaN."""
    if isinstance(template, np.ndarray):
        _require(_is_array(value, template.dtype) and value.shape == template.shape, what)
        _require(not bool(np.isnan(value).any()), what)
    elif isinstance(template, dict):
        _require(isinstance(value, dict) and set(value) == set(template), what)
        for key, part in template.items():
            _require_like(value[key], part, what)
    elif isinstance(template, (list, tuple)):
        _require(isinstance(value, (list, tuple)) and len(value) == len(template), what)
        for one, part in zip(value, template, strict=True):
            _require_like(one, part, what)
    elif isinstance(template, str):
        _require(value == template, what)
    else:
        _require(type(value) is type(template), what)


def _is_array(value: Any, dtype: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == dtype


def _is_finite(value: Any, shape: tuple[int, ...]) -> bool:
    return _is_array(value, np.float64) and value.shape == shape and bool(np.isfinite(value).all())


def _are_moderate(array: np.ndarray) -> bool:
    """Return whether numbers are such as sampling leaves: none is NaN, and sums of squares stay finite."""
    return not bool((np.isnan(array) | (np.isfinite(array) & (np.abs(array) > _LARGEST))).any())


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e308


def _is_whole(value: Any, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _require(sound: bool, what: str) -> None:
    if not sound:
        raise _damaged(f"{what} does not fit this fit")


def _damaged(what: str) -> ValueError:
    return ValueError(
        f"the checkpoint is damaged, or was not written by this fit: {what}. Give another one for a new fit."
    )
