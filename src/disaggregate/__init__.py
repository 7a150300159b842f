"""Learn about individuals from group statistics.

Data pass through the folders in this order: ``tables`` (files and dataframes become columns), ``groups`` (rows are
sorted by group, reports become likelihoods), ``basis`` (kernels and their centres), ``model`` (the equations),
``sampler`` (Markov chains), ``posterior`` (draws, diagnostics, predictions). ``parallel`` says where chains run,
``fitting`` compares kernels and runs the chains, ``storage`` and ``saving`` write files, and ``estimator`` puts
these together. ``analysis`` answers an analyst's questions, ``images`` makes groups of annotated pictures,
``experiments`` are those of the paper, and ``plots``, ``report``, ``web`` and ``cli`` show the results. Imports go
one way only; a test has the list.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

from disaggregate.old_modules import find_old_modules

if TYPE_CHECKING:
    from disaggregate import datasets, evidence, images, plots, privacy
    from disaggregate.analysis import Analysis, fit_tables, load
    from disaggregate.estimator import GroupStatsClassifier
    from disaggregate.groups import group_target
    from disaggregate.settings import GaussianProcess, SpikeSlab, published_settings

logging.getLogger(__name__).addHandler(logging.NullHandler())  # the application decides what is shown
find_old_modules()

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
