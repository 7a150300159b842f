"""Four commands from two tables to an answer; every mistake is one message, exit code 2, and no file."""

import importlib
import json
import os
import signal
import warnings
from types import SimpleNamespace

import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from disaggregate import load
from disaggregate.cli.main import main
from tests.helpers.interrupted_fits import interrupt_after
from tests.helpers.two_tables import make_tables

ROLES = ["--group", "district", "--share", "share", "--weights", "w"]


def changed(arguments, option, value):
    """Give an option another value."""
    place = arguments.index(option) + 1
    return [*arguments[:place], value, *arguments[place + 1 :]]


SHORT = ["--kernel", "linear", "--context", "no", "--draws", "40", "--burn", "40", "--chains", "2", "--json"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two tables, and the model of them."""
    folder = tmp_path_factory.mktemp("tables")
    people, results, _ = make_tables(n_groups=8)
    people.to_csv(folder / "people.csv", index=False)
    results.drop(columns=["yes", "all"]).to_csv(folder / "results.csv", index=False)
    assert main(["fit", *paths(folder), *ROLES, *SHORT, "-o", str(folder / "m.dgz")]) == 0
    return folder


def paths(folder):
    return [str(folder / "people.csv"), str(folder / "results.csv")]


def complaint(arguments, capsys):
    """Run a command that must fail, and return its one message."""
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    return printed.err


def test_check_lists_problems_and_passes(folder, capsys):
    assert main(["check", *paths(folder), *ROLES]) == 0
    printed = capsys.readouterr().out
    assert "160 people, 8 results, features: age, place, sex" in printed
    assert "advice: people, column 'age': 1 of 160 values missing" in printed


def test_check_in_json(folder, capsys):
    assert main(["check", *paths(folder), *ROLES, "--json"]) == 0
    problems = json.loads(capsys.readouterr().out)
    assert {"level", "where", "message", "kind", "choices"} == set(problems[0])


def test_check_fails_where_a_fit_would(folder, tmp_path, capsys):
    results = pd.read_csv(folder / "results.csv").assign(share=1.5)
    results.to_csv(tmp_path / "results.csv", index=False)
    arguments = ["check", str(folder / "people.csv"), str(tmp_path / "results.csv"), *ROLES]
    assert "would stop a fit" in complaint(arguments, capsys)


def test_fit_tells_what_it_did(folder, tmp_path, capsys):
    assert main(["fit", *paths(folder), *ROLES, *SHORT, "-o", str(tmp_path / "m.dgz")]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert reported["model"] == str(tmp_path / "m.dgz")
    assert "age" in reported["features"]
    assert reported["verdict"]
    assert isinstance(reported["converged"], bool)


def test_predict_adds_three_columns_to_every_row(folder, tmp_path, capsys):
    out = tmp_path / "out.csv"
    assert main(["predict", str(folder / "m.dgz"), str(folder / "people.csv"), "-o", str(out)]) == 0
    before, after = pd.read_csv(folder / "people.csv"), pd.read_csv(out)
    assert list(after) == [*before, "probability", "conf_low", "conf_high"]
    pd.testing.assert_frame_equal(after[list(before)], before)
    assert after["probability"].between(0.0, 1.0).all()
    printed = capsys.readouterr()
    assert "160 rows" in printed.out
    assert "160/160 people" in printed.err


def test_pieces_give_what_the_whole_gives(folder, tmp_path, monkeypatch):
    from disaggregate.cli import predict

    arguments = ["predict", str(folder / "m.dgz"), str(folder / "people.csv"), "--json", "-o"]
    assert main([*arguments, str(tmp_path / "whole.csv")]) == 0
    monkeypatch.setattr(predict, "ROWS", 7)
    assert main([*arguments, str(tmp_path / "pieces.csv")]) == 0
    whole, pieces = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("whole", "pieces"))
    pd.testing.assert_frame_equal(pieces, whole, rtol=1e-9)


def test_subgroups_print_and_write(folder, tmp_path, capsys):
    arguments = ["subgroups", str(folder / "m.dgz"), str(folder / "people.csv"), "--by", "sex,place"]
    assert main([*arguments, "-o", str(tmp_path / "rates.csv")]) == 0
    assert "Share of “the outcome” by sex, place" in capsys.readouterr().out
    table = pd.read_csv(tmp_path / "rates.csv")
    estimates = ["estimate", "std_error", "conf_low", "conf_high", "n", "weight"]
    assert list(table) == ["sex", "place", *estimates, "bound_low", "bound_high", "contraction", "rests_on"]
    assert (table["bound_low"] < table["bound_high"]).all()
    assert table["n"].sum() == 160
    assert main([*arguments, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(table)


def test_effects_say_what_groups_can_tell(folder, capsys):
    assert main(["effects", str(folder / "m.dgz"), str(folder / "people.csv"), "--feature", "place"]) == 0
    printed = capsys.readouterr().out
    assert "town - land" in printed
    assert "rests_on" in printed
    assert "What the groups can say" in printed


def test_effects_take_steps(folder, capsys):
    effects = ["effects", str(folder / "m.dgz"), str(folder / "people.csv"), "--json"]
    assert main([*effects, "--step", "age=sd", "--step", "place=town", "--feature", "sex"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["contrast"] for row in rows] == ["m - f", "+1 sd", "land - town"]
    assert main([*effects, "--step", "age=2.5"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["contrast"] == "+2.5"
    assert "expected COLUMN=STEP" in complaint([*effects, "--step", "age"], capsys)
    for step in ("year", "nan", "inf", "0"):
        assert "number other than 0" in complaint([*effects, "--step", f"age={step}"], capsys)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "{f}/none.csv", "{f}/results.csv", *ROLES], "there is no file"),
        (
            ["fit", "{f}/people.csv", "{f}/results.csv", "--group", "distrikt", "--share", "share"],
            "did you mean 'district'",
        ),
        (["fit", "{f}/people.csv", "{f}/results.csv", *ROLES, "--features", "age,height"], "no column 'height'"),
        (["fit", "{f}/people.csv", "{f}/results.csv", *ROLES, "--kernel", "curly"], "kernel"),
        (["fit", "{f}/people.csv", "{f}/results.csv", *ROLES, "--confidence", "sure"], "no column 'sure'"),
        (["predict", "{f}/people.csv", "{f}/people.csv"], "is a table; expected the model"),
        (["predict", "{f}/m.dgz", "{f}/results.csv"], "lacks 3 features"),
    ],
)
def test_a_mistake_is_one_message_and_no_file(folder, tmp_path, capsys, arguments, message):
    given = [argument.format(f=folder) for argument in arguments]
    output = tmp_path / {"fit": "m.dgz", "predict": "out.csv"}[given[0]]
    assert message in complaint([*given, "-o", str(output)], capsys)
    assert list(tmp_path.iterdir()) == []


def test_a_table_is_not_written_over_itself(folder, capsys):
    people = str(folder / "people.csv")
    before = (folder / "people.csv").read_bytes()
    assert "same file" in complaint(["predict", str(folder / "m.dgz"), people, "-o", people], capsys)
    assert (folder / "people.csv").read_bytes() == before


def test_new_columns_must_be_free(folder, tmp_path, capsys):
    pd.read_csv(folder / "people.csv").assign(probability=1).to_csv(tmp_path / "p.csv", index=False)
    arguments = ["predict", str(folder / "m.dgz"), str(tmp_path / "p.csv"), "-o", str(tmp_path / "out.csv")]
    assert "column 'probability' already" in complaint(arguments, capsys)
    assert not (tmp_path / "out.csv").exists()


def test_a_bare_classifier_is_not_enough(folder, tmp_path, capsys):
    import disaggregate as dg

    dg.load(folder / "m.dgz").classifier.save(tmp_path / "bare.dgz")
    arguments = ["subgroups", str(tmp_path / "bare.dgz"), str(folder / "people.csv"), "--by", "sex"]
    assert "bare classifier" in complaint(arguments, capsys)


def test_a_folder_that_is_not_there_is_noticed_before_the_fit(folder, tmp_path, capsys):
    arguments = ["fit", *paths(folder), *ROLES, "-o", str(tmp_path / "nowhere" / "m.dgz")]
    assert "does not exist" in complaint(arguments, capsys)


def test_numbers_that_json_lacks_are_null(capsys):
    from disaggregate.cli.output import print_json

    print_json({"rhat": float("nan"), "all": [1.5, float("inf"), None, "NaN"]})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {"rhat": None, "all": [1.5, None, None, "NaN"]}
    assert "Infinity" not in printed


def import_string(name):
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def test_an_interrupted_fit_is_saved_and_can_be_resumed(folder, tmp_path, capsys, monkeypatch):
    model, checkpoint = tmp_path / "m.dgz", tmp_path / "run.dgc"
    command = ["fit", *paths(folder), *ROLES, *changed(SHORT, "--draws", "4000"), "-o", str(model)]
    with monkeypatch.context() as patch:
        interrupt_after(60, patch)
        assert main([*command, "--checkpoint", str(checkpoint)]) == 130
    reported = json.loads(capsys.readouterr().out)
    assert reported["verdict"].startswith("Stopped early")
    assert load(model).classifier.posterior_.shape[1] < 4000
    assert main([*command, "--checkpoint", str(checkpoint), "--resume"]) == 0
    resumed = load(model).classifier.posterior_.delta2
    assert main(command) == 0
    assert_array_equal(load(model).classifier.posterior_.delta2, resumed)


def test_draws_can_be_kept_in_a_folder(folder, tmp_path, capsys):
    model, draws = tmp_path / "m.dgz", tmp_path / "draws"
    command = ["fit", *paths(folder), *ROLES, *SHORT, "--draws-to", str(draws), "-o", str(model)]
    assert main(command) == 0
    assert list(draws.glob("*.npy"))
    assert load(model).classifier.posterior_.shape == (2, 40)
    assert "is not empty" in complaint(command, capsys)


def test_resume_needs_a_checkpoint(folder, tmp_path, capsys):
    command = ["fit", *paths(folder), *ROLES, *SHORT, "-o", str(tmp_path / "m.dgz"), "--resume"]
    assert "--resume needs --checkpoint" in complaint(command, capsys)
    assert not list(tmp_path.iterdir())


def test_groups_at_random_are_distinguished_from_places(folder, tmp_path, capsys):
    model = str(tmp_path / "m.dgz")
    short = [*SHORT[:2], *SHORT[4:]]  # without --context
    assert main(["fit", *paths(folder), *ROLES, *short, "-o", model]) == 0
    assert (load(model).classifier.context, load(model).classifier.emphasis) == ("auto", 1.0)
    command = ["fit", *paths(folder), *ROLES, *short, "--random-groups", "-o", model]
    assert main(command) == 0
    assert (load(model).classifier.context, load(model).classifier.emphasis) == (False, "auto")
    assert "--context: not allowed with argument --random-groups" in complaint(
        [*command, "--context", "yes"], capsys
    )


def test_the_make_up_of_groups_counts_on_request(folder, tmp_path, capsys, monkeypatch):
    model, moved = str(tmp_path / "m.dgz"), tmp_path / "moved.csv"
    assert main(["fit", *paths(folder), *ROLES, *changed(SHORT, "--context", "yes"), "-o", model]) == 0
    people = pd.read_csv(folder / "people.csv")
    people.assign(district=["east", "west"] * 80).to_csv(moved, index=False)
    reported = {}
    for rows in (7, 5000):  # new districts are known by all their people, however the table is read
        monkeypatch.setattr("disaggregate.cli.predict.ROWS", rows)
        out = tmp_path / f"{rows}.csv"
        assert main(["predict", model, str(moved), "-o", str(out), "--json"]) == 0
        reported[rows] = pd.read_csv(out)["probability"]
    assert_allclose(reported[7], reported[5000], atol=1e-5)
    analysis = load(model)
    assert analysis.classifier.context is True
    assert_allclose(reported[7], analysis.predict(moved)["probability"], atol=1e-5)


@pytest.mark.parametrize(
    "moment", ["estimator.diagnose", "analysis.fit.Analysis", "saving.archive.write_members", "cli.fit.print_json"]
)
def test_an_interrupt_after_the_last_sweep_costs_no_model(moment, folder, tmp_path, capsys, monkeypatch):
    real = import_string(f"disaggregate.{moment}")

    def interrupted(*given, **how):
        os.kill(os.getpid(), signal.SIGINT)
        return real(*given, **how)

    monkeypatch.setattr(f"disaggregate.{moment}", interrupted)
    model = tmp_path / "m.dgz"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert main(["fit", *paths(folder), *ROLES, *SHORT, "-o", str(model)]) == 130
    assert json.loads(capsys.readouterr().out)["model"] == str(model)
    assert load(model).classifier.posterior_.shape == (2, 40)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_is_meant(folder, tmp_path, monkeypatch):
    def interrupted(*given, **how):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("disaggregate.estimator.diagnose", interrupted)
    assert main(["fit", *paths(folder), *ROLES, *SHORT, "-o", str(tmp_path / "m.dgz")]) == 130
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("where", ["-o", "--draws-to"])
def test_a_disk_without_room_is_reported_before_the_first_sweep(where, folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=10**6 if where == "-o" else 10**7))
    monkeypatch.setattr("disaggregate.fitting.session.FitSession.run", lambda *given: pytest.fail("too late"))
    draws = changed(SHORT, "--draws", "10000")
    if where == "--draws-to":
        monkeypatch.setattr("disaggregate.analysis.fit.require_disk_space_for_model", lambda *given: None)
        draws = [*changed(SHORT, "--draws", "100000"), where, str(tmp_path / "draws")]
    reported = complaint(["fit", *paths(folder), *ROLES, *draws, "-o", str(tmp_path / "m.dgz")], capsys)
    assert "MB are free" in reported
    assert not list(tmp_path.iterdir())


def test_an_option_given_twice_is_refused(folder, capsys):
    reported = complaint(["check", *paths(folder), *ROLES, "--share", "other"], capsys)
    assert "--share" in reported
    assert "given twice" in reported
    effects = ["effects", str(folder / "m.dgz"), str(folder / "people.csv"), "--json"]
    assert main([*effects, "--step", "age=2", "--step", "place=town"]) == 0  # such options may be


def test_findings_are_reported_before_the_first_sweep(folder, tmp_path, capsys, monkeypatch):
    from disaggregate import GroupStatsClassifier

    def stop(*given, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(GroupStatsClassifier, "fit", stop)
    results = pd.read_csv(folder / "results.csv")
    results.assign(district=results["district"].str.upper(), share=100 * results["share"]).iloc[1:].to_csv(
        tmp_path / "results.csv", index=False, sep=";", decimal=","
    )
    arguments = [str(folder / "people.csv"), str(tmp_path / "results.csv"), *ROLES, "-o", str(tmp_path / "m.dgz")]
    assert main(["fit", *arguments]) == 130
    printed = capsys.readouterr().out
    for words in (
        "separated by semicolons",
        "decimal commas",
        "percentages",
        "matched one to one",
        "of 160 people",
    ):
        assert words in printed


def test_predict_says_what_the_fit_did_not_meet(folder, tmp_path, capsys):
    people = pd.read_csv(folder / "people.csv")
    people.loc[0, "place"] = "moon"
    people.assign(age=people["age"] * 1000).to_csv(tmp_path / "people.csv", index=False)
    arguments = ["predict", str(folder / "m.dgz"), str(tmp_path / "people.csv"), "-o", str(tmp_path / "out.csv")]
    assert main(arguments) == 0
    reported = capsys.readouterr().err
    assert "'place': levels that were not in the fit" in reported
    assert "'moon'" in reported
    assert "'age': values around" in reported
    written = pd.read_csv(tmp_path / "out.csv", dtype=str)["probability"]
    assert written.str.len().max() <= len("0.00000000001")


def test_a_workbook_is_not_written_over(folder, tmp_path, capsys):
    reported = complaint(["fit", "b.xlsx#people", "b.xlsx#results", *ROLES, "-o", "b.xlsx"], capsys)
    assert "would be overwritten" in reported


def test_a_column_that_is_not_there_is_asked_about(folder, capsys):
    reported = complaint(["subgroups", str(folder / "m.dgz"), str(folder / "people.csv"), "--by", "plce"], capsys)
    assert "did you mean 'place'" in reported
    reported = complaint(
        ["effects", str(folder / "m.dgz"), str(folder / "people.csv"), "--feature", "agee"], capsys
    )
    assert "did you mean 'age'" in reported
