"""Refuses, before any work, what no sampler supports, and says what to do instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from disaggregate.groups import GroupedData
from disaggregate.groups.outcomes import GroupedOutcomes
from disaggregate.settings import is_sparse

# Intercepts of groups, over all scores of several outcomes, that are weights of their own.
_MOST_OFFSETS = 2000


def require_supported(settings: Mapping[str, Any], data: GroupedData, has_places: bool) -> None:
    """Raise ValueError unless a model with these settings can be fitted to these reports.

    Parameters
    ----------
    settings : mapping
        Constructor arguments of the classifier.
    data : GroupedData
        What the groups report.
    has_places : bool
        Whether groups have intercepts of their own.
    """
    if is_sparse(settings):
        _require_for_sparse(data)
    if isinstance(data, GroupedOutcomes):
        _require_for_outcomes(settings, data, has_places)


def _require_for_sparse(data: GroupedData) -> None:
    """Refuse what spike and slab has no sampler for."""
    if any(getattr(known, "learns_confidence", False) for known in data.evidence):
        raise ValueError('confidence="auto" needs prior="gaussian_process"; give a number with spike and slab.')
    if data.counts is not None and (data.counts > 1).any():
        raise ValueError(
            'counts need prior="gaussian_process"; spike and slab is the model of 2005, of single people.'
        )
    if any(population is not None for population in data.populations):
        raise ValueError(
            'Population needs prior="gaussian_process"; spike and slab is the model of 2005, whose reports '
            "describe the rows themselves."
        )


def _require_for_outcomes(settings: Mapping[str, Any], data: GroupedOutcomes, has_places: bool) -> None:
    """Refuse what is not yet supported for more than two outcomes."""
    if is_sparse(settings):
        raise ValueError(
            'Only binary classification is supported with prior="spike_slab", the model of 2005; there are '
            f'{len(data.outcomes)} outcomes. Use prior="gaussian_process".'
        )
    if settings["n_replicas"] not in (None, 1):
        raise ValueError(
            "n_replicas is not yet supported for more than two outcomes: kernels are compared by the modes of "
            "their posteriors; use n_replicas=None."
        )
    if isinstance(settings["confidence"], str):
        raise ValueError('confidence="auto" is not yet supported for more than two outcomes; give a number.')
    n_offsets = len(data.names) * (len(data.outcomes) - 1)
    if has_places and n_offsets > _MOST_OFFSETS:
        raise ValueError(
            f"group_effects are not yet supported for {len(data.names)} groups with {len(data.outcomes)} "
            f"outcomes, which make more than {_MOST_OFFSETS} intercepts; use group_effects=False, or join groups."
        )


def require_no_counts(counts: np.ndarray | None) -> None:
    """Refuse counts beside labels."""
    if counts is not None:
        raise ValueError("counts need groups: a label belongs to one person.")


def require_known_confidence(data: GroupedData) -> None:
    """Refuse a confidence that is to be learned, where data are in partitions."""
    if any(known.learns_confidence for known in data.evidence):
        raise ValueError(
            'confidence="auto" is not yet supported for data in partitions, of more than 50,000 rows; give a '
            "number, such "
            "as what a fit of some of the groups finds in posterior_.confidence."
        )
