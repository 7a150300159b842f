"""How fast the page answers while many people use it and two fits run: ``python -m benchmarks.web_load``.

It starts a server of its own on this machine and one quick fit, so that there is an answer to read. Then two full
fits run, and threads play people: they open pages one after another, and now and then ask for something that is
computed. All requests go to 127.0.0.1. It takes three minutes or so and writes ``benchmarks/results/web_load.md``.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from benchmarks.markdown import markdown_table

RESULTS = Path(__file__).parent / "results" / "web_load.md"
PAUSE = 1.0  # seconds for which a person looks at a page
MOST = 0.2  # seconds, for the median
ABOUT = """\
# The page under load

Made by `python -m benchmarks.web_load`. {people} people open one page after another, and look at each for
{pause:.0f} second. Two full fits run meanwhile: {before} of 2 at the beginning, {after} of 2 at the end. The
machine has {cores} cores; {load:.1f} programs of others wanted one when it began. Every eighth request or so is
for something that is computed in a process of its own; two of these run at a time, and others wait.
"""


class Step(NamedTuple):
    """One thing that a person does."""

    what: str
    path: str
    form: dict[str, str] | None = None


class Visitor:
    """One browser: a connection with the cookie."""

    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._cookie = f"disaggregate-{port}={token}"

    def ask(self, path: str, form: dict[str, str] | None = None) -> tuple[int, str, str]:
        """Return status, address to go on with, and page."""
        headers = {"Cookie": self._cookie}
        body = None
        if form is not None:
            body = urlencode(form)
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self._connection.request("POST" if form is not None else "GET", path, body, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.headers.get("location", ""), answer.read().decode()


def main() -> None:
    """Run, print quantiles of the time to answer, and write them down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    command = [sys.executable, "-m", "disaggregate.cli.main", "serve", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            found = re.search(r":(\d+)/\?token=(\S+)", server.stdout.readline())
            port, token = int(found[1]), found[2]
            visitor = Visitor(port, token)
            answered = _opened(visitor, "country", "quick")
            _wait_for(visitor, answered, {"done"})
            fitting = [_opened(visitor, name, "full") for name in ("new-york", "country")]
            before = [_state(visitor, base) for base in fitting]
            times = _visit(port, token, steps(answered, fitting), arguments.people, arguments.seconds)
            after = [_state(Visitor(port, token), base) for base in fitting]  # idle connections are closed
        finally:
            server.terminate()
    n_running = before.count("running"), after.count("running")
    text = report(times, arguments.people, n_running, load)
    print(text)
    RESULTS.write_text(text, encoding="utf-8")


def steps(answered: str, fitting: Sequence[str]) -> list[Step]:
    """Return what people do, pages of all analyses in turns."""
    pages = [Step("start page", "/")]
    for base in fitting:
        pages += [Step(what, f"{base}/{what}") for what in ("columns", "check", "fit")]
        pages += [Step("progress", f"{base}/fit.json"), Step("progress", f"{base}/fit.json")]
    pages += [Step("answer", f"{answered}/answer"), Step("take home", f"{answered}/take-home")]
    pages += [Step("report", f"{answered}/files/report.html")]
    computed = [
        Step("checking tables", f"{answered}/columns", {"sampled": "yes", "outcome": "voted purple"}),
        Step("an example", "/example", {"name": "country"}),
    ]
    return [*pages[:7], computed[0], *pages[7:], computed[1]]


def report(times: Mapping[str, Iterable[float]], n_people: int, n_running: tuple[int, int], load: float) -> str:
    """Write the page of results."""
    every = [one for each in times.values() for one in each]
    rows = [_row(name, sorted(each)) for name, each in sorted(times.items())]
    median = statistics.median(every)
    lines = [
        ABOUT.format(
            people=n_people,
            pause=PAUSE,
            before=n_running[0],
            after=n_running[1],
            cores=os.cpu_count(),
            load=load,
        ),
        *markdown_table(["page", "asked", "median, ms", "95 % within, ms", "worst, ms"], rows),
        "",
        f"All {len(every)}: median {1000 * median:.0f} ms; the mark is {1000 * MOST:.0f} ms"
        f" ({'kept' if median < MOST else 'missed'}).",
    ]
    return "\n".join(lines) + "\n"


def _row(name: str, times: list[float]) -> list[str]:
    late = times[min(len(times) - 1, int(0.95 * len(times)))]
    return [name, str(len(times)), *(f"{1000 * one:.0f}" for one in (statistics.median(times), late, times[-1]))]


def _opened(visitor: Visitor, example: str, length: str) -> str:
    """Open an example, start its fit, and return the address of the analysis."""
    _, columns, _ = visitor.ask("/example", {"name": example})
    base = columns.rsplit("/", 1)[0]
    visitor.ask(columns, {"sampled": "yes", "outcome": "voted purple"})
    visitor.ask(f"{base}/fit", {"action": "start", "length": length})
    return base


def _state(visitor: Visitor, base: str) -> str:
    return str(json.loads(visitor.ask(f"{base}/fit.json")[2])["state"])


def _wait_for(visitor: Visitor, base: str, wanted: set[str], seconds: float = 400.0) -> None:
    end = time.monotonic() + seconds
    while (state := _state(visitor, base)) not in wanted:
        if state in ("failed", "killed") or time.monotonic() > end:
            raise RuntimeError(f"the fit is {state}")
        time.sleep(1.0)


def _visit(port: int, token: str, todo: Sequence[Step], n_people: int, seconds: float) -> dict[str, list[float]]:
    """Let people do things until the time is over; return how long each kind of thing took."""
    times: dict[str, list[float]] = defaultdict(list)
    failures: list[str] = []
    end = time.monotonic() + seconds

    def person(number: int) -> None:
        visitor, turn = Visitor(port, token), number
        while time.monotonic() < end:
            step = todo[turn % len(todo)]
            started = time.monotonic()
            status, address, page = visitor.ask(step.path, step.form)
            times[step.what].append(time.monotonic() - started)
            if status not in (200, 303):
                failures.append(f"{step.what}: {status} {page[:200]}")
            if step.path == "/example":  # open analyses are bounded
                visitor.ask(f"{address.rsplit('/', 1)[0]}/close", {})
            turn += 1
            time.sleep(PAUSE)

    threads = [threading.Thread(target=person, args=(number,)) for number in range(n_people)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise RuntimeError(f"{len(failures)} requests failed, such as {failures[0]}")
    return times


if __name__ == "__main__":
    main()
