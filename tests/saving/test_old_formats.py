"""Files that earlier versions wrote keep loading, and say what they said."""

import json

import numpy as np
import pytest

import disaggregate as dg
from disaggregate.saving.archive import FORMAT
from tests.saving.formats.make import FOLDER, RBF, SHORT, answers

FILES = sorted(FOLDER.glob("format*.dgz"))

# Written by release 0.1 itself, commit c31a7ba, in two short fits of the data below.
CHECKPOINTS = sorted(FOLDER.glob("release01_*.dgc"))


def test_there_are_files_of_every_format():
    """A new format needs its own: ``python -m tests.saving.formats.make``."""
    for number in range(1, FORMAT + 1):
        kinds = {path.stem.split("_")[1] for path in FILES if path.stem.startswith(f"format{number}_")}
        assert kinds == {"dense", "sparse", "tables"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_old_files_load_and_predict_what_they_did(path):
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    found = answers(dg.load(path))
    assert list(found) == list(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("path", CHECKPOINTS, ids=lambda path: path.stem)
def test_checkpoints_of_the_first_release_are_refused_with_what_to_do(path, tmp_path):
    assert len(CHECKPOINTS) == 2
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    own = {"prior": "spike_slab"} if path.stem.endswith("sparse") else {"n_replicas": 2}
    settings = {**SHORT, **RBF, **own, "n_chains": 1}
    X = np.random.default_rng(0).normal(size=(6, 1))
    with pytest.raises(ValueError, match=r"written by release 0\.1.*fit again with another checkpoint"):
        dg.GroupStatsClassifier(**settings).fit(
            X, {"a": 0.5, "b": 0.25}, groups=np.array(list("aabbbb")), checkpoint=copy, resume=True
        )
    assert copy.read_bytes() == path.read_bytes()
