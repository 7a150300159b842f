"""Several outcomes with known truth, on made-up tables of the same format."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from benchmarks.rivals.missing import RivalMissing
from benchmarks.truth import census, precincts
from benchmarks.truth.outcomes import (
    METHODS,
    TASKS,
    BaseRates,
    EiPack,
    Goodman,
    GroupShares,
    OursShort,
    OutcomesPrediction,
    Supervised,
    main,
    outcomes_of,
    page,
    run_one,
    scores,
)
from disaggregate.model.priors import half_normal
from disaggregate.settings import GaussianProcess


@pytest.fixture
def data(tmp_path, rng):
    """A folder with both tables, small and made up."""
    (tmp_path / "truth").mkdir()
    n = 6 * 250
    tenure = ["Owned, mortgage/loan", "Owned free and clear", "Rented", "Occupied, no rent"]
    vehicles = ["No vehicles", "1 vehicle", "2 vehicles", "3 vehicles"]
    old = rng.random(n) < np.repeat(rng.beta(2, 2, 6), 250)
    pd.DataFrame(
        {
            "puma": np.repeat([f"{area:05d}" for area in range(6)], 250),
            "age": np.where(old, 70, 30) + rng.integers(0, 10, n),
            "sex": rng.choice(["Female", "Male"], n),
            "nativity": rng.choice(["Native", "Foreign born"], n),
            "tenure": np.where(old, rng.choice(tenure[:2], n), rng.choice(tenure, n)),
            "vehicles": rng.choice(vehicles, n),
            "income": rng.integers(20_000, 90_000, n),
            "moved": rng.choice(["12 months or less", "2 to 4 years"], n),
            "food_stamps": rng.choice(["Yes", "No"], n),
            "weight": 1,
        }
    ).to_csv(tmp_path / census.FILE, index=False)
    rates = {"white": [0.3, 0.5, 0.2], "black": [0.9, 0.05, 0.05], "natam": [0.6, 0.1, 0.3]}
    people = {race: rng.integers(20, 400, 30) for race in rates}
    cells = {
        f"{precincts.RACES[race]}{party}": column
        for race, own in rates.items()
        for party, column in zip(
            precincts.PARTIES, np.array([rng.multinomial(k, own) for k in people[race]]).T, strict=True
        )
    }
    table = pd.DataFrame({"county": "x", "precinct": np.arange(30), **people, **cells})
    for party in precincts.PARTIES:
        table[party] = sum(table[f"{start}{party}"] for start in precincts.RACES.values())
    table.to_csv(tmp_path / precincts.FILE, index=False)
    return tmp_path


@pytest.mark.parametrize("name", TASKS)
def test_tasks_hide_the_outcome_from_methods(name, data):
    task = TASKS[name](data, 0, False)
    np.testing.assert_allclose(task.truth.sum(axis=1), 1.0)
    np.testing.assert_allclose(task.shares.sum(axis=1), 1.0)
    assert name not in task.people
    assert list(task.people) == list(task.judges)
    assert len(task.outcomes) == (4 if name.startswith("vehicles") else 3)


def test_margins_of_the_census_count_everybody(data):
    task, everybody = TASKS["tenure by age"](data, 0, False), pd.read_csv(data / census.FILE)
    assert task.people["n"].sum() == task.results["size"].sum() == len(everybody)
    old = task.people["people"] == "60 and over"
    owns = everybody["tenure"].eq("Owned free and clear") & (everybody["age"] >= 60)
    share = task.truth[old, task.outcomes.index("free and clear")]
    assert share @ task.people.loc[old, "n"] == pytest.approx(owns.sum())


@pytest.mark.parametrize("method", [BaseRates, GroupShares, Goodman, Supervised])
def test_simple_methods_give_probabilities(method, data):
    task = TASKS["precincts"](data, 0, False)
    found = run_one(method, task)
    assert found["log_loss"] < np.log(3.0)
    probability = method().fit(task).predict(task.judges).probability
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)


def test_the_truth_scores_best(data):
    task = TASKS["precincts"](data, 0, False)
    found = scores(task, OutcomesPrediction(task.truth, np.tile(task.truth, (20, 1, 1))))
    assert found["error"] == pytest.approx(0.0, abs=1e-6)
    assert found["coverage"] == 1.0
    assert found["log_loss"] < run_one(BaseRates, task)["log_loss"]
    wrong = scores(task, OutcomesPrediction(task.truth[:, ::-1], np.tile(task.truth[:, ::-1], (20, 1, 1))))
    assert wrong["error"] > 0.1
    assert wrong["coverage"] < 0.5


def test_outcomes_of_cells_add_up_to_one(rng):
    drawn = outcomes_of(rng.dirichlet([1.0, 2.0, 3.0], (4, 5)), np.array([1.0, 2.0, 10.0, 400.0, 1.0]))
    np.testing.assert_allclose(drawn.sum(axis=2), 1.0, atol=1e-6)
    assert set(np.unique(drawn[:, 0])) <= {0.0, 1.0}


def test_quick_form_and_results_that_are_there(data, tmp_path, capsys):
    path = tmp_path / "found.csv"
    given = ["--data", str(data), "--task", "precincts", "--method", BaseRates.name, "--output", str(path)]
    main(given)
    first = path.read_text()
    main(given)
    assert path.read_text() == first
    assert path.with_suffix(".md").read_text() == page(pd.read_csv(path))
    assert "| precincts, party by race | 1 | 9 | base rate |" in capsys.readouterr().out


def test_ours_is_among_the_methods_and_runs(data):
    task = TASKS["precincts"](data, 0, True)
    ours = next(iter(METHODS.values()))
    shortest = type(
        "Short", (ours,), {"settings": {"kernel": "linear", "n_chains": 2, "n_draws": 10, "n_burn": 5}}
    )
    found = run_one(shortest, replace(task, seed=1))
    assert found["coverage"] >= 0.0
    assert found["log_loss"] < 1.5


class Told(EiPack):
    """Draws that are told to it, in the order of the margins."""

    name = "told"

    def draw(self, people, results, seed):
        assert people.sum() == results.sum()
        shares = np.stack([people, 2 * people, 1000 - 3 * people], axis=2) / 1000.0
        return np.stack([shares, shares[..., ::-1]])


def test_draws_of_cells_find_their_rows_and_outcomes(data):
    task = TASKS["precincts"](data, 0, False)
    assert task.people.equals(task.judges)
    shuffled = task.judges.sample(frac=1.0, random_state=0)
    found = Told().fit(task).predict(shuffled)
    assert found.of_these_people
    np.testing.assert_allclose(found.draws[0, :, 0], shuffled["n"] / 1000.0)
    np.testing.assert_allclose(found.probability[:, 1], shuffled["n"] / 500.0)
    np.testing.assert_allclose(found.probability.sum(axis=1), 1.0)


def test_rivals_on_margins_are_for_cells_only(data, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(METHODS, Told.name, Told)
    assert not Told.applies_to(TASKS["tenure"](data, 0, True))
    path = tmp_path / "found.csv"
    given = ["--data", str(data), "--method", Told.name, "--output", str(path)]
    main([*given, "--task", "tenure", "--task", "precincts"])
    assert pd.read_csv(path)["task"].tolist() == ["precincts, party by race"]


def test_a_rival_that_is_missing_is_named(data, tmp_path, monkeypatch, capsys):
    def missing(self, people, results, seed):
        raise RivalMissing("it is not installed")

    monkeypatch.setattr(Told, "draw", missing)
    monkeypatch.setitem(METHODS, Told.name, Told)
    methods = ["--method", Told.name, "--method", BaseRates.name]
    main(["--data", str(data), "--task", "precincts", *methods, "--output", str(tmp_path / "found.csv")])
    assert "it is not installed" in capsys.readouterr().out
    assert pd.read_csv(tmp_path / "found.csv")["method"].tolist() == [BaseRates.name]


def test_another_prior_of_context_changes_nothing_else():
    method = OursShort.of_length(10, 0.5)
    usual, other = (prior.component_priors(True, True) for prior in (GaussianProcess(), method.settings["prior"]))
    assert method.name.endswith("10 draws, context 0.5")
    assert other.pop("context") == half_normal(0.5, 0.03) != usual.pop("context")
    assert other == usual
