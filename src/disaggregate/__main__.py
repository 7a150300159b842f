"""The command as a process: ``disaggregate``, or ``python -m disaggregate``."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line of this process; an interrupt while Python still imports it is no traceback.

    Returns
    -------
    int
        Exit code, as :func:`disaggregate.cli.main.main` returns it.
    """
    try:
        from disaggregate.cli.main import main as command

        return command()
    except KeyboardInterrupt:
        print("disaggregate: stopped before it had begun", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
