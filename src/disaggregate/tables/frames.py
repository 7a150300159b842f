"""Tables out: results become pandas dataframes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd


def as_table(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Make a dataframe of columns of equal length; group ids of any type stay as they are."""
    table = {}
    for name, values in columns.items():
        is_ids = isinstance(values, (list, tuple))
        table[name] = pd.Series(list(values), dtype=object).infer_objects() if is_ids else values
    return pd.DataFrame(table)
