"""Text for a terminal: names in tables are data, and what a terminal would obey is shown and not sent."""

from __future__ import annotations

import argparse
import difflib
import os
import shutil
import sys
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, NoReturn

# Control characters, signs that turn the direction of text, halves of characters, and separators of lines.
_OBEYED = ("Cc", "Cf", "Cs", "Zl", "Zp")
# Joiners are part of words in some scripts, and of some pictures; no terminal obeys them.
_HARMLESS = ("\u200c", "\u200d")

_MISSING = "the following arguments are required: "


def visible(text: str, keep: str = "") -> str:
    r"""Write characters that a terminal would obey as \\x1b or \\u202e.

    Parameters
    ----------
    text : str
        Anything.
    keep : str, default=""
        Characters to leave as they are, such as line ends of our own messages.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(one if one in keep or not _is_control(one) else _escaped(one) for one in text)


def visible_json(text: str) -> str:
    r"""Write such characters of a JSON text as \\u009b, which means the same; its line ends stay."""
    return "".join(f"\\u{ord(one):04x}" if one != "\n" and _is_control(one) else one for one in text)


def say(text: Any, *, error: bool = False) -> None:
    """Print a message.

    Parameters
    ----------
    text : str, or anything that has one
        May have several lines; a terminal gets them broken between words.
    error : bool, default=False
        Whether it goes to standard error.
    """
    stream, shown = sys.stderr if error else sys.stdout, visible(str(text), keep="\n")
    if getattr(stream, "isatty", bool)():
        width = shutil.get_terminal_size().columns
        shown = "\n".join(wrapped(line, width) for line in shown.split("\n"))
    print(shown, file=stream)


def wrapped(line: str, width: int) -> str:
    """Break a line between words; what has no blanks, such as a path or a command to copy, stays whole.

    Parameters
    ----------
    line : str
        May begin with blanks, which it keeps.
    width : int
        Columns of the terminal.
    """
    from rich.cells import cell_len

    if cell_len(line) <= width:
        return line
    indent = line[: len(line) - len(line.lstrip(" "))]
    lines = [indent]
    for word in line.split():
        gap = " " if lines[-1].strip() else ""
        if gap and cell_len(lines[-1] + gap + word) > width:
            lines.append(indent + word)
        else:
            lines[-1] += gap + word
    return "\n".join(lines)


@contextmanager
def warnings_in_a_line() -> Iterator[None]:
    """Print warnings as messages for users: where in the code they were raised does not help them."""

    def show(message: Warning | str, *given: Any, **named: Any) -> None:
        say(f"warning: {message}", error=True)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def replace_unprintable() -> None:
    """Let characters that the terminal's encoding lacks be written as numbers, rather than end the command."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def takes_all_characters() -> bool:
    """Return whether standard output can hold any text."""
    return (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "").startswith("utf")


def close_quietly() -> None:
    """Give up standard output, whose reader has gone, so that nothing is tried again at the end of the process."""
    with suppress(OSError, ValueError, AttributeError):  # where it is no file, nothing is tried again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class StoreOnce(argparse._StoreAction):
    """Stores the value of an option, and refuses a second one, which would take its place unnoticed."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Store a value."""
        given = namespace.__dict__.setdefault("given_options", set())
        if option_string is not None and self.dest in given:
            raise argparse.ArgumentError(self, f"given twice, the second time as {values!r}; give it once")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """A parser whose options are given once, and whose messages show control characters and what was meant."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.register("action", None, StoreOnce)
        self.register("action", "store", StoreOnce)
        self._words: list[str] = []

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Remember what was written, for messages; what is left over is a mistake of this command."""
        self._words = [str(word) for word in (sys.argv[1:] if args is None else args)]
        found, left = super().parse_known_args(args, namespace)
        if left:
            self.error(f"unrecognized arguments: {' '.join(left)}")
        return found, left

    def error(self, message: str) -> NoReturn:
        """End with what is wrong, and what the options are that are missing, without listing all others."""
        missing = message.removeprefix(_MISSING).split(", ") if message.startswith(_MISSING) else []
        described = [
            f"  {name}{f' {action.metavar}' if action.option_strings else ''}: {action.help}"
            for action in self._actions
            if (name := argparse._get_action_name(action)) in missing
        ]
        lines = [
            f"{self.prog}: error: {message}",
            *described,
            *self._meant(),
            f"See {self.prog} --help for all options.",
        ]
        self.exit(2, "\n".join(lines) + "\n")

    def _meant(self) -> list[str]:
        """Guess which command or options were misspelt."""
        commands = [name for action in self._actions if self._is_command(action) for name in action.choices or ()]
        known = commands or list(self._option_string_actions)
        written = self._words[:1] if commands else [word.partition("=")[0] for word in self._words]
        unknown = [
            word
            for word in written
            if (commands or word.startswith("--")) and not any(name.startswith(word) for name in known)
        ]
        guesses = [(word, difflib.get_close_matches(word, known, n=1)) for word in unknown]
        return [f"  {word}: did you mean {meant[0]}?" for word, meant in guesses if meant]

    @staticmethod
    def _is_command(action: argparse.Action) -> bool:
        return isinstance(action, argparse._SubParsersAction)

    def _print_message(self, message: str, file: IO[str] | None = None) -> None:  # type: ignore[override]
        super()._print_message(visible(message, keep="\n") if message else message, file)


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in _OBEYED and character not in _HARMLESS


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")
