import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from disaggregate.tables.encoding import Encoder, column_transformer, make_encoder
from disaggregate.tables.files import iter_table, read_table, schema_of
from disaggregate.tables.problems import TableError

FEATURES = ["age", "job", "born", "owner", "income"]


@pytest.fixture
def people(rng):
    n = 400
    jobs = rng.choice(["clerk", "smith", "baker", None], n, p=[0.5, 0.3, 0.15, 0.05]).astype(object)
    jobs[:3] = ["king", "pope", "tsar"]
    return pd.DataFrame(
        {
            "district": rng.integers(0, 8, n),
            "age": rng.integers(18, 90, n),
            "job": jobs,
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, n), unit="D"),
            "owner": rng.random(n) < 0.3,
            "income": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(10, 1, n)),
        }
    )


@pytest.fixture
def encoder(people):
    return make_encoder(people, FEATURES)


def test_columns_and_their_names(people, encoder):
    assert encoder.feature_names_ == [
        *["age", "job=baker", "job=clerk", "job=smith", "job=(missing)", "job=(rare)", "born"],
        *["owner=False", "owner=True", "income", "income (missing)"],
    ]
    assert encoder.columns_of("age") == [0]
    assert encoder.columns_of("job") == [1, 2, 3, 4, 5]
    assert encoder.columns_of("income") == [9, 10]
    X = encoder.transform(people)
    assert X.shape == (400, 11)
    assert X.dtype == np.float64
    with pytest.raises(TableError, match="there is no feature 'jobs'; did you mean 'job'"):
        encoder.columns_of("jobs")


def test_each_feature_weighs_as_much_as_a_number(people, encoder):
    X = encoder.transform(people)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-9)
    weights = {feature: X[:, encoder.columns_of(feature)].var(axis=0).sum() for feature in FEATURES}
    assert weights["age"] == pytest.approx(1.0)
    assert weights["born"] == pytest.approx(1.0)
    assert weights["job"] == pytest.approx(1.0)
    p = people["owner"].mean()
    assert weights["owner"] == pytest.approx(4 * p * (1 - p))  # lopsided: less than an even split, never more
    assert 1.0 < weights["income"] < 1.25
    # gamma="scale" sees the number of features, not that of levels
    assert X.shape[1] * X.var() == pytest.approx(sum(weights.values()))


def test_same_as_scikit_learn_up_to_centre_and_weight(people):
    features = ["age", "income", "job"]
    encoder = make_encoder(people, features)
    kinds = {"age": "number", "income": "number", "job": "category"}
    fitted = column_transformer(kinds, fewest=2).set_params(sparse_threshold=0.0)
    reference = fitted.fit_transform(people[features])
    X = encoder.transform(people)
    np.testing.assert_allclose(X[:, [0, 1]], reference[:, [0, 1]], atol=1e-12)
    job = encoder.columns[2]
    marks = X[:, encoder.columns_of("job")] / job.weight + job.shares
    np.testing.assert_allclose(marks, reference[:, 2:], atol=1e-12)


def test_state_is_plain_and_complete(people, encoder, rng):
    state = json.loads(json.dumps(encoder.to_state(), allow_nan=False))
    again = Encoder.from_state(state)
    assert again == encoder
    new = people.sample(50, random_state=0).assign(job=rng.choice(["smith", "new", None], 50), income=np.nan)
    np.testing.assert_array_equal(again.transform(new), encoder.transform(new))


def test_notes_say_what_was_done(encoder, people):
    notes = "\n".join(encoder.notes)
    n_missing = int(people["income"].isna().sum())
    assert (
        f"'income': {n_missing} of 400 values are missing ({n_missing / 400:.1%}); they are filled with" in notes
    )
    assert "marked by the column 'income (missing)'" in notes
    assert "'job': 3 levels held by fewer than 2 people pooled as 'job=(rare)'" in notes
    assert "'king', 'pope', 'tsar'" in notes
    assert f"'job': {people['job'].isna().sum()} missing values counted as a level." in notes
    assert "'born' is a date: it counts as a number of days." in notes
    assert "'age'" not in notes


def test_share_that_is_rare(people):
    encoder = make_encoder(people, ["job"], rare=0.2)
    assert encoder.feature_names_ == ["job=clerk", "job=smith", "job=(rare)"]
    assert set(encoder.columns[0].pooled) == {"baker", "king", "pope", "tsar", None}


def test_people_of_a_polars_frame_or_in_another_order(people, encoder):
    expected = encoder.transform(people)
    polars = pl.DataFrame({name: people[name].replace({np.nan: None}).to_list() for name in reversed(FEATURES)})
    np.testing.assert_allclose(encoder.transform(polars), expected, atol=1e-12)


def test_people_of_a_file_in_chunks(people, encoder, tmp_path):
    path = tmp_path / "people.csv"
    people.to_csv(path, index=False)
    expected = encoder.transform(people)
    chunks = iter_table(path, 150, schema_of(people))
    np.testing.assert_allclose(np.vstack([encoder.transform(chunk) for chunk in chunks]), expected, atol=1e-9)
    np.testing.assert_allclose(encoder.transform(read_table(path)), expected, atol=1e-9)


def test_missing_features_are_named(people, encoder):
    with pytest.raises(TableError, match="lacks 2 features: 'job', 'income'; is 'Jobs' meant for 'job'"):
        encoder.transform(people.rename(columns={"job": "Jobs"}).drop(columns="income"))
    with pytest.raises(TableError, match="lacks 1 feature: 'zzz'; give the columns of the fit"):
        make_encoder(people, ["zzz"])


def test_columns_that_tell_nothing(rng):
    people = pd.DataFrame(
        {
            "flat": [5.0] * 6,
            "gap": [5.0, np.nan] * 3,
            "empty": [None] * 6,
            "one": ["x"] * 6,
            "name": list("abcdef"),
        }
    )
    encoder = make_encoder(people, list(people))
    X = encoder.transform(people)
    assert np.isfinite(X).all()
    np.testing.assert_array_equal(X[:, encoder.columns_of("gap")[1]], [-0.5, 0.5] * 3)
    for feature in ("flat", "empty", "one", "name"):  # every name is rare, so all names are one level
        np.testing.assert_array_equal(X[:, encoder.columns_of(feature)], 0.0)
    notes = "\n".join(encoder.notes)
    assert "'flat' is constant: it does not distinguish people." in notes
    assert "'empty' holds no values" in notes
    assert "'one' has a single level" in notes
    # A value that the fit did not meet cannot make a constant feature matter.
    later = people.assign(flat=1e9)
    np.testing.assert_array_equal(encoder.transform(later), X)


def test_remarks_on_new_people(people, encoder):
    assert encoder.remarks(people) == []
    new = people.assign(job="astronaut", age=np.nan)
    age, job = encoder.remarks(new)
    assert "'age': 400 missing values filled with the median" in age
    assert "'job': levels that were not in the fit count as rare (400 rows): 'astronaut'" in job


def test_text_where_numbers_were(people, encoder):
    with pytest.raises(TableError, match="column 'age' must hold numbers, got 'old' at row 0"):
        encoder.transform(people.assign(age="old"))


def test_a_single_gap_is_rare(people):
    encoder = make_encoder(pd.DataFrame({"x": ["a"] * 5 + ["b"] * 4 + [None]}), "x")
    assert encoder.feature_names_ == ["x=a", "x=b", "x=(rare)"]
    [note] = encoder.notes
    assert "'x': 1 level held by fewer than 2 people pooled as 'x=(rare)'" in note
    assert "'(missing)'" in note


@pytest.mark.parametrize(
    ("features", "message"),
    [([], "no feature to encode"), (["x"], "column 'x' holds numbers up to 1e[+]308, too large")],
)
def test_what_cannot_be_encoded(features, message):
    with pytest.raises(TableError, match=message):
        make_encoder(pd.DataFrame({"x": [1e308, -1e308]}), features)


def test_no_rows(people, encoder):
    assert encoder.transform(people[:0]).shape == (0, 11)


def test_numbers_whose_median_no_float_can_hold_are_refused_by_name():
    people = pd.DataFrame({"x": [1.7e308, 1.7e308, None]})
    with pytest.raises(TableError, match=r"'x' holds numbers up to 1\.7e"):
        make_encoder(people, ["x"])


def test_cells_are_encoded_as_their_people_would_be(people, rng):
    cells = people.sample(60, random_state=1).reset_index(drop=True)
    counts = rng.integers(0, 30, len(cells))
    everybody = cells.loc[np.repeat(cells.index, counts)]
    found, expected = make_encoder(cells, FEATURES, 0.02, counts), make_encoder(everybody, FEATURES, 0.02)
    assert found.notes == expected.notes
    assert found.feature_names_ == expected.feature_names_
    assert found.columns[1].pooled == expected.columns[1].pooled
    np.testing.assert_allclose(found.transform(cells), expected.transform(cells), atol=1e-9)


def test_cells_of_gaps_and_constants():
    cells = pd.DataFrame({"gap": [np.nan, np.nan], "same": [3, 3], "one": ["a", "b"], "far": [1e149, -1e149]})
    encoder = make_encoder(cells, list(cells), counts=[5, 0])
    gap, same, one, far = encoder.columns
    assert (gap.fill, gap.weight, gap.missing, same.weight) == (0.0, 0.0, None, 0.0)
    assert (one.levels, one.pooled, one.shares) == (["a"], ["b"], [1.0, 0.0])
    assert far.weight == 0.0
    assert "'gap' holds no values: it does not distinguish people." in encoder.notes
    assert np.isfinite(make_encoder(cells, "far", counts=[2**30, 2**30]).transform(cells)).all()


def test_cells_need_counts_that_are_whole():
    with pytest.raises(ValueError, match="1 count negative"):
        make_encoder(pd.DataFrame({"x": [1, 2]}), "x", counts=[1, -1])
