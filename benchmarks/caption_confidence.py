"""How much to trust the guess that the words of a caption share a picture evenly.

One classifier a caption word of Robomedia's photographs, from fractions 1/w with the paper's chi between 3 and
1,000, and from "at least one"; short chains, AUC on the hand-labelled test regions. Run

    python -m benchmarks.caption_confidence --data FOLDER

It takes about half an hour, prints its table and writes it to ``benchmarks/results/caption_confidence.md``.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import pandas as pd
from rich.progress import track
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

from disaggregate import GroupStatsClassifier
from disaggregate.experiments.annotated import AnnotatedRegions, find_robomedia, read_robomedia
from disaggregate.groups.evidence import Evidence
from disaggregate.images import word_evidence
from disaggregate.settings import groups_are_pictures

RESULTS = Path(__file__).parent / "results" / "caption_confidence.md"
SHORT = {"n_draws": 300, "n_burn": 200, "random_state": 0}
CONFIDENCES = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)


def evidence_by_column(data: AnnotatedRegions, word: str) -> dict[str, dict[int, Evidence]]:
    """Say what the captions tell of a word, in every way that is compared."""
    shares = {f"{chi:.0f}": word_evidence(data.captions, word, "fraction", chi) for chi in CONFIDENCES}
    return {"at least one": word_evidence(data.captions, word, "at_least"), **shares}


def auc(data: AnnotatedRegions, word: str, known: dict[int, Evidence]) -> float:
    """Learn a word, and judge it on the test regions."""
    model = GroupStatsClassifier(**groups_are_pictures(), **SHORT).fit(data.X, known, groups=data.image)
    return float(roc_auc_score([word in label for label in data.shown], model.predict_proba(data.X_test)[:, 1]))


def text(table: pd.DataFrame) -> str:
    """Write the table with its means and counts of words."""
    rivals = table.drop(columns="at least one")
    ahead = (rivals.ge(table["at least one"], axis=0)).sum()
    lines = [
        "# Confidence in captions",
        "",
        "Made by `python -m benchmarks.caption_confidence`: AUC on Robomedia's labelled test regions, learned",
        "from captions alone: that at least one region shows a word of the caption, or that a share 1/w does for",
        "a caption of w words, with this confidence (the paper's chi). One fit of four chains of 300 draws each.",
        "",
        "| word | " + " | ".join(table.columns) + " |",
        "| --- |" + " --- |" * len(table.columns),
        *(f"| {word} | " + " | ".join(f"{value:.3f}" for value in row) + " |" for word, row in table.iterrows()),
        "| all words | " + " | ".join(f"{value:.3f}" for value in table.mean()) + " |",
        '| words at least as good as from "at least one" | | ' + " | ".join(map(str, ahead)) + " |",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds robomedia/")
    folder = find_robomedia(parser.parse_args().data)
    if folder is None:
        parser.error("--data has no robomedia/ with regions.csv and captions.csv")
    data = read_robomedia(folder)
    warnings.simplefilter("ignore", ConvergenceWarning)
    known = {(word, column): how for word in data.words for column, how in evidence_by_column(data, word).items()}
    found = {cell: auc(data, cell[0], how) for cell, how in track(known.items(), description="words")}
    table = pd.Series(found).unstack(sort=False)
    print(text(table))
    RESULTS.write_text(text(table), encoding="utf-8")


if __name__ == "__main__":
    main()
