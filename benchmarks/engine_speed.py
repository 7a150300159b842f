"""How fast fits are beside an earlier version of the code, in the same run: machines are shared, ratios travel.

The earlier version is checked out next to this one. Both fit the same data in turns, each fit in a process of its
own that has compiled everything before the clock starts. For 60 to 100,000 rows, with one kernel and with all
defaults: processor seconds of a fit, effective draws of the individual that has fewest, and the seconds per
effective draw of the earlier version over those of this one. Run

    python -m benchmarks.engine_speed [--baseline c31a7ba] [--rows 600 ...] [--repeats 3] [--quick]

It goes on where it stopped as long as the code is the same, and writes ``benchmarks/results/engine_speed.csv`` and
``.md``; the table has the last state of the code that each line was measured with. The short form only prints.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.children import ROOT, SOURCE, answer_of, code_of, in_turns, main_or_child
from benchmarks.markdown import markdown_table
from benchmarks.people import people, shares_of
from benchmarks.resumable import read_rows, run_left

RESULTS = Path(__file__).parent / "results" / "engine_speed.csv"
BASELINE = "c31a7ba"
N_FEATURES = 5
VERSIONS = ("present", "baseline")
KINDS = ("one kernel", "all defaults")
ONE_KERNEL = {"kernel": "rbf", "gamma": "scale"}
WARM_UP = {"n_chains": 2, "n_draws": 20, "n_burn": 10}
WARM_UP_ROWS, WARM_UP_CENTERS = 60, 20


@dataclass(frozen=True)
class Size:
    """Data of a size, and how they are fitted.

    Attributes
    ----------
    rows, group : int
        Number of individuals, and of members per group.
    repeats : int
        Fits of each version.
    schedule : dict
        Settings of the fit with one kernel that fix its length.
    settings : dict
        Settings of both kinds of fit.
    """

    rows: int
    group: int
    repeats: int
    schedule: dict[str, int]
    settings: dict[str, Any] = field(default_factory=dict)

    def of_kind(self, kind: str) -> dict[str, Any]:
        """Return the settings of a kind of fit."""
        return {**self.settings, **(ONE_KERNEL | self.schedule if kind == "one kernel" else {})}


SIZES = {
    60: Size(60, 10, 5, {"n_chains": 4, "n_draws": 1000, "n_burn": 1000}),
    600: Size(600, 8, 5, {"n_chains": 4, "n_draws": 1000, "n_burn": 1000}),
    5_000: Size(5_000, 100, 3, {"n_chains": 2, "n_draws": 500, "n_burn": 300}, {"centers": 500}),
    100_000: Size(100_000, 50, 2, {"n_chains": 2, "n_draws": 200, "n_burn": 100}, {"centers": 200}),
}
QUICK = {
    rows: replace(SIZES[rows], repeats=1, schedule={"n_chains": 2, "n_draws": 200, "n_burn": 100})
    for rows in (60, 600)
}


@contextlib.contextmanager
def checked_out(commit: str, folder: Path, repository: Path = ROOT) -> Iterator[Path]:
    """Check a commit out into a new folder for a while; yield the folder of its source."""
    git = ["git", "-C", str(repository), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(folder), commit], check=True)
    try:
        yield folder / "src"
    finally:
        subprocess.run([*git, "remove", "--force", str(folder)], check=True)


@dataclass(frozen=True)
class Versions:
    """Both versions of the code.

    Attributes
    ----------
    sources : dict
        From "baseline" and "present" to the folder that ``disaggregate`` is imported from.
    work : Path
        Folder for compiled code.
    """

    sources: dict[str, Path]
    work: Path

    def compare(self, size: Size, kind: str, repeat: int) -> dict[str, Any]:
        """Fit with both."""
        setting = {"rows": size.rows, "group": size.group, "settings": size.of_kind(kind), "seed": repeat}
        return in_turns(lambda version: self.measure(version, setting), VERSIONS, repeat)

    def measure(self, version: str, setting: dict[str, Any]) -> dict[str, Any]:
        """Fit with one, and make sure that it was that one."""
        source = self.sources[version]
        found = answer_of("benchmarks.engine_speed", setting, self.work / f"compiled_{version}", source)
        if not Path(found.pop("source")).is_relative_to(source.resolve()):
            raise RuntimeError(f"the {version} version was not imported from {source}")
        return found


def child(setting: dict[str, Any]) -> dict[str, Any]:
    """Fit once, after everything is compiled; with a schedule, go on for as many draws again to time sweeps."""
    import disaggregate

    settings = setting["settings"]
    warm_up(setting["rows"], setting["group"], settings)
    X, groups, y = people(setting["rows"], setting["group"], N_FEATURES)
    model = disaggregate.GroupStatsClassifier(**settings, random_state=setting["seed"])
    seconds = quiet_fit(model, X, groups, y)
    effective = float(np.min(model.diagnostics_.ess_bulk["f"]))
    n_draws = settings.get("n_draws")
    sweep = quiet_fit(model, X, groups, y, warm_start=True) / n_draws if n_draws else math.nan
    source = str(Path(disaggregate.__file__).resolve())
    return {"seconds": seconds, "effective": effective, "sweep": sweep, "source": source}


def warm_up(n_rows: int, group: int, settings: dict[str, Any]) -> None:
    """Make short fits, so that what the real one needs is compiled.

    Few people are fitted as the real ones are; and as many as those with one kernel and few centres, as there may
    be other code for many rows.
    """
    from disaggregate import GroupStatsClassifier

    few = {name: value for name, value in settings.items() if name != "centers"}
    quiet_fit(GroupStatsClassifier(**{**few, **WARM_UP}), *people(WARM_UP_ROWS, 10, N_FEATURES))
    if n_rows > WARM_UP_ROWS:
        many = {**ONE_KERNEL, **WARM_UP, "centers": WARM_UP_CENTERS}
        quiet_fit(GroupStatsClassifier(**many), *people(n_rows, group, N_FEATURES))


def quiet_fit(model: Any, X: np.ndarray, groups: np.ndarray, y: np.ndarray, **how: Any) -> float:
    """Fit and return the processor seconds that it took, of all threads."""
    shares = shares_of(groups, y)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, shares, groups=groups, **how)
    return time.process_time() - began


def last_measured(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep those of the last state of the code that each kind of fit was measured with at each size."""
    last = rows.groupby(["rows", "kind"])["code"].transform("last")
    return rows[rows["code"] == last]


def ratios(rows: pd.DataFrame) -> pd.Series:
    """Seconds per effective draw of the earlier version over those of the present one, one per repeat."""
    per_draw = {v: rows[f"{v}_seconds"] / rows[f"{v}_effective"] for v in VERSIONS}
    return per_draw["baseline"] / per_draw["present"]


def report(rows: pd.DataFrame, baseline: str) -> str:
    """Write the table."""
    known = [
        (size, kind, rows[(rows["rows"].astype(int) == size) & (rows["kind"] == kind)])
        for kind in KINDS
        for size in SIZES
    ]
    table = [line_of(size, kind, part) for size, kind, part in known if len(part)]
    header = ["fit", "rows", "repeats", "seconds", f"at {baseline}", "effective draws", f"at {baseline}"]
    lines = [
        "# Speed of the engine",
        "",
        f"Made by `python -m benchmarks.engine_speed --baseline {baseline}`: this version beside that of commit "
        f"{baseline}, in turns on the same machine, each fit in a process of its own, compilation not counted. "
        "Medians over repeats; seconds are those of the processor. Effective draws are those of the individual "
        "that has fewest. The ratio is the seconds per effective draw of the earlier version over those of this "
        "one, median and range: above 1 this one is faster. A sweep moves all chains once; its time has that of "
        "the diagnostics in it. With one kernel the number of draws is fixed; with all defaults only the number "
        "of centres is, from 5,000 rows on.",
        "",
        *markdown_table([*header, "ms per sweep", f"at {baseline}", "ratio"], table),
    ]
    return "\n".join([*lines, ""])


def line_of(size: int, kind: str, rows: pd.DataFrame) -> list[str]:
    """Return the cells of one kind of fit at one size."""
    middle, ratio = rows.median(numeric_only=True), ratios(rows)
    sweeps = [f"{1e3 * middle[f'{v}_sweep']:.3g}" if rows[f"{v}_sweep"].notna().any() else "" for v in VERSIONS]
    return [
        kind,
        f"{size:,}",
        str(len(rows)),
        *(f"{middle[f'{v}_seconds']:.3g}" for v in VERSIONS),
        *(f"{middle[f'{v}_effective']:.0f}" for v in VERSIONS),
        *sweeps,
        f"{ratio.median():.2f} ({ratio.min():.2f} to {ratio.max():.2f})",
    ]


def run(arguments: argparse.Namespace, work: Path) -> None:
    """Measure what is missing, and write the table after each kind of fit."""
    sizes = QUICK if arguments.quick else SIZES
    path = work / RESULTS.name if arguments.quick else arguments.output
    state = {"code": code_of(SOURCE), "baseline": arguments.baseline}
    with checked_out(arguments.baseline, work / "baseline") as baseline:
        versions = Versions({"baseline": baseline, "present": SOURCE}, work)
        for size in (sizes[rows] for rows in arguments.rows or sizes):
            for kind in arguments.kind or KINDS:
                one = partial(versions.compare, size, kind)
                run_left(path, arguments.repeats or size.repeats, one, rows=size.rows, kind=kind, **state)
                text = report(last_measured(read_rows(path, baseline=arguments.baseline)), arguments.baseline)
                path.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--baseline", default=BASELINE, help=f"commit to compare with (default: {BASELINE})")
    parser.add_argument("--rows", type=int, choices=list(SIZES), action="append", help="sizes (default: all)")
    parser.add_argument("--kind", choices=KINDS, action="append", help="kinds of fits (default: both)")
    parser.add_argument("--repeats", type=int, help="fits of each version (default: 5, fewer for large data)")
    parser.add_argument("--quick", action="store_true", help="60 and 600 rows, one repeat; prints only")
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    if arguments.quick and not set(arguments.rows or QUICK) <= set(QUICK):
        parser.error("--quick has 60 and 600 rows only")
    with tempfile.TemporaryDirectory() as work:
        run(arguments, Path(work))


if __name__ == "__main__":
    main_or_child(main, child)
