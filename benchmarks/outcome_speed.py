"""What a gradient costs with several outcomes, beside one of the binary model on the same people.

People with 200 columns (landmarks) in groups of one size, whose counts are reported. A sweep is some gradients,
and little else. For K outcomes there are K - 1 scores, so that K times the cost of the binary model is about what
is to be expected; the last column has the cost in units of that. Run

    python -m benchmarks.outcome_speed [--rows 100000] [--columns 200] [--outcomes 3 4]

Results go to ``benchmarks/results/outcome_speed.md``. Seconds are of the processor, on one thread.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.markdown import markdown_table
from disaggregate.groups.evidence import Count
from disaggregate.groups.grouped import group_rows
from disaggregate.groups.outcome_evidence import Counts
from disaggregate.groups.outcomes import group_outcomes
from disaggregate.model.outcome_reports import make_outcome_reports
from disaggregate.model.reports import make_reports
from disaggregate.sampler.dense.outcomes import OutcomeLikelihood
from disaggregate.sampler.dense.target import Query
from disaggregate.sampler.dense.whole import WholeLikelihood

RESULT = Path(__file__).parent / "results" / "outcome_speed.md"
SIZES = (10, 100)
TIMES = 3


def seconds_of(run: Callable[[], object]) -> float:
    """Processor seconds of one call, the fastest of a few after one that compiles."""
    run()
    found = []
    for _ in range(TIMES):
        began = time.process_time()
        run()
        found.append(time.process_time() - began)
    return min(found)


def gradient_seconds(n_rows: int, n_columns: int, size: int, n_outcomes: int) -> float:
    """Seconds of one gradient."""
    rng = np.random.default_rng(0)
    columns = rng.standard_normal((n_columns, n_rows)) / np.sqrt(n_columns)
    ids = np.repeat(np.arange(n_rows // size), size).tolist()
    counts = rng.multinomial(size, np.full(n_outcomes, 1.0 / n_outcomes), n_rows // size)
    weights = rng.standard_normal((1, n_columns * (n_outcomes - 1)))
    query = Query(weights, np.zeros((1, 0)), np.zeros(1), np.zeros(1))
    rungs = np.zeros(1, dtype=np.int64)
    if n_outcomes == 2:
        query = query._replace(group=np.zeros((1, len(counts))))
        binary = group_rows(ids, {j: Count(int(own[1])) for j, own in enumerate(counts)})
        one = WholeLikelihood(columns, make_reports(binary))
        return seconds_of(lambda: one.gradient(query, rungs))
    reports = {j: Counts({k: int(count) for k, count in enumerate(own)}) for j, own in enumerate(counts)}
    several = OutcomeLikelihood(
        columns, make_outcome_reports(group_outcomes(ids, reports, tuple(range(n_outcomes))))
    )
    return seconds_of(lambda: several.gradient(query, rungs))


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("--outcomes", type=int, nargs="+", default=[3, 4])
    parser.add_argument("--output", type=Path, default=RESULT)
    arguments = parser.parse_args()
    lines = []
    with threadpool_limits(1):
        for size in SIZES:
            binary = gradient_seconds(arguments.rows, arguments.columns, size, 2)
            lines.append([str(size), "2", f"{binary:.3f}", "1", ""])
            for n_outcomes in arguments.outcomes:
                own = gradient_seconds(arguments.rows, arguments.columns, size, n_outcomes)
                ratio = own / binary
                lines.append(
                    [str(size), str(n_outcomes), f"{own:.3f}", f"{ratio:.2g}", f"{ratio / n_outcomes:.2g}"]
                )
                print(lines[-1], flush=True)
    header = ["people per group", "outcomes", "seconds", "times the binary model", "of K times"]
    about = (__doc__ or "").split("\n\n")[1].removesuffix(" Run").replace("\n", " ")
    size_of = f"{arguments.rows} people, {arguments.columns} columns. Seconds are of the processor, on one thread."
    text = "\n\n".join(
        ["# Cost of several outcomes", about, size_of, "\n".join(markdown_table(header, lines)) + "\n"]
    )
    arguments.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
