"""From people and results to an analysis: one function for tables and for folders."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from disaggregate.analysis.analysis import Analysis
from disaggregate.analysis.folders import fit_folder
from disaggregate.analysis.renamed import renamed
from disaggregate.analysis.table_warnings import ShowProblems
from disaggregate.analysis.tables import fit_in_memory
from disaggregate.tables.folders import is_folder
from disaggregate.tables.problems import TableError
from disaggregate.tables.reading import Reading


@renamed(told="on_problems", room_for="output")
def fit_tables(
    people: Any,
    results: Any,
    *,
    group: str,
    share: str | None = None,
    shares: str | Iterable[str] = (),
    positives: str | Iterable[str] | None = None,
    rest: str | None = None,
    total: str | None = None,
    low: str | None = None,
    high: str | None = None,
    noise: str | None = None,
    size: str | None = None,
    count: str | None = None,
    weight: str | None = None,
    replicates: str | Iterable[str] = (),
    features: str | Iterable[str] = (),
    ignore: str | Iterable[str] = (),
    outcome: str = "",
    sampled: bool = False,
    confidence: float | str = 1000.0,
    noise_kind: Literal["laplace", "gaussian"] = "laplace",
    settings: dict[str, Any] | None = None,
    how: dict[str, Any] | None = None,
    landmarks: int | None = None,
    reading: Reading | None = None,
    on_problems: ShowProblems | None = None,
    output: str | Path | None = None,
) -> Analysis:
    """Learn about people from a table of them and a table of group results.

    Parameters
    ----------
    people, results : path or dataframe
        One row per person, or per cell with a ``count`` of people; one row per group. CSV, Parquet or Excel
        files, pandas or polars. People may be a folder of Parquet files, larger than memory; see
        :func:`disaggregate.analysis.fit_folder`.
    group : str
        Column of group ids, in both tables.
    share, positives, total, low, high, noise, size : str, optional
        Columns of results: the share of the outcome; or its count and among how many; or the lowest and highest
        possible share or count; the scale of privacy noise on a count; the size of the population of which people
        are a sample. Several columns of ``positives`` are the counts of several outcomes.
    shares : str or iterable of str
        Columns of results with the share of each of several outcomes.
    rest : str, optional
        Name of the outcome that is left of the total, or of 1.
    count, weight : str, optional
        Columns of people: how many people a row stands for, where rows are cells; the survey weight.
    replicates, features, ignore : str or iterable of str
        Columns of people: replicate weights; what to learn from, by default all that play no other role; what
        to leave out.
    outcome : str, optional
        What the outcome is called in reports and prints; by default as the column of results.
    sampled : bool, default=False
        Whether people are a random sample of the group that the results describe.
    confidence : float or str, default=1000.0
        Confidence in shares: one for all, "auto" to learn how exact they are, or the column of results that has
        it.
    noise_kind : {"laplace", "gaussian"}, default="laplace"
        Kind of the privacy noise on counts that have a scale of noise.
    settings : dict, optional
        Arguments of :class:`GroupStatsClassifier`. Here ``context`` is "auto" and the prior
        ``GaussianProcess(emphasis=1)`` by default: groups in tables, such as districts, are seldom formed
        at random.
    how : dict, optional
        Further arguments of its ``fit``, such as ``checkpoint`` and ``resume``.
    landmarks : int, optional
        Put kernels on so many averages of similar people, so that the file can be anonymised; see
        :func:`disaggregate.privacy.landmarks`.
    reading : Reading, optional
        What you know of how the tables are written, where that can be read in several ways:
        :class:`disaggregate.tables.reading.Reading`.
    on_problems : callable, optional
        Called with what was found in the tables, a list of :class:`disaggregate.tables.problems.Problem`, before
        the first sweep. By default warnings are warned of. ``problems`` of the result has them all.
    output : str or Path, optional
        File that the model is to be saved to: a disk without enough space is an error before the first sweep.

    Returns
    -------
    Analysis
        Fitted.
    """
    given: dict[str, Any] = {
        "group": group,
        "share": share,
        "shares": shares,
        "positives": positives,
        "rest": rest,
        "total": total,
        "low": low,
        "high": high,
        "noise": noise,
        "size": size,
        "count": count,
        "weight": weight,
        "replicates": replicates,
        "features": features,
        "ignore": ignore,
        "sampled": sampled,
        "confidence": confidence,
        "noise_kind": noise_kind,
        "settings": settings,
        "how": how,
        "reading": reading,
        "on_problems": on_problems,
        "output": output,
    }
    if not is_folder(people):
        return replace(fit_in_memory(people, results, landmarks=landmarks, **given), outcome=outcome)
    if landmarks is not None:
        raise TableError("averages of people need one table; fit a folder with centers in the settings instead.")
    return replace(fit_folder(people, results, **given), outcome=outcome)
