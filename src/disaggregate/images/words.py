"""Words in pictures: one classifier of regions for each word, learned from the captions of whole pictures."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from disaggregate.estimator import GroupStatsClassifier
from disaggregate.images.captions import Kind, word_evidence
from disaggregate.images.collection import Regions, collect_regions
from disaggregate.images.regions import Method
from disaggregate.settings import groups_are_pictures


class WordFinder(BaseEstimator):  # type: ignore[misc]
    """Learn from captioned pictures which regions of a picture show a word.

    Pictures are groups and their regions are individuals. A caption says which words can be seen somewhere in a
    picture; for each word a :class:`disaggregate.GroupStatsClassifier` learns which regions show it.

    Parameters
    ----------
    evidence : {"fraction", "at_least", "both"}, default="fraction"
        Evidence of a caption with the word: a share of 1 / (number of its words) of the regions shows it, as
        in the paper; at least one does, as in multiple-instance learning; or both. See
        :func:`word_evidence`.
    confidence : float, default=1000
        The paper's chi of that share.
    classifier : GroupStatsClassifier, optional
        Unfitted classifier, cloned for each word; its settings, such as ``random_state``, are
        those of every word. By default one with the prior
        ``GaussianProcess(emphasis=1)``, because pictures are not random collections of regions.
    words : sequence of str, optional
        Words to learn; by default all words of the captions that are in some pictures, but not in all.
    method, n_regions
        How pictures are segmented; see :func:`segment`.

    Attributes
    ----------
    words_ : list of str
        The words that were learned.
    classifiers_ : dict
        From word to its fitted classifier.
    scaler_ : StandardScaler
        What the features were standardised with.

    Examples
    --------
    >>> from disaggregate.images import WordFinder, make_scenes
    >>> scenes = make_scenes(random_state=0)
    >>> finder = WordFinder(words=["sun"]).fit(scenes.images, scenes.captions)  # doctest: +SKIP
    >>> labels, probability = finder.find(scenes.images[0], "sun")  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        evidence: Kind = "fraction",
        confidence: float = 1000.0,
        classifier: Any = None,
        words: Sequence[str] | None = None,
        method: Method = "slic",
        n_regions: int = 12,
    ) -> None:
        self.evidence = evidence
        self.confidence = confidence
        self.classifier = classifier
        self.words = words
        self.method = method
        self.n_regions = n_regions

    def fit(self, images: Any, captions: Iterable[Iterable[str] | None] | None = None) -> WordFinder:
        """Learn every word.

        Parameters
        ----------
        images : sequence of arrays or paths, or Regions
            The pictures, or what :func:`collect_regions` made of them.
        captions : sequence of collections of words
            The words of each picture, or None for a picture without a caption; not with ``Regions``, which
            hold their own.

        Returns
        -------
        WordFinder
            This object, fitted.
        """
        regions = self._regions(images, captions)
        if regions.captions is None:
            raise ValueError("WordFinder learns from captions, but got none. Pass fit(images, captions).")
        words = self._words_to_learn(regions.captions)
        evidence = {word: word_evidence(regions.captions, word, self.evidence, self.confidence) for word in words}
        scaler = StandardScaler().set_output(transform="pandas")
        features = scaler.fit_transform(regions.features)
        classifiers = {}
        for word in words:
            classifiers[word] = self._new_classifier()
            with _warnings_that_name(word):
                classifiers[word].fit(features, evidence[word], groups=regions.groups)
        self.words_, self.classifiers_, self.scaler_ = words, classifiers, scaler
        return self

    def predict_proba(self, images: Any) -> pd.DataFrame:
        """Return the probability that each region shows each word.

        Parameters
        ----------
        images : sequence of arrays or paths, or Regions
            Pictures; they need no captions.

        Returns
        -------
        DataFrame
            One row per region, indexed by image and region; one column per word.
        """
        check_is_fitted(self)
        regions = self._regions(images, None)
        columns = {word: self._probability(regions, word) for word in self.words_}
        return pd.DataFrame(columns, index=regions.index)

    def find(self, image: Any, word: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Show where in one picture a word is.

        Parameters
        ----------
        image : array or path
            The picture.
        word : str
            One of ``words_``.

        Returns
        -------
        labels : ndarray of shape (height, width)
            The region of each pixel.
        probability : ndarray of shape (n_regions,)
            Probability that each region shows the word; ``probability[labels]`` is the one of each pixel.
        """
        check_is_fitted(self)
        if word not in self.classifiers_:
            raise ValueError(f"The word {word!r} was not learned, only: {', '.join(self.words_)}.")
        regions = self._regions([image], None)
        return regions.labels[0], self._probability(regions, word)

    def _regions(self, images: Any, captions: Iterable[Iterable[str] | None] | None) -> Regions:
        if not isinstance(images, Regions):
            return collect_regions(images, captions, method=self.method, n_regions=self.n_regions)
        if captions is not None:
            raise ValueError(
                "Regions hold their captions already, but got captions beside them. Pass the captions to "
                "collect_regions(images, captions)."
            )
        return images

    def _new_classifier(self) -> Any:
        return GroupStatsClassifier(**groups_are_pictures()) if self.classifier is None else clone(self.classifier)

    def _probability(self, regions: Regions, word: str) -> NDArray[np.float64]:
        both: NDArray[np.float64] = self.classifiers_[word].predict_proba(self.scaler_.transform(regions.features))
        return both[:, 1]

    def _words_to_learn(self, captions: list[frozenset[str] | None]) -> list[str]:
        known = [caption for caption in captions if caption is not None]
        everywhere = frozenset.intersection(*known) if known else frozenset()
        if self.words is None:
            _warn_of_words_everywhere(everywhere)
            words = sorted(frozenset().union(*known) - everywhere)
        else:
            words = list(dict.fromkeys(self.words))
            _refuse_words_everywhere(everywhere.intersection(words))
        if not words:
            raise ValueError(
                "There is no word to learn: a word must be in the captions of some pictures, but not of all. "
                f"Got {len(known)} captions."
            )
        return words


def _warn_of_words_everywhere(words: frozenset[str]) -> None:
    if words:
        warnings.warn(
            f"Left out, as they are in every caption and nothing separates them from the rest: {_listed(words)}. "
            "Add pictures without them to learn them.",
            UserWarning,
            stacklevel=4,
        )


def _refuse_words_everywhere(words: frozenset[str]) -> None:
    if words:
        raise ValueError(
            f"Words must be missing from some captions, or nothing separates them from the rest, but every "
            f"caption has {_listed(words)}. Add pictures without them."
        )


def _listed(words: Iterable[str]) -> str:
    return ", ".join(repr(word) for word in sorted(words))


@contextmanager
def _warnings_that_name(word: str) -> Iterator[None]:
    """Let warnings through with the word that they are about: there is one fit per word."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        warnings.warn(f"The word {word!r}: {warning.message}", warning.category, stacklevel=4)
