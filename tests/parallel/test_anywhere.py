"""A fit gives the same draws in other processes, in threads, under joblib and inside an event loop."""

import asyncio
import importlib
import multiprocessing
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest
from joblib import Parallel, delayed
from threadpoolctl import threadpool_info, threadpool_limits

from disaggregate.parallel.one_blas_thread import one_blas_thread
from disaggregate.sampler import prepare as preparing
from tests.helpers.tiny_fit import digest_of_fit

limiting = importlib.import_module("disaggregate.parallel.one_blas_thread")  # beside the function of that name
PATIENCE = 60.0  # seconds until a test that hangs gives up

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    # Python warns of any fork beside threads, which the test runner has.
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]


@pytest.fixture(scope="module")
def expected():
    """What fits draw here, one after the other; it also makes this process one that has fitted before."""
    return [digest_of_fit(seed) for seed in range(3)]


# Pools that spawn are tested with all kinds of fits elsewhere.
@pytest.mark.parametrize("way", ["fork", pytest.param("spawn", marks=pytest.mark.thorough)])
def test_in_another_process(way, expected):
    if way not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {way} here")
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(way)) as pool:
        assert list(pool.map(digest_of_fit, range(3), timeout=PATIENCE)) == expected


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
def test_in_a_process_that_is_forked_while_others_fit(expected):
    """Locks that their threads hold at that moment are held by nobody in the child."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sender.send(digest_of_fit(0)))
    with preparing._lock, limiting._limit._lock:
        child.start()
    try:
        assert receiver.poll(PATIENCE), "the child waits for a lock that no thread holds"
        assert receiver.recv() == expected[0]
    finally:
        child.kill()
        child.join()


def test_in_several_threads_at_once(expected):
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(digest_of_fit, range(3))) == expected


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_under_joblib(backend, expected):
    assert Parallel(n_jobs=2, backend=backend)(delayed(digest_of_fit)(seed) for seed in range(3)) == expected


def test_inside_an_event_loop(expected, capsys):
    """As in a notebook, whose cells run inside one."""

    async def cell():
        return digest_of_fit(0, progress=True), await asyncio.to_thread(digest_of_fit, 1)

    assert asyncio.run(cell()) == tuple(expected[:2])
    assert "sampling" in capsys.readouterr().err


# ---- linear algebra on one thread ---------------------------------------------------------------------


def threads_of_blas():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture
def two_threads_of_blas():
    with threadpool_limits(limits=2, user_api="blas"):
        if threads_of_blas() != {2}:
            pytest.skip("a BLAS that does not listen")
        yield


@pytest.mark.usefixtures("two_threads_of_blas")
def test_the_limit_lasts_until_the_last_is_done():
    """The first to come is not the last to go."""
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))

    def first():
        with one_blas_thread():
            first_is_in.set()
            assert second_is_in.wait(PATIENCE)
        first_is_out.set()

    def second():
        assert first_is_in.wait(PATIENCE)
        with one_blas_thread():
            second_is_in.set()
            assert first_is_out.wait(PATIENCE)
            return threads_of_blas()

    with ThreadPoolExecutor(2) as pool:
        done = [pool.submit(first), pool.submit(second)]
        assert done[1].result(PATIENCE) == {1}
    assert threads_of_blas() == {2}


@pytest.mark.usefixtures("two_threads_of_blas")
def test_the_limit_is_lifted_after_a_failure():
    with pytest.raises(KeyError), one_blas_thread():
        raise KeyError
    assert threads_of_blas() == {2}
