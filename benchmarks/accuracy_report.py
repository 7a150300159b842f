"""The tables and the chart of ``benchmarks/accuracy.py``."""

from __future__ import annotations

from itertools import product
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
VERSIONS = """\
Each method was measured with the release or the commit of this project that is named here:"""


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
    everything = pd.read_csv(path, dtype={"version": str})
    everything["method"] = pd.Categorical(everything["method"], order, ordered=True)
    results = most_measured(everything)
    is_bags, is_word = results.task.str.startswith(BAGS), results.task.str.startswith(WORD)
    by_size = results[~is_bags & ~is_word]
    parts = [INTRODUCTION, _versions(results)]
    if len(by_size):
        compared = _compare(by_size)
        if len(compared):
            parts += [_standing(compared), _losses(compared), _duels(compared)]
        parts.append(_present(everything))
        parts += [_by_size(task, cell) for task, cell in by_size.groupby("task", sort=False)]
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
    text = "\n\n".join(filter(None, parts)) + "\n"
    print(text)
    path.with_suffix(".md").write_text(text, encoding="utf-8")


def most_measured(results: pd.DataFrame) -> pd.DataFrame:
    """Keep the version that a method was run with on most splits of a cell; the last one of equals."""
    cell = ["task", "size", "method"]
    size = results.groupby([*cell, "version"])["fold"].transform("size")
    is_most = size == size.groupby([results[name] for name in cell]).transform("max")
    chosen = results["version"].where(is_most).groupby([results[name] for name in cell]).transform("last")
    return results[results["version"] == chosen].reset_index(drop=True)


def _versions(results: pd.DataFrame) -> str:
    """Say with which version each method was measured, and on how many splits."""
    counts = results.groupby(["method", "version"], observed=True, sort=False).size().sort_index()
    rows = [[str(method), str(version), str(n)] for (method, version), n in counts.items()]
    return VERSIONS + "\n\n" + _table(["method", "version", "fits"], rows)


def _summary(rows: pd.DataFrame, score: str) -> pd.DataFrame:
    summary = rows.groupby("method", observed=True)[score].agg(["mean", "sem", "size"])
    return summary.fillna(0.0)


def _best(summary: pd.DataFrame, lower: bool = False) -> str:
    """Name the best of those that see no labels."""
    means = summary["mean"].drop(index=CEILING, errors="ignore")
    return str(means.idxmin() if lower else means.idxmax())


def _compare(results: pd.DataFrame) -> pd.DataFrame:
    """Compare ours with each rival in each cell and score: both means, our lead, the larger standard error.

    Rivals may have been run on fewer seeds: each is compared on the splits that it shares with ours.
    """
    splits = ["task", "size", "seed", "fold"]
    wide = results.astype({"method": str}).pivot(index=splits, columns="method", values=list(SCORES))
    parts = []
    for rival, score in product(_rivals(results), SCORES):
        both = wide[score].reindex(columns=[OURS, rival]).dropna().groupby(level=["size", "task"])
        part = both.mean().set_axis(["ours", "theirs"], axis="columns")
        lead = part["theirs"] - part["ours"] if score in LOWER_IS_BETTER else part["ours"] - part["theirs"]
        error = both.sem().fillna(0.0).max(axis="columns")
        parts.append(part.assign(lead=lead, error=error, rival=rival, score=score).reset_index())
    return pd.concat(parts) if parts else pd.DataFrame()


def _table(headings: list[str], rows: list[list[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _standing(compared: pd.DataFrame) -> str:
    """Say in how many cells ours is first, or within one standard error of first."""
    by_cell = compared.assign(first=compared["lead"] >= 0.0, near=compared["lead"] >= -compared["error"])
    by_cell = by_cell.groupby(["size", "task", "score"])[["first", "near"]].all().unstack()
    body = []
    for size, cells in by_cell.groupby("size"):
        counts = [cells[kind, score].sum() for score in ("accuracy", "auc") for kind in ("first", "near")]
        body.append([str(size), str(len(cells)), *map(str, counts)])
    near = "first or within one standard error"
    headings = ["groups of", "data sets", "first in accuracy", near, "first in AUC", near]
    return "## Where `disaggregate` stands\n\n" + _table(headings, body)


def _near(compared: pd.DataFrame, score: str) -> str:
    """Count the cells in which ours is first, or within one standard error of first."""
    rows = compared[compared["score"] == score]
    near = (rows["lead"] >= -rows["error"]).groupby([rows["size"], rows["task"]]).all()
    return f"{near.sum()} of {len(near)}"


def _present(everything: pd.DataFrame) -> str:
    """Set the last version of ours beside the one before, on the splits that both were run on."""
    splits = ["task", "size", "seed", "fold"]
    ours = everything[everything["method"] == OURS]
    versions = list(ours["version"].unique())
    if len(versions) < 2:
        return ""
    old, new = (ours[ours["version"] == version] for version in versions[-2:])
    both = new.merge(old[splits])[splits]
    pair = [part.merge(both).sort_values(splits, ignore_index=True) for part in (old, new)]
    rivals = everything[everything["method"] != OURS].merge(both[["task", "size"]].drop_duplicates())
    compared = [_compare(pd.concat([part, rivals])) for part in pair]
    rows = []
    for score, name in SCORES.items():
        change = pair[1][score] - pair[0][score]
        near = [_near(one, score) for one in compared] if score in ("accuracy", "auc") else ["", ""]
        means = [f"{part[score].mean():.4f}" for part in pair]
        rows.append([name, *means, f"{change.mean():+.4f} ± {change.sem():.4f}", *near])
    sizes = ", ".join(map(str, sorted(both["size"].unique())))
    text = (
        f"## The version at {versions[-1]}\n\nOn {len(both)} splits, in groups of {sizes}, beside version "
        f"{versions[-2]} on the same splits: means, the mean change, and in how many cells each is first or "
        "within one standard error of first, judged on these splits."
    )
    columns = [f"{name} {version}" for name in ("mean at", "first or near at") for version in versions[-2:]]
    return text + "\n\n" + _table(["score", *columns[:2], "change", *columns[2:]], rows)


def _losses(compared: pd.DataFrame) -> str:
    """Name those who are ahead by more than a standard error."""
    is_lost = (compared["lead"] < -compared["error"]) & compared["score"].isin(["accuracy", "auc"])
    lost = compared[is_lost].sort_values(["size", "task", "score", "rival"])
    if lost.empty:
        return ""
    rows = [
        [r.task, str(r.size), SCORES[r.score], f"{r.ours:.3f}", r.rival, f"{r.theirs:.3f}", f"{r.error:.3f}"]
        for r in lost.itertuples()
    ]
    headings = ["data", "groups of", "score", "ours", "rival", "its score", "standard error"]
    return "Where a rival is ahead by more than a standard error:\n\n" + _table(headings, rows)


def _duels(compared: pd.DataFrame) -> str:
    """Count the cells in which ours is better than each rival, score by score."""
    rows = []
    for rival, cells in compared.groupby("rival", sort=False):
        leads = [cells.loc[cells["score"] == score, "lead"] for score in SCORES]
        rows.append([rival, str(len(leads[0])), *(str((lead > 0.0).sum()) for lead in leads)])
    text = (
        "In how many cells, which are data sets with groups of one size, `disaggregate` is better than each rival:"
    )
    return text + "\n\n" + _table(["rival", "cells", *SCORES.values()], rows)


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
