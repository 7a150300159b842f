import re
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import disaggregate as dg
from disaggregate.posterior.diagnostics import _judge_reports
from disaggregate.posterior.predictive import PredictiveCheck
from disaggregate.privacy import disclosure, label_proba, landmarks
from disaggregate.report import write_report

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SHORT = {"kernel": "rbf", "gamma": 0.5, "n_chains": 2, "n_draws": 20, "n_burn": 20, "n_replicas": 1}
SHORT |= {"random_state": 0, "n_jobs": 1}
GROUPS = np.array(["one"] + ["none"] * 6 + ["some"] * 8 + ["few"] * 4 + ["more"] * 9)
REPORTS = {"one": dg.evidence.Count(1), "none": 0.0, "some": 0.5, "few": dg.evidence.AtMost(1), "more": 0.3}


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(5).normal(size=(len(GROUPS), 2)) + 0.123456789


@pytest.fixture(scope="module")
def model(X):
    return dg.GroupStatsClassifier(**SHORT).fit(X, REPORTS, groups=GROUPS)


@pytest.fixture(scope="module")
def nobodys(X):
    return dg.GroupStatsClassifier(**SHORT, centers=landmarks(X, 5)).fit(X, REPORTS, groups=GROUPS)


def test_an_anonymised_model_forgets_the_make_up_of_small_groups(X, tmp_path):
    model = dg.GroupStatsClassifier(**SHORT, centers=landmarks(X, 5), context=True)
    model.fit(X, REPORTS, groups=GROUPS).save(tmp_path / "m.dgz", anonymise=True)
    handed_on = dg.load(tmp_path / "m.dgz")
    assert set(handed_on.context_.names) == {"none", "some", "more"}
    for name, mean in zip(handed_on.context_.names, handed_on.context_.means, strict=True):
        assert_allclose(mean, X[name == GROUPS].mean(axis=0))
    large = np.isin(GROUPS, handed_on.context_.names)
    reported = handed_on.predict_proba(X[large], GROUPS[large])
    assert_array_equal(reported, model.predict_proba(X[large], GROUPS[large]))


def tables():
    rng = np.random.default_rng(1)
    people = pd.DataFrame({"g": GROUPS, "x": rng.normal(size=len(GROUPS)), "y": rng.normal(size=len(GROUPS))})
    people["kind"] = ["only-me", *(["u", "v"] * len(GROUPS))[: len(GROUPS) - 1]]
    results = pd.DataFrame({"g": list(REPORTS), "share": [1.0, 0.0, 0.5, 0.5, 0.3]})
    return people, results


@pytest.fixture(scope="module")
def analysis():
    people, results = tables()
    return dg.fit_tables(people, results, group="g", share="share", settings=SHORT)


def test_disclosure_tells_whom_the_reports_give_away(model):
    table = disclosure(model).set_index("group")
    assert table["settled"].to_dict() == {"one": 1, "none": 6, "some": 0, "few": 0, "more": 0}
    assert (table["sure"] >= table["settled"]).all()
    assert table.loc["one", "surest"] == table.loc["none", "surest"] == 1.0
    assert "own label" in table.loc["one", "says"]
    assert "every member" in table.loc["none", "says"]
    assert table["n"].sum() == len(GROUPS)


def test_disclosure_counts_people_and_not_cells():
    counts, groups = np.array([3, 4, 2, 6]), np.array(["none", "none", "some", "some"])
    features = np.array([[0.0], [1.0], [0.5], [2.0]])
    settings = {**SHORT, "group_effects": False}
    model = dg.GroupStatsClassifier(**settings)
    model.fit(features, {"none": dg.evidence.Count(0), "some": dg.evidence.Count(4)}, groups=groups, counts=counts)
    table = disclosure(model).set_index("group")
    assert table["n"].to_dict() == {"none": 7, "some": 8}
    assert table["settled"].to_dict() == {"none": 7, "some": 0}
    assert table.loc["none", "sure"] == 7
    assert np.isfinite(label_proba(model, min_group_size=7)[2:]).all()
    assert np.isnan(label_proba(model, min_group_size=8)).all()


def test_label_proba_is_withheld_from_small_and_settled_groups(model):
    reported = label_proba(model, min_group_size=5)
    silent = np.isin(GROUPS, ["one", "few", "none"])
    assert np.isnan(reported[silent]).all()
    assert_array_equal(reported[~silent], model.label_proba_[~silent])
    assert np.isnan(label_proba(model, 9)[GROUPS == "some"]).all()


def test_group_tables_keep_silent_about_few(model):
    table = model.group_table(min_group_size=5).set_index("group")
    assert table.loc[["one", "few"], ["reported", "implied", "conf_low", "conf_high"]].isna().all(axis=None)
    assert table.loc[["none", "some", "more"], "implied"].notna().all()
    assert (table["n"] > 0).all()


def test_subgroups_keep_silent_about_few(analysis):
    people, _ = tables()
    rates = analysis.subgroups(people, "kind", min_group_size=5).set_index("kind")
    assert rates.loc["only-me", ["estimate", "std_error", "conf_low", "conf_high"]].isna().all()
    assert rates["estimate"].notna().sum() == 1  # a second one is hidden, else the first would follow
    assert analysis.subgroups(people, "kind")["estimate"].notna().all()


def row_of_group(page, group):
    """What the table of groups says, without its markup."""
    table = re.search("Reported and implied share.*?</table>", page.read_text(encoding="utf-8"), re.DOTALL)[0]
    row = next(row for row in re.findall("<tr.*?</tr>", table, re.DOTALL) if f">{group}<" in row)
    return re.sub("<[^>]*>", " ", row)


def test_reports_keep_silent_about_few(analysis, tmp_path):
    pytest.importorskip("jinja2")
    people, _ = tables()
    write_report(analysis, people, tmp_path / "open.html")
    write_report(analysis, people, tmp_path / "shut.html", min_group_size=5)
    assert "100.0%" in row_of_group(tmp_path / "open.html", "one")
    for group in ("one", "few"):
        assert "." not in row_of_group(tmp_path / "shut.html", group)
    assert "50.0%" in row_of_group(tmp_path / "shut.html", "some")
    assert "What was noticed" in (tmp_path / "open.html").read_text(encoding="utf-8")
    assert "What was noticed" not in (tmp_path / "shut.html").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="nothing may be shown"):
        write_report(analysis, people.head(3), tmp_path / "none.html", min_group_size=5)


def test_landmarks_are_averages_of_enough_people(X):
    points = landmarks(X, 5)
    assert 1 < len(points) <= 5
    low, high = np.sort(X, axis=0)[[4, -5]]
    assert_allclose(landmarks(X, 1), X.clip(low, high).mean(axis=0, keepdims=True))
    assert not (points[:, None] == X).all(axis=2).any()
    assert len(landmarks(X, 1000)) == len(X) // 5
    with pytest.raises(ValueError, match="too few"):
        landmarks(X[:3], 2)


def rows_in_file(path, X):
    """Which rows of X, or single features of theirs, are in the file, as the bytes of numbers."""
    with zipfile.ZipFile(path) as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
    return [row for row in X if any(value.tobytes() in content for value in row)]


def test_an_anonymised_file_holds_no_training_row(nobodys, model, X, tmp_path):
    model.save(tmp_path / "all.dgz")
    assert len(rows_in_file(tmp_path / "all.dgz", X)) == len(X)
    nobodys.save(tmp_path / "m.dgz", anonymise=True)
    assert rows_in_file(tmp_path / "m.dgz", X) == []


def test_an_anonymised_model_predicts_the_same_and_knows_nobody(nobodys, X, tmp_path):
    nobodys.save(tmp_path / "m.dgz", anonymise=True)
    loaded = dg.load(tmp_path / "m.dgz")
    assert_array_equal(loaded.predict_draws(X), nobodys.predict_draws(X))
    assert not hasattr(loaded, "label_proba_")
    assert loaded._fitted.label_sums.size == 0
    assert_array_equal(loaded._data.order, np.arange(len(loaded._data.order)))
    assert len(loaded.diagnostics_.individuals) == 0
    assert loaded.diagnostics_.rhat["f"].size == 1
    assert loaded.group_table()["group"].tolist() == ["none", "some", "more"]
    full = nobodys.group_table().set_index("group").loc[["none", "some", "more"]]
    assert_array_equal(loaded.group_table()["implied"], full["implied"])
    with pytest.raises(ValueError, match="has no members"):
        label_proba(loaded, 5)
    assert hasattr(nobodys, "label_proba_")  # the one in memory is left alone
    loaded.save(tmp_path / "again.dgz", anonymise=True, min_group_size=6)
    assert_array_equal(dg.load(tmp_path / "again.dgz").predict_draws(X), nobodys.predict_draws(X))


@pytest.mark.parametrize("centers", ["all", 5])
def test_models_whose_kernels_sit_on_people_are_not_anonymised(X, centers, tmp_path):
    model = dg.GroupStatsClassifier(**SHORT, centers=centers).fit(X, REPORTS, groups=GROUPS)
    with pytest.raises(ValueError, match=r"cannot be anonymised.*privacy\.landmarks"):
        model.save(tmp_path / "m.dgz", anonymise=True)
    assert list(tmp_path.iterdir()) == []


def test_groups_that_are_all_small_cannot_be_anonymised(nobodys, tmp_path):
    with pytest.raises(ValueError, match="none of its groups has 50"):
        nobodys.save(tmp_path / "m.dgz", anonymise=True, min_group_size=50)


def test_an_anonymised_analysis_forgets_rare_levels_and_encodes_alike(tmp_path):
    people, results = tables()
    known = dg.fit_tables(people, results, group="g", share="share", settings=SHORT, landmarks=5)
    known.save(tmp_path / "m.dgz", anonymise=True)
    with zipfile.ZipFile(tmp_path / "m.dgz") as archive:
        assert b"only-me" not in archive.read("disaggregate.json")
    loaded = dg.load(tmp_path / "m.dgz")
    pd.testing.assert_frame_equal(loaded.predict(people), known.predict(people))
    assert loaded.problems == ()


def test_the_command_line_says_whom_a_file_holds(tmp_path, capsys):
    from disaggregate.cli.main import main

    people, results = tables()
    people.to_csv(tmp_path / "people.csv", index=False)
    results.to_csv(tmp_path / "results.csv", index=False)
    command = [
        "fit",
        str(tmp_path / "people.csv"),
        str(tmp_path / "results.csv"),
        "--group",
        "g",
        "--share",
        "share",
    ]
    command += ["--kernel", "rbf", "--draws", "20", "--burn", "20", "--chains", "2", "-o", str(tmp_path / "m.dgz")]
    assert main(command) == 0
    assert f"holds the features of {len(people)} people" in capsys.readouterr().out
    assert main([*command, "--landmarks", "5"]) == 0
    assert "holds no person's features" in capsys.readouterr().out
    asked = ["subgroups", str(tmp_path / "m.dgz"), str(tmp_path / "people.csv"), "--by", "kind", "--json"]
    assert main([*asked, "--min-group-size", "5"]) == 0
    assert '"estimate": null' in capsys.readouterr().out


def test_landmarks_tell_no_extreme_and_no_rare_level():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=60), np.zeros(60)])
    X[7] = [1e6, 1.0]  # the one with the top income, and alone in a category
    points = landmarks(X, 8)
    assert points[:, 0].max() <= np.sort(X[:, 0])[-5]
    assert_array_equal(points[:, 1], 0.0)


def test_label_proba_is_withheld_where_noise_is_next_to_nothing():
    groups = np.repeat(["all", "some"], 12)
    reports = {"all": dg.evidence.NoisyCount(12.0, scale=0.01), "some": dg.evidence.NoisyCount(6.0, scale=2.0)}
    X = np.random.default_rng(0).normal(size=(24, 1))
    reported = label_proba(dg.GroupStatsClassifier(**SHORT).fit(X, reports, groups=groups), min_group_size=5)
    assert np.isnan(reported[:12]).all()
    assert np.isfinite(reported[12:]).all()


@pytest.fixture(scope="module")
def odd_one():
    """A model whose verdict names a group of one, far from what the others lead to expect."""
    groups = np.array([*np.repeat([f"street {number}" for number in range(6)], 12), "house 12"])
    X = np.random.default_rng(2).normal(size=(len(groups), 1))
    X[-1] = -6.0
    shares = {f"street {number}": 0.5 for number in range(6)}
    for name in shares:  # the share follows from x
        shares[name] = float((X[groups == name] > 0).mean())
    people = pd.DataFrame({"g": groups, "x": X[:, 0]})
    results = pd.DataFrame({"g": [*shares, "house 12"], "share": [*shares.values(), 1.0]})
    settings = {**SHORT, "kernel": "linear", "context": False}
    analysis = dg.fit_tables(people, results, group="g", share="share", settings=settings, landmarks=10)
    reports = PredictiveCheck(1e-6, ("street 1", "house 12"), np.array([0.5, 1000.0]))
    diagnostics = analysis.classifier.diagnostics_
    reported = replace(diagnostics, verdict=diagnostics.verdict + _judge_reports(reports), reports=reports)
    analysis.classifier.diagnostics_ = reported
    return people, analysis


def test_the_verdict_of_a_page_names_no_hidden_group(odd_one, tmp_path):
    pytest.importorskip("jinja2")
    people, analysis = odd_one
    assert "house 12" in analysis.classifier.diagnostics_.verdict
    write_report(analysis, people, tmp_path / "shut.html", min_group_size=10)
    page = (tmp_path / "shut.html").read_text(encoding="utf-8")
    assert "The model explains the reports badly (p below 0.001)" in page
    assert "standard deviations above" not in page
    write_report(analysis, people, tmp_path / "open.html")
    assert "1000.0 standard deviations above" in (tmp_path / "open.html").read_text(encoding="utf-8")


def test_the_verdict_of_an_anonymised_file_names_no_dropped_group(odd_one, tmp_path):
    _, analysis = odd_one
    analysis.save(tmp_path / "m.dgz", anonymise=True)
    with zipfile.ZipFile(tmp_path / "m.dgz") as archive:
        document = archive.read("disaggregate.json").decode()
    assert "house 12" not in document
    assert "standard deviations above" not in document
    assert "The model explains the reports badly (p below 0.001)" in document


def test_people_without_weight_make_no_subgroup_large(analysis):
    people, _ = tables()
    people = people.assign(kind=["a"] * 14 + ["b"] * 14, w=[1.0] + [0.0] * 13 + [1.0] * 14)
    people = people.assign(w2=[1.0] + [1e-9] * 13 + [1.0] * 14)
    for weights in ("w", "w2"):
        rates = analysis.subgroups(people, "kind", weights, min_group_size=5).set_index("kind")
        assert rates["n"].tolist() == [14, 14]
        assert rates["estimate"].isna().all()  # b follows from a and the total
        assert rates["note"].tolist() == [
            "suppressed: few people have nearly all the weight",
            "suppressed: a smaller one would follow from it",
        ]


def test_equal_weights_hide_nobody(analysis):
    people, _ = tables()
    people = people.assign(kind=["a"] * 10 + ["b"] * 18, w=0.1)
    rates = analysis.subgroups(people, "kind", "w", min_group_size=10)
    assert rates["estimate"].notna().all()
    assert set(rates["note"]) == {""}


def test_effects_keep_silent_about_levels_that_few_have(analysis):
    people, _ = tables()
    table = analysis.effects(people, ["kind", "x"], min_group_size=5).set_index("contrast")
    assert table.loc["only-me - u", ["estimate", "std_error", "conf_low", "conf_high"]].isna().all()
    assert table.loc["only-me - u", "note"].startswith("suppressed: fewer than 5 people")
    assert np.isfinite(table.loc["+1", "estimate"])
    open_table = analysis.effects(people, ["kind", "x"]).set_index("contrast")
    assert open_table["estimate"].notna().all()
    assert "note" not in open_table
    asked = analysis.effects(people, {"kind": "only-me"}, min_group_size=5)
    assert asked["estimate"].isna().all()


def test_numbers_that_few_have_have_no_effect(analysis):
    people, _ = tables()
    people = people.assign(x=people["x"].where(np.arange(len(people)) < 3))
    table = analysis.effects(people, ["x", "y"], min_group_size=5).set_index("term")
    assert table["estimate"].isna().to_dict() == {"x": True, "y": False}


def test_suppressed_numbers_say_so(analysis, tmp_path, capsys):
    from disaggregate.cli.output import print_table

    people, _ = tables()
    rates = analysis.subgroups(people, "kind", min_group_size=5)
    print_table(rates[["kind", "estimate", "conf_low", "conf_high", "note"]], "", as_json=False)
    printed = capsys.readouterr().out
    assert "suppressed" in printed
    assert "nan" not in printed
    pytest.importorskip("jinja2")
    write_report(analysis, people, tmp_path / "shut.html", min_group_size=5)
    assert "suppressed" in row_of_group(tmp_path / "shut.html", "one")
