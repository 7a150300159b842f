"""How it was done: method, settings and versions; the same words in every report."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from disaggregate.report.elements import Element, Heading, Notes, Text
from disaggregate.report.limits import limits_of_equal_features
from disaggregate.report.tables import as_table

if TYPE_CHECKING:
    from disaggregate.analysis import Analysis

_METHOD = (
    "No person's own label is known, only what each group reported. The model gives every person a score f that "
    "depends smoothly on the features, and a probability Φ(f) of the outcome, Φ being the normal distribution "
    "function. How many in a group have it follows from the probabilities of its members, and how well that "
    "agrees with the report is the likelihood. Scores that make the reports probable get more weight; where the "
    "reports allow several explanations, all of them are part of the answer.",
    "The score is a weighted sum of kernels: by default a Gaussian process on these kernels; where several are "
    "compared, it is averaged over them by how probable each makes the reports; with spike and slab few kernels "
    "are active at a time. The answer is a sample of scores drawn by Markov chains, each of which may be a ladder "
    "of replicas that give the reports less and less weight, so that a chain does not stay in one explanation. "
    "Chains start at different points; R-hat compares them, and the effective draws show how precise results are.",
    "Shares, effects and their intervals are computed in every draw and summarised after that, so that they carry "
    "the whole uncertainty of the model: an interval of 90% contains the truth with probability 0.9, if the model "
    "is right. What cannot be checked from group results: ",
)
_OF_OUTCOMES = (
    "No person's own label is known, only what each group reported. The model gives every person a score for each "
    "outcome, which depends smoothly on the features, and the probabilities follow from the scores (softmax). How "
    "many in a group have each outcome follows from the probabilities of its members, and how well that agrees "
    "with the report is the likelihood. Scores that make the reports probable get more weight; where the reports "
    "allow several explanations, all of them are part of the answer."
)
_OF_A_SAMPLE = (
    "Here the results describe whole groups, of which the people are a sample. What people a group has is seen "
    "from its own sample and, the more alike groups are, from those of the others; the share of the group is the "
    "average of their probabilities, with the error of the sample."
)
_REFERENCES = (
    "H. Kück and N. de Freitas. Learning about individuals from group statistics. Uncertainty in Artificial "
    "Intelligence, 2005.",
    "H. Kück, P. Carbonetto and N. de Freitas. A constrained semi-supervised learning approach to data "
    "association. European Conference on Computer Vision, 2004.",
    "S. S. Tham, A. Doucet and K. Ramamohanarao. Sparse Bayesian learning for regression and classification using "
    "Markov chain Monte Carlo. International Conference on Machine Learning, 2002.",
    "A. Vehtari, A. Gelman, D. Simpson, B. Carpenter and P.-C. Bürkner. Rank-normalization, folding, and "
    "localization: an improved R-hat for assessing convergence of MCMC. Bayesian Analysis, 2021.",
)
_PACKAGES = ("disaggregate", "numpy", "scipy", "scikit-learn", "pandas", "numba", "jinja2")


def method_elements(analysis: Analysis) -> list[Element]:
    """Explain the model in plain words."""
    sample = [_OF_A_SAMPLE] if analysis.sampled else []
    limits = limits_of_equal_features(analysis)
    link = _OF_OUTCOMES if analysis.outcomes else _METHOD[0]
    texts = [link, *sample, *_METHOD[1:-1], _METHOD[-1] + limits[:1].lower() + limits[1:]]
    return [*map(Text, texts), Heading("References"), Notes(_REFERENCES)]


def settings_elements(analysis: Analysis) -> list[Element]:
    """List what would be needed to do it again."""
    settings = analysis.classifier.get_params(deep=False)
    settings.pop("confidence")  # each report has its own, which the data section gives
    versions = {"python": platform.python_version()} | {name: _version(name) for name in _PACKAGES}
    return [
        as_table(
            _pairs({name: _value(value) for name, value in settings.items()}),
            "Settings of the fit.",
            {"name": "Setting", "value": "Value"},
        ),
        as_table(_pairs(versions), "Versions that made this report.", {"name": "Package", "value": "Version"}),
    ]


def _pairs(values: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame({"name": list(values), "value": list(values.values())})


def _value(value: Any) -> str:
    """Write a setting down in few words."""
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if hasattr(value, "get_params"):
        return (
            f"{type(value).__name__}({', '.join(f'{name}={one!r}' for name, one in value.get_params().items())})"
        )
    if isinstance(value, Mapping):
        return repr(dict(value))
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return repr(value) if isinstance(value, (str, int, float, bool, type(None))) else type(value).__name__


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
