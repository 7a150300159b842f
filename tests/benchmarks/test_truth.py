"""Real groups with known truth, on made-up tables of the same format."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from benchmarks.cces import FEATURES as SURVEYED
from benchmarks.rivals.missing import RivalMissing
from benchmarks.truth import census, counties, new_york, precincts
from benchmarks.truth.__main__ import main, rates_path, run, write_page
from benchmarks.truth.encoding import Encoder, single_people
from benchmarks.truth.methods import METHODS, AreaShare, BaseRate, Goodman, MeanMapOnTables, Supervised
from benchmarks.truth.scores import Prediction, is_covered, of_people, of_rates, rates_of, scores, slope
from benchmarks.truth.task import BOTH, CHOOSING, HALVES, REPORTING, half_of_outcome, halves_by_area


@pytest.fixture
def data(tmp_path, rng):
    """A folder with all tables, small and made up."""
    (tmp_path / "truth").mkdir()
    (tmp_path / "cces_ny").mkdir()
    _census(rng, 12, 140).to_csv(tmp_path / census.FILE, index=False)
    _counties(rng, 60).to_csv(tmp_path / counties.FILE, index=False)
    _precincts(rng, 30).to_csv(tmp_path / precincts.FILE, index=False)
    people, results = _new_york(rng, 9, 40)
    people.to_csv(tmp_path / "cces_ny" / "cces2018_ny_individuals.csv", index=False)
    results.to_csv(tmp_path / "cces_ny" / "ny_cd_results.csv", index=False)
    return tmp_path


def _census(rng, n_areas, n_each):
    n = n_areas * n_each
    poor = rng.random(n) < np.repeat(rng.beta(2, 4, n_areas), n_each)
    return pd.DataFrame(
        {
            "puma": np.repeat([f"{area:05d}" for area in range(n_areas)], n_each),
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["Female", "Male"], n),
            "nativity": rng.choice(["Native", "Foreign born"], n, p=[0.9, 0.1]),
            "tenure": np.where(rng.random(n) < 0.2 + 0.4 * poor, "Rented", "Owned"),
            "vehicles": rng.choice(["No vehicles", "1 vehicle"], n, p=[0.1, 0.9]),
            "income": np.where(poor, 20_000, 90_000) + rng.integers(0, 9_000, n),
            "moved": rng.choice(["12 months or less", "2 to 4 years"], n),
            "food_stamps": np.where(rng.random(n) < 0.05 + 0.4 * poor, "Yes", "No"),
            "weight": 1,
        }
    )


def _counties(rng, n):
    black, people = rng.uniform(0.05, 0.9, n), rng.integers(800, 30_000, n)
    of_black, of_white = rng.normal(0.68, 0.03, n).clip(0, 1), rng.normal(0.92, 0.02, n).clip(0, 1)
    return pd.DataFrame(
        {
            "unit": np.arange(1, n + 1),
            "literate_share": black * of_black + (1.0 - black) * of_white,
            "black_share": black,
            "people": people,
            "literate_black": of_black,
            "literate_white": of_white,
        }
    )


def _precincts(rng, n, most=900):
    table = {"county": ["Bladen"] * n, "precinct": np.arange(n)}
    people = {
        "white": rng.integers(most // 2, most, n),
        "black": rng.integers(most // 4, most, n),
        "natam": rng.integers(0, 9, n),
    }
    parties = {
        race: rng.multinomial(people[race], chance)
        for race, chance in {
            "white": [0.4, 0.4, 0.2],
            "black": [0.9, 0.04, 0.06],
            "natam": [0.8, 0.1, 0.1],
        }.items()
    }
    table |= people | {
        party: sum(parties[race][:, i] for race in people) for i, party in enumerate(precincts.PARTIES)
    }
    table |= {
        f"{start}{party}": parties[race][:, i]
        for race, start in precincts.RACES.items()
        for i, party in enumerate(precincts.PARTIES)
    }
    return pd.DataFrame(table)


def _new_york(rng, n_districts, n_each):
    names = [f"NY-{i:02d}" for i in range(n_districts)]
    n = n_districts * n_each
    people = pd.DataFrame({name: rng.choice(["a", "b"], n) for name in SURVEYED})
    votes = rng.choice(["Donald Trump", "Hilary Clinton", "Did Not Vote"], n)
    people = people.assign(cd=np.repeat(names, n_each), voted_pres_16=votes)
    shares = rng.uniform(0.3, 0.7, n_districts)
    return people, pd.DataFrame({"cd": names, "pct_trump": shares, "presvotes_DR_16": 300_000.0})


# ---- tasks ----------------------------------------------------------------------------------------------


def test_census_tasks_hide_the_outcome_and_the_judges(data):
    everybody = pd.read_csv(data / census.FILE, dtype={"puma": str})
    tasks = {(task.outcome, task.case): task for task in census.census_tasks(data, 0)}
    assert len(tasks) == len(census.OUTCOMES) * len(census.CASES)
    for (name, case), task in tasks.items():
        column = census.OUTCOMES[name].column
        assert not {column, "weight"} & {*task.people, *task.judges, *task.by}
        assert "sampled" in task.roles or case == "full count"
        assert len(task.judges) == 12 * 40
    stamps = everybody["food_stamps"].eq("Yes").groupby(everybody["puma"]).mean()
    sample, counted = tasks["food stamps", "30 rows"], tasks["food stamps", "full count"]
    assert_allclose(sample.shares, stamps)
    assert set(sample.results["size"]) == {140}
    assert_allclose(counted.shares, pd.Series(counted.labels).groupby(counted.groups).mean())
    pd.testing.assert_frame_equal(sample.people, counted.people)


def test_fewer_rows_are_a_part_of_more_and_the_judges_stay(data):
    tasks = {task.case: task for task in census.census_tasks(data, 0) if task.outcome == "renter"}
    few, more = (set(map(tuple, tasks[case].people.to_numpy())) for case in ("10 rows", "100 rows"))
    assert few <= more
    pd.testing.assert_frame_equal(tasks["10 rows"].judges, tasks["100 rows"].judges)
    other = next(task for task in census.census_tasks(data, 1) if task.outcome == "renter")
    assert not other.judges.equals(tasks["10 rows"].judges)


def test_outcomes_and_areas_are_dealt_out_to_two_halves(data):
    halves = {name: half_of_outcome(name, census.OUTCOMES) for name in census.OUTCOMES}
    assert [list(halves.values()).count(half) for half in HALVES] == [3, 3]
    assert half_of_outcome("b", ["c", "b", "a"]) == REPORTING
    areas = np.array(["x", "z", "x", "y"])
    dealt = halves_by_area(areas)
    assert dealt[BOTH].all()
    assert set(areas[dealt[CHOOSING]]) == {"x", "z"}
    assert set(areas[dealt[REPORTING]]) == {"y"}


@pytest.mark.parametrize("tasks", [counties.counties_tasks, precincts.precincts_tasks])
def test_cells_add_up_to_both_margins(data, tasks):
    for task in tasks(data, 0):
        assert (task.people["n"] > 0).all()
        by_area = task.people.assign(positives=task.people["n"] * task.truth).groupby("area")
        reported = task.results.set_index("area")
        assert_allclose(by_area["n"].sum(), reported["size"].sort_index())
        # Shares of counties are rounded to whole people, once for each kind.
        assert_allclose(by_area["positives"].sum(), reported["positives"].sort_index(), atol=2.0)


def test_new_york_is_judged_on_the_votes_of_its_respondents(data):
    (task,) = new_york.new_york_tasks(data, 0)
    assert "voted_pres_16" not in task.people
    assert len(task.truth) == len(task.people) < 9 * 40
    assert set(task.halves) == {BOTH, *HALVES}
    assert task.fewest == 30


def test_a_missing_table_is_named(tmp_path):
    with pytest.raises(SystemExit, match=r"nc_precincts_race_party\.csv is missing"):
        list(precincts.precincts_tasks(tmp_path, 0))


# ---- scores ---------------------------------------------------------------------------------------------


def test_a_cell_is_judged_as_its_people(rng):
    people, truth, chance = np.array([4.0, 10.0, 5.0]), np.array([0.25, 0.5, 1.0]), np.array([0.2, 0.6, 0.7])
    labels = np.concatenate([[1, 0, 0, 0], [1] * 5 + [0] * 5, [1] * 5]).astype(float)
    of_cells = of_people(truth, people, chance)
    of_rows = of_people(labels, np.ones(19), np.repeat(chance, people.astype(int)))
    assert of_cells == pytest.approx(of_rows)
    right = np.where(
        labels == 1.0, np.repeat(chance, people.astype(int)), 1 - np.repeat(chance, people.astype(int))
    )
    assert of_cells["log_loss"] == pytest.approx(-np.log(right).mean())


def test_rates_of_large_subgroups():
    by = pd.DataFrame({"sex": ["f", "f", "m", "m"], "age": ["old", "young", "old", "young"]})
    people, truth = np.array([100.0, 300.0, 50.0, 50.0]), np.array([0.2, 0.4, 0.5, 0.7])
    draws = np.tile([[0.3], [0.5]], 4)
    table = rates_of(by, [["sex"], ["sex", "age"]], people, truth, np.full(4, 0.4), draws, fewest=100)
    assert table["subgroup"].tolist() == ["f", "m", "f, old", "f, young"]
    assert_allclose(table["truth"], [0.35, 0.6, 0.2, 0.4])
    assert_allclose(table["low"], 0.31)
    assert is_covered(table).tolist() == [True, False, False, True]
    found = of_rates(table)
    assert found == pytest.approx({"subgroups": 4, "error": 0.1125, "coverage": 0.5, "width": 0.18})


def test_slope_says_when_differences_are_overstated():
    table = pd.DataFrame({"estimate": [0.1, 0.5, 0.9], "truth": [0.3, 0.5, 0.7], "n": [100, 400, 500]})
    assert slope(table) == pytest.approx(0.5)
    assert np.isnan(slope(table.assign(estimate=0.5)))


def test_intervals_are_those_of_outcomes(data, rng):
    task = next(task for task in precincts.precincts_tasks(data, 0) if task.outcome == "Democrat")
    truth = Prediction(task.truth, np.tile(task.truth, (400, 1)))
    (line,), rates = scores(task, truth)
    assert line["error"] == pytest.approx(0.0, abs=1e-12)
    assert line["area_coverage"] > 0.9
    white = rates[rates["subgroup"] == "white"].iloc[0]
    by_chance = np.sqrt((task.truth * (1 - task.truth) * task.people["n"])[task.people["people"] == "white"].sum())
    assert white["high"] - white["low"] == pytest.approx(2 * 1.645 * by_chance / white["n"], rel=0.25)


# ---- methods --------------------------------------------------------------------------------------------


def test_simple_rivals_repeat_what_is_reported(data):
    task = next(census.census_tasks(data, 0))
    assert_allclose(BaseRate().fit(task).predict(task.judges).probability, task.shares.mean())
    of_area = AreaShare().fit(task).predict(task.judges).probability
    assert_allclose(of_area, task.shares[task.judges["puma"]])


def test_goodman_finds_rates_that_are_the_same_everywhere(data):
    (task,) = counties.counties_tasks(data, 0)
    lines, rates = scores(task, Goodman().fit(task).predict(task.judges))
    assert [line["half"] for line in lines] == [BOTH, *HALVES]
    national = rates[rates["half"] == BOTH].set_index("subgroup")
    assert_allclose(national.loc[["black", "white"], "estimate"], [0.68, 0.92], atol=0.02)
    assert_allclose(national["high"] - national["low"], 0.02, atol=0.015)


def test_rivals_of_single_people_get_cells_in_proportion(data):
    (task,) = counties.counties_tasks(data, 0)
    rows = single_people(task, Encoder(task)(task.people), 40)
    first = task.people[task.people["area"] == "1"]
    kind = rows.X[rows.groups == "1"]
    assert len(kind) == pytest.approx(40, abs=1)
    is_black = (kind == Encoder(task)(first[first["people"] == "black"])).all(axis=1)
    assert is_black.sum() == pytest.approx(40 * first["n"].iloc[0] / first["n"].sum(), abs=1)
    lines, _ = scores(task, MeanMapOnTables().fit(task).predict(task.judges))
    assert lines[0]["error"] < 0.05


def test_the_ceiling_sees_labels(data):
    task = next(task for task in census.census_tasks(data, 0) if task.case == "100 rows")
    (line,), _ = scores(task, Supervised().fit(task).predict(task.judges))
    (base,), _ = scores(task, BaseRate().fit(task).predict(task.judges))
    assert line["log_loss"] < base["log_loss"]
    assert line["error"] < base["error"]


# ---- runs -----------------------------------------------------------------------------------------------


def test_what_is_done_is_not_done_again_and_what_cannot_run_is_reported(data, tmp_path):
    fits = []

    class Counted(BaseRate):
        def fit(self, task):
            fits.append(task.outcome)
            return super().fit(task)

    class Absent:
        def fit(self, task):
            raise RivalMissing("it is not installed")

    path = tmp_path / "truth.csv"
    methods = {BaseRate.name: Counted, "absent": Absent}
    for n_outcomes in (1, 3):
        tasks = list(precincts.precincts_tasks(data, 0))[:n_outcomes]
        missing = run(tasks, methods, path)
    assert fits == ["Democrat", "Republican", "no party"]
    assert missing == {"absent": "it is not installed"}
    assert len(pd.read_csv(path)) == 3
    assert len(pd.read_csv(rates_path(path))) == 9
    text = write_page(path, missing)
    assert "Skipped: absent: it is not installed" in text
    assert text == path.with_suffix(".md").read_text(encoding="utf-8")


def test_a_page_without_cells_and_of_subgroups_that_are_too_small(data, tmp_path):
    (task, *_) = census.census_tasks(data, 0)
    path = tmp_path / "truth.csv"
    run([replace(task, fewest=10_000)], {BaseRate.name: BaseRate}, path)
    assert not rates_path(path).exists()
    assert "| census areas | 10 rows | base rate | - / 0." in write_page(path, {})


def test_means_of_fewer_outcomes_say_so(data, tmp_path):
    path = tmp_path / "truth.csv"
    tasks = list(precincts.precincts_tasks(data, 0))
    run(tasks, {BaseRate.name: BaseRate}, path)
    run(tasks[:1], {AreaShare.name: AreaShare}, path)
    means = write_page(path, {}).split("## ")[1]
    assert "| precincts | cells | base rate | " in means
    assert "| precincts | cells | share of the area (1 / 0 outcomes) | " in means


def test_the_quick_form_fits_ours_and_writes_nothing(data, rng, capsys):
    _precincts(rng, 30, most=60).to_csv(data / precincts.FILE, index=False)
    before = sorted(data.rglob("*"))
    quick = ["--data", str(data), "--quick", "--method", "disaggregate", "--method", "base rate"]
    main([*quick, "--table", census.TABLE, "--outcome", "food stamps"])
    main([*quick, "--table", precincts.TABLE, "--outcome", "Democrat"])
    shown = capsys.readouterr().out
    assert "| census areas | 10 rows | food stamps | reporting | disaggregate |" in shown
    assert "| precincts | Democrat | choosing | white |" in shown
    assert sorted(data.rglob("*")) == before


def test_ours_is_run_on_tables_with_its_defaults():
    assert METHODS["disaggregate"].settings == {}
    assert SimpleNamespace(**METHODS["disaggregate, linear kernel"].settings).kernel == "linear"
