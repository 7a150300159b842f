"""Partitions on the workers of local clusters: the bits of threads, also when a worker is lost; and they stay."""

import os
import signal
import time
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from distributed.utils import get_mp_context
from numpy.testing import assert_allclose, assert_array_equal

import disaggregate as dg
from disaggregate.analysis.folders import predict_folder
from disaggregate.parallel import round_robin
from disaggregate.parallel.dispatch import distribute
from disaggregate.sampler.dense.chains import DenseChains
from disaggregate.sampler.dense.partitioned import gradient_of
from disaggregate.saving import checkpoint_schedule
from disaggregate.tables.folders import FolderSource
from tests.helpers.partitions import use_small_partitions
from tests.helpers.workers import serve

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore::DeprecationWarning", "ignore::ResourceWarning"
)
SIZES = [205, *[8] * 20]
GROUPS = np.repeat(np.arange(len(SIZES)), SIZES)
X = np.random.default_rng(0).standard_normal((len(GROUPS), 2)) + GROUPS[:, None] % 3
SHARES = {group: 0.2 + 0.3 * (group % 3) for group in range(len(SIZES))}
SETTINGS = {"kernel": "rbf", "gamma": "scale", "centers": 10, "n_chains": 2, "n_burn": 2, "n_draws": 4} | {
    "random_state": 0
}


@pytest.fixture(autouse=True)
def small_partitions(monkeypatch):
    use_small_partitions(monkeypatch, 60)


@pytest.fixture(scope="module")
def cluster():
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None)
    yield cluster
    with suppress(KeyError):  # the cluster's own books may not know of a worker that was killed
        cluster.close()


@pytest.fixture
def client(cluster):
    with Client(cluster) as client:
        yield client


def scale_to(n_workers, cluster, client):
    """Have just so many workers: those that are to leave take their time."""
    cluster.scale(n_workers)
    client.wait_for_workers(n_workers)
    while len(client.scheduler_info(n_workers=-1)["workers"]) != n_workers:
        time.sleep(0.05)


def fit(how=None, **settings):
    return dg.GroupStatsClassifier(**SETTINGS, **settings).fit(X, SHARES, groups=GROUPS, **(how or {}))


def assert_same(model, other):
    assert_array_equal(model.predict_draws(X), other.predict_draws(X))
    assert_array_equal(model.label_proba_, other.label_proba_)


def test_any_number_of_workers_draws_what_threads_draw(cluster, client):
    expected = fit(n_jobs=2)
    for n_workers in (1, 2):
        scale_to(n_workers, cluster, client)
        assert_same(fit(executor=client), expected)


def test_a_lost_worker_changes_nothing(cluster, client, monkeypatch):
    """Its partitions are made again on another one, and the fit continues to the same draws."""
    expected = fit(n_jobs=1)
    scale_to(2, cluster, client)
    process_of, killed = client.run(os.getpid), []
    real = DenseChains.advance

    def advance(self):
        if self.n_done == 5 and not killed:
            address = next(address for address, keys in client.has_what().items() if keys)
            os.kill(process_of[address], signal.SIGKILL)
            killed.append(address)
        return real(self)

    monkeypatch.setattr(DenseChains, "advance", advance)
    assert_same(fit(executor=client), expected)
    assert killed


def where(part, own):
    return own, os.getpid()


def test_questions_go_to_the_parts_and_parts_stay(cluster, client):
    scale_to(2, cluster, client)
    parts = distribute([np.full(10**6, float(place)) for place in range(6)], client, None)
    seen = {tuple(parts.query(where, list(range(6)))) for _ in range(10)}
    assert len(seen) == 1, "a part was worked on in different places"
    answers = next(iter(seen))
    assert [own for own, _ in answers] == list(range(6))
    assert os.getpid() not in {process for _, process in answers}


def test_errors_on_workers_come_back(client):
    parts = distribute([1, 2], client, None)
    with pytest.raises(AttributeError):
        parts.query(gradient_of, [(np.zeros((1, 1)),)] * 2, None, np.zeros(1, dtype=int))
    time.sleep(0.1)
    assert parts.map(float).query(where, ["a", "b"])[1][0] == "b"


def test_without_a_scheduler_the_last_checkpoint_is_left(tmp_path, monkeypatch):
    """The fit ends at once, says what happened, and continues elsewhere to the same draws."""
    expected = fit(n_jobs=1)
    monkeypatch.setattr(checkpoint_schedule, "EVERY_SECONDS", 0.0)
    monkeypatch.setattr(checkpoint_schedule, "TIME_SHARE", np.inf)
    monkeypatch.setattr(round_robin, "POLL_SECONDS", 0.001)
    contact = tmp_path / "scheduler.json"
    contacts = ["--no-dashboard", "--scheduler-file", str(contact)]
    processes = [
        get_mp_context().Process(target=serve, args=(name, [*how, *contacts]))
        for name, *how in [["scheduler", "--port", "0"], ["worker", "--nthreads", "1", "--no-nanny"]]
    ]
    for process in processes:
        process.start()
    real = DenseChains.advance

    def advance(self):
        if self.n_done == 3:
            processes[0].kill()
        return real(self)

    try:
        with Client(scheduler_file=str(contact), timeout=30) as client, monkeypatch.context() as patch:
            client.wait_for_workers(1, timeout=30)
            patch.setattr(DenseChains, "advance", advance)
            with pytest.raises(ConnectionError, match="fit again with resume=True, on another cluster or without"):
                fit({"checkpoint": tmp_path / "run.dgc"}, executor=client)
    finally:
        for process in processes:
            process.kill()
            process.join()
    started, real = [], DenseChains.advance
    monkeypatch.setattr(DenseChains, "advance", lambda self: started.append(self.n_done) or real(self))
    assert_same(fit({"checkpoint": tmp_path / "run.dgc", "resume": True}, n_jobs=1), expected)
    assert started[0] > 0, "the fit began again from nothing"


def test_workers_read_the_files_of_a_folder(cluster, client, tmp_path, monkeypatch):
    """Rows of partitions are read by workers and by nobody else."""
    scale_to(2, cluster, client)
    people = pd.DataFrame(X, columns=["east", "north"]).assign(district=GROUPS)
    (tmp_path / "people").mkdir()
    for place, part in enumerate(np.array_split(np.arange(len(X)), 3)):
        people.iloc[part].to_parquet(tmp_path / "people" / f"part-{place}.parquet")
    results = pd.DataFrame({"district": SHARES.keys(), "share": SHARES.values()})

    def learned(source, **settings):
        return dg.fit_tables(
            source, results, group="district", share="share", settings=SETTINGS | {"context": False} | settings
        )

    expected = learned(people, n_jobs=1)
    with monkeypatch.context() as patch:
        patch.setattr(FolderSource, "features", lambda self: pytest.fail("a partition was read here"))
        found = learned(tmp_path / "people", executor=client)
    assert_array_equal(found.classifier.posterior_.delta2, expected.classifier.posterior_.delta2)
    assert_array_equal(found.classifier.label_proba_, expected.classifier.label_proba_)
    assert predict_folder(found, tmp_path / "people", tmp_path / "out", executor=client) == len(X)
    written = pd.concat([pd.read_parquet(file) for file in sorted((tmp_path / "out").glob("*.parquet"))])
    assert_allclose(written["probability"], expected.predict(people)["probability"])
