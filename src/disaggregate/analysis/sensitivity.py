"""What estimates depend on: the same people and results, fitted again under other choices."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pandas as pd
from rich.console import Console
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from disaggregate.analysis.analysis import Analysis
from disaggregate.parallel.interrupts import deferred_interrupts
from disaggregate.posterior.outcomes import OUTCOME
from disaggregate.settings import as_prior, is_sparse
from disaggregate.tables.counts import counts_to_fit, rows_with_people
from disaggregate.tables.kinds import text_of
from disaggregate.tables.people import as_names, require_columns
from disaggregate.tables.per_row import weights_in_shares
from disaggregate.tables.problems import TableError
from disaggregate.tables.suppression import NOTE, withhold

AS_IT_IS = "as it is"
# Each change by its short name, and what the report says of it.
CHANGES = {
    "trust": "results trusted less",
    "linear": "linear kernel",
    "rbf": "rbf kernel",
    "weak": "weaker effects expected",
    "strong": "stronger effects expected",
    "context": "composition of groups matters",
    "no_context": "composition of groups does not matter",
}
COLUMNS = ("by", "subgroup", OUTCOME, "n", "change", "estimate", "std_error", "conf_low", "conf_high")
SHIFTS = ("shift", "shift_in_std_errors")
LARGEST = "largest shift"
EFFECTIVE = "effective"

# A share trusted like this may be off by 0.1, one standard deviation at a share of a half.
_LITTLE_TRUST = 25.0
_TIMES_THE_PRIOR = 4.0


def subgroup_sensitivity(
    analysis: Analysis,
    people: Any,
    by: Sequence[str | Sequence[str]],
    changes: Iterable[str] | None = None,
    *,
    level: float = 0.9,
    n_draws: int | None = None,
    progress: bool = False,
    min_group_size: int = 1,
) -> pd.DataFrame:
    """Tabulate how far the rates of subgroups move when one choice of the fit at a time is changed.

    Each change is another fit, which takes as long as the first.

    Parameters
    ----------
    analysis : Analysis
        Made by :func:`disaggregate.fit_tables`, or loaded.
    people : path or dataframe
        The people of the fit, in the same order.
    by : sequence of str or of sequences of str
        Columns that define subgroups, each entry separately; a sequence of columns defines subgroups of all their
        combinations. The overall rate comes first.
    changes : iterable of str, optional
        Some of "trust" (each reported share may be off by 0.1, or has a quarter of its confidence if that is less;
        shares of populations stay as they are),
        "linear" and "rbf" (the kernel), "weak" and "strong" (the prior variance of the score, a quarter or four
        times as much), "context" and "no_context" (whether the average features of a group are in the score beside
        a person's own). By default all that change the fit.
    level : float, default=0.9
        Probability of the credible intervals.
    n_draws : int, optional
        Draws of each chain of the fits; as many as in the first by default.
    progress : bool, default=False
        Whether to show the current fit and its progress on standard error.
    min_group_size : int, default=1
        Subgroups of fewer people, and rows that would reveal them, have no estimate.

    Returns
    -------
    DataFrame
        Columns ``by, subgroup, n, change, estimate, std_error, conf_low, conf_high, shift, shift_in_std_errors``,
        first the fit "as it is"; with more than two outcomes also ``outcome``, after ``subgroup``. Shifts are from
        that fit, and in its standard errors: beyond 1 the choice matters more than the noise. ``effective`` is the
        number of people that a rate represents, by their weights.
    """
    table = analysis.read(people)
    groupings = [[], *(as_names(entry) for entry in by)]
    require_columns(table, [name for names in groupings for name in names])
    fitted_on = _people_of_the_fit(analysis, table)
    chosen = _chosen(analysis, changes)
    first = _rates(analysis, table, groupings, AS_IT_IS, level, min_group_size)
    parts = [first]
    console = Console(stderr=True, quiet=not progress)
    for index, change in enumerate(chosen, start=1):
        console.print(f"{index} of {len(chosen)}: {CHANGES[change]}", highlight=False)
        other = _fitted_again(analysis, fitted_on, change, n_draws, progress)
        parts.append(_rates(other, table, groupings, CHANGES[change], level, min_group_size))
    return pd.concat([_with_shifts(part, first) for part in parts], ignore_index=True)


def side_by_side(rows: pd.DataFrame) -> pd.DataFrame:
    """Set the estimates of each subgroup under all choices side by side.

    Parameters
    ----------
    rows : DataFrame
        Rows of :func:`subgroup_sensitivity` with one value of ``by``.

    Returns
    -------
    DataFrame
        One row per subgroup, and per outcome where there are more than two: ``subgroup``, ``outcome``, the
        estimate under each change by its name, and ``largest shift``, in standard errors of the fit as it is; and
        ``note``, where numbers were suppressed.
    """
    changes = list(dict.fromkeys(rows["change"]))
    keys = [name for name in ("subgroup", OUTCOME) if name in rows]
    estimates = rows.set_index([*keys, "change"])["estimate"].unstack(sort=False)
    largest = rows["shift_in_std_errors"].abs().groupby([rows[name] for name in keys]).max()
    why = {NOTE: rows.groupby(keys)[NOTE].first()} if NOTE in rows else {}
    return estimates[changes].assign(**{LARGEST: largest}, **why).rename_axis(columns=None).reset_index()


def changes_of(analysis: Analysis) -> list[str]:
    """Return the short names of the changes that would change anything in this fit."""
    classifier = analysis.classifier
    kernels = {part.basis.kernel.name for part in classifier.posterior_.parts}
    useless = kernels if len(kernels) == 1 else set()
    useless.add("no_context" if classifier.context_ is None else "context")
    if all(known.stated_confidence is None for known in classifier._data.evidence):
        useless.add("trust")
    if is_sparse({"prior": classifier.prior}):
        useless |= {"context", "no_context"}
    return [name for name in CHANGES if name not in useless]


def _chosen(analysis: Analysis, changes: Iterable[str] | None) -> list[str]:
    possible = changes_of(analysis)
    if changes is None:
        return possible
    chosen = list(dict.fromkeys(as_names(changes)))
    wrong = [change for change in chosen if change not in possible]
    if wrong or not chosen:
        problem = f"{wrong[0]!r} is not one of them" if wrong else "none was named"
        raise ValueError(f"changes that would change anything in this fit are {', '.join(possible)}; {problem}.")
    return chosen


def _people_of_the_fit(analysis: Analysis, people: pd.DataFrame) -> pd.DataFrame:
    """Return those who count; refuse people that the model did not learn from."""
    roles, data = analysis.roles, analysis.classifier._data
    if not hasattr(analysis.classifier, "label_proba_"):
        raise TableError(
            "this model was anonymised, and no longer has the people of the fit; give the full model."
        )
    require_columns(people, [roles.group, *analysis.encoder.features, *([roles.weight] if roles.weight else [])])
    counted = rows_with_people(people, roles)
    given = [text_of(value) for value in counted[roles.group]]
    if given != [text_of(name) for name in data.ids]:
        raise TableError(
            f"these are not the people of the fit: it had {len(data.order):,} in {len(data.names):,} groups, and "
            f"the column {roles.group!r} of these {len(counted):,} does not agree. Give the table that was fitted."
        )
    return counted


def _fitted_again(
    analysis: Analysis, people: pd.DataFrame, change: str, n_draws: int | None, progress: bool
) -> Analysis:
    data = analysis.classifier._data
    ids = data.ids
    evidence: dict[Hashable, Any] = dict(zip(data.names, data.evidence, strict=True))
    if change == "trust":
        evidence = {name: known.trusted_less(_LITTLE_TRUST, _TIMES_THE_PRIOR) for name, known in evidence.items()}
    settings = _settings(analysis, change) | {"progress": progress}
    if n_draws is not None:
        settings["n_draws"] = n_draws
    classifier = clone(analysis.classifier).set_params(**settings)
    weights = weights_in_shares(people, analysis.roles, ids, evidence)
    with deferred_interrupts() as interrupts, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        X, counts = analysis.encoder.transform(people), counts_to_fit(people, analysis.roles)
        classifier.fit(X, evidence, groups=ids, sample_weight=weights, **counts)
    if interrupts.came or classifier.stopped_early_:
        raise KeyboardInterrupt
    return replace(analysis, classifier=classifier)


def _settings(analysis: Analysis, change: str) -> dict[str, Any]:
    if change in ("linear", "rbf"):
        return {"kernel": change}
    if change in ("context", "no_context"):
        return {"context": change == "context"}
    if change == "trust":
        return {}
    classifier = analysis.classifier
    prior = as_prior(classifier.prior)
    mu, nu = prior.scale_prior_around(classifier._data.rows_stand_for_places)
    nu = nu * _TIMES_THE_PRIOR if change == "strong" else nu / _TIMES_THE_PRIOR
    return {"prior": clone(prior).set_params(mu=mu, nu=nu)}


def _rates(
    analysis: Analysis,
    people: pd.DataFrame,
    groupings: list[list[str]],
    change: str,
    level: float,
    min_group_size: int,
) -> pd.DataFrame:
    parts = []
    for names, outcome in product(groupings, analysis.outcomes or [None]):
        drawn = analysis.subgroup_draws(people, names, outcome=outcome)
        rates = withhold(drawn.table(level), min_group_size, members=drawn.effective, by=names)
        keys = rates[names].astype(object).where(rates[names].notna(), "missing")
        subgroup = [", ".join(map(text_of, row)) or "everybody" for row in keys.to_numpy()]
        new: dict[str, Any] = {"by": ", ".join(names) or "everybody", "subgroup": subgroup, "change": change}
        if outcome is not None:
            new[OUTCOME] = outcome
        parts.append(rates.assign(**new, **{EFFECTIVE: drawn.effective}))
    whole = pd.concat(parts, ignore_index=True)
    return whole[[name for name in (*COLUMNS, EFFECTIVE, NOTE) if name in whole]]


def _with_shifts(rates: pd.DataFrame, first: pd.DataFrame) -> pd.DataFrame:
    shift = rates["estimate"] - first["estimate"]
    return rates.assign(
        shift=shift, shift_in_std_errors=shift / first["std_error"].where(first["std_error"] > 0.0)
    )
