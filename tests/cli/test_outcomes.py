"""Several outcomes on the command line: every output names the outcome."""

import json

import numpy as np
import pandas as pd
import pytest

from disaggregate import load
from disaggregate.analysis.privacy import disclosure
from disaggregate.analysis.sensitivity import subgroup_sensitivity
from disaggregate.cli.main import main
from disaggregate.report import write_report

OUTCOMES = ["green", "purple", "at home"]
SHORT = ["--kernel", "linear", "--context", "no", "--draws", "30", "--burn", "20", "--chains", "2", "--json"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two tables, and the model of them."""
    folder, rng = tmp_path_factory.mktemp("outcomes"), np.random.default_rng(0)
    place = np.repeat(np.arange(8), 6)
    people = pd.DataFrame(
        {"place": place, "age": rng.normal(size=48) + place % 3, "sex": rng.choice(["f", "m"], 48)}
    )
    people.to_csv(folder / "people.csv", index=False)
    vote = np.where(people["age"] > 1, "green", np.where(people["sex"] == "f", "purple", "home"))
    counts = pd.crosstab(place, vote)
    results = pd.DataFrame({"place": counts.index, "green": counts["green"] / 6, "purple": counts["purple"] / 6})
    results.to_csv(folder / "results.csv", index=False)
    roles = ["--group", "place", "--shares", "green,purple", "--rest", "at home"]
    tables = [str(folder / "people.csv"), str(folder / "results.csv")]
    assert main(["check", *tables, *roles]) == 0
    assert main(["fit", *tables, *roles, *SHORT, "-o", str(folder / "m.dgz")]) == 0
    return folder


def test_predictions_have_columns_of_each_outcome(folder):
    out = folder / "predicted.csv"
    assert main(["predict", str(folder / "m.dgz"), str(folder / "people.csv"), "-o", str(out), "--json"]) == 0
    table = pd.read_csv(out)
    np.testing.assert_allclose(table[[f"probability_{name}" for name in OUTCOMES]].sum(axis=1), 1.0, atol=1e-4)
    assert (table["conf_low_green"] <= table["conf_high_green"]).all()


def test_subgroups_and_effects_name_the_outcome(folder, capsys):
    for command in (["subgroups", "--by", "sex"], ["effects"]):
        name, *rest = command
        assert main([name, str(folder / "m.dgz"), str(folder / "people.csv"), *rest, "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)
        assert [row["outcome"] for row in rows[:3]] == OUTCOMES


def test_effects_of_all_outcomes_add_up_to_nothing(folder):
    analysis = load(folder / "m.dgz")
    effects = analysis.effects(folder / "people.csv", "age")
    assert effects["estimate"].sum() == pytest.approx(0.0, abs=1e-6)


def test_what_there_is_not_yet_says_so(folder, tmp_path):
    analysis, people = load(folder / "m.dgz"), folder / "people.csv"
    for attempt in (
        lambda: write_report(analysis, people, tmp_path / "r.html"),
        lambda: subgroup_sensitivity(analysis, people, ["sex"]),
        lambda: disclosure(analysis),
    ):
        with pytest.raises(ValueError, match="not yet for more than two outcomes; use"):
            attempt()
