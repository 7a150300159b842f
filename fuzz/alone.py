"""Tries to learn about somebody who is alone in a cell, from everything that is reported at min_group_size=10.

    python -m fuzz.alone --runs 1000

Each table has one person with a job that nobody else has, an income above everybody's, and a group of their own.
A small model is fitted, of two outcomes or of three, with and without effects of groups and their make-up. The
attacker has the rates of subgroups, the effects, the groups, the page and the file without individuals, all for at
least 10 people, and looks for numbers of cells of fewer, for hidden cells that differences give away, for numbers
and sentences about the cell or the group, and for the income. All tables of rates together are also taken as
equations, to see whether they can be solved for a hidden cell, and all that hidden groups may have reported is
tried against the bounds that are reported. One line per kind of leak.

Runs may be split: table 0 to 499 with ``--runs 500``, and 500 to 999 with ``--runs 500 --first 500``.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import disaggregate as dg
from disaggregate.fitting import dense
from disaggregate.posterior import batches
from disaggregate.posterior.bounds import reported_shares, subgroup_bounds
from tests.helpers.short_pilots import shorten_pilots

LEAST = 10
TABLES = (("job",), ("sex",), ("g",), ("job", "sex"), ("g", "sex"))
_ROW, _CELL = re.compile(r"<tr.*?</tr>", re.DOTALL), re.compile(r"<t[dh].*?</t[dh]>", re.DOTALL)
_TAG, _NUMBER = re.compile(r"<[^>]*>"), re.compile(r"[-+\u2212]?\d*\.\d+ ?%?")
_INCOME = re.compile(r"(?<![\d.])987,?654")  # not as digits of another number, such as 44/81
_SENTENCE = re.compile(r"<(p|li|dd)\b.*?</\1>", re.DOTALL)
JOB, HOME, INCOME = "lighthouse keeper", "lighthouse", 987_654.0
SETTINGS = {"kernel": "linear", "n_chains": 2, "n_draws": 10, "n_burn": 10, "n_replicas": 1, "random_state": 0}
WAYS = [*product((2, 3), (False, True)), *product((2, 2), (False, True))]  # outcomes; fits of three take long


def random_tables(rng: np.random.Generator, n_outcomes: int = 2) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make groups of 10 to 20 people, and one person in a group and a cell of their own."""
    sizes = rng.integers(LEAST, 21, rng.integers(5, 9))
    n = int(sizes.sum())
    people = pd.DataFrame(
        {
            "g": np.repeat([f"town {place}" for place in range(len(sizes))], sizes),
            "job": rng.choice(["baker", "clerk", "nurse"], n),
            "sex": rng.choice(["f", "m"], n),
            "income": rng.uniform(9_000, 90_000, n).round(2),
        }
    )
    alone = pd.DataFrame({"g": [HOME], "job": [JOB], "sex": rng.choice(["f", "m"], 1), "income": [INCOME]})
    people = pd.concat([people, alone], ignore_index=True)
    counts = [rng.multinomial(size, rng.dirichlet(np.ones(n_outcomes))) for size in (*sizes, 1)]
    shares = pd.DataFrame(np.array(counts) / np.array([[*sizes, 1]]).T, columns=list("abc"[:n_outcomes]))
    shares = shares[["a"]].rename(columns={"a": "share"}) if n_outcomes == 2 else shares
    return people, pd.concat([pd.DataFrame({"g": pd.unique(people["g"])}), shares], axis=1)


def leaks(people: pd.DataFrame, results: pd.DataFrame, folder: Path, with_places: bool = False) -> Iterator[str]:
    """Yield what could be learned about the one person."""
    shares = [str(name) for name in results.columns[1:]]
    reports: dict[str, Any] = {"share": "share"} if len(shares) == 1 else {"shares": shares}
    settings = {**SETTINGS, "context": with_places, "group_effects": with_places}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        analysis = dg.fit_tables(people, results, group="g", **reports, settings=settings, landmarks=8)
        views = [analysis.of_outcome(name) for name in analysis.outcomes] or [analysis]
        for one in views:
            tables = {by: one.subgroups(people, list(by), min_group_size=LEAST) for by in TABLES}
            for by, table in tables.items():
                yield from _of_table(f"subgroups by {'+'.join(by)}", table)
            yield from _of_all_tables(people, tables)
            yield from _of_bounds(one, people, tables)
            yield from _of_table("groups", one.group_table(min_group_size=LEAST).assign(estimate=_of_any_number))
            effects = one.effects(people, min_group_size=LEAST)
            named = effects["contrast"].astype(str).str.contains(JOB) & effects["estimate"].notna()
            if named.any():
                yield "effects: a number for the cell"
        yield from _of_page(analysis, people, folder)
        yield from _of_file(analysis, folder)


def _of_any_number(groups: pd.DataFrame) -> pd.Series:
    return groups[["reported", "implied", "conf_low", "conf_high"]].bfill(axis=1).iloc[:, 0]


def _of_table(name: str, table: pd.DataFrame) -> Iterator[str]:
    hidden = table["estimate"].isna()
    if (~hidden & (table["n"] < LEAST)).any():
        yield f"{name}: a number for fewer than {LEAST}"
    # The rate of everybody follows from another table, so that hidden cells are known together.
    if hidden.any() and table.loc[hidden, "n"].sum() < LEAST:
        yield f"{name}: hidden cells by difference"


def _of_all_tables(people: pd.DataFrame, tables: dict[tuple[str, ...], pd.DataFrame]) -> Iterator[str]:
    """Solve what is reported for what is hidden: a rate times its people is a sum over the finest cells."""
    finest = people.groupby(["g", "job", "sex"]).size().reset_index(name="n")
    reported, secret = [np.ones(len(finest))], []  # the rate of everybody follows from any table without a gap
    for by, table in tables.items():
        for row in table.to_dict("records"):
            inside = np.all([finest[name] == row[name] for name in by], axis=0).astype(float)
            if not np.isnan(row["estimate"]):
                reported.append(inside)
            elif row["n"] < LEAST:
                secret.append((by, inside))
    equations = np.array(reported).T
    for by, wanted in secret:
        solution = np.linalg.lstsq(equations, wanted, rcond=None)[0]
        if np.abs(equations @ solution - wanted).max() < 1e-6:
            yield f"subgroups by {'+'.join(by)}: a hidden cell follows from all tables together"


def _of_bounds(analysis: Any, people: pd.DataFrame, tables: dict[tuple[str, ...], pd.DataFrame]) -> Iterator[str]:
    """Try all that hidden groups may have reported: the published bounds may agree with one of them only."""
    data = analysis.classifier._data
    groups = tables[("g",)].set_index("g")["estimate"].groupby(level=0).first()
    secret = [number for number, name in enumerate(data.names) if np.isnan(groups[name])]
    known = reported_shares(data, people["g"].tolist())
    if known is None or not secret:
        return
    reported = []
    for by, table in tables.items():
        seen = table[table["estimate"].notna()]
        if "bound_low" in table and len(seen):
            levels = pd.MultiIndex.from_frame(table[list(by)])
            subgroup = levels.get_indexer(pd.MultiIndex.from_frame(people[list(by)]))
            reported.append(
                (subgroup.astype(np.intp), seen.index, seen[["bound_low", "bound_high"]].to_numpy(float))
            )
    weight, agree = np.ones(len(people)), set()
    for counts in product(*(range(int(data.people[number]) + 1) for number in secret)):
        shares = known.shares.copy()
        shares[secret] = (np.array(counts) / data.people[secret])[:, np.newaxis]
        guessed = known._replace(shares=shares)
        if all(np.allclose(subgroup_bounds(where, guessed, weight)[rows], seen) for where, rows, seen in reported):
            agree.add(counts[secret.index(data.names.index(HOME))])
    if len(agree) == 1:
        yield "subgroups: the outcome follows from the bounds"


def _of_page(analysis: Any, people: pd.DataFrame, folder: Path) -> Iterator[str]:
    from disaggregate.report import write_report

    write_report(analysis, people, folder / "page.html", min_group_size=LEAST)
    page = (folder / "page.html").read_text(encoding="utf-8")
    if _INCOME.search(page):
        yield "page: the income"
    if any(JOB in found.group() or HOME in found.group() for found in _SENTENCE.finditer(page)):
        yield "page: a sentence about the cell or the group"
    for row in _ROW.findall(page):
        cells = [_TAG.sub("", cell).strip() for cell in _CELL.findall(row)]
        is_about = any(JOB in cell or HOME in cell for cell in cells)
        if is_about and any(_NUMBER.fullmatch(cell) for cell in cells):
            yield "page: a number for the cell or the group"


def _of_file(analysis: Any, folder: Path) -> Iterator[str]:
    analysis.save(folder / "m.dgz", anonymise=True, min_group_size=LEAST)
    known = dg.load(folder / "m.dgz")
    if hasattr(known.classifier, "label_proba_"):
        yield "file: everybody's probability"
    place = known.encoder.columns_of("income")[0]
    column = known.encoder.columns[known.encoder.features.index("income")]
    centers = np.vstack([part.basis.centers for part in known.classifier.posterior_.parts])
    incomes = centers[:, place] / column.weight + column.mean
    if (np.abs(incomes / INCOME - 1.0) < 0.1).any():
        yield "file: the income within 10 %"
    with zipfile.ZipFile(folder / "m.dgz") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    texts = members["disaggregate.json"].decode()
    if HOME in texts or JOB in texts:
        yield "file: the name of the group or the cell"
    if _INCOME.search(texts):
        yield "file: the income"
    encoded = (INCOME - column.mean) * column.weight
    for content in members.values():
        numbers = np.frombuffer(content[: len(content) // 8 * 8], dtype="<f8")
        if np.isclose(numbers, INCOME, rtol=1e-6).any() or np.isclose(numbers, encoded, rtol=1e-6).any():
            yield "file: the income among its numbers"


def _hurry(patch: pytest.MonkeyPatch) -> None:
    """Leave out work that changes nothing of what is reported, or only its digits."""
    shorten_pilots(patch)
    patch.setattr(dense, "PRIOR_DRAWS", 20)  # enough to be reported; 400 take most of the time
    patch.setattr(batches, "FIRST_ROWS", 2**10)  # a table in one piece


def main(argv: list[str] | None = None) -> int:
    """Attack many tables and count what leaked; 1 if anything did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000, help="tables (default: 1000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first table (default: 0)")
    parser.add_argument("--seed", type=int, default=0, help="seed (default: 0)")
    arguments = parser.parse_args(argv)
    reported = Counter[str]()
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        _hurry(patch)
        for run in range(arguments.first, arguments.first + arguments.runs):
            rng, (n_outcomes, with_places) = np.random.default_rng([arguments.seed, run]), WAYS[run % len(WAYS)]
            reported.update(set(leaks(*random_tables(rng, n_outcomes), Path(name), with_places)))
            if run % 50 == 49:
                print(f"tables {arguments.first} to {run}: {dict(reported)}", flush=True)
    print(f"{arguments.runs} tables")
    for leak, times in reported.most_common():
        print(f"{times:5d}  {leak}")
    print("nothing leaked" if not reported else f"{len(reported)} kinds of leaks")
    return int(bool(reported))


if __name__ == "__main__":
    sys.exit(main())
