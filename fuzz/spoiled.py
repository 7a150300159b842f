"""Spoils copies of two good tables, and holds the reader to it: each is read rightly and reported, or refused.

    python -m fuzz.spoiled --runs 300

A table of people and one of results are written in every way that analysts do, alone and in pairs: other
separators, encodings, decimal marks, percent signs, amounts of money, names of groups that are spelt otherwise,
workbooks; and with faults: rows that are cut, duplicated or lost, values that stand for nothing known. What was
read is compared with the good tables, and where there is a fault with what they hold then: plainly written, and
read by pandas. A copy that is read otherwise, or a fault without an error or a warning, is a failure.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from disaggregate.tables.two_tables import examine

NAMES = ("Zürich", "Genève", "Bern", "New York", "Saint-Étienne", "07", "12", "Köln")


def good_tables(rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make people in eight groups, and what the groups report."""
    group = np.repeat(NAMES, 12)
    people = pd.DataFrame(
        {
            "district": group,
            "age": rng.integers(18, 90, len(group)),
            "income": rng.integers(9_000, 250_000, len(group)) + 0.25 * rng.integers(0, 4, len(group)),
            "job": rng.choice(["baker", "clerk", "nurse"], len(group)),
        }
    )
    return people, pd.DataFrame({"district": NAMES, "share": rng.integers(2, 11, len(NAMES)) / 12.0}).round(
        {"share": 4}
    )


class Written:
    """Two tables as texts, and how they will be written to files.

    Parameters
    ----------
    people, results : DataFrame
        Good ones.
    """

    def __init__(self, people: pd.DataFrame, results: pd.DataFrame) -> None:
        self.people = people.astype(str)
        self.results = results.astype(str)
        self.separator, self.encoding, self.ending, self.lines = ",", "utf-8", ".csv", "\n"
        self.mark_people: Callable[[str], str] = str
        self.mark_results: Callable[[str], str] = str
        self.is_marked = False  # once it is written: some marks need a word that is not there

    def write(self, folder: Path) -> list[Path]:
        """Write both."""
        return [self._write(folder, name) for name in ("people", "results")]

    def read_plainly(self) -> list[pd.DataFrame]:
        """Read both as pandas reads texts."""
        texts = [io.StringIO(self._text(name)) for name in ("people", "results")]
        return [pd.read_csv(text, dtype=str, keep_default_na=False) for text in texts]

    def _write(self, folder: Path, name: str) -> Path:
        table, path = getattr(self, name), folder / f"{name}{self.ending}"
        if self.ending == ".xlsx":
            table.map(_cell).to_excel(path, index=False)
        else:
            path.write_bytes(self._text(name).encode(self.encoding, "replace"))
        return path

    def _text(self, name: str) -> str:
        table, text = getattr(self, name), io.StringIO(newline="")
        writer = csv.writer(text, delimiter=self.separator, lineterminator=self.lines)
        writer.writerow(table.columns)
        writer.writerows(table.to_numpy().tolist())
        marked = (self.mark_people if name == "people" else self.mark_results)(text.getvalue())
        self.is_marked |= marked != text.getvalue()
        return marked


def _cell(text: str) -> Any:
    try:
        return float(text) if not (text.startswith("0") and text[1:].isdigit()) else text
    except ValueError:
        return text


def _commas(tables: Written) -> None:
    for table in (tables.people, tables.results):
        for name in ("income", "share"):
            if name in table:
                table[name] = table[name].str.replace(".", ",", regex=False)


def _thousands(tables: Written) -> None:
    tables.people["income"] = [_grouped(text, ",", ".") for text in tables.people["income"]]


def _german(tables: Written) -> None:
    tables.people["income"] = [_grouped(text, ".", ",") for text in tables.people["income"]]
    tables.separator = ";"


def _grouped(text: str, between: str, decimal: str) -> str:
    try:
        return f"{float(text):,.2f}".replace(",", "_").replace(".", decimal).replace("_", between)
    except ValueError:
        return text


def _change(table: str, name: str, how: Callable[[str], str]) -> Callable[[Written], None]:
    def spoil(tables: Written) -> None:
        getattr(tables, table)[name] = getattr(tables, table)[name].map(how)

    return spoil


def _set(**how: Any) -> Callable[[Written], None]:
    def spoil(tables: Written) -> None:
        for name, value in how.items():
            setattr(tables, name, value)

    return spoil


def _first(table: str, name: str, value: str, n: int = 1) -> Callable[[Written], None]:
    def spoil(tables: Written) -> None:
        column = getattr(tables, table)[name].astype(object)
        column.iloc[:n] = value
        getattr(tables, table)[name] = column

    return spoil


def _percent(text: str) -> str:
    try:
        value = f"{100 * float(text.replace(',', '.')):.2f}"
        return value.replace(".", ",") if "," in text else value
    except ValueError:
        return text


def _twice(tables: Written) -> None:
    tables.people = pd.concat([tables.people, tables.people.iloc[:20]], ignore_index=True)


def _with_id(tables: Written) -> None:
    tables.people.insert(1, "person", [str(row + 1) for row in range(len(tables.people))])
    _twice(tables)


def _one_more_field(tables: Written) -> Callable[[str], str]:
    return lambda text: text.replace("baker", f"baker{tables.separator}clerk", 1)


def _quote(text: str) -> str:
    """Begin a field with a quote that nothing ends."""
    first, *others = text.splitlines(keepends=True)
    return "".join([first, '"', *others])


def _cut(text: str) -> str:
    """End in the middle of a line, one of the middle."""
    lines = text.splitlines(keepends=True)
    return "".join(lines[: len(lines) // 2]) + lines[len(lines) // 2][:4]


# What another spoil makes a value that nobody could tell from a good one: 1.5 among percentages is 1.5 %.
UNTELLABLE = frozenset({frozenset({"0 to 100", "0 to 100 in part"}), frozenset({"0 to 100", "share above 1"})})

SPOILS: dict[str, Callable[[Written], None]] = {
    "semicolons": _set(separator=";"),
    "tabs": _set(separator="\t"),
    "bars": _set(separator="|"),
    "Latin-1": _set(encoding="latin-1"),
    "Windows-1252": _set(encoding="cp1252"),
    "UTF-16": _set(encoding="utf-16"),
    "UTF-16 without a mark": _set(encoding="utf-16-le"),
    "UTF-8 with a mark": _set(encoding="utf-8-sig"),
    "Mac Roman": _set(encoding="mac-roman"),
    "DOS": _set(encoding="cp850"),
    "Windows line ends": _set(lines="\r\n"),
    "workbook": _set(ending=".xlsx"),
    "decimal commas": _commas,
    "thousands": _thousands,
    "German numbers": _german,
    "dollars": _change("people", "income", lambda text: f"${_grouped(text, ',', '.')}"),
    "euros": _change("people", "income", lambda text: f"{text} €"),
    "percent signs": _change("results", "share", lambda text: f"{_percent(text)} %"),
    "0 to 100": _change("results", "share", _percent),
    "0 to 100 in part": _first("results", "share", "57.5", 3),
    "capitals": _change("results", "district", str.upper),
    "blanks": _change("results", "district", lambda text: f" {text} "),
    "zeros lost": _change("results", "district", lambda text: text.lstrip("0")),
    "zeros in front": _change("people", "district", lambda text: text.zfill(4) if text.isdigit() else text),
    "two spellings": _first("people", "district", "zürich", 3),
    "groups lost": lambda tables: setattr(tables, "results", tables.results.iloc[2:]),
    "group twice": lambda tables: setattr(tables, "results", pd.concat([tables.results, tables.results.iloc[:1]])),
    "no groups": _first("people", "district", "", 2),
    "not known: -99": _first("people", "age", "-99", 3),
    "not known: 999999": _first("people", "income", "9999999", 3),
    "not known: text": _first("people", "age", "refused", 2),
    "rows twice": _twice,
    "ids and rows twice": _with_id,
    "share above 1": _first("results", "share", "1.5"),
    "share below 0": _first("results", "share", "-0.5"),
    "a line cut": _set(mark_people=_cut),
    "a field too many": lambda tables: setattr(tables, "mark_people", _one_more_field(tables)),
    "a quote": _set(mark_results=_quote),
    "a title above": _set(mark_results=lambda text: "Results 2016\n\n" + text),
    "a sum below": _set(mark_results=lambda text: text + "Total" + text.splitlines()[1][-7:] + "\n"),
    "nobody": _set(mark_people=lambda text: text.splitlines()[0] + "\n"),
}


# What the tables then hold is something else; the others write the same in another way.
FAULTS = frozenset(
    {
        *("groups lost", "group twice", "no groups", "rows twice", "ids and rows twice", "a line cut", "nobody"),
        *("not known: -99", "not known: 999999", "not known: text", "share above 1", "share below 0"),
        *("a field too many", "a quote", "a title above", "a sum below", "0 to 100 in part", "two spellings"),
    }
)
_OF_TEXTS = frozenset({"a line cut", "nobody", "a field too many", "a quote", "a title above", "a sum below"})


def judge(people: pd.DataFrame, results: pd.DataFrame, spoils: tuple[str, ...], folder: Path) -> str:
    """Spoil the tables, read them, and say what came of it."""
    tables = Written(people, results)
    for name in spoils:
        SPOILS[name](tables)
    paths = tables.write(folder)
    read, problems = examine(*paths, group="district", share="share")
    levels = {problem.level for problem in problems}
    if read is None or "error" in levels:
        assert all(problem.message for problem in problems)
        return "refused"
    faults = {name for name in spoils if name in FAULTS and (tables.is_marked or name not in _OF_TEXTS)}
    if faults and "warning" not in levels:
        return "A FAULT IN SILENCE"
    told = {problem.where for problem in problems if problem.level == "warning"}
    if not agree(read, *with_faults(people, results, faults), told):
        return "WRONG IN SILENCE"
    if faults:
        return "read rightly, and warned of the fault"
    return "read rightly, and told" if any(one.level != "advice" for one in problems) else "read rightly"


def with_faults(people: pd.DataFrame, results: pd.DataFrame, faults: set[str]) -> list[pd.DataFrame]:
    """Return what the tables hold with these faults."""
    plain = Written(people, results)
    for name in SPOILS:
        if name in faults:
            SPOILS[name](plain)
    return plain.read_plainly()


def agree(read: Any, people: pd.DataFrame, results: pd.DataFrame, told: Collection[str] = ()) -> bool:
    """Return whether what was read is what the tables hold, but for columns whose owner was warned."""
    if len(read.people) != len(people) or len(read.results) != len(results):
        return False
    numbers = (("people", "age", 0.005), ("people", "income", 0.005), ("results", "share", 5e-5))
    for table, name, within in numbers:
        expected = {"people": people, "results": results}[table][name]
        found = getattr(read, table)[name]
        is_told = f"{table}, column {name!r}" in told
        if found.dtype.kind not in "iuf" and not is_told:
            return False
        wanted = pd.to_numeric(expected, errors="coerce").to_numpy(float)
        if not is_told and not np.allclose(found, wanted, atol=within, equal_nan=True):
            return False
    same = list(read.people["job"].fillna("")) == list(people["job"])
    return same and _same_groups(read, people, results)


def _same_groups(read: Any, people: pd.DataFrame, results: pd.DataFrame) -> bool:
    """Return whether people have the results of their group."""
    ours, theirs = (dict(enumerate(map(str, table["district"]))) for table in (people, results))
    shares = dict(zip(map(str, read.results["district"]), theirs.values(), strict=True))
    found = [shares.get(str(name)) for name in read.people["district"]]
    known = set(theirs.values())
    return found == [name if name in known else None for name in ours.values()]


def main(argv: list[str] | None = None) -> int:
    """Spoil many copies and count what came of it; 1 if any was read wrongly in silence."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300, help="copies (default: 300)")
    parser.add_argument("--seed", type=int, default=0, help="seed (default: 0)")
    parser.add_argument("--quiet", action="store_true", help="only the sums")
    arguments = parser.parse_args(argv)
    rng = np.random.default_rng(arguments.seed)
    pairs = [pair for pair in combinations(SPOILS, 2) if frozenset(pair) not in UNTELLABLE]
    rng.shuffle(pairs)
    cases = [*((name,) for name in SPOILS), *map(tuple, pairs)][: arguments.runs]
    tally: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        for spoils in cases:
            happened = judge(*good_tables(rng), spoils, Path(name))
            tally[happened] += 1
            if not arguments.quiet or happened.isupper():
                print(f"{' + '.join(spoils):50s} {happened}", flush=True)
    for happened, times in tally.most_common():
        print(f"{times:5d}  {happened}")
    return int(any(happened.isupper() for happened in tally))


if __name__ == "__main__":
    sys.exit(main())
