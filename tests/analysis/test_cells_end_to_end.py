"""Tables of cells and group effects through the whole of it: fit, answers, files, commands and pages."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import disaggregate as dg
from disaggregate.analysis.sensitivity import subgroup_sensitivity
from disaggregate.cli.main import main
from disaggregate.report import write_report
from tests.helpers.census import ROLES, SETTINGS, make_census, one_row_per_person

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
LONGER = SETTINGS | {"n_draws": 1500, "n_burn": 500}


@pytest.fixture(scope="module")
def tables():
    return make_census()


@pytest.fixture(scope="module")
def analysis(tables):
    """Cells, with everything as it is by default."""
    cells, votes = tables
    return dg.fit_tables(cells, votes, count="n", settings=SETTINGS, **ROLES)


def test_groups_are_as_large_as_their_counts(analysis, tables):
    cells, votes = tables
    table = analysis.classifier.group_table().set_index("group")
    assert_array_equal(table["n"], cells.groupby("district")["n"].sum().loc[table.index])
    expected = votes.set_index("district").loc[table.index]
    assert_allclose(table["reported"], expected["yes"] / expected["valid"])
    people_off = (table["implied"] - expected["yes"] / expected["valid"]) * table["n"]
    assert people_off.abs().max() < 0.5  # a normal count is anywhere between two counts


def test_cells_are_distinguished_as_their_people_are(tables):
    """Under the same prior of the scale, as places have another one than rows of people."""
    cells, votes = tables
    settings = LONGER | {"group_effects": False, "mu": 3.0, "nu": 15.0}
    of_cells = dg.fit_tables(cells, votes, count="n", settings=settings, **ROLES)
    of_people = dg.fit_tables(one_row_per_person(cells), votes, settings=settings, **ROLES)
    found, expected = of_cells.predict(cells), of_people.predict(cells)
    assert_allclose(found["probability"], expected["probability"], atol=0.05)
    assert_allclose(found["conf_low"], expected["conf_low"], atol=0.1)
    assert_allclose(found["conf_high"], expected["conf_high"], atol=0.1)


def test_rates_of_cells_vary_by_default_and_agree_with_the_reports(analysis, tables):
    """Of exactly these people, in every draw."""
    cells, votes = tables
    drawn = analysis.subgroup_draws(cells, "district", outcomes=True)
    expected = votes.set_index("district").loc[drawn.keys["district"]]
    assert_allclose(drawn.draws, np.tile(expected["yes"] / expected["valid"], (len(drawn.draws), 1)), atol=1e-9)
    assert analysis.classifier.posterior_.scales["cell"].min() > 0.0


def test_old_people_say_yes(analysis, tables):
    cells, _ = tables
    rates = analysis.subgroups(cells, "age")
    assert rates["estimate"].is_monotonic_increasing
    assert rates["n"].tolist() == cells.groupby("age")["n"].sum().tolist()
    assert analysis.effects(cells, "age")["estimate"][0] > 0.0


def test_cells_have_group_effects_by_default(analysis, tables):
    cells, votes = tables
    assert set(analysis.classifier.group_effects_.names) == set(votes["district"])
    without = dg.fit_tables(cells, votes, count="n", settings=SETTINGS | {"group_effects": False}, **ROLES)
    assert getattr(without.classifier, "group_effects_", None) is None


def test_a_known_group_has_its_own_effect(tables):
    cells, votes = tables
    odd = votes.assign(yes=np.where(votes["district"] == "d03", votes["valid"], votes["yes"]))
    settings = SETTINGS | {"n_draws": 300, "n_burn": 100, "group_effects": True}
    analysis = dg.fit_tables(cells, odd, count="n", settings=settings, **ROLES)
    known = cells[cells["district"] == "d03"]
    own, new = analysis.predict(known), analysis.predict(known.assign(district="elsewhere"))
    assert (own["probability"] > new["probability"]).all()
    assert_allclose(analysis.predict(known.drop(columns="district")), new, atol=0.02)
    rate = analysis.subgroups(cells, "district").set_index("district")["estimate"]
    assert rate["d03"] == rate.max()


def test_a_sample_in_cells_with_survey_weights(tables):
    cells, votes = tables
    weighted = cells.assign(w=np.where(cells["place"] == "town", 2.0, 1.0))
    many = votes.assign(yes=100 * votes["yes"], valid=100 * votes["valid"])
    analysis = dg.fit_tables(weighted, many, count="n", weight="w", sampled=True, settings=SETTINGS, **ROLES)
    rates = analysis.subgroups(weighted, "place").set_index("place")
    assert rates.loc["town", "weight"] == 2.0 * rates.loc["town", "n"]
    assert analysis.subgroups(weighted, "age")["estimate"].is_monotonic_increasing


def test_a_file_answers_as_the_analysis_does(analysis, tables, tmp_path):
    cells, _ = tables
    analysis.save(tmp_path / "m.dgz")
    loaded = dg.load(tmp_path / "m.dgz")
    assert loaded.roles == analysis.roles
    pd.testing.assert_frame_equal(loaded.predict(cells), analysis.predict(cells))
    pd.testing.assert_frame_equal(loaded.subgroups(cells, "age"), analysis.subgroups(cells, "age"))


def test_other_choices(analysis, tables):
    table = subgroup_sensitivity(analysis, tables[0], ["age"], ["strong"], n_draws=20)
    assert table["n"].tolist()[:2] == [tables[0]["n"].sum(), tables[0]["n"][tables[0]["age"] == 25].sum()]
    assert table["estimate"].notna().all()


def test_a_report_counts_people(analysis, tables, tmp_path):
    cells, _ = tables
    write_report(analysis, cells, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert f"{cells['n'].sum():,}, all people of each group" in page
    assert "as a whole group, for reasons that no feature measures" in page


def test_commands(tables, tmp_path, capsys):
    cells, votes = tables
    census, results, model = (str(tmp_path / name) for name in ("census.csv", "votes.csv", "m.dgz"))
    cells.to_csv(census, index=False)
    votes.to_csv(results, index=False)
    roles = ["--group", "district", "--positives", "yes", "--total", "valid", "--count", "n"]
    short = ["--kernel", "linear", "--context", "no", "--draws", "40", "--burn", "40", "--chains", "2", "--json"]
    assert main(["check", census, results, *roles]) == 0
    assert main(["fit", census, results, *roles, *short, "--group-effects", "yes", "-o", model]) == 0
    loaded = dg.load(model)
    assert (loaded.roles.count, loaded.classifier.group_effects) == ("n", True)
    capsys.readouterr()
    assert main(["subgroups", model, census, "--by", "place", "--json"]) == 0
    assert sum(row["n"] for row in json.loads(capsys.readouterr().out)) == cells["n"].sum()
    assert main(["effects", model, census, "--feature", "age", "--json"]) == 0
    assert main(["predict", model, census, "-o", str(tmp_path / "out.csv"), "--json"]) == 0
    assert_allclose(
        pd.read_csv(tmp_path / "out.csv")["probability"], loaded.predict(cells)["probability"], atol=1e-5
    )
    assert main(["report", model, census, "-o", str(tmp_path / "r.html"), "--json"]) == 0
