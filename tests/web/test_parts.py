"""Parts of the page that need no server: guesses, commands and times."""

import argparse
import json
import logging
import shlex
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from disaggregate.cli.main import build_parser
from disaggregate.report.effects import Effects
from disaggregate.report.findings import Findings
from disaggregate.report.subgroups import Rates
from disaggregate.tables.guess import guess_roles
from disaggregate.web.downloads import commands, python_code, write_tables
from disaggregate.web.examples import EXAMPLES, write_example
from disaggregate.web.fit_length import estimate, settings_of
from disaggregate.web.fit_process import FitStartHandler, Progress
from disaggregate.web.fits import PROGRESS
from disaggregate.web.forms import FormError, read_fewest
from disaggregate.web.progress_text import describe

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
    assert (arguments.group, arguments.share, arguments.weight) == ("the district", "pct", "w")
    assert arguments.sampled
    assert arguments.outcome == "voted 'purple'"
    assert (arguments.kernel, arguments.draws, arguments.features) == ("linear", 50, ["age", "sex"])
    compile(python_code(JOB), "<page>", "exec")


def test_commands_and_python_suppress_what_the_page_does():
    for text in (commands({**JOB, "min_group_size": 10}), python_code({**JOB, "min_group_size": 10})):
        assert text.replace("_", "-").replace("=", " ").count("min-group-size 10") == 2


@pytest.mark.parametrize("text", ["0", "-1", "501", "1e2", "²", "x", "", "9" * 99])
def test_the_fewest_people_of_a_number_are_a_whole_number_of_them(text):
    assert read_fewest({"fewest": "500"}, 500) == 500
    with pytest.raises(FormError, match="1 to 500 people"):
        read_fewest({"fewest": text}, 500)


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


def test_progress_is_reported_in_words():
    def reported(**fit):
        return describe({"state": "running", "seconds": 30.0, **fit})

    assert reported()["what"] == "Starting …"
    assert reported(what="comparing kernels", done=0, total=0, left=40.0) == {
        "what": "Comparing kernels …",
        "percent": None,
        "left": "About 40 seconds left. 30 seconds so far. You may close this page and come back.",
    }
    assert reported(what="sampling", done=30, total=40, left=200.0)["what"] == "Drawing: 75%"
    assert "3 minutes left" in reported(what="sampling", done=30, total=40, left=200.0)["left"]
    assert "longer than usual" in reported(what="tuning", done=1, total=2, left=0.0)["left"]
    assert describe({"state": "waiting", "ahead": 2})["what"].startswith("2 fits")
    assert "Saving" in describe({"state": "stopping"})["what"]


def test_a_fit_says_what_it_does_and_how_long_it_takes(tmp_path):
    def written():
        return json.loads((tmp_path / PROGRESS).read_text())

    progress = Progress(tmp_path, seconds=100.0)
    progress.enter("reading")
    assert written()["what"] == "reading"
    assert 90.0 < written()["left"] <= 100.0
    FitStartHandler(progress, "comparing kernels").emit(
        logging.makeLogRecord({"msg": "fitting %d rows in %d groups"})
    )
    assert written()["what"] == "comparing kernels"
    progress(0, 40, "sampling")
    progress(40, 40, "sampling")
    assert written()["what"] == "judging"


def test_tables_to_take_home_are_those_of_the_report(tmp_path):
    rates = [
        Rates(
            name,
            pd.DataFrame({"label": ["a", "b"], "n": [1, 2], "estimate": 0.5, "std_error": 0.1}).assign(**more),
        )
        for name, more in (
            ("sex", {"conf_low": 0.1, "conf_high": 0.9, "note": "x"}),
            ("age", {"conf_low": 0.2, "conf_high": 0.8}),
        )
    ]
    compared = pd.DataFrame({"term": ["age", "sex"], "contrast": ["+1 sd", "f - m"], "estimate": [0.1, 0.2]})
    by_unit = pd.DataFrame({"term": ["age"], "contrast": ["+1"], "estimate": [0.01]})
    people = pd.DataFrame({"age": [1, 2]})
    effects, groups = Effects(["age", "sex"], compared, by_unit), pd.DataFrame({"group": ["=1+1"], "n": [3]})
    findings = Findings(people, 0.9, 1, people, rates, effects, groups, None)
    analysis = SimpleNamespace(predict=lambda table: pd.DataFrame({"probability": [0.5, 0.6]}))
    write_tables(analysis, findings, tmp_path)
    assert list(pd.read_csv(tmp_path / "subgroups.csv")["column"]) == ["sex", "sex", "age", "age"]
    assert list(pd.read_csv(tmp_path / "effects.csv")["contrast"]) == ["+1", "f - m"]
    assert list(pd.read_csv(tmp_path / "predictions.csv")) == ["age", "probability"]
    assert not pd.read_csv(tmp_path / "groups.csv")["group"].iloc[0].startswith("=")
    assert (tmp_path / "tables.xlsx").stat().st_size > 1000
