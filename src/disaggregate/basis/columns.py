"""The columns Psi: one per kernel centre, after the intercept when there is one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from disaggregate.basis.kernels import Kernel

# A kernel that is almost zero at every training row cannot be learned about, so it is never active.
VANISHING = 1e-100


@dataclass(frozen=True)
class Basis:
    """Basis functions psi_k(x) = K(x, c_k), eq. (2).

    Attributes
    ----------
    kernel : Kernel
        The kernel function.
    centers : ndarray of shape (n_centers, n_features)
        Its centres.
    intercept : bool
        Whether column 0 is a constant that is always active.
    context : bool
        Whether the average features of a person's group have columns too, after the constant; see
        :class:`disaggregate.groups.context.Context`.
    emphasis : float
        How much the prior of dense weights favours the main directions in which individuals differ: the power to
        which it takes the kernel's variance along each. One is the Gaussian process with this kernel.
    weights : ndarray of shape (n_centers,) or None
        What each centre stands for among the individuals, on average 1; None for all alike. A Gaussian process is
        centred and scaled by it; what it has learned no longer depends on it.
    """

    kernel: Kernel
    centers: np.ndarray
    intercept: bool
    context: bool = False
    emphasis: float = 1.0
    weights: np.ndarray | None = None

    @property
    def n_columns(self) -> int:
        """Number of columns, those that are no kernels included."""
        return len(self.centers) + self.n_fixed

    @property
    def n_fixed(self) -> int:
        """Number of columns before those of the kernels: the constant, and those of the context."""
        return int(self.intercept) + (self._n_features if self.context else 0)

    @property
    def _n_features(self) -> int:
        return self.centers.shape[1]

    def columns(self, X: np.ndarray, wanted: np.ndarray | None = None) -> np.ndarray:
        """Columns at the rows of ``X``, transposed: shape (n_columns, n_rows).

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features) or (n_rows, 2 * n_features)
            Where to evaluate the basis functions: features, and after them the context, if there is any.
        wanted : ndarray of int, optional
            Compute only these columns, in this order.
        """
        wanted = np.arange(self.n_columns) if wanted is None else wanted
        psi = np.ones((len(wanted), len(X)))
        center = wanted - self.n_fixed
        is_kernel = center >= 0
        is_context = ~is_kernel & (wanted >= int(self.intercept))
        psi[is_context] = X[:, self._n_features + wanted[is_context] - int(self.intercept)].T
        if is_kernel.any():
            psi[is_kernel] = self.kernel.matrix(X[:, : self._n_features], self.centers[center[is_kernel]]).T
        if not np.isfinite(psi).all():
            raise ValueError(
                "the kernel gives infinite or NaN values on these features; scale them first (for instance "
                "with StandardScaler), check gamma, degree and coef0, or use a kernel that does not grow "
                "without bound, such as 'rbf'."
            )
        return psi


def unit_columns(psi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scale columns to unit mean square; return them and what each was divided by.

    The prior of the weights, eq. (5), does not feel the scale of a column; arithmetic does.

    Parameters
    ----------
    psi : ndarray of shape (n_columns, n_rows)
        Columns at the training rows.
    """
    scales = _root_mean_square(psi)
    vanishing = scales < VANISHING
    scales[vanishing] = 1.0
    scaled = psi / scales[:, None]
    scaled[vanishing] = 0.0
    return scaled, scales


def _root_mean_square(psi: np.ndarray) -> np.ndarray:
    """Root mean square of each column, without overflow or underflow of the squares."""
    largest = np.abs(psi).max(axis=1)
    largest[largest == 0.0] = 1.0
    return largest * np.sqrt(np.mean((psi / largest[:, None]) ** 2, axis=1))
