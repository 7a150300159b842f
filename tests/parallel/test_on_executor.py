"""Runners on executors: what was done comes back in rounds, whatever ends them."""

import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from disaggregate.parallel import on_executor
from disaggregate.parallel.interrupts import defer_interrupts, deferred_interrupts
from disaggregate.parallel.round_robin import run_round_robin
from disaggregate.parallel.runners import Watcher
from disaggregate.saving.checkpoint import Checkpoint
from disaggregate.saving.checkpoint_schedule import CheckpointSchedule


class Counting:
    """A runner whose state is the number of its sweeps; a batch takes a moment."""

    def __init__(self, n_sweeps=10, moment=0.0, interrupts_at=None):
        self.n_done, self.n_sweeps, self.moment, self.interrupts_at = 0, n_sweeps, moment, interrupts_at

    def advance(self):
        time.sleep(self.moment)
        self.n_done += 1
        if self.n_done == self.interrupts_at:
            os.kill(
                os.getppid() if threading.current_thread().name == "MainThread" else os.getpid(), signal.SIGINT
            )

    def snapshot(self):
        return {"n_done": self.n_done}

    def restore(self, snapshot):
        self.n_done = snapshot["n_done"]


class Here:
    """The simplest executor."""

    def __init__(self):
        self.n_rounds = 0

    def map(self, function, items):
        self.n_rounds += 1
        return map(function, items)


class Failing(Here):
    def __init__(self, error, at):
        super().__init__()
        self.error, self.at = error, at

    def map(self, function, items):
        found = list(super().map(function, items))
        if self.n_rounds == self.at:
            os.kill(os.getpid(), signal.SIGINT)
            raise self.error
        return found


@pytest.fixture
def short_rounds(monkeypatch):
    monkeypatch.setattr(on_executor, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(on_executor, "GROWTH", 1.0)


def test_all_come_to_their_end(short_rounds):
    runners, here = [Counting(3), Counting(5)], Here()
    assert run_round_robin(runners, executor=here)
    assert [runner.n_done for runner in runners] == [3, 5]
    assert here.n_rounds == 5


def test_short_runs_take_one_round():
    here = Here()
    assert run_round_robin([Counting(100)], executor=here)
    assert here.n_rounds == 1


def test_an_interrupt_in_a_thread_pool_keeps_what_was_done():
    runners = [Counting(10**6, 0.001, interrupts_at=5), Counting(10**6, 0.001)]
    with ThreadPoolExecutor(2) as pool, deferred_interrupts() as interrupts:
        defer_interrupts()
        assert not run_round_robin(runners, executor=pool)
    assert interrupts.came
    assert runners[0].n_done >= 4
    assert all(1 <= runner.n_done < 10**5 for runner in runners)  # a busy machine may take seconds to stop


def test_an_interrupt_of_a_serial_executor_is_not_forgotten():
    runners = [Counting(10**6), Counting(10**6, 0.001)]
    real = runners[0].advance

    def advance():
        real()
        if runners[0].n_done == 3:
            os.kill(os.getpid(), signal.SIGINT)

    runners[0].advance = advance
    with deferred_interrupts():
        defer_interrupts()
        assert not run_round_robin(runners, executor=Here())
    assert [runner.n_done for runner in runners] == [3, 1]


def test_an_interrupt_of_processes_keeps_the_rounds_before(short_rounds):
    runners = [Counting(10**6, 0.001, interrupts_at=4), Counting(10**6, 0.001)]
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool, deferred_interrupts():
        defer_interrupts()
        assert not run_round_robin(runners, executor=pool)
    assert runners[0].n_done >= 4


def test_a_pool_that_does_not_survive_an_interrupt_keeps_the_rounds_before(short_rounds):
    class Lost(Counting):  # as if somewhere else: nothing that it does is seen here
        def advance(self):
            pass

        def snapshot(self):
            return {"n_done": self.n_done + 1}

    runner = Lost(100)
    with deferred_interrupts():
        defer_interrupts()
        assert not run_round_robin([runner], executor=Failing(RuntimeError("broken pool"), at=3))
    assert runner.n_done == 2


def test_failures_without_an_interrupt_are_failures(short_rounds):
    def fail():
        raise RuntimeError("in a chain")

    runner = Counting()
    runner.advance = fail
    with pytest.raises(RuntimeError, match="in a chain"):
        run_round_robin([runner], executor=Here())


def test_checkpoints_are_written_between_rounds(short_rounds, tmp_path, monkeypatch):
    written = []

    class Noting(Checkpoint):
        def _write_snapshots(self):
            written.append([self._snapshots.get(id(chain), {"n_done": 3})["n_done"] for chain in self._chains])
            self._snapshots, self._is_requested = {}, False

    monkeypatch.setattr(CheckpointSchedule, "is_due", lambda schedule: True)
    runners = [Counting(3), Counting(3)]
    checkpoint = Noting(tmp_path / "run.dgc", "", 0)
    checkpoint.watch({}, runners)
    assert run_round_robin(runners, executor=Here(), watcher=checkpoint)
    assert written == [[0, 0], [1, 1], [2, 2], [3, 3]]


def test_progress_is_reported(short_rounds):
    reported = []
    run_round_robin(
        [Counting(3)], executor=Here(), progress=lambda *given: reported.append(given[:2]), watcher=Watcher()
    )
    assert reported == [(0, 3), (1, 3), (2, 3), (3, 3)]
