import re

import pytest

from disaggregate.cli.help_text import HelpText
from disaggregate.cli.main import COMMANDS, build_parser


def filled(text, width=40):
    return HelpText("disaggregate")._fill_text(text, width, "")


@pytest.mark.parametrize("command", [one.__name__.split(".")[-1] for one in COMMANDS])
def test_help_fits_a_terminal_of_80_columns(command, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        build_parser().parse_args([command, "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 10
    assert not [line for line in lines if len(line) > 80]


def test_paragraphs_are_filled_and_kept_apart():
    text = "One sentence that was broken\nsomewhere else before it came here.\n\nAnother one.\n"
    assert filled(text) == "One sentence that was broken somewhere\nelse before it came here.\n\nAnother one."


def test_meanings_of_a_list_stay_in_their_column():
    text = "  weak    a quarter of the prior variance\n  strong  four times as much\n"
    assert filled(text, 30) == (
        "  weak    a quarter of the\n          prior variance\n  strong  four times as much"
    )


def test_examples_are_broken_before_options_as_a_shell_reads_them():
    command = "  disaggregate fit people.csv results.csv --group district -o model.dgz --resume"
    broken = filled(f"examples:\n{command}\n", 48)
    assert broken.splitlines()[1:] == [
        "  disaggregate fit people.csv results.csv \\",
        "      --group district -o model.dgz --resume",
    ]
    assert re.sub(r" \\\n +", " ", broken).splitlines()[1] == command


def test_examples_that_were_broken_are_joined_first():
    text = "  disaggregate fit a.csv b.csv \\\n      --group g\n"
    assert filled(text, 80) == "  disaggregate fit a.csv b.csv --group g"
