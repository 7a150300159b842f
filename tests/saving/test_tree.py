import math
import time
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from disaggregate.saving.archive import ArchiveError
from disaggregate.saving.tree import Reader, Unsavable, Writer


@dataclass(frozen=True)
class Point:
    x: float
    y: object


CLASSES = {"Point": Point}


def there_and_back(value):
    writer = Writer(CLASSES)
    return Reader(CLASSES, writer.arrays).read(writer.write(value))


@pytest.mark.parametrize(
    "value",
    [None, True, 3, -2.5, "text", [], [1, [2]], (1, (2, "a")), {}, {1: "a", "b": [2], (1, 2): None}, math.inf],
)
def test_plain_values(value):
    assert there_and_back(value) == value
    assert type(there_and_back(value)) is type(value)


def test_not_a_number():
    assert math.isnan(there_and_back(math.nan))


@pytest.mark.parametrize("value", [np.float64(2.5), np.int64(3), np.str_("a"), np.bool_(True)])
def test_numpy_scalars_become_plain(value):
    assert there_and_back(value) == value
    assert type(there_and_back(value)) is type(value.item())


def test_arrays_and_texts():
    assert_array_equal(there_and_back(np.eye(2)), np.eye(2))
    assert_array_equal(there_and_back(np.array(["a", "b"], dtype=object)), ["a", "b"])


def test_sparse_arrays():
    matrix = csr_array(np.array([[0.0, 2.0], [3.0, 0.0]]))
    assert_array_equal(there_and_back(matrix).toarray(), matrix.toarray())


def test_classes_on_the_list():
    assert there_and_back(Point(1.0, Point(2.0, [3]))) == Point(1.0, Point(2.0, [3]))


def test_code_is_not_written():
    with pytest.raises(Unsavable, match="files do not store"):
        Writer(CLASSES).write({"kernel": lambda A, B: A @ B.T})


def test_other_objects_are_not_written():
    with pytest.raises(Unsavable, match="Group ids must be numbers or texts"):
        Writer(CLASSES).write({3 + 4j: 1})


@pytest.mark.parametrize(
    "data",
    [
        {"$class": "os.system", "fields": {}},
        {"$class": "Point", "fields": {"x": 1}},
        {"$class": "Point", "fields": {"x": 1, "y": 2, "z": 3}},
        {"$class": ["Point"], "fields": {}},
        {"$unknown": 1},
        {"$array": "none"},
        {"$array": ["a"]},
        {"$float": "huge"},
        {"$dict": [1, 2]},
        {"$dict": [[{"$list": []}, 1]]},
        {"$list": 3},
        {"$csr": {"data": 1}},
        {},
        [1],
    ],
)
def test_what_is_not_known_is_refused(data):
    with pytest.raises(ArchiveError):
        Reader(CLASSES, {}).read(data)


def test_a_sparse_array_that_points_outside_is_refused():
    arrays = {"0": np.array([1.0]), "1": np.array([7]), "2": np.array([0, 1])}
    data = {
        "$csr": {"data": {"$array": "0"}, "indices": {"$array": "1"}, "indptr": {"$array": "2"}, "shape": [1, 2]}
    }
    with pytest.raises(ArchiveError):
        Reader(CLASSES, arrays).read(data)


def test_endless_nesting_is_refused():
    data = {"$list": []}
    for _ in range(200):
        data = {"$list": [data]}
    with pytest.raises(ArchiveError, match="nested too deeply"):
        Reader(CLASSES, {}).read(data)


def test_keys_that_share_one_hash_take_no_time():
    clashing = [place * (2**61 - 1) for place in range(32_000)]
    for data in (
        {"$dict": [[key, 0] for key in clashing]},
        {"$dict": [[{"$tuple": [key]}, 0] for key in clashing]},
        {"$tuple": clashing},
    ):
        start = time.process_time()
        with pytest.raises(ArchiveError, match="too many digits"):
            Reader(CLASSES, {}).read(data)
        assert time.process_time() - start < 1.0


def test_ids_of_64_bits_are_kept_and_larger_ones_refused():
    largest = 2**64 - 1
    assert there_and_back({largest: (largest,)}) == {largest: (largest,)}
    with pytest.raises(Unsavable, match="too large for an id"):
        there_and_back((2**64,))
