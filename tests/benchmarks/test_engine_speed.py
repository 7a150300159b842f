import json
import subprocess
import sys

import pandas as pd
import pytest

from benchmarks import children
from benchmarks.children import answer_of, main_or_child, peak_memory
from benchmarks.engine_speed import SIZES, Versions, checked_out, code_of, in_turns, ratios, report


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


def test_the_name_of_the_code_is_that_of_its_files(tmp_path):
    (tmp_path / "one.py").write_text("x = 1")
    before = code_of(tmp_path)
    (tmp_path / "notes.txt").write_text("nothing")
    assert code_of(tmp_path) == before
    (tmp_path / "one.py").rename(tmp_path / "two.py")
    assert code_of(tmp_path) != before


def test_versions_take_turns():
    asked = []

    def measure(version):
        asked.append(version)
        return {"seconds": len(asked)}

    assert in_turns(measure, 0) == {"baseline_seconds": 2, "present_seconds": 1}
    assert in_turns(measure, 1) == {"baseline_seconds": 3, "present_seconds": 4}
    assert asked == ["present", "baseline", "baseline", "present"]


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


def test_children_import_from_the_folder_that_they_are_told(tmp_path, monkeypatch):
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "asked.py").write_text("import json, sys, told; print('noise'); print(told.WORD)")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "told.py").write_text("import sys; WORD = sys.argv[2]")
    monkeypatch.setattr(children, "ROOT", tmp_path / "root")
    assert answer_of("asked", {"rows": 3}, tmp_path / "cache", tmp_path / "src") == {"rows": 3}


def test_a_child_answers_in_json(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["module", "child", '{"rows": 3}'])
    main_or_child(lambda: None, lambda setting: {"twice": 2 * setting["rows"]})
    assert json.loads(capsys.readouterr().out) == {"twice": 6}


def test_peak_memory_is_that_of_the_process_and_stays():
    code = (
        "from benchmarks.children import peak_memory; before = peak_memory(); "
        "held = b'x' * 2**27; del held; print(peak_memory() - before)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=children.ROOT
    )
    assert 0.12 < float(told.stdout) < 0.14
