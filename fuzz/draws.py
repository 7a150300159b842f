"""Breaks the readers of draws in folders: ``python -m fuzz.draws --runs 100000``.

An input says how the files of a folder are changed: cut, lengthened, overwritten, removed or exchanged. Either the
files are those of a fit that was stopped (``*.raw``), which is then resumed, with a checkpoint whose sizes and
checksums agree with the changed files or do not; or they are those under a living model (``*.npy``), which must
predict what it did, or refuse. A file that is cut while it is mapped into memory ends the process, unless somebody
looks.
"""

from __future__ import annotations

import copy
import os
import tempfile
import warnings
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from fuzz.choices import Choices
from fuzz.resuming import KINDS, StoppedFit, make_fit, stopped_after, write_tree
from fuzz.running import Target, in_memory, main

Files = dict[str, bytes]

_WHOLE_EVERY = 64


def make_target() -> Target:
    """Return what takes bytes, spoils a folder of draws by them, and reads it."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-draws-", dir=in_memory()))
    stopped = [_Stopped(kind, folder / f"stopped{number}") for number, kind in enumerate(KINDS)]
    living = [_Living(kind, folder / f"living{number}") for number, kind in enumerate(KINDS)]

    def target(data: bytes) -> Callable[[], str]:
        choices = Choices(data)
        return choices.one_of([*stopped, *living]).spoiled(choices)

    return target


class _Stopped:
    """A fit that was stopped half-way, with its draws in a folder."""

    def __init__(self, kind: dict[str, Any], folder: Path) -> None:
        self.fit = StoppedFit(kind, folder, in_folder=True)
        self.draws = folder / "draws"
        self.files = {path.name: path.read_bytes() for path in self.draws.iterdir() if path.suffix != ".npy"}

    def spoiled(self, choices: Choices) -> Callable[[], str]:
        for path in self.draws.iterdir():
            path.unlink()
        files = _changed(self.files, choices)
        for name, content in files.items():
            (self.draws / name).write_bytes(content)
        self.fit.checkpoint.write_bytes(self.fit.saved)
        if choices.below(4) == 3:
            _agree(self.fit, files)
        return self.fit.resume_whole if choices.below(_WHOLE_EVERY) == _WHOLE_EVERY - 1 else self.fit.resume


class _Living:
    """A fitted model whose draws are in a folder."""

    def __init__(self, kind: dict[str, Any], folder: Path) -> None:
        import numpy as np

        with stopped_after(30):
            self.model = make_fit(kind)(draws_to=folder)
        self.X = np.random.default_rng(1).normal(size=(3, 2))
        self.files = {path.name: path.read_bytes() for path in folder.glob("*.npy")}
        self.folder, self.before = folder, self.model.predict_proba(self.X)

    def spoiled(self, choices: Choices) -> Callable[[], str]:
        files = _changed(self.files, choices)
        for name, content in files.items():
            _write_over(self.folder / name, content)
        for name in set(self.files) - set(files):
            with suppress(FileNotFoundError):
                os.rename(self.folder / name, self.folder / f"{name}.away")
        return self.read

    def read(self) -> str:
        import numpy as np

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)
                found = self.model.predict_proba(self.X)
        except ValueError:
            return "refused"
        finally:
            self._mend()
        assert np.array_equal(found, self.before), "other predictions, without a word"
        return "resumed"

    def _mend(self) -> None:
        for name, content in self.files.items():
            with suppress(FileNotFoundError):
                os.rename(self.folder / f"{name}.away", self.folder / name)
            _write_over(self.folder / name, content)


def _write_over(path: Path, content: bytes) -> None:
    """Write to the file that is there, as a new one of that name would be another."""
    with path.open("r+b") as stream:
        stream.write(content)
        stream.truncate()


def _changed(files: Files, choices: Choices) -> Files:
    """Change some of the files, and now and then none."""
    changed = dict(files)
    for _ in range(choices.one_of((1, 1, 1, 2, 2, 2, 3, 0))):
        name = choices.one_of(sorted(changed))
        content, how = bytearray(changed[name]), choices.below(6)
        if how == 0:
            changed[name] = bytes(content[: choices.below(len(content) + 1)])
        elif how == 1:
            changed[name] = bytes(content) + choices.raw(choices.below(64))
        elif how == 2 and len(changed) > 1:
            del changed[name]
        elif how == 3:
            changed[name] = changed[choices.one_of(sorted(changed))]
        elif content:
            place = 8 * choices.below(max(1, len(content) // 8))
            odd = (b"\xff" * 8, bytes(8), b"\x00\x00\x00\x00\x00\x00\xf0\x7f", b"\x7f" * 8, choices.raw(8))
            new = choices.one_of(odd)
            content[place : place + len(new)] = new
            changed[name] = bytes(content)
    return changed


def _agree(fit: StoppedFit, files: Files) -> None:
    """Write the sizes and checksums of changed files into the checkpoint, as a forger would."""
    tree = copy.deepcopy(fit.tree)
    for number, chain in enumerate(tree["chains"]):
        known = chain["kept"]["on_disk"]
        for place in range(len(known)):
            content = files.get(f"chain{number}_{place}.raw", b"")
            known[place] = [len(content), zlib.crc32(content)]
    write_tree(fit.checkpoint, tree)


if __name__ == "__main__":
    main(
        "folders of draws", make_target, ["disaggregate.saving", "disaggregate.fitting", "disaggregate.posterior"]
    )
