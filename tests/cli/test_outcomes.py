"""Several outcomes on the command line: every output names the outcome."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from disaggregate import load
from disaggregate.analysis.privacy import _is_settled, disclosure
from disaggregate.analysis.sensitivity import side_by_side
from disaggregate.cli.main import main
from disaggregate.evidence import Bounds, Counts, PopulationShares, Shares, Unknown
from disaggregate.groups.outcomes import group_outcomes
from disaggregate.report import write_report
from disaggregate.report.findings import find
from disaggregate.report.outcomes import estimates_by_column, transfer_table
from disaggregate.tables.problems import TableError

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


@pytest.mark.parametrize("counts", [False, True])
def test_people_who_are_a_weighted_sample_of_their_place(folder, counts):
    results = pd.read_csv(folder / "results.csv").assign(adults=500)
    people = pd.read_csv(folder / "people.csv").assign(weight=np.tile([1.0, 2.0, 0.5], 16))
    reported = ["--shares", "green,purple"]
    if counts:
        results[["green", "purple"]] = (500 * results[["green", "purple"]]).round().astype(int)
        reported = ["--positives", "green,purple", "--total", "adults"]
    results.to_csv(folder / "of_population.csv", index=False)
    people.to_csv(folder / "sample.csv", index=False)
    tables = [str(folder / "sample.csv"), str(folder / "of_population.csv")]
    roles = ["--group", "place", *reported, "--rest", "at home", "--weights", "weight", "--sampled"]
    size = [] if counts else ["--size", "adults"]
    assert main(["check", *tables, *roles, *size]) == 0
    assert main(["fit", *tables, *roles, *size, *SHORT, "-o", str(folder / "sampled.dgz")]) == 0
    table = load(folder / "sampled.dgz").classifier.group_table()
    assert table["outcome"].tolist() == OUTCOMES * 8
    assert np.corrcoef(table["implied"], table["reported"])[0, 1] > 0.8


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        (["--shares", "green,purple", "--weights", "age"], "sampled"),
        (["--shares", "green,purple", "--size", "adults"], "sampled"),
        (["--positives", "votes,purple", "--sampled"], "total or size"),
    ],
)
def test_samples_that_are_reported_by_half_are_refused(folder, tmp_path, capsys, roles, words):
    results = pd.read_csv(folder / "results.csv").assign(adults=500, votes=200)
    results["purple"] = 100 if "--positives" in roles else results["purple"]
    results.to_csv(tmp_path / "results.csv", index=False)
    tables = [str(folder / "people.csv"), str(tmp_path / "results.csv")]
    assert main(["check", *tables, "--group", "place", "--rest", "at home", *roles]) != 0
    out = capsys.readouterr()
    assert words in out.out + out.err


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


def test_the_report_sets_the_outcomes_beside_each_other(folder, tmp_path):
    page = tmp_path / "r.html"
    given = ["report", str(folder / "m.dgz"), str(folder / "people.csv"), "-o", str(page), "--by", "sex,age"]
    assert main(given) == 0
    text = page.read_text(encoding="utf-8")
    assert "Share of each outcome by sex" in text
    assert re.search(r'aria-label="green \d+%, purple \d+%, at home \d+%"', text)
    for name in OUTCOMES:
        assert f"Implied against reported share of “{name}”" in text
    analysis = load(folder / "m.dgz")
    moved = pd.DataFrame({"by": ["sex"], "subgroup": ["f"], "n": [30], "estimate": [0.5]})
    with pytest.raises(ValueError, match="sensitivity"):
        write_report(analysis, folder / "people.csv", page, sensitivity=moved)


def test_a_transfer_table_adds_up_and_agrees_with_subgroups(folder):
    analysis, people = load(folder / "m.dgz"), pd.read_csv(folder / "people.csv")
    found = {name: find(analysis.of_outcome(name), people, by=["sex"]) for name in OUTCOMES}
    tables = estimates_by_column(found, "sex")
    cells = [[float(cell.sort) for cell in row[1:4]] for row in transfer_table("sex", tables).rows]
    np.testing.assert_allclose(np.sum(cells, axis=1), 1.0)
    expected = analysis.subgroups(people, "sex").pivot(index="sex", columns="outcome", values="estimate")
    labels = tables["green"]["label"]
    np.testing.assert_allclose(cells, expected.loc[labels, OUTCOMES])


def test_small_subgroups_are_not_reported_in_the_report(folder, tmp_path):
    people = pd.read_csv(folder / "people.csv")
    people.loc[:1, "sex"] = "x"
    write_report(load(folder / "m.dgz"), people, tmp_path / "r.html", by="sex", min_group_size=5)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert re.search(r'<td data-sort="x">x</td>(<td class="number">suppressed</td>){3}', text)


def test_one_outcome_of_several_is_an_analysis_of_its_own(folder):
    analysis, people = load(folder / "m.dgz"), pd.read_csv(folder / "people.csv")
    one = analysis.of_outcome("purple")
    assert one.outcome_name == "purple"
    assert one.outcomes == []
    every = analysis.subgroups(people, "sex")
    expected = every[every["outcome"] == "purple"].drop(columns="outcome").reset_index(drop=True)
    pd.testing.assert_frame_equal(one.subgroups(people, "sex"), expected)
    np.testing.assert_allclose(one.predict(people)["probability"], analysis.predict(people)["probability_purple"])
    assert one.predict_draws(people).ndim == 3
    assert "outcome" not in one.group_table()
    with pytest.raises(TableError, match=r"outcomes.*'purlpe'"):
        analysis.of_outcome("purlpe")


def test_plots_of_several_outcomes(folder):
    analysis, people = load(folder / "m.dgz"), folder / "people.csv"
    bars = analysis.plot.subgroups(people, "sex")
    assert [text.get_text() for text in bars.get_legend().get_texts()] == OUTCOMES
    ends = np.array([[patch.get_x() + patch.get_width() for patch in group] for group in bars.containers])
    np.testing.assert_allclose(ends[-1], 1.0)
    assert (np.diff(ends, axis=0) > 0.0).all()
    assert len(analysis.plot.effects(people, ["age"]).get_yticklabels()) == 3
    assert analysis.plot.groups().get_xlabel() == "reported share"


def test_plots_keep_silent_about_few(folder):
    analysis, people = load(folder / "m.dgz"), pd.read_csv(folder / "people.csv")
    people["kind"] = ["alone", *["several"] * (len(people) - 1)]
    bars = analysis.plot.subgroups(people, "kind", min_group_size=10)
    assert {text.get_text() for text in bars.texts} == {"suppressed"}
    assert all(patch.get_width() == 0.0 for group in bars.containers for patch in group)
    one = analysis.of_outcome(OUTCOMES[0])
    assert {text.get_text() for text in one.plot.subgroups(people, "kind", min_group_size=10).texts} == {
        "suppressed"
    }


def test_sensitivity_has_a_row_per_outcome_and_goes_into_the_report(folder, tmp_path):
    tables, path = [str(folder / "m.dgz"), str(folder / "people.csv")], str(tmp_path / "moved.csv")
    assert main(["sensitivity", *tables, "--by", "sex", "--change", "trust", "--json", "-o", path]) == 0
    moved = pd.read_csv(path)
    assert moved["outcome"].tolist() == 2 * ([*OUTCOMES] + [o for o in OUTCOMES for _ in "fm"])
    assert moved.loc[moved["change"] != "as it is", "shift"].abs().max() > 0.001
    by_change = moved[moved["by"] == "sex"].groupby(["change", "subgroup"])["estimate"].sum()
    np.testing.assert_allclose(by_change, 1.0)
    wide = side_by_side(moved[moved["by"] == "sex"])
    assert wide[["subgroup", "outcome"]].duplicated().sum() == 0
    assert len(wide) == 6
    page = tmp_path / "report.html"
    write_report(load(folder / "m.dgz"), folder / "people.csv", page, sensitivity=path)
    assert "Estimated share of “purple” by sex under other choices." in page.read_text(encoding="utf-8")
    one = load(folder / "m.dgz").of_outcome("purple")
    with pytest.raises(TableError, match="about several outcomes"):
        write_report(one, folder / "people.csv", page, sensitivity=path)


def test_disclosure_counts_labels_of_any_outcome(folder):
    table = disclosure(load(folder / "m.dgz"), sure=0.5)
    assert table["n"].tolist() == [6] * 8
    assert table["surest"].between(1.0 / 3.0, 1.0).all()
    assert table["sure"].sum() > 0


SETTLED = {
    "all": (Counts({"a": 5, "b": 0, "c": 0}), True),
    "all of an outcome that is left": (Counts({"a": 0, "b": 0}), True),
    "all of two that are not told apart": (Counts({"a": 0}), False),
    "all but one": (Counts({"a": 4, "b": 1, "c": 0}), False),
    "a share of one": (Shares({"a": 0.0, "b": 1.0, "c": 0.0}), True),
    "a share that is hardly trusted": (Shares({"a": 0.01, "b": 0.98, "c": 0.01}, confidence=5.0), False),
    "bounds": (Bounds({"a": (5, 5)}), True),
    "a population": (PopulationShares({"a": 1.0, "b": 0.0, "c": 0.0}), False),
    "nothing": (Unknown(), False),
}


@pytest.mark.parametrize("name", SETTLED)
def test_reports_that_settle_every_label(name):
    report, is_settled = SETTLED[name]
    data = group_outcomes(["g"] * 5 + ["h"] * 2, {"g": report, "h": Counts({"b": 1, "c": 1})}, ["a", "b", "c"])
    assert _is_settled(data).tolist() == [is_settled, False]
