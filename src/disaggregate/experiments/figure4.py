"""Figure 4: which region of a picture a caption word means, from guessed fractions and from "at least one"."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from disaggregate.experiments.annotated import AnnotatedRegions, find_robomedia, read_robomedia, simulate_scenes
from disaggregate.experiments.fits import fit_timed, mean_and_spread, tracked
from disaggregate.experiments.outcome import Outcome, Scope
from disaggregate.plots.canvas import new_figure
from disaggregate.settings import groups_are_pictures, published_settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from disaggregate.images.captions import Kind

KINDS: dict[str, Kind] = {"multiple instance": "at_least", "fractions": "fraction"}

TEXT = """\
Data: {source}; {n_regions} training regions in {n_images} captioned images, {n_test} labelled test regions.
One classifier per caption word. *Multiple instance*: at least one region of an image shows each of its words.
*Fractions*: the guess that a caption of w words gives each a share 1/w of the regions. In both, no region
of an image shows a word that its caption lacks. *Sigmoid*: the sampler and the kernel of the paper.
*Default*: ours, with the settings that pictures have. AUC on the test regions over {n_runs} runs of one chain
each; ± is the standard deviation over runs.

{verdict} {note}"""

WITHOUT_DATA = (
    "The Corel images of the paper are not available, and no folder with Robomedia's `regions.csv` and "
    "`captions.csv` was given (`--data FOLDER`), so these are simulated scenes."
)


def run(scope: Scope) -> Outcome:
    """Learn every word in both ways, several times."""
    folder = find_robomedia(scope.data) if scope.data is not None else None
    data = simulate_scenes(scope.seed) if folder is None else read_robomedia(folder)
    cells = list(product(data.words, ("sigmoid", "default"), KINDS))
    parts = []
    for word, model, evidence in tracked(cells, len(cells), "figure 4", scope.progress):
        auc, seconds = _learn(data, word, evidence, _settings(model, scope))
        runs = pd.DataFrame({"AUC": auc, "seconds": seconds})
        parts.append(runs.assign(word=word, model=model, evidence=evidence))
    raw = pd.concat(parts).rename_axis("run").reset_index()
    text = TEXT.format(
        source=data.source,
        n_regions=len(data.X),
        n_images=len(data.captions),
        n_test=len(data.X_test),
        n_runs=scope.n_repeats,
        verdict=_verdict(raw),
        note="" if folder else WITHOUT_DATA,
    )
    return Outcome("figure4", "Figure 4: words and regions", text, _table(raw), raw, _draw(raw))


def _settings(model: str, scope: Scope) -> dict[str, Any]:
    """Give the settings of a fit whose chains are the runs."""
    length = {
        "n_draws": scope.n_draws,
        "n_burn": scope.n_burn,
        "random_state": scope.seed,
        "n_chains": scope.n_repeats,
    }
    paper = {**published_settings(), "kernel": "sigmoid", "gamma": "scale"}
    return {**(paper if model == "sigmoid" else groups_are_pictures()), **length}


def _learn(
    data: AnnotatedRegions, word: str, evidence: str, settings: dict[str, Any]
) -> tuple[list[float], float]:
    """Return the AUC of each chain's own predictions, and the seconds of one chain."""
    from disaggregate.images import word_evidence

    known = word_evidence(data.captions, word, KINDS[evidence])
    model, seconds = fit_timed(settings, data.X, known, data.image)
    is_shown = [word in label for label in data.shown]
    by_chain = model.predict_draws(data.X_test).mean(axis=1)
    return [float(roc_auc_score(is_shown, probability)) for probability in by_chain], seconds / len(by_chain)


def _verdict(raw: pd.DataFrame) -> str:
    """Count the words for which fractions are at least as good, and steadier."""
    sentences = []
    for model, cell in raw.groupby("model", sort=False):
        by_word = cell.groupby(["word", "evidence"], sort=False)["AUC"].agg(["mean", "std"]).unstack()
        better = (by_word["mean", "fractions"] >= by_word["mean", "multiple instance"]).sum()
        steadier = (by_word["std", "fractions"] <= by_word["std", "multiple instance"]).sum()
        sentences.append(
            f"With {model} fits, fractions are at least as good for {better} of {len(by_word)} words and vary no "
            f"more over runs for {steadier}."
        )
    return " ".join(sentences)


def _table(raw: pd.DataFrame) -> pd.DataFrame:
    columns = [(model, evidence) for model in ("sigmoid", "default") for evidence in KINDS]
    rows = []
    for word, cell in [*raw.groupby("word", sort=False), ("all words", raw)]:
        by_fit = {key: part["AUC"] for key, part in cell.groupby(["model", "evidence"])}
        rows.append({"word": word} | {", ".join(key): mean_and_spread(by_fit[key]) for key in columns})
    return pd.DataFrame(rows)


def _draw(raw: pd.DataFrame) -> Figure:
    words = list(raw["word"].unique())
    figure = new_figure(max(8.0, 1.0 + 0.85 * len(words)), 7.5)
    panels = figure.subplots(2, 1, sharex=True, sharey=True)
    titles = {"sigmoid": "Sampler and sigmoidal kernel of the paper", "default": "Defaults of this library"}
    for ax, (model, title) in zip(panels, titles.items(), strict=True):
        for index, (evidence, colour) in enumerate(zip(KINDS, ("#fdb863", "#5e3c99"), strict=True)):
            cell = raw[(raw["model"] == model) & (raw["evidence"] == evidence)]
            by_word = cell.groupby("word")["AUC"].agg(["mean", "std"]).loc[words].fillna(0.0)
            at = np.arange(len(words)) + 0.38 * (index - 0.5)
            ax.bar(at, by_word["mean"], 0.36, yerr=by_word["std"], capsize=3, color=colour, label=evidence)
        ax.axhline(0.5, color="grey", linewidth=1.0, linestyle="dotted")
        ax.set(title=title, ylabel="AUC on labelled test regions", ylim=(0.3, 1.02))
    panels[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False)
    panels[1].set_xticks(range(len(words)), words, rotation=30, ha="right")
    return figure
