"""How fast the page answers while many people use it and two fits run: ``python -m benchmarks.web_load``.

It starts a server of its own on this machine, opens a few analyses, starts two full fits, and lets threads play
people who open pages one after another. All requests go to 127.0.0.1, and it ends after so many seconds.
"""

from __future__ import annotations

import argparse
import http.client
import re
import statistics
import subprocess
import sys
import threading
import time
from urllib.parse import urlencode

PAUSE = 1.0  # seconds for which a person looks at a page


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
    """Run and print quantiles of the time to answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=30.0)
    arguments = parser.parse_args()
    command = [sys.executable, "-m", "disaggregate.cli.main", "serve", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            found = re.search(r":(\d+)/\?token=(\S+)", server.stdout.readline())
            port, token = int(found[1]), found[2]
            paths = _with_two_fits(Visitor(port, token))
            times = _visit(port, token, paths, arguments.people, arguments.seconds)
        finally:
            server.terminate()
    cuts = statistics.quantiles(times, n=20)
    print(f"{arguments.people} people, {len(times)} pages in {arguments.seconds:.0f} s, two fits running")
    told = {"median": statistics.median(times), "95% within": cuts[-1], "worst": max(times)}
    print(", ".join(f"{name} {1000 * value:.0f} ms" for name, value in told.items()))


def _with_two_fits(visitor: Visitor) -> list[str]:
    """Open three analyses, start two fits, and return the pages to visit."""
    paths = ["/"]
    for number, name in enumerate(("country", "new-york", "country")):
        _, columns, _ = visitor.ask("/example", {"name": name})
        base = columns.rsplit("/", 1)[0]
        visitor.ask(columns, {"sampled": "yes", "outcome": f"outcome {number}"})
        visitor.ask(f"{base}/check", {"mend": "percent"})
        if number < 2:
            visitor.ask(f"{base}/fit", {"action": "start", "length": "full"})
        paths += [f"{base}/{step}" for step in ("columns", "check", "fit", "fit.json")]
    return paths


def _visit(port: int, token: str, paths: list[str], n_people: int, seconds: float) -> list[float]:
    times: list[float] = []
    end = time.monotonic() + seconds

    def person(number: int) -> None:
        visitor = Visitor(port, token)
        turn = number
        while time.monotonic() < end:
            begun = time.monotonic()
            status, _, _ = visitor.ask(paths[turn % len(paths)])
            times.append(time.monotonic() - begun)
            assert status in (200, 303), status
            turn += 1
            time.sleep(PAUSE)

    threads = [threading.Thread(target=person, args=(number,)) for number in range(n_people)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times


if __name__ == "__main__":
    main()
