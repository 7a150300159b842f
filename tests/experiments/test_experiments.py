"""Each experiment in its shortest form: what it measures, what it says beside the paper, and what it draws."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from disaggregate.datasets import make_hidden_cluster
from disaggregate.experiments import Scope, figure2, figure3, figure4, supervised
from disaggregate.experiments.annotated import AnnotatedRegions
from disaggregate.groups.evidence import AtLeast, Count

SHORT = Scope(n_repeats=2, n_draws=40, n_burn=40, progress=False)


def test_figure_2_stands_beside_the_paper():
    outcome = figure2.run(SHORT)
    assert outcome.table["sampler"].tolist() == ["published", "sparse", "default", "the paper"]
    paper = outcome.table.iloc[3]
    assert (paper["active kernels"], paper["seconds"], paper["AUC"]) == ("15", "6", "-")
    # So short a run of the published moves may be anywhere.
    assert outcome.raw["AUC"].iloc[1:].between(0.5, 1.0).all()
    assert outcome.table["active kernels"].tolist()[2] == "all"
    titles = [ax.get_title() for ax in outcome.figure.axes if ax.get_title()]
    assert [title.split(":")[0] for title in titles] == [
        *("Known", "Learned, published", "Learned, sparse", "Learned, default"),
    ]


def test_the_hidden_cluster_is_reported_in_two_ways():
    data = make_hidden_cluster(random_state=0)
    reported = figure3.evidence_of(data)
    for group, share in data.shares.items():
        assert reported["fractions"][group] == share
        assert reported["multiple instance"][group] == (AtLeast(1) if share > 0 else Count(0))


def test_figure_3_compares_on_the_same_data_sets(monkeypatch):
    monkeypatch.setattr(figure3, "FRESH_GROUPS", 20)
    monkeypatch.setattr(figure3, "MODEL", {**figure3.MODEL, "n_replicas": 1, "centers": 30})
    outcome = figure3.run(SHORT)
    assert outcome.table["evidence"].tolist() == ["multiple instance", "fractions"]
    assert outcome.table["the paper"].tolist() == ["0.885", "0.922"]
    best = outcome.raw.groupby("data set")["best possible, training"]
    assert best.nunique().eq(1).all()
    assert outcome.raw[["training", "fresh"]].stack().between(0.3, 1.0).all()
    gain = outcome.raw.pivot(index="data set", columns="evidence", values="training")
    assert f"{(gain['fractions'] - gain['multiple instance']).mean():.3f}" in outcome.text
    assert "exactly 0.940" in outcome.text


@pytest.fixture
def two_words(monkeypatch):
    """Regions that show a word where their first feature is large; half of the images have it."""
    rng = np.random.default_rng(0)
    image = np.repeat(np.arange(16), 3)
    has_word = image % 2 == 0
    X = rng.standard_normal((48, 2))
    X[:, 0] += 4.0 * (has_word & (np.arange(48) % 3 == 0))
    shown = [frozenset({"sun"} if x > 2.0 else {"sea"}) for x in X[:, 0]]
    captions = [frozenset({"sun", "sea"}) if i % 2 == 0 else frozenset({"sea"}) for i in range(16)]
    data = AnnotatedRegions("made up", X, image, captions, X, shown, shown)
    monkeypatch.setattr(figure4, "simulate_scenes", lambda seed: data)
    return data


def test_figure_4_learns_each_word_in_both_ways_over_several_runs(two_words):
    assert two_words.words == ["sun"]  # the other is in every caption
    outcome = figure4.run(SHORT)
    assert len(outcome.raw) == 2 * 2 * SHORT.n_repeats
    assert outcome.raw.groupby(["model", "evidence"])["run"].apply(list).map(len).eq(2).all()
    ours = outcome.raw[(outcome.raw["model"] == "default") & (outcome.raw["evidence"] == "fractions")]
    assert ours["AUC"].min() > 0.8
    assert outcome.table["word"].tolist() == ["sun", "all words"]
    assert "simulated scenes" in outcome.text
    assert len(outcome.figure.axes) == 2


def test_supervised_learning_meets_its_rivals_on_the_same_folds(monkeypatch):
    monkeypatch.setattr(supervised, "TASKS", {"moons": lambda: make_moons(60, noise=0.2, random_state=0)})
    monkeypatch.setattr(supervised, "N_FOLDS", 2)
    monkeypatch.setattr(supervised, "SVC_GRID", {"C": [1.0, 10.0]})
    outcome = supervised.run(SHORT)
    assert outcome.raw.groupby("method").size().eq(2).all()
    assert outcome.raw["method"].nunique() == 4
    assert outcome.raw.groupby("method")["accuracy"].mean().min() > 0.75
    assert outcome.raw["log loss"].gt(0.0).all()
