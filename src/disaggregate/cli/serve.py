"""`disaggregate serve`: a page on one's own machine, from two tables to an answer."""

from __future__ import annotations

import argparse

from disaggregate.cli.arguments import whole_number
from disaggregate.cli.command import new_command
from disaggregate.cli.errors import errors_for_user
from disaggregate.cli.terminal import say

DESCRIPTION = """\
Open a page in the browser that leads from two tables to an answer. It runs on this machine only and connects to no
other. Files that are given to it are kept in a private folder until it stops.
"""
EXAMPLES = """\
examples:
  disaggregate serve
  disaggregate serve --port 8765 --no-browser
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command to the parser."""
    parser = new_command(
        subparsers, "serve", "a page in the browser, from two tables to an answer", DESCRIPTION, EXAMPLES
    )
    parser.add_argument(
        "--port",
        type=whole_number(0, 65_535),
        default=0,
        metavar="N",
        help="port to listen on (default: any that is free)",
    )
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Serve until Ctrl-C."""
    with errors_for_user():
        from disaggregate.web.server import serve

        try:
            serve(arguments.port, browser=not arguments.no_browser, say=say)
        except KeyboardInterrupt:  # Ctrl-C stops the server
            say("The page was stopped. Its files are removed.")
