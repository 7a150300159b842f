"""The schema of a table: what each column has, so that later tables are read in the same way."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from disaggregate.tables.kinds import dates_of, is_text, is_yes_no, kind_of, levels_of, numeric_of
from disaggregate.tables.problems import TableError
from disaggregate.tables.row_numbers import row_number

Schema = Mapping[str, str]

_YES_NO = {"true": True, "false": False, "1": True, "0": False}


def schema_of(table: pd.DataFrame) -> dict[str, str]:
    """Name what each column holds: "number", "text", "yes/no" or "date".

    Columns of any other type are left out.
    """
    kinds: dict[str, str] = {}
    for name in table.columns:
        try:
            kind = kind_of(table[name])
        except TableError:
            continue
        kinds[name] = kind if kind != "category" else "yes/no" if is_yes_no(table[name]) else "text"
    return kinds


def apply_schema(table: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Read the columns of a table as the schema says; the others stay as they are.

    Parameters
    ----------
    table : DataFrame
        Columns that the schema names may be missing.
    schema : mapping of str to str
        As :func:`schema_of` returns it.
    """
    read = table.copy(deep=False)
    for name, kind in schema.items():
        if name in table:
            read[name] = _READERS[kind](table[name])
    return read


def _as_text(column: pd.Series) -> pd.Series:
    # Text as in pandas' own reader, so that an unchanged column costs no copy.
    return column if is_text(column) else pd.Series(levels_of(column), index=column.index, dtype=object)


def _as_yes_no(column: pd.Series) -> pd.Series:
    texts = pd.Series(levels_of(column), index=column.index, dtype=object)
    values = texts.str.strip().str.casefold().map(_YES_NO)
    wrong = (values.isna() & texts.notna()).to_numpy()
    if wrong.any():
        raise TableError(
            f"column {column.name!r} must hold True or False, as in the first table, "
            f"got {column[wrong].iloc[0]!r} at row {row_number(column.index, int(wrong.argmax()))}."
        )
    return values.astype("boolean") if values.isna().any() else values.astype(bool)


_READERS: dict[str, Callable[[pd.Series], pd.Series]] = {
    "text": _as_text,
    "number": numeric_of,
    "yes/no": _as_yes_no,
    "date": dates_of,
}
KINDS = tuple(_READERS)
