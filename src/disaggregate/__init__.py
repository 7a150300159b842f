"""Learn about individuals from group statistics.

The way of the data is the list of folders: ``tables`` (files and dataframes become columns), ``groups``
(rows sorted by group, and what is known of each group), ``basis`` (kernels and their centres), ``sampler``
(the Markov chains), ``parallel`` (where they run), ``posterior`` (what comes out). ``choice`` weighs kernels,
``fitting`` runs them, ``saving`` keeps them, and ``estimator`` puts them together; ``analysis`` is what an analyst
asks, ``images`` makes groups of annotated pictures, ``experiments`` are those of the paper, ``plots``, ``report``
and ``cli`` show the results. Imports go one way only; the test of their order has the list.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from disaggregate import datasets, evidence, images, plots, privacy
    from disaggregate.analysis import Analysis, fit_tables, load
    from disaggregate.estimator import GroupStatsClassifier
    from disaggregate.groups import group_target
    from disaggregate.settings import GaussianProcess, SpikeSlab, published_settings

logging.getLogger(__name__).addHandler(logging.NullHandler())  # the application decides what is shown

__version__: str  # that of the installed package, which pyproject.toml names

__all__ = [
    "Analysis",
    "GaussianProcess",
    "GroupStatsClassifier",
    "SpikeSlab",
    "datasets",
    "evidence",
    "fit_tables",
    "group_target",
    "images",
    "load",
    "plots",
    "privacy",
    "published_settings",
]

# Loaded when first used, so that the command line answers at once.
_WHERE = {
    "Analysis": ("disaggregate.analysis", "Analysis"),
    "GaussianProcess": ("disaggregate.settings", "GaussianProcess"),
    "GroupStatsClassifier": ("disaggregate.estimator", "GroupStatsClassifier"),
    "SpikeSlab": ("disaggregate.settings", "SpikeSlab"),
    "datasets": ("disaggregate.datasets", None),
    "evidence": ("disaggregate.evidence", None),
    "fit_tables": ("disaggregate.analysis", "fit_tables"),
    "group_target": ("disaggregate.groups.target", "group_target"),
    "images": ("disaggregate.images", None),
    "load": ("disaggregate.analysis", "load"),
    "plots": ("disaggregate.plots", None),
    "privacy": ("disaggregate.privacy", None),
    "published_settings": ("disaggregate.settings", "published_settings"),
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("disaggregate")
    if name not in _WHERE:
        raise AttributeError(f"module 'disaggregate' has no attribute {name!r}")
    module, attribute = _WHERE[name]
    loaded = import_module(module)
    return loaded if attribute is None else getattr(loaded, attribute)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
