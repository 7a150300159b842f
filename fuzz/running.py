"""Runs a fuzzer: so many inputs, and what they may cost at most.

Atheris looks for inputs that reach new lines of our readers. Without it, where it cannot be installed, the inputs
are random bytes.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np

MOST_SECONDS = 1.0
MOST_MEGABYTES = 500
_TELL_EVERY = 1_000

# Takes bytes, and returns what is to be watched: it reads, and returns a word for how that ended.
Target = Callable[[bytes], Callable[[], str]]


class Watch:
    """Feeds a target, and stops at the first input that costs too much or ends otherwise than it should.

    Parameters
    ----------
    target : callable
        Takes bytes and makes a file of them; what it returns reads that, and raises where a reader does not keep
        its promise.
    most_megabytes : float, default=500
        Most memory that the process may take, which has this fuzzer alone to itself.
    """

    def __init__(self, target: Target, most_megabytes: float = MOST_MEGABYTES) -> None:
        self.target = target
        self.most_megabytes = most_megabytes
        self.ends: Counter[str] = Counter()
        self.slowest = 0.0

    def feed(self, data: bytes) -> None:
        """Give one input to the target."""
        read = self.target(data)
        start = time.process_time()
        self.ends[read()] += 1
        seconds = time.process_time() - start
        self.slowest = max(self.slowest, seconds)
        if seconds > MOST_SECONDS:
            raise AssertionError(f"an input of {len(data)} bytes took {seconds:.1f} s")
        if megabytes() > self.most_megabytes:
            raise AssertionError(f"an input of {len(data)} bytes took the memory to {megabytes():.0f} MB")

    def story(self) -> str:
        """Tell what came of it."""
        ends = ", ".join(f"{number:,} {word}" for word, number in sorted(self.ends.items()))
        total = sum(self.ends.values())
        return f"{total:,} inputs: {ends}; slowest {self.slowest:.2f} s, memory at most {megabytes():.0f} MB"


def megabytes() -> float:
    """Return the most memory that this process has had."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 2**20 if sys.platform == "darwin" else most / 2**10


def feed_random_bytes(watch: Watch, runs: int, seed: int, longest: int = 400) -> None:
    """Feed bytes of any length, without looking for anything."""
    rng = np.random.default_rng(seed)
    for number in range(1, runs + 1):
        watch.feed(rng.bytes(int(rng.integers(longest + 1))))
        if number % _TELL_EVERY == 0:
            print(watch.story(), flush=True)


def main(name: str, make_target: Callable[[], Target], readers: list[str]) -> None:
    """Run a fuzzer from the command line.

    Parameters
    ----------
    name : str
        What is fuzzed, for messages.
    make_target : callable
        Returns the target, once the readers are loaded.
    readers : list of str
        Packages in which atheris counts the lines that inputs reach.
    """
    parser = argparse.ArgumentParser(description=f"Break the reader of {name}.")
    parser.add_argument("--runs", type=int, default=100_000, help="number of inputs (default: 100000)")
    parser.add_argument("--seed", type=int, default=1, help="seed (default: 1)")
    parser.add_argument("--plain", action="store_true", help="random bytes, without atheris")
    arguments = parser.parse_args()
    try:
        import atheris
    except ImportError:
        arguments.plain = True
    if arguments.plain:
        watch = Watch(make_target())
        feed_random_bytes(watch, arguments.runs, arguments.seed)
        print(f"{name}, random bytes: {watch.story()}")
        return
    with atheris.instrument_imports(include=readers, exclude=_compiled_modules()):
        watch = Watch(make_target())

    def feed(data: bytes) -> None:
        watch.feed(data)
        total = sum(watch.ends.values())
        if total % _TELL_EVERY == 0 or total == arguments.runs:  # atheris ends the process without returning
            print(f"{name}, guided: {watch.story()}", flush=True)

    options = [f"-runs={arguments.runs}", f"-seed={arguments.seed}", "-timeout=20", "-rss_limit_mb=0"]
    atheris.Setup([sys.argv[0], *options, "-max_len=400", "-len_control=0"], feed)
    atheris.Fuzz()


def _compiled_modules() -> list[str]:
    """Name the modules that are compiled, which do not bear being changed for counting lines."""
    folder = Path(find_spec("disaggregate").origin).parent / "sampler" / "compiled"
    return [f"disaggregate.sampler.compiled.{file.stem}" for file in folder.glob("*.py")]
