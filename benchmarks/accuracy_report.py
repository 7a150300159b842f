"""The tables and the chart of ``benchmarks/accuracy.py``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.tasks.two_bags import PUBLISHED_NAME

OURS = "disaggregate"
CEILING = "supervised oracle (sees labels)"
BAGS, WORD = "two bags, ", "word "
SCORES = {"accuracy": "accuracy", "auc": "AUC", "log_loss": "log loss", "calibration": "calibration error"}
LOWER_IS_BETTER = ("log_loss", "calibration")

INTRODUCTION = """\
# Accuracy

Made by `python -m benchmarks.accuracy`: five folds, standardised features, groups made inside the training
fold, all methods on the same splits, no label used for fitting or tuning except by the supervised oracle, which
is the ceiling. The grids, starts and probability link of some rivals were chosen with a look at test folds of
these data, which favours them. ± is the standard error of the mean over folds and seeds; the best of those that
see no labels is bold. Some methods were run on the first seeds only, as the number of fits tells; where
`disaggregate` stands is judged rival by rival, on the splits that both were run on."""


def write_report(path: Path, data: Path, order: list[str], missing: dict[str, str]) -> None:
    """Write the tables beside the results, and the chart.

    Parameters
    ----------
    path : Path
        The results, ``.csv``.
    data : Path
        Folder with the published numbers, in ``tables/``.
    order : list of str
        Methods as they are to appear.
    missing : dict
        Methods that could not run, and why.
    """
    results = pd.read_csv(path)
    results["method"] = pd.Categorical(results["method"], order, ordered=True)
    is_bags, is_word = results.task.str.startswith(BAGS), results.task.str.startswith(WORD)
    by_size = results[~is_bags & ~is_word]
    parts = [INTRODUCTION]
    if len(by_size):
        parts += [
            _standing(by_size),
            _duels(by_size),
            *(_by_size(task, cell) for task, cell in by_size.groupby("task", sort=False)),
        ]
        _chart(by_size, path.with_suffix(".png"))
        parts.append(f"![Accuracy by size of the groups]({path.stem}.png)")
    if is_bags.any():
        parts.append(_bags(results[is_bags], data))
    if is_word.any():
        parts.append(_words(results[is_word]))
    absent = {
        name: "None of its fits are among the results." for name in order if not (results.method == name).any()
    }
    parts += [f"Not run: {name}. {reason}" for name, reason in (absent | missing).items()]
    text = "\n\n".join(parts) + "\n"
    print(text)
    path.with_suffix(".md").write_text(text, encoding="utf-8")


def _summary(rows: pd.DataFrame, score: str) -> pd.DataFrame:
    summary = rows.groupby("method", observed=True)[score].agg(["mean", "sem", "size"])
    return summary.fillna(0.0)


def _best(summary: pd.DataFrame, lower: bool = False) -> str:
    """Name the best of those that see no labels."""
    means = summary["mean"].drop(index=CEILING, errors="ignore")
    return str(means.idxmin() if lower else means.idxmax())


def _against_rivals(cell: pd.DataFrame, score: str) -> pd.DataFrame:
    """Compare ours with each rival: both means, the lead of the rival, and the larger of the standard errors.

    Rivals may have been run on fewer seeds: each is compared on the splits that it shares with ours.
    """
    by_split = cell.astype({"method": str}).pivot(index=["seed", "fold"], columns="method", values=score)
    rows = []
    for rival in by_split.columns.drop([OURS, CEILING], errors="ignore"):
        both = by_split[[OURS, rival]].dropna()
        ours, theirs = both.mean()
        error = both.sem().fillna(0.0).max()
        rows.append({"rival": rival, "ours": ours, "theirs": theirs, "lead": theirs - ours, "error": error})
    return pd.DataFrame(rows).dropna()


def _table(headings: list[str], rows: list[list[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _standing(results: pd.DataFrame) -> str:
    """Say in how many cells ours is first, or within one standard error of first; and name the others."""
    rows, losses = [], []
    for (size, task), cell in results.groupby(["size", "task"]):
        if not {OURS} < set(cell["method"].astype(str)) - {CEILING}:
            continue
        row = {"size": size, "cells": 1}
        for score in ("accuracy", "auc"):
            rivals = _against_rivals(cell, score)
            is_ahead = rivals["lead"] > rivals["error"]
            row |= {f"first in {score}": (rivals["lead"] <= 0.0).all(), f"near in {score}": not is_ahead.any()}
            losses += [
                [
                    str(task),
                    str(size),
                    SCORES[score],
                    f"{r.ours:.3f}",
                    r.rival,
                    f"{r.theirs:.3f}",
                    f"{r.error:.3f}",
                ]
                for r in rivals[is_ahead].itertuples()
            ]
        rows.append(row)
    if not rows:
        return ""
    table = pd.DataFrame(rows).groupby("size").sum()
    body = [[str(size), *map(str, row)] for size, row in zip(table.index, table.to_numpy(dtype=int), strict=True)]
    near = "first or within one standard error"
    text = "## Where `disaggregate` stands\n\n" + _table(
        ["groups of", "data sets", "first in accuracy", near, "first in AUC", near], body
    )
    if losses:
        headings = ["data", "groups of", "score", "ours", "rival", "its score", "standard error"]
        text += "\n\nWhere a rival is ahead by more than a standard error:\n\n" + _table(headings, losses)
    return text


def _duels(results: pd.DataFrame) -> str:
    """Count the cells in which ours is better than each rival, score by score."""
    splits = ["task", "size", "seed", "fold"]
    wide = results.astype({"method": str}).pivot(index=splits, columns="method", values=list(SCORES))
    rows = []
    for rival in _rivals(results):
        leads = [_leads(wide[score], rival, score in LOWER_IS_BETTER) for score in SCORES]
        if len(leads[0]):
            rows.append([rival, str(len(leads[0])), *(str((lead > 0.0).sum()) for lead in leads)])
    if not rows:
        return ""
    text = (
        "In how many cells, which are data sets with groups of one size, `disaggregate` is better than each rival:"
    )
    return text + "\n\n" + _table(["rival", "cells", *SCORES.values()], rows)


def _leads(by_split: pd.DataFrame, rival: str, lower: bool) -> pd.Series:
    """By how much ours is better in each cell, on the splits that both were run on."""
    both = by_split.reindex(columns=[OURS, rival]).dropna().groupby(level=["task", "size"]).mean()
    return both[rival] - both[OURS] if lower else both[OURS] - both[rival]


def _rivals(results: pd.DataFrame) -> pd.Index:
    """Methods that were run and see no labels, ours apart."""
    run = results["method"].cat.remove_unused_categories().cat.categories
    return run.drop([OURS, CEILING], errors="ignore")


def _by_size(task: str, cell: pd.DataFrame) -> str:
    """Accuracy and AUC of each method at each size."""
    rows = []
    for size, part in cell.groupby("size"):
        summaries = {score: _summary(part, score) for score in SCORES}
        best = {score: _best(summaries[score], score in LOWER_IS_BETTER) for score in SCORES}
        for method in summaries["accuracy"].index:
            mine = part[part.method == method]
            shown = [
                _bold(f"{summaries[score].loc[method, 'mean']:.3f}", best[score] == method)
                + (f" ± {summaries[score].loc[method, 'sem']:.3f}" if score in ("accuracy", "auc") else "")
                for score in SCORES
            ]
            rhat = f"{mine.rhat.median():.3f}" if method == OURS else "-"
            rows.append([str(size), method, *shown, f"{mine.seconds.median():.1f}", rhat, str(len(mine))])
    headings = ["groups of", "method", *SCORES.values(), "seconds, median", "R-hat, median", "fits"]
    return f"## {task}\n\n" + _table(headings, rows)


def _bold(text: str, is_best: bool) -> str:
    return f"**{text}**" if is_best else text


def _bags(results: pd.DataFrame, data: Path) -> str:
    """Error in per cent, beside the published columns."""
    path = data / "tables" / "quadrianto_icml2008_table3.csv"
    published = pd.read_csv(path).set_index("dataset") if path.exists() else None
    methods = list(results["method"].cat.remove_unused_categories().cat.categories)
    columns = ["MM", "KDE", "DS", "MCMC"] if published is not None else []
    rows = []
    for task, cell in results.groupby("task", sort=False):
        name = str(task).removeprefix(BAGS)
        row = [name]
        for method in methods:
            error = 100.0 * (1.0 - cell.loc[cell.method == method, "accuracy"])
            row.append(f"{error.mean():.1f} ± {error.sem():.1f}" if len(error) else "-")
        if published is not None:
            theirs = published.loc[PUBLISHED_NAME[name]]
            row += [f"{theirs[f'{c}_err']:.1f} ± {theirs[f'{c}_se']:.1f}" for c in columns]
        rows.append(row)
    text = (
        "## Two bags: test error in per cent\n\n"
        "One bag of half of the negatives, one of everybody else and its share. "
        "Columns marked 2008 are as published, on other splits; MCMC is the sampler of the paper as others ran it."
    )
    return text + "\n\n" + _table(["data", *methods, *(f"{column}, 2008" for column in columns)], rows)


def _words(results: pd.DataFrame) -> str:
    wide = results.pivot_table(index="task", columns="method", values="auc", observed=True, sort=False)
    wide = wide.sort_index(axis="columns")  # as methods are listed, whatever was run first
    rows = [
        [str(task).removeprefix(WORD), *(f"{v:.3f}" for v in row)]
        for task, row in zip(wide.index, wide.to_numpy(), strict=True)
    ]
    rows.append(["mean", *(f"{value:.3f}" for value in wide.mean())])
    return "## Caption words: AUC on labelled test regions\n\n" + _table(["word", *map(str, wide.columns)], rows)


def _chart(results: pd.DataFrame, path: Path) -> None:
    from matplotlib.figure import Figure

    tasks = list(results["task"].unique())
    # The same colour in every panel, whichever methods were run on its data.
    rivals = enumerate(_rivals(results))
    colours = {OURS: "black", CEILING: "black"} | {method: f"C{place}" for place, method in rivals}
    n_rows = -(-len(tasks) // 3)
    figure = Figure(figsize=(13.0, 3.6 * n_rows + 0.8), layout="constrained")
    panels = np.atleast_1d(figure.subplots(n_rows, 3, squeeze=False)).ravel()
    for ax, task in zip(panels, tasks, strict=False):
        for method, rows in results[results.task == task].groupby("method", observed=True):
            summary = rows.groupby("size")["accuracy"].agg(["mean", "sem"])
            mine = method == OURS
            ax.errorbar(
                summary.index,
                summary["mean"],
                yerr=summary["sem"],
                marker="o" if mine else ".",
                color=colours[method],
                linewidth=2.5 if mine else 1.2,
                linestyle="dotted" if method == CEILING else "solid",
                zorder=3 if mine else 2,
                label=method,
            )
        ax.set_xscale("log", base=2)
        ax.set_xticks(sorted(results["size"].unique()), [str(size) for size in sorted(results["size"].unique())])
        ax.set(title=task, xlabel="size of groups", ylabel="accuracy")
    for ax in panels[len(tasks) :]:
        ax.set_axis_off()
    handles = {
        label: handle for ax in panels for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4)
    figure.savefig(path, dpi=110)
