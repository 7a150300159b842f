"""The kept draws of all chains for one kernel, and the scores f that they give to any individual."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import qr
from scipy.sparse import csr_array

from disaggregate.basis import Basis
from disaggregate.model.components import Components
from disaggregate.model.outcomes import logits_of
from disaggregate.posterior.individuals import as_individuals
from disaggregate.posterior.mapped import is_mapped, require_intact
from disaggregate.sampler.chain import ChainDraws
from disaggregate.sampler.dense.chains import DenseDraws
from disaggregate.sampler.evenly_spaced import evenly_spaced

# Draws that are worked on at once, so that memory does not grow with them when they are on disk.
DRAWS_AT_ONCE = 2**10
VALUES_AT_ONCE = 2**20

# Weights that lie in at most so many directions, and in no more than a third as many as there are columns, are
# multiplied by way of these. Directions that hold less than this share of the largest are rounding errors.
_DIRECTIONS, _LEAST_RATIO, _ROUNDING = (10, 40, 160), 3, 1e-13

# Weights of fewer values are multiplied as they are: that takes no time, and leaves the bits of draws on disk.
WORTH_FACTORING = 2**19

# Makes one array of pieces along its first axis, given a name, the shape and the type.
Put = Callable[[str, tuple[int, ...], np.dtype, Iterable[np.ndarray]], np.ndarray]


@dataclass(frozen=True)
class KernelDraws:
    """Posterior draws of the weights of one kernel on its centres.

    Attributes
    ----------
    basis : Basis
        The kernels that the weights belong to.
    delta2 : ndarray of shape (n_chains, n_draws)
        Scale of the weights.
    n_active : ndarray of shape (n_chains, n_draws)
        Number of active kernels; an intercept does not count.
    weights : array of shape (n_chains * n_draws, n_columns)
        Weights of the kernels, the intercept first when there is one; a row per draw, chain after chain. A
        sparse array unless the weights are dense.
    context_delta2 : ndarray of shape (n_chains, n_draws) or None
        Scale of the weights of the context, where it is a component of its own.
    places : ndarray of shape (n_chains * n_draws, n_groups) or None
        Intercept of each group, where groups have one.
    place_delta2 : ndarray of shape (n_chains, n_draws) or None
        Their scale: the variance of a group that was not in the fit.
    report_delta2 : ndarray of shape (n_chains, n_draws) or None
        1 / chi, where it was learned how exact reports are.
    cell_delta2 : ndarray of shape (n_chains, n_draws) or None
        phi, where it was learned how alike people of one cell are; see :mod:`disaggregate.model.cells`.
    n_outcomes : int
        Number of outcomes. With more than two there are as many scores less one, and weights and places hold those
        of all scores, one score after the other.
    prior : KernelDraws or None
        Some draws from the prior, as one chain, to see what the reports changed; None with sparse weights, and in
        files of older versions.
    """

    basis: Basis
    delta2: np.ndarray
    n_active: np.ndarray
    weights: csr_array | np.ndarray
    context_delta2: np.ndarray | None = None
    places: np.ndarray | None = None
    place_delta2: np.ndarray | None = None
    n_outcomes: int = 2
    prior: KernelDraws | None = None
    report_delta2: np.ndarray | None = None
    cell_delta2: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of chains and of draws in each."""
        return self.delta2.shape[0], self.delta2.shape[1]

    def require_intact(self) -> None:
        """Raise ValueError if draws are in files that were cut or changed since."""
        weights = self.weights
        parts = (weights,) if isinstance(weights, np.ndarray) else (weights.data, weights.indices)
        for part in (*parts, *(() if self.places is None else (self.places,))):
            require_intact(part)

    def scores(self, rows: Any) -> np.ndarray:
        """Score of each row in each draw, shape (n_chains * n_draws, n_rows): Phi of it is the probability.

        It is f(x) = sum_k beta_k K(x, c_k), eq. (2), with the context and the intercept of the row's group. Of a
        group that was not in the fit the intercept is N(0, place_delta2) and summed out:
        E[Phi(f + intercept)] = Phi(f / sqrt(1 + place_delta2)).

        Parameters
        ----------
        rows : Individuals or ndarray of shape (n_rows, n_features)
            Individuals.

        Returns
        -------
        ndarray
            With more than two outcomes of shape (n_chains * n_draws, n_rows, n_outcomes): their logits, whose
            softmax are the probabilities, about so for a group that was not in the fit.
        """
        self.require_intact()
        individuals = as_individuals(rows)
        X = individuals.with_context() if self.basis.context else individuals.features
        if self.n_outcomes > 2:
            return self._logits(X, individuals.group_index)
        return self.at_place(self._of_features(X), individuals.group_index)

    def _logits(self, X: np.ndarray, group_index: np.ndarray | None) -> np.ndarray:
        n_scores = self.n_outcomes - 1
        scores = self._times(self.basis.columns(X)).reshape(-1, n_scores, len(X))
        if self.places is not None and self.place_delta2 is not None:
            narrower = 1.0 / np.sqrt(1.0 + self.place_delta2.reshape(-1, 1, 1))
            known = np.zeros(len(X), dtype=bool) if group_index is None else group_index >= 0
            offsets = self.places.reshape(len(scores), n_scores, -1)
            there = np.zeros(len(X), dtype=np.int64) if group_index is None else np.where(known, group_index, 0)
            scores = np.where(known, scores + offsets[:, :, there], scores * narrower)
        return logits_of(np.moveaxis(scores, 1, 2))

    def _of_features(self, X: np.ndarray) -> np.ndarray:
        if isinstance(self.weights, np.ndarray):
            return self._times(self.basis.columns(X))
        used = _used_columns(self.weights)
        columns = self.basis.columns(X, used)
        pieces = _slices(self.weights.shape[0], DRAWS_AT_ONCE)
        return np.concatenate([self.weights[piece][:, used] @ columns for piece in pieces])

    def _times(self, columns: np.ndarray) -> np.ndarray:
        """Multiply dense weights with columns at some rows."""
        if self._factors is None:
            return np.asarray(self.weights).reshape(-1, self.basis.n_columns) @ columns
        of_directions, directions = self._factors
        product: np.ndarray = of_directions @ (directions @ columns)
        return product

    @cached_property
    def _factors(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Dense weights as weights of a few orthonormal directions; None where that is no shorter, or on disk."""
        weights = np.asarray(self.weights).reshape(-1, self.basis.n_columns)
        if is_mapped(weights) or weights.size < WORTH_FACTORING:
            return None
        fitting = [most for most in _DIRECTIONS if _LEAST_RATIO * most <= weights.shape[1] and most < len(weights)]
        return next((found for most in fitting if (found := _factored(weights, most)) is not None), None)

    def at_place(self, scores: np.ndarray, group_index: np.ndarray | None) -> np.ndarray:
        """Add the effects of places; those of unknown places are integrated out."""
        if self.places is None or self.place_delta2 is None:
            return scores
        narrower = 1.0 / np.sqrt(1.0 + self.place_delta2.reshape(-1, 1))
        if group_index is None:
            return scores * narrower
        known = group_index >= 0
        return np.where(known, scores + self.places[:, np.where(known, group_index, 0)], scores * narrower)

    def offsets(self, context: np.ndarray | None, group_index: np.ndarray) -> np.ndarray:
        """Offset of some groups in each draw, shape (n_chains * n_draws, n_groups).

        With more than two outcomes that of each score, shape (n_chains * n_draws, n_groups, n_scores).

        Parameters
        ----------
        context : ndarray of shape (n_groups, n_context) or None
            Context of each group.
        group_index : ndarray of int, shape (n_groups,)
            Index of each among the groups of the fit, or -1; those have no intercept.
        """
        self.require_intact()
        n_scores = self.n_outcomes - 1
        total = np.zeros((self.delta2.size, n_scores, len(group_index)))
        if context is not None and self.basis.context and isinstance(self.weights, np.ndarray):
            first = int(self.basis.intercept)
            by_score = self.weights.reshape(-1, n_scores, self.basis.n_columns)
            total += by_score[:, :, first : first + context.shape[1]] @ context.T
        if self.places is not None:
            by_score = self.places.reshape(len(total), n_scores, -1)
            total += np.where(group_index >= 0, by_score[:, :, np.maximum(group_index, 0)], 0.0)
        return np.moveaxis(total, 1, 2) if n_scores > 1 else total[:, 0]

    def place_deviation(self, group_index: np.ndarray) -> np.ndarray:
        """Return the standard deviation of groups' intercepts: 0 for known groups, shape (n_draws, n_groups).

        Scores of a group that was not in the fit are smaller by sqrt(1 + deviation^2), as the intercept is summed
        out of each of them by itself.
        """
        if self.place_delta2 is None:
            return np.zeros((self.delta2.size, len(group_index)))
        return np.where(group_index >= 0, 0.0, np.sqrt(self.place_delta2.reshape(-1, 1)))

    @property
    def constant(self) -> np.ndarray | None:
        """Weight of the intercept in each draw, shape (n_chains, n_draws); None without one."""
        if not self.basis.intercept or self.n_outcomes > 2:
            return None
        self.require_intact()
        first = self.weights[:, [0]]
        return (first if isinstance(first, np.ndarray) else first.toarray()).reshape(self.shape)


def _factored(weights: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Write weights as weights of orthonormal directions, found from some draws; None if it takes too many."""
    some = weights[evenly_spaced(len(weights), most + 1)]
    found, triangle, _ = qr(some.T, mode="economic", pivoting=True, check_finite=False)
    size = np.abs(np.diagonal(triangle))
    rank = int((size > _ROUNDING * size.max(initial=0.0)).sum())
    if rank > most:
        return None
    directions = np.ascontiguousarray(found[:, :rank].T)
    of_directions = weights @ directions.T
    missing = np.abs(weights - of_directions @ directions).max()
    return (of_directions, directions) if missing <= _ROUNDING * np.abs(weights).max() else None


def gather_sparse_draws(chains: Sequence[ChainDraws], basis: Basis, scales: np.ndarray, put: Put) -> KernelDraws:
    """Put the chains' draws together, with the weights in the kernels' own units.

    Parameters
    ----------
    chains : sequence of ChainDraws
        Draws of each chain, for columns divided by ``scales``.
    basis : Basis
        The kernels.
    scales : ndarray of shape (n_columns,)
        What the sampler's columns were divided by.
    put : callable
        Makes an array of pieces, where the draws are to be.
    """
    starts = np.concatenate([[0], np.cumsum(np.concatenate([chain.size for chain in chains]))])
    largest = max(int(starts[-1]), basis.n_columns)
    kind = np.dtype(np.int32 if largest <= np.iinfo(np.int32).max else np.int64)  # as scipy would choose
    pieces = [(chain, piece) for chain in chains for piece in _slices(len(chain.active), VALUES_AT_ONCE)]
    columns = put("columns", (int(starts[-1]),), kind, (chain.active[piece] for chain, piece in pieces))
    values = put(
        "weights",
        columns.shape,
        np.dtype(float),
        (chain.weights[piece] / scales[chain.active[piece]] for chain, piece in pieces),
    )
    weights = csr_array((values, columns, starts.astype(kind)), shape=(len(starts) - 1, basis.n_columns))
    return KernelDraws(
        basis=basis,
        delta2=np.stack([chain.scale for chain in chains]),
        n_active=np.stack([chain.size for chain in chains]) - int(basis.intercept),
        weights=weights,
    )


def gather_dense_draws(
    chains: Sequence[DenseDraws],
    basis: Basis,
    to_kernels: np.ndarray,
    components: Components,
    context_norm: float,
    put: Put,
) -> KernelDraws:
    """Put the chains' draws together, with the weights of the directions turned into weights of the kernels.

    Parameters
    ----------
    chains : sequence of DenseDraws
        Draws of each chain.
    basis : Basis
        The kernels; with context where the fit has one.
    to_kernels : ndarray of shape (n_directions, n_columns without context)
        As in :class:`disaggregate.basis.Directions`.
    components : Components
        What the weights mean.
    context_norm : float
        What the context of groups was divided by.
    put : callable
        Makes an array of pieces, where the draws are to be.
    """
    n_columns, n_context = components.n_columns, components.context.shape[1]
    scales = np.stack([chain.scales for chain in chains])
    n_draws = scales.shape[0] * scales.shape[1]
    has_context, has_places = n_context > 0, components.n_places > 0

    def pieces() -> Iterator[np.ndarray]:
        for chain in chains:
            for piece in _slices(len(chain.weights), DRAWS_AT_ONCE):
                drawn = chain.weights[piece]
                kernels = drawn[:, :n_columns] @ to_kernels
                first, context = int(basis.intercept), drawn[:, n_columns : n_columns + n_context] / context_norm
                yield np.hstack([kernels[:, :first], context, kernels[:, first:]]) if has_context else kernels

    def places() -> Iterator[np.ndarray]:
        for chain in chains:
            for piece in _slices(len(chain.weights), DRAWS_AT_ONCE):
                yield chain.weights[piece, n_columns + n_context :]

    shape, cell = (n_draws, components.n_places), components.cell_coordinate - components.n_weights
    noise = components.noise_coordinate - components.n_weights
    return KernelDraws(
        basis=basis,
        weights=put("weights", (n_draws, basis.n_columns), np.dtype(float), pieces()),
        places=put("places", shape, np.dtype(float), places()) if has_places else None,
        report_delta2=np.ascontiguousarray(scales[:, :, noise]) if components.n_noises else None,
        cell_delta2=np.ascontiguousarray(scales[:, :, cell]) if components.n_cells else None,
        **_scales_of(scales, basis, has_context, has_places),
    )


def gather_outcome_draws(
    chains: Sequence[DenseDraws],
    basis: Basis,
    to_kernels: np.ndarray,
    n_outcomes: int,
    n_context: int,
    n_places: int,
    are_apart: bool,
    context_norm: float,
    put: Put,
) -> KernelDraws:
    """Put the chains' draws of several scores together, with the weights turned into weights of the kernels.

    Parameters
    ----------
    chains : sequence of DenseDraws
        Draws of each chain; weights as in :func:`disaggregate.model.outcomes.stacked`.
    basis, context_norm, put
        As for :func:`gather_dense_draws`.
    to_kernels : ndarray of shape (n_directions, n_columns without context)
        The same, in the order of the columns of one score.
    n_outcomes, n_context, n_places : int
        Outcomes, and context and groups' intercepts of one score.
    are_apart : bool
        Whether intercepts were integrated out, and so come after all weights.
    """
    n_scores, n_columns = n_outcomes - 1, len(to_kernels)
    scales = np.stack([chain.scales for chain in chains])
    n_draws, first = scales.shape[0] * scales.shape[1], int(basis.intercept)

    def parts() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for chain in chains:
            for piece in _slices(len(chain.weights), DRAWS_AT_ONCE):
                columns, rest = np.split(chain.weights[piece], [n_scores * n_columns], axis=1)
                # Context and intercepts of one score after the other; or the context of all, then all intercepts.
                widths = [n_context, n_places] if are_apart else [n_context + n_places]
                ends = np.cumsum(n_scores * np.array(widths))[:-1]
                by_group = [
                    part.reshape(len(part), n_scores, width)
                    for part, width in zip(np.split(rest, ends, axis=1), widths, strict=True)
                ]
                yield (
                    columns.reshape(len(columns), n_scores, n_columns) @ to_kernels,
                    np.concatenate(by_group, axis=2),
                )

    def pieces() -> Iterator[np.ndarray]:
        for kernels, by_group in parts():
            context = by_group[:, :, :n_context] / context_norm
            whole = np.concatenate([kernels[:, :, :first], context, kernels[:, :, first:]], axis=2)
            yield whole.reshape(len(whole), -1)

    def places() -> Iterator[np.ndarray]:
        for _, by_group in parts():
            yield by_group[:, :, n_context:].reshape(len(by_group), -1)

    of_places = (n_draws, n_scores * n_places)
    return KernelDraws(
        basis=basis,
        weights=put("weights", (n_draws, n_scores * basis.n_columns), np.dtype(float), pieces()),
        places=put("places", of_places, np.dtype(float), places()) if n_places else None,
        n_outcomes=n_outcomes,
        **_scales_of(scales, basis, n_context > 0, n_places > 0),
    )


def _scales_of(scales: np.ndarray, basis: Basis, has_context: bool, has_places: bool) -> dict[str, Any]:
    """Return the scales of the components; every kernel is active."""
    return {
        "n_active": np.full(scales.shape[:2], len(basis.centers)),
        "delta2": np.ascontiguousarray(scales[:, :, 0]),
        "context_delta2": np.ascontiguousarray(scales[:, :, 1]) if has_context else None,
        "place_delta2": np.ascontiguousarray(scales[:, :, -1]) if has_places else None,
    }


def _used_columns(weights: csr_array) -> np.ndarray:
    """Find the columns that are active in any draw."""
    is_used = np.zeros(weights.shape[1], dtype=bool)
    for piece in _slices(len(weights.indices), VALUES_AT_ONCE):
        is_used[weights.indices[piece]] = True
    return np.flatnonzero(is_used)


def _slices(length: int, at_once: int) -> Iterator[slice]:
    """Cut a length into pieces; one of nothing when there is nothing."""
    return (slice(first, first + at_once) for first in range(0, max(length, 1), at_once))
