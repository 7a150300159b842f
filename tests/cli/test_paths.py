"""What a command writes is none of what it reads; refused before any work, for every command by one check."""

import os

import pytest

from disaggregate.cli.main import main

ROLES = ["--group", "district", "--share", "share"]
FIT = ["fit", "people.csv", "results.csv", *ROLES]
ABOUT = ["model.dgz", "people.csv"]
PEOPLE = b"district,age\na,1\nb,2\n"

DESTRUCTIVE = {
    "fit over people": [*FIT, "-o", "people.csv"],
    "fit over results": [*FIT, "-o", "results.csv"],
    "checkpoint over people": [*FIT, "-o", "m.dgz", "--checkpoint", "people.csv"],
    "checkpoint over the model": [*FIT, "-o", "m.dgz", "--checkpoint", "m.dgz"],
    "draws over the model": [*FIT, "-o", "m.dgz", "--draws-to", "m.dgz"],
    "predict over people": ["predict", *ABOUT, "-o", "people.csv"],
    "predict over the model": ["predict", *ABOUT, "-o", "model.dgz"],
    "subgroups over people": ["subgroups", *ABOUT, "--by", "age", "-o", "people.csv"],
    "subgroups over the model": ["subgroups", *ABOUT, "--by", "age", "-o", "model.dgz"],
    "effects over people": ["effects", *ABOUT, "-o", "people.csv"],
    "sensitivity over people": ["sensitivity", *ABOUT, "--by", "age", "-o", "people.csv"],
    "report over people": ["report", *ABOUT, "-o", "people.csv"],
    "report over its table": ["report", *ABOUT, "--sensitivity", "s.csv", "-o", "s.csv"],
    "another way to the same file": ["effects", *ABOUT, "-o", "sub/../people.csv"],
    "a hard link": ["effects", *ABOUT, "-o", "hard.csv"],
    "a folder that is linked": ["effects", *ABOUT, "-o", "linked/people.csv"],
    "an input that is a link": ["effects", "model.dgz", "link.csv", "-o", "people.csv"],
    "into the folder of the people": ["fit", "sub", "results.csv", *ROLES, "-o", "sub/m.dgz"],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for name in ("people.csv", "results.csv", "model.dgz", "s.csv"):
        (tmp_path / name).write_bytes(PEOPLE)
    os.link("people.csv", "hard.csv")
    (tmp_path / "link.csv").symlink_to("people.csv")
    (tmp_path / "linked").symlink_to(tmp_path, target_is_directory=True)
    return tmp_path


@pytest.mark.parametrize("arguments", DESTRUCTIVE.values(), ids=DESTRUCTIVE)
def test_an_output_that_is_an_input_is_refused(folder, capsys, arguments):
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert main(arguments) == 2
    complaint = capsys.readouterr().err
    assert "must not be the same file as" in complaint or "must not lie in the folder of" in complaint
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_a_new_file_beside_the_inputs_is_none_of_them(folder, capsys):
    assert main(["effects", *ABOUT, "-o", "people2.csv"]) == 2
    assert "model.dgz is damaged or not a model file" in capsys.readouterr().err


def test_a_home_that_nobody_has_is_a_mistake(folder, capsys):
    for arguments in (
        ["effects", "model.dgz", "~nosuchuser/people.csv"],
        ["effects", *ABOUT, "-o", "~nosuchuser/o.csv"],
    ):
        assert main(arguments) == 2
        complaint = capsys.readouterr().err
        assert "nosuchuser" in complaint
        assert "Traceback" not in complaint
