"""A table of people and a table of results: a fit that holds both in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from disaggregate.analysis import privacy
from disaggregate.analysis.analysis import Analysis
from disaggregate.analysis.disk_space import require_disk_space_for_model
from disaggregate.analysis.table_warnings import ShowProblems, show_problems
from disaggregate.estimator import GroupStatsClassifier
from disaggregate.settings import settings_of_tables
from disaggregate.tables.counts import counts_of, counts_to_fit, rows_with_people
from disaggregate.tables.encoding import make_encoder
from disaggregate.tables.evidence_columns import read_evidence
from disaggregate.tables.files import schema_of
from disaggregate.tables.ids import group_ids
from disaggregate.tables.problems import require_no_errors, without_choices
from disaggregate.tables.reading import Reading
from disaggregate.tables.sample_weights import weights_in_shares
from disaggregate.tables.two_tables import read_two_tables


def fit_in_memory(
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
