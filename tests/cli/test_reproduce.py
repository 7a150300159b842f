"""The command writes what the experiment gives; a stand-in for the experiment keeps these tests quick."""

import pandas as pd
import pytest
from matplotlib.figure import Figure

from disaggregate.cli import reproduce
from disaggregate.cli.main import main
from disaggregate.experiments import Outcome


@pytest.fixture
def asked(monkeypatch):
    """What was run, with its scope."""
    runs = []

    def run_one(name, scope):
        runs.append((name, scope))
        table = pd.DataFrame({"what": [name], "AUC": [0.5]})
        return Outcome(name, f"Title of {name}", "Text.", table, table, Figure())

    monkeypatch.setattr(reproduce, "run_one", run_one)
    return runs


def test_one_experiment_writes_four_files_and_prints_its_table(asked, tmp_path, capsys):
    assert main(["reproduce", "figure3", "-o", str(tmp_path / "out")]) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        *("figure3.csv", "figure3.md", "figure3.png", "figure3.svg"),
    ]
    printed = capsys.readouterr().out
    assert "Title of figure3" in printed
    assert "figure3.png" in printed
    (name, scope), *others = asked
    assert (name, others) == ("figure3", [])
    assert (scope.n_repeats, scope.n_draws, scope.n_burn, scope.data) == (20, 1000, 1000, None)


def test_all_of_them(asked, tmp_path):
    assert main(["reproduce", "all", "-o", str(tmp_path), "--quick", "--seed", "3"]) == 0
    assert [name for name, _ in asked] == ["figure2", "figure3", "figure4", "supervised"]
    assert {(scope.n_repeats, scope.n_draws, scope.seed) for _, scope in asked} == {(2, 100, 3)}


def test_length_and_data_are_passed_on(asked, tmp_path):
    arguments = ["reproduce", "figure4", "-o", str(tmp_path), "--data", str(tmp_path)]
    assert main([*arguments, "--repeats", "4", "--draws", "50", "--burn", "60"]) == 0
    scope = asked[0][1]
    assert (scope.n_repeats, scope.n_draws, scope.n_burn, scope.data) == (4, 50, 60, tmp_path)


def test_a_folder_of_data_must_be_there(asked, tmp_path, capsys):
    assert main(["reproduce", "figure4", "--data", str(tmp_path / "nowhere")]) == 2
    assert "--data must be a folder" in capsys.readouterr().err
    assert asked == []


def test_the_output_must_not_be_a_file(asked, tmp_path, capsys):
    (tmp_path / "taken").write_text("mine")
    assert main(["reproduce", "figure2", "-o", str(tmp_path / "taken")]) == 2
    assert "is a file" in capsys.readouterr().err
    assert asked == []
    assert (tmp_path / "taken").read_text() == "mine"


def test_a_missing_extra_is_a_message_and_not_a_traceback(monkeypatch, tmp_path, capsys):
    from disaggregate.experiments import figure2

    def run(scope):
        raise ImportError("Plots need matplotlib")

    monkeypatch.setattr(figure2, "run", run)
    assert main(["reproduce", "figure2", "-o", str(tmp_path)]) == 2
    assert "Plots need matplotlib" in capsys.readouterr().err


def test_an_unknown_experiment_is_refused(capsys):
    assert main(["reproduce", "figure7"]) == 2
    assert "figure2" in capsys.readouterr().err
