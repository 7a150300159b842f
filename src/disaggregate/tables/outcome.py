"""What the outcome is called: by its owner, or else by the column that reports it."""

from __future__ import annotations

import re

from disaggregate.tables.roles import Roles

NAMELESS = "the outcome"
# Words in the name of a column that say how the outcome is counted, not what it is.
_OF_COUNTING = {
    *(
        "share",
        "shares",
        "pct",
        "percent",
        "percentage",
        "proportion",
        "prop",
        "fraction",
        "frac",
        "rate",
        "ratio",
    ),
    *("positives", "positive", "pos", "count", "counts", "number", "num", "n", "total", "low", "high", "result"),
    *("value", "y", "p", "reported", "official"),
}


def outcome_of_column(roles: Roles) -> str:
    """Return what the name of the column of results says of the outcome, or "the outcome".

    Parameters
    ----------
    roles : Roles
        Roles of the columns.
    """
    if roles.shares or roles.tallies:
        return ", ".join([*(roles.shares or roles.tallies), *([] if roles.rest is None else [roles.rest])])
    column = roles.share or roles.positives or roles.low or roles.high or ""
    words = [word for word in re.split(r"[\s_.\-]+", str(column)) if word]
    kept = [word for word in words if word.casefold().strip("%") not in _OF_COUNTING]
    return " ".join(kept) or NAMELESS
