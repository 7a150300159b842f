"""Dense weights: the Gaussian process on the same kernels, as a few orthonormal columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from disaggregate.basis.columns import VANISHING, Basis
from disaggregate.basis.eigenvectors import leading_eigenvectors

# Directions that together hold less than this share of the prior variance are left out.
_NEGLIGIBLE = 1e-3

# No more than this many are kept, those of the largest variance: what is beyond them varies too fast from one
# individual to the next for reports on groups to carry information about it.
MOST = 300

# Eigenvalues of the kernel between centres below this share of the largest are noise.
_NUMERICAL_ZERO = 1e-10


@dataclass(frozen=True)
class Directions:
    """Orthonormal columns with independent weights, in place of correlated kernels.

    Attributes
    ----------
    columns : ndarray of shape (n_directions, n_rows)
        Columns at the training rows; those of the kernels are orthonormal.
    spread : ndarray of shape (n_directions - n_fixed,)
        Prior variance of the kernels' columns' weights in units of delta2.
    to_kernels : ndarray of shape (n_directions, n_columns of the basis)
        Turns weights of the directions into weights of the basis, the kernels last.
    n_fixed : int
        1 where the first column is a constant outside the scale of the others, else 0.
    """

    columns: np.ndarray
    spread: np.ndarray
    to_kernels: np.ndarray
    n_fixed: int = 0

    def leading(self, most: int) -> Directions:
        """Keep so many directions at most, those of the largest variance, beside a separate constant."""
        n_kept = self.n_fixed + most
        return Directions(self.columns[:n_kept], self.spread[:most], self.to_kernels[:n_kept], self.n_fixed)


def principal_directions(basis: Basis, psi: np.ndarray, separate_constant: bool = False) -> Directions:
    """Principal directions of the Gaussian process with covariance delta2 (K / mean diagonal + intercept).

    The kernel is scaled to a mean variance of one at the centres, each with its weight, and an intercept has
    variance one, so that delta2 is the prior variance of f in units of the probit noise. With fewer centres than
    rows the process is the one that the centres span (Nystroem).

    Parameters
    ----------
    basis : Basis
        Kernels and centres.
    psi : ndarray of shape (n_columns, n_rows)
        Their columns at the training rows, unscaled.
    separate_constant : bool, default=False
        Whether the intercept is a column of its own, outside the process and its scale; the kernels are then
        centred.
    """
    half = independent_features(basis, separate_constant)
    features = half.T @ psi
    spread, rotation, to_kernels = leading_directions(half, features @ features.T)
    columns = rotation.T @ features
    n_fixed = int(basis.intercept and separate_constant)
    if n_fixed:
        columns = np.vstack([np.ones(psi.shape[1]), columns])
    return Directions(np.ascontiguousarray(columns), spread, with_constant(to_kernels, n_fixed), n_fixed)


def with_constant(to_kernels: np.ndarray, n_fixed: int) -> np.ndarray:
    """Put the weight of a separate constant before those of the directions, if there is one."""
    if not n_fixed:
        return np.ascontiguousarray(to_kernels)
    return np.vstack([np.eye(1, to_kernels.shape[1]), to_kernels])


def independent_features(basis: Basis, separate_constant: bool = False) -> np.ndarray:
    """Find what turns columns into features of unit prior variance, shape (n_columns, n_features).

    An intercept is a feature as it is, and comes first, unless it is separate; the kernels are turned into
    principal directions of the kernel between centres.

    Parameters
    ----------
    basis : Basis
        Kernels and centres.
    separate_constant : bool, default=False
        As for :func:`principal_directions`.
    """
    between = basis.columns(basis.centers)[int(basis.intercept) :]
    between = 0.5 * (between + between.T)
    constant = np.zeros(len(between))
    weights = np.ones(len(between)) if basis.weights is None else basis.weights
    if basis.intercept and (separate_constant or basis.emphasis != 1.0):
        # What all kernels have in common is left to the intercept; it would be emphasised above all.
        constant = np.average(between, axis=0, weights=weights)
    kernels = _features_of_kernels(between, constant, weights, basis.emphasis)
    n_fixed = basis.n_fixed
    half = np.zeros((basis.n_columns, n_fixed + kernels.shape[1]))
    half[:n_fixed, :n_fixed] = np.eye(n_fixed)
    half[n_fixed:, n_fixed:] = kernels
    if basis.intercept:
        half[0, n_fixed:] = -constant @ kernels
    return half[:, n_fixed:] if separate_constant else half


def _features_of_kernels(
    between: np.ndarray, constant: np.ndarray, weights: np.ndarray, emphasis: float
) -> np.ndarray:
    """Weights of the kernels that make features of unit prior variance, shape (n_centers, n_features).

    Of the variance that the kernel has along a principal direction, relative to the others, the prior takes the
    power ``emphasis``; the mean variance at the centres is one.
    """
    mean_variance = np.average(np.abs(np.diag(between)), weights=weights)
    if mean_variance <= VANISHING:  # there is nothing to scale up but rounding errors
        return np.zeros((len(between), 0))
    root = np.sqrt(weights)[:, None]
    centred = between - constant - constant[:, None] + np.average(constant, weights=weights)
    found = leading_eigenvectors(centred / mean_variance * root * root.T, emphasis)
    largest = float(found.value.max(initial=0.0))
    kept = found.value > _NUMERICAL_ZERO * max(1.0, largest)
    value, vector = found.value[kept], root * found.vector[:, kept]
    if not len(value):
        return np.zeros((len(between), 0))
    variance = (value / largest) ** emphasis
    mean = found.total / len(between)
    return vector * (np.sqrt(variance) / value) / (np.sqrt(mean) * mean_variance)


def leading_directions(half: np.ndarray, gram: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the directions that matter from the products of the features over all rows.

    Parameters
    ----------
    half : ndarray of shape (n_columns, n_features)
        As :func:`independent_features` finds it.
    gram : ndarray of shape (n_features, n_features)
        Products of the features.

    Returns
    -------
    spread, rotation, to_kernels : ndarray
        The first and the last as in :class:`Directions`; the second turns features into directions.
    """
    spread, left = np.linalg.eigh(gram)
    spread, left = spread[::-1], left[:, ::-1]
    needed = 1 + int(np.searchsorted(-_variance_after(spread), -_NEGLIGIBLE * spread.sum()))
    n_kept = min(needed, MOST, int((spread > _NUMERICAL_ZERO * spread.max(initial=0.0)).sum()))
    rotation = _with_signs(left[:, :n_kept]) / np.sqrt(spread[:n_kept])
    return spread[:n_kept], rotation, rotation.T @ half.T


def _with_signs(vectors: np.ndarray) -> np.ndarray:
    """Turn each vector so that its largest entry is positive: products in another order must not turn it round."""
    downward = np.abs(vectors.min(axis=0, initial=0.0)) > vectors.max(axis=0, initial=0.0)
    return vectors * np.where(downward, -1.0, 1.0)


def _variance_after(spread: np.ndarray) -> np.ndarray:
    """Variance in the directions after each one."""
    return spread.sum() - np.cumsum(spread)
