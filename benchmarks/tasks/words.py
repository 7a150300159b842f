"""Caption words in Robomedia's photographs: which regions show a word, when only captions are known."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.tasks.split import Split
from disaggregate.experiments.annotated import find_robomedia, read_robomedia
from disaggregate.images import word_evidence
from disaggregate.settings import groups_are_pictures


def words(data: Path) -> Iterator[Split]:
    """One split per word; shares are the guess 1/w for a caption of w words, and 0 where the word is not in it."""
    folder = find_robomedia(data)
    if folder is None:
        raise SystemExit(f"{data} holds no robomedia/regions.csv: give its folder with --data.")
    regions = read_robomedia(folder)
    known = [image for image in range(len(regions.captions)) if (regions.image == image).any()]
    for fold, word in enumerate(regions.words):
        guess = [1.0 / len(regions.captions[i]) if word in regions.captions[i] else 0.0 for i in known]
        evidence = word_evidence(regions.captions, word)
        yield Split(
            task=f"word {word}",
            size=0,
            seed=0,
            fold=fold,
            X=regions.X,
            groups=regions.image,
            shares=pd.Series(guess, index=known),
            labels=np.array([word in label for label in regions.shown_in_training], dtype=int),
            X_test=regions.X_test,
            y_test=np.array([word in label for label in regions.shown], dtype=int),
            evidence={image: evidence[image] for image in known},
            settings=groups_are_pictures(),
        )
