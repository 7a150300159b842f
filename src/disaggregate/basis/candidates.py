"""The kernels over which the posterior is averaged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from disaggregate.basis.kernels import WITH_WIDTH, Kernel, resolve_kernel

# Before any report is seen, a straight border is about as probable as a curved one. A linear kernel counts as
# much as two wide ones, and one so narrow that it may separate single individuals counts a third of those.
_LINEAR = 6.0
BY_WIDTH = {0.25: 3.0, 1.0: 3.0, 4.0: 1.0}  # by factor of gamma: twice as wide, the usual, half as wide

# Classes tend to follow the main directions in which individuals differ; straight borders do so less often. By
# emphasis, the factor of the odds.
_EMPHASES = {2.0: 1.0}
_EMPHASES_OF_LINEAR = {1.0: 1.0, 2.0: 0.5}


class Candidate(NamedTuple):
    """A kernel, its emphasis (see :class:`disaggregate.basis.Basis`), and its prior odds in any unit."""

    kernel: Kernel
    emphasis: float
    odds: float


def candidate_kernels(
    kernel: Any,
    gamma: Any,
    parameters: Mapping[str, float],
    emphasis: float | str,
    X: np.ndarray,
    of_places: bool = False,
) -> list[Candidate]:
    """List the kernels to average over, from simple to flexible: one, unless something is "auto".

    Parameters
    ----------
    kernel : str or callable
        "average" stands for the linear and the rbf kernel, and so does "auto", but for places.
    gamma : float or str
        "auto" stands for several widths around "scale".
    parameters : mapping
        Other parameters of the kernels, "degree" and "coef0"; by default 3 and 1.
    emphasis : float or str
        "auto" stands for 1 and 2 with the linear kernel, and for 2 with others; for places it is 1.
    X : ndarray of shape (n_rows, n_features)
        Training individuals, from which "scale" is found.
    of_places : bool, default=False
        Whether rows stand for the people of places, as samples or as cells. What curves explains of the
        differences between places is seldom due to the people in them.
    """
    names = _names(kernel, of_places)
    if of_places and isinstance(emphasis, str):
        emphasis = 1.0
    is_open = isinstance(gamma, str) and gamma == "auto"
    degree, coef0 = parameters.get("degree", 3), parameters.get("coef0", 1.0)
    candidates = []
    for name in names:
        settled = resolve_kernel(name, "scale" if is_open else gamma, degree, coef0, X)
        emphases = _emphases(name, emphasis)
        widths = BY_WIDTH if is_open and _has_width(name) else {1.0: _LINEAR}
        candidates += [
            Candidate(replace(settled, gamma=factor * settled.gamma), value, odds * share)
            for factor, odds in widths.items()
            for value, share in emphases.items()
        ]
    return candidates


def _names(kernel: Any, of_places: bool) -> list[Any]:
    if not isinstance(kernel, str) or kernel not in ("auto", "average"):
        return [kernel]
    return ["linear"] if kernel == "auto" and of_places else ["linear", "rbf"]


def _emphases(name: Any, emphasis: float | str) -> dict[float, float]:
    if not isinstance(emphasis, str):
        return {float(emphasis): 1.0}
    return _EMPHASES_OF_LINEAR if name == "linear" else _EMPHASES


def _has_width(name: Any) -> bool:
    return isinstance(name, str) and name in WITH_WIDTH
