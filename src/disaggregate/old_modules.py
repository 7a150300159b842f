"""Modules of release 0.1 that have moved: imports of what its reference listed work, with a FutureWarning."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_MOVED = {
    "disaggregate.choice": {"KernelScore": "disaggregate.posterior.kernel_score"},
    "disaggregate.folder_analysis": {
        "fit_folder": "disaggregate.analysis",
        "predict_folder": "disaggregate.analysis",
    },
    "disaggregate.posterior.contrasts": {"contrast": "disaggregate.analysis"},
    "disaggregate.posterior.effects": {
        "avg_comparisons": "disaggregate.analysis",
        "avg_slopes": "disaggregate.analysis",
        "permutation_importance": "disaggregate.analysis",
        "predictions": "disaggregate.analysis",
    },
    "disaggregate.posterior.identification": {"between_group_share": "disaggregate.analysis.identification"},
    "disaggregate.sensitivity": {"subgroup_sensitivity": "disaggregate.analysis"},
}


def find_old_modules() -> None:
    """Let imports find modules of release 0.1 under their old names; nothing is loaded until one is used."""
    if _Finder not in sys.meta_path:
        sys.meta_path.append(_Finder)


class _Finder:
    """Makes the modules; it is asked only for names that nothing else finds."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        loader: Any = _Loader  # importing importlib.abc, for a subclass, would slow down every start
        return ModuleSpec(name, loader) if name in _MOVED else None


class _Loader:
    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType | None:
        return None

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        moved = _MOVED[module.__name__]

        def moved_name(name: str) -> Any:
            if name not in moved:
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
            warnings.warn(
                f"{module.__name__}.{name} has moved: import {name} from {moved[name]}. "
                "Version 0.4 removes the old module.",
                FutureWarning,
                stacklevel=2,
            )
            return getattr(import_module(moved[name]), name)

        module.__dict__["__getattr__"] = moved_name
