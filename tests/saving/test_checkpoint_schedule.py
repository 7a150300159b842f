"""Checkpoints take a small share of the time by design; a clock that is moved by hand tells."""

import pytest

from disaggregate.saving.checkpoint_schedule import CheckpointSchedule

MOST = 0.03  # of the time, with the last checkpoint of a fit


class Fit:
    """A fit that looks every second whether a checkpoint is due, and how long each takes."""

    def __init__(self, cost):
        self.now, self.cost, self.written_at = 1000.0, cost, []
        self.schedule = CheckpointSchedule(lambda: self.now)
        self.write(cost_of_first=0.005)

    def write(self, cost_of_first=None):
        with self.schedule.timed():
            self.now += self.cost(self.now - 1000.0) if cost_of_first is None else cost_of_first
        self.schedule.written()
        self.written_at.append(self.now - 1000.0)

    def run(self, seconds):
        while self.now < 1000.0 + seconds:
            self.now += 1.0
            if self.schedule.is_due():
                self.write()
        return self

    @property
    def share(self):
        return self.schedule.spent / (self.now - 1000.0)


@pytest.mark.parametrize("share_of_one", [1e-5, 1e-3, 3e-3, 1e-2])
def test_checkpoints_that_grow_with_the_draws_keep_their_share(share_of_one):
    """One that writes all draws so far takes this share of the time in which they were drawn."""
    for seconds in (30, 60, 200, 1000, 3600, 36_000):
        fit = Fit(lambda elapsed: share_of_one * elapsed).run(seconds)
        assert fit.share <= MOST - share_of_one
        fit.write()
        assert fit.share <= MOST


@pytest.mark.parametrize("cost", [0.1, 1.0, 10.0])
def test_dear_checkpoints_become_rare(cost):
    fit = Fit(lambda elapsed: cost).run(3600)
    assert fit.share <= MOST
    assert len(fit.written_at) > 3


def test_cheap_checkpoints_come_every_twenty_seconds():
    fit = Fit(lambda elapsed: 0.01).run(600)
    assert len(fit.written_at) == pytest.approx(600 / 20, abs=2)


def test_one_is_always_due_in_the_end():
    """However expensive the last one was: a fit that continues is due another."""
    fit = Fit(lambda elapsed: 60.0).run(200)
    n_written = len(fit.written_at)
    assert len(fit.run(36_000).written_at) > n_written


def test_without_the_rule_the_share_is_exceeded(monkeypatch):
    monkeypatch.setattr("disaggregate.saving.checkpoint_schedule.TIME_SHARE", float("inf"))
    assert Fit(lambda elapsed: 1e-2 * elapsed).run(3600).share > MOST
