"""Objects as plain data and back: numbers, texts, collections, arrays, and a closed list of our own classes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from disaggregate.saving.archive import ArchiveError

_DEEPEST = 50
_MOST_CHARACTERS = 2**20
_LARGEST_ID = 2**64
_LONGEST = 200  # characters of an error message about a file from others


class Unsavable(TypeError):
    """Something that has no form as plain data; the message says what to do."""


class Writer:
    """Turn objects into plain data, and collect the arrays on the way.

    Parameters
    ----------
    classes : mapping from str to class
        The dataclasses that may occur, by the name that stands for them in the file.
    """

    def __init__(self, classes: Mapping[str, type]) -> None:
        self._name_of = {kind: name for name, kind in classes.items()}
        self.arrays: dict[str, np.ndarray] = {}

    def write(self, value: Any) -> Any:
        """Return the plain form of a value."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"$float": str(value)}
        if isinstance(value, (list, tuple)):
            items = [self._write_bounded(item) for item in value]
            return {"$tuple" if isinstance(value, tuple) else "$list": items}
        if isinstance(value, dict):
            return {"$dict": [[self._write_bounded(key), self.write(item)] for key, item in value.items()]}
        return self._write_object(value)

    def _write_bounded(self, value: Any) -> Any:
        if isinstance(value, int) and abs(value) >= _LARGEST_ID:
            raise Unsavable(f"the whole number {str(value)[:30]} is too large for an id. Make such ids texts.")
        return self.write(value)

    def _write_object(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return self._write_array(value)
        if isinstance(value, csr_array):
            parts = {name: self._write_array(getattr(value, name)) for name in ("data", "indices", "indptr")}
            return {"$csr": {**parts, "shape": list(value.shape)}}
        if type(value) in self._name_of:
            fields = {field.name: self.write(getattr(value, field.name)) for field in dataclasses.fields(value)}
            return {"$class": self._name_of[type(value)], "fields": fields}
        if callable(value):
            raise Unsavable(
                f"{value!r} is code, which files do not store. Use a kernel by its name (such as kernel='rbf'), "
                "or keep the model in memory."
            )
        raise Unsavable(
            f"{value!r} of type {type(value).__name__} cannot be saved. Group ids must be numbers or texts."
        )

    def _write_array(self, array: np.ndarray) -> Any:
        if array.dtype.kind in "OUS":
            fixed = {"fixed": True} if array.dtype.kind == "U" else {}
            return {"$texts": [self.write(item) for item in array.tolist()], **fixed}
        name = next((name for name, known in self.arrays.items() if known is array), str(len(self.arrays)))
        self.arrays[name] = array
        return {"$array": name}


class Reader:
    """Turn plain data into objects.

    Parameters
    ----------
    classes : mapping from str to class
        The only classes that are ever made.
    arrays : mapping from str to ndarray
        The arrays of the file.
    """

    def __init__(self, classes: Mapping[str, type], arrays: Mapping[str, np.ndarray]) -> None:
        self._classes = classes
        self._arrays = arrays

    def read(self, data: Any, depth: int = 0) -> Any:
        """Return the object of a plain form, or raise ArchiveError."""
        if depth > _DEEPEST:
            raise ArchiveError("the file is damaged: its description is nested too deeply.")
        if data is None or isinstance(data, (bool, int, float, str)):
            return data
        if not isinstance(data, dict) or not data:
            raise ArchiveError(f"the file is damaged: {type(data).__name__} where an object was expected.")
        try:
            return self._read_object(data, depth + 1)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            if isinstance(error, ArchiveError):
                raise
            raise ArchiveError(f"the file is damaged: {str(error)[:_LONGEST]}.") from error

    def _read_object(self, data: dict[str, Any], depth: int) -> Any:
        kind, content = next(iter(data.items()))
        if kind == "$float":
            return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[content]
        if kind in ("$list", "$tuple"):
            items = [_bounded(self.read(item, depth)) for item in content]
            return items if kind == "$list" else tuple(items)
        if kind == "$dict":
            return {_bounded(self.read(key, depth)): self.read(item, depth) for key, item in content}
        if kind == "$array":
            return self._arrays[content]
        if kind == "$texts":
            texts = np.empty(len(content), dtype=object)
            texts[:] = [self.read(item, depth) for item in content]
            return texts.astype(np.str_) if _is_fixed(data, texts) else texts
        if kind == "$csr":
            return self._read_sparse(content, depth)
        return self._read_class(data, depth)

    def _read_sparse(self, content: dict[str, Any], depth: int) -> csr_array:
        values, indices, starts = (self.read(content[name], depth) for name in ("data", "indices", "indptr"))
        for part, kinds in ((values, "f"), (indices, "i"), (starts, "i")):
            if not isinstance(part, np.ndarray) or part.ndim != 1 or part.dtype.kind not in kinds:
                raise ArchiveError("the file is damaged: a sparse array has invalid parts.")
        n_rows, n_columns = (int(length) for length in content["shape"])
        # Checked here, as scipy's own check lets some through that make its compiled code read where it must not.
        are_starts = len(starts) == n_rows + 1 and starts[0] == 0 and (starts[1:] >= starts[:-1]).all()
        are_inside = ((indices >= 0) & (indices < n_columns)).all()
        if not (are_starts and are_inside and starts[-1] == len(indices) == len(values)):
            raise ArchiveError("the file is damaged: a sparse array has indices out of range.")
        return csr_array((values, indices, starts), shape=(n_rows, n_columns))

    def _read_class(self, data: dict[str, Any], depth: int) -> Any:
        if set(data) != {"$class", "fields"} or data["$class"] not in self._classes:
            raise ArchiveError(
                f"the file holds {data.get('$class', list(data))!r}, which this version does not know."
            )
        kind = self._classes[data["$class"]]
        return kind(**{name: self.read(item, depth) for name, item in data["fields"].items()})


def _bounded(value: Any) -> Any:
    """Refuse whole numbers that no id has: as keys, thousands of them can be made to share one hash."""
    if isinstance(value, int) and abs(value) >= _LARGEST_ID:
        raise ArchiveError("the file is damaged: an id has too many digits.")
    return value


def _is_fixed(data: dict[str, Any], texts: np.ndarray) -> bool:
    """Return whether an array had texts of one width, and none that would take much more room so than it did."""
    known = texts.ndim == 1 and all(isinstance(text, str) for text in texts)
    widest = max(map(len, texts), default=0) if known else 0
    return data.get("fixed") is True and known and widest * len(texts) <= _MOST_CHARACTERS
