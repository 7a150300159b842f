"""A finder learns from captions alone where words are, and says what it cannot learn."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import roc_auc_score

from disaggregate import GaussianProcess, GroupStatsClassifier
from disaggregate.groups.evidence import AtLeast, Count, Fraction
from disaggregate.images import WordFinder, collect_regions, make_scenes, region_truth

SMALL = {"kernel": "rbf", "gamma": "scale", "n_replicas": 1, "n_chains": 2, "n_draws": 100, "n_burn": 100}


class Recorder:
    """Stands in for the classifier: remembers what it was given, and finds the probability by lightness."""

    def __init__(self, warn=False):
        self.warn = warn

    def get_params(self, deep=True):
        return {"warn": self.warn}

    def fit(self, X, y, groups):
        if self.warn:
            warnings.warn("chains differ", ConvergenceWarning, stacklevel=2)
        self.X, self.y, self.groups = X, y, groups
        return self

    def predict_proba(self, X):
        positive = 1.0 / (1.0 + np.exp(-X["lightness_mean"].to_numpy()))
        return np.column_stack([1.0 - positive, positive])


@pytest.fixture(scope="module")
def pictures():
    """Four flat pictures: bright ones have a lamp."""
    images = [np.full((8, 8, 3), level) + 0.05 * np.eye(8)[:, :, None] for level in (0.1, 0.2, 0.8, 0.9)]
    return images, [["wall"], ["wall", "door"], ["wall", "lamp"], ["wall", "lamp", "door"]]


@pytest.fixture
def finder():
    return WordFinder(classifier=Recorder(), n_regions=3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("evidence", ["fraction", "at_least"])
def test_the_sun_is_found_in_new_scenes(evidence, seed):
    known, fresh = make_scenes(20, random_state=seed), make_scenes(20, random_state=seed + 1)
    classifier = GroupStatsClassifier(**SMALL, random_state=seed, n_jobs=1)
    finder = WordFinder(evidence=evidence, words=["sun"], classifier=classifier)
    finder.fit(known.images, known.captions)

    regions = collect_regions(fresh.images)
    truths = zip(regions.labels, fresh.label_maps, strict=True)
    truth = np.concatenate([region_truth(labels, words, fresh.words) for labels, words in truths])
    probability = finder.predict_proba(regions)["sun"]
    assert roc_auc_score(truth == "sun", probability) > 0.8
    assert probability[truth == "sun"].mean() > 5 * probability[truth != "sun"].mean()


def test_each_word_gets_the_evidence_of_its_captions(finder, pictures):
    with pytest.warns(UserWarning, match="in every caption"):
        finder.fit(*pictures)
    assert finder.words_ == ["door", "lamp"]
    assert finder.classifiers_["lamp"].y == {
        0: Count(0),
        1: Count(0),
        2: Fraction(1 / 2, 1000),
        3: Fraction(1 / 3, 1000),
    }
    finder.set_params(evidence="at_least", words=["door"]).fit(*pictures)
    assert finder.words_ == ["door"]
    assert finder.classifiers_["door"].y == {0: Count(0), 1: AtLeast(1), 2: Count(0), 3: AtLeast(1)}


def test_features_are_standardised_and_named(finder, pictures):
    finder.set_params(words=["lamp"]).fit(*pictures)
    seen = finder.classifiers_["lamp"].X
    assert "lightness_mean" in seen.columns
    assert np.allclose(seen["lightness_mean"].mean(), 0.0)
    assert np.allclose(seen["lightness_mean"].std(ddof=0), 1.0)


def test_probabilities_of_all_words_in_one_table(finder, pictures):
    images, captions = pictures
    finder.set_params(words=["lamp", "door"]).fit(images, captions)
    regions = collect_regions(images, n_regions=3)
    probability = finder.predict_proba(images)
    assert list(probability.columns) == ["lamp", "door"]
    assert probability.index.names == ["image", "region"]
    assert probability.index.equals(regions.index)
    assert probability.loc[3, "lamp"].min() > probability.loc[0, "lamp"].max()
    assert probability.equals(finder.predict_proba(regions)), "regions stand for their pictures"


def test_find_agrees_with_the_table(finder, pictures):
    images, captions = pictures
    finder.set_params(words=["lamp"]).fit(images, captions)
    labels, probability = finder.find(images[2], "lamp")
    assert labels.shape == (8, 8)
    assert probability.shape == (labels.max() + 1,)
    assert np.allclose(probability, finder.predict_proba(images).loc[2, "lamp"])


def test_regions_can_be_collected_once(finder, pictures):
    regions = collect_regions(*pictures, n_regions=3)
    finder.set_params(words=["lamp"]).fit(regions)
    assert np.array_equal(finder.classifiers_["lamp"].groups, regions.groups)
    with pytest.raises(ValueError, match="Regions hold their captions already"):
        finder.fit(regions, pictures[1])


def test_a_word_in_every_caption_is_left_out_with_a_warning(finder, pictures):
    with pytest.warns(UserWarning, match=r"nothing separates them from the rest: 'wall'\. Add pictures without"):
        finder.fit(*pictures)
    assert "wall" not in finder.words_


def test_a_word_in_every_caption_is_refused_when_asked_for(finder, pictures):
    with pytest.raises(ValueError, match="every caption has 'wall'"):
        finder.set_params(words=["lamp", "wall"]).fit(*pictures)


def test_a_word_in_no_caption_is_refused(finder, pictures):
    with pytest.raises(ValueError, match="No caption has the word 'cat'"):
        finder.set_params(words=["cat"]).fit(*pictures)


@pytest.mark.filterwarnings("ignore:Left out")
@pytest.mark.parametrize("captions", [[[], [], [], []], [["wall"]] * 4, [None] * 4])
def test_captions_without_a_word_to_learn_are_refused(finder, pictures, captions):
    with pytest.raises(ValueError, match="There is no word to learn"):
        finder.fit(pictures[0], captions)


def test_captions_are_needed(finder, pictures):
    with pytest.raises(ValueError, match=r"learns from captions, but got none\. Pass fit\(images, captions\)"):
        finder.fit(pictures[0])


def test_warnings_name_their_word(pictures):
    finder = WordFinder(classifier=Recorder(warn=True), words=["lamp"], n_regions=3)
    with pytest.warns(ConvergenceWarning, match="The word 'lamp': chains differ"):
        finder.fit(*pictures)


def test_a_word_that_was_not_learned(finder, pictures):
    finder.set_params(words=["lamp"]).fit(*pictures)
    with pytest.raises(ValueError, match="The word 'door' was not learned, only: lamp"):
        finder.find(pictures[0][0], "door")


def test_an_unfitted_finder_says_so(finder, pictures):
    with pytest.raises(NotFittedError):
        finder.predict_proba(pictures[0])


def test_clones_have_the_same_settings():
    finder = WordFinder(
        evidence="at_least", classifier=GroupStatsClassifier(n_chains=3), words=["sun"], n_regions=7
    )
    twin = clone(finder)
    assert twin.get_params()["classifier__n_chains"] == 3
    assert (twin.evidence, twin.words, twin.n_regions) == ("at_least", ["sun"], 7)


def test_the_default_classifier_puts_no_emphasis_on_what_pictures_differ_in():
    assert (
        WordFinder()._new_classifier().get_params()
        == GroupStatsClassifier(prior=GaussianProcess(emphasis=1.0)).get_params()
    )
