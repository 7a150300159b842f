import pytest

from disaggregate.tables.suppression import hidden


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
