"""Files that earlier versions wrote keep loading, and say what they said."""

import json

import numpy as np
import pytest

import disaggregate as dg
from disaggregate.saving.archive import FORMAT
from tests.saving.formats.make import FOLDER, answers

FILES = sorted(FOLDER.glob("format*.dgz"))


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
