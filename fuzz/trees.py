"""Forges what a checkpoint holds, as one would who can write such files: every checksum is right.

So each forgery comes to the checks of types, shapes and sizes, or past them.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from fuzz.choices import ODD_NUMBERS, Choices

_LENGTHS = (0, 1, 2, 3, 7, 64, 1000)
_KINDS = (np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_)


def forged_tree(tree: dict[str, Any], choices: Choices) -> dict[str, Any]:
    """Change a checkpoint's content in one to three places.

    Parameters
    ----------
    tree : dict
        What a good checkpoint holds.
    choices : Choices
        Say what to change, and how.
    """
    changed = copy.deepcopy(tree)
    for _ in range(1 + choices.below(3)):
        ways = _ways(changed)
        way = choices.one_of(ways)
        parent, key = _at(changed, way)
        parent[key] = _other(parent[key], choices, changed, ways)
    return changed


def _ways(node: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """List the ways to all parts that can be exchanged."""
    found = [way] if way else []
    if isinstance(node, dict):
        items: Any = node.items()
    else:
        items = enumerate(node) if isinstance(node, list) else ()
    for key, part in items:
        found += _ways(part, (*way, key))
    return found


def _at(tree: Any, way: tuple[Any, ...]) -> tuple[Any, Any]:
    for key in way[:-1]:
        tree = tree[key]
    return tree, way[-1]


def _other(value: Any, choices: Choices, tree: Any, ways: list[tuple[Any, ...]]) -> Any:
    """Make something else of a value: of another form, with other numbers, or a part from elsewhere."""
    how = choices.below(8)
    if how == 0:
        parent, key = _at(tree, choices.one_of(ways))
        return copy.deepcopy(parent[key])
    if how == 1:
        return choices.one_of((None, [], {}, "", True, 0, -1, 2**63, float("nan")))
    if isinstance(value, np.ndarray):
        return _other_array(value, choices)
    if isinstance(value, list):
        return value * 2 if how == 2 else value[: choices.below(len(value) + 1)]
    if isinstance(value, int) and how < 5:
        return value + choices.one_of((1, -1, 2, 1000, -1000))
    return choices.one_of(ODD_NUMBERS) if isinstance(value, (int, float)) else value


def _other_array(array: np.ndarray, choices: Choices) -> np.ndarray:
    how = choices.below(6)
    if how == 0 and array.ndim:
        axis = choices.below(array.ndim)
        shape = list(array.shape)
        shape[axis] = choices.one_of(_LENGTHS)
        return np.resize(array, shape) if array.size else np.zeros(shape, array.dtype)
    if how == 1:
        with np.errstate(invalid="ignore"):
            return array.astype(choices.one_of(_KINDS))
    if how == 2:
        return array.reshape(-1) if array.ndim != 1 else array.reshape(-1, 1)
    if how == 3:
        return np.ascontiguousarray(array.T)
    changed = array.copy()
    if changed.size:
        flat = changed.reshape(-1)
        for _ in range(1 + choices.below(3)):
            place = choices.below(flat.size)
            if flat.dtype.kind in "iu":
                odd_whole = (-1, 0, 1, 2, 9, 1000, 2**31, -(2**62), int(flat[place]) + 1)
                flat[place] = np.array(choices.one_of(odd_whole)).astype(
                    flat.dtype
                )  # as it comes out, if too large
            elif flat.dtype.kind == "f":
                odd = (0.0, -1.0, 1.0, 1e-300, 1e99, 1e200, -1e308, np.nan, np.inf, -np.inf, -float(flat[place]))
                flat[place] = choices.one_of(odd)
            else:
                flat[place] = not flat[place]
    return changed
