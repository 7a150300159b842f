"""What a sweep reads and what it changes, as plain arrays that compiled code can take."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from disaggregate.groups.grouped import GroupedData
from disaggregate.sampler.evidence import EvidenceArrays, make_evidence

# A column counts as independent of the active ones if more than this share of its square lies outside their span.
COLLINEARITY_TOLERANCE = 1e-6

# The support of log delta2: wider than any data can distinguish, narrow enough never to overflow.
LOG_SCALE_BOUND = 30.0

# Mutual neighbours among which a kernel may be relocated.
NEIGHBOURS = 12

# Births and deaths that a sweep proposes with labels and scores summed out.
TURNOVERS = 16

_SPARE_COLUMNS = 32


class Prior(NamedTuple):
    """Hyper-parameters: tau ~ Beta(a, b), eq. (7); delta2 ~ InverseGamma(mu/2, nu/2), eq. (6)."""

    a: float
    b: float
    mu: float
    nu: float


class SparseData(NamedTuple):
    """The data of a fit with sparse weights; nothing in it changes.

    Attributes
    ----------
    psi : ndarray of shape (n_columns, n_rows)
        Basis columns, one per row of this array, individuals sorted by group.
    gram : ndarray of shape (n_columns, n_columns)
        Psi'Psi.
    n_fixed : int
        How many leading columns are always active: the intercept.
    neighbours : ndarray of int, shape (n_columns, NEIGHBOURS)
        Columns that each selectable column resembles most and that resemble it most; -1 where there is none.
    evidence : EvidenceArrays
        What the groups report.
    """

    psi: np.ndarray
    gram: np.ndarray
    n_fixed: int
    neighbours: np.ndarray
    evidence: EvidenceArrays


class State(NamedTuple):
    """Where a chain stands; the blocks change these arrays in place.

    Only the first ``size[0]`` entries of ``active``, ``factor``, ``products``, ``whitened`` and ``weights``
    are in use.

    Attributes
    ----------
    scores : ndarray of shape (n_rows,)
        Latent scores Z; their signs are the labels.
    fitted : ndarray of shape (n_rows,)
        f = Psi_g beta.
    size : ndarray of shape (1,)
        Number of active columns, the fixed ones included.
    active : ndarray of int
        Active columns, the fixed ones first.
    factor : square ndarray
        Lower Cholesky factor L of Psi_g'Psi_g.
    products : ndarray
        Psi_g'Z.
    whitened : ndarray
        L^-1 Psi_g'Z, so that its squared length is Z'P_g Z.
    weights : ndarray
        beta.
    scale : ndarray of shape (1,)
        delta2.
    candidates : ndarray of int, shape (n_proposals,)
        Columns that this sweep may propose to add.
    candidate_products : ndarray of shape (n_proposals,)
        Their products with Z.
    sweep : ndarray of shape (1,)
        Number of sweeps done.
    """

    scores: np.ndarray
    fitted: np.ndarray
    size: np.ndarray
    active: np.ndarray
    factor: np.ndarray
    products: np.ndarray
    whitened: np.ndarray
    weights: np.ndarray
    scale: np.ndarray
    candidates: np.ndarray
    candidate_products: np.ndarray
    sweep: np.ndarray


def make_sparse_data(psi: np.ndarray, n_fixed: int, data: GroupedData) -> SparseData:
    """Gather what the sweeps read.

    Parameters
    ----------
    psi : ndarray of shape (n_columns, n_rows)
        Basis columns with the individuals in the sorted order of ``data``.
    n_fixed : int
        Number of leading columns that are always active.
    data : GroupedData
        Groups and evidence.
    """
    gram = psi @ psi.T
    return SparseData(
        psi=np.ascontiguousarray(psi),
        gram=gram,
        n_fixed=n_fixed,
        neighbours=_mutual_neighbours(gram, n_fixed),
        evidence=make_evidence(data),
    )


def _mutual_neighbours(gram: np.ndarray, n_fixed: int) -> np.ndarray:
    """For each selectable column the most correlated others, kept only where the choice is mutual."""
    n_columns = len(gram)
    neighbours = np.full((n_columns, NEIGHBOURS), -1, dtype=np.int64)
    n_nearest = min(NEIGHBOURS, n_columns - n_fixed - 1)
    if n_nearest < 1:
        return neighbours
    length = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    correlation = np.abs(gram / length / length[:, None])[n_fixed:, n_fixed:]
    np.fill_diagonal(correlation, -1.0)
    nearest = np.argpartition(-correlation, n_nearest - 1, axis=1)[:, :n_nearest]
    chosen = np.zeros(correlation.shape, dtype=bool)
    np.put_along_axis(chosen, nearest, True, axis=1)
    mutual = np.take_along_axis(chosen.T, nearest, axis=1)
    neighbours[n_fixed:, :n_nearest] = np.where(mutual, nearest + n_fixed, -1)
    return neighbours


def empty_state(data: SparseData, n_proposals: int) -> State:
    """Make a state with only the fixed columns active and every score at zero."""
    n_columns, n_rows = data.psi.shape
    capacity = min(n_columns, data.n_fixed + n_proposals + _SPARE_COLUMNS)
    fixed = np.arange(data.n_fixed)
    state = State(
        scores=np.zeros(n_rows),
        fitted=np.zeros(n_rows),
        size=np.array([data.n_fixed]),
        active=np.zeros(capacity, dtype=np.int64),
        factor=np.zeros((capacity, capacity)),
        products=np.zeros(capacity),
        whitened=np.zeros(capacity),
        weights=np.zeros(capacity),
        scale=np.ones(1),
        candidates=np.zeros(n_proposals, dtype=np.int64),
        candidate_products=np.zeros(n_proposals),
        sweep=np.zeros(1, dtype=np.int64),
    )
    state.active[: data.n_fixed] = fixed
    state.factor[: data.n_fixed, : data.n_fixed] = np.linalg.cholesky(data.gram[np.ix_(fixed, fixed)])
    return state


def has_capacity(data: SparseData, state: State) -> bool:
    """Return whether the active set can take every birth that one sweep may propose."""
    most = int(state.size[0]) + len(state.candidates) + TURNOVERS
    return len(state.active) >= min(len(data.gram), most)


def with_capacity(data: SparseData, state: State) -> State:
    """Copy the state into arrays with room for at least twice as many active columns."""
    capacity = min(len(data.gram), 2 * len(state.active) + len(state.candidates))
    extra = capacity - len(state.active)
    return state._replace(
        active=np.pad(state.active, (0, extra)),
        factor=np.pad(state.factor, (0, extra)),
        products=np.pad(state.products, (0, extra)),
        whitened=np.pad(state.whitened, (0, extra)),
        weights=np.pad(state.weights, (0, extra)),
    )
