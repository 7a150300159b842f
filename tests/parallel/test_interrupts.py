import os
import signal
import threading

import pytest

from disaggregate.parallel.interrupts import defer_interrupts, deferred_interrupts, is_interrupted


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture(autouse=True)
def handler_is_restored():
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not is_interrupted()


def test_an_interrupt_is_raised_until_it_is_held():
    with pytest.raises(KeyboardInterrupt), deferred_interrupts():
        interrupt()


def test_one_is_noted_and_the_next_is_raised():
    with deferred_interrupts() as interrupts:
        defer_interrupts()
        interrupt()
        assert is_interrupted()
        with pytest.raises(KeyboardInterrupt):
            interrupt()
    assert interrupts.came


def test_what_is_held_inside_is_held_until_the_outer_block_ends():
    with deferred_interrupts() as outer:
        with deferred_interrupts() as inner:
            defer_interrupts()
        interrupt()
        assert inner is outer
    assert outer.came
    with pytest.raises(KeyboardInterrupt):
        interrupt()


def test_one_that_was_heard_is_forgotten():
    with deferred_interrupts() as interrupts:
        defer_interrupts()
        interrupt()
        defer_interrupts()
        assert not is_interrupted()
        interrupt()
    assert interrupts.came


def test_one_that_is_raised_at_the_very_end_leaves_nothing_behind(monkeypatch):
    restore = signal.signal

    def late(number, handler):
        restore(number, handler)
        raise KeyboardInterrupt

    def interrupted_late():
        with deferred_interrupts():
            defer_interrupts()
            interrupt()
            monkeypatch.setattr(signal, "signal", late)

    with pytest.raises(KeyboardInterrupt):
        interrupted_late()
    assert not is_interrupted()


def test_a_handler_of_the_user_stays():
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    try:
        with deferred_interrupts() as interrupts:
            defer_interrupts()
            interrupt()
        assert heard
        assert not interrupts.came
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_change_nothing():
    def fit():
        with deferred_interrupts() as interrupts:
            defer_interrupts()
            done.append(interrupts.came)

    done = []
    thread = threading.Thread(target=fit)
    with deferred_interrupts():
        thread.start()
        thread.join()
        with pytest.raises(KeyboardInterrupt):
            interrupt()
    assert done == [False]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
def test_a_forked_process_begins_anew():
    with deferred_interrupts():
        defer_interrupts()
        interrupt()
        child = os.fork()
        if child == 0:
            with deferred_interrupts() as own:
                os._exit(int(is_interrupted() or own.is_deferred or own.came))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
