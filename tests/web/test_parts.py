"""Parts of the page that need no server: guesses, commands and times."""

import argparse
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from disaggregate.cli.main import build_parser
from disaggregate.tables.guess import guess_roles
from disaggregate.web.examples import EXAMPLES, write_example
from disaggregate.web.pace import estimate, settings_of
from disaggregate.web.take_home import commands, python_code

JOB = {
    "roles": {"group": "the district", "share": "pct", "features": ["age", "sex"], "weight": "w"},
    "sampled": True,
    "outcome": "voted 'purple'",
    "settings": {"kernel": "linear", "n_draws": 50, "random_state": 0},
    "resume": False,
}


def test_commands_and_python_do_the_same_again():
    first = shlex.split(commands(JOB).replace("\\\n", " ").splitlines()[0])
    arguments = build_parser().parse_args(first[1:])
    assert isinstance(arguments, argparse.Namespace)
    assert (arguments.group, arguments.share, arguments.weights) == ("the district", "pct", "w")
    assert arguments.sampled
    assert arguments.outcome == "voted 'purple'"
    assert (arguments.kernel, arguments.draws, arguments.features) == ("linear", 50, ["age", "sex"])
    compile(python_code(JOB), "<page>", "exec")


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_understood(name, tmp_path):
    files = write_example(name, tmp_path)
    people, results = (pd.read_csv(tmp_path / file) for file in files)
    guess = guess_roles(people, results)
    assert guess.sampled
    assert list(guess.people.values()).count("group") == list(guess.results.values()).count("group") == 1
    assert "share" in guess.results.values()
    assert "size" in guess.results.values()


def test_counts_weights_and_ids_are_guessed():
    rng = np.random.default_rng(0)
    people = pd.DataFrame(
        {"case_id": range(60), "store": np.arange(60) % 3, "age": rng.normal(size=60), "weight": 1.5}
    )
    results = pd.DataFrame({"shop": [0, 1, 2], "sold": [3, 4, 5], "visitors": [20, 20, 20]})
    guess = guess_roles(people, results)
    assert guess.people == {"case_id": "ignore", "store": "group", "age": "feature", "weight": "weight"}
    assert guess.results == {"shop": "group", "sold": "positives", "visitors": "total"}
    assert not guess.sampled


def test_the_process_of_the_page_stays_small(tmp_path):
    code = (
        "import sys; from pathlib import Path; from starlette.testclient import TestClient\n"
        "from disaggregate.web.app import make_app\n"
        "client = TestClient(make_app(Path(sys.argv[1])))\n"
        "assert client.get('/').status_code == client.get('/static/page.css').status_code == 200\n"
        "print([name for name in ('numpy', 'pandas', 'numba') if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


def test_times_grow_with_the_table_and_large_tables_get_landmarks():
    assert estimate("quick", 100) == "less than a minute"
    assert "minutes" in estimate("full", 3000)
    assert "centers" in settings_of("full", 20_000)
    assert "centers" not in settings_of("full", 2_000)
