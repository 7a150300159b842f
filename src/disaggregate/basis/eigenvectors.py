"""Leading eigenvectors of a kernel matrix, without the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

# Smaller matrices are decomposed as a whole.
SMALL = 500

# Sizes of the random subspace that are tried, and powers of the matrix that it is turned by. The last size is more
# than the number of directions that a Gaussian process keeps.
_SIZES = (60, 360)
_TURNS = 3

# What may be missing of the sum of the eigenvalues' powers.
_NEGLIGIBLE = 1e-5

# Eigenvalues below minus this share of the largest: the matrix is no covariance, whose leading ones are positive.
_NEGATIVE = 1e-8


class Eigenvectors(NamedTuple):
    """Some eigenvectors of a symmetric matrix.

    Attributes
    ----------
    value : ndarray of shape (n_found,)
        Eigenvalues, rising.
    vector : ndarray of shape (n_rows, n_found)
        Their vectors.
    total : float
        Sum over all eigenvalues, those not found included, of their powers, in units of the largest one's.
    """

    value: np.ndarray
    vector: np.ndarray
    total: float


def leading_eigenvectors(matrix: np.ndarray, power: float) -> Eigenvectors:
    """Find the eigenvectors that hold nearly all of the sum of the eigenvalues' powers, or some 300 of them.

    A random subspace is turned towards them by products with the matrix (Halko, Martinsson & Tropp, 2011). The
    subspace is always the same, so that the same matrix has the same eigenvectors.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_rows)
        Symmetric.
    power : float
        What the eigenvalues are raised to. Sums of other powers than 1 and 2 need all eigenvalues.
    """
    if len(matrix) <= SMALL or power not in (1.0, 2.0):
        return _all(matrix, power)
    total = float(np.trace(matrix) if power == 1.0 else np.sum(matrix**2))
    for size in _SIZES:
        value, vector = _in_subspace(matrix, size)
        if not value[0] >= -_NEGATIVE * value[-1]:
            return _all(matrix, power)
        if np.sum(np.maximum(value, 0.0) ** power) >= (1.0 - _NEGLIGIBLE) * total:
            break
    return Eigenvectors(value, vector, total / float(value[-1]) ** power)


def _all(matrix: np.ndarray, power: float) -> Eigenvectors:
    value, vector = np.linalg.eigh(matrix)
    largest = float(value.max(initial=0.0))
    total = float(np.sum((np.maximum(value, 0.0) / largest) ** power)) if largest > 0.0 else 0.0
    return Eigenvectors(value, vector, total)


def _in_subspace(matrix: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    basis = np.random.default_rng(0).standard_normal((len(matrix), size))
    for _ in range(_TURNS):
        basis, _ = qr(matrix @ basis, mode="economic", check_finite=False)
    value, vector = np.linalg.eigh(basis.T @ (matrix @ basis))
    return value, basis @ vector
