"""Refuses, before any work, what is not supported for more than two outcomes."""

from __future__ import annotations

from typing import Any


def require_two_outcomes(model: Any, what: str, instead: str) -> None:
    """Refuse a model of more than two outcomes.

    Parameters
    ----------
    model : GroupStatsClassifier or Analysis
        Fitted.
    what : str
        The name that was given.
    instead : str
        What to use.
    """
    classifier = getattr(model, "classifier", model)
    if len(classifier.classes_) > 2:
        raise ValueError(f"{what} is not yet for more than two outcomes; use {instead}.")
