"""Cells of people: the same posterior as rows of one person each, at the cost of the cells.

First, a cell of r people against r equal rows of one person: differences of predictions and of the ends of their
90 % intervals between independent fits of both forms, in Monte Carlo standard errors. Then, 1,000,000 people in
20,000 cells against 20,000 rows of one person: seconds and peak memory in processes of their own, in turns. Run

    python -m benchmarks.cells [--data-sets 20] [--repeats 3] [--quick]

It goes on where it stopped as long as the code is the same, and writes ``benchmarks/results/cells.csv``,
``cells_cost.csv`` and ``cells.md``. The short form only prints.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from benchmarks.children import SOURCE, answer_of, code_of, in_turns, main_or_child, peak_memory
from benchmarks.markdown import markdown_table
from benchmarks.people import people, shares_of, truth
from benchmarks.resumable import read_rows, run_left
from disaggregate import GaussianProcess

RESULTS = Path(__file__).parent / "results" / "cells.csv"
FORMS = ("cells", "rows")
QUANTITIES = {"prediction": "prediction", "low": "lower end", "high": "upper end"}
REPORTS = ("shares", "populations")
N_GROUPS, N_CELLS, LARGEST, N_FEATURES = 8, 4, 5, 3
POPULATION = 1_000
LEVEL = 0.9
# Centres and width must not depend on how often a row is repeated.
SAME = {"kernel": "rbf", "gamma": 0.3, "prior": GaussianProcess(emphasis=1.0), "group_effects": True}
SINGLE = {"n_replicas": 1, "n_chains": 2}
# Differences are in units of what such fits vary by, so that they need not be long.
SHORT = {**SINGLE, "n_draws": 400, "n_burn": 150}
COST = {**SINGLE, "kernel": "rbf", "gamma": "scale", "group_effects": True, "n_draws": 60, "n_burn": 40}
WARM_UP = {"n_draws": 20, "n_burn": 10}
N_CENTERS, WARM_UP_CENTERS, COST_FEATURES = 200, 20, 20


@dataclass(frozen=True)
class Crowd:
    """People in cells; ``positives`` are those of each cell."""

    X: np.ndarray
    groups: np.ndarray
    counts: np.ndarray
    positives: np.ndarray

    @property
    def shares(self) -> dict[int, float]:
        """Share of positives of each group."""
        return shares_of(self.groups, self.positives, self.counts)

    def fit_arguments(self, form: str) -> dict[str, Any]:
        """Return features, groups and counts, as ``fit`` takes them.

        Rows of one person have counts of 1: without counts they would be everybody, whose priors are others.
        """
        if form == "cells":
            return {"X": self.X, "groups": self.groups, "counts": self.counts}
        X, groups = (np.repeat(values, self.counts, axis=0) for values in (self.X, self.groups))
        return {"X": X, "groups": groups, "counts": np.ones(len(X), dtype=int)}


def crowd_of(counts: np.ndarray, n_cells: int, n_features: int) -> Crowd:
    """Simulate people in so many cells per group; ``counts`` has the number of people in each cell."""
    X, groups, _ = people(len(counts), n_cells, n_features)
    return Crowd(X, groups, counts, np.random.default_rng(1).binomial(counts, ndtr(truth(X))))


def spread_out(n_people: int, n_cells: int) -> np.ndarray:
    """Put people into cells at random, at least one into each."""
    return 1 + np.random.default_rng(2).multinomial(n_people - n_cells, np.full(n_cells, 1.0 / n_cells))


def small_crowd() -> Crowd:
    """Simulate cells of 1 to 5 people."""
    counts = np.random.default_rng(2).integers(1, LARGEST + 1, N_GROUPS * N_CELLS)
    return crowd_of(counts, N_CELLS, N_FEATURES)


def quiet_fit(settings: Mapping[str, Any], reports: Mapping[int, Any], arguments: Mapping[str, Any]) -> Any:
    """Fit a model without warnings of short chains."""
    from disaggregate import GroupStatsClassifier

    how = {name: value for name, value in arguments.items() if name != "X"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GroupStatsClassifier(**settings).fit(arguments["X"], reports, **how)


def reports_of(crowd: Crowd, kind: str) -> dict[int, Any]:
    """Let groups report the share of their people, or that of the population that these are a sample of."""
    from disaggregate import evidence

    if kind == "shares":
        return dict(crowd.shares)
    return {group: evidence.Population(share, size=POPULATION) for group, share in crowd.shares.items()}


def answers(seed: int, form: str, kind: str) -> dict[str, float]:
    """Fit one form; return the prediction and both ends of the interval of every cell."""
    crowd = small_crowd()
    settings = {**SAME, **SHORT, "centers": crowd.X, "random_state": 2 * seed + FORMS.index(form)}
    model = quiet_fit(settings, reports_of(crowd, kind), crowd.fit_arguments(form))
    predicted = model.predict_proba(crowd.X, crowd.groups)[:, 1]
    low, high = model.predict_interval(crowd.X, level=LEVEL, groups=crowd.groups).T
    columns = {"prediction": predicted, "low": low, "high": high}
    return {f"{name}_{cell}": float(v) for name, values in columns.items() for cell, v in enumerate(values)}


def in_standard_errors(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Return differences of the means of independent fits in units of their standard errors.

    Parameters
    ----------
    ours, theirs : ndarray of shape (n_fits, n_quantities)
        What the fits of each form found.
    """
    error = np.sqrt(ours.var(axis=0, ddof=1) / len(ours) + theirs.var(axis=0, ddof=1) / len(theirs))
    difference = ours.mean(axis=0) - theirs.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):  # ends that are 1 in every fit have no error
        return np.where(difference == 0.0, 0.0, difference / error)


def cost_in_child(setting: dict[str, Any]) -> dict[str, float]:
    """Fit once, after everything is compiled; return seconds of the processor and the peak of memory."""
    counts = spread_out(setting["people"], setting["groups"] * setting["cells"])
    crowd = crowd_of(counts, setting["cells"], COST_FEATURES)
    arguments, reports = crowd.fit_arguments(setting["form"]), crowd.shares
    settings = {**COST, "random_state": setting["seed"]}
    quiet_fit({**settings, **WARM_UP, "centers": WARM_UP_CENTERS}, reports, arguments)
    began = time.process_time()
    quiet_fit({**settings, "centers": N_CENTERS}, reports, arguments)
    return {"seconds": time.process_time() - began, "memory": peak_memory()}


def compare_cost(repeat: int, scale: Mapping[str, Any], cache: Path) -> dict[str, float]:
    """Fit cells of many people, and as many rows of one person."""

    def measure(form: str) -> dict[str, Any]:
        n_people = scale["people"] if form == "cells" else scale["groups"] * scale["cells"]
        setting = {**scale, "form": form, "people": n_people, "seed": repeat}
        return answer_of("benchmarks.cells", setting, cache)

    return in_turns(measure, FORMS, repeat)


def same_table(rows: pd.DataFrame) -> list[str]:
    """Tabulate how far both forms are from each other."""
    table = []
    for kind in REPORTS:
        own = {form: rows[(rows["reports"] == kind) & (rows["form"] == form)] for form in FORMS}
        if min(len(part) for part in own.values()) < 2:
            continue
        for name, label in QUANTITIES.items():
            values = [part.filter(regex=f"^{name}_").to_numpy(dtype=float) for part in own.values()]
            far = np.abs(values[0].mean(axis=0) - values[1].mean(axis=0)).max()
            errors = in_standard_errors(*values)
            size = math.sqrt(np.mean(errors**2))
            counts = " and ".join(str(len(part)) for part in own.values())
            table.append([kind, label, counts, f"{far:.4f}", f"{size:.2f}", f"{np.abs(errors).max():.2f}"])
    header = ["reports", "quantity", "fits", "largest difference", "root mean square", "largest"]
    return markdown_table(header, table)


def cost_table(rows: pd.DataFrame, scale: Mapping[str, Any]) -> list[str]:
    """Tabulate seconds and memory of both forms, and their ratios."""
    n_rows = scale["groups"] * scale["cells"]
    n_people = {"cells": scale["people"], "rows": n_rows}
    table = [
        [form, f"{n_rows:,}", f"{n_people[form]:,}"]
        + [f"{rows[f'{form}_{what}'].median():.3g}" for what in ("seconds", "memory")]
        for form in FORMS
    ]
    table.append(
        ["ratio", "", f"{scale['people'] / n_rows:.0f}", *(ratio_of(rows, w) for w in ("seconds", "memory"))]
    )
    return markdown_table(["form", "rows", "people", "seconds", "peak memory, GB"], table)


def ratio_of(rows: pd.DataFrame, what: str) -> str:
    """Write the median and the range over repeats of cells over rows."""
    ratio = rows[f"cells_{what}"] / rows[f"rows_{what}"]
    return f"{ratio.median():.2f} ({ratio.min():.2f} to {ratio.max():.2f})"


def report(same: pd.DataFrame, cost: pd.DataFrame, scale: Mapping[str, Any]) -> str:
    """Write the page."""
    lines = [
        "# Cells of people",
        "",
        "Made by `python -m benchmarks.cells`.",
        "",
        "## The same posterior",
        "",
        f"{N_GROUPS} groups of {N_CELLS} cells of 1 to {LARGEST} people, once as cells and once as equal rows of "
        "one person; Gaussian kernel, group effects. Groups report the share of their people, or that of a "
        f"population of {POPULATION:,} of which these are a sample. Differences of predictions and of the ends of "
        "90 % intervals between both forms, averaged over independent fits, and the same in Monte Carlo standard "
        "errors: where both posteriors are the same, their root mean square over cells is about 1.",
        "",
        *same_table(same),
        "",
        "## Cost",
        "",
        f"{scale['groups']} groups of {scale['cells']} rows, {COST_FEATURES} features, {N_CENTERS} kernels, group "
        f"effects, {COST['n_chains']} chains of {COST['n_draws']} draws after {COST['n_burn']}. A row is one "
        f"person, or a cell of several. Medians over {len(cost)} repeats in turns, and the range of ratios; "
        "seconds are those of the processor, compilation not counted; memory is the peak of the process, "
        "Python and its libraries included.",
        "",
        *(cost_table(cost, scale) if len(cost) else []),
    ]
    return "\n".join([*lines, ""])


def run(arguments: argparse.Namespace, work: Path) -> str:
    """Measure what is missing; return the page."""
    path = work / RESULTS.name if arguments.quick else arguments.output
    cost_path = path.with_name(f"{path.stem}_cost.csv")
    code = code_of(SOURCE)
    for kind in REPORTS:
        for form in FORMS:
            one = partial(answers, form=form, kind=kind)
            run_left(path, arguments.data_sets, one, code=code, reports=kind, form=form)
    scale = {"groups": arguments.groups, "cells": arguments.cells, "people": arguments.people}
    one_cost = partial(compare_cost, scale=scale, cache=work / "compiled")
    run_left(cost_path, arguments.repeats, one_cost, code=code, **scale)
    text = report(read_rows(path, code=code), read_rows(cost_path, code=code, **scale), scale)
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    return text


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-sets", type=int, default=20, help="fits per form and report (default: 20)")
    parser.add_argument("--repeats", type=int, default=3, help="times that cost is measured (default: 3)")
    parser.add_argument("--groups", type=int, default=200)
    parser.add_argument("--cells", type=int, default=100, help="cells per group (default: 100)")
    parser.add_argument("--people", type=int, default=1_000_000, help="people in all cells (default: 1,000,000)")
    parser.add_argument("--quick", action="store_true", help="3 fits, and cost of 500 cells, once; prints only")
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.data_sets, arguments.repeats = 3, 1
        arguments.groups, arguments.cells, arguments.people = 25, 20, 25_000
    with tempfile.TemporaryDirectory() as work:
        print(run(arguments, Path(work)))


if __name__ == "__main__":
    main_or_child(main, cost_in_child)
