"""The kernels among which the evidence chooses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from disaggregate.basis.kernels import Kernel, resolve_kernel

# Widths beside the usual one, as factors of gamma: twice as wide, and half as wide.
_FACTORS = (0.25, 1.0, 4.0)


def candidate_kernels(kernel: Any, gamma: Any, degree: float, coef0: float, X: np.ndarray) -> list[Kernel]:
    """List the kernels to compare, from simple to flexible: one, unless ``kernel`` or ``gamma`` is "auto".

    Parameters
    ----------
    kernel : str or callable
        "auto" stands for the linear and the rbf kernel.
    gamma : float or str
        "auto" stands for several widths around "scale".
    degree, coef0 : float
        Other parameters of the kernels.
    X : ndarray of shape (n_rows, n_features)
        Training individuals, from which "scale" is found.
    """
    names = ["linear", "rbf"] if isinstance(kernel, str) and kernel == "auto" else [kernel]
    is_open = isinstance(gamma, str) and gamma == "auto"
    kernels = []
    for name in names:
        settled = resolve_kernel(name, "scale" if is_open else gamma, degree, coef0, X)
        factors = _FACTORS if is_open and _has_width(name) else (1.0,)
        kernels += [replace(settled, gamma=factor * settled.gamma) for factor in factors]
    return kernels


def _has_width(name: Any) -> bool:
    return name in ("rbf", "laplacian", "poly", "polynomial", "sigmoid", "chi2")
