"""Names are data: no markup, no control characters, no formulas; and no traceback where a terminal is odd."""

import json
import os
import subprocess
import sys
import warnings

import pandas as pd
import pytest

from disaggregate.cli.errors import CommandError, errors_for_user, in_words
from disaggregate.cli.main import main
from disaggregate.cli.output import print_json, print_table
from disaggregate.cli.terminal import visible, warnings_in_a_line, wrapped
from disaggregate.tables.formulas import harmless, without_formulas
from disaggregate.tables.writing import write_rows

HOSTILE = ["[low]", "[/nope]", "[red]x[/red]", "\x1b[2Jgone", "a\nb", "\x9b31m", "\u202egpj.exe", "plain"]


def test_levels_that_look_like_markup_are_shown(capsys):
    table = pd.DataFrame({"[bold]level": HOSTILE, "estimate": 0.5})
    print_table(table, "By [/title]", as_json=False)
    printed = capsys.readouterr().out
    for text in ("[low]", "[/nope]", "[red]x[/red]", "[/title]", "[bold]level", "plain"):
        assert text in printed
    assert "\x1b[2J" not in printed
    assert r"\x1b[2Jgone" in printed
    assert r"a\nb" in printed
    assert not {"\x9b", "\u202e"} & set(printed)


def test_json_says_the_same_without_control_characters(capsys):
    print_json({"names": HOSTILE})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {"names": HOSTILE}
    assert not {"\x1b", "\x9b", "\u202e"} & set(printed)


def test_words_of_all_scripts_stay_as_they_are():
    for text in ("Zürich", "北京", "\u0645\u06cc\u200c\u062e\u0648", "👩\u200d🌾"):
        assert visible(text) == text


@pytest.mark.parametrize(
    "arguments", [["check", "\x1b[31m.csv", "r.csv", "--group", "g"], ["demo", "--\x1b[31m"], ["\x1b[31m"]]
)
def test_messages_show_control_characters(arguments, capsys):
    assert main(arguments) == 2
    printed = capsys.readouterr().err
    assert "\x1b" not in printed
    assert "x1b[31m" in printed


def test_a_terminal_gets_lines_that_are_broken_between_words():
    assert wrapped("  one two --min-group-size", 12) == "  one two\n  --min-group-size"
    assert wrapped("北京 北京 北京", 10) == "北京 北京\n北京"
    assert wrapped("as  it is", 80) == "as  it is"


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["fti", "p.csv"], "fti: did you mean fit?"),
        (["check", "p.csv", "r.csv", "--gruop=g"], "--gruop: did you mean --group?"),
        (["check", "p.csv", "r.csv", "--group", "g", "--shaer", "s"], "--shaer: did you mean --share?"),
    ],
)
def test_misspelt_commands_and_options_are_recognised(arguments, meant, capsys):
    assert main(arguments) == 2
    printed = capsys.readouterr().err
    assert meant in printed
    assert printed.count("did you mean") == 1


def test_no_command_at_all_shows_the_help(capsys):
    assert main([]) == 2
    assert "disaggregate check people.csv" in capsys.readouterr().err


def test_a_model_is_not_called_as_a_table_is(tmp_path, capsys):
    model = str(tmp_path / "m.csv")
    assert main(["fit", "p.csv", "r.csv", "--group", "g", "-o", model]) == 2
    assert "the name of a table" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["=1+1", "+x", "-cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "\r=1", "+49 1", "-1-1"])
def test_formulas_get_an_apostrophe(text):
    assert harmless(text) == "'" + text


@pytest.mark.parametrize("value", ["-5", "+3.2", "-1e5", "-", "+", "a=b", "", "'x", -5, 2.5, None, True])
def test_numbers_and_other_texts_do_not(value):
    assert harmless(value) is value


def test_tables_are_written_without_formulas_or_raw(tmp_path):
    table = pd.DataFrame({"=name": ["=1+1", "-5"], "n": [-1, 2], "c": pd.Categorical(["@x", "y"])})
    write_rows(tmp_path / "tame.csv", [table], raw=False)
    assert (tmp_path / "tame.csv").read_text() == "'=name,n,c\n'=1+1,-1,'@x\n-5,2,y\n"
    write_rows(tmp_path / "raw.csv", [table])
    assert (tmp_path / "raw.csv").read_text() == "=name,n,c\n=1+1,-1,@x\n-5,2,y\n"
    assert list(table["=name"]) == ["=1+1", "-5"]
    assert list(without_formulas(table)) == ["'=name", "n", "c"]


@pytest.fixture
def bad_tables(tmp_path):
    """Two tables with problems to tell, one of them in letters that few encodings have."""
    people = pd.DataFrame({"g": ["Łódź", "b"] * 5, "x": range(10)})
    people.to_csv(tmp_path / "people.csv", index=False)
    pd.DataFrame({"g": ["Łódź", "b", "c"], "share": [0.5, 0.2, 1.7]}).to_csv(tmp_path / "results.csv", index=False)
    return [
        "check",
        str(tmp_path / "people.csv"),
        str(tmp_path / "results.csv"),
        "--group",
        "g",
        "--share",
        "share",
    ]


def run(arguments, **settings):
    command = [sys.executable, "-m", "disaggregate.cli.main", *arguments]
    environment = {**os.environ, "PYTHONUNBUFFERED": "", **settings.pop("env", {})}
    return subprocess.run(command, check=False, env=environment, stderr=subprocess.PIPE, **settings)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_an_encoding_that_lacks_characters_is_no_traceback(bad_tables, encoding, extra):
    done = run(
        [*bad_tables, *extra], stdout=subprocess.PIPE, env={"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    )
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    if extra:
        assert json.loads(done.stdout.decode(encoding))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device here")
def test_a_full_disk_under_the_output_is_reported(bad_tables):
    with open("/dev/full", "wb") as full:
        done = run([*bad_tables, "--json"], stdout=full)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert b"No space left" in done.stderr or b"would stop a fit" in done.stderr
    assert b"Exception ignored" not in done.stderr


def test_a_reader_that_has_seen_enough_is_no_error(bad_tables):
    read, write = os.pipe()
    os.close(read)
    try:
        done = run([*bad_tables, "--json"], stdout=write)
    finally:
        os.close(write)
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr
    assert done.returncode in (2, 141)


def test_too_little_memory_says_what_helps():
    with pytest.raises(CommandError, match=r"too little memory.*--centers 500"), errors_for_user():
        raise MemoryError("Unable to allocate 7 TiB")


def test_warnings_are_messages_and_not_lines_of_code(capsys):
    with warnings_in_a_line():
        warnings.warn("the disk is \x1b[31mfull", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: the disk is \\x1b[31mfull\n"


def test_what_the_system_says_comes_without_its_number():
    full = OSError(28, "No space left on device")
    assert in_words(full) == "No space left on device"
    assert in_words(OSError(28, "No space left on device", "m.dgz")) == "m.dgz: No space left on device"
    assert in_words(OSError("m.dgz is a link")) == "m.dgz is a link"
