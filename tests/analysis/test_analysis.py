"""From two tables to an answer: encoding, roles and evidence reach the classifier, and come back from a file."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import disaggregate as dg
from disaggregate.saving import ArchiveError
from disaggregate.tables.problems import TableError
from tests.helpers.two_tables import SETTINGS, make_tables

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def tables():
    return make_tables()


@pytest.fixture(scope="module")
def analysis(tables):
    people, results, _ = tables
    return dg.fit_tables(
        people, results, group="district", positives="yes", total="all", weight="w", settings=SETTINGS
    )


@pytest.mark.filterwarnings("ignore")
def test_what_left_a_choice_open_can_be_saved(tables, tmp_path):
    people, results, _ = tables
    named = results.assign(pct=results["share"])  # a name that speaks of percentages, and values from 0 to 1
    short = SETTINGS | {"n_draws": 2, "n_burn": 2}
    found = dg.fit_tables(people, named, group="district", share="pct", settings=short)
    assert any("percent" in problem.message for problem in found.problems)
    found.save(tmp_path / "m.dgz")
    assert dg.load(tmp_path / "m.dgz").problems == found.problems


def test_features_are_all_the_rest_and_are_encoded(analysis):
    assert analysis.roles.features == ("age", "place", "sex")
    assert analysis.encoder.features == ["age", "place", "sex"]
    assert analysis.classifier.n_features_in_ == len(analysis.encoder.feature_names_)
    assert any("missing" in note for note in analysis.encoder.notes)


def test_counts_of_everybody_are_exact(analysis, tables):
    _, results, _ = tables
    table = analysis.classifier.group_table().set_index("group")
    assert_allclose(table["implied"], results.set_index("district").loc[table.index, "share"])


def test_predictions_are_those_of_the_classifier_and_find_who_is_positive(analysis, tables):
    people, _, y = tables
    predicted = analysis.predict(people)
    assert list(predicted) == ["probability", "conf_low", "conf_high"]
    X = analysis.encoder.transform(people)
    assert_array_equal(predicted["probability"], analysis.classifier.predict_proba(X, people["district"])[:, 1])
    assert (predicted["conf_low"] <= predicted["conf_high"]).all()
    assert predicted["probability"][y].mean() > predicted["probability"][~y].mean() + 0.1


def test_subgroups_use_the_weights_of_the_fit_by_default(analysis, tables):
    people, _, _ = tables
    table = analysis.subgroups(people, "sex").set_index("sex")
    assert table.loc["f", "weight"] == 2.0 * (people["sex"] == "f").sum()
    everybody = analysis.subgroups(people, [])
    mean = np.average(analysis.predict(people)["probability"], weights=people["w"])
    assert_allclose(everybody["estimate"], mean, rtol=1e-10)
    other = people.assign(one=1.0)
    assert analysis.subgroups(other, "sex", weights="one").set_index("sex").loc["f", "weight"] == (
        (people["sex"] == "f").sum()
    )


def test_effects_of_named_features(analysis, tables):
    people, _, _ = tables
    table = analysis.effects(people, ["age", "place"])
    assert table["term"].tolist() == ["age", "place"]
    assert table["contrast"].tolist() == ["+1", "town - land"]
    assert (table["estimate"] > 0).all()
    with pytest.raises(TableError, match="'height' is not a feature"):
        analysis.effects(people, "height")
    steps = analysis.effects(people, {"age": 10, "place": "town"})
    assert steps["contrast"].tolist() == ["+10", "land - town"]
    assert steps["estimate"][0] > 5 * table["estimate"][0]
    with pytest.raises(TableError, match="no column 'w'"):
        analysis.effects(people.drop(columns="w"))


def test_what_groups_can_tell(analysis, tables):
    between = analysis.between_groups(tables[0]).set_index("feature")
    assert between.loc["age", "between"] > between.loc["sex", "between"]


def test_the_classifier_itself_gives_subgroups(tables):
    people, results, _ = tables
    features = people[["age"]].fillna(50.0)
    model = dg.GroupStatsClassifier(**SETTINGS)
    model.fit(features, results.set_index("district")["share"], groups=people["district"])
    table = model.subgroups(people.assign(age=features["age"]), by=["sex"], weights="w")
    expected = ["sex", "estimate", "std_error", "conf_low", "conf_high", "n", "weight", "contraction", "rests_on"]
    assert list(table) == expected
    women = (people["sex"] == "f").to_numpy()
    assert_allclose(table["estimate"][0], model.predict_proba(features[women])[:, 1].mean(), rtol=1e-10)
    with pytest.raises(ValueError, match="no column 'hair'"):
        model.subgroups(people, by="hair")


def test_subgroups_need_named_features(tables):
    people, results, _ = tables
    X = people[["age"]].fillna(50.0).to_numpy()
    model = dg.GroupStatsClassifier(**SETTINGS)
    model.fit(X, results.set_index("district")["share"], groups=people["district"])
    with pytest.raises(ValueError, match="needs named features"):
        model.subgroups(people, by="sex")


def test_files_do_as_well_as_dataframes(analysis, tables, tmp_path):
    people, results, _ = tables
    people.to_csv(tmp_path / "people.csv", index=False)
    results.to_csv(tmp_path / "results.csv", index=False)
    roles = {"group": "district", "positives": "yes", "total": "all", "weight": "w"}
    twin = dg.fit_tables(tmp_path / "people.csv", tmp_path / "results.csv", settings=SETTINGS, **roles)
    assert_allclose(twin.predict(tmp_path / "people.csv"), analysis.predict(people), rtol=1e-9)


def test_every_error_is_reported_at_once(tables):
    people, results, _ = tables
    wrong = results.assign(share=results["share"].where(results.index != 2, 1.7))
    with pytest.raises(TableError, match=r"1\.7"):
        dg.fit_tables(people, wrong, group="district", share="share", ignore="w", settings=SETTINGS)
    with pytest.raises(TableError, match="did you mean 'share'"):
        dg.fit_tables(people, results, group="district", share="shares", settings=SETTINGS)


def test_a_saved_analysis_goes_on_as_it_was(analysis, tables, tmp_path):
    people, _, _ = tables
    analysis.save(tmp_path / "m.dgz")
    loaded = dg.load(tmp_path / "m.dgz")
    assert loaded.roles == analysis.roles
    assert loaded.problems == analysis.problems
    pd.testing.assert_frame_equal(loaded.predict(people), analysis.predict(people))
    pd.testing.assert_frame_equal(loaded.subgroups(people, "place"), analysis.subgroups(people, "place"))


def test_an_encoding_that_does_not_fit_is_refused(analysis, tmp_path):
    from dataclasses import replace

    wrong = replace(analysis, encoder=replace(analysis.encoder, columns=analysis.encoder.columns[:1]))
    wrong.save(tmp_path / "m.dgz")
    with pytest.raises(ArchiveError, match="does not fit its classifier"):
        dg.load(tmp_path / "m.dgz")


def test_replicate_weights_of_the_fit_give_a_design_error_but_not_for_these_very_people(tables):
    people, results, _ = tables
    rng = np.random.default_rng(0)
    names = [f"r{i}" for i in range(8)]
    wide = people.assign(**{name: people["w"] * rng.choice([0.3, 1.7], size=len(people)) for name in names})
    roles = {"group": "district", "share": "share", "weight": "w", "replicates": names}
    fitted = dg.fit_tables(wide, results, settings=SETTINGS, **roles)
    assert fitted.roles.features == ("age", "place", "sex")
    both = fitted.subgroups(wide, "sex")
    assert (both["std_error"] > both["std_error_posterior"]).all()
    assert "std_error_design" not in fitted.subgroups(wide, "sex", outcomes=True)


def test_weights_count_in_shares(tables):
    people, results, y = tables
    weighted = pd.Series(people["w"] * y).groupby(people["district"]).sum() / people.groupby("district")["w"].sum()
    results = results.assign(share=results["district"].map(weighted))
    analysis = dg.fit_tables(people, results, group="district", share="share", weight="w", settings=SETTINGS)
    table = analysis.classifier.group_table().set_index("group")
    assert_allclose(table["implied"], weighted.loc[table.index], atol=0.02)
    assert analysis.classifier._data.units.max() == 2


def test_people_of_weight_zero_are_left_out_of_the_fit(tables):
    people, results, _ = tables
    given = people.assign(w=np.where(np.arange(len(people)) % 20 == 7, 0.0, 1.0))
    analysis = dg.fit_tables(given, results, group="district", share="share", weight="w", settings=SETTINGS)
    assert len(analysis.classifier.label_proba_) == len(people) - 12
    assert any("12 people have weight 0" in problem.message for problem in analysis.problems)
    assert len(analysis.predict(given)) == len(people)


def test_tables_have_a_context_by_default(analysis, tables):
    people, results, _ = tables
    roles = {"group": "district", "share": "share"}
    silent = {name: value for name, value in SETTINGS.items() if name != "context"}
    by_default = dg.fit_tables(people, results, settings=silent, **roles).classifier
    assert by_default.context == "auto"
    assert set(by_default.context_.names) == set(results["district"])
    assert list(by_default.posterior_.scales) == ["individual", "context"]
    assert analysis.classifier.context_ is None
    assert list(analysis.classifier.posterior_.scales) == ["individual"]
    sparse = dg.fit_tables(people, results, settings=silent | {"prior": "spike_slab"}, **roles)
    assert sparse.classifier.context is False


@pytest.fixture(scope="module")
def placed(tables):
    """An analysis in which the make-up of districts counts."""
    people, results, _ = tables
    settings = SETTINGS | {"context": True}
    return dg.fit_tables(people, results, group="district", share="share", ignore="w", settings=settings)


def test_people_count_as_members_of_the_district_they_name(placed, tables):
    people, _, _ = tables
    X = placed.encoder.transform(people)
    by_hand = placed.classifier.predict_proba(X, people["district"])[:, 1]
    assert_allclose(placed.predict(people)["probability"], by_hand)
    without = placed.predict(people.drop(columns="district"))["probability"]
    assert_allclose(without, placed.classifier.predict_proba(X)[:, 1])
    assert np.abs(without - by_hand).max() > 0.01


def test_new_districts_are_known_by_all_their_people(placed, tables, monkeypatch):
    people, _, _ = tables
    moved = people.assign(district=np.repeat(["east", "west"], len(people) // 2))[::-1]
    monkeypatch.setattr("disaggregate.posterior.batches.FIRST_ROWS", 7)
    monkeypatch.setattr("disaggregate.posterior.batches.VALUES_AT_ONCE", 7 * 120)
    estimate = placed.subgroups(moved, "district").set_index("district")["estimate"]
    whole = placed.predict(moved)["probability"].groupby(moved["district"]).mean()
    assert_allclose(estimate, whole)


def test_effects_change_people_and_leave_their_district(placed, tables):
    people, _, _ = tables
    table = placed.effects(people, {"sex": "f"})
    as_men, as_women = (placed.predict_draws(people.assign(sex=sex)).mean(axis=2) for sex in ("m", "f"))
    assert_allclose(table["estimate"], [(as_men - as_women).mean()])
    assert set(placed.effects(people)["term"]) == {"age", "place", "sex"}


def test_numbers_and_texts_name_the_same_districts(tables):
    people, results, _ = tables
    number = {name: place for place, name in enumerate(results["district"])}
    people, results = (t.assign(district=t["district"].map(number)) for t in (people, results))
    spelled = results.assign(district=results["district"].astype(str))
    settings = SETTINGS | {"context": True}
    analysis = dg.fit_tables(people, spelled, group="district", share="share", settings=settings)
    assert analysis._groups_of(people)[0] in analysis.classifier.context_.names
