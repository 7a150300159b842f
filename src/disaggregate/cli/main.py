"""The command `disaggregate`: reads the arguments and hands over to one sub-command."""

from __future__ import annotations

import argparse
import sys
from importlib.metadata import version

from disaggregate.cli import check, demo, effects, fit, predict, report, reproduce, sensitivity, serve, subgroups
from disaggregate.cli.errors import CommandError, in_words
from disaggregate.cli.help_text import HelpText
from disaggregate.cli.paths import require_separate_paths
from disaggregate.cli.terminal import Parser, close_quietly, replace_unprintable, say, warnings_in_a_line

COMMANDS = (check, fit, predict, subgroups, effects, sensitivity, report, serve, demo, reproduce)
USER_MISTAKE = 2
INTERRUPTED = 130
READER_GONE = 141

EXAMPLES = """\
examples:
  disaggregate demo
  disaggregate check people.csv results.csv --group district --share share
  disaggregate fit people.csv results.csv --group district --share share -o model.dgz
  disaggregate predict model.dgz people.csv -o predicted.csv
  disaggregate subgroups model.dgz people.csv --by age,sex
"""


def main(argv: list[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : list of str, optional
        Arguments; those of the process by default.

    Returns
    -------
    int
        Exit code: 0 when all went well, 2 for a mistake that the user can correct.
    """
    replace_unprintable()
    parser = build_parser()
    if not (sys.argv[1:] if argv is None else argv):
        parser.print_help(sys.stderr)
        say("\ndisaggregate: error: expected one of these commands", error=True)
        return USER_MISTAKE
    try:
        arguments = parser.parse_args(argv)
    except SystemExit as stop:  # argparse has printed its help or its complaint already
        return int(stop.code or 0)
    try:
        with warnings_in_a_line():
            code = _ended(arguments)
        sys.stdout.flush()  # a full disk is reported here, and not by the end of the process
    except BrokenPipeError:  # the reader of the output has ended, as `head` does
        close_quietly()
        return READER_GONE
    except OSError as error:
        say(
            f"disaggregate {arguments.command}: error: the output cannot be written: {in_words(error)}", error=True
        )
        close_quietly()
        return USER_MISTAKE
    return code


def _ended(arguments: argparse.Namespace) -> int:
    """Run a command, and return its exit code."""
    try:
        require_separate_paths(arguments)
        arguments.run(arguments)
    except CommandError as error:
        say(f"disaggregate {arguments.command}: error: {error}", error=True)
        return USER_MISTAKE
    except KeyboardInterrupt:
        say(f"disaggregate {arguments.command}: stopped before it was done", error=True)
        return INTERRUPTED
    return 0


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all sub-commands."""
    parser = Parser(
        prog="disaggregate",
        description="Learn about individuals from group statistics.",
        epilog=EXAMPLES,
        formatter_class=HelpText,
    )
    parser.add_argument("--version", action="version", version=f"disaggregate {version('disaggregate')}")
    subparsers = parser.add_subparsers(dest="command", metavar="command", required=True)
    for command in COMMANDS:
        command.register(subparsers)
    return parser


if __name__ == "__main__":
    sys.exit(main())
