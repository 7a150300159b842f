import json
import os
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from disaggregate.saving.archive import ArchiveError, read_archive, write_archive

DOCUMENT = {"name": "Ä", "numbers": [1, 2.5, None]}
ARRAYS = {
    "a": np.arange(6.0).reshape(2, 3),
    "b": np.array([True, False]),
    "c": np.arange(3, dtype=">i4"),
    "d": np.empty((0, 4)),
}


@pytest.fixture
def path(tmp_path):
    write_archive(tmp_path / "it.dgz", DOCUMENT, ARRAYS)
    return tmp_path / "it.dgz"


def rewrite(path, change):
    """Write the members anew after ``change`` has had its way with them."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def redescribe(path, change):
    """Change the description and give it a good checksum again, as a forger would."""
    import hashlib

    def forge(members):
        whole = json.loads(members["disaggregate.json"])
        change(whole)
        members["disaggregate.json"] = json.dumps(whole).encode()
        members["checksum"] = hashlib.sha256(members["disaggregate.json"]).hexdigest().encode()

    rewrite(path, forge)


def test_what_is_written_is_read(path):
    document, arrays = read_archive(path)
    assert document == DOCUMENT
    assert set(arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert_array_equal(arrays[name], array)
        assert arrays[name].shape == array.shape
        assert arrays[name].flags.writeable


def test_objects_are_not_written(tmp_path):
    with pytest.raises(TypeError, match="object"):
        write_archive(tmp_path / "it.dgz", {}, {"a": np.array([object()])})
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_the_old_file_whole_and_nothing_beside_it(path, monkeypatch):
    before = path.read_bytes()

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        write_archive(path, {"other": 1}, {})
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["it.dgz"]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ArchiveError, match="is not there"):
        read_archive(tmp_path / "none.dgz")


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip at all" * 100, b"\x80\x04\x95cos\nsystem\n."])
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "x.dgz").write_bytes(content)
    with pytest.raises(ArchiveError, match="damaged or not a model"):
        read_archive(tmp_path / "x.dgz")


def test_another_zip_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.dgz", "w") as archive:
        archive.writestr("hello", "world")
    with pytest.raises(ArchiveError, match=r"lacks disaggregate\.json"):
        read_archive(tmp_path / "x.dgz")


def test_every_changed_byte_is_noticed_or_harmless(path, rng):
    good = path.read_bytes()
    for place in rng.choice(len(good), size=150, replace=False):
        bad = bytearray(good)
        bad[place] ^= 0xFF
        path.write_bytes(bytes(bad))
        try:
            document, arrays = read_archive(path)
        except ArchiveError:
            continue
        assert document == DOCUMENT  # a byte that nobody reads, such as a date
        assert all(np.array_equal(arrays[name], array) for name, array in ARRAYS.items())


def test_every_cut_is_noticed(path):
    good = path.read_bytes()
    for length in range(0, len(good), 13):
        path.write_bytes(good[:length])
        with pytest.raises(ArchiveError):
            read_archive(path)


def test_a_changed_array_is_noticed(path):
    def change(members):
        members["arrays/a"] = members["arrays/a"][:-1] + b"\x01"

    rewrite(path, change)
    with pytest.raises(ArchiveError, match="checksum of its array 'a'"):
        read_archive(path)


def test_a_changed_description_is_noticed(path):
    def change(members):
        members["disaggregate.json"] = members["disaggregate.json"].replace(b"2.5", b"3.5")

    rewrite(path, change)
    with pytest.raises(ArchiveError, match="checksum does not match"):
        read_archive(path)


def test_a_newer_format_asks_for_an_update(path):
    redescribe(path, lambda whole: whole.update(format=2))
    with pytest.raises(ArchiveError, match="newer version"):
        read_archive(path)


@pytest.mark.parametrize(
    "reported", [None, 3, {"kind": "O"}, {"kind": "<f8", "shape": [-1], "sha256": ""}, {"kind": []}]
)
def test_arrays_of_other_kinds_are_refused(path, reported):
    redescribe(path, lambda whole: whole["arrays"].update(a=reported))
    with pytest.raises(ArchiveError, match="is described as"):
        read_archive(path)


def test_a_claim_of_a_billion_rows_costs_nothing(path):
    redescribe(path, lambda whole: whole["arrays"]["a"].update(shape=[10**9, 10**9]))
    with pytest.raises(ArchiveError, match="does not have the stated size"):
        read_archive(path)


def test_a_file_that_inflates_without_end_is_refused_unread(path):
    def change(members):
        members["arrays/a"] = bytes(2**27)

    rewrite(path, change)
    assert path.stat().st_size < 2**18
    with pytest.raises(ArchiveError, match="far more than is possible"):
        read_archive(path)


def test_a_description_without_end_is_refused(path):
    nested = "[" * 100_000 + "]" * 100_000

    def change(members):
        import hashlib

        members["disaggregate.json"] = nested.encode()
        members["checksum"] = hashlib.sha256(nested.encode()).hexdigest().encode()

    rewrite(path, change)
    with pytest.raises(ArchiveError):
        read_archive(path)
