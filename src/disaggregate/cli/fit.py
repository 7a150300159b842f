"""`disaggregate fit`: from two tables to a model in a file."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

from disaggregate.cli.arguments import number_or_auto, output_path, whole_number
from disaggregate.cli.check import MARKS
from disaggregate.cli.command import new_command
from disaggregate.cli.errors import CommandError, errors_for_user
from disaggregate.cli.output import add_json_argument, print_json
from disaggregate.cli.table_arguments import add_table_arguments, confidence_number, reading_of, role_arguments
from disaggregate.cli.terminal import say
from disaggregate.cli.wording import as_options

DESCRIPTION = """\
Learn who is positive from a table of people and a table of group results, and write the model to a file.
"""
EXAMPLES = """\
examples:
  disaggregate fit people.csv results.csv --group district --share share -o model.dgz
  disaggregate fit people.parquet results.csv --group store --positives sold --total visitors -o model.dgz
  disaggregate fit people.csv results.csv --group district --share share -o model.dgz \\
      --checkpoint run.dgc --resume
  disaggregate fit parts.csv batches.csv --group batch --share defective --random-groups -o model.dgz
  disaggregate fit survey.csv official.csv --group cd --share pct --size votes --sampled \\
      --features age,sex,educ --weights w -o model.dgz
  disaggregate fit census.csv votes.csv --group district --positives yes --total valid --count n -o model.dgz
  disaggregate fit people.csv votes.csv --group district --shares purple,green --rest "did not vote" -o model.dgz
"""

_CHOICES: dict[str, bool | str] = {"auto": "auto", "yes": True, "no": False}


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command to the parser."""
    parser = new_command(
        subparsers, "fit", "learn from a table of people and a table of results", DESCRIPTION, EXAMPLES
    )
    add_table_arguments(parser, or_folder=True)
    model = parser.add_argument_group("model and sampler")
    add = model.add_argument
    add(
        "--kernel",
        default="auto",
        metavar="NAME",
        help='linear, rbf, …, or "average" for several (default: linear for samples and cells, else average)',
    )
    add_about_groups = model.add_mutually_exclusive_group().add_argument
    add_about_groups(
        "--context",
        choices=tuple(_CHOICES),
        default="auto",
        help="whether group averages of features may affect members (default: auto, as far as results need it)",
    )
    add_about_groups(
        "--random-groups",
        action="store_true",
        help="people were assigned to groups at random, unlike districts: learn more from each report",
    )
    add(
        "--group-effects",
        choices=tuple(_CHOICES),
        help="whether groups may differ in ways that no feature measures (default: auto, where the people are a "
        "sample of their group or rows are cells)",
    )
    add(
        "--centers",
        type=whole_number(1),
        metavar="N",
        help="kernels at N landmarks (default: at all people up to 2,000, otherwise at 1,000 landmarks)",
    )
    add(
        "--landmarks",
        type=whole_number(1),
        metavar="N",
        help="kernels at N averages of 5 or more people; the file then holds no individuals and can be shared",
    )
    add(
        "--draws",
        type=number_or_auto(1),
        default="auto",
        metavar="N",
        help="draws to keep per chain (default: auto, 250 to 4,000, until chains agree and draws suffice)",
    )
    add(
        "--burn",
        type=number_or_auto(0),
        default="auto",
        metavar="N",
        help="sweeps to discard first (default: auto, 250, or 1,000 with a number of draws)",
    )
    add("--chains", type=whole_number(1), default=4, metavar="N", help="number of chains (default: 4)")
    add("--seed", type=whole_number(0), default=0, metavar="N", help="random seed (default: 0)")
    add("--checkpoint", type=output_path, metavar="FILE", help="keep the state of the chains in FILE")
    add(
        "--resume",
        action="store_true",
        help="resume from the checkpoint; the draws are those of an uninterrupted fit",
    )
    add("--draws-to", metavar="FOLDER", help="keep draws in an empty FOLDER while fitting, to save memory")
    parser.add_argument(
        "-o", "--output", type=output_path, required=True, metavar="MODEL", help="file to write, usually *.dgz"
    )
    add_json_argument(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Fit and save."""
    from disaggregate.parallel.interrupts import deferred_interrupts

    with deferred_interrupts() as interrupts:
        analysis = _fit_and_save(arguments)
        _print_fit(analysis, arguments)
    if interrupts.came or analysis.classifier.stopped_early_:
        raise KeyboardInterrupt  # the draws are saved, and the exit code reports the interrupt


def _fit_and_save(arguments: argparse.Namespace) -> Any:
    from sklearn.exceptions import ConvergenceWarning

    from disaggregate.analysis import fit_tables
    from disaggregate.tables.formats import is_table

    if is_table(arguments.output):  # other commands would take it for a table
        raise CommandError(
            f"--output '{arguments.output}' is the name of a table; a model is usually called *.dgz"
        )
    with errors_for_user(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the verdict says the same
        analysis = fit_tables(
            arguments.people,
            arguments.results,
            sampled=arguments.sampled,
            settings=_settings(arguments),
            noise_kind=arguments.noise_kind,
            how={
                "checkpoint": arguments.checkpoint,
                "resume": arguments.resume,
                "draws_to": arguments.draws_to,
            },
            landmarks=arguments.landmarks,
            outcome=arguments.outcome,
            reading=reading_of(arguments),
            on_problems=partial(_print_problems, arguments),
            output=arguments.output,
            **{"confidence": confidence_number(arguments), **role_arguments(arguments)},
        )
        analysis.save(arguments.output, anonymise=arguments.landmarks is not None)
    return analysis


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    from disaggregate.settings import groups_at_random

    return {
        "kernel": arguments.kernel,
        **(groups_at_random() if arguments.random_groups else {"context": _CHOICES[arguments.context]}),
        **_group_effects(arguments),
        **({} if arguments.centers is None else {"centers": arguments.centers}),
        "n_draws": arguments.draws,
        "n_burn": arguments.burn,
        "n_chains": arguments.chains,
        "random_state": arguments.seed,
        "progress": not arguments.json,
    }


def _group_effects(arguments: argparse.Namespace) -> dict[str, bool | str]:
    """Group effects as the user wants them; those of the classifier by default."""
    return {} if arguments.group_effects is None else {"group_effects": _CHOICES[arguments.group_effects]}


def _print_problems(arguments: argparse.Namespace, problems: Sequence[Any]) -> None:
    """Say what was found in the tables before anything is drawn; beside JSON on standard error."""
    for problem in problems:
        if not arguments.json or problem.level != "advice":
            say(f"{MARKS[problem.level]} {as_options(str(problem))}", error=arguments.json)


def _print_fit(analysis: Any, arguments: argparse.Namespace) -> None:
    diagnostics = analysis.classifier.diagnostics_
    verdict = as_options(diagnostics.verdict)
    notes = [_privacy_note(analysis, arguments), *analysis.encoder.notes]
    if arguments.json:
        print_json(
            {
                "model": str(arguments.output),
                "converged": bool(diagnostics.converged),
                "verdict": verdict,
                "worst_rhat": float(diagnostics.worst_rhat),
                "contraction": float(diagnostics.contraction),
                "rests_on": diagnostics.rests_on,
                "features": analysis.encoder.feature_names_,
                "notes": [*map(str, analysis.problems), *notes],
            }
        )
        return
    for line in (*notes, f"Verdict: {verdict}", f"Model: {arguments.output}"):
        say(line)


def _privacy_note(analysis: Any, arguments: argparse.Namespace) -> str:
    if arguments.landmarks is not None:
        return f"privacy: {arguments.output} holds no person's features."
    n_rows = len(analysis.classifier.posterior_.parts[0].basis.centers)
    whose = f"{n_rows} people" if analysis.roles.count is None else f"{n_rows} rows"
    return (
        f"privacy: {arguments.output} holds the features of {whose}, and each person's probability given "
        "their group's result: protect it like the table of people, or fit with --landmarks 200 to share it."
    )
