"""Captions: what the words of a picture say about its regions, as evidence on the count of positives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from disaggregate.groups.evidence import AllOf, AtLeast, Count, Evidence, Fraction, Unknown

Kind: TypeAlias = Literal["fraction", "at_least", "both"]
Captions: TypeAlias = "Iterable[Iterable[str] | None] | Mapping[Any, Iterable[str] | None]"


def word_evidence(
    captions: Captions, word: str, kind: Kind = "fraction", confidence: float = 1000.0
) -> dict[Any, Evidence]:
    """Turn captions into evidence on how many regions of each picture show a word.

    Parameters
    ----------
    captions : sequence or mapping of collections of words
        The words of each picture; in a mapping, by the id of the picture. None for a picture without a caption,
        of which nothing is known.
    word : str
        The word; it must be in at least one caption.
    kind : {"fraction", "at_least", "both"}, default="fraction"
        Evidence of a caption with the word. "fraction" is the paper's guess that its w words share the picture
        evenly, ``Fraction(1 / w, confidence)``, a little less than 1 for a single word; "at_least" is
        multiple-instance learning, ``AtLeast(1)``; "both" holds
        both for true.
    confidence : float, default=1000
        The paper's chi, with its default of the paper. The guess is rough, but with a low confidence it does not
        even say that the word is in the picture: with chi = 10, six words and six regions, none is half as
        likely as one.

    Returns
    -------
    dict
        From picture (its id, or its index in the sequence) to evidence; ``Count(0)`` where the caption does
        not have the word.

    Examples
    --------
    >>> from disaggregate.images import word_evidence
    >>> word_evidence([["sky", "sun"], ["sky"]], "sun", kind="at_least")
    {0: AtLeast(positives=1), 1: Count(positives=0)}
    """
    words_of = read_captions(captions)
    if kind not in ("fraction", "at_least", "both"):
        raise ValueError(f'evidence must be "fraction", "at_least" or "both", but got {kind!r}.')
    if not any(word in words for words in words_of.values() if words is not None):
        raise ValueError(f"No caption has the word {word!r}, so nothing can be learned of it. Check its spelling.")
    return {picture: _evidence(words, word, kind, confidence) for picture, words in words_of.items()}


def read_captions(captions: Captions) -> dict[Any, frozenset[str] | None]:
    """Return the distinct words of each picture, by its id or its index; None where there is no caption."""
    by_picture = captions if isinstance(captions, Mapping) else dict(enumerate(captions))
    return {picture: _distinct_words(picture, caption) for picture, caption in by_picture.items()}


def _distinct_words(picture: Any, caption: Any) -> frozenset[str] | None:
    if caption is None:
        return None
    words = None if isinstance(caption, str) or not isinstance(caption, Iterable) else list(caption)
    if words is None or not all(isinstance(word, str) for word in words):
        raise ValueError(
            f"The caption of picture {picture!r} must be a collection of words, such as ['sky', 'sun'], but got "
            f"{caption!r}. A text becomes one with text.split()."
        )
    return frozenset(words)


def _evidence(words: frozenset[str] | None, word: str, kind: Kind, confidence: float) -> Evidence:
    if words is None:
        return Unknown()
    if word not in words:
        return Count(0)
    if kind == "at_least":
        return AtLeast(1)
    guess = _guess(words, confidence)
    return guess if kind == "fraction" else AllOf((guess, AtLeast(1)))


def _guess(words: frozenset[str], confidence: float) -> Fraction:
    guess = Fraction(1.0 / len(words), confidence)
    if len(words) > 1:
        return guess
    # A share of exactly 1 would be certain, whatever the confidence. A picture that shows nothing but the word
    # is expected to report the mean of Beta(chi + 1, 1), so a caption of one word does too.
    return replace(guess, share=1.0 - 1.0 / (confidence + 2.0))
