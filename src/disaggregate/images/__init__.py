"""Annotated pictures: learn from captions of whole pictures which of their regions show a word.

The way of the data is the list of files: ``regions`` (a picture is cut up; ``cuts`` does it by normalised cuts),
``features`` (a region becomes numbers), ``collection`` (all pictures in one table), ``captions`` (words become
evidence) and ``words`` (one classifier per word). ``scenes`` paints pictures with known truth, and
``disaggregate.images.read_images`` reads them. It needs scikit-image: ``pip install 'disaggregate[images]'``.
"""

from disaggregate.images.captions import word_evidence
from disaggregate.images.collection import Regions, collect_regions
from disaggregate.images.features import region_features
from disaggregate.images.regions import segment
from disaggregate.images.scenes import make_scenes, region_truth
from disaggregate.images.words import WordFinder

__all__ = [
    "Regions",
    "WordFinder",
    "collect_regions",
    "make_scenes",
    "region_features",
    "region_truth",
    "segment",
    "word_evidence",
]
