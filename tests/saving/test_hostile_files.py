"""Model files that mean harm: each of these once did some, or would have."""

import hashlib
import io
import json
import tracemalloc
import zipfile

import numpy as np
import pytest

import disaggregate as dg
from disaggregate.saving import ArchiveError
from disaggregate.saving.archive import read_archive, write_archive
from disaggregate.saving.tree import Reader
from fuzz.dgz import seed_files

DOCUMENT = "disaggregate.json"


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return seed_files(tmp_path_factory.mktemp("seeds"))


@pytest.fixture
def forge(good, tmp_path):
    """Change the description of a good file, give it a good checksum again, and return its path."""

    def forge(change, which=0, extra=()):
        with zipfile.ZipFile(io.BytesIO(good[which])) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        whole = json.loads(members[DOCUMENT])
        text = json.dumps(whole if change(whole, members) is None else change(whole, members)).encode()
        members[DOCUMENT] = text
        members["checksum"] = hashlib.sha256(text).hexdigest().encode()
        with zipfile.ZipFile(tmp_path / "it.dgz", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in [*members.items(), *extra]:
                archive.writestr(name, content)
        return tmp_path / "it.dgz"

    return forge


def fitted(whole, *names):
    """A field of what was fitted, in the description."""
    node = whole["document"]["fitted"]
    for name in names:
        node = node[name]["fields"] if isinstance(node.get(name), dict) and "fields" in node[name] else node[name]
    return node


def test_the_seeds_are_good(good, tmp_path):
    for content in good:
        (tmp_path / "it.dgz").write_bytes(content)
        assert dg.load(tmp_path / "it.dgz") is not None


@pytest.mark.parametrize("starts", [[0, 2, -1], [1, 2, 3], [0, 3, 2], [0, 2, 9], [0, 2]])
def test_a_sparse_array_that_points_outside_itself_is_refused(starts):
    arrays = {"v": np.ones(3), "i": np.array([0, 1, 2]), "s": np.array(starts)}
    parts = {"data": {"$array": "v"}, "indices": {"$array": "i"}, "indptr": {"$array": "s"}}
    with pytest.raises(ArchiveError, match="indices out of range"):
        Reader({}, arrays).read({"$csr": {**parts, "shape": [2, 3]}})
    arrays |= {"i": np.array([0, 10**9, 2]), "s": np.array([0, 2, 3])}
    with pytest.raises(ArchiveError, match="indices out of range"):
        Reader({}, arrays).read({"$csr": {**parts, "shape": [2, 3]}})
    with pytest.raises(ArchiveError, match="invalid parts"):
        Reader({}, {**arrays, "i": np.ones(3)}).read({"$csr": {**parts, "shape": [2, 3]}})


def test_members_that_come_twice_are_refused(forge):
    with pytest.warns(UserWarning, match="Duplicate"):
        path = forge(lambda *_: None, extra=[("arrays/0", b"")])
    with pytest.raises(ArchiveError, match="'arrays/0' twice"):
        dg.load(path)


@pytest.mark.parametrize("name", ["../../evil", "/etc/passwd", "arrays/../x", "x"])
def test_members_that_no_model_has_are_refused(forge, name):
    with pytest.raises(ArchiveError, match="which no model does"):
        dg.load(forge(lambda *_: None, extra=[(name, b"x")]))


@pytest.mark.parametrize("shape", [[10**9, 0], [0, 10**18], [1] * 9])
def test_shapes_that_hold_nothing_must_not_be_large(forge, shape):
    def change(whole, members):
        members["arrays/0"] = b""
        whole["arrays"]["0"] = {"kind": "<f8", "shape": shape, "sha256": hashlib.sha256(b"").hexdigest()}

    with pytest.raises(ArchiveError, match="is described as"):
        dg.load(forge(change))


def test_a_short_file_cannot_hold_a_long_description(forge):
    path = forge(lambda whole, _: whole.update(padding=[[]] * 10**6))
    assert path.stat().st_size < 2**17
    tracemalloc.start()
    with pytest.raises(ArchiveError, match="longer than is possible"):
        dg.load(path)
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


def test_what_shrinks_too_well_is_stored_as_it_is(tmp_path):
    zeros = {"a": np.zeros(2**23 + 1)}
    write_archive(tmp_path / "it.dgz", {"words": ["same"] * 2**18}, zeros)
    document, arrays = read_archive(tmp_path / "it.dgz")
    assert len(document["words"]) == 2**18
    assert arrays["a"].shape == zeros["a"].shape
    assert (tmp_path / "it.dgz").stat().st_size > 2**26


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "1" * 5000])
def test_numbers_that_json_lacks_are_refused(good, tmp_path, constant):
    text = f'{{"format": 1, "arrays": {{}}, "document": {{"x": {constant}}}}}'.encode()
    with zipfile.ZipFile(tmp_path / "it.dgz", "w") as archive:
        archive.writestr(DOCUMENT, text)
        archive.writestr("checksum", hashlib.sha256(text).hexdigest())
    with pytest.raises(ArchiveError, match="cannot be read"):
        dg.load(tmp_path / "it.dgz")


def put(*names, value):
    *way, last = names

    def change(whole, _):
        fitted(whole, *way)[last] = value

    return change


NONSENSE = {
    "huge count": put(
        "_data", "evidence", value={"$tuple": [{"$class": "Count", "fields": {"positives": 10**400}}] * 2}
    ),
    "no groups": put("_data", "names", value={"$tuple": []}),
    "twins": put("_data", "names", value={"$tuple": ["a", "a"]}),
    "evidence": put("_data", "evidence", value={"$tuple": [1, 2]}),
    "no group object": put("_data", value=3),
    "classes": put("classes_", value={"$list": [0, 1]}),
    "features": put("n_features_in_", value=True),
    "verdict": put("diagnostics_", "verdict", value=None),
    "rhat": put("diagnostics_", "rhat", value={"$dict": []}),
    "tallies": put("_fitted", "count_tallies", value=None),
    "posterior": put("_fitted", "posterior", value=None),
    "parts": put("_fitted", "posterior", "parts", value={"$tuple": []}),
    "label_proba_": put("label_proba_", value={"$texts": ["a"]}),
}


@pytest.mark.parametrize("change", NONSENSE.values(), ids=NONSENSE.keys())
def test_nonsense_is_refused_when_loaded_and_not_later(forge, change):
    with pytest.raises(ArchiveError):
        dg.load(forge(change))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("schema", {"$dict": [["x", "number?"]]}),
        ("sampled", 1),
        ("problems", {"$list": []}),
        ("encoder", {"$dict": []}),
        ("roles", "g"),
    ],
)
def test_tables_that_are_nonsense_are_refused(forge, name, value):
    def change(whole, _):
        pairs = whole["document"]["tables"]["$dict"]
        whole["document"]["tables"]["$dict"] = [[key, value if key == name else old] for key, old in pairs]

    with pytest.raises(ArchiveError, match="tables are described wrongly"):
        dg.load(forge(change, which=2))


def change_roles(change):
    def forgery(whole, _):
        [roles] = [value for key, value in whole["document"]["tables"]["$dict"] if key == "roles"]
        change(roles["fields"])

    return forgery


@pytest.mark.parametrize(
    ("role", "value"),
    [
        ("group", None),
        ("count", 3),
        ("count", {"$tuple": ["n", "m"]}),
        ("weight", {"$tuple": ["n"]}),
        ("features", "x"),
        ("features", {"$tuple": [1]}),
    ],
)
def test_roles_that_are_no_names_are_refused(forge, role, value):
    with pytest.raises(ArchiveError, match="its roles must be names"):
        dg.load(forge(change_roles(lambda roles: roles.update({role: value})), which=2))


def test_a_file_without_the_role_of_counts_is_one_of_an_older_version(forge):
    assert dg.load(forge(change_roles(lambda roles: roles.pop("count", None)), which=2)).roles.count is None
    assert dg.load(forge(change_roles(lambda roles: roles.update(count="n")), which=2)).roles.count == "n"


def test_weights_that_are_no_numbers_are_refused(forge):
    def change(whole, members):
        part = fitted(whole, "_fitted", "posterior")["parts"]["$tuple"][0]["fields"]
        name = part["weights"]["$array"]
        content = np.full(len(members[f"arrays/{name}"]) // 8, np.nan).tobytes()
        members[f"arrays/{name}"] = content
        whole["arrays"][name]["sha256"] = hashlib.sha256(content).hexdigest()

    with pytest.raises(ArchiveError, match="weights are not finite numbers"):
        dg.load(forge(change))
