"""Small fits that are killed or interrupted on purpose, and the uninterrupted ones to compare them with."""

import os
import signal
import threading
from functools import cache

import numpy as np
from numpy.testing import assert_array_equal

import disaggregate as dg
from disaggregate.parallel import round_robin
from disaggregate.sampler.dense.chains import DenseChains
from disaggregate.saving import checkpoint as checkpoints
from disaggregate.saving import checkpoint_schedule
from tests.helpers.small import small_model

TOWN = dg.datasets.make_districts(random_state=3)
KINDS = {
    "several kernels": {"kernel": "auto", "gamma": "auto"},
    "one replica": {"n_replicas": 1},
    "sparse": {"prior": "spike_slab"},
    "sparse ladder": {"prior": "spike_slab", "n_replicas": 3},
    "published": dg.published_settings(),
}


def model_of(kind, **settings):
    return small_model(**{**KINDS[kind], "n_draws": 130, "n_burn": 60, **settings})


def fit(model, **how):
    return model.fit(TOWN.X, TOWN.shares, groups=TOWN.groups, **how)


@cache
def uninterrupted(kind, **settings):
    """What several tests compare with; it must not be changed."""
    return fit(model_of(kind, **settings))


def assert_same(one, other):
    assert_array_equal(one.predict_draws(TOWN.X), other.predict_draws(TOWN.X))
    assert_array_equal(one.label_proba_, other.label_proba_)
    assert_array_equal(one.group_table()["implied"], other.group_table()["implied"])


class Killed(Exception):
    """Represents the end of the process."""


def killed_after(n_writes, monkeypatch):
    """Let the process end right after so many checkpoints were written, at every opportunity.

    Chains wait after every batch until the main thread has looked, so that a busy machine has as many.
    """
    monkeypatch.setattr(checkpoint_schedule, "EVERY_SECONDS", 0.0)
    monkeypatch.setattr(checkpoint_schedule, "TIME_SHARE", np.inf)
    monkeypatch.setattr(round_robin, "POLL_SECONDS", 0.001)
    real, written = checkpoints.write_archive, []

    def write(*parts, **how):
        real(*parts, **how)
        written.append(1)
        if len(written) == n_writes:
            raise Killed

    monkeypatch.setattr(checkpoints, "write_archive", write)
    after_batch, while_waiting = checkpoints.Checkpoint.after_batch, checkpoints.Checkpoint.while_waiting
    looked = threading.Event()

    def after(self, runner):
        after_batch(self, runner)
        if threading.current_thread() is not threading.main_thread():
            looked.clear()
            looked.wait(0.5)  # not for ever: the main thread may be gone by now

    def look(self):
        while_waiting(self)
        looked.set()

    monkeypatch.setattr(checkpoints.Checkpoint, "after_batch", after)
    monkeypatch.setattr(checkpoints.Checkpoint, "while_waiting", look)


def interrupt_after(n_batches, monkeypatch, kind=DenseChains):
    """Press Ctrl-C once the chains have advanced so many times."""
    real, done = kind.advance, []
    lock = threading.Lock()

    def advance(self):
        real(self)
        with lock:
            done.append(1)
            if len(done) == n_batches:
                os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(kind, "advance", advance)
