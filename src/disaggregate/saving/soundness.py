"""A file may be complete and still be wrong: what a loaded model must be before it is used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from disaggregate.basis.columns import Basis
from disaggregate.basis.kernels import Kernel
from disaggregate.fitting import Fitted
from disaggregate.groups import GroupedData
from disaggregate.groups.context import Context
from disaggregate.groups.evidence import Evidence
from disaggregate.groups.outcome_evidence import OutcomeEvidence
from disaggregate.groups.outcomes import GroupedOutcomes
from disaggregate.posterior.diagnostics import Diagnostics
from disaggregate.posterior.draws import KernelDraws
from disaggregate.posterior.individuals import GroupEffects
from disaggregate.posterior.kernel_score import KernelScore
from disaggregate.posterior.ladder import LadderReport
from disaggregate.posterior.log_evidence import LogEvidence
from disaggregate.posterior.mixture import Posterior
from disaggregate.posterior.predictive import PredictiveCheck
from disaggregate.saving.archive import ArchiveError
from disaggregate.settings import check_settings
from disaggregate.tables.encoded_columns import CategoryColumn, EncodedColumn, NumberColumn
from disaggregate.tables.problems import Problem
from disaggregate.tables.roles import Roles
from disaggregate.tables.schema import KINDS

# Beyond it sums of units could overflow.
_MOST_UNITS = 2**31
_MOST_PEOPLE = 2**40


def require_sound_model(model: Any) -> None:
    """Raise ArchiveError, saying which part is wrong, unless the model can do all that a fitted one can.

    Parameters
    ----------
    model : GroupStatsClassifier
        As it came out of a file.
    """
    try:
        check_settings(model.get_params(deep=False))
    except Exception as error:
        raise ArchiveError(f"its settings are wrong ({error})") from error
    _require(_is_count(getattr(model, "n_features_in_", None), 1), "n_features_in_ must be a whole number")
    _require(_are_classes(getattr(model, "classes_", None)), "classes_ must be two or more distinct labels")
    names = getattr(model, "feature_names_in_", None)
    _require(names is None or _are_names(names, model.n_features_in_), "feature_names_in_ must name the features")
    _require(isinstance(model._fitted, Fitted), "it lacks what was fitted")
    _require_posterior(model._fitted.posterior, model.n_features_in_)
    _require_context(model.context_, model._fitted.posterior, model.n_features_in_)
    _require_places(model.group_effects_, model._fitted.posterior)
    _require(isinstance(getattr(model, "_data", None), GroupedData), "it lacks the groups")
    _require_outcomes(model)
    _require_groups(model._data)
    _require_tallies(model, model._fitted, model._data)
    _require_diagnostics(getattr(model, "diagnostics_", None))


def require_sound_tables(analysis: Any) -> None:
    """Raise ArchiveError unless an analysis knows its columns.

    Parameters
    ----------
    analysis : Analysis
        As it came out of a file.
    """
    encoder, roles, schema = analysis.encoder, analysis.roles, analysis.schema
    _require(all(map(_is_sound_column, encoder.columns)), "its encoded columns are described wrongly")
    _require(_are_texts(encoder.notes), "its notes must be texts")
    _require(isinstance(roles, Roles) and _are_roles(roles), "its roles must be names")
    known = isinstance(schema, dict) and all(isinstance(name, str) for name in schema)
    _require(known and all(kind in KINDS for kind in schema.values()), "its schema must say what columns hold")
    _require(isinstance(analysis.sampled, bool), "sampled must be True or False")
    _require(isinstance(analysis.outcome, str), "the name of its outcome must be a text")
    _require(isinstance(analysis.problems, tuple) and all(map(_is_problem, analysis.problems)), "its problems")


def _require_posterior(posterior: Any, n_features: int) -> None:
    sound = isinstance(posterior, Posterior) and isinstance(posterior.parts, tuple) and len(posterior.parts) > 0
    _require(sound and _is_array(posterior.part_of_draw, 1, "iu"), "it lacks a posterior")
    for part in posterior.parts:
        _require_draws(part, n_features)
    n_draws = [part.shape[1] for part in posterior.parts]
    n_chains = {part.shape[0] for part in posterior.parts}
    counted = [int((posterior.part_of_draw == index).sum()) for index in range(len(n_draws))]
    sound = counted == n_draws and sum(n_draws) == len(posterior.part_of_draw) and len(n_chains) == 1
    _require(sound and min(*n_chains, *n_draws) > 0, "the draws of its kernels do not add up")
    dense = {isinstance(part.weights, np.ndarray) for part in posterior.parts}
    _require(len(dense) == 1, "its kernels mix dense and sparse weights")


def _require_context(context: Any, posterior: Posterior, n_features: int) -> None:
    if context is None:
        _require(not any(part.basis.context for part in posterior.parts), "it lacks the context of its groups")
        return
    _require(isinstance(context, Context) and isinstance(context.names, tuple), "its context is wrong")
    shape = (len(context.names), n_features)
    _require(_is_finite_array(context.means, 2) and context.means.shape == shape, "its groups' averages are wrong")
    _require(_is_finite_array(context.origin, 1) and len(context.origin) == n_features, "its average is wrong")
    _require(_is_finite(context.scale) and context.scale > 0.0, "the scale of its context is wrong")


def _require_places(effects: Any, posterior: Posterior) -> None:
    if effects is None:
        _require(not posterior.has_places, "it lacks the names of its groups' effects")
        return
    _require(isinstance(effects, GroupEffects) and isinstance(effects.names, tuple), "its group effects are wrong")
    _require(len(set(effects.names)) == len(effects.names), "two of its group effects have the same name")
    widths = {None if part.places is None else part.places.shape[1] for part in posterior.parts}
    n_scores = posterior.n_outcomes - 1
    _require(widths == {n_scores * len(effects.names)}, "its group effects do not fit its groups")


def _require_draws(part: Any, n_features: int) -> None:
    _require(isinstance(part, KernelDraws) and isinstance(part.basis, Basis), "its draws lack a basis")
    basis, kernel = part.basis, part.basis.kernel
    _require(_is_finite_array(basis.centers, 2) and basis.centers.shape[1] == n_features, "its centres are wrong")
    _require(len(basis.centers) > 0 and isinstance(basis.intercept, bool), "its basis is wrong")
    _require(isinstance(basis.context, bool) and _is_finite(basis.emphasis), "its basis is wrong")
    _require(isinstance(kernel, Kernel) and isinstance(kernel.name, str), "its kernel has no name")
    _require(
        all(map(_is_finite, (kernel.gamma, kernel.degree, kernel.coef0))), "its kernel's parameters are wrong"
    )
    at_zero = _is_finite(kernel.origin)
    _require(at_zero or (_is_finite_array(kernel.origin, 1) and len(kernel.origin) == n_features), "its origin")
    _require(_is_finite_array(part.delta2, 2) and _is_array(part.n_active, 2, "iu"), "its scales are wrong")
    weights = part.weights.data if isinstance(part.weights, csr_array) else part.weights
    dimensions = 1 if isinstance(part.weights, csr_array) else 2
    _require(_is_finite_array(weights, dimensions), "its weights are not finite numbers")
    for name in ("context_delta2", "place_delta2", "report_delta2", "cell_delta2"):
        scale = getattr(part, name)
        sound = scale is None or (_is_finite_array(scale, 2) and scale.shape == part.delta2.shape)
        _require(sound and (scale is None or bool((scale > 0.0).all())), "its scales are wrong")
    _require((part.places is None) == (part.place_delta2 is None), "its group effects lack a scale")
    sound = part.places is None or (_is_finite_array(part.places, 2) and len(part.places) == part.delta2.size)
    _require(sound, "its group effects are wrong")
    _require(_is_count(part.n_outcomes, 2), "its outcomes are wrong")
    _require(part.n_outcomes == 2 or dimensions == 2, "its weights do not fit its outcomes")
    expected = (part.delta2.size, (part.n_outcomes - 1) * basis.n_columns)
    _require(part.weights.shape == expected and part.n_active.shape == part.delta2.shape, "its weights do not fit")
    if part.prior is not None:
        _require_prior(part, part.prior, n_features)


def _require_prior(part: Any, prior: Any, n_features: int) -> None:
    """Check that draws from the prior are of the same model as those of the posterior."""
    _require(isinstance(prior, KernelDraws) and prior.prior is None, "its prior is wrong")
    _require_draws(prior, n_features)
    same = prior.n_outcomes == part.n_outcomes and prior.weights.shape[1] == part.weights.shape[1]
    same = same and (prior.places is None) == (part.places is None)
    same = same and (prior.places is None or prior.places.shape[1] == part.places.shape[1])
    _require(same and prior.basis.context == part.basis.context, "its prior is of another model")


def _require_outcomes(model: Any) -> None:
    """Check that classes, groups and draws are of the same number of outcomes."""
    data, classes = model._data, model.classes_.tolist()
    n_outcomes = 2
    if isinstance(data, GroupedOutcomes):
        _require(isinstance(data.outcomes, tuple) and list(data.outcomes) == classes, "its outcomes are wrong")
        n_outcomes = len(data.outcomes)
        _require(n_outcomes > 2, "its outcomes are too few")
    _require(len(classes) == n_outcomes, "classes_ and outcomes differ")
    for part in model._fitted.posterior.parts:
        _require(part.n_outcomes == n_outcomes, "its draws are of other outcomes")


def _is_possible(known: Any, n: int, outcomes: tuple) -> bool:
    """Return whether a report on several outcomes can hold in a group of ``n``."""
    if isinstance(known, Evidence) and known.is_uninformative:
        return True
    if not isinstance(known, OutcomeEvidence) or not set(known.named_outcomes) <= set(outcomes):
        return False
    return _works(lambda: known.likely(n, len(known.named_outcomes) < len(outcomes)))


def _require_groups(data: GroupedData) -> None:
    _require(isinstance(data.names, tuple) and len(data.names) > 0, "it has no groups")
    _require(len(set(data.names)) == len(data.names), "two of its groups have the same name")
    kinds = (Evidence, OutcomeEvidence) if isinstance(data, GroupedOutcomes) else (Evidence,)
    sound = isinstance(data.evidence, tuple) and all(isinstance(known, kinds) for known in data.evidence)
    _require(sound and len(data.evidence) == len(data.names), "its groups lack evidence")
    _require(_is_array(data.offsets, 1, "iu") and len(data.offsets) == len(data.names) + 1, "its groups' places")
    _require(data.offsets[0] == 0 and bool((np.diff(data.offsets) > 0).all()), "its groups' places are wrong")
    n_rows = int(data.offsets[-1])
    _require(_is_array(data.order, 1, "iu") and len(data.order) == n_rows, "the order of its rows is wrong")
    _require(bool((np.sort(data.order) == np.arange(n_rows)).all()), "the order of its rows is wrong")
    sound = _is_array(data.units, 1, "iu") and len(data.units) == n_rows
    _require(sound and bool(((data.units >= 1) & (data.units < _MOST_UNITS)).all()), "its weights are wrong")
    _require(_is_finite(data.rounding_error), "its rounding error is not a number")
    _require_cells(data, n_rows)
    sound = _is_array(data.log_likelihood, 1, "f") and len(data.log_likelihood) == data.starts[-1]
    _require(sound and not np.isnan(data.log_likelihood).any(), "the likelihood of its reports is wrong")
    if isinstance(data, GroupedOutcomes):
        pairs = zip(data.evidence, data.people.tolist(), strict=True)
        sound = all(_is_possible(known, n, data.outcomes) for known, n in pairs)
    else:
        sound = all(map(_has_share, data.evidence, data.sizes))
    _require(sound, "its reports are wrong")


def _require_cells(data: GroupedData, n_rows: int) -> None:
    sound = data.counts is None or (_is_array(data.counts, 1, "iu") and len(data.counts) == n_rows)
    are_few = sound and (data.counts is None or bool(((data.counts >= 1) & (data.counts <= _MOST_PEOPLE)).all()))
    _require(are_few, "its counts are wrong")
    sound = data.weights is None or (_is_finite_array(data.weights, 1) and len(data.weights) == n_rows)
    _require(sound and (data.weights is None or bool((data.weights > 0.0).all())), "its weights are wrong")
    for known in (data.lengths, data.steps):
        sound = known is None or (_is_array(known, 1, "iu") and len(known) == len(data.names))
        _require(sound and (known is None or bool((known >= 1).all())), "its counts are listed wrongly")
    sound = data.nodes is None or (_is_array(data.nodes, 1, "iu") and len(data.nodes) == data.starts[-1])
    _require(sound, "its counts are listed wrongly")


def _require_tallies(model: Any, fitted: Fitted, data: GroupedData) -> None:
    n_rows, tallies = int(data.offsets[-1]), fitted.count_tallies
    sound = _is_array(tallies, 1, "iuf") and len(tallies) == data.tally_starts[-1]
    sound = sound and bool(np.isfinite(tallies).all() and (tallies >= 0).all())
    _require(
        sound and bool((np.add.reduceat(tallies, data.tally_starts[:-1]) > 0).all()),
        "the counts of its groups are wrong",
    )
    sums, known = fitted.label_sums, getattr(model, "label_proba_", None)
    several = isinstance(data, GroupedOutcomes)
    sound = any(_is_finite_array(sums, n) or _is_array(sums, n, "iu") for n in ((2, 3) if several else (2,)))
    _require(sound, "its labels are wrong")
    if known is not None:
        expected = (n_rows, len(model.classes_)) if several else (n_rows,)
        sound = _is_finite_array(known, len(expected)) and known.shape == expected
        _require(sound, "label_proba_ is wrong")
        _require(bool(((known >= 0.0) & (known <= 1.0)).all()), "label_proba_ must be probabilities")
    _require(isinstance(fitted.stopped_early, str), "it does not say whether it was stopped early")
    _require(fitted.ladder is None or _is_ladder(fitted.ladder), "its ladder is wrong")
    _require(_are_scores(fitted.kernels), "its comparison of kernels is wrong")


def _require_diagnostics(diagnostics: Any) -> None:
    _require(isinstance(diagnostics, Diagnostics), "it lacks diagnostics")
    for values in (diagnostics.rhat, diagnostics.ess_bulk, diagnostics.ess_tail):
        sound = isinstance(values, dict) and all(_is_measure(value) for value in values.values())
        _require(sound and list(values) == list(diagnostics.rhat) and "f" in values, "its diagnostics are wrong")
    _require(
        isinstance(diagnostics.converged, bool) and isinstance(diagnostics.verdict, str), "it lacks a verdict"
    )
    _require(
        _is_number(diagnostics.worst_rhat) and _is_number(diagnostics.fewest_effective),
        "its diagnostics are wrong",
    )
    _require(
        diagnostics.ladder is None or _is_ladder(diagnostics.ladder), "the ladder of its diagnostics is wrong"
    )
    _require(_are_scores(diagnostics.kernels), "the kernels of its diagnostics are wrong")
    _require(_is_finite(diagnostics.rounding_error), "its rounding error is not a number")
    _require(_is_number(diagnostics.contraction), "its contraction is not a number")
    _require(diagnostics.reports is None or _is_check(diagnostics.reports), "the check of its reports is wrong")


def _is_check(check: Any) -> bool:
    sound = isinstance(check, PredictiveCheck) and _is_number(check.p_value) and isinstance(check.groups, tuple)
    sound = sound and _is_array(check.surprise, 1, "f") and len(check.surprise) == len(check.groups)
    return sound and isinstance(check.misfits, dict) and all(map(_is_finite, check.misfits.values()))


def _is_ladder(ladder: Any) -> bool:
    if not isinstance(ladder, LadderReport) or not _is_evidence(ladder.log_evidence):
        return False
    are_rates = _is_finite_array(ladder.powers, 1) and _is_array(ladder.swap_rates, 1, "f")
    sound = are_rates and len(ladder.swap_rates) == len(ladder.powers) - 1 and isinstance(ladder.reason, str)
    return sound and _is_number(ladder.log_evidence_constant)


def _is_evidence(known: Any) -> bool:
    return isinstance(known, LogEvidence) and all(
        _is_number(getattr(known, field.name)) for field in fields(known)
    )


def _are_scores(scores: Any) -> bool:
    return isinstance(scores, list) and all(map(_is_score, scores))


def _is_score(score: Any) -> bool:
    if not isinstance(score, KernelScore):
        return False
    return _works(lambda: str(score)) and (score.log_evidence is None or _is_evidence(score.log_evidence))


def _is_measure(value: Any) -> bool:
    return _is_number(value) or (isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size > 0)


def _has_share(known: Evidence, n: int) -> bool:
    return _works(lambda: float(known.reported_share(int(n))))


def _is_sound_column(column: EncodedColumn) -> bool:
    if not isinstance(column.name, str):
        return False
    if isinstance(column, NumberColumn):
        numbers = (column.fill, column.mean, column.weight, *(() if column.missing is None else (column.missing,)))
        return isinstance(column.is_date, bool) and all(map(_is_finite, numbers))
    return _is_sound_category(column)


def _is_sound_category(column: CategoryColumn) -> bool:
    are_lists = all(isinstance(part, list) for part in (column.levels, column.pooled, column.shares))
    if not are_lists or not all(
        level is None or isinstance(level, str) for level in column.levels + column.pooled
    ):
        return False
    are_shares = all(_is_finite(share) and 0.0 <= share <= 1.0 for share in column.shares)
    return are_shares and len(column.shares) == len(column.column_names)


def _are_roles(roles: Roles) -> bool:
    """Return whether each role is a name, or none, and those that several columns may play are names."""
    values = {field.name: (field.default, getattr(roles, field.name)) for field in fields(roles)}
    return isinstance(roles.group, str) and all(
        _are_texts(value) if default == () else value is None or isinstance(value, str)
        for default, value in values.values()
    )


def _is_problem(problem: Any) -> bool:
    return isinstance(problem, Problem) and _are_texts((problem.level, problem.where, problem.message))


def _are_texts(values: Any) -> bool:
    return isinstance(values, tuple) and all(isinstance(value, str) for value in values)


def _are_classes(classes: Any) -> bool:
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or len(classes) < 2:
        return False
    labels = classes.tolist()
    return all(isinstance(label, (str, bool, int, float)) for label in labels) and len(set(labels)) == len(labels)


def _are_names(names: Any, n_features: int) -> bool:
    is_list = isinstance(names, np.ndarray) and names.shape == (n_features,)
    return is_list and all(isinstance(name, str) for name in names)


def _is_array(value: Any, dimensions: int, kinds: str) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == dimensions and value.dtype.kind in kinds


def _is_finite_array(value: Any, dimensions: int) -> bool:
    return _is_array(value, dimensions, "f") and bool(np.isfinite(value).all())


def _is_count(value: Any, least: int) -> bool:
    return type(value) is int and value >= least


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and _works(lambda: float(value))


def _is_finite(value: Any) -> bool:
    return _is_number(value) and bool(np.isfinite(float(value)))


def _works(attempt: Callable[[], Any]) -> bool:
    try:
        attempt()
    except Exception:
        return False
    return True


def _require(sound: bool, complaint: str) -> None:
    if not sound:
        raise ArchiveError(complaint)
