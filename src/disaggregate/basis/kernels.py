"""Kernel functions K(x, c): those of scikit-learn, some more by name, or the caller's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, TypeGuard

import numpy as np
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, euclidean_distances, pairwise_kernels

KernelFunction = Callable[[np.ndarray, np.ndarray], np.ndarray]


def matern32(X: np.ndarray, centers: np.ndarray, gamma: float) -> np.ndarray:
    """Matérn kernel of smoothness 3/2; its length scale is that of the rbf kernel, gamma = 1 / (2 length^2)."""
    distance = math.sqrt(6.0 * gamma) * euclidean_distances(X, centers)
    return (1.0 + distance) * np.exp(-distance)


def matern52(X: np.ndarray, centers: np.ndarray, gamma: float) -> np.ndarray:
    """Matérn kernel of smoothness 5/2; its length scale is that of the rbf kernel, too."""
    distance = math.sqrt(10.0 * gamma) * euclidean_distances(X, centers)
    return (1.0 + distance + distance**2 / 3.0) * np.exp(-distance)


# Named kernels besides those of scikit-learn: functions of rows, centres and gamma.
MORE_KERNELS: dict[str, Callable[[np.ndarray, np.ndarray, float], np.ndarray]] = {
    "matern32": matern32,
    "matern52": matern52,
}
NAMES = frozenset(PAIRWISE_KERNEL_FUNCTIONS) | frozenset(MORE_KERNELS)

# Their gamma is a width, which ``gamma="auto"`` may choose.
WITH_WIDTH = frozenset({"rbf", "laplacian", "poly", "polynomial", "sigmoid", "chi2", "matern32", "matern52"})

# They depend on differences only, which keep their digits where features are far from zero if these are shifted.
_OF_DIFFERENCES = frozenset({"rbf", "matern32", "matern52"})


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters settled.

    Parameters
    ----------
    name : str or callable
        A name that ``sklearn.metrics.pairwise.pairwise_kernels`` knows, one of ``MORE_KERNELS``, or a function
        of two matrices, (n, d) and (m, d), that returns their (n, m) kernel matrix.
    gamma, degree, coef0 : float
        Parameters of the named kernels; those that a kernel does not have are ignored.
    origin : ndarray of shape (n_features,) or float, default=0.0
        Subtracted from rows and centres where the kernel depends on differences only.
    """

    name: str | KernelFunction
    gamma: float
    degree: float
    coef0: float
    origin: np.ndarray | float = 0.0

    def matrix(self, X: np.ndarray, centers: np.ndarray) -> np.ndarray:
        """Kernel of every row of ``X`` with every centre, shape (n, m)."""
        if callable(self.name):
            return self._own_matrix(self.name, X, centers)
        with np.errstate(over="ignore", invalid="ignore"):
            shift = self.origin if self.name in _OF_DIFFERENCES else 0.0
            if self.name in MORE_KERNELS:
                return MORE_KERNELS[self.name](X - shift, centers - shift, self.gamma)
            return pairwise_kernels(
                X - shift,
                centers - shift,
                metric=self.name,
                filter_params=True,
                gamma=self.gamma,
                degree=self.degree,
                coef0=self.coef0,
            )

    @staticmethod
    def _own_matrix(function: KernelFunction, X: np.ndarray, centers: np.ndarray) -> np.ndarray:
        matrix = np.asarray(function(X, centers), dtype=np.float64)
        if matrix.shape != (len(X), len(centers)):
            raise ValueError(
                f"kernel must be a function of two matrices that returns shape {(len(X), len(centers))}, "
                f"got {matrix.shape}; for a function of two rows use "
                "functools.partial(pairwise_kernels, metric=your_function)."
            )
        return matrix


def resolve_kernel(
    kernel: str | KernelFunction,
    gamma: float | Literal["scale"],
    degree: float,
    coef0: float,
    X: np.ndarray,
) -> Kernel:
    """Check the kernel's parameters and settle ``gamma="scale"`` from the data.

    ``"scale"`` is 1 / (number of features * variance of X), as for scikit-learn's SVC.
    """
    if not callable(kernel) and not (isinstance(kernel, str) and kernel in NAMES):
        names = ", ".join(sorted(NAMES))
        raise ValueError(f"kernel must be a callable or one of {names}; got {kernel!r}.")
    is_scale = isinstance(gamma, str) and gamma == "scale"
    if not is_scale and not (_is_finite(gamma) and gamma > 0):
        raise ValueError(f'gamma must be a positive number or "scale", got {gamma!r}.')
    for name, value in (("degree", degree), ("coef0", coef0)):
        if not _is_finite(value):
            raise ValueError(f"{name} must be a finite number, got {value!r}.")
    with np.errstate(over="ignore", invalid="ignore"):
        width = _scale_gamma(X) if is_scale else float(gamma)
        return Kernel(kernel, width, degree, coef0, origin=X.mean(axis=0))


def _is_finite(value: Any) -> TypeGuard[float]:
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _scale_gamma(X: np.ndarray) -> float:
    spread = X.shape[1] * X.var()
    # A variance whose inverse overflows counts as 0.
    return 1.0 / spread if np.finfo(np.float64).tiny <= spread < np.inf else 1.0
