"""Scenes are pictures with honest captions and the true word of every pixel."""

import numpy as np
import pytest

from disaggregate.images import make_scenes, region_truth


@pytest.fixture(scope="module")
def scenes():
    return make_scenes(60, random_state=0)


def test_forms(scenes):
    assert scenes.images.shape == (60, 64, 96, 3)
    assert scenes.images.dtype == np.uint8
    assert scenes.label_maps.shape == (60, 64, 96)
    assert len(scenes.captions) == 60


def test_captions_are_the_words_that_can_be_seen(scenes):
    for caption, words in zip(scenes.captions, scenes.label_maps, strict=True):
        assert caption == [scenes.words[index] for index in np.unique(words)]


def test_every_word_can_be_learned(scenes):
    for word in scenes.words:
        assert 5 <= sum(word in caption for caption in scenes.captions) <= 55


def test_things_are_where_they_belong(scenes):
    for caption, words in zip(scenes.captions, scenes.label_maps, strict=True):
        row_of = {word: np.nonzero(words == scenes.words.index(word))[0].mean() for word in caption}
        if "sun" in caption:
            assert "sky" in caption
        if "boat" in caption:
            assert "water" in caption
        if "sky" in caption:
            assert row_of["sky"] == min(row_of[word] for word in {"sky", "grass", "sand", "water"} & set(caption))


def test_words_differ_in_colour(scenes):
    colour = {
        word: scenes.images[scenes.label_maps == index].mean(axis=0) for index, word in enumerate(scenes.words)
    }
    sun, grass, water = colour["sun"], colour["grass"], colour["water"]
    assert sun[0] > 230 > 100 > sun[2], "yellow"
    assert grass.argmax() == 1
    assert water.argmax() == 2


def test_seeds(seed):
    one, same, other = (make_scenes(2, random_state=s) for s in (seed, seed, seed + 1))
    assert np.array_equal(one.images, same.images)
    assert not np.array_equal(one.images, other.images)


def test_the_number_of_images_is_checked():
    with pytest.raises(ValueError, match="n_images must be a positive integer"):
        make_scenes(0)


def test_the_truth_of_a_region_is_its_majority():
    labels = np.array([[0, 0, 1], [0, 2, 1]])
    words = np.array([[1, 1, 0], [0, 2, 0]])
    assert region_truth(labels, words, ["sea", "sky", "sun"]).tolist() == ["sky", "sea", "sun"]
