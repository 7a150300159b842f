"""Dense weights: the Gaussian process on the same kernels, as a few orthonormal columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from disaggregate.basis.columns import VANISHING, Basis

# Directions that together hold less than this share of the prior variance are left out.
_NEGLIGIBLE = 1e-3

# No more than this many are kept, those of the largest variance: what is beyond them varies too fast from one
# individual to the next for reports on groups to tell anything about it.
_MOST = 300

# Eigenvalues of the kernel between centres below this share of the largest are noise.
_NUMERICAL_ZERO = 1e-10


@dataclass(frozen=True)
class Directions:
    """Orthonormal columns with independent weights, in place of correlated kernels.

    Attributes
    ----------
    columns : ndarray of shape (n_directions, n_rows)
        Orthonormal columns at the training rows.
    spread : ndarray of shape (n_directions,)
        Prior variance of each column's weight in units of delta2.
    to_kernels : ndarray of shape (n_directions, n_columns of the basis)
        Turns weights of the directions into weights of the basis, the kernels last.
    """

    columns: np.ndarray
    spread: np.ndarray
    to_kernels: np.ndarray


def principal_directions(basis: Basis, psi: np.ndarray) -> Directions:
    """Principal directions of the Gaussian process with covariance delta2 (K / mean diagonal + intercept).

    The kernel is scaled to a mean variance of one at the centres, and an intercept has variance one, so that
    delta2 is the prior variance of f in units of the probit noise. The weights of a context have variance one
    too. With fewer centres than rows the process is the one that the centres span (Nystroem).

    Parameters
    ----------
    basis : Basis
        Kernels and centres.
    psi : ndarray of shape (n_columns, n_rows)
        Their columns at the training rows, unscaled.
    """
    half = independent_features(basis)
    features = features_at(basis, half, psi)
    spread, rotation, to_kernels = leading_directions(basis, half, features @ features.T)
    return Directions(np.ascontiguousarray(rotation.T @ features), spread, to_kernels)


def independent_features(basis: Basis) -> np.ndarray:
    """Find what turns kernels into features of unit prior variance, shape (n_centers, n_features)."""
    between = replace(basis, context=False).columns(basis.centers)[int(basis.intercept) :]
    between = 0.5 * (between + between.T)
    mean_variance = np.abs(np.diag(between)).mean()
    is_there = mean_variance > VANISHING  # else there is nothing to scale up but rounding errors
    scale = mean_variance if is_there else 1.0
    value, vector = np.linalg.eigh(between / scale if is_there else np.zeros_like(between))
    kept = value > _NUMERICAL_ZERO * value.max(initial=0.0)
    return vector[:, kept] / np.sqrt(value[kept]) / scale


def features_at(basis: Basis, half: np.ndarray, psi: np.ndarray) -> np.ndarray:
    """Features at the rows of some columns, those that are no kernels first, shape (n_features, n_rows)."""
    n_fixed = basis.n_fixed
    return np.vstack([psi[:n_fixed], half.T @ psi[n_fixed:]])


def leading_directions(
    basis: Basis, half: np.ndarray, gram: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the directions that matter from the products of the features over all rows.

    Parameters
    ----------
    basis : Basis
        Kernels and centres.
    half : ndarray of shape (n_centers, n_features)
        As :func:`independent_features` finds it.
    gram : ndarray of shape (n_features, n_features)
        Products of the features, those that are no kernels included.

    Returns
    -------
    spread, rotation, to_kernels : ndarray
        The first and the last as in :class:`Directions`; the second turns features into directions.
    """
    n_fixed = basis.n_fixed
    spread, left = np.linalg.eigh(gram)
    spread, left = spread[::-1], left[:, ::-1]
    needed = 1 + int(np.searchsorted(-_variance_after(spread), -_NEGLIGIBLE * spread.sum()))
    n_kept = min(needed, _MOST, int((spread > _NUMERICAL_ZERO * spread.max(initial=0.0)).sum()))
    rotation = left[:, :n_kept] / np.sqrt(spread[:n_kept])
    to_kernels = np.hstack([rotation[:n_fixed].T, rotation[n_fixed:].T @ half.T])
    return spread[:n_kept], rotation, to_kernels


def _variance_after(spread: np.ndarray) -> np.ndarray:
    """Variance in the directions after each one."""
    return spread.sum() - np.cumsum(spread)
