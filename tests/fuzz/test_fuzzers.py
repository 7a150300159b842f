import os
import signal

import numpy as np
import pytest

from fuzz import dgc, dgz, draws, forms, people, results
from fuzz.choices import Choices
from fuzz.running import PER_CHILD, Watch, feed_children, feed_random_bytes, megabytes


@pytest.mark.parametrize("fuzzer", [dgc, dgz, draws, forms, people, results])
@pytest.mark.parametrize("has_all_kinds", [False, pytest.param(True, marks=pytest.mark.thorough)], ids=["", "all"])
def test_readers_keep_their_promise(fuzzer, has_all_kinds, monkeypatch):
    if not has_all_kinds:  # checkpoints of every second kind of fit, and draws of the others
        monkeypatch.setattr(dgc, "KINDS", dgc.KINDS[::2])
        monkeypatch.setattr(draws, "KINDS", draws.KINDS[1::2])
    target = fuzzer.make_target()
    watch = Watch(target, most_megabytes=megabytes() + 200.0)  # beside what other tests have taken
    feed_random_bytes(watch, 250, seed=3)
    assert sum(watch.seen.ends.values()) == 250
    assert watch.seen.ends["refused"] > 10
    assert len(watch.seen.ends) == 2  # some get through, else the fuzzer reaches nothing


def test_a_reader_that_is_slow_or_fails_is_noticed(monkeypatch):
    monkeypatch.setattr("fuzz.running.MOST_SECONDS", 0.0)
    with pytest.raises(AssertionError, match="took"):
        Watch(lambda data: lambda: str(np.linalg.svd(np.ones((99, 99))))).feed(b"x")
    with pytest.raises(KeyError):
        Watch(lambda data: lambda: {}["x"]).feed(b"x")
    monkeypatch.setattr("fuzz.running.MOST_SECONDS", 9.0)
    with pytest.raises(AssertionError, match="memory"):
        Watch(lambda data: lambda: "read", most_megabytes=1.0).feed(b"x")


def feed_three(read):
    return feed_children(lambda data: lambda: read(data), 3, seed=1, tell=print)


def test_children_are_fed_and_what_they_saw_is_added_up():
    reported = []
    seen = feed_children(
        lambda data: lambda: "read", 2 * PER_CHILD, seed=1, tell=lambda so_far: reported.append(1)
    )
    assert seen.ends == {"read": 2 * PER_CHILD}
    assert len(reported) == 2


def test_a_run_may_be_split(monkeypatch):
    monkeypatch.setattr("fuzz.running.PER_CHILD", 2)

    def ends(runs, skipped):
        return feed_children(lambda data: data.hex, runs, seed=1, tell=lambda so_far: None, skipped=skipped).ends

    assert ends(4, 0) == ends(2, 0) + ends(2, 2)
    assert ends(2, 0) != ends(2, 2)


def test_an_input_that_ends_or_holds_a_process_is_noticed(monkeypatch):
    with pytest.raises(AssertionError, match=f"exit code -{signal.SIGSEGV:d}\n.*input [0-9a-f]+"):
        feed_three(lambda data: os.kill(os.getpid(), signal.SIGSEGV))
    with pytest.raises(AssertionError, match="KeyError"):
        feed_three(lambda data: {}["x"])
    monkeypatch.setattr("fuzz.running.HANGS_AFTER", 0.05)
    with pytest.raises(AssertionError, match=f"exit code -{signal.SIGVTALRM:d}"):
        feed_three(lambda data: sum(iter(int, 1)))


def test_bytes_that_are_used_up_choose_the_first():
    choices = Choices(b"\x05")
    assert choices.below(10) == 5
    assert choices.one_of("abc") == "a"
    assert not choices.flip()
