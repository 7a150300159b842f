"""How the time and memory of a sweep over partitions grow: with rows, group size, kernels, replicas and workers.

    python -m benchmarks.scale             # all of it; writes results/scale.csv, scale.md and scale.png
    python -m benchmarks.scale million     # a million individuals in 2,000 groups; writes results/million.md

Every measurement is a process of its own, so that peak memory is its own too. Sweeps have a fixed number of steps
here, so that times compare; a fit finds its own. The work that no sweep can avoid is measured in the same process:
f = Psi beta, Psi'Z, and drawing a truncated normal for each individual.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np

from benchmarks.children import peak_memory
from benchmarks.people import people, shares_of, truth
from disaggregate.basis import Basis, choose_centers, resolve_kernel
from disaggregate.basis.directions import independent_features, leading_directions
from disaggregate.fitting.kernels import _products_of
from disaggregate.groups import group_rows
from disaggregate.groups.evidence import Fraction
from disaggregate.model.components import Components, make_components
from disaggregate.parallel.dispatch import distribute
from disaggregate.parallel.one_blas_thread import one_blas_thread
from disaggregate.parallel.threads import Threads
from disaggregate.sampler.compiled.normal import draw_positive_normal
from disaggregate.sampler.dense.metric import metric_of
from disaggregate.sampler.dense.mode import find_mode
from disaggregate.sampler.dense.partition import PARTITION_ROWS, Partition, Recipe, make_partition
from disaggregate.sampler.dense.partitioned import PartitionedData, Query, partition_rows
from disaggregate.sampler.dense.start import prior_center
from disaggregate.sampler.dense.state import Sweeps, empty_tally, new_record, new_state
from disaggregate.sampler.rungs import first_powers
from disaggregate.settings import GaussianProcess

RESULTS = Path(__file__).parent / "results"
USUAL = {"rows": 100_000, "size": 50, "centers": 200, "replicas": 1, "threads": 2, "processes": 0}
SERIES = {
    "rows": [1_000, 10_000, 30_000, 100_000, 300_000, 1_000_000],
    "size": [1, 10, 100, 200, 400, 1_000, 10_000, 100_000],
    "centers": [50, 100, 200, 500, 1_000],
    "replicas": [1, 2, 4, 8],
    "threads": [1, 2],
    "processes": [1, 2, 4],
}
# Several partitions also where a group is as large as can be: a partition is worked on by one thread.
ROWS_OF_SERIES = {"size": {"rows": 400_000}, "processes": {"rows": 4 * PARTITION_ROWS}}
UNITS = {
    "rows": "individuals",
    "size": "members of a group",
    "centers": "kernels",
    "replicas": "replicas",
    "threads": "threads",
    "processes": "Dask processes",
}

# Exponents are fitted from there on.
EXPONENTS = {"rows": 10_000, "size": 100, "centers": 100, "replicas": 1}

# Two to four steps per sweep.
STEP = 0.7


@numba.njit(nogil=True, cache=True)
def _truncated(fitted, labels, scores, rng):
    for i in range(fitted.size):
        sign = 1.0 if labels[i] else -1.0
        scores[i] = sign * draw_positive_normal(sign * fitted[i], rng)


def unavoidable_of(partition: Partition, own: None, weights: np.ndarray) -> float:
    """Do what no sweep can avoid on one partition."""
    fitted = partition.stored @ weights
    scores = np.empty_like(fitted)
    _truncated(fitted, fitted > 0.0, scores, np.random.default_rng(partition.index))
    return float((scores @ partition.stored).sum())


def unavoidable(partitions: Any, n_columns: int, times: int = 3) -> float:
    """Seconds of the same on all partitions, with the same threads; the best of some."""
    weights = np.full(n_columns, 0.01)
    partitions.query(unavoidable_of, None, weights)
    return min(_seconds(lambda: partitions.query(unavoidable_of, None, weights)) for _ in range(times))


def _seconds(work: Any) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


@contextlib.contextmanager
def cluster_of(n_processes: int) -> Iterator[Any]:
    if not n_processes:
        yield None
        return
    from distributed import Client, LocalCluster

    how = {"n_workers": n_processes, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(**how) as cluster, Client(cluster) as client:
        client.wait_for_workers(n_processes)
        yield client


def measure(rows: int, size: int, centers: int, replicas: int, threads: int, processes: int) -> dict[str, float]:
    """Time sweeps of one chain, and the peak of memory."""
    X, groups, y = people(rows, size, 20)
    shares = shares_of(groups, y)
    data = group_rows(groups.tolist(), {group: Fraction(share) for group, share in shares.items()})
    kernel = resolve_kernel("rbf", "scale", 3.0, 1.0, X)
    points, weights = choose_centers(X, centers, np.random.default_rng(0))
    basis = Basis(kernel, points, True, weights=weights)
    partitions = partition_rows(X, data)
    with cluster_of(processes) as client, one_blas_thread(), Threads(threads) as pool:
        distributed = distribute(partitions.rows, client, pool)
        half = independent_features(basis)
        gram = np.sum(distributed.query(_products_of, None, basis, half), axis=0)
        spread, _, to_kernels = leading_directions(half, gram)
        recipe = Recipe(basis, to_kernels, first_powers(replicas), "float64")
        backend = PartitionedData(components_of(spread, len(data.names)), distributed, partitions, recipe)
        mode = find_mode(backend.target, prior_center(backend.target.components))
        position = np.repeat(mode.position[None], replicas, axis=0)
        curvature = backend.target.curvature(position, np.arange(replicas))
        metric, state = metric_of(np.full(replicas, STEP), curvature), new_state(position[None])
        tally, rngs = empty_tally(1, replicas), [np.random.default_rng(0)]

        def sweep() -> None:
            backend.advance(Sweeps(metric, state, rngs, 1, 0, 1, tally, new_record(backend, 1, replicas, 1)))

        sweep()
        n_sweeps = int(np.clip(3.0 / _seconds(sweep), 3, 200))
        seconds = _seconds(lambda: [sweep() for _ in range(n_sweeps)]) / n_sweeps
        found = {"seconds": seconds, "memory": peak_memory(), "columns": len(spread)}
        if not processes:
            found["unavoidable"] = unavoidable(distributed.map(make_partition, recipe), len(spread))
        else:
            found["round_trip"] = _round_trip(distributed, len(spread))
        return found


def components_of(spread: np.ndarray, n_groups: int) -> Components:
    """Say what weights mean: those of one kernel with its intercept, and nothing of groups."""
    prior = GaussianProcess().component_priors(of_places=False)["individual"]
    return make_components(len(spread), np.sqrt(spread), 0, 1.0, prior, None, prior, 0, prior, n_groups, False)


def _nothing(part: Any, own: None, query: Query) -> Any:
    return np.zeros(1), np.zeros_like(query.weights)


def _round_trip(held: Any, n_columns: int) -> float:
    """Seconds that a query to four partitions takes when there is nothing to work out."""
    four = type(held)(held._client, (held._futures * 4)[:4])
    query = Query(np.zeros((4, n_columns)), np.zeros(4), np.zeros(4, dtype=np.int64))
    four.query(_nothing, None, query)
    return min(_seconds(lambda: four.query(_nothing, None, query)) for _ in range(20))


def million(n_sweeps: int, n_rows: int = 1_000_000, size: int = 500) -> str:
    """Fit a million individuals with the classifier itself; a pilot run finds its steps before."""
    from disaggregate import GroupStatsClassifier
    from disaggregate.sampler.dense.chains import DenseChains
    from disaggregate.sampler.dense.tuning import ENOUGH_TO_TUNE, pilot_sweeps
    from disaggregate.sampler.prepare import prepare

    X, groups, y = people(n_rows, size, 20)
    shares = shares_of(groups, y)
    prepare("dense")  # or compilation would be timed
    sweeps, floors, began = [], [], time.perf_counter()
    real = DenseChains.advance

    def advance(self: Any) -> None:
        before, start = self.n_done, time.perf_counter()
        started = self._state is not None
        real(self)
        if started:
            sweeps.append((self.n_done - before, time.perf_counter() - start))
        if len(sweeps) % 50 == 1 or not floors:
            target = self._backend.target
            floors.append(unavoidable(target.likelihood._partitions, target.components.n_columns))
            seen = f"{self.n_done} sweeps, {sweeps[-1:]}, unavoidable {floors[-1]}, peak GB {peak_memory()}"
            print(seen, flush=True)

    DenseChains.advance = advance
    n_draws = n_sweeps // 2
    model = GroupStatsClassifier(
        kernel="rbf",
        gamma="scale",
        prior=GaussianProcess(emphasis=1.0),
        centers=200,
        n_chains=1,
        n_burn=n_sweeps - n_draws,
        n_draws=n_draws,
        random_state=0,
    )
    model.fit(X, shares, groups=groups)
    total = time.perf_counter() - began
    a_sweep = sum(seconds for _, seconds in sweeps) / sum(n for n, _ in sweeps)
    floor = float(np.median(floors))
    chosen = np.random.default_rng(1).choice(n_rows, 20_000, replace=False)
    from sklearn.metrics import roc_auc_score

    auc = roc_auc_score(y[chosen], model.predict_proba(X[chosen])[:, 1])
    best = roc_auc_score(y[chosen], truth(X[chosen]))
    return "\n".join(
        [
            f"# {n_rows:,} individuals, {n_rows // size:,} groups of {size}, 20 features, 200 kernels, one chain",
            "",
            f"`python -m benchmarks.scale million --sweeps {n_sweeps}`",
            "",
            "| what | found |",
            "| --- | --- |",
            f"| sweeps | {n_sweeps} after {pilot_sweeps(ENOUGH_TO_TUNE)} of a pilot run |",
            f"| seconds in all, reading and predicting not counted | {total:.0f} |",
            f"| seconds per sweep | {a_sweep:.2f} |",
            f"| what no sweep can avoid, in the same process, median of {len(floors)} | {floor:.2f} |",
            f"| ratio | {a_sweep / floor:.2f} |",
            f"| peak memory, GB | {peak_memory():.2f} |",
            f"| AUC of individuals, best possible | {auc:.4f}, {best:.4f} |",
            f"| verdict | {model.diagnostics_.verdict} |",
            "",
        ]
    )


def run_all(only: list[str]) -> None:
    """Measure everything, each in a process of its own; what is not asked for stays as it is on file."""
    import pandas as pd

    path = RESULTS / "scale.csv"
    table = pd.read_csv(path) if only else pd.DataFrame()
    for series in only or SERIES:
        if len(table):
            table = table[table["series"] != series]
        for value in SERIES[series]:
            setting = {**USUAL, **ROWS_OF_SERIES.get(series, {}), series: value}
            finished = subprocess.run(
                [sys.executable, "-m", "benchmarks.scale", "one", json.dumps(setting)],
                check=True, capture_output=True, text=True,
            )  # fmt: skip
            found = json.loads(finished.stdout.splitlines()[-1])
            table = pd.concat([table, pd.DataFrame([{"series": series, **setting, **found}])])
            table.to_csv(path, index=False)
            print(series, value, found, flush=True)
    report()


def report() -> None:
    """Fit the exponents and draw the chart."""
    import pandas as pd

    table = pd.read_csv(RESULTS / "scale.csv")
    table = pd.concat([table[table.series == series] for series in SERIES])
    lines = ["# How a sweep grows", "", "`python -m benchmarks.scale`", ""]
    lines += [f"One chain, {USUAL['rows']:,} individuals in groups of {USUAL['size']}, 20 features,"]
    lines += [
        f"{USUAL['centers']} kernels, {USUAL['threads']} threads, two to four steps per sweep, where nothing else"
    ]
    others = ", ".join(f"{own['rows']:,} for {UNITS[series]}" for series, own in ROWS_OF_SERIES.items())
    lines += [f"is said ({others}). *Ratio*: to what no sweep can avoid, in the same process.", ""]
    lines += [
        "| what | | s per sweep | ratio | peak GB | round trip, ms |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for _, row in table.iterrows():
        ratio = "" if np.isnan(row.unavoidable) else f"{row.seconds / row.unavoidable:.1f}"
        trip = "" if np.isnan(row.round_trip) else f"{1e3 * row.round_trip:.1f}"
        what = f"{UNITS[row.series]} | {row[row.series]:,}"
        lines.append(f"| {what} | {row.seconds:.4f} | {ratio} | {row.memory:.2f} | {trip} |")
    lines += ["", "Exponents of the time of a sweep:", ""]
    for series, least in EXPONENTS.items():
        lines.append(f"- in {UNITS[series]}, from {least:,}: {_exponent(table, series):.2f}")
    (RESULTS / "scale.md").write_text(
        "\n".join([*lines, "", "![Time of a sweep](scale.png)", ""]), encoding="utf-8"
    )
    _draw(table)


def _exponent(table: Any, series: str) -> float:
    part = table[(table.series == series) & (table[series] >= EXPONENTS[series])]
    return float(np.polyfit(np.log(part[series]), np.log(part.seconds), 1)[0])


def _draw(table: Any) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 3.2), layout="constrained")
    axes = figure.subplots(1, len(EXPONENTS), sharey=True)
    for ax, (series, least) in zip(axes, EXPONENTS.items(), strict=True):
        part = table[table.series == series]
        ax.loglog(part[series], part.seconds, "o-", color="C0", label="sweep")
        ax.loglog(part[series], part.unavoidable, "s--", color="C7", label="cannot be avoided")
        ax.set_xlabel(UNITS[series])
        if max(SERIES[series]) < 100 * min(SERIES[series]):  # too short for powers of ten
            ax.set_xticks(SERIES[series], [f"{value:,}" for value in SERIES[series]], minor=False)
            ax.set_xticks([], minor=True)
        ax.set_title(f"exponent {_exponent(table, series):.2f} from {least:,}", fontsize="medium")
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("seconds")
    axes[0].legend(frameon=False)
    figure.savefig(RESULTS / "scale.png", dpi=120)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command")
    one = commands.add_parser("one", help="one measurement, as JSON")
    one.add_argument("setting", type=json.loads)
    big = commands.add_parser("million", help="a million individuals")
    big.add_argument("--sweeps", type=int, default=1000)
    big.add_argument("--rows", type=int, default=1_000_000)
    big.add_argument("--size", type=int, default=500)
    big.add_argument("--output", type=Path, default=RESULTS / "million.md")
    parser.add_argument("--only", nargs="*", default=[], choices=list(SERIES), help="only these series")
    options = parser.parse_args()
    if options.command == "one":
        print(json.dumps(measure(**options.setting)))
    elif options.command == "million":
        text = million(options.sweeps, options.rows, options.size)
        print(text)
        options.output.write_text(text, encoding="utf-8")
    else:
        run_all(options.only)


if __name__ == "__main__":
    main()
