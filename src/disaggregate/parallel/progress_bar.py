"""The progress bar of everything that takes long."""

from __future__ import annotations

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


def progress_bar(unit: str, show: bool) -> Progress:
    """Make a bar on standard error that tells what is done, how many of how many, and how long it will take.

    Parameters
    ----------
    unit : str
        What is counted, such as "sweeps".
    show : bool
        Whether to draw anything.
    """
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not show,
    )
