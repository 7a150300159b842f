"""Survey weights of the people of a fit."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from disaggregate.groups.evidence import Evidence
from disaggregate.tables.kinds import numbers_of
from disaggregate.tables.roles import Roles
from disaggregate.tables.row_counts import one_per_row, require_in_every_row


def read_sample_weight(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Check survey weights, one per row and each above zero; None when there are none.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,) or None
        How many people each row stands for.
    n_rows : int
        Number of rows of X.
    """
    if sample_weight is None:
        return None
    weights = one_per_row("sample_weight", sample_weight, n_rows)
    is_sound = np.isfinite(weights) & (weights > 0.0)
    advice = "leave rows of weight 0 out of the fit"
    require_in_every_row("sample_weight", weights, is_sound, "finite numbers above zero", advice)
    return weights


def require_no_weights(weights: NDArray[np.float64] | None) -> None:
    """Refuse unequal weights beside labels, where they could not mean a share."""
    if weights is not None and np.ptp(weights) > 0.0:
        raise ValueError(
            "sample_weight says how much each member counts in its group's share, but plain labels are groups of "
            "one, in which it changes nothing; leave it out."
        )


def weights_in_shares(
    people: pd.DataFrame, roles: Roles, ids: list[Hashable], evidence: dict[Hashable, Evidence]
) -> np.ndarray | None:
    """Find how much each person counts: the survey weight where the group reports a share, else one."""
    if roles.weight is None:
        return None
    takes_weights = [evidence[group].takes_weights for group in ids]
    return np.where(takes_weights, numbers_of(people[roles.weight]), 1.0)
