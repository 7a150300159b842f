"""Every example runs as it stands."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
SAYS = {
    "captioned_scenes": ["sun: AUC ", "wrote captioned_scenes.png"],
    "districts": ["reported shares: {'A': 0.73, 'B': 0.25, 'C': 0.85}", "AUC against the hidden labels:"],
}


def test_every_example_is_known():
    assert [path.stem for path in EXAMPLES] == sorted(SAYS)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path, tmp_path):
    done = run(path, tmp_path)
    assert done.returncode == 0, done.stderr
    assert [text for text in SAYS[path.stem] if text not in done.stdout] == []


def test_an_example_that_fails_is_found(tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("import disaggregate as dg\n\ndg.datasets.make_district()\n")
    done = run(broken, tmp_path)
    assert done.returncode == 1
    assert "make_district" in done.stderr


def run(path, folder):
    """Run a program as its reader would, in a folder that is empty."""
    utf8 = {"env": {**os.environ, "PYTHONIOENCODING": "utf-8"}, "encoding": "utf-8"}
    return subprocess.run([sys.executable, path], cwd=folder, capture_output=True, check=False, **utf8)
