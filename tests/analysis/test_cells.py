"""Everything around the fit of a table of cells, with a stand-in for the fit itself.

Whatever is asked of cells must be answered as if every person had a row.
"""

import copy
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import disaggregate as dg
from disaggregate.analysis.sensitivity import _fitted_again, _people_of_the_fit
from disaggregate.cli.main import main
from disaggregate.groups.evidence import Count, Population
from disaggregate.report import write_report
from disaggregate.tables.problems import TableError
from tests.helpers.census import ROLES, SETTINGS, make_census, one_row_per_person

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def everybody():
    """One row per person, and the analysis of these rows."""
    cells, votes = make_census()
    people = one_row_per_person(cells)
    return people, dg.fit_tables(people, votes, settings=SETTINGS, **ROLES)


@pytest.fixture(scope="module")
def of_cells(everybody):
    """The same analysis, to be asked about cells."""
    _, analysis = everybody
    return replace(analysis, roles=replace(analysis.roles, count="n"))


def test_a_fit_is_reported_the_counts(census, fits):
    cells, votes = census
    analysis = dg.fit_tables(cells, votes, count="n", settings=SETTINGS, **ROLES)
    assert analysis.roles.count == "n"
    assert analysis.roles.features == ("age", "place")
    [given] = fits
    assert_array_equal(given["counts"], cells["n"])
    assert given["X"].shape == (len(cells), 3)
    assert given["sample_weight"] is None
    assert given["y"] == {name: Count(yes) for name, yes in zip(votes["district"], votes["yes"], strict=True)}


def test_a_fit_of_people_is_not(census, fits):
    cells, votes = census
    dg.fit_tables(one_row_per_person(cells), votes, settings=SETTINGS, **ROLES)
    assert "counts" not in fits[0]


@pytest.mark.full_pilots  # both ways must tune alike
def test_cells_give_the_answers_of_their_people(census, fits, everybody):
    cells, votes = census
    people, expected = everybody
    analysis = dg.fit_tables(cells, votes, count="n", settings=SETTINGS, **ROLES)
    # Sums over people and over cells round differently, and a chain makes that larger.
    assert_allclose(analysis.predict(people), expected.predict(people), atol=1e-4)


def test_cells_of_nobody_are_left_out(census, fits):
    cells, votes = census
    nobody = pd.concat([cells, cells.head(7).assign(n=0)], ignore_index=True)
    analysis = dg.fit_tables(nobody, votes, count="n", settings=SETTINGS, **ROLES)
    assert_array_equal(fits[0]["counts"], cells["n"])
    assert "7 rows have count 0" in "\n".join(map(str, analysis.problems))
    assert len(analysis.predict(nobody)) == len(nobody)


def test_totals_beyond_the_people_are_refused(census):
    cells, votes = census
    with pytest.raises(TableError, match="the results count more than the people in the table"):
        dg.fit_tables(cells, votes.assign(valid=votes["valid"] + 1), count="n", settings=SETTINGS, **ROLES)


def test_survey_weights_go_with_counts_where_the_people_are_a_sample(census, fits):
    cells, votes = census
    cells["w"] = np.where(cells["place"] == "town", 2.0, 1.0)
    with pytest.raises(TableError, match=r"survey weight beside the count 'n' .* say so \(sampled\)"):
        dg.fit_tables(cells, votes, count="n", weight="w", settings=SETTINGS, **ROLES)
    analysis = dg.fit_tables(cells, votes, count="n", weight="w", sampled=True, settings=SETTINGS, **ROLES)
    [given] = fits
    assert_array_equal(given["counts"], cells["n"])
    assert_array_equal(given["sample_weight"], cells["w"])
    assert all(isinstance(known, Population) for known in given["y"].values())
    rates = analysis.subgroups(cells, "place").set_index("place")
    in_town = cells["place"] == "town"
    assert rates.loc["town", "n"] == cells["n"][in_town].sum()
    assert rates.loc["town", "weight"] == 2.0 * cells["n"][in_town].sum()


def test_folders_of_cells_are_refused_by_name(census, tmp_path):
    cells, votes = census
    (tmp_path / "people").mkdir()
    cells.to_parquet(tmp_path / "people" / "part.parquet")
    with pytest.raises(TableError, match=r"count: 'n'.*one row per"):
        dg.fit_tables(tmp_path / "people", votes, count="n", settings=SETTINGS, **ROLES)


def test_subgroups_effects_and_spreads_are_those_of_the_people(census, everybody, of_cells):
    cells, _ = census
    people, analysis = everybody
    for by in ("age", ["place", "age"], []):
        pd.testing.assert_frame_equal(of_cells.subgroups(cells, by), analysis.subgroups(people, by))
    pd.testing.assert_frame_equal(of_cells.between_groups(cells), analysis.between_groups(people))
    for features in (None, {"age": "sd"}):
        pd.testing.assert_frame_equal(of_cells.effects(cells, features), analysis.effects(people, features))


def test_few_people_are_few_whatever_the_number_of_cells(census, of_cells):
    cells, _ = census
    n = cells.groupby("age")["n"].sum()
    reported = of_cells.subgroups(cells, "age", min_group_size=int(n.min()))
    assert reported["n"].tolist() == n.tolist()
    assert reported["estimate"].notna().all()
    assert of_cells.subgroups(cells, "age", min_group_size=int(n.min()) + 1)["estimate"].isna().sum() == 2


def test_predictions_keep_one_row_per_cell_and_need_no_count(census, everybody, of_cells):
    cells, _ = census
    people, analysis = everybody
    found = of_cells.predict(cells)
    assert len(found) == len(cells)
    assert_allclose(found["probability"].repeat(cells["n"]), analysis.predict(people)["probability"])
    pd.testing.assert_frame_equal(of_cells.predict(cells.drop(columns="n")), found)


def test_answers_about_many_need_the_count(census, of_cells):
    cells, _ = census
    for ask in (lambda table: of_cells.subgroups(table, "age"), of_cells.effects, of_cells.between_groups):
        with pytest.raises(
            TableError, match="people has no column 'n', which says how many people a row stands for"
        ):
            ask(cells.drop(columns="n"))


def test_new_districts_are_known_by_all_people_of_their_cells(census):
    cells, votes = census
    people = one_row_per_person(cells)
    analysis = dg.fit_tables(people, votes, settings=SETTINGS | {"context": True}, **ROLES)
    of_cells = replace(analysis, roles=replace(analysis.roles, count="n"))
    moved = cells.assign(district=np.where(cells["age"] > 30, "east", "west"))
    expected = analysis.subgroups(one_row_per_person(moved), "district")
    pd.testing.assert_frame_equal(of_cells.subgroups(moved, "district"), expected)
    predicted = of_cells.predict(moved)["probability"].groupby(moved["district"])
    share = predicted.apply(lambda part: np.average(part, weights=moved["n"][part.index]))
    assert_allclose(share, expected["estimate"])


@pytest.fixture
def with_effects(everybody):
    """An analysis whose classifier has group effects, and keeps the groups that it is asked about."""
    _, analysis = everybody
    classifier = copy.copy(analysis.classifier)
    asked = []
    whole = classifier._fitted_and_rows

    def fitted_and_rows(X, groups):
        asked.append(groups)
        return whole(X, None)

    classifier._fitted_and_rows = fitted_and_rows
    classifier.group_effects_ = SimpleNamespace(names=tuple(classifier._data.names))
    return replace(analysis, classifier=classifier), asked


def test_predictions_name_the_groups_of_a_fit_with_group_effects(census, with_effects):
    cells, _ = census
    analysis, asked = with_effects
    analysis.predict(cells)
    assert asked == [cells["district"].tolist()]
    analysis.predict(cells.drop(columns="district"))
    assert asked[1] is None
    analysis.subgroups(cells, "age")
    assert asked[2] == cells["district"].tolist()[: len(asked[2])]
    analysis.effects(cells, "place")
    assert all(groups is not None for groups in asked[3:])


def test_numbers_name_the_groups_of_effects_that_are_texts(census, with_effects):
    cells, _ = census
    analysis, asked = with_effects
    analysis.classifier.group_effects_ = SimpleNamespace(names=("7", "8"))
    analysis.predict(cells.head(2).assign(district=[7, None]))
    assert asked == [["7", None]]


def test_an_analysis_of_cells_is_saved_with_its_count(census, of_cells, tmp_path):
    of_cells.save(tmp_path / "m.dgz")
    loaded = dg.load(tmp_path / "m.dgz")
    assert loaded.roles == of_cells.roles
    pd.testing.assert_frame_equal(loaded.subgroups(census[0], "age"), of_cells.subgroups(census[0], "age"))


def test_fits_under_other_choices_are_reported_the_counts(census, fits):
    cells, votes = census
    cells = pd.concat([cells, cells.head(1).assign(n=0)], ignore_index=True)
    analysis = dg.fit_tables(cells, votes, count="n", settings=SETTINGS, **ROLES)
    ids = cells["district"][cells["n"] > 0].tolist()
    analysis.classifier._data = SimpleNamespace(  # that of a fit of cells has a row per cell
        ids=ids,
        names=analysis.classifier._data.names,
        evidence=analysis.classifier._data.evidence,
        rows_stand_for_places=True,
    )
    people = _people_of_the_fit(analysis, cells)
    assert len(people) == len(cells) - 1
    _fitted_again(analysis, people, "strong", 10, False)
    assert_array_equal(fits[1]["counts"], fits[0]["counts"])


def test_a_report_speaks_of_people(census, of_cells, tmp_path):
    cells, _ = census
    n = f"{cells['n'].sum():,}"
    write_report(of_cells, cells, tmp_path / "r.html", by="place", features="age", min_group_size=len(cells) + 1)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert f"among {n} people" in page
    assert f"{n}, in {len(cells)} cells" in page
    assert "people per row: n" in page
    with pytest.raises(ValueError, match=f"the table has {cells['n'].sum()} people, fewer than"):
        write_report(of_cells, cells, tmp_path / "r.html", min_group_size=int(cells["n"].sum()) + 1)


@pytest.fixture
def folder(census, tmp_path):
    cells, votes = census
    cells.to_csv(tmp_path / "census.csv", index=False)
    votes.to_csv(tmp_path / "votes.csv", index=False)
    return tmp_path


def tables(folder):
    names = ["--group", "district", "--positives", "yes", "--total", "valid"]
    return [str(folder / "census.csv"), str(folder / "votes.csv"), *names]


SHORT = ["--kernel", "linear", "--context", "no", "--draws", "40", "--burn", "40", "--chains", "2"]


def test_check_counts_people(census, folder, capsys):
    cells, _ = census
    assert main(["check", *tables(folder), "--count", "n"]) == 0
    printed = capsys.readouterr().out
    assert f"{cells['n'].sum():,} people in {len(cells)} rows, 10 results, features: age, place" in printed
    assert "No problems found" in printed


def test_check_names_the_rows_of_unsound_counts(census, folder, capsys):
    cells, _ = census
    cells.assign(n=cells["n"].where(cells.index != 4, -1)).to_csv(folder / "census.csv", index=False)
    assert main(["check", *tables(folder), "--count", "n"]) == 2
    printed = capsys.readouterr()
    assert "60 people, 10 results" in printed.out
    assert "error: people, column 'n': 1 count negative (row 6)" in printed.out
    assert "one of these would stop a fit" in printed.err


def test_check_asks_about_a_column_that_looks_like_counts(folder, capsys):
    main(["check", *tables(folder)])
    assert "warning: people, column 'n': looks like the number of people per row" in capsys.readouterr().out


def test_the_command_line_from_cells_to_subgroups(census, folder, fits, capsys):
    cells, _ = census
    model = str(folder / "m.dgz")
    assert main(["fit", *tables(folder), "--count", "n", *SHORT, "-o", model]) == 0
    assert_array_equal(fits[0]["counts"], cells["n"])
    assert "rows, and each person's probability" in capsys.readouterr().out
    assert main(["subgroups", model, str(folder / "census.csv"), "--by", "age", "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert [row["n"] for row in reported] == cells.groupby("age")["n"].sum().tolist()
    assert main(["predict", model, str(folder / "census.csv"), "-o", str(folder / "out.csv"), "--json"]) == 0
    assert len(pd.read_csv(folder / "out.csv")) == len(cells)


@pytest.mark.parametrize(("said", "meant"), [("auto", "auto"), ("yes", True), ("no", False), (None, "nothing")])
def test_group_effects_reach_the_classifier_when_asked_for(folder, monkeypatch, said, meant):
    given = {}
    monkeypatch.setattr("disaggregate.analysis.fit_tables", lambda *_, **more: given.update(more) or 1 / 0)
    options = [] if said is None else ["--group-effects", said]
    with pytest.raises(ZeroDivisionError):
        main(["fit", *tables(folder), *options, "-o", str(folder / "m.dgz")])
    assert given["settings"].get("group_effects", "nothing") == meant


def test_group_effects_are_auto_yes_or_no(folder, capsys):
    assert main(["fit", *tables(folder), "--group-effects", "maybe", "-o", str(folder / "m.dgz")]) == 2
    assert "invalid choice: 'maybe'" in capsys.readouterr().err
