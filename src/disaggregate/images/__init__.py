"""Annotated pictures: learn from captions of whole pictures which of their regions show a word.

Data passes through these files, in order: ``read_images`` reads pictures; ``regions`` segments them, ``cuts`` by
normalised cuts; ``features`` describes regions by numbers; ``collection`` makes one table of all pictures;
``captions`` turns words into evidence; ``words`` fits one classifier per word. ``scenes`` paints pictures with
known truth. All of it needs scikit-image: ``pip install 'disaggregate[images]'``.
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
