"""Breaks the reader of tables of people: ``python -m fuzz.people --runs 100000``.

An input is the bytes of a CSV file, plain or gzipped, or choices of which a table is made; what is read is then
checked and encoded, as a fit would.
"""

from __future__ import annotations

import gzip
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

from fuzz.choices import Choices
from fuzz.running import Target, main

HEADERS = (
    "g,x,c",
    "g,x",
    "g,x,c,d",
    "g,x,c",
    "g,x",
    "g",
    "g\tx\tc",
    "g,x,c,d,e,f",
    "\ufeffg,x,c",
    '"g","x","c"',
    "g,x,x",
    "g;x;c",
    ",,",
    "x,g,",
)
ENDS = (*["\n"] * 40, "\r\n", "\r", "\n\n", "", "\x00\n")
FILES = ("it.csv", "it.csv", "it.tsv", "it.csv.gz")
BOMBS = (b"a" * 3 * 10**5, b"x\n" * 10**4, b"," * 10**5, b'"' * 10**5, b"\n" * 10**4, b"a,b\n1," + b"9" * 10**5)


def csv_text(choices: Choices) -> bytes:
    """Make a file of some lines that are mostly as long as the first."""
    header = choices.one_of(HEADERS)
    mark = "\t" if "\t" in header else ","
    n_fields = header.count(mark) + 1
    lines = [header]
    for _ in range(choices.below(12)):
        fields = [_field(choices) for _ in range(n_fields)]
        lines.append(mark.join(fields[1:] if choices.below(64) == 63 else fields))
    text = "".join(line + choices.one_of(ENDS) for line in lines)
    return text.encode(choices.one_of((*["utf-8"] * 14, "utf-16", "latin-1")), "replace")


def make_target() -> Target:
    """Return what takes bytes, makes a table of them, reads and encodes it."""
    import numpy as np

    from disaggregate.tables.check_features import feature_problems
    from disaggregate.tables.encoding import make_encoder
    from disaggregate.tables.files import iter_table, read_table, schema_of
    from disaggregate.tables.problems import TableError
    from disaggregate.tables.roles import Roles

    folder = Path(tempfile.mkdtemp(prefix="fuzz-people-"))

    def target(data: bytes) -> Callable[[], str]:
        choices = Choices(data)
        path = folder / choices.one_of(FILES)
        path.write_bytes(_content(choices, path))
        return lambda: read(path)

    def read(path: Path) -> str:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                table = read_table(path)
                schema = schema_of(table)
                n_rows = sum(len(chunk) for chunk in iter_table(path, 1000, schema))
                assert n_rows == len(table), f"{n_rows} rows in chunks, {len(table)} at once"
                group, *features = table.columns
                problems = list(feature_problems(table, Roles(group=group, features=tuple(features))))
                assert all(str(problem) for problem in problems)
                encoder = make_encoder(table, features)
                X = encoder.transform(table)
        except TableError:
            return "refused"
        assert X.shape == (len(table), len(encoder.feature_names_))
        assert np.isfinite(X).all(), X
        return "read"

    return target


def _content(choices: Choices, path: Path) -> bytes:
    how = choices.below(16)
    content = choices.rest() if how == 15 else choices.one_of(BOMBS) if how == 14 else csv_text(choices)
    if path.suffix != ".gz":
        return content
    packed = gzip.compress(content, 1)
    return packed if how % 4 else packed[: choices.below(len(packed) + 1)]


def _field(choices: Choices) -> str:
    how = choices.below(64)
    if how < 20:
        return choices.one_of(("a", "b", "c", ""))
    if how < 40:
        return str(choices.below(100) / 4)
    if how < 58:
        return f'"{choices.text().replace(chr(34), chr(34) * 2)}"'
    if how < 62:
        number = choices.number()
        return "9" * 400 if isinstance(number, int) and abs(number) > 10**20 else str(number)
    return choices.text()


if __name__ == "__main__":
    main("tables of people", make_target, ["disaggregate"])
