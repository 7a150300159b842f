from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

from disaggregate.tables.suppression import hidden, hidden_beside_margins, withhold


@pytest.mark.parametrize(
    ("sizes", "least", "expected"),
    [
        ([3, 9, 20], 1, [False, False, False]),
        ([3, 9, 20], 5, [True, True, False]),  # one alone would follow from the total
        ([1, 1, 9, 20], 5, [True, True, True, False]),  # so would two of one
        ([3, 3, 9, 20], 5, [True, True, False, False]),
        ([2], 5, [True]),
        ([], 5, []),
    ],
)
def test_no_hidden_cell_can_be_worked_out(sizes, least, expected):
    assert hidden(sizes, least).tolist() == expected


@pytest.mark.parametrize("least", [0, -1, 2.5, True, "5", None])
def test_sizes_that_are_none_are_refused(least):
    with pytest.raises(ValueError, match="min_group_size must be a whole number"):
        hidden([3], least)


def distinguished(keys, sizes, least):
    """Cells below the size that follow from what is shown of all tables by these columns, as equations."""
    shown = [np.ones(len(sizes))]
    for n in range(1, keys.shape[1] + 1):
        for chosen in combinations(range(keys.shape[1]), n):
            levels, level = np.unique(keys[:, chosen], axis=0, return_inverse=True)
            level = level.reshape(-1)
            totals = np.bincount(level, weights=sizes).astype(int)
            hide = hidden_beside_margins(levels, totals, least)
            shown += [(level == one).astype(float) for one in np.flatnonzero(~hide)]
    reported = np.array(shown).T
    cells = np.eye(len(sizes))[sizes < least]
    return [
        cell
        for cell in cells
        if np.abs(reported @ np.linalg.lstsq(reported, cell, rcond=None)[0] - cell).max() < 1e-6
    ]


def test_what_is_hidden_in_a_table_does_not_follow_from_its_margins(rng):
    for _ in range(40):
        keys = np.array(list(product(range(rng.integers(3, 7)), range(2))))
        sizes = rng.integers(11, 30, len(keys))
        sizes[0] = rng.integers(1, 4)
        assert distinguished(keys, sizes, 10) == []


def test_one_column_has_no_margins():
    keys, sizes = np.arange(4)[:, None], [3, 3, 9, 20]
    assert hidden_beside_margins(keys, sizes, 5).tolist() == hidden(sizes, 5).tolist()
    assert not hidden_beside_margins(keys, sizes, 1).any()
    assert hidden_beside_margins(np.empty((0, 2), dtype=int), [], 5).tolist() == []


def test_tables_by_two_columns_hide_in_every_row(rng):
    table = pd.DataFrame(list(product("abc", "fm")), columns=["job", "sex"]).assign(n=[1, 20, 30, 40, 50, 60])
    table["estimate"] = 0.5
    found = withhold(table, 10, by=["job", "sex"])
    hide = found["estimate"].isna()
    assert hide.groupby(found["sex"]).sum().tolist() == [2, 2]
    assert not withhold(table, 10)["estimate"].isna().equals(hide)
