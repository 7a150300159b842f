import pandas as pd
import pytest

from disaggregate.tables.ids import group_ids


def ids(of_people, of_results):
    return group_ids(pd.DataFrame({"g": of_people}), pd.DataFrame({"g": of_results}), "g")


@pytest.mark.parametrize(
    ("people", "results", "expected"),
    [
        ([1, 2], [2, 1], ([1, 2], [2, 1])),
        (["a", None], ["a", "b"], (["a", None], ["a", "b"])),
        ([7, 8], ["7", "7A"], (["7", "8"], ["7", "7A"])),
        ([7.0, None], ["7", "7A"], (["7", None], ["7", "7A"])),
        (["7", "7A"], [7, 8], (["7", "7A"], ["7", "8"])),
        ([7], ["007"], (["7"], ["007"])),
        ([True, False], ["True", "False"], ([True, False], ["True", "False"])),
    ],
)
def test_ids_are_comparable(people, results, expected):
    assert ids(people, results) == expected
