"""People in a folder of Parquet files: the draws of the same people in one table, and files out for files in."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from disaggregate import fit_tables
from disaggregate.analysis.folders import predict_folder
from disaggregate.analysis.table_warnings import TableWarning
from disaggregate.cli.main import main
from disaggregate.groups.context import Context
from disaggregate.sampler.dense import partition, partitioned
from disaggregate.tables.folders import PeopleFolder, narrowed
from disaggregate.tables.problems import TableError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SETTINGS = {"kernel": "rbf", "gamma": "scale", "centers": 12, "n_chains": 2, "n_draws": 15, "n_burn": 5} | {
    "random_state": 0,
    "n_jobs": 1,
}


@pytest.fixture
def tables():
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"district": np.repeat(np.arange(12), 10)})
    people["age"] = rng.normal(40.0, 10.0, 120) + people["district"]
    people["job"] = rng.choice(["a", "b", "c"], 120)
    people["weight"] = 1.0 + (np.arange(120) % 2)
    results = pd.DataFrame({"district": np.arange(12), "share": np.linspace(0.2, 0.8, 12)})
    return people, results


@pytest.fixture(autouse=True)
def small_partitions(monkeypatch):
    for module in (partition, partitioned):
        monkeypatch.setattr(module, "PARTITION_ROWS", 35)


@pytest.fixture
def rounded_context(monkeypatch):
    """Averages of groups are added up in another order, and chains would make much of the last digit."""
    exact = Context.relative_means.fget
    monkeypatch.setattr(Context, "relative_means", property(lambda self: np.round(exact(self), 9)))


def write(people, folder, n_files):
    folder.mkdir(parents=True)
    for place, part in enumerate(np.array_split(np.arange(len(people)), n_files)):
        people.iloc[part].to_parquet(folder / f"part-{place}.parquet", row_group_size=7)
    return folder


@pytest.mark.parametrize("n_files", [1, 5])
def test_a_folder_has_the_draws_of_one_table(n_files, tables, tmp_path):
    people, results = tables
    folder = write(people, tmp_path / "people", n_files)
    how = {"group": "district", "share": "share", "settings": SETTINGS | {"context": False}}
    found, expected = (fit_tables(source, results, **how) for source in (folder, people))
    assert_array_equal(found.classifier.posterior_.delta2, expected.classifier.posterior_.delta2)
    assert_array_equal(found.classifier.label_proba_, expected.classifier.label_proba_)
    assert_allclose(found.predict(people), expected.predict(people))


def test_survey_weights_and_folders_named_by_group(tables, tmp_path):
    people, results = tables
    people.loc[3, "weight"] = 0.0
    for district, part in people.groupby("district"):
        folder = tmp_path / "people" / f"district={district:02d}"
        folder.mkdir(parents=True)
        part.drop(columns="district").to_parquet(folder / "part.parquet")
    by_name = results.assign(district=[f"{place:02d}" for place in range(12)])
    how = {"group": "district", "share": "share", "weight": "weight", "settings": SETTINGS}
    found = fit_tables(tmp_path / "people", by_name, **how)
    expected = fit_tables(people, results, **how).classifier._data
    assert_array_equal(found.classifier._data.units, expected.units)
    assert_array_equal(found.classifier._data.log_likelihood, expected.log_likelihood)
    assert found.classifier.label_proba_.shape == (119,)


def test_command_line(tables, tmp_path, capsys):
    people, results = tables
    folder = write(people.drop(columns="weight"), tmp_path / "people", 3)
    results.to_csv(tmp_path / "results.csv", index=False)
    model, out = tmp_path / "m.dgz", tmp_path / "out"
    names = ["--group", "district", "--share", "share", "--centers", "12", "--draws", "10", "--burn", "5"]
    main(["fit", str(folder), str(tmp_path / "results.csv"), *names, "--chains", "1", "-o", str(model), "--json"])
    main(["predict", str(model), str(folder), "-o", str(out), "--json"])
    assert '"rows": 120' in capsys.readouterr().out
    written = pd.concat([pd.read_parquet(file) for file in sorted(out.glob("*.parquet"))])
    assert_array_equal(written["age"], people["age"])
    assert written["probability"].between(0.0, 1.0).all()


def test_predictions_do_not_go_where_the_people_are(tables, tmp_path):
    folder = write(tables[0], tmp_path / "people", 2)
    with pytest.raises(TableError, match="lies in the folder of the people"):
        predict_folder(None, folder, folder / "out")


def test_empty_and_uneven_folders_are_refused(tables, tmp_path):
    people, results = tables
    (tmp_path / "empty").mkdir()
    with pytest.raises(TableError, match=r"no file that ends in \.parquet"):
        fit_tables(tmp_path / "empty", results, group="district", share="share")
    folder = write(people, tmp_path / "people", 2)
    (folder / "part-2.parquet").write_bytes(b"no table")
    with pytest.raises(TableError, match=r"part-2\.parquet cannot be read as Parquet"):
        fit_tables(folder, results, group="district", share="share", settings=SETTINGS)
    people.drop(columns="age").to_parquet(folder / "part-2.parquet")
    with pytest.raises(TableError, match="no column 'age'; every file"):
        fit_tables(folder, results, group="district", share="share", settings=SETTINGS)


def test_rows_are_found_in_any_order_and_files_left_out(tables, tmp_path):
    people = tables[0]
    folder = PeopleFolder.open(write(people, tmp_path / "people", 4))
    rows = np.array([100, 3, 4, 99, 3])
    assert_array_equal(folder.take(rows, ["age"])["age"], people["age"].iloc[rows])
    less, moved = narrowed(folder, rows)
    assert len(less.files) == 2
    assert_array_equal(less.take(moved, ["age"])["age"], people["age"].iloc[rows])


@pytest.mark.parametrize("weight", [None, "weight"])
def test_a_folder_knows_the_context_of_its_groups(weight, tables, tmp_path):
    """Also where groups are in pieces, and where files hold an index that nobody named."""
    people, results = tables
    folder = write(people.sample(frac=1.0, random_state=1), tmp_path / "people", 4)
    how = {"group": "district", "share": "share", "weight": weight}
    found, expected = (
        fit_tables(source, results, **how, settings=SETTINGS | {"context": True}) for source in (folder, people)
    )
    one, other = found.classifier.context_, expected.classifier.context_
    place = [one.names.index(name) for name in other.names]
    assert_allclose(one.means[place], other.means, atol=1e-12)
    assert_allclose(one.origin, other.origin, atol=1e-12)
    assert_allclose(one.scale, other.scale)
    plain = fit_tables(folder, results, **how, settings=SETTINGS | {"context": False})
    assert plain.classifier.context_ is None
    assert np.abs(found.predict(people)["probability"] - plain.predict(people)["probability"]).max() > 0.01


@pytest.mark.usefixtures("rounded_context")
def test_a_folder_with_context_has_the_draws_of_one_table(tables, tmp_path):
    people, results = tables
    folder = write(people, tmp_path / "people", 3)
    how = {"group": "district", "share": "share", "settings": SETTINGS | {"kernel": "linear"}}
    found, expected = (fit_tables(source, results, **how).classifier for source in (folder, people))
    assert found.context == "auto"
    scales, others = found.posterior_.scales, expected.posterior_.scales
    assert list(scales) == list(others) == ["individual", "context"]
    assert_allclose(scales["context"], others["context"], rtol=1e-9)
    assert_allclose(found.posterior_.delta2, expected.posterior_.delta2, rtol=1e-9)
    assert_allclose(found.label_proba_, expected.label_proba_, atol=1e-9)


@pytest.mark.usefixtures("rounded_context")
def test_a_folder_with_context_is_judged_like_one_table(tables, tmp_path):
    """Diagnostics look at people by their numbers, who must come with the context of their own group."""
    people, results = tables
    folder = write(people, tmp_path / "people", 3)
    settings = SETTINGS | {"kernel": "linear", "context": True}
    found, expected = (
        fit_tables(source, results, group="district", share="share", settings=settings).classifier.diagnostics_
        for source in (folder, people)
    )
    assert_allclose(found.reports.surprise, expected.reports.surprise, rtol=1e-6)


@pytest.mark.parametrize("by_path", [False, True])
def test_new_groups_of_a_folder_are_known_by_all_their_people(by_path, tables, tmp_path, monkeypatch):
    """However the files are cut, and whether the group is a column or the name of a folder."""
    people, results = tables
    settings = SETTINGS | {"context": True, "kernel": "linear"}
    analysis = fit_tables(people, results, group="district", share="share", settings=settings)
    moved = people.assign(district=100 + (people["age"] > 45.0)).sort_values("district", ignore_index=True)
    monkeypatch.setattr("disaggregate.analysis.folders.ROWS_AT_ONCE", 13)
    if by_path:
        for district, part in moved.groupby("district"):
            write(part.drop(columns="district"), tmp_path / "people" / f"district={district}", 2)
    else:
        write(moved, tmp_path / "people", 5)
    assert predict_folder(analysis, tmp_path / "people", tmp_path / "out", n_jobs=1) == len(moved)
    files = sorted((tmp_path / "out").rglob("*.parquet"))
    found = pd.concat([pd.read_parquet(file) for file in files], ignore_index=True)
    assert_allclose(found["probability"], analysis.predict(moved)["probability"])
    unaware = analysis.predict(moved.drop(columns="district"))["probability"]
    assert np.abs(found["probability"] - unaware).max() > 0.01


@pytest.fixture
def with_context(tables):
    settings = SETTINGS | {"context": True, "kernel": "linear"}
    return fit_tables(*tables, group="district", share="share", settings=settings)


def strange_people(people):
    """Half of the people live in a group that was not in the fit, and have a level that it did not meet."""
    is_new = np.arange(len(people)) % 2 == 0
    return people.assign(district=people["district"].where(~is_new, 100), job=people["job"].where(~is_new, "x"))


def test_predictions_of_a_folder_say_what_the_fit_did_not_meet(with_context, tables, tmp_path):
    folder, lines = write(strange_people(tables[0]), tmp_path / "people", 3), []
    predict_folder(with_context, folder, tmp_path / "out", n_jobs=1, on_unfamiliar=lines.extend)
    assert len(lines) == 2  # one each, though there are three files
    assert "60 rows in 1 group that were not in the fit: 100" in lines[0]
    assert "'job': levels that were not in the fit" in lines[1]
    with pytest.warns(TableWarning, match="60 rows in 1 group"):
        predict_folder(with_context, folder, tmp_path / "again", n_jobs=1)


def test_the_command_says_so_too(with_context, tables, tmp_path, capsys):
    with_context.save(tmp_path / "m.dgz")
    folder = write(tables[0].drop(columns="district"), tmp_path / "people", 3)
    assert main(["predict", str(tmp_path / "m.dgz"), str(folder), "-o", str(tmp_path / "out"), "--json"]) == 0
    printed = capsys.readouterr()
    assert "120 of 120 rows name no group" in printed.err
    assert "120 of 120 rows name no group" in printed.out


def test_a_folder_needs_dense_weights(tables, tmp_path):
    folder = write(tables[0], tmp_path / "people", 2)
    with pytest.raises(TableError, match='folder of files needs prior="gaussian_process"'):
        fit_tables(folder, tables[1], group="district", share="share", settings={"prior": "spike_slab"})


def test_a_folder_has_no_earlier_fit_to_add_draws_to(tables, tmp_path):
    folder = write(tables[0], tmp_path / "people", 2)
    how = {"group": "district", "share": "share", "settings": SETTINGS}
    with pytest.raises(TableError, match=r"warm_start.* give a checkpoint and resume=True"):
        fit_tables(folder, tables[1], **how, how={"warm_start": True})
    fitted = fit_tables(folder, tables[1], **how, how={"warm_start": False, "checkpoint": tmp_path / "c.dgc"})
    assert fitted.classifier.posterior_.shape == (2, 15)
    assert (tmp_path / "c.dgc").exists()


def test_names_above_the_folder_tell_nothing(tables, tmp_path):
    people, _ = tables
    plain = write(people, tmp_path / "plain", 2)
    below = write(people, tmp_path / "x=3" / "district=zz" / "people", 2)
    for name in ("names", "__len__"):
        assert getattr(PeopleFolder.open(below), name)() == getattr(PeopleFolder.open(plain), name)()
    taken = PeopleFolder.open(below).take(np.arange(5), ["district"])
    assert "zz" not in set(taken["district"].astype(str))
