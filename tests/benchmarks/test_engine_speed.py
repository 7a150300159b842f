import subprocess

import pandas as pd
import pytest

from benchmarks.children import code_of
from benchmarks.engine_speed import SIZES, Versions, checked_out, last_measured, ratios, report


@pytest.fixture
def repository(tmp_path):
    """A repository of one commit whose file has changed since."""
    folder = tmp_path / "repository"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "code.py").write_text("old")
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "first"]):
        subprocess.run([*git, *command], check=True)
    (folder / "src" / "code.py").write_text("new")
    return folder


def test_the_earlier_version_is_there_for_a_while(repository, tmp_path):
    with checked_out("HEAD", tmp_path / "earlier", repository) as source:
        assert (source / "code.py").read_text() == "old"
        assert code_of(source) != code_of(repository / "src")
    assert not source.exists()
    left = subprocess.run(
        ["git", "-C", str(repository), "worktree", "list"], check=True, capture_output=True, text=True
    )
    assert len(left.stdout.splitlines()) == 1


def test_the_ratio_is_above_one_where_the_present_is_faster():
    rows = pd.DataFrame(
        {
            "rows": "600",
            "kind": "all defaults",
            "seed": [0, 1],
            "baseline_seconds": [8.0, 8.0],
            "baseline_effective": [400.0, 400.0],
            "baseline_sweep": float("nan"),
            "present_seconds": [2.0, 4.0],
            "present_effective": [400.0, 800.0],
            "present_sweep": float("nan"),
        }
    )
    assert ratios(rows).tolist() == [4.0, 4.0]
    last = report(rows, "c31a7ba").splitlines()[-1]
    assert last == "| all defaults | 600 | 2 | 3 | 8 | 600 | 400 |  |  | 4.00 (4.00 to 4.00) |"


def test_a_line_is_of_the_last_state_of_the_code():
    rows = pd.DataFrame(
        {"rows": ["60", "60", "600", "60"], "kind": ["a", "b", "a", "a"], "code": ["old", "old", "old", "new"]}
    )
    assert last_measured(rows).index.tolist() == [1, 2, 3]


def test_a_version_that_comes_from_elsewhere_is_refused(tmp_path, monkeypatch):
    found = {"seconds": 1.0, "source": str(tmp_path / "other" / "__init__.py")}
    monkeypatch.setattr("benchmarks.engine_speed.answer_of", lambda *given: dict(found))
    versions = Versions({"present": tmp_path / "src", "baseline": tmp_path / "other"}, tmp_path)
    with pytest.raises(RuntimeError, match="present"):
        versions.measure("present", {})
    assert versions.measure("baseline", {}) == {"seconds": 1.0}


def test_kinds_of_fits():
    assert SIZES[600].of_kind("all defaults") == {}
    assert SIZES[5_000].of_kind("all defaults") == {"centers": 500}
    one_kernel = SIZES[5_000].of_kind("one kernel")
    assert (one_kernel["kernel"], one_kernel["centers"], one_kernel["n_draws"]) == ("rbf", 500, 500)
