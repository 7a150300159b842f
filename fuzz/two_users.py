"""Two users at once, on all pairs of commands that share a file: each gets what they get alone, or a refusal.

    python -m fuzz.two_users --runs 200

Two processes run a command each, one of them a random moment later. Then every file that they share must be what
one of them writes when it runs alone, on the model that was there before or on the one that the other has written;
a model must have the very draws of its seed. One line per pair: how often both went well, or one was refused.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import multiprocessing
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import disaggregate as dg
from disaggregate.cli.main import main as command
from fuzz.hostile import ROLES, make_files

SHORT = ["--kernel", "linear", "--context", "no", "--draws", "400", "--burn", "20", "--chains", "2", "--json"]
FINE, REFUSED = 0, 2
OLD = 9  # seed of the model that was there before


class Kind(NamedTuple):
    """A kind of command: the files that it shares, what it writes first, and whether it writes the model."""

    shares: tuple[str, ...]
    writes_model: bool = False


KINDS = {
    "fit": Kind(("model.dgz",), writes_model=True),
    "fit with a checkpoint": Kind(("run.dgc",)),
    "fit that resumes": Kind(("run.dgc",)),
    "fit with draws in a folder": Kind(("draws",)),
    "predict": Kind(("out.csv", "model.dgz")),
    "subgroups": Kind(("out.csv", "model.dgz")),
    "effects": Kind(("out.csv", "model.dgz")),
    "sensitivity": Kind(("out.csv", "model.dgz")),
    "report": Kind(("out.html", "model.dgz")),
}
READERS = tuple(kind for kind, known in KINDS.items() if "model.dgz" in known.shares and not known.writes_model)


def arguments_of(kind: str, folder: Path, seed: int) -> list[str]:
    """Return a command of a kind, by the user who has this seed."""
    tables = [str(folder / "people.csv"), str(folder / "results.csv"), *ROLES, *SHORT, "--seed", str(seed)]
    own = ["-o", str(folder / f"own{seed}.dgz")]
    if kind == "fit":
        return ["fit", *tables, "-o", str(folder / "model.dgz")]
    if kind.startswith("fit with a checkpoint"):
        return ["fit", *tables, *own, "--checkpoint", str(folder / "run.dgc")]
    if kind.startswith("fit that resumes"):
        return ["fit", *tables, *own, "--checkpoint", str(folder / "run.dgc"), "--resume"]
    if kind.startswith("fit with draws"):
        return ["fit", *tables, *own, "--draws-to", str(folder / "draws")]
    more = {"subgroups": ["--by", "job"], "sensitivity": ["--by", "job", "--change", "weak", "--draws", "20"]}
    read = [str(folder / "model.dgz"), str(folder / "people.csv")]
    return [kind, *read, *more.get(kind, []), "-o", str(folder / KINDS[kind].shares[0]), "--json"]


def pairs() -> list[tuple[str, str]]:
    """List the pairs that share a file that one of them writes."""
    return [pair for pair in combinations_with_replacement(KINDS, 2) if _shared(*map(KINDS.__getitem__, pair))]


def _shared(one: Kind, other: Kind) -> set[str]:
    only_read = set() if one.writes_model or other.writes_model else {"model.dgz"}
    return (set(one.shares) & set(other.shares)) - only_read


def run(arguments: list[str], wait: float) -> tuple[int, str]:
    """Run a command after a while; return its exit code and what it said."""
    time.sleep(wait)
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = command(arguments)
        except BaseException:
            return -1, traceback.format_exc()
    return code, err.getvalue()


def digest(path: Path) -> str:
    """Tell models apart by their draws, and other files by their bytes."""
    if path.suffix != ".dgz":
        return hashlib.sha256(path.read_bytes()).hexdigest()
    part = dg.load(path).classifier.posterior_.parts[0]
    return hashlib.sha256(part.weights.tobytes() + part.delta2.tobytes()).hexdigest()


class Alone(NamedTuple):
    """What commands write when they run alone: models by seed, other files by kind and seed of the model."""

    models: dict[int, str]
    written: dict[tuple[str, int], str]
    files: dict[int, bytes]
    seconds: float


def run_alone(folder: Path, seeds: tuple[int, ...]) -> Alone:
    """Run every command alone."""
    models, written, files, longest = {}, {}, {}, 0.0
    for seed in seeds:
        began = time.monotonic()
        _must(arguments_of("fit", folder, seed))
        longest = time.monotonic() - began
        models[seed], files[seed] = digest(folder / "model.dgz"), (folder / "model.dgz").read_bytes()
        for kind in READERS:
            _must(arguments_of(kind, folder, seed))
            written[kind, seed] = digest(folder / KINDS[kind].shares[0])
    return Alone(models, written, files, longest)


def _must(arguments: list[str]) -> None:
    code, said = run(arguments, 0.0)
    if code != FINE:
        raise RuntimeError(f"{arguments[0]} alone: {said}")


def try_pair(kinds: tuple[str, str], alone: Alone, folder: Path, wait: float) -> str:
    """Run two commands at once; return how it went, beginning with WRONG if it did not go well."""
    _clean(folder, alone)
    if "fit that resumes" in kinds and wait > 0.3 * alone.seconds:  # of some fits there is a checkpoint already
        _must(arguments_of("fit that resumes", folder, 1))
        (folder / "own1.dgz").unlink()
    seeds = (1, 1 if "fit that resumes" in kinds else 2)
    waits = (0.0, wait) if int(1e6 * wait) % 2 else (wait, 0.0)
    asked = [(arguments_of(kind, folder, seed), own) for kind, seed, own in zip(kinds, seeds, waits, strict=True)]
    if seeds[0] == seeds[1]:
        asked[1][0][asked[1][0].index(str(folder / "own1.dgz"))] = str(folder / "own2.dgz")
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.starmap(run, asked)
    for code, said in found:
        if code not in (FINE, REFUSED) or "Traceback" in said:
            return f"WRONG: exit code {code}: {said[-300:]}"
    codes = [code for code, _ in found]
    if FINE not in codes:
        return f"WRONG: both were refused: {found}"
    wrong = _wrong(kinds, seeds, codes, alone, folder)
    return wrong or ("both went well" if codes == [FINE, FINE] else "one was refused")


def _wrong(
    kinds: tuple[str, str], seeds: tuple[int, int], codes: list[int], alone: Alone, folder: Path
) -> str | None:
    """Say what is wrong with the files that were left."""
    fitted = [seed for kind, seed in zip(kinds, seeds, strict=True) if KINDS[kind].writes_model]
    if digest(folder / "model.dgz") not in {alone.models[seed] for seed in (OLD, *fitted)}:
        return "WRONG: the model is nobody's"
    for name in ("out.csv", "out.html"):
        done = [
            kind for kind, code in zip(kinds, codes, strict=True) if KINDS[kind].shares[0] == name and code == FINE
        ]
        right = {alone.written[kind, seed] for kind in done for seed in (OLD, *fitted)}
        if done and digest(folder / name) not in right:
            return f"WRONG: {name} is nobody's"
    for user, (kind, seed, code) in enumerate(zip(kinds, seeds, codes, strict=True), start=1):
        own = folder / f"own{user}.dgz"
        if "own" in " ".join(arguments_of(kind, folder, user)) and own.exists() != (code == FINE):
            return f"WRONG: exit code {code}, but the model is{'' if own.exists() else ' not'} there"
        if own.exists() and digest(own) != alone.models[seed]:
            return "WRONG: somebody's own model has other draws"
    left = [path.name for path in folder.iterdir() if path.name.startswith(".")]
    return f"WRONG: left behind: {left}" if left else None


def _clean(folder: Path, alone: Alone) -> None:
    """Leave the tables and the old model, and nothing else that a command may have written."""
    for path in [*folder.glob("own*"), folder / "run.dgc", *folder.glob("out.*"), *folder.glob("draws/*")]:
        path.unlink(missing_ok=True)
    if (folder / "draws").exists():
        (folder / "draws").rmdir()
    (folder / "model.dgz").write_bytes(alone.files[OLD])


def main(argv: list[str] | None = None) -> int:
    """Try all pairs in turn; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200, help="tries (default: 200)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the moments (default: 0)")
    arguments = parser.parse_args(argv)
    rng, tally = np.random.default_rng(arguments.seed), Counter[tuple[Any, str]]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder)
        alone = run_alone(folder, (OLD, 1, 2))
        for number in range(arguments.runs):
            pair = pairs()[number % len(pairs())]
            happened = try_pair(pair, alone, folder, rng.uniform(0.0, 1.2 * alone.seconds))
            tally[pair, happened] += 1
            if happened.startswith("WRONG"):
                print(f"try {number}, {' + '.join(pair)}: {happened}", flush=True)
    for (pair, happened), times in sorted(tally.items()):
        print(f"{times:5d}  {' + '.join(pair):60s} {happened}")
    n_wrong = sum(times for (_, happened), times in tally.items() if happened.startswith("WRONG"))
    print(f"{arguments.runs} tries, {n_wrong} wrong")
    return int(n_wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
