"""Blocks on the workers of local clusters: the bits of threads, also when a worker is lost; and they stay."""

import os
import signal
import time
from contextlib import suppress

import numpy as np
import pytest
from distributed import Client, LocalCluster
from numpy.testing import assert_array_equal

import disaggregate as dg
from disaggregate.execute import hold
from disaggregate.sampler.blocks import chains, cut
from disaggregate.sampler.blocks.answers import gradient_of
from disaggregate.sampler.evidence import WHOLE_GROUP

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore::DeprecationWarning", "ignore::ResourceWarning"
)
SIZES = [WHOLE_GROUP + 5, *[8] * 20]
GROUPS = np.repeat(np.arange(len(SIZES)), SIZES)
X = np.random.default_rng(0).standard_normal((len(GROUPS), 2)) + GROUPS[:, None] % 3
SHARES = {group: 0.2 + 0.3 * (group % 3) for group in range(len(SIZES))}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(cut, "BLOCK_ROWS", 60)
    monkeypatch.setattr(cut, "IN_ONE_PIECE", WHOLE_GROUP)
    monkeypatch.setattr(chains, "_TUNING", (5, 2))


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


def fit(**settings):
    model = dg.GroupStatsClassifier(
        kernel="rbf", gamma="scale", centers=10, n_chains=2, n_burn=2, n_draws=4, random_state=0, **settings
    )
    return model.fit(X, SHARES, groups=GROUPS)


def assert_same(model, other):
    assert_array_equal(model.predict_draws(X), other.predict_draws(X))
    assert_array_equal(model.label_proba_, other.label_proba_)


def test_any_number_of_workers_draws_what_threads_draw(cluster, client):
    expected = fit(n_jobs=2)
    for n_workers in (1, 2, 4):
        scale_to(n_workers, cluster, client)
        assert_same(fit(executor=client), expected)


def test_a_lost_worker_changes_nothing(cluster, client, monkeypatch):
    """Its blocks are made again on another one, and the fit goes on to the same draws."""
    expected = fit(n_jobs=1)
    scale_to(2, cluster, client)
    process_of, killed = client.run(os.getpid), []
    real = chains.BlockChains._sweep

    def sweep(self, *parts):
        if self.n_done == 5 and not killed:
            address = next(address for address, keys in client.has_what().items() if keys)
            os.kill(process_of[address], signal.SIGKILL)
            killed.append(address)
        return real(self, *parts)

    monkeypatch.setattr(chains.BlockChains, "_sweep", sweep)
    assert_same(fit(executor=client), expected)
    assert killed


def where(part, own):
    return own, os.getpid()


def test_questions_go_to_the_parts_and_parts_stay(cluster, client):
    scale_to(2, cluster, client)
    parts = hold([np.full(10**6, float(place)) for place in range(6)], client, None)
    seen = {tuple(parts.ask(where, list(range(6)))) for _ in range(10)}
    assert len(seen) == 1, "a part was worked on in different places"
    answers = next(iter(seen))
    assert [own for own, _ in answers] == list(range(6))
    assert os.getpid() not in {process for _, process in answers}


def test_errors_on_workers_come_back(client):
    parts = hold([1, 2], client, None)
    with pytest.raises(AttributeError):
        parts.ask(gradient_of, None, None)
    time.sleep(0.1)
    assert parts.then(float).ask(where, ["a", "b"])[1][0] == "b"
