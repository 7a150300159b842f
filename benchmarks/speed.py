"""How fast a sweep is, as ratios within one run: machines differ and are shared, ratios travel.

Run ``python benchmarks/speed.py``; it takes some minutes, prints its tables and writes them to
``benchmarks/results/speed.md``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from disaggregate.basis import unit_columns
from disaggregate.datasets import make_hidden_cluster
from disaggregate.groups.evidence import Fraction
from disaggregate.groups.grouped import GroupedData, group_rows
from disaggregate.sampler import sweep as plain
from disaggregate.sampler.chain import empty_record
from disaggregate.sampler.compiled import latent, sweep
from disaggregate.sampler.model import Prior, SparseData, State, has_capacity, make_sparse_data, with_capacity
from disaggregate.sampler.starts import random_start

RESULTS = Path(__file__).parent / "results" / "speed.md"
PRIOR = Prior(a=1.0, b=1.0, mu=10.0, nu=1000.0)
N_PROPOSALS = 256
NOTHING = empty_record(0, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def repeated(part: Callable) -> Callable:
    """Compile a loop around a compiled block, so that Python is not in the measure."""

    @numba.njit(nogil=True)
    def run(problem, prior, state, rng, n):
        for _ in range(n):
            part(problem, prior, state, rng)

    return run


def seconds_a_call(run: Callable, *arguments: object, n: int, rounds: int = 7) -> float:
    """Time one call in the best of several rounds: the others were disturbed."""
    run(*arguments, 2)
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        run(*arguments, n)
        times.append((time.perf_counter() - started) / n)
    return min(times)


def sweeps(
    problem: SparseData, prior: Prior, state: State, rng: np.random.Generator, n: int, moves: str = "sparse"
) -> None:
    """Do compiled sweeps, recording none."""
    before = int(state.sweep[0])
    getattr(sweep, f"advance_{moves}")(problem, prior, state, rng, n, before + n, 1, NOTHING)
    if state.sweep[0] != before + n:
        raise RuntimeError("the active set has outgrown its arrays; the times would be wrong")


def settled(problem: SparseData, prior: Prior, n_sweeps: int) -> tuple[State, np.random.Generator]:
    """Run a chain for a while, so that the number of active kernels is a usual one."""
    rng = np.random.default_rng(0)
    state = random_start(problem, prior, N_PROPOSALS, rng)
    for _ in range(n_sweeps):
        if not has_capacity(problem, state):
            state = with_capacity(problem, state)
        sweeps(problem, prior, state, rng, 1)
    return with_capacity(problem, state), rng


def copy(state: State) -> State:
    return State(*(array.copy() for array in state))


def hidden_cluster(*, pure_groups: bool) -> SparseData:
    """600 individuals in 75 groups of 8; as in the paper, or with every group mixed."""
    made = make_hidden_cluster(random_state=0)
    shares = dict(made.shares)
    if not pure_groups:
        shares = {group: (group % 7 + 1) / 8 for group in shares}
    data = group_rows(list(made.groups), {group: Fraction(float(share)) for group, share in shares.items()})
    return problem_of(made.X[data.order], made.X, data)


def problem_of(X: np.ndarray, centers: np.ndarray, data: GroupedData) -> SparseData:
    return make_sparse_data(unit_columns(rbf_kernel(centers, X, gamma=0.5))[0], 0, data)


def plain_sweeps(
    problem: SparseData, prior: Prior, state: State, rng: np.random.Generator, n: int, moves: str
) -> None:
    for _ in range(n):
        getattr(plain, f"{moves}_sweep")(problem, prior, state, rng)


def compare_with_plain() -> list[str]:
    problem = hidden_cluster(pure_groups=True)
    state, rng = settled(problem, PRIOR, 500)
    lines = [
        "## A compiled sweep against its plain NumPy twin",
        "",
        "600 individuals in 75 groups (`make_hidden_cluster`), a kernel on each, "
        f"{state.size[0]} of them active, {N_PROPOSALS} births and deaths proposed per sweep. The twins are "
        "written to be read, with loops over members and logarithms throughout; they exist for the tests.",
        "",
        "| sweep | compiled, ms | NumPy, ms | ratio |",
        "| --- | --- | --- | --- |",
    ]
    for moves in ("published", "sparse"):
        # Each round starts from the same state, so that the active set cannot grow out of its arrays.
        compiled = seconds_a_call(
            lambda n, m=moves: sweeps(problem, PRIOR, copy(state), rng, n, m), n=20, rounds=50
        )
        numpy = seconds_a_call(
            lambda n, m=moves: plain_sweeps(problem, PRIOR, copy(state), rng, n, m), n=2, rounds=4
        )
        lines.append(f"| {moves} | {1e3 * compiled:.3f} | {1e3 * numpy:.1f} | {numpy / compiled:.0f} |")
    return [*lines, ""]


def compare_latent_steps() -> list[str]:
    lines = [
        "## Exact latent draws against the published Metropolis step",
        "",
        "Time of the latent step alone, 600 individuals in 75 groups. Groups that report 0 or 1 are drawn the "
        "same way by both; an exact draw is independent of the last one, a Metropolis step is not.",
        "",
        "| groups | exact, us | Metropolis, us | ratio |",
        "| --- | --- | --- | --- |",
    ]
    exact, walk = repeated(latent.draw_scores_exactly), repeated(latent.walk_scores)
    for name, pure in (("62 of 75 pure, as in the paper", True), ("all mixed", False)):
        problem = hidden_cluster(pure_groups=pure)
        state, rng = settled(problem, PRIOR, 500)
        times = [seconds_a_call(step, problem, PRIOR, state, rng, n=1000) for step in (exact, walk)]
        lines.append(f"| {name} | {1e6 * times[0]:.1f} | {1e6 * times[1]:.1f} | {times[0] / times[1]:.2f} |")
    return [*lines, ""]


def growth_with_individuals() -> list[str]:
    """Time sweeps at a fixed number of active kernels, which a sharp prior on their share keeps steady."""
    prior = Prior(a=4_000.0, b=30_000.0, mu=10.0, nu=1000.0)
    sizes = [500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000]
    times, active = [], []
    for n in sizes:
        rng = np.random.default_rng(n)
        X = 3.0 * rng.standard_normal((n, 2))
        positive = rng.random(n) < 0.3  # labels that no kernel explains, or their number would grow with n
        groups = np.repeat(np.arange(n // 10), 10)
        reports = {g: Fraction(share) for g, share in enumerate(positive.reshape(-1, 10).mean(axis=1).tolist())}
        problem = problem_of(X, 3.0 * rng.standard_normal((300, 2)), group_rows(groups.tolist(), reports))
        state, chain_rng = settled(problem, prior, 100)
        times.append(seconds_a_call(sweeps, problem, prior, state, chain_rng, n=5, rounds=9))
        active.append(int(state.size[0]))
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    lines = [
        "## Growth with the number of individuals",
        "",
        "300 centres, groups of 10.",
        "",
        "| individuals | active | ms per sweep | ns per individual |",
        "| --- | --- | --- | --- |",
    ]
    for n, k, seconds in zip(sizes, active, times, strict=True):
        lines.append(f"| {n:,} | {k} | {1e3 * seconds:.3f} | {1e9 * seconds / n:.0f} |")
    last = np.log(times[-1] / times[2]) / np.log(sizes[-1] / sizes[2])
    return [*lines, "", f"Exponent over all: {slope:.2f}; from 2,000 on: {last:.2f}.", ""]


IMPORT = "import time; t = time.perf_counter(); from disaggregate import GroupStatsClassifier; "
PREPARE = "from disaggregate.sampler.prepare import prepare; prepare('{moves}'); "
PRINT = "print(time.perf_counter() - t)"


def seconds_in_new_process(code: str, cache: str) -> float:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    answer = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return float(answer.stdout)


def start_up() -> list[str]:
    with tempfile.TemporaryDirectory() as cache:
        imports = min(seconds_in_new_process(IMPORT + PRINT, cache) for _ in range(3))
        rows = []
        for moves in ("dense", "sparse"):
            code = IMPORT + PREPARE.format(moves=moves) + PRINT
            first = seconds_in_new_process(code, cache)
            later = min(seconds_in_new_process(code, cache) for _ in range(3))
            rows.append(f"| {moves} | {imports:.2f} | {first:.1f} | {later:.2f} | {later - imports:.2f} |")
    return [
        "## Starting up",
        "",
        "Seconds in a new process from its first line until the first sweep could begin: with the compilation "
        "that only the first fit after an install needs, and in any later process. Best of three, but for the "
        "compilation.",
        "",
        "| weights | import | import and compile | import and load | load alone |",
        "| --- | --- | --- | --- | --- |",
        *rows,
        "",
    ]


def main() -> None:
    lines = ["# Speed", "", "Made by `python benchmarks/speed.py`.", ""]
    for part in (compare_with_plain, compare_latent_steps, growth_with_individuals, start_up):
        made = part()
        print("\n".join(made), flush=True)
        lines += made
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
