"""Runs a fuzzer: so many inputs, and what they may cost at most.

Atheris looks for inputs that reach new lines of our readers. Without it, where it cannot be installed, the inputs
are random bytes.
"""

from __future__ import annotations

import argparse
import mmap
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

MOST_SECONDS = 1.0
MOST_MEGABYTES = 500
_TELL_EVERY = 1_000
PER_CHILD = 2_000
_LONGEST = 400
HANGS_AFTER = 30.0  # seconds of processor time, of one input

# Takes bytes, and returns what is to be watched: it reads, and returns a word for how that ended.
Target = Callable[[bytes], Callable[[], str]]


@dataclass
class Seen:
    """How inputs ended, and what the dearest of them cost."""

    ends: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    megabytes: float = 0.0

    def add(self, other: Seen) -> None:
        """Add what another process has seen."""
        self.ends += other.ends
        self.slowest = max(self.slowest, other.slowest)
        self.megabytes = max(self.megabytes, other.megabytes)

    def story(self) -> str:
        """Tell what came of it."""
        ends = ", ".join(f"{number:,} {word}" for word, number in sorted(self.ends.items()))
        total = sum(self.ends.values())
        return f"{total:,} inputs: {ends}; slowest {self.slowest:.2f} s, memory at most {self.megabytes:.0f} MB"


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
        self.seen = Seen()

    def feed(self, data: bytes) -> None:
        """Give one input to the target."""
        read = self.target(data)
        start = time.process_time()
        end = read()
        seconds = time.process_time() - start
        self.seen.add(Seen(Counter([end]), seconds, megabytes()))
        if seconds > MOST_SECONDS:
            raise AssertionError(f"an input of {len(data)} bytes took {seconds:.1f} s")
        if self.seen.megabytes > self.most_megabytes:
            raise AssertionError(f"an input of {len(data)} bytes took the memory to {self.seen.megabytes:.0f} MB")


def in_memory() -> str | None:
    """Return a folder in memory, where there is one: files that live for a moment need no disk."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def megabytes() -> float:
    """Return the most memory that this process has had."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 2**20 if sys.platform == "darwin" else most / 2**10


def feed_random_bytes(watch: Watch, runs: int, seed: Any, see: Callable[[bytes], Any] = len) -> None:
    """Feed bytes of any length, without looking for anything.

    Parameters
    ----------
    watch : Watch
        Is fed.
    runs : int
        Number of inputs.
    seed : int or list of int
        Seed of numpy's generator.
    see : callable, optional
        Is shown each input before it is fed.
    """
    rng = np.random.default_rng(seed)
    for _ in range(runs):
        data = rng.bytes(int(rng.integers(_LONGEST + 1)))
        see(data)
        watch.feed(data)


def feed_children(target: Target, runs: int, seed: int, tell: Callable[[Seen], None], skipped: int = 0) -> Seen:
    """Feed random bytes in child processes, so that one that an input ends is noticed, and the input known.

    Children inherit what the target has compiled and fitted, and what that took is no memory of a reader.

    Parameters
    ----------
    target : callable
        As for :class:`Watch`.
    runs : int
        Number of inputs.
    seed : int
        Seed; each child has a stream of its own.
    tell : callable
        Is given the sums after each child.
    skipped : int, default=0
        Inputs of the same seed that an earlier run was fed; whole children are skipped.
    """
    total, context = Seen(), get_context("fork")
    for number, first in enumerate(range(0, runs, PER_CHILD), start=skipped // PER_CHILD):
        last_input = mmap.mmap(-1, 2 + _LONGEST)
        ours, theirs = context.Pipe(duplex=False)
        given = (theirs, target, min(PER_CHILD, runs - first), [seed, number], last_input)
        child = context.Process(target=_feed_in_child, args=given)
        child.start()
        theirs.close()
        try:
            answer: Seen | str = ours.recv()
        except EOFError:
            child.join()
            answer = f"an input ended the process: exit code {child.exitcode}"
        child.join()
        if isinstance(answer, str):
            data = last_input[2 : 2 + int.from_bytes(last_input[:2], "little")]
            raise AssertionError(f"{answer}\nchild {number} of seed {seed}, input {data.hex()}")
        total.add(answer)
        tell(total)
    return total


def _feed_in_child(pipe: Connection, target: Target, runs: int, seed: list[int], last_input: mmap.mmap) -> None:
    def see(data: bytes) -> None:
        last_input[:2], last_input[2 : 2 + len(data)] = len(data).to_bytes(2, "little"), data
        signal.setitimer(signal.ITIMER_VIRTUAL, HANGS_AFTER)  # ends the process

    watch = Watch(target, most_megabytes=megabytes() + MOST_MEGABYTES)  # beside what it has inherited
    try:
        feed_random_bytes(watch, runs, seed, see)
    except BaseException:
        pipe.send(traceback.format_exc())
        return
    pipe.send(watch.seen)


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
    parser.add_argument(
        "--skip", type=int, default=0, help="random inputs that an earlier run was fed (default: 0)"
    )
    parser.add_argument("--plain", action="store_true", help="random bytes, without atheris")
    arguments = parser.parse_args()
    try:
        import atheris
    except ImportError:
        arguments.plain = True
    if arguments.plain:
        target = make_target()
        seen = feed_children(target, arguments.runs, arguments.seed, _tell, arguments.skip)
        print(f"{name}, random bytes: {seen.story()}")
        return
    with atheris.instrument_imports(include=readers, exclude=_compiled_modules()):
        target = make_target()
        watch = Watch(target, most_megabytes=megabytes() + MOST_MEGABYTES)  # beside what it took to compile

    def feed(data: bytes) -> None:
        watch.feed(data)
        total = sum(watch.seen.ends.values())
        if total % _TELL_EVERY == 0 or total == arguments.runs:  # atheris ends the process without returning
            print(f"{name}, guided: {watch.seen.story()}", flush=True)

    options = [f"-runs={arguments.runs}", f"-seed={arguments.seed}", "-timeout=20", "-rss_limit_mb=0"]
    atheris.Setup([sys.argv[0], *options, "-max_len=400", "-len_control=0"], feed)
    atheris.Fuzz()


def _tell(seen: Seen) -> None:
    print(seen.story(), flush=True)


def _compiled_modules() -> list[str]:
    """Name the modules of the sampler: what is compiled does not bear being changed for counting lines."""
    package = Path(find_spec("disaggregate").origin).parent
    files = [file.relative_to(package.parent) for file in (package / "sampler").rglob("*.py")]
    return [".".join(file.with_suffix("").parts) for file in files]
