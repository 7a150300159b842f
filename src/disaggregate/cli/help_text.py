"""Help of the commands, wrapped to the terminal: paragraphs, lists, and examples that can be copied."""

from __future__ import annotations

import argparse
import re
import textwrap
from itertools import groupby

_TERM = re.compile(r"^ +\S+ {2,}(?=\S)")  # of a list: a term, and what it means in the next column
_EXAMPLE = "  disaggregate "


class HelpText(argparse.HelpFormatter):
    """Wraps paragraphs and lists; breaks the commands of examples before options."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = re.sub(r" *\\\n +", " ", text).splitlines()  # commands that were broken are one line again
        pieces: list[str] = []
        for is_paragraph, block in groupby(lines, key=lambda line: bool(line) and not line.startswith(" ")):
            block_lines = list(block)
            if is_paragraph:
                pieces.append(textwrap.fill(" ".join(block_lines), width))
            else:
                pieces += [_wrapped(line, width) for line in block_lines]
        return textwrap.indent("\n".join(pieces), indent)


def _wrapped(line: str, width: int) -> str:
    if line.startswith(_EXAMPLE):
        return _broken_before_options(line, width - len(" \\"))
    term = _TERM.match(line)
    column = len(term.group()) if term else len(line) - len(line.lstrip())
    return textwrap.fill(line, width, subsequent_indent=" " * column) if line.strip() else line


def _broken_before_options(command: str, width: int) -> str:
    first, *options = re.split(r" (?=-)", command)
    lines = [first]
    for option in options:
        if len(f"{lines[-1]} {option}") > width:
            lines.append(f"      {option}")
        else:
            lines[-1] += f" {option}"
    return " \\\n".join(lines)
