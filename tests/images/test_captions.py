"""Captions become exactly the evidence that they should."""

import numpy as np
import pytest

from disaggregate.groups.evidence import AllOf, AtLeast, Count, Fraction, Unknown
from disaggregate.images import word_evidence

CAPTIONS = [["sky", "sun"], ["sky", "sea", "boat"], {"sun", "sky", "sea", "boat"}, [], ("sun",)]


def test_a_fraction_is_the_papers_guess():
    assert word_evidence(CAPTIONS[:4], "sun", "fraction", 10) == {
        0: Fraction(1 / 2, 10),
        1: Count(0),
        2: Fraction(1 / 4, 10),
        3: Count(0),
    }


def test_at_least_is_multiple_instance_learning():
    assert word_evidence(CAPTIONS, "sun", "at_least") == {
        0: AtLeast(1),
        1: Count(0),
        2: AtLeast(1),
        3: Count(0),
        4: AtLeast(1),
    }


def test_the_defaults():
    assert word_evidence(CAPTIONS, "boat")[1] == Fraction(1 / 3, 1000.0)


def test_a_caption_of_one_word_is_as_sure_as_the_confidence():
    assert word_evidence(CAPTIONS, "sun", confidence=10)[4] == Fraction(11 / 12, 10)
    assert word_evidence(CAPTIONS, "sun", confidence=np.inf)[4] == Fraction(1.0, np.inf)
    likelihood = word_evidence(CAPTIONS, "sun", confidence=10)[4].log_likelihood(12)
    assert np.isfinite(likelihood).all(), "no count is ruled out by a guess"
    assert likelihood.argmax() == 12


def test_without_a_caption_nothing_is_known():
    assert word_evidence([["sun"], None, []], "sun", "at_least") == {0: AtLeast(1), 1: Unknown(), 2: Count(0)}


def test_pictures_keep_their_ids():
    captions = {"a.png": ["sun", "sky"], "b.png": ["sky"]}
    assert word_evidence(captions, "sun") == {"a.png": Fraction(0.5, 1000.0), "b.png": Count(0)}


def test_words_count_once():
    assert word_evidence([["sun", "sun", "sky"], []], "sun")[0] == Fraction(0.5, 1000.0)


def test_a_word_in_no_caption_is_refused():
    with pytest.raises(ValueError, match="No caption has the word 'moon'"):
        word_evidence(CAPTIONS, "moon")


def test_another_kind_is_refused():
    with pytest.raises(ValueError, match='evidence must be "fraction", "at_least" or "both", but got \'exact\''):
        word_evidence(CAPTIONS, "sun", "exact")


@pytest.mark.parametrize("confidence", [-1, -2, "low"])
def test_another_confidence_is_refused(confidence):
    with pytest.raises(ValueError, match="confidence of 0 or more"):
        word_evidence(CAPTIONS, "sun", confidence=confidence)


@pytest.mark.parametrize("caption", ["sun sky", 3, [1, 2]])
def test_a_caption_is_a_collection_of_words(caption):
    with pytest.raises(ValueError, match=r"The caption of picture 1 must be a collection of words.*text\.split"):
        word_evidence([["sun"], caption], "sun")


def test_both_hold_the_guess_and_one_region_at_least():
    reported = word_evidence([["sky", "sun"], ["sky"]], "sun", kind="both", confidence=7.0)
    assert reported == {0: AllOf((Fraction(0.5, 7.0), AtLeast(1))), 1: Count(0)}
    assert reported[0].log_likelihood(4)[0] == -np.inf
