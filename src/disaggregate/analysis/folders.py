"""A folder of Parquet files and a table of results: fits and predictions that never read all of it at once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np
import pandas as pd

from disaggregate.analysis.analysis import Analysis
from disaggregate.analysis.disk_space import require_disk_space_for_model
from disaggregate.analysis.renamed import renamed
from disaggregate.analysis.table_warnings import ShowProblems, show_problems, show_unfamiliar
from disaggregate.analysis.unfamiliar import UnfamiliarValues
from disaggregate.estimator import GroupStatsClassifier
from disaggregate.groups.grouped import GroupedData, group_rows
from disaggregate.model.reports import make_reports, run_of_groups
from disaggregate.parallel.dask import executor_of
from disaggregate.parallel.threads import Threads
from disaggregate.sampler.dense.partition import PartitionSource, partition_groups
from disaggregate.sampler.dense.partitioned import PartitionSources, with_sizes
from disaggregate.sampler.evenly_spaced import evenly_spaced
from disaggregate.settings import is_sparse, settings_of_tables
from disaggregate.tables.check import in_order
from disaggregate.tables.check_features import feature_problems
from disaggregate.tables.check_groups import group_problems
from disaggregate.tables.check_spread import spread_problems
from disaggregate.tables.column_roles import ColumnNames, takes_columns
from disaggregate.tables.encoding import Encoder, make_encoder
from disaggregate.tables.evidence_columns import read_evidence
from disaggregate.tables.files import iter_table, read_with_notes, schema_of, write_rows
from disaggregate.tables.folders import FolderSource, LazyFeatures, PeopleFolder, columns_from_path, narrowed
from disaggregate.tables.ids import group_ids
from disaggregate.tables.kinds import numbers_of
from disaggregate.tables.per_row import weights_in_shares
from disaggregate.tables.problems import TableError, require_no_errors, without_choices
from disaggregate.tables.reading import Read, Reading
from disaggregate.tables.roles import resolve_roles
from disaggregate.tables.schema import Schema, apply_schema
from disaggregate.tables.two_tables import prepared

# Evenly spaced rows of all files, from which encoding, landmarks and widths are learned.
_SAMPLE = 50_000
_CENTERS = 500
ROWS_AT_ONCE = 5_000


@renamed(told="on_problems", room_for="output")
@takes_columns
def fit_folder(
    people: Any,
    results: Any,
    *,
    group: str,
    sampled: bool = False,
    confidence: float | str = 1000.0,
    noise_kind: Literal["laplace", "gaussian"] = "laplace",
    settings: dict[str, Any] | None = None,
    how: dict[str, Any] | None = None,
    reading: Reading | None = None,
    on_problems: ShowProblems | None = None,
    output: str | Path | None = None,
    **columns: Unpack[ColumnNames],
) -> Analysis:
    """Fit a model to people in a folder of Parquet files and a table of group results.

    Files are read partition by partition, here or by the workers of a Dask cluster, which must see the same paths.
    Only the column of groups and the survey weights are read at once. How features are encoded is learned from
    50,000 evenly spaced rows. A partition is read fastest where its groups lie together: write the folder sorted
    by group.

    Parameters
    ----------
    people : path
        A folder; all ``*.parquet`` files under it count, with the same columns. A folder on the way whose name is
        like ``district=7`` is a column.
    results, group, sampled, confidence, noise_kind, settings, how, reading, on_problems, output, **columns
        As for :func:`disaggregate.fit_tables`; the prior must be a Gaussian process, and ``centers`` is 500 unless
        the settings say otherwise. There is no ``warm_start``. Context needs one more pass over the files. One
        row per person: no ``count``.

    Returns
    -------
    Analysis
        Fitted.
    """
    _require_dense(settings or {})
    roles: dict[str, Any] = dict(columns)
    _require_people(roles.get("count"))
    _require_two_outcomes(roles)
    arguments = _without_warm_start(how or {})
    folder, of_results = PeopleFolder.open(people), read_with_notes(results, None, reading)
    if isinstance(confidence, str) and confidence != "auto":
        roles["confidence"], confidence = confidence, 1000.0
    sample = folder.take(evenly_spaced(len(folder), _SAMPLE), folder.names())
    known = resolve_roles(sample, of_results.table, group=group, **roles)
    narrow = pd.DataFrame({name: folder.column(name) for name in (known.group, *known.names("weight"))})
    tables = prepared(Read(narrow), of_results, known, reading)
    results = tables.results
    about = [
        *group_problems(narrow, results, known),
        *feature_problems(sample, known),
        *spread_problems(sample, known),
    ]
    problems = in_order([*tables.problems, *about])
    require_no_errors(problems)
    show_problems(problems, on_problems)
    encoder, schema = make_encoder(sample, known.features), schema_of(sample)
    kept = np.arange(len(narrow))
    if known.weight is not None:
        kept = np.flatnonzero(numbers_of(narrow[known.weight]) > 0.0)
        narrow = narrow.iloc[kept].reset_index(drop=True)
    evidence = read_evidence(narrow, results, known, sampled=sampled, confidence=confidence, noise=noise_kind)
    ids, _ = group_ids(narrow, results, known.group)
    if any(name is None for name in ids):
        raise TableError(f"{people}: some people have no group ({known.group!r} is empty); leave them out.")
    data = group_rows(ids, evidence, weights_in_shares(narrow, known, ids, evidence))
    classifier = GroupStatsClassifier(**{"centers": _CENTERS, **settings_of_tables(settings or {})})
    require_disk_space_for_model(output, classifier, len(narrow))
    classifier._fit_partitions(
        encoder.transform(sample),
        LazyFeatures(folder, kept, encoder, schema),
        folder_partitions(folder, kept, data, encoder, schema),
        data,
        **arguments,
    )
    return Analysis(classifier, encoder, known, schema, sampled, without_choices(problems))


def _require_dense(settings: dict[str, Any]) -> None:
    if is_sparse(settings):
        raise TableError(
            'a folder of files needs prior="gaussian_process", drawn partition by partition; leave the prior '
            "out of the settings, or give the people as one table."
        )


def _require_people(count: str | None) -> None:
    if count is not None:
        raise TableError(
            f"count: {count!r} says that rows are cells, but a folder must hold one row per person; "
            "write the cells to one file, and give that."
        )


def _require_two_outcomes(roles: dict[str, Any]) -> None:
    positives = roles.get("positives")
    are_many = positives is not None and not isinstance(positives, str) and len(list(positives)) > 1
    if roles.get("shares") or roles.get("rest") or are_many:
        raise TableError(
            "several outcomes are not yet supported for a folder of files; give the people as one table, or a "
            "random part."
        )


def _without_warm_start(how: dict[str, Any]) -> dict[str, Any]:
    if how.get("warm_start"):
        raise TableError(
            "warm_start=True adds draws to an earlier fit, but every fit of a folder is a new one: to resume a "
            "fit that was stopped give a checkpoint and resume=True, for more draws a larger n_draws in settings."
        )
    return {name: value for name, value in how.items() if name != "warm_start"}


def folder_partitions(
    folder: PeopleFolder, kept: np.ndarray, data: GroupedData, encoder: Encoder, schema: Schema
) -> PartitionSources:
    """Cut the people of a folder into partitions of whole groups, which know their files and rows."""
    reports, runs = make_reports(data), partition_groups(data.offsets)
    rows: list[PartitionSource] = []
    for index, (first, last) in enumerate(runs):
        own = kept[data.order[data.offsets[first] : data.offsets[last]]]
        reported = run_of_groups(reports, first, last)
        rows.append(FolderSource(index, *narrowed(folder, own), encoder, schema, reported))
    return with_sizes(rows, runs, data)


@renamed(told="on_unfamiliar")
def predict_folder(
    analysis: Analysis,
    people: Any,
    output: Any,
    *,
    level: float = 0.9,
    executor: Any = None,
    n_jobs: int | None = None,
    on_unfamiliar: Callable[[list[str]], object] | None = None,
) -> int:
    """Add ``probability, conf_low, conf_high`` to the people of a folder; each file becomes one in another folder.

    Parameters
    ----------
    analysis : Analysis
        Fitted.
    people : path
        A folder of Parquet files.
    output : path
        Folder to write to, with the names of the files; it is created if it does not exist.
    level : float, default=0.9
        Probability of the credible intervals.
    executor : Executor or distributed.Client, optional
        Processes the files instead of threads.
    n_jobs : int, optional
        Number of threads.
    on_unfamiliar : callable, optional
        Called with what was not in the fit, one line each: levels, groups, a missing column of groups.
        By default warnings are emitted.

    Returns
    -------
    int
        Number of people.
    """
    source, target = Path(people).expanduser().resolve(), Path(output).expanduser().resolve()
    if target == source or source in target.parents:
        raise TableError(f"{target} lies in the folder of the people; write to another one.")
    files, names = PeopleFolder.open(source).files, analysis.group_names
    analysis = analysis.with_groups(
        known for file in files for _, known in _people_of(source, file, analysis.schema)
    )
    tasks = [(analysis, names, source, file, target / file.relative_to(source), level) for file in files]
    for *_, written, _ in tasks:
        written.parent.mkdir(parents=True, exist_ok=True)
    where = Threads(n_jobs) if executor is None else executor_of(executor)
    unfamiliar = UnfamiliarValues(analysis, names)
    for findings in where.map(_predict_file, tasks):
        unfamiliar.add(findings)
    show_unfamiliar(unfamiliar.messages(), on_unfamiliar)
    return unfamiliar.n_rows


def _predict_file(task: tuple[Analysis, Sequence[Hashable] | None, Path, Path, Path, float]) -> dict[str, Any]:
    """Predict the people of one file, and return what is to be said of them."""
    analysis, names, root, file, target, level = task
    unfamiliar = UnfamiliarValues(analysis, names)

    def predicted() -> Iterator[pd.DataFrame]:
        for stored, known in _people_of(root, file, analysis.schema):
            unfamiliar.observe(known)
            yield stored.join(analysis.predict(known, level))

    write_rows(target, predicted())
    return unfamiliar.findings()


def _people_of(root: Path, file: Path, schema: Schema) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Read a file some rows at a time: as it is stored, and with the columns in the names of its folders."""
    from_path = columns_from_path(root, file)
    for piece in iter_table(file, ROWS_AT_ONCE, schema):
        yield piece, apply_schema(piece.assign(**from_path), schema) if from_path else piece
