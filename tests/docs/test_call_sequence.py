"""The table of what a fit calls, in the principles, is true."""

import importlib
import re
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import disaggregate
from disaggregate import GroupStatsClassifier

PAGE = Path(__file__).parents[2] / "docs" / "principles.md"
SOURCE = Path(disaggregate.__file__).parent
MOST_FILES = 25
# Compiled code does their work in a fit, and is called without a Python frame.
NOT_SEEN = {"model/likelihood.py", "sampler/dense/sweep.py", "sampler/compiled/dense.py"}


def listed() -> list[tuple[str, str]]:
    section = PAGE.read_text(encoding="utf-8").split("## The call sequence of a fit")[1].split("\n## ")[0]
    return re.findall(r"^\| `(\S+\.py)` \| `(\S+)` \|", section, re.MULTILINE)


@pytest.fixture(scope="module")
def called() -> set[tuple[str, str]]:
    """Files and functions that a small fit with all defaults but its length calls."""
    seen: set[tuple[str, str]] = set()

    def note(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(SOURCE):
            seen.add((path.relative_to(SOURCE).as_posix(), frame.f_code.co_qualname))

    rng = np.random.default_rng(0)
    X, groups = rng.standard_normal((24, 2)), np.repeat(np.arange(4), 6)
    model = GroupStatsClassifier(kernel="rbf", n_chains=2, n_draws=4, n_burn=4, n_jobs=1, random_state=0)
    reports = {group: float(np.mean(X[groups == group, 0] > 0)) for group in range(4)}
    model.fit(X, reports, groups=groups)  # compiling takes minutes while every call is noted
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        model.fit(X, reports, groups=groups)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return seen


def test_it_is_short():
    files = [file for file, _ in listed()]
    assert 15 < len(files) <= MOST_FILES
    assert len(set(files)) == len(files)


@pytest.mark.parametrize(("file", "name"), listed())
def test_everything_on_it_exists(file, name):
    found = importlib.import_module("disaggregate." + file.removesuffix(".py").replace("/", "."))
    for part in name.split("."):
        assert hasattr(found, part), f"{file} has no {name}"
        found = getattr(found, part)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="qualified names of frames")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_calls_it(called):
    assert [one for one in listed() if one[0] not in NOT_SEEN and one not in called] == []
