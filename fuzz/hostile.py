"""Mistakes and attacks on the command line: each ends with the exit code that it should, and never in a traceback.

    python -m fuzz.hostile

One line per case: what was tried, the exit code, and the first words of the message. One small model is fitted.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd

from disaggregate.cli.main import main as command

MISTAKE, FINE = 2, 0
ROLES = ["--group", "g", "--share", "share"]
SHORT = ["--kernel", "linear", "--context", "no", "--draws", "20", "--burn", "20", "--chains", "2", "--json"]

Case = tuple[str, list[str], int]


def make_files(folder: Path) -> None:
    """Write good tables, a model of them, and what the cases need."""
    rng = np.random.default_rng(0)
    group = np.repeat([f"town {place}" for place in range(6)], 8)
    people = pd.DataFrame(
        {"g": group, "age": rng.normal(50, 9, 48), "job": rng.choice(["[low]", "=1+1", "c"], 48)}
    )
    people.to_csv(folder / "people.csv", index=False)
    results = pd.DataFrame({"g": pd.unique(group), "share": rng.integers(1, 8, 6) / 8})
    results.to_csv(folder / "results.csv", index=False)
    (folder / "link.dgz").symlink_to(folder / "people.csv")
    os.mkfifo(folder / "pipe")
    (folder / "read only").mkdir(mode=0o500)
    (folder / "binary.csv").write_bytes(bytes(range(256)) * 10)
    (folder / "empty.csv").touch()
    (folder / "damaged.dgz").write_bytes(b"PK\x03\x04" + b"\0" * 99)
    results.assign(share=results["share"] + 1.0).to_csv(folder / "above.csv", index=False)
    results.assign(g="elsewhere").to_csv(folder / "elsewhere.csv", index=False)
    results.assign(share=["1,234"] * 6).to_csv(folder / "ambiguous.csv", index=False, sep=";")
    people.assign(age="\x1b[31mred").to_csv(folder / "red.csv", index=False)


def cases(folder: Path) -> Iterator[Case]:
    """List what is tried, with the exit code that it should end with."""
    people, results, model = (str(folder / name) for name in ("people.csv", "results.csv", "m.dgz"))
    tables = [people, results, *ROLES]

    def path(name: str) -> str:
        return str(folder / name)

    yield "a fit", ["fit", *tables, *SHORT, "-o", model], FINE
    for name in ("link.dgz", "pipe", "no folder/m.dgz", "x" * 300 + ".dgz", "people.csv", "results.csv"):
        yield f"a model over {name[:20]}", ["fit", *tables, *SHORT, "-o", path(name)], MISTAKE
    if os.geteuid() != 0:
        yield "a model in a folder to read", ["fit", *tables, *SHORT, "-o", path("read only/m.dgz")], MISTAKE
    yield "a model over a device", ["fit", *tables, *SHORT, "-o", "/dev/null"], MISTAKE
    yield "an unknown home", ["fit", *tables, *SHORT, "-o", "~nosuchuser/m.dgz"], MISTAKE
    yield "people of an unknown home", ["check", "~nosuchuser/p.csv", results, *ROLES], MISTAKE
    yield "the checkpoint over an input", ["fit", *tables, *SHORT, "-o", model, "--checkpoint", results], MISTAKE
    yield "too many chains", ["fit", *tables, "--chains", "4294967295", "-o", model], MISTAKE
    yield "an option twice", ["fit", *tables, *SHORT, "--share", "age", "-o", model], MISTAKE
    yield "resume without a checkpoint", ["fit", *tables, *SHORT, "-o", model, "--resume"], MISTAKE
    for name in ("binary.csv", "empty.csv", "none.csv", "people.ods"):
        yield f"people in {name}", ["check", path(name), results, *ROLES], MISTAKE
    for name in ("above.csv", "elsewhere.csv", "ambiguous.csv"):
        yield f"results in {name}", ["check", people, path(name), *ROLES], MISTAKE
    yield (
        "the choice made",
        ["check", people, path("ambiguous.csv"), *ROLES, "--decimal", ",", "--shares-in", "percent"],
        FINE,
    )
    yield "an unknown encoding", ["check", *tables, "--encoding", "klingon"], MISTAKE
    yield "an unknown separator", ["check", *tables, "--separator", "x"], MISTAKE
    yield "an unknown column", ["check", people, results, "--group", "gg", "--share", "shre"], MISTAKE
    yield "control characters", ["check", path("red.csv"), results, *ROLES], FINE
    for name in ("damaged.dgz", "people.csv", "none.dgz"):
        yield f"predict by {name}", ["predict", path(name), people, "-o", path("out.csv")], MISTAKE
    yield "predict", ["predict", model, people, "-o", path("out.csv")], FINE
    yield "predict over its people", ["predict", model, people, "-o", people], MISTAKE
    yield "predict as a workbook", ["predict", model, people, "-o", path("out.xlsx")], MISTAKE
    yield "predict without features", ["predict", model, results, "-o", path("out.csv")], MISTAKE
    yield "subgroups over the model", ["subgroups", model, people, "--by", "job", "-o", model], MISTAKE
    yield "subgroups with markup", ["subgroups", model, people, "--by", "job"], FINE
    yield "subgroups by nothing known", ["subgroups", model, people, "--by", "jobb"], MISTAKE
    for step in ("nan", "inf", "0", "x"):
        yield f"a step of {step}", ["effects", model, people, "--step", f"age={step}"], MISTAKE
    yield "a level beyond 1", ["subgroups", model, people, "--by", "job", "--level", "1.5"], MISTAKE


def tried(arguments: list[str]) -> tuple[int, str]:
    """Run a command and return its exit code and what it said in the end."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = command(arguments)
    said = out.getvalue() + err.getvalue()
    if "Traceback" in said or "\x1b[31m" in said:
        return -1, said
    lines = (err.getvalue() if code else out.getvalue()).strip().splitlines()
    complaints = [line for line in lines if ": error: " in line]
    return code, (complaints or lines or [""])[-1]


def main() -> int:
    """Try all, a line each; 1 if any ended otherwise than it should."""
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder)
        for what, arguments, expected in cases(folder):
            try:
                code, said = tried(arguments)
            except Exception as error:
                code, said = -1, f"{type(error).__name__}: {error}"
            is_right = code == expected
            wrong += not is_right
            print(
                f"{'ok   ' if is_right else 'WRONG'} {what:32s} {code:3d}  {said.replace(name, '')[:90]}",
                flush=True,
            )
    print(f"{wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
