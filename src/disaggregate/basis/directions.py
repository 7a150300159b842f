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
    n_fixed = basis.n_fixed
    between = replace(basis, context=False).columns(basis.centers)[int(basis.intercept) :]
    between = 0.5 * (between + between.T)
    mean_variance = np.abs(np.diag(between)).mean()
    is_there = mean_variance > VANISHING  # else there is nothing to scale up but rounding errors
    scale = mean_variance if is_there else 1.0
    value, vector = np.linalg.eigh(between / scale if is_there else np.zeros_like(between))
    kept = value > _NUMERICAL_ZERO * value.max(initial=0.0)
    half = vector[:, kept] / np.sqrt(value[kept]) / scale  # kernels to features of unit prior variance
    features = np.vstack([psi[:n_fixed], half.T @ psi[n_fixed:]])
    spread, left = np.linalg.eigh(features @ features.T)
    spread, left = spread[::-1], left[:, ::-1]
    needed = 1 + int(np.searchsorted(-_variance_after(spread), -_NEGLIGIBLE * spread.sum()))
    n_kept = min(needed, _MOST, int((spread > _NUMERICAL_ZERO * spread.max(initial=0.0)).sum()))
    rotation = left[:, :n_kept] / np.sqrt(spread[:n_kept])
    to_kernels = np.hstack([rotation[:n_fixed].T, rotation[n_fixed:].T @ half.T])
    return Directions(np.ascontiguousarray(rotation.T @ features), spread[:n_kept], to_kernels)


def _variance_after(spread: np.ndarray) -> np.ndarray:
    """Variance in the directions after each one."""
    return spread.sum() - np.cumsum(spread)
