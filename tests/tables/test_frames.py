import numpy as np

from disaggregate.tables.frames import as_table


def test_ids_of_any_type_stay_as_they_are():
    table = as_table({"group": ((1, 2), "x", 3), "n": np.array([1, 2, 3])})
    assert table["group"].tolist() == [(1, 2), "x", 3]
    assert table["n"].dtype == np.int64


def test_plain_ids_get_a_plain_type():
    assert as_table({"group": (3, 1)})["group"].dtype == np.int64
    assert as_table({"group": ("x", "y")})["group"].tolist() == ["x", "y"]
