"""Reads the fenced blocks of a page and runs them as its reader would: in order, in one folder."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from disaggregate.cli.main import main

# What is run, and what is only read: other blocks would escape the test unseen.
PYTHON, SHELL = {"python", "{code-cell}"}, {"", "console"}
READ = {"text", "python3", "r", "{toctree}", "{include}", "{eval-rst}"}  # python3 and r: other packages' code
_FENCE = re.compile(r"^```(?P<kind>[^\n`]*)\n(?P<code>.*?)^```\s*$", re.DOTALL | re.MULTILINE)


class PageError(AssertionError):
    """A page says something that does not work."""


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line of the page that it begins after."""

    kind: str
    code: str
    line: int


def blocks_of(text: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    for found in _FENCE.finditer(text):
        kind = found["kind"].split(maxsplit=1)[0] if found["kind"].strip() else ""
        yield Block(kind, found["code"], text.count("\n", 0, found.start("code")))


def commands_of(block: Block) -> Iterator[list[str]]:
    """Yield the arguments of each `disaggregate` command of a block."""
    for line in block.code.replace("\\\n", " ").splitlines():
        words = shlex.split(line.strip().removeprefix("$ "), comments=True)
        if words[:1] == ["disaggregate"]:
            yield words[1:]


def run_page(path: Path) -> int:
    """Run every block of a page, all Python in one namespace; return how many pieces were run."""
    namespace: dict = {"__name__": "__page__"}
    n_run = 0
    for block in blocks_of(path.read_text(encoding="utf-8")):
        where = f"{path.name}, line {block.line + 1}"
        if block.kind in PYTHON:
            _run_python(block, path, namespace, where)
            n_run += 1
        elif block.kind in SHELL:
            n_run += sum(_run_command(words, where) for words in commands_of(block))
        elif block.kind not in READ:
            raise PageError(f"{where}: a block of {block.kind!r} is neither run nor known as text")
    return n_run


def is_notebook(path: Path) -> bool:
    """Return whether all code of a page is in cells, which the documentation runs when it is built."""
    blocks = blocks_of(path.read_text(encoding="utf-8"))
    kinds = {block.kind for block in blocks if block.kind in PYTHON or any(commands_of(block))}
    return kinds == {"{code-cell}"}


def python_of(block: Block) -> str:
    """Return what a block runs as Python: without options of the cell, its ``!`` commands called as functions."""
    code = block.code.replace("\\\n", " ") if "!" in block.code else block.code
    lines = ["" if line.startswith(":tags:") else line for line in code.splitlines()]
    return "\n".join(f"command({line[1:]!r})" if line.startswith("!") else line for line in lines)


def _run_python(block: Block, path: Path, namespace: dict, where: str) -> None:
    def command(line: str) -> None:
        for words in commands_of(Block("", line, block.line)):
            _run_command(words, where)

    namespace["command"] = command
    try:
        exec(compile("\n" * block.line + python_of(block), str(path), "exec"), namespace)
    except PageError:
        raise
    except Exception as error:
        raise PageError(f"{where}: {type(error).__name__}: {error}") from error


def _run_command(words: list[str], where: str) -> bool:
    if code := main(words):
        raise PageError(f"{where}: `disaggregate {shlex.join(words)}` ended with {code}")
    return True
