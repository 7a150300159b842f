"""The kernels over which the posterior is averaged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from disaggregate.basis.kernels import Kernel, resolve_kernel

# Before any report is seen, a straight border is about as probable as a curved one. A linear kernel counts as
# much as two wide ones, and one so narrow that it may tell individuals apart one by one counts a third of those.
_LINEAR = 6.0
_BY_WIDTH = {0.25: 3.0, 1.0: 3.0, 4.0: 1.0}  # by factor of gamma: twice as wide, the usual, half as wide


class Candidate(NamedTuple):
    """A kernel, and its prior odds in any unit."""

    kernel: Kernel
    odds: float


def candidate_kernels(kernel: Any, gamma: Any, degree: float, coef0: float, X: np.ndarray) -> list[Candidate]:
    """List the kernels to average over, from simple to flexible: one, unless ``kernel`` or ``gamma`` is "auto".

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
    candidates = []
    for name in names:
        settled = resolve_kernel(name, "scale" if is_open else gamma, degree, coef0, X)
        if is_open and _has_width(name):
            widths = [
                Candidate(replace(settled, gamma=factor * settled.gamma), odds)
                for factor, odds in _BY_WIDTH.items()
            ]
            candidates += widths
        else:
            candidates.append(Candidate(settled, _LINEAR))
    return candidates


def _has_width(name: Any) -> bool:
    return name in ("rbf", "laplacian", "poly", "polynomial", "sigmoid", "chi2")
