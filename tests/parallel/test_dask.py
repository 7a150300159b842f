"""Chains on the workers of a local cluster: the same bits, also when a worker is lost."""

import os
import signal
import threading
import time

import pytest
from distributed import Client, LocalCluster
from numpy.testing import assert_array_equal

import disaggregate as dg
from disaggregate.parallel import on_executor
from disaggregate.parallel.dask import DaskWorkers, is_dask_client
from disaggregate.parallel.interrupts import defer_interrupts, deferred_interrupts
from tests.helpers.small import small_model
from tests.helpers.tiny_fit import digest_of_fit

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore::DeprecationWarning", "ignore::ResourceWarning"
)
TOWN = dg.datasets.make_districts(random_state=1)


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def fit(**settings):
    return small_model(n_chains=3, **settings).fit(TOWN.X, TOWN.shares, groups=TOWN.groups)


@pytest.mark.parametrize("weights", ["dense", "sparse"])
def test_workers_draw_what_threads_draw(weights, client):
    expected = fit(weights=weights, n_jobs=2)
    model = fit(weights=weights, executor=client)
    assert_array_equal(model.predict_draws(TOWN.X), expected.predict_draws(TOWN.X))
    assert_array_equal(model.label_proba_, expected.label_proba_)


def test_a_lost_worker_changes_nothing(client):
    """Its chains run again on another one, from their own seeds."""
    length = {"n_replicas": 1, "n_draws": 4000}
    expected = fit(n_jobs=2, **length).predict_draws(TOWN.X)
    process_of, killed = client.run(os.getpid), []

    def kill_a_busy_worker():
        deadline = time.monotonic() + 60.0
        while not killed and time.monotonic() < deadline:
            busy = [address for address, keys in client.processing().items() if keys]
            if busy:
                os.kill(process_of[busy[0]], signal.SIGKILL)
                killed.append(busy[0])
            time.sleep(0.01)

    killer = threading.Thread(target=kill_a_busy_worker)
    killer.start()
    found = fit(executor=client, **length).predict_draws(TOWN.X)
    killer.join()
    assert killed
    assert_array_equal(found, expected)


def test_an_interrupt_keeps_what_workers_drew(client, monkeypatch):
    monkeypatch.setattr(on_executor, "FIRST_SECONDS", 0.1)
    reported = []

    def interrupt_once(n_done, n_sweeps, what):
        if what == "sampling" and n_done > 5000 and not reported:
            reported.append(n_done)
            os.kill(os.getpid(), signal.SIGINT)

    length = {"n_replicas": 1, "n_draws": 10**5}
    model = fit(executor=client, progress=interrupt_once, **length)
    n_draws = model.posterior_.shape[1]
    assert 0 < n_draws < 10**5
    expected = fit(n_jobs=2, n_replicas=1, n_draws=n_draws)
    assert_array_equal(model.predict_draws(TOWN.X), expected.predict_draws(TOWN.X))


def test_a_fit_runs_inside_a_worker(client):
    """A task that fits a model of its own, as in a search over many."""
    futures = client.map(digest_of_fit, [0, 1], pure=False)
    assert client.gather(futures) == [digest_of_fit(0), digest_of_fit(1)]


def test_clients_are_known_without_dask(client):
    assert is_dask_client(client)
    assert not is_dask_client(object())
    assert not is_dask_client(None)


def test_the_failure_of_a_task_is_the_callers(client):
    with pytest.raises(ZeroDivisionError):
        DaskWorkers(client).map(lambda x: 1 // x, [1, 0])
    assert DaskWorkers(client).map(abs, [-2, 3]) == [2, 3]


def test_after_an_interrupt_workers_are_not_waited_for_long(client, monkeypatch):
    """The last test here: for half a minute there is one worker less."""
    monkeypatch.setattr("disaggregate.parallel.dask.GRACE_SECONDS", 0.6)
    began = time.monotonic()
    with deferred_interrupts():
        defer_interrupts()
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(ConnectionError, match="did not come back"):
            DaskWorkers(client).map(time.sleep, [30.0])
    assert time.monotonic() - began < 15.0
