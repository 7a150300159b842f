"""Inputs and results of an experiment, and how the results are written to files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


@dataclass(frozen=True)
class Scope:
    """How much to run.

    Attributes
    ----------
    n_repeats : int
        Data sets, or runs, over which an experiment is repeated.
    n_draws, n_burn : int
        Draws to keep and to drop in each chain.
    seed : int
        Seed of data and samplers.
    data : Path or None
        Folder of real data, for the experiments that can use some.
    progress : bool
        Whether to show progress.
    """

    n_repeats: int
    n_draws: int = 1000
    n_burn: int = 1000
    seed: int = 0
    data: Path | None = None
    progress: bool = True


@dataclass(frozen=True)
class Outcome:
    """The results of a fit.

    Attributes
    ----------
    name : str
        Name of the files.
    title : str
        Heading of the table.
    text : str
        What was done and what to see, in Markdown.
    table : DataFrame
        The numbers in short, with the paper's beside ours.
    raw : DataFrame
        Every single measurement.
    figure : Figure
        The picture.
    """

    name: str
    title: str
    text: str
    table: DataFrame
    raw: DataFrame
    figure: Figure


def write_outcome(outcome: Outcome, folder: Path) -> list[Path]:
    """Write figure (PNG, SVG), numbers (CSV) and summary (Markdown); return their paths.

    Parameters
    ----------
    outcome : Outcome
        What to write.
    folder : Path
        Where to; it is made when it is missing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    picture, drawing, numbers, summary = (
        folder / f"{outcome.name}{end}" for end in (".png", ".svg", ".csv", ".md")
    )
    outcome.figure.savefig(picture, dpi=150)
    outcome.figure.savefig(drawing, metadata={"Date": None})
    outcome.raw.to_csv(numbers, index=False, float_format="%.6g")
    summary.write_text(_markdown(outcome), encoding="utf-8")
    return [picture, drawing, numbers, summary]


def _markdown(outcome: Outcome) -> str:
    table = outcome.table.astype(str)
    rows = [list(table.columns), ["---"] * table.shape[1], *table.to_numpy().tolist()]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(
        [f"# {outcome.title}", "", outcome.text, "", *lines, "", f"![{outcome.title}]({outcome.name}.png)", ""]
    )
