"""More than two outcomes: what goes in, and what comes out."""

import contextlib

import numpy as np
import pandas as pd
import pytest

import disaggregate as dg
from disaggregate import GaussianProcess
from disaggregate.evidence import Bounds, Counts, Fraction, Population, PopulationShares, Shares, Unknown
from tests.helpers.small import small_features, small_model

OUTCOMES = ["green", "purple", "other"]
GROUPS = np.repeat(["A", "B", "C", "D", "E"], 6)
COUNTS = pd.DataFrame([[4, 1, 1], [0, 3, 3], [2, 2, 2], [1, 5, 0], [3, 1, 2]], list("ABCDE"), OUTCOMES)
SHARES = COUNTS / 6
X = small_features(30)
FRAME = pd.DataFrame(X, columns=["age", "income"]).assign(sex=np.tile(["f", "m", "m"], 10), group=GROUPS)

# Every kind of report, in one fit.
MIXED = {
    "A": Counts({"green": 4, "purple": 1, "other": 1}),
    "B": Shares({"purple": 0.5}, 50.0),
    "C": Unknown(),
    "D": Bounds({"purple": (3, 6), "other": (0, 2)}),
    "E": {"green": 0.5, "purple": np.nan, "other": 0.3},
}

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def model():
    return small_model().fit(FRAME[["age", "income"]], SHARES, groups=GROUPS)


@pytest.fixture(scope="module")
def places():
    return small_model(kernel="linear", context=True, group_effects=True, n_draws=20).fit(X, MIXED, groups=GROUPS)


def test_classes_are_the_outcomes_and_probabilities_add_up(model):
    assert model.classes_.tolist() == OUTCOMES
    probability = model.predict_proba(FRAME[["age", "income"]])
    assert probability.shape == (30, 3)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    assert set(model.predict(FRAME[["age", "income"]])) <= set(OUTCOMES)
    assert model.label_proba_.shape == (30, 3)
    np.testing.assert_allclose(model.label_proba_.sum(axis=1), 1.0)


def test_draws_and_intervals_have_a_dimension_of_outcomes(model):
    people = FRAME[["age", "income"]].iloc[:4]
    draws, interval = model.predict_draws(people), model.predict_interval(people, 0.8)
    assert draws.shape == (2, 50, 4, 3)
    assert interval.shape == (4, 3, 2)
    np.testing.assert_allclose(draws.mean(axis=(0, 1)), model.predict_proba(people))
    np.testing.assert_allclose(interval, np.moveaxis(np.quantile(draws, [0.1, 0.9], axis=(0, 1)), 0, -1))
    assert model.monte_carlo_error(people) < 0.2


def test_expected_labels_agree_with_the_reports(model):
    labels = pd.DataFrame(model.label_proba_, columns=OUTCOMES).groupby(GROUPS).sum()
    np.testing.assert_allclose(labels, COUNTS, atol=0.05)


def test_group_table_has_a_row_per_group_and_outcome(model):
    table = model.group_table()
    assert list(table.columns[:4]) == ["group", "outcome", "n", "reported"]
    assert table["outcome"].tolist() == OUTCOMES * 5
    np.testing.assert_allclose(table["reported"], SHARES.to_numpy().ravel())
    np.testing.assert_allclose(table["implied"], SHARES.to_numpy().ravel(), atol=0.02)
    assert model.group_table(min_group_size=7)["implied"].isna().all()


def test_subgroups_have_a_row_per_outcome(model):
    table = model.subgroups(FRAME, "sex")
    assert list(table.columns[:3]) == ["sex", "outcome", "estimate"]
    assert len(table) == 6
    np.testing.assert_allclose(table.groupby("sex")["estimate"].sum(), 1.0)


def test_forms_of_the_same_reports_give_the_same_fit():
    frame = FRAME[["age", "income"]]
    settings = {"kernel": "linear", "n_draws": 4, "n_burn": 0, "n_chains": 1}
    expected = small_model(**settings).fit(frame, SHARES, groups=GROUPS).predict_proba(frame)
    forms = {
        "mapping": (SHARES.to_dict(orient="index"), GROUPS),
        "first column": (SHARES.reset_index(names="where"), GROUPS),
        "target": (dg.group_target(GROUPS, SHARES.to_dict(orient="index")), None),
    }
    for name, (y, groups) in forms.items():
        found = small_model(**settings).fit(frame, y, groups=groups).predict_proba(frame)
        np.testing.assert_array_equal(found, expected, err_msg=name)


def test_two_named_outcomes_are_the_binary_fit():
    table = pd.DataFrame({"stay": 1.0 - SHARES["purple"], "go": SHARES["purple"]})
    binary = small_model().fit(X, SHARES["purple"].to_dict(), groups=GROUPS)
    named = small_model().fit(X, table, groups=GROUPS)
    assert named.classes_.tolist() == ["stay", "go"]
    np.testing.assert_array_equal(named.predict_proba(X), binary.predict_proba(X))
    np.testing.assert_array_equal(named.label_proba_, binary.label_proba_)


def test_two_named_outcomes_of_a_population_are_the_binary_fit():
    weights = np.linspace(1.0, 3.0, len(X))
    one = {name: Population(share, 900) for name, share in SHARES["purple"].items()}
    both = {
        name: PopulationShares({"stay": 1.0 - share, "go": share}, 900) for name, share in SHARES["purple"].items()
    }
    settings = {"kernel": "linear", "n_draws": 5, "n_burn": 0, "n_chains": 1}
    binary = small_model(**settings).fit(X, one, groups=GROUPS, sample_weight=weights)
    named = small_model(**settings).fit(X, both, groups=GROUPS, sample_weight=weights)
    np.testing.assert_array_equal(named.predict_proba(X), binary.predict_proba(X))


@pytest.fixture(scope="module")
def sampled():
    reports = {name: PopulationShares(row.to_dict(), 5000) for name, row in SHARES.iterrows()}
    reports["C"] = PopulationShares({"green": 0.3})
    reports["D"] = Unknown()
    weights = np.linspace(1.0, 3.0, len(X))
    return small_model(kernel="linear", n_draws=20, n_burn=30).fit(
        X, reports, groups=GROUPS, sample_weight=weights
    )


def test_people_who_are_a_sample_of_their_group(sampled, tmp_path):
    assert set(sampled.posterior_.scales) >= {"individual", "place"}
    table = sampled.group_table().set_index(["group", "outcome"])
    reported = table["reported"].notna()
    assert np.corrcoef(table["implied"][reported], table["reported"][reported])[0, 1] > 0.8
    np.testing.assert_allclose(table["implied"].groupby("group").sum(), 1.0, atol=0.02)
    sampled.save(tmp_path / "m.dgz")
    loaded = dg.load(tmp_path / "m.dgz")
    np.testing.assert_array_equal(loaded.predict_proba(X, groups=GROUPS), sampled.predict_proba(X, groups=GROUPS))
    reports = {name: PopulationShares(row.to_dict(), 5000) for name, row in SHARES.iterrows()}
    wrong = {
        name: PopulationShares(dict(zip(OUTCOMES, [0.01, 0.01, 0.98], strict=True)), 5000) for name in reports
    }
    assert sampled.score(X, reports, groups=GROUPS) > sampled.score(X, wrong, groups=GROUPS)


def test_labels_of_several_classes(rng):
    y = np.array(["ape", "bee", "cat"])[np.argmax(X @ rng.standard_normal((2, 3)), axis=1)]
    model = small_model(kernel="linear").fit(X, y)
    assert model.classes_.tolist() == ["ape", "bee", "cat"]
    assert model.score(X, y) > 0.8


def test_mixed_reports_context_and_group_effects(places):
    assert places.classes_.tolist() == OUTCOMES
    known, new = places.predict_proba(X, groups=GROUPS), places.predict_proba(X)
    assert np.abs(known - new).max() > 0.01
    np.testing.assert_allclose(new.sum(axis=1), 1.0)
    assert places.posterior_.scales.keys() == {"individual", "context", "place"}
    labels = pd.DataFrame(places.label_proba_, columns=OUTCOMES).groupby(GROUPS).sum()
    np.testing.assert_allclose(labels.loc["A"], [4, 1, 1], atol=1e-6)
    assert 2.99 < labels.loc["D", "purple"] < 6.01
    assert labels.loc["D", "other"] < 2.01


def test_score_of_reports_is_higher_for_the_true_ones(model):
    frame = FRAME[["age", "income"]]
    other = SHARES.set_axis(SHARES.index[::-1], axis=0)
    assert model.score(frame, SHARES, groups=GROUPS) > model.score(frame, other, groups=GROUPS)
    assert np.isfinite(model.score(frame, MIXED, groups=GROUPS))


def test_saved_and_loaded(places, model, tmp_path):
    for number, fitted in enumerate((places, model)):
        fitted.save(tmp_path / f"{number}.dgz")
        again = dg.load(tmp_path / f"{number}.dgz")
        frame = X if number == 0 else FRAME[["age", "income"]]
        np.testing.assert_array_equal(again.predict_proba(frame), fitted.predict_proba(frame))
        pd.testing.assert_frame_equal(again.group_table(), fitted.group_table())
        np.testing.assert_array_equal(again.label_proba_, fitted.label_proba_)


def test_anonymised(tmp_path):
    fitted = small_model(kernel="linear", centers=dg.privacy.landmarks(X, 3), group_effects=True, n_draws=10)
    fitted.fit(X, SHARES, groups=GROUPS).save(tmp_path / "m.dgz", anonymise=True)
    again = dg.load(tmp_path / "m.dgz")
    np.testing.assert_allclose(again.predict_proba(X, groups=GROUPS), fitted.predict_proba(X, groups=GROUPS))
    assert not hasattr(again, "label_proba_")


def test_interrupted_fits_resume_to_the_same_draws(tmp_path, monkeypatch):
    whole = small_model(kernel="linear", n_draws=60).fit(X, SHARES, groups=GROUPS)
    checkpoint = tmp_path / "fit.checkpoint"
    from disaggregate.sampler.dense.chains import DenseChains

    advance, calls = DenseChains.advance, []

    def stop_in_the_middle(self):
        calls.append(self)
        if len(calls) == 4:
            raise KeyboardInterrupt
        advance(self)

    monkeypatch.setattr(DenseChains, "advance", stop_in_the_middle)
    with contextlib.suppress(KeyboardInterrupt):
        small_model(kernel="linear", n_draws=60).fit(X, SHARES, groups=GROUPS, checkpoint=checkpoint)
    monkeypatch.setattr(DenseChains, "advance", advance)
    again = small_model(kernel="linear", n_draws=60)
    again.fit(X, SHARES, groups=GROUPS, checkpoint=checkpoint, resume=True)
    np.testing.assert_array_equal(again.predict_proba(X), whole.predict_proba(X))


def test_other_reports_are_another_fit(tmp_path):
    small_model(kernel="linear", n_draws=4).fit(X, SHARES, groups=GROUPS, checkpoint=tmp_path / "c")
    changed = SHARES.replace(0.5, 0.49)
    changed["other"] = 1.0 - changed["green"] - changed["purple"]
    with pytest.raises(ValueError, match="another fit"):
        small_model(kernel="linear", n_draws=4).fit(
            X, changed, groups=GROUPS, checkpoint=tmp_path / "c", resume=True
        )


def test_cells_of_a_table(rng):
    people = rng.integers(1, 20, 30)
    table = {name: Shares({"green": 0.5, "purple": 0.3, "other": 0.2}, 200.0) for name in "ABCDE"}
    model = small_model(kernel="linear", n_draws=10, n_burn=5).fit(X, table, groups=GROUPS, counts=people)
    assert model.group_effects_ is not None  # as for two outcomes
    assert model.group_table()["n"].iloc[0] == people[:6].sum()


def test_tables_of_cells_expect_less_of_context(monkeypatch):
    seen, original = [], GaussianProcess.component_priors

    def look(self, *given):
        seen.append(given)
        return original(self, *given)

    monkeypatch.setattr(GaussianProcess, "component_priors", look)
    for counts in ({}, {"counts": np.full(30, 2)}):
        small_model(kernel="linear", n_draws=2, n_burn=2).fit(X, SHARES, groups=GROUPS, **counts)
    assert seen == [(False, False), (True, True)]
    of_tables, of_places = (original(GaussianProcess(), *given)["context"] for given in ((True, True), (True,)))
    assert of_tables.median < 0.1 * of_places.median


BAD = {
    "shares that add up to less": (SHARES * 0.9, {}, "group 'A'.*add up to 0.9"),
    "two of three outcomes": (SHARES[SHARES.columns[:2]], {}, "group 'A'.*add up to 0"),
    "shares that add up to more": (SHARES * 1.1, {}, "group 'A'.*add up to 1.1"),
    "negative shares": (SHARES.replace(0.0, -0.1), {}, "group 'B'.*'green'.*from 0 to 1.*-0.1"),
    "counts as shares": (COUNTS, {}, "group 'A'.*give Counts"),
    "an outcome that nobody has": (SHARES.assign(nobody=0.0), {}, "no group has any share of 'nobody'"),
    "counts that do not add up": (
        dict.fromkeys("ABCDE", Counts({"a": 1, "b": 2, "c": 1})),
        {},
        "group 'A'.*add up to 4.*6 members",
    ),
    "different outcomes": (
        {name: {"a": 0.5, "b" if name < "C" else "c": 0.5} for name in "ABCDE"},
        {},
        "different outcomes.*'b', 'c'",
    ),
    "one outcome": (dict.fromkeys("ABCDE", Counts({"a": 2})), {}, "one outcome only, 'a'"),
    "reports of one outcome": ({**MIXED, "C": Fraction(0.3)}, {}, "group 'C'.*Fraction is about one outcome"),
    "a group without a row": (SHARES.drop("B"), {}, "group 'B'"),
    "two rows of a group": (pd.concat([SHARES, SHARES.iloc[:1]]), {}, "'A' has two rows"),
    "nothing known": (SHARES.drop("B").reindex(list("ABCDE")), {}, "'B'.*Unknown"),
    "sparse weights": (SHARES, {"prior": "spike_slab"}, "binary.*gaussian_process"),
    "a ladder": (SHARES, {"n_replicas": 4}, "n_replicas.*not yet"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_reports_are_reported(name):
    y, settings, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        small_model(**settings).fit(X, y, groups=GROUPS)


def test_sample_weight_is_reported(rng):
    with pytest.raises(ValueError, match=r"sample_weight is not yet.*PopulationShares"):
        small_model().fit(X, SHARES, groups=GROUPS, sample_weight=rng.random(30))
