import pickle
import threading
import time

import joblib
import pytest

from disaggregate.parallel.threads import Threads

PATIENCE = 30.0  # seconds until a test that hangs gives up; a sound one never waits


@pytest.mark.parametrize(
    ("n_jobs", "n_threads"),
    [(1, 1), (3, 3), (None, joblib.cpu_count()), (-1, joblib.cpu_count()), (-1000, 1)],
)
def test_number_of_threads(n_jobs, n_threads):
    assert Threads(n_jobs).n_threads == n_threads


@pytest.mark.parametrize("n_jobs", [0, 1.5, 2.0, "2", "all", True, [1]])
def test_bad_n_jobs_are_refused(n_jobs):
    with pytest.raises(ValueError, match=r"n_jobs must be None, -1 or a whole number of threads, got "):
        Threads(n_jobs)


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_keep_the_order_of_the_items(n_jobs):
    assert Threads(n_jobs).map(lambda k: k * k, range(20)) == [k * k for k in range(20)]


def test_order_is_kept_when_the_first_finishes_last():
    second_is_done = threading.Event()

    def work(k):
        if k == 0:
            assert second_is_done.wait(PATIENCE)
        else:
            second_is_done.set()
        return k

    assert Threads(2).map(work, [0, 1]) == [0, 1]


def test_no_items_no_results():
    assert Threads(2).map(str, []) == []


@pytest.mark.parametrize("failing", [0, 1])
def test_failure_stops_the_others_and_propagates(failing):
    """The failure is seen at once, whichever task it is in, and is what the caller gets."""
    other_runs, reported = threading.Event(), threading.Event()
    stopped = []

    def work(k):
        if k == failing:
            assert other_runs.wait(PATIENCE)
            raise KeyError("first")
        other_runs.set()
        assert reported.wait(PATIENCE)
        stopped.append(k)
        raise RuntimeError("second")

    with pytest.raises(KeyError, match="first"):
        Threads(2, on_failure=reported.set).map(work, [0, 1])
    assert stopped == [1 - failing]


def test_tasks_that_wait_for_a_thread_are_cancelled():
    started, reported = [], threading.Event()

    def work(k):
        started.append(k)
        if k == 0:
            raise ValueError("at once")
        assert reported.wait(PATIENCE)  # the failure is noticed while this one runs, however busy the machine
        time.sleep(0.02)  # and the others are cancelled before all of them can have had their turn

    with pytest.raises(ValueError, match="at once"):
        Threads(1, on_failure=reported.set).map(work, range(1000))
    assert len(started) < 1000


def names_of_threads():
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("disaggregate")]


def test_threads_are_kept_as_long_as_somebody_is_inside():
    threads = Threads(2)
    with threads:
        first = set(threads.map(lambda _: threading.get_ident(), range(20)))
        with threads:
            assert set(threads.map(lambda _: threading.get_ident(), range(20))) <= first | {*live_threads()}
        assert names_of_threads(), "the inner context took the threads of the outer one away"
        assert threads.map(lambda k: k + 1, [1, 2]) == [2, 3]
        assert len(names_of_threads()) <= 2
    assert not names_of_threads()
    assert threads.map(lambda k: k + 1, [1, 2]) == [2, 3]  # without a context as ever
    assert not names_of_threads()


def live_threads():
    return [thread.ident for thread in threading.enumerate() if thread.name.startswith("disaggregate")]


def test_a_failure_does_not_end_the_threads_of_a_context():
    def fail(k):
        raise KeyError(k)

    with Threads(2) as threads:
        with pytest.raises(KeyError):
            threads.map(fail, [1, 2, 3])
        assert threads.map(lambda k: k + 1, [1, 2]) == [2, 3]
    assert not names_of_threads()


def test_threads_wait_for_what_still_runs_when_they_end():
    ended = threading.Event()

    def work(k):
        if k == 0:
            raise KeyError("at once")
        time.sleep(0.05)
        ended.set()

    with pytest.raises(KeyError, match="at once"), Threads(2) as threads:
        threads.map(work, [1, 0])
    assert ended.is_set()
    assert not names_of_threads()


def test_a_copy_leaves_the_threads_behind():
    with Threads(2) as threads:
        threads.map(str, [1, 2])
        twin = pickle.loads(pickle.dumps(threads))
    assert twin.n_threads == 2
    assert twin.map(str, [1, 2]) == ["1", "2"]
