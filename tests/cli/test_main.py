"""The command line as a whole: help, version, exit codes."""

import subprocess
import sys
from importlib.metadata import version

import pytest

from disaggregate.cli import demo
from disaggregate.cli.errors import CommandError
from disaggregate.cli.main import main


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"disaggregate {version('disaggregate')}"


@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--help"]])
def test_help_shows_examples(arguments, capsys):
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "examples:\n  disaggregate demo" in printed


def test_help_imports_nothing_heavy_of_its_own():
    code = (
        "import sys, disaggregate; before = set(sys.modules)\n"
        "from disaggregate.cli.main import main; main(['--help'])\n"
        "own = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "heavy = {'numpy', 'pandas', 'scipy', 'sklearn', 'numba', 'matplotlib', 'rich'}\n"
        "sys.exit(', '.join(own & heavy) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("arguments", [[], ["dmo"], ["demo", "--drows", "3"], ["serve", "--port", "99999"]])
def test_unknown_arguments_are_a_users_mistake(arguments, capsys):
    assert main(arguments) == 2
    assert "error: " in capsys.readouterr().err


def test_a_users_mistake_is_one_message_and_no_traceback(monkeypatch, capsys):
    monkeypatch.setattr(demo, "run", raising(CommandError("the moon is in the way")))
    assert main(["demo"]) == 2
    assert capsys.readouterr().err == "disaggregate demo: error: the moon is in the way\n"


def test_our_own_mistakes_are_not_hidden(monkeypatch):
    monkeypatch.setattr(demo, "run", raising(KeyError("bug")))
    with pytest.raises(KeyError):
        main(["demo"])


def test_an_interrupt_ends_quietly(monkeypatch, capsys):
    monkeypatch.setattr(demo, "run", raising(KeyboardInterrupt()))
    assert main(["demo"]) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_an_interrupt_while_python_still_imports_ends_quietly():
    code = (
        "import sys\n"
        "from importlib.metadata import entry_points\n"
        "class Interrupted:\n"
        "    def find_spec(name, path, target=None):\n"
        "        if name == 'disaggregate.cli.check': raise KeyboardInterrupt\n"
        "(command,) = entry_points(group='console_scripts', name='disaggregate')\n"
        "sys.meta_path.insert(0, Interrupted)\n"
        "sys.exit(command.load()())"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "disaggregate: stopped before it had begun\n")


def raising(error):
    def run(arguments):
        raise error

    return run
