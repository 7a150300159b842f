"""`disaggregate reproduce`: the paper's experiments, with its numbers beside ours."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from disaggregate.cli.arguments import whole_number
from disaggregate.cli.command import new_command
from disaggregate.cli.errors import CommandError
from disaggregate.cli.output import print_table

if TYPE_CHECKING:
    from disaggregate.experiments import Outcome, Scope

DESCRIPTION = """\
Run the experiments of Kück & de Freitas (UAI 2005). Each writes its figure (PNG and SVG), its measurements
(CSV) and a summary with the paper's values beside ours (Markdown) into a folder.

  figure2     three groups, one reported share each: surface, active kernels, time (under a minute)
  figure3     a hidden cluster: fractions against multiple-instance evidence (about ten minutes)
  figure4     words and image regions, the same comparison (an hour or more; give --data, or scenes are simulated)
  supervised  the system of 2002 beside scikit-learn's SVC and Gaussian process (a few minutes)
"""
EXAMPLES = """\
examples:
  disaggregate reproduce figure2
  disaggregate reproduce figure3 -o results --repeats 50
  disaggregate reproduce figure4 --data shared/data
  disaggregate reproduce all --quick
"""
REPEATS = {"figure2": 1, "figure3": 20, "figure4": 10, "supervised": 1}
QUICK = {"n_repeats": 2, "n_draws": 100, "n_burn": 100}


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command to the parser."""
    parser = new_command(
        subparsers, "reproduce", "the paper's experiments, with its numbers beside ours", DESCRIPTION, EXAMPLES
    )
    add = parser.add_argument
    add("experiment", choices=[*REPEATS, "all"], help="which one")
    add(
        "-o",
        "--output",
        type=Path,
        default=Path("reproduced"),
        metavar="FOLDER",
        help="where to write (default: reproduced)",
    )
    add("--data", type=Path, metavar="FOLDER", help="folder that holds robomedia/, for figure4")
    add(
        "--repeats",
        type=whole_number(1),
        metavar="N",
        help="data sets of figure3 (default: 20), runs of figure4 (default: 10)",
    )
    add("--draws", type=whole_number(1), default=1000, metavar="N", help="draws to keep per chain (default: 1000)")
    add("--burn", type=whole_number(0), default=1000, metavar="N", help="sweeps to discard first (default: 1000)")
    add("--seed", type=whole_number(0), default=0, metavar="N", help="seed of data and samplers (default: 0)")
    add("--quick", action="store_true", help="two repeats of 100 draws: to see that it runs, not for its results")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run one experiment or all, and say where the results are."""
    from rich.console import Console

    from disaggregate.experiments import write_outcome

    if arguments.data is not None and not arguments.data.is_dir():
        raise CommandError(f"--data must be a folder; {str(arguments.data)!r} is not one")
    if arguments.output.exists() and not arguments.output.is_dir():
        raise CommandError(f"--output must be a folder; {str(arguments.output)!r} is a file")
    console = Console()
    names = list(REPEATS) if arguments.experiment == "all" else [arguments.experiment]
    for name in names:
        outcome = run_one(name, _scope(name, arguments))
        try:
            paths = write_outcome(outcome, arguments.output)
        except OSError as error:
            raise CommandError(f"could not write to {arguments.output}: {error}") from error
        print_table(outcome.table, outcome.title, as_json=False)
        console.print("Written: " + ", ".join(map(str, paths)), markup=False, soft_wrap=True)


def _scope(name: str, arguments: argparse.Namespace) -> Scope:
    from disaggregate.experiments import Scope

    length = {
        "n_repeats": arguments.repeats or REPEATS[name],
        "n_draws": arguments.draws,
        "n_burn": arguments.burn,
    }
    return Scope(**(QUICK if arguments.quick else length), seed=arguments.seed, data=arguments.data)


def run_one(name: str, scope: Scope) -> Outcome:
    """Run one experiment."""
    from importlib import import_module

    try:
        return import_module(f"disaggregate.experiments.{name}").run(scope)
    except ImportError as error:
        raise CommandError(f"{error}") from error
