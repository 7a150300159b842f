"""From people and results to an analysis: one function for tables in memory and for folders."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Unpack

from disaggregate.analysis import privacy
from disaggregate.analysis.analysis import Analysis
from disaggregate.analysis.disk_space import require_disk_space_for_model
from disaggregate.analysis.folders import fit_folder
from disaggregate.analysis.renamed import renamed
from disaggregate.analysis.table_warnings import ShowProblems, show_problems
from disaggregate.estimator import GroupStatsClassifier
from disaggregate.settings import settings_of_tables
from disaggregate.tables.column_roles import ColumnNames, require_roles, takes_columns
from disaggregate.tables.counts import counts_of, counts_to_fit, rows_with_people
from disaggregate.tables.encoding import make_encoder
from disaggregate.tables.evidence_columns import read_evidence
from disaggregate.tables.files import schema_of
from disaggregate.tables.folders import is_folder
from disaggregate.tables.ids import group_ids
from disaggregate.tables.per_row import weights_in_shares
from disaggregate.tables.problems import TableError, require_no_errors, without_choices
from disaggregate.tables.reading import Reading
from disaggregate.tables.two_tables import read_two_tables


@renamed(told="on_problems", room_for="output")
@takes_columns
def fit_tables(
    people: Any,
    results: Any,
    *,
    group: str,
    confidence: float | str = 1000.0,
    noise_kind: Literal["laplace", "gaussian"] = "laplace",
    sampled: bool = False,
    outcome: str = "",
    settings: dict[str, Any] | None = None,
    how: dict[str, Any] | None = None,
    landmarks: int | None = None,
    reading: Reading | None = None,
    on_problems: ShowProblems | None = None,
    output: str | Path | None = None,
    **columns: Unpack[ColumnNames],
) -> Analysis:
    """Fit a model to a table of people and a table of group results.

    Parameters
    ----------
    people, results : path or dataframe
        One row per person, or per cell with a ``count`` of people; one row per group. CSV, Parquet or Excel
        files, pandas or polars. People may be a folder of Parquet files, larger than memory; see
        :func:`disaggregate.analysis.fit_folder`.
    group : str
        Column of group ids, in both tables.
    {columns}
    outcome : str, optional
        Name of the outcome in reports; by default the name of the column of results.
    sampled : bool, default=False
        Whether people are a random sample of the group that the results describe.
    confidence : float or str, default=1000.0
        Confidence in shares: one for all, "auto" to learn how exact they are, or the column of results that has
        it.
    noise_kind : {"laplace", "gaussian"}, default="laplace"
        Kind of the privacy noise on counts that have a scale of noise.
    settings : dict, optional
        Arguments of :class:`GroupStatsClassifier`. Here ``context`` is "auto" and the prior
        ``GaussianProcess(emphasis=1, cells=True)`` by default: groups in tables, such as districts, are seldom
        formed at random.
    how : dict, optional
        Further arguments of its ``fit``, such as ``checkpoint`` and ``resume``.
    landmarks : int, optional
        Centre kernels at this many averages of similar people, so that the file can be anonymised; see
        :func:`disaggregate.privacy.landmarks`.
    reading : Reading, optional
        How the tables are written, where they can be read in several ways:
        :class:`disaggregate.tables.reading.Reading`.
    on_problems : callable, optional
        Called with the problems of the tables, a list of :class:`disaggregate.tables.problems.Problem`, before
        the first sweep. By default warnings are emitted as Python warnings. ``problems`` of the result has all
        problems.
    output : str or Path, optional
        File to which the model will be saved: too little disk space is then an error before the first sweep.

    Returns
    -------
    Analysis
        Fitted.
    """
    require_roles(columns)
    given: dict[str, Any] = {
        **columns,
        "group": group,
        "confidence": confidence,
        "noise_kind": noise_kind,
        "sampled": sampled,
        "settings": settings,
        "how": how,
        "reading": reading,
        "on_problems": on_problems,
        "output": output,
    }
    if not is_folder(people):
        return replace(_fit_in_memory(people, results, landmarks=landmarks, **given), outcome=outcome)
    if landmarks is not None:
        raise TableError("averages of people need one table; fit a folder with centers in the settings instead.")
    return replace(fit_folder(people, results, **given), outcome=outcome)


def _fit_in_memory(
    people: Any,
    results: Any,
    *,
    group: str,
    sampled: bool,
    confidence: float | str,
    noise_kind: Literal["laplace", "gaussian"],
    settings: dict[str, Any] | None,
    how: dict[str, Any] | None,
    landmarks: int | None,
    reading: Reading | None = None,
    on_problems: ShowProblems | None = None,
    output: str | Path | None = None,
    **roles: Any,
) -> Analysis:
    """Learn about people from a table of them; arguments as for :func:`disaggregate.fit_tables`."""
    if isinstance(confidence, str) and confidence != "auto":
        roles["confidence"], confidence = confidence, 1000.0  # the number is for rows that leave the column empty
    tables = read_two_tables(people, results, reading=reading, group=group, **roles)
    people, results, known = tables.people, tables.results, tables.roles
    problems = tables.check(sampled)
    require_no_errors(problems)
    show_problems(problems, on_problems)
    encoder = make_encoder(people, known.features, counts=counts_of(people, known))
    schema = schema_of(people)
    people = rows_with_people(people, known)
    evidence = read_evidence(people, results, known, sampled=sampled, confidence=confidence, noise=noise_kind)
    ids, _ = group_ids(people, results, known.group)
    X = encoder.transform(people)
    centers = {} if landmarks is None else {"centers": privacy.landmarks(X, landmarks)}
    classifier = GroupStatsClassifier(**{**settings_of_tables(settings or {}), **centers})
    require_disk_space_for_model(output, classifier, len(X))
    weights = weights_in_shares(people, known, ids, evidence)
    classifier.fit(X, evidence, groups=ids, sample_weight=weights, **counts_to_fit(people, known), **(how or {}))
    return Analysis(classifier, encoder, known, schema, sampled, without_choices(problems))
