"""Mistakes and attacks, by kind: each ends with the exit code and the words that it should, never in a traceback.

    python -m fuzz.hostile
    python -m fuzz.hostile --slow    # with a machine that has no folder for compiled code

One line per case: what was tried, the exit code, and the end of what was said. One small model is fitted. Cases
that need thousands of inputs have scripts of their own: ``fuzz.alone`` (people who are alone in a cell),
``fuzz.dgc`` and ``fuzz.draws`` (checkpoints, folders of draws), ``fuzz.kills``, ``fuzz.two_users`` and
``fuzz.spoiled`` (tables).
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from disaggregate.cli.main import main as command

MISTAKE, FINE = 2, 0
ROLES = ["--group", "g", "--share", "share"]
SHORT = ["--kernel", "linear", "--context", "no", "--draws", "20", "--burn", "20", "--chains", "2", "--json"]
PRIVATE = 0o600

# Kind, what is tried, arguments or what to run, the exit code, and words that are said.
Case = tuple[str, str, list[str] | Callable[[], tuple[int, str]], int, str]


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
    _write_ways_of_writing(folder, people, results)
    _write_findings(folder, people, results)


def _write_ways_of_writing(folder: Path, people: pd.DataFrame, results: pd.DataFrame) -> None:
    """Write the tables as analysts have them."""
    people.to_csv(folder / "semicolons.csv", index=False, sep=";", decimal=",")
    people.to_csv(folder / "tabs.tsv", index=False, sep="\t")
    people.assign(job="Bäcker").to_csv(folder / "latin.csv", index=False, encoding="latin-1")
    people.assign(job="Bäcker").to_csv(folder / "utf16.csv", index=False, encoding="utf-16")
    people.assign(age=[f"${1000 * age:,.0f}" for age in people["age"]]).to_csv(folder / "dollars.csv", index=False)
    people.assign(g=people["g"].str.upper() + " ").to_csv(folder / "capitals.csv", index=False)
    results.assign(share=[f"{100 * share:.1f} %" for share in results["share"]]).to_csv(
        folder / "percent.csv", index=False
    )
    results.assign(share=100 * results["share"]).to_csv(folder / "hundred.csv", index=False)
    people.assign(age=[f"\u2212{age}" for age in people["age"].abs()]).to_csv(folder / "printed.csv", index=False)
    apart = {"town 0": "Gene\u0300ve", "town 1": "Zu\u0308rich"}
    results.assign(g=results["g"].replace(apart)).to_csv(folder / "apart.csv", index=False)
    people.assign(g=people["g"].replace(apart).str.normalize("NFC")).to_csv(folder / "whole.csv", index=False)
    people.to_excel(folder / "book.xlsx", index=False)
    (folder / "book.xlsx").rename(folder / "book.csv")
    below = folder / "year=2024" / "people"
    below.mkdir(parents=True)
    people.assign(age=people["age"].astype(np.float16)).to_parquet(below / "part.parquet", index=False)


def _write_findings(folder: Path, people: pd.DataFrame, results: pd.DataFrame) -> None:
    """Write tables with what is probably a mistake."""
    doubled = pd.concat([people.assign(id=np.arange(48)), people.assign(id=np.arange(48))[:9]])
    doubled.to_csv(folder / "doubled.csv", index=False)
    people.assign(age=people["age"].where(people.index > 5, -99)).to_csv(folder / "sentinels.csv", index=False)
    people.assign(age=people["age"].round().astype(str).where(people.index > 1, "unknown")).to_csv(
        folder / "words.csv", index=False
    )
    alike = pd.concat([people] * 3, ignore_index=True).sort_values("g", kind="stable")
    alike.assign(age=[*range(24)] * 6, job=["a", "b"] * 72).to_csv(folder / "alike.csv", index=False)
    results[:4].to_csv(folder / "four.csv", index=False)
    results.assign(share=0.123).to_csv(folder / "sampled.csv", index=False)
    people.assign(g="town 9", job="new").to_csv(folder / "unknown.csv", index=False)
    people.drop(columns="g").to_csv(folder / "groupless.csv", index=False)


def cases(folder: Path) -> Iterator[Case]:
    """List what is tried, with the exit code that it should end with, and what should be said."""
    yield "fit", "a fit", ["fit", *_tables(folder), *SHORT, "-o", str(folder / "m.dgz")], FINE, "converged"
    yield from _with_few_reports(folder)
    yield from _files_that_are_forged(folder)
    yield from _outputs_that_are_none(folder)
    yield from _terminals_and_spreadsheets(folder)
    yield from _outputs_that_are_inputs(folder)
    yield from _fits_that_share_a_file(folder)
    yield from _what_fails_at_the_end(folder)
    yield from _mistakes(folder)
    yield from _ways_of_writing(folder)
    yield from _findings_before_the_fit(folder)
    yield from _people_the_fit_did_not_meet(folder)


def _tables(folder: Path) -> list[str]:
    return [str(folder / "people.csv"), str(folder / "results.csv"), *ROLES]


def _about(folder: Path, people: str = "people.csv") -> list[str]:
    return [str(folder / "m.dgz"), str(folder / people)]


def _with_few_reports(folder: Path) -> Iterator[Case]:
    kind, few = "few", ["--min-group-size", "40"]
    yield kind, "few in a subgroup", ["subgroups", *_about(folder), "--by", "job", *few], FINE, "suppressed"
    yield kind, "few with a level", ["effects", *_about(folder), *few], FINE, "suppressed"
    page = ["report", *_about(folder), "-o", str(folder / "page.html"), *few]
    yield kind, "a page about few", page, FINE, "page.html"
    yield kind, "is its word 'suppressed'", partial(_holds, folder / "page.html", "suppressed"), FINE, "suppressed"
    nobody = ["report", *_about(folder), "-o", str(folder / "page.html"), "--min-group-size", "49"]
    named = ["report", *_about(folder), "-o", str(folder / "page.pdf")]
    yield kind, "a page called as a PDF is", named, MISTAKE, "ends in .html"
    yield kind, "a page about too few", nobody, MISTAKE, "fewer than --min-group-size"
    whole = ["fit", *_tables(folder), *SHORT, "--landmarks", "3", "-o", str(folder / "anonymous.dgz")]
    yield kind, "a model without people", whole, FINE, "converged"


def _files_that_are_forged(folder: Path) -> Iterator[Case]:
    def path(name: str) -> str:
        return str(folder / name)

    for name, says in (("damaged.dgz", "damaged"), ("people.csv", "is a table"), ("none.dgz", "not there")):
        yield (
            "forged",
            f"predict by {name}",
            ["predict", path(name), path("people.csv"), "-o", path("o.csv")],
            2,
            says,
        )
    keys = ["predict", path("keys.dgz"), path("people.csv"), "-o", path("o.csv")]
    yield (
        "forged",
        "keys that share one hash",
        partial(_in_seconds, 5.0, partial(_forged_keys, folder, keys)),
        2,
        "too many digits",
    )
    yield "forged", "a tally of one element", partial(_forged_checkpoint, folder), MISTAKE, "does not fit this fit"
    yield "forged", "draws cut under a model", partial(_cut_draws, folder / "cut", "r+b"), MISTAKE, "has changed"


def _outputs_that_are_none(folder: Path) -> Iterator[Case]:
    fit = ["fit", *_tables(folder), *SHORT, "-o"]
    yield "output", "a model over link.dgz", [*fit, str(folder / "link.dgz")], MISTAKE, "is a link"
    yield "output", "a model over pipe", [*fit, str(folder / "pipe")], MISTAKE, "not a plain file"
    yield "output", "a model over a device", [*fit, "/dev/null"], MISTAKE, "not a plain file"
    yield "output", "a private model stays so", partial(_stays_private, folder, fit), FINE, "0o600"


def _terminals_and_spreadsheets(folder: Path) -> Iterator[Case]:
    kind, check = "terminal", ["check", str(folder / "red.csv"), str(folder / "results.csv"), *ROLES]
    yield kind, "control characters", check, FINE, "\\x1b[31mred"
    yield kind, "levels with markup", ["subgroups", *_about(folder), "--by", "job"], FINE, "[low]"
    out = folder / "out.csv"
    yield kind, "predict", ["predict", *_about(folder), "-o", str(out)], FINE, "48 rows"
    yield kind, "a formula in a cell", partial(_holds, out, ",'=1+1,"), FINE, "'=1+1"
    yield kind, "the same, raw", ["predict", *_about(folder), "-o", str(out), "--raw"], FINE, "48 rows"
    yield kind, "a formula as it is", partial(_holds, out, ",=1+1,"), FINE, "=1+1"
    bad = ["check", str(folder / "people.csv"), str(folder / "above.csv"), *ROLES]
    yield kind, "an encoding that lacks characters", partial(_run, bad, encoding="cp1252"), MISTAKE, "would stop"
    yield kind, "| head -1", partial(_run, [*bad, "--json"], closed=True), MISTAKE, ""
    yield kind, "> /dev/full", partial(_run, bad, into="/dev/full"), MISTAKE, "No space left"


def _outputs_that_are_inputs(folder: Path) -> Iterator[Case]:
    model, people, results = (str(folder / name) for name in ("m.dgz", "people.csv", "results.csv"))
    fit, says = ["fit", *_tables(folder), *SHORT], "must not be the same file"
    for name in (people, results):
        yield "destroy", f"a model over {Path(name).name}", [*fit, "-o", name], MISTAKE, says
    yield "destroy", "the checkpoint over an input", [*fit, "-o", model, "--checkpoint", results], MISTAKE, says
    for name in ("predict", "subgroups", "effects", "sensitivity", "report"):
        by = ["--by", "job"] if name in ("subgroups", "sensitivity") else []
        for over in (people, model):
            what = f"{name} over {Path(over).name}"
            yield "destroy", what, [name, model, people, *by, "-o", over], MISTAKE, says


def _fits_that_share_a_file(folder: Path) -> Iterator[Case]:
    checkpoint, draws = folder / "run.dgc", folder / "draws"
    fit = ["fit", *_tables(folder), *SHORT, "-o", str(folder / "own.dgz")]
    writing = [*fit, "--checkpoint", str(checkpoint)]
    yield (
        "share",
        "a checkpoint that is in use",
        partial(_while_held, writing, checkpoint),
        MISTAKE,
        "in use by another",
    )
    folder_of_draws = [*fit, "--draws-to", str(draws)]
    yield (
        "share",
        "a folder that is in use",
        partial(_while_held, folder_of_draws, draws),
        MISTAKE,
        "in use by another",
    )
    yield "share", "a fit with a checkpoint", writing, FINE, "converged"
    yield "share", "a checkpoint that is there", writing, MISTAKE, "exists already"
    yield "share", "resume with another seed", [*writing, "--resume", "--seed", "7"], MISTAKE, "--seed 0, not 7"
    yield "share", "resume", [*writing, "--resume"], FINE, "converged"
    yield "share", "resume without a checkpoint", [*fit, "--resume"], MISTAKE, "needs --checkpoint"


def _what_fails_at_the_end(folder: Path) -> Iterator[Case]:
    fit = ["fit", *_tables(folder), *SHORT, "-o"]
    yield "end", "no folder", [*fit, str(folder / "no folder" / "m.dgz")], MISTAKE, "does not exist"
    yield "end", "a name too long", [*fit, str(folder / ("x" * 300 + ".dgz"))], MISTAKE, "cannot write"
    if os.geteuid() != 0:
        yield "end", "a folder to read", [*fit, str(folder / "read only" / "m.dgz")], MISTAKE, "cannot write"
    if Path("/proc/self").is_dir():  # not even the superuser may
        yield "end", "a folder that takes no files", [*fit, "/proc/m.dgz"], MISTAKE, "cannot write"
    many = ["fit", *_tables(folder), "--chains", "4294967295", "-o", str(folder / "own.dgz")]
    yield "end", "more draws than the disk holds", many, MISTAKE, "MB are free"
    yield (
        "end",
        "a disk full at the last checkpoint",
        partial(_full_at_the_end, folder),
        FINE,
        "could not be written",
    )


def _mistakes(folder: Path) -> Iterator[Case]:
    people, results, model = (str(folder / name) for name in ("people.csv", "results.csv", "m.dgz"))
    fit = ["fit", *_tables(folder), *SHORT, "-o"]
    yield "mistake", "an unknown home", [*fit, "~nosuchuser/m.dgz"], MISTAKE, "home"
    yield "mistake", "people of an unknown home", ["check", "~nosuchuser/p.csv", results, *ROLES], MISTAKE, "home"
    below = str(folder / "year=2024" / "people" / "part.parquet")
    yield "mistake", "half floats, below key=value", ["check", below, results, *ROLES], FINE, "features: age, job"
    yield "mistake", "a folder for one table", ["check", str(folder), results, *ROLES], MISTAKE, "is a folder"
    fit_folder = ["fit", str(folder / "year=2024" / "people"), results, *ROLES, *SHORT, "-o", model + "2"]
    yield "mistake", "a folder below key=value", fit_folder, FINE, "converged"
    for step in ("nan", "inf", "0", "x"):
        stepped = ["effects", model, people, "--step", f"age={step}"]
        yield "mistake", f"a step of {step}", stepped, MISTAKE, "must be a number other than 0"
    yield "mistake", "mu=1e300", partial(_setting, prior_mu=1e300), MISTAKE, "1e+09"
    yield "mistake", "labels that are texts", partial(_text_labels, folder), FINE, "['no', 'yes']"
    yield "mistake", "kernels on a million people", partial(_setting, centers="all", n=10**6), MISTAKE, "centers"
    yield (
        "mistake",
        "a level beyond 1",
        ["subgroups", model, people, "--by", "job", "--level", "1.5"],
        MISTAKE,
        "--level",
    )
    yield "mistake", "a model called as a table is", [*fit, str(folder / "m.csv")], MISTAKE, "the name of a table"
    yield "mistake", "no command", [], MISTAKE, "one of these commands"
    yield "mistake", "a command misspelt", ["ftt", people], MISTAKE, "did you mean fit?"
    yield "mistake", "an option misspelt", [*fit, model, "--sahre", "x"], MISTAKE, "did you mean --share?"
    yield "mistake", "an option twice", [*fit, model, "--share", "age"], MISTAKE, "given twice"
    yield (
        "mistake",
        "an unknown column",
        ["check", people, results, "--group", "gg", "--share", "s"],
        MISTAKE,
        "mean 'g'",
    )
    yield "mistake", "an unknown subgroup", ["subgroups", model, people, "--by", "jobb"], MISTAKE, "mean 'job'"
    yield "mistake", "an unknown feature", ["effects", model, people, "--features", "aeg"], MISTAKE, "mean 'age'"


def _ways_of_writing(folder: Path) -> Iterator[Case]:
    def check(people: str, results: str = "results.csv", *more: str) -> list[str]:
        return ["check", str(folder / people), str(folder / results), *ROLES, *more]

    for name in ("binary.csv", "empty.csv", "none.csv", "people.ods"):
        yield "reading", f"people in {name}", check(name), MISTAKE, name
    yield "reading", "semicolons, decimal commas", check("semicolons.csv"), FINE, "decimal commas"
    yield "reading", "tabs", check("tabs.tsv"), FINE, "48 people"
    yield "reading", "Latin-1", check("latin.csv"), FINE, "Latin-1"
    yield "reading", "UTF-16", check("utf16.csv"), FINE, "UTF-16"
    yield "reading", "dollars", check("dollars.csv"), FINE, "amounts of money"
    yield "reading", "capitals and blanks", check("capitals.csv"), FINE, "matched one to one"
    yield "reading", "per cent", check("people.csv", "percent.csv"), FINE, "percentages"
    yield "reading", "the minus of print", check("printed.csv"), FINE, "is read as -"
    yield "reading", "accents stored apart", check("whole.csv", "apart.csv"), FINE, "matched one to one"
    yield "reading", "a workbook called .csv", check("book.csv"), MISTAKE, ".xlsx"
    yield "reading", "shares from 0 to 100", check("people.csv", "hundred.csv"), FINE, "are percentages"
    yield "reading", "shares above 1", check("people.csv", "above.csv"), MISTAKE, "would stop"
    yield "reading", "a number with two meanings", check("people.csv", "ambiguous.csv"), MISTAKE, "--decimal"
    settled = check("people.csv", "ambiguous.csv", "--decimal", ",", "--shares-in", "percent")
    yield "reading", "the choice made", settled, FINE, "1.234"
    yield (
        "reading",
        "an unknown encoding",
        check("people.csv", "results.csv", "--encoding", "kl"),
        MISTAKE,
        "utf-8",
    )
    yield "reading", "an unknown separator", check("people.csv", "results.csv", "--separator", "x"), MISTAKE, "tab"


def _findings_before_the_fit(folder: Path) -> Iterator[Case]:
    def check(people: str, results: str = "results.csv") -> list[str]:
        return ["check", str(folder / people), str(folder / results), *ROLES]

    yield "finding", "no group has results", check("people.csv", "elsewhere.csv"), MISTAKE, "would stop"
    yield "finding", "groups without results", check("people.csv", "four.csv"), FINE, "their 16 of 48 people"
    yield "finding", "shares that are no counts", check("people.csv", "sampled.csv"), FINE, "--sampled"
    yield "finding", "copied rows and an id", check("doubled.csv"), FINE, "seems to be an id"
    yield "finding", "copied rows", check("doubled.csv"), FINE, "9 rows repeat another"
    yield "finding", "values such as -99", check("sentinels.csv"), FINE, "-99"
    yield "finding", "numbers that became words", check("words.csv"), FINE, "'unknown'"
    yield "finding", "no difference between groups", check("alike.csv"), FINE, "no more than by chance"


def _people_the_fit_did_not_meet(folder: Path) -> Iterator[Case]:
    out = ["-o", str(folder / "out.csv")]
    yield "predict", "unknown levels", ["predict", *_about(folder, "unknown.csv"), *out], FINE, "'new'"
    yield "predict", "without the groups", ["predict", *_about(folder, "groupless.csv"), *out], FINE, "48 rows"
    yield (
        "predict",
        "without features",
        ["predict", *_about(folder, "results.csv"), *out],
        MISTAKE,
        "lacks 2 features",
    )
    workbook = ["predict", *_about(folder), "-o", str(folder / "out.xlsx")]
    yield "predict", "as a workbook", workbook, MISTAKE, "must end in one of"
    yield "predict", "digits that mean something", partial(_digits, folder), FINE, "digits"


def _holds(path: Path, text: str) -> tuple[int, str]:
    there = text in path.read_text(encoding="utf-8")
    return FINE if there else 1, f"{path.name} {'holds' if there else 'lacks'} {text.strip(',')}"


def _in_seconds(most: float, what: Callable[[], tuple[int, str]]) -> tuple[int, str]:
    start = time.process_time()
    code, said = what()
    seconds = time.process_time() - start
    return (code, said) if seconds < most else (-1, f"took {seconds:.1f} s")


def _forged_keys(folder: Path, arguments: list[str]) -> tuple[int, str]:
    from disaggregate.saving.archive import write_archive

    clashing = [[place * (2**61 - 1), 0] for place in range(32_000)]
    write_archive(folder / "keys.dgz", {"parameters": {"$dict": clashing}, "fitted": {}, "tables": None}, {})
    code, said = tried(arguments)
    return code, said


def _forged_checkpoint(folder: Path) -> tuple[int, str]:
    from fuzz.resuming import StoppedFit, write_tree

    stopped = StoppedFit({"n_replicas": 3}, folder / "stopped", in_folder=False)
    stopped.tree["chains"][0]["tally"] = [np.ones(1), *stopped.tree["chains"][0]["tally"][1:]]
    write_tree(stopped.checkpoint, stopped.tree)
    return _refused(partial(stopped.fit, checkpoint=stopped.checkpoint, resume=True))


def _cut_draws(folder: Path, mode: str) -> tuple[int, str]:
    from fuzz.resuming import make_fit

    model = make_fit({"n_replicas": 1, "n_draws": 50})(draws_to=folder)
    for path in folder.glob("*.npy"):
        with path.open(mode) as stream:
            stream.truncate(path.stat().st_size // 2)
    return _refused(partial(model.predict_proba, np.zeros((1, 2))))


def _refused(what: Callable[[], Any]) -> tuple[int, str]:
    try:
        what()
    except (ValueError, MemoryError) as error:
        return MISTAKE, str(error)
    return FINE, "nobody complained"


def _stays_private(folder: Path, fit: list[str]) -> tuple[int, str]:
    path = folder / "private.dgz"
    path.touch(mode=PRIVATE)
    path.chmod(PRIVATE)
    code, _ = tried([*fit, str(path)])
    return code, oct(path.stat().st_mode & 0o777)


def _while_held(arguments: list[str], path: Path) -> tuple[int, str]:
    from disaggregate.storage.locks import locked

    with locked(checkpoint=path):
        return tried(arguments)


def _full_at_the_end(folder: Path) -> tuple[int, str]:
    from disaggregate.saving import checkpoint

    write, times = checkpoint.write_archive, [0]

    def fails_later(*given: Any, **named: Any) -> None:
        times[0] += 1
        if times[0] > 1:
            raise OSError(28, "No space left on device")
        write(*given, **named)

    checkpoint.write_archive = fails_later
    try:
        arguments = ["fit", *_tables(folder), *SHORT, "--checkpoint", str(folder / "full.dgc")]
        code, said = tried([*arguments, "-o", str(folder / "full.dgz")], whole=True)
    finally:
        checkpoint.write_archive = write
    return (code, said) if (folder / "full.dgz").exists() else (-1, "no model")


def _run(arguments: list[str], encoding: str = "utf-8", into: str = "", closed: bool = False) -> tuple[int, str]:
    """Run a command by itself, with an odd terminal."""
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    read, write = os.pipe()
    target = os.open(into, os.O_WRONLY) if into else write
    if closed:
        os.close(read)
    try:
        whole = [sys.executable, "-m", "disaggregate.cli.main", *arguments]
        done = subprocess.run(whole, check=False, stdout=target, stderr=subprocess.PIPE, env=environment)
    finally:
        for end in {read, write, target} - ({read} if closed else set()):
            os.close(end)
    said = done.stderr.decode(encoding, "replace")
    is_wild = "Traceback" in said or "Exception ignored" in said
    return -1 if is_wild else MISTAKE if done.returncode == 141 else done.returncode, said


def _setting(prior_mu: float | None = None, centers: Any = "auto", n: int = 6) -> tuple[int, str]:
    import disaggregate as dg

    prior = "gaussian_process" if prior_mu is None else dg.GaussianProcess(mu=prior_mu)
    model = dg.GroupStatsClassifier(kernel="linear", centers=centers, prior=prior, n_draws=5, n_burn=5)
    X = np.random.default_rng(0).normal(size=(n, 1))
    return _refused(partial(model.fit, X, {0: 0.5, 1: 0.5}, groups=np.arange(n) % 2))


def _text_labels(folder: Path) -> tuple[int, str]:
    import disaggregate as dg

    model = dg.GroupStatsClassifier(kernel="linear", n_draws=5, n_burn=5, n_chains=2, n_replicas=1, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # five draws are few
        model.fit(np.arange(8.0)[:, np.newaxis], np.array(["no", "yes"] * 4, dtype=object))
    model.save(folder / "labels.dgz")
    known = dg.load(folder / "labels.dgz").classes_
    return FINE if known.dtype == model.classes_.dtype else 1, str(known.tolist())


def _digits(folder: Path) -> tuple[int, str]:
    code, _ = tried(["predict", *_about(folder), "-o", str(folder / "out.csv")])
    written = pd.read_csv(folder / "out.csv", dtype=str)["probability"]
    return (code if written.str.len().max() <= 8 else 1), f"at most {written.str.len().max()} digits"


def _without_a_cache(folder: Path) -> tuple[int, str]:
    """Fit where compiled code can be kept nowhere."""
    nowhere = str(folder / "pipe" / "nowhere")
    environment = {**os.environ, "NUMBA_CACHE_DIR": nowhere, "HOME": nowhere, "XDG_CACHE_HOME": nowhere}
    arguments = ["fit", *_tables(folder), *SHORT, "-o", str(folder / "own.dgz")]
    whole = [sys.executable, "-m", "disaggregate.cli.main", *arguments]
    done = subprocess.run(whole, check=False, capture_output=True, env=environment)
    said = done.stderr.decode() + done.stdout.decode()
    return -1 if "Traceback" in said else done.returncode, said


def tried(arguments: list[str], whole: bool = False) -> tuple[int, str]:
    """Run a command and return its exit code and what it said."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = command(arguments)
    said = out.getvalue() + err.getvalue()
    if "Traceback" in said or "\x1b[31m" in said:
        return -1, said
    return code, said if whole or code == FINE else err.getvalue()


def _end_of(said: str) -> str:
    lines = said.strip().splitlines()
    complaints = [line for line in lines if ": error: " in line]
    return (complaints or lines or [""])[-1]


def main(argv: list[str] | None = None) -> int:
    """Try all, a line each; 1 if any ended otherwise than it should."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slow", action="store_true", help="also compile everything anew, without a cache")
    arguments, wrong = parser.parse_args(argv), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder)
        every = list(cases(folder))
        if arguments.slow:
            every.append(
                ("cache", "no folder for compiled code", partial(_without_a_cache, folder), FINE, "converged")
            )
        for kind, what, how, expected, says in every:
            try:
                code, said = tried(how) if isinstance(how, list) else how()
            except Exception as error:
                code, said = -1, f"{type(error).__name__}: {error}"
            is_right = code == expected and says in said
            wrong += not is_right
            summary = said if is_right else json.dumps(said[-400:])
            mark = "ok   " if is_right else "WRONG"
            print(f"{mark} {kind:9s} {what:36s} {code:3d}  {_end_of(summary).replace(name, '')[:80]}", flush=True)
    print(f"{len(every)} cases, {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
