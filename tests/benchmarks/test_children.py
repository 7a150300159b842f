import json
import subprocess
import sys

from benchmarks import children
from benchmarks.children import answer_of, code_of, in_turns, main_or_child


def test_the_name_of_the_code_is_that_of_its_files(tmp_path):
    (tmp_path / "one.py").write_text("x = 1")
    before = code_of(tmp_path)
    (tmp_path / "notes.txt").write_text("nothing")
    assert code_of(tmp_path) == before
    (tmp_path / "one.py").rename(tmp_path / "two.py")
    assert code_of(tmp_path) != before


def test_two_take_turns():
    asked = []

    def measure(version):
        asked.append(version)
        return {"seconds": len(asked)}

    assert in_turns(measure, ("present", "baseline"), 0) == {"baseline_seconds": 2, "present_seconds": 1}
    assert in_turns(measure, ("present", "baseline"), 1) == {"baseline_seconds": 3, "present_seconds": 4}
    assert asked == ["present", "baseline", "baseline", "present"]


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
