"""The two kernels that rivals choose between, scaled so that standardised features give values near 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

Kernel = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _linear(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return linear_kernel(first, second) / first.shape[1]


KERNELS: dict[str, Kernel] = {"linear": _linear, "rbf": rbf_kernel}  # rbf has gamma = 1 / n_features
