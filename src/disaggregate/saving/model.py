"""Saves and loads a fitted classifier, or an analysis of two tables."""

from __future__ import annotations

import inspect
import platform
import re
from collections.abc import Callable
from importlib.metadata import version
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from disaggregate.basis.columns import Basis
from disaggregate.basis.kernels import Kernel
from disaggregate.fitting import Fitted
from disaggregate.groups import GroupedData
from disaggregate.groups import evidence as evidence_kinds
from disaggregate.groups import outcome_evidence as outcome_kinds
from disaggregate.groups.context import Context
from disaggregate.groups.outcomes import GroupedOutcomes
from disaggregate.posterior.diagnostics import Diagnostics
from disaggregate.posterior.draws import KernelDraws
from disaggregate.posterior.individuals import GroupEffects
from disaggregate.posterior.kernel_score import KernelScore
from disaggregate.posterior.ladder import LadderReport
from disaggregate.posterior.log_evidence import LogEvidence
from disaggregate.posterior.mixture import Posterior
from disaggregate.posterior.predictive import PredictiveCheck
from disaggregate.saving.anonymous import without_individuals, without_rare_levels
from disaggregate.saving.archive import ArchiveError, read_archive, write_archive
from disaggregate.saving.soundness import require_sound_model, require_sound_tables
from disaggregate.saving.tree import Reader, Unsavable, Writer
from disaggregate.settings import NAMES_IN_FILES, with_new_names, with_old_names
from disaggregate.tables.encoding import Encoder
from disaggregate.tables.problems import Problem
from disaggregate.tables.roles import Roles

_KINDS_OF_EVIDENCE = [
    getattr(kinds, name)
    for kinds in (evidence_kinds, outcome_kinds)
    for name in kinds.__all__
    if name not in ("Evidence", "OutcomeEvidence")
]
CLASSES: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(
            Basis,
            Context,
            Diagnostics,
            Fitted,
            GroupEffects,
            GroupedData,
            GroupedOutcomes,
            Kernel,
            KernelDraws,
            KernelScore,
            LadderReport,
            LogEvidence,
        ),
        *(Posterior, PredictiveCheck, Problem, Roles, *_KINDS_OF_EVIDENCE),
    )
}
_FITTED = ("classes_", "n_features_in_", "feature_names_in_", "label_proba_", "diagnostics_", "_fitted", "_data")
_SINCE_LATER: dict[str, Any] = {
    "context_": None,
    "group_effects_": None,
}  # what a file of an older version may lack
_VERSION = re.compile(r"[0-9A-Za-z.+]{1,30}")
_SAVED = (*_FITTED, *_SINCE_LATER)


def save_model(model: Any, path: Any, *, anonymise: bool = False, min_group_size: int = 5) -> None:
    """Write a fitted classifier to a file.

    Parameters
    ----------
    model : GroupStatsClassifier
        Fitted.
    path : str or Path
        Where to; an existing file is replaced once the new one is complete.
    anonymise : bool, default=False
        Whether to leave out everything about training individuals; refused where the model cannot do without.
    min_group_size : int, default=5
        Smaller groups are left out when anonymising.
    """
    _save(path, without_individuals(model, min_group_size) if anonymise else model)


def save_analysis(analysis: Any, path: Any, *, anonymise: bool = False, min_group_size: int = 5) -> None:
    """Write an analysis of two tables to a file.

    Parameters
    ----------
    analysis : Analysis
        Made by :func:`disaggregate.fit_tables`.
    path, anonymise, min_group_size
        As for :func:`save_model`.
    """
    tables = {
        "encoder": analysis.encoder.to_state(),
        "roles": analysis.roles,
        "schema": dict(analysis.schema),
        "sampled": analysis.sampled,
        "problems": analysis.problems,
        "outcome": analysis.outcome,
    }
    if anonymise:
        _save(path, without_individuals(analysis.classifier, min_group_size), without_rare_levels(tables))
    else:
        _save(path, analysis.classifier, tables)


def _save(path: Any, model: Any, tables: dict[str, Any] | None = None) -> None:
    for part in model._fitted.posterior.parts:
        part.require_intact()
    writer = Writer(CLASSES)
    try:
        document = {
            "parameters": writer.write(parameters_of(model)),
            "fitted": {name: writer.write(getattr(model, name)) for name in _SAVED if hasattr(model, name)},
            "tables": writer.write(tables),
            "versions": _versions(),
        }
    except Unsavable as error:
        raise ValueError(f"this model cannot be saved: {error}") from error
    write_archive(Path(path), document, writer.arrays)


def read_saved(path: Any, make_classifier: Callable[..., Any], make_analysis: Callable[..., Any]) -> Any:
    """Read what :func:`save_model` or :func:`save_analysis` wrote, and check it; nothing in the file is run.

    Parameters
    ----------
    path : str or Path
        The file.
    make_classifier : callable
        Makes a classifier of its parameters, by keyword; those in its signature are known, and no others.
    make_analysis : callable
        Makes an analysis of a classifier and an encoder, and by keyword of the other parts that were saved.

    Returns
    -------
    classifier or analysis
        As it was saved.
    """
    document, arrays = read_archive(Path(path))
    reader = Reader(CLASSES, arrays)
    try:
        model = _read_model(path, document, reader, make_classifier)
        tables = reader.read(document.get("tables"))
        return model if tables is None else _read_analysis(path, model, tables, make_analysis)
    except RecursionError as error:
        raise ArchiveError(f"{path} is damaged: its description is nested too deeply.") from error
    except ArchiveError as error:
        raise ArchiveError(f"{error}{_of_another_version(document)}") from error


def _of_another_version(document: dict[str, Any]) -> str:
    """Say by which other version a file was written, which is likelier than damage."""
    versions = document.get("versions")
    theirs, ours = versions.get("disaggregate") if isinstance(versions, dict) else None, version("disaggregate")
    if not isinstance(theirs, str) or theirs == ours or not _VERSION.fullmatch(theirs):
        return ""
    return (
        f" It was written by disaggregate {theirs}, and this is {ours}: load it with that version, or fit again."
    )


def _read_analysis(path: Any, model: Any, tables: Any, make: Callable[..., Any]) -> Any:
    try:
        encoder = Encoder.from_state(tables["encoder"])
        known = {name: tables[name] for name in ("roles", "schema", "sampled", "problems")}
        analysis = make(model, encoder, **known, outcome=tables.get("outcome", ""))
        require_sound_tables(analysis)
        fits = len(encoder.feature_names_) == model.n_features_in_
    except Exception as error:
        raise ArchiveError(f"{path} is damaged: its tables are described wrongly ({error}).") from error
    if not fits:
        raise ArchiveError(f"{path} is damaged: its encoding does not fit its classifier.")
    return analysis


def _read_model(path: Any, document: dict[str, Any], reader: Reader, make: Callable[..., Any]) -> Any:
    parameters, fitted = reader.read(document.get("parameters")), document.get("fitted")
    known = {*inspect.signature(make).parameters, *NAMES_IN_FILES}
    if not isinstance(parameters, dict) or not isinstance(fitted, dict) or not set(parameters) <= known:
        raise ArchiveError(f"{path} does not describe a classifier of this version.")
    try:
        model = make(**with_new_names(parameters))
    except (TypeError, ValueError) as error:
        raise ArchiveError(f"{path} is damaged: its settings are not those of a classifier ({error}).") from error
    for name in _SAVED:
        if name in fitted:
            setattr(model, name, reader.read(fitted[name]))
        elif name in _SINCE_LATER:
            setattr(model, name, _SINCE_LATER[name])
    if not isinstance(getattr(model, "_fitted", None), Fitted):
        raise ArchiveError(f"{path} does not hold a fitted classifier.")
    try:
        require_sound_model(model)
    except Exception as error:
        raise ArchiveError(f"{path} is damaged: its parts do not fit together ({error}).") from error
    model.posterior_ = model._fitted.posterior
    _require_predictions(model, path)
    return model


def _require_predictions(model: Any, path: Any) -> None:
    """Predict one individual, so that parts that do not fit together are noticed now and not later."""
    try:
        with np.errstate(all="ignore"):
            somebody = np.zeros((1, model.n_features_in_))
            scores = model.posterior_.scores(somebody)
            str(model.diagnostics_)
    except Exception as error:
        raise ArchiveError(f"{path} is damaged: its parts do not fit together ({error}).") from error
    n_outcomes = model.posterior_.n_outcomes
    expected = (np.prod(model.posterior_.shape), 1, *((n_outcomes,) if n_outcomes > 2 else ()))
    if scores.shape != expected or not np.isfinite(scores).all():
        raise ArchiveError(f"{path} is damaged: its predictions are not numbers.")


def parameters_of(model: Any) -> dict[str, Any]:
    """Parameters that a file can hold: executors belong to the machine, generators to the moment."""
    parameters = with_old_names(model.get_params(deep=False)) | {"executor": None}
    if not isinstance(parameters["random_state"], (Integral, type(None))):
        parameters["random_state"] = None
    if callable(parameters["progress"]):
        parameters["progress"] = "auto"
    if hasattr(parameters["confidence"], "items"):
        parameters["confidence"] = dict(parameters["confidence"].items())
    return parameters


def _versions() -> dict[str, str]:
    packages = ("disaggregate", "numpy", "scipy", "scikit-learn")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}
