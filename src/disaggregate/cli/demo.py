"""`disaggregate demo`: the paper's first experiment, as a table here and a figure in a file."""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disaggregate.cli.arguments import figure_path, whole_number
from disaggregate.cli.command import new_command
from disaggregate.cli.errors import CommandError
from disaggregate.cli.wording import as_options

if TYPE_CHECKING:
    from rich.table import Table
    from sklearn.utils import Bunch

DESCRIPTION = """\
Three districts of 19, 16 and 20 people reported that 73 %, 25 % and 85 % of them are positive. No labels of
individuals are known. Fit the model to these three numbers, draw what it learned about individuals, and compare it
with the labels that the fit did not see (Kück & de Freitas, UAI 2005, first experiment).
"""
EXAMPLES = """\
examples:
  disaggregate demo
  disaggregate demo --output figure.pdf --seed 3
  disaggregate demo --published --draws 10000
"""
PAPER_ACTIVE_KERNELS = "15"
PAPER_TIME = "6 s, 2.6 GHz Pentium 4"


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command to the parser."""
    parser = new_command(
        subparsers,
        "demo",
        "the paper's first experiment: a table here, a figure in demo.png",
        DESCRIPTION,
        EXAMPLES,
    )
    add = parser.add_argument
    add(
        "--output",
        type=figure_path,
        default="demo.png",
        metavar="FILE",
        help="figure to write (default: demo.png)",
    )
    add("--seed", type=whole_number(0), default=0, metavar="N", help="seed of data and sampler (default: 0)")
    add(
        "--draws",
        type=whole_number(1),
        default=4000,
        metavar="N",
        help="draws to keep per chain (default: 4000)",
    )
    add("--burn", type=whole_number(0), default=2000, metavar="N", help="sweeps to discard first (default: 2000)")
    add(
        "--published",
        action="store_true",
        help="use the sampler and the priors of 2005 as they were published",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Fit the three districts, print the results and write the figure."""
    from rich.console import Console
    from sklearn.exceptions import ConvergenceWarning

    from disaggregate import datasets
    from disaggregate.sampler.prepare import prepare

    console = Console()
    data = datasets.make_districts(random_state=arguments.seed)
    model = _unfitted_model(arguments)
    prepare("published" if arguments.published else "sparse")  # or the first run would time the compiler
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the verdict below says the same
        model.fit(data.X, data.shares, groups=data.groups)
    seconds = time.perf_counter() - started

    console.print(_group_table(model))
    console.print(_comparison_table(model, data, seconds))
    console.print(f"Verdict: {as_options(model.diagnostics_.verdict)}", markup=False)
    try:
        write_figure(model, data, arguments.output)
    except ImportError as error:
        console.print(f"No figure was written. {error}", markup=False)
    else:
        console.print(f"Figure: {arguments.output}", markup=False, soft_wrap=True)


def _unfitted_model(arguments: argparse.Namespace) -> Any:
    from disaggregate import GroupStatsClassifier, published_settings

    settings = (
        published_settings() if arguments.published else {"prior": "spike_slab", "kernel": "rbf", "gamma": "scale"}
    )
    settings |= {
        "n_draws": arguments.draws,
        "n_burn": arguments.burn,
        "random_state": arguments.seed,
        "progress": True,
    }
    return GroupStatsClassifier(**settings)


def _group_table(model: Any) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table(title="Reported and implied share of each group")
    for heading in ("group", "people", "reported", "implied", "90 % credible interval"):
        table.add_column(heading, justify="left" if heading == "group" else "right")
    for row in model.group_table().to_dict("records"):
        interval = f"{row['conf_low']:.2f} to {row['conf_high']:.2f}"
        table.add_row(
            escape(str(row["group"])), str(row["n"]), f"{row['reported']:.2f}", f"{row['implied']:.2f}", interval
        )
    return table


def _comparison_table(model: Any, data: Bunch, seconds: float) -> Table:
    from rich.table import Table
    from sklearn.metrics import roc_auc_score

    active = model.posterior_.n_active
    n_chains = active.shape[0]
    auc = roc_auc_score(data.y, model.predict_proba(data.X)[:, 1])
    chains = "1 chain" if n_chains == 1 else f"{n_chains} chains"
    table = Table(title="Beside the paper")
    for heading in ("", "here", "paper"):
        table.add_column(heading)
    table.add_row("active kernels, on average", f"{active.mean():.1f}", PAPER_ACTIVE_KERNELS)
    table.add_row("AUC against the hidden labels", f"{auc:.3f}", "")
    table.add_row("time of the fit", f"{seconds:.1f} s, {chains}", PAPER_TIME)
    return table


def write_figure(model: Any, data: Bunch, path: Path) -> None:
    """Write two panels after the paper's Figure 2: what was known, and what was learned from it."""
    from disaggregate.plots import group_scatter, probability_surface
    from disaggregate.plots.canvas import new_figure

    figure = new_figure(12.0, 4.8)
    known, learned = figure.subplots(1, 2, sharex=True, sharey=True)
    group_scatter(data.X, data.groups, data.shares, ax=known)
    known.set_title("Known: who is in which group,\nand what each group reported")
    probability_surface(model, data.X, data.y, ax=learned)
    learned.set_title("Learned: each individual's probability\n(labels were hidden from the fit)")
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise CommandError(f"could not write {path}: {error}") from error
