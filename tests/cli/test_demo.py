"""The demo prints and draws what the model says; a stand-in for the model keeps these tests quick."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

import disaggregate
from disaggregate.cli.main import main
from disaggregate.datasets import make_districts


class StandIn:
    """Knows the shape of the estimator's answers, and remembers what it was asked."""

    made: list["StandIn"]

    def __init__(self, **settings):
        self.settings = settings
        self.posterior_ = SimpleNamespace(n_active=np.full((settings.get("n_chains", 4), 10), 12.25))
        self.diagnostics_ = SimpleNamespace(verdict="The chains agree [worst r-hat 1.00].")
        self.made.append(self)

    def fit(self, X, y, groups=None):
        self.fitted = (X, y, groups)
        return self

    def predict_proba(self, X):
        p = np.clip(np.linalg.norm(X, axis=1) / 4, 0, 1)
        return np.column_stack([1 - p, p])

    def group_table(self):
        _, shares, groups = self.fitted
        sizes = pd.Series(groups).value_counts().loc[shares.index]
        return pd.DataFrame(
            {
                "group": shares.index,
                "n": sizes.to_numpy(),
                "reported": shares.to_numpy(),
                "implied": shares.to_numpy() + 0.01,
                "conf_low": shares.to_numpy() - 0.06,
                "conf_high": shares.to_numpy() + 0.07,
            }
        )


@pytest.fixture
def models(monkeypatch):
    monkeypatch.setattr(StandIn, "made", [], raising=False)
    monkeypatch.setattr(disaggregate, "GroupStatsClassifier", StandIn, raising=False)
    published = lambda: {"n_chains": 1, "prior": "of 2005"}  # noqa: E731
    monkeypatch.setattr(disaggregate, "published_settings", published, raising=False)
    return StandIn.made


def test_it_fits_the_districts_of_the_seed(models, tmp_path):
    assert main(["demo", "--output", str(tmp_path / "demo.png"), "--seed", "5"]) == 0
    (model,) = models
    expected = make_districts(random_state=5)
    X, shares, groups = model.fitted
    assert np.array_equal(X, expected.X)
    assert shares.equals(expected.shares)
    assert np.array_equal(groups, expected.groups)
    assert model.settings == {
        "prior": "spike_slab",
        "kernel": "rbf",
        "gamma": "scale",
        "n_draws": 4000,
        "n_burn": 2000,
        "random_state": 5,
        "progress": True,
    }


def test_published_settings_and_numbers_of_draws_reach_the_model(models, tmp_path):
    arguments = ["--published", "--draws", "20", "--burn", "0"]
    assert main(["demo", "--output", str(tmp_path / "demo.png"), *arguments]) == 0
    assert models[0].settings == {
        "n_chains": 1,
        "prior": "of 2005",
        "n_draws": 20,
        "n_burn": 0,
        "random_state": 0,
        "progress": True,
    }


def test_it_prints_what_the_model_says_beside_the_paper(models, tmp_path, capsys):
    from sklearn.metrics import roc_auc_score

    assert main(["demo", "--output", str(tmp_path / "demo.png")]) == 0
    printed = capsys.readouterr().out
    rows = [line.replace("│", " ").split() for line in printed.splitlines()]
    assert ["A", "19", "0.73", "0.74", "0.67", "to", "0.80"] in rows
    assert ["active", "kernels,", "on", "average", "12.2", "15"] in rows
    data = make_districts(random_state=0)
    auc = roc_auc_score(data.y, models[0].predict_proba(data.X)[:, 1])
    assert ["AUC", "against", "the", "hidden", "labels", f"{auc:.3f}"] in rows
    assert "4 chains" in printed
    assert "6 s, 2.6 GHz Pentium 4" in printed
    assert "Verdict: The chains agree [worst r-hat 1.00]." in printed
    assert f"Figure: {tmp_path / 'demo.png'}" in printed


def test_it_draws_what_was_known_beside_what_was_learned(models, tmp_path, monkeypatch):
    figures = []
    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *a, **k: (figures.append(self), save(self, *a, **k)))
    path = tmp_path / "demo.png"
    assert main(["demo", "--output", str(path)]) == 0
    assert imread(path).std() > 0.05
    known, learned, _ = figures[0].axes
    texts = [[text.get_text() for text in ax.get_legend().get_texts()] for ax in (known, learned)]
    assert "A: 19 people, 73 % reported" in texts[0]
    assert {"true label 1", "true label 0", "probability 0.5"} == set(texts[1])
    assert known.get_xlim() == learned.get_xlim()


@pytest.mark.parametrize("suffix", ["pdf", "svg"])
def test_the_name_of_the_file_chooses_its_format(models, tmp_path, suffix):
    path = tmp_path / f"demo.{suffix}"
    assert main(["demo", "--output", str(path)]) == 0
    assert {"pdf": b"%PDF", "svg": b"<?xml"}[suffix] == path.read_bytes()[: 4 if suffix == "pdf" else 5]


def test_without_matplotlib_everything_else_is_printed(models, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    path = tmp_path / "demo.png"
    assert main(["demo", "--output", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "Verdict: The chains agree" in printed
    assert "pip install 'disaggregate[plots]'" in " ".join(printed.split())
    assert not path.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--output", "no/such/folder/demo.png"], "folder 'no/such/folder' does not exist; create it first"),
        (["--output", "demo.xyz"], "expected a file that ends in .png, .pdf, .svg, .jpg, got 'demo.xyz'"),
        (["--output", "folder.png"], "expected a file, got the folder 'folder.png'"),
        (["--draws", "-5"], "argument --draws: expected a whole number of at least 1, got '-5'"),
        (["--draws", "0"], "argument --draws: expected a whole number of at least 1, got '0'"),
        (["--burn", "-1"], "argument --burn: expected a whole number of at least 0, got '-1'"),
        (["--seed", "4294967296"], "expected a whole number of at most 4294967295, got '4294967296'"),
        (["--seed", "one"], "argument --seed: expected a whole number of at least 0, got 'one'"),
    ],
)
def test_mistakes_are_reported_before_the_fit(models, tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.png").mkdir()
    assert main(["demo", *arguments]) == 2
    complaint = capsys.readouterr().err
    assert message in complaint
    assert "Traceback" not in complaint
    assert models == []


def test_a_full_disk_is_reported_without_a_traceback(models, tmp_path, monkeypatch, capsys):
    def full(self, *args, **kwargs):
        raise OSError("No space left on device")

    monkeypatch.setattr(Figure, "savefig", full)
    assert main(["demo", "--output", str(tmp_path / "demo.png")]) == 2
    assert capsys.readouterr().err.endswith("demo.png: No space left on device\n")
