"""Annotated images as regions: real ones from a folder, or simulated scenes in their place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

# A word is learned when this many training captions have it, and judged when this many test regions show it.
FEWEST_CAPTIONS = 8
FEWEST_REGIONS = 5


@dataclass(frozen=True)
class AnnotatedRegions:
    """Regions of captioned training images, and labelled regions for evaluation.

    Attributes
    ----------
    source : str
        What the images are.
    X : ndarray of shape (n_regions, n_features)
        Standardised features of the training regions.
    image : ndarray of int, shape (n_regions,)
        Image of each of them.
    captions : list of frozenset of str
        Words of each training image.
    X_test : ndarray
        Features of the test regions that have a label.
    shown : list of frozenset of str
        What each of those shows.
    shown_in_training : list of frozenset of str
        The same of the training regions, for a supervised ceiling only; empty where it is not known.
    """

    source: str
    X: np.ndarray
    image: np.ndarray
    captions: list[frozenset[str]]
    X_test: np.ndarray
    shown: list[frozenset[str]]
    shown_in_training: list[frozenset[str]]

    @property
    def words(self) -> list[str]:
        """Words that can be learned and judged, the commonest first."""
        common = pd.Series([word for caption in self.captions for word in caption]).value_counts()
        judged = pd.Series([word for label in self.shown for word in label]).value_counts()
        return [
            str(word)
            for word, n in common.items()
            if FEWEST_CAPTIONS <= n < len(self.captions) and judged.get(word, 0) >= FEWEST_REGIONS
        ]


def find_robomedia(folder: Path) -> Path | None:
    """Find the folder that holds ``regions.csv``: this one, or ``robomedia`` in it."""
    return next((path for path in (folder, folder / "robomedia") if (path / "regions.csv").exists()), None)


def read_robomedia(folder: Path) -> AnnotatedRegions:
    """Read the indoor photographs of the Robomedia collection.

    Parameters
    ----------
    folder : Path
        It holds ``regions.csv`` and ``captions.csv``.
    """
    regions = pd.read_csv(folder / "regions.csv", keep_default_na=False)
    captions = pd.read_csv(folder / "captions.csv", keep_default_na=False)
    features = [name for name in regions if name.startswith("f") and name[1:].isdigit()]
    train, test = (regions[regions["split"] == split] for split in ("train", "test"))
    words = captions[captions["split"] == "train"].set_index("image")["words"]
    number_of = {name: number for number, name in enumerate(words.index)}
    labelled = test[test["labels"] != ""]
    return _standardised(
        "Robomedia: indoor photographs, regions by normalised cuts",
        train[features].to_numpy(dtype=float),
        train["image"].map(number_of).to_numpy(),
        _words_of(words),
        labelled[features].to_numpy(dtype=float),
        _words_of(labelled["labels"]),
        _words_of(train["labels"]),
    )


def simulate_scenes(seed: int, n_train: int = 80, n_test: int = 40) -> AnnotatedRegions:
    """Draw captioned scenes and cut them into regions, each labelled by what most of it shows.

    Parameters
    ----------
    seed : int
        Seed of the scenes.
    n_train, n_test : int
        Number of training scenes and of test scenes.
    """
    from disaggregate.images import collect_regions, make_scenes, region_truth

    train, test = (make_scenes(n, random_state=np.random.default_rng([seed, n])) for n in (n_train, n_test))
    seen, judged = (collect_regions(scenes.images) for scenes in (train, test))
    shown, shown_in_training = (
        [
            frozenset({str(word)})
            for labels, truth in zip(regions.labels, scenes.label_maps, strict=True)
            for word in region_truth(labels, truth, scenes.words)
        ]
        for scenes, regions in ((test, judged), (train, seen))
    )
    return _standardised(
        "simulated scenes, regions by SLIC",
        seen.features.to_numpy(),
        seen.groups,
        [frozenset(caption) for caption in train.captions],
        judged.features.to_numpy(),
        shown,
        shown_in_training,
    )


def _words_of(texts: Iterable[str]) -> list[frozenset[str]]:
    return [frozenset(text.split("|")) - {""} for text in texts]


def _standardised(
    source: str,
    X: np.ndarray,
    image: np.ndarray,
    captions: Sequence[frozenset[str]],
    X_test: np.ndarray,
    *shown: list[frozenset[str]],
) -> AnnotatedRegions:
    scaler = StandardScaler().fit(X)
    return AnnotatedRegions(source, scaler.transform(X), image, list(captions), scaler.transform(X_test), *shown)
