"""Breaks the reader of model files: ``python -m fuzz.dgz --runs 100000``.

An input is either the bytes of a file, or a series of forgeries of a good file, whose checksums are mended, so
that they reach what lies behind them.
"""

from __future__ import annotations

import copy
import hashlib
import io
import json
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from fuzz.choices import Choices
from fuzz.running import Target, main

DOCUMENT, CHECKSUM = "disaggregate.json", "checksum"
KINDS = ("<f8", "<f4", "<i8", "|b1", "|u1", "|O", "O", "<U5", ">f8", "<c16", "V8", "<M8[ns]", "f8,f8", "", None, 3)
SHAPES: tuple[Any, ...] = (
    *([0], [], [1], [10**9], [10**9, 10**9], [-1], [0, 10**18], [10**9, 0], [2**20, 0], [1.0], ["2"], [True]),
    *([[2]], None, "3", [1] * 70, [2**63], [10**400], [3, 4], [4, 3]),
)
MEMBERS = ("../../evil", "/etc/passwd", "arrays/../x", "C:\\x", "arrays/", "arrays/x", "a" * 300, "\x00", "Ä", "")
VALUES: tuple[Any, ...] = (
    *(None, True, [], {}, "", [[]], {"$list": 3}, {"$dict": [[1]]}, {"$dict": [[{"$list": []}, 1]]}),
    *(
        {"$array": "0"},
        {"$array": "none"},
        {"$array": []},
        {"$texts": ["a", 1]},
        {"$texts": 10**9},
        {"$float": "x"},
    ),
    *({"$class": "os.system", "fields": {"command": "true"}}, {"$class": [], "fields": {}}, {"$class": "Count"}),
    *({"$class": "Count", "fields": {"positives": 10**400}}, {"$class": "Unknown", "fields": {"x": 1}}),
    *({"$class": "AtLeast", "fields": {"positives": 10**12}}, {"$class": "Fraction", "fields": {"share": 0.5}}),
    {
        "$csr": {
            "data": {"$array": "0"},
            "indices": {"$array": "1"},
            "indptr": {"$array": "2"},
            "shape": [10**12, 9],
        }
    },
)


def nested(depth: int) -> Any:
    """Make lists in lists."""
    value: Any = 0
    for _ in range(depth):
        value = {"$list": [value]}
    return value


def seed_files(folder: Path) -> list[bytes]:
    """Fit a classifier of each kind and an analysis of two tables, small ones, and return their files."""
    import numpy as np
    import pandas as pd

    import disaggregate as dg

    rng = np.random.default_rng(0)
    people = pd.DataFrame({"g": list("aabbbb"), "x": rng.normal(size=6), "c": list("uvuvuv")})
    results = pd.DataFrame({"g": ["a", "b"], "share": [0.5, 0.25]})
    short = {"n_chains": 2, "n_draws": 3, "n_burn": 1, "n_jobs": 1, "random_state": 0}
    rbf = {"kernel": "rbf", "gamma": 1.0}
    reports = {"a": dg.evidence.AllOf([dg.evidence.Fraction(0.5), dg.evidence.AtLeast(1)]), "b": 0.25}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [
            dg.GroupStatsClassifier(**short).fit(people[["x"]], reports, groups=people["g"]),
            dg.GroupStatsClassifier(**short, **rbf, prior="spike_slab", n_replicas=3).fit(
                people[["x"]].to_numpy(), {"a": 0.5, "b": dg.evidence.Count(2)}, groups=people["g"]
            ),
            dg.fit_tables(people, results, group="g", share="share", settings={**short, **rbf, "n_replicas": 1}),
        ]
    files = []
    for model in models:
        model.save(folder / "seed.dgz")
        files.append((folder / "seed.dgz").read_bytes())
    return files


def forged(seeds: list[bytes], choices: Choices) -> bytes:
    """Change a good file here and there, and mend its checksums."""
    members = dict(_members(choices.one_of(seeds)))
    whole = json.loads(members[DOCUMENT])
    extra: list[tuple[str, bytes]] = []
    for _ in range(1 + choices.below(3)):
        choices.one_of((_change_value, _change_value, _change_array, _change_bytes, _add_member))(
            choices, whole, members, extra
        )
    text = json.dumps(whole).encode()
    if choices.below(32) == 31:
        text = choices.one_of(
            (b"[" * 50_000, b"{" * 9, b"1" * 5000, b"[" + b"[]," * 10**5 + b"0]", b"\xff", b"NaN")
        )
    members[DOCUMENT] = text
    members[CHECKSUM] = hashlib.sha256(text).hexdigest().encode()
    packed = choices.one_of((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    file = _zipped([*members.items(), *extra], packed if choices.below(128) == 127 else zipfile.ZIP_STORED)
    return _cut(file, choices) if choices.below(8) == 7 else file


def make_target() -> Target:
    """Return what takes bytes, makes a file of them and loads it."""
    from disaggregate.analysis import load
    from disaggregate.saving import ArchiveError

    folder = Path(tempfile.mkdtemp(prefix="fuzz-dgz-"))
    # Elsewhere: what it takes to compile the sampler is no memory that a reader took.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as elsewhere:
        seeds = elsewhere.submit(seed_files, folder).result()
    path = folder / "it.dgz"

    def target(data: bytes) -> Callable[[], str]:
        choices = Choices(data)
        path.write_bytes(choices.rest() if choices.below(8) == 7 else forged(seeds, choices))
        return read

    def read() -> str:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)
                model = load(path)
        except ArchiveError:
            return "refused"
        use(model)
        return "loaded"

    return target


def use(model: Any) -> None:
    """Do with a loaded model what its owner would; whatever was accepted must work."""
    import numpy as np

    from disaggregate.analysis import Analysis

    classifier = model.classifier if isinstance(model, Analysis) else model
    X = np.zeros((2, classifier.n_features_in_))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names of features, and scores beyond all numbers
        probability = classifier.predict_proba(X)
        assert np.isfinite(probability).all(), probability
        assert len(classifier.group_table())
        assert str(classifier.diagnostics_)
        if isinstance(model, Analysis):
            assert model.encoder.feature_names_
            assert repr(model.roles)


@cache
def _members(file: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _change_value(choices: Choices, whole: Any, members: dict[str, bytes], extra: list) -> None:
    """Walk down the document, and put something else where the way ends."""
    node, parent, key = whole["document"] if isinstance(whole.get("document"), dict) else whole, whole, "document"
    for _ in range(2 + choices.below(16)):
        if isinstance(node, dict) and node:
            parent, key = node, choices.one_of(list(node))
        elif isinstance(node, list) and node:
            parent, key = node, choices.below(len(node))
        else:
            break
        node = parent[key]
    how = choices.below(6)
    if how == 0:
        parent[key] = choices.number()
    elif how == 1:
        parent[key] = choices.text()
    elif how == 2:
        parent[key] = copy.deepcopy(choices.one_of(VALUES))
    elif how == 3:
        parent[key] = nested(choices.one_of((3, 49, 51, 300)))
    elif how == 4:
        del parent[key]
    elif isinstance(parent, dict):
        parent[choices.text()] = choices.number()


def _change_array(choices: Choices, whole: Any, members: dict[str, bytes], extra: list) -> None:
    """Describe an array otherwise, with its bytes and their checksum to match or not."""
    arrays = whole.get("arrays")
    if not isinstance(arrays, dict) or not arrays:
        return
    name = choices.one_of(list(arrays))
    described = arrays[name]
    if not isinstance(described, dict):
        return
    if choices.flip():
        described["kind"] = choices.one_of(KINDS)
    if choices.flip():
        described["shape"] = copy.deepcopy(choices.one_of(SHAPES))
    if choices.below(8) == 7:
        arrays[name] = choices.one_of((None, [], 3, {}, {"kind": {}}))
    if choices.flip():
        try:
            n_bytes = 8 * int(described["shape"][0]) if described["shape"] else 8
        except (TypeError, ValueError, KeyError, OverflowError):
            return
        _put(members, described, name, bytes(n_bytes) if 0 <= n_bytes < 10**6 else b"")


def _change_bytes(choices: Choices, whole: Any, members: dict[str, bytes], extra: list) -> None:
    """Change what an array holds, and its checksum."""
    arrays = whole.get("arrays")
    names = [name for name in members if name.startswith("arrays/")]
    if not names or not isinstance(arrays, dict):
        return
    member = choices.one_of(names)
    content = bytearray(members[member])
    for _ in range(1 + choices.below(3)):
        if content:
            place = 8 * choices.below(max(1, len(content) // 8))
            odd = (b"\xff" * 8, bytes(8), b"\x00\x00\x00\x00\x00\x00\xf0\x7f", b"\x7f" * 8, choices.raw(8))
            content[place : place + 8] = choices.one_of(odd)
    described = arrays.get(member.removeprefix("arrays/"))
    if isinstance(described, dict):
        _put(members, described, member.removeprefix("arrays/"), bytes(content))


def _put(members: dict[str, bytes], described: dict[str, Any], name: str, content: bytes) -> None:
    members[f"arrays/{name}"] = content
    described["sha256"] = hashlib.sha256(content).hexdigest()


def _add_member(choices: Choices, whole: Any, members: dict[str, bytes], extra: list) -> None:
    """Add a member that no model has, one twice, or one that is nearly nothing but much once unpacked."""
    how = choices.below(4)
    if how == 0:
        extra.append((choices.one_of(MEMBERS), choices.raw(20)))
    elif how == 1:
        extra.append((choices.one_of(list(members)), choices.raw(20)))
    elif how == 2:
        members.pop(choices.one_of(list(members)))
    else:
        extra.append((f"arrays/{choices.below(9)}", bytes(10**5)))
    members.setdefault(DOCUMENT, b"{}")


def _zipped(members: list[tuple[str, bytes]], packed: int) -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", packed) as archive:
        warnings.simplefilter("ignore")  # of names that come twice
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name or "x"), content, packed)
    return file.getvalue()


def _cut(file: bytes, choices: Choices) -> bytes:
    """Cut a file short, or change some of its bytes, those of its directory above all."""
    if choices.flip():
        return file[: choices.below(len(file))]
    changed = bytearray(file)
    for _ in range(1 + choices.below(4)):
        place = choices.below(min(2000, len(file))) + 1
        changed[-place] = choices.below(256)
    return bytes(changed)


if __name__ == "__main__":
    main("model files", make_target, ["disaggregate"])
