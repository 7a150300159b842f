"""Rivals that need an environment of their own, because what they pin cannot be shared."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.rivals.missing import RivalMissing


@dataclass(frozen=True)
class OwnEnvironment:
    """Where such an environment is, and how it is made.

    Attributes
    ----------
    rival : str
        Name of the package, for messages.
    module : str
        Adapter that makes it, run as ``python -m MODULE FOLDER``.
    variable : str
        Environment variable that names its folder.
    packages : tuple of str
        What is installed there.
    newest_python : tuple of int, optional
        Newest version of Python that the packages know.
    """

    rival: str
    module: str
    variable: str
    packages: tuple[str, ...]
    newest_python: tuple[int, int] | None = None

    def make(self, path: Path, python: str = sys.executable) -> None:
        """Create the environment at ``path`` and install the packages there."""
        version = subprocess.check_output([python, "-c", "import sys; print(*sys.version_info[:2])"], text=True)
        if self.newest_python and tuple(map(int, version.split())) > self.newest_python:
            newest, found = ".".join(map(str, self.newest_python)), version.strip().replace(" ", ".")
            raise RivalMissing(f"{self.rival}'s pins need Python {newest} or older; got {found}")
        subprocess.run([python, "-m", "venv", str(path)], check=True)
        subprocess.run([python_of(path), "-m", "pip", "install", "--quiet", *self.packages], check=True)

    def find(self) -> Path:
        """Find the environment that was made, or raise RivalMissing with the way to make it."""
        path = os.environ.get(self.variable)
        if path and Path(python_of(Path(path))).exists():
            return Path(path)
        raise RivalMissing(
            f"{self.rival} needs an environment of its own, and {self.variable} names none: make it by "
            f"`python -m {self.module} FOLDER`, then set the variable to FOLDER"
        )

    def make_by_command(self, description: str | None) -> None:
        """Make it where the command line says."""
        parser = argparse.ArgumentParser(
            description=description, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        parser.add_argument("folder", type=Path)
        parser.add_argument("--python", default=sys.executable, help="the interpreter to make it with")
        arguments = parser.parse_args()
        self.make(arguments.folder.absolute(), arguments.python)


def python_of(environment: Path) -> str:
    """Return the interpreter of an environment."""
    return str(environment / "bin" / "python")
