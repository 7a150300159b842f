import numpy as np
import pytest

from fuzz import kills


@pytest.fixture
def short(monkeypatch):
    settings = {"kernel": "rbf", "gamma": "scale", "n_replicas": 1, "n_draws": 1000, "n_burn": 100}
    monkeypatch.setitem(kills.KINDS, "short", settings)
    return "short"


@pytest.fixture
def expected(short, tmp_path):
    return kills.in_a_child(kills.fit_and_save, short, tmp_path, resume=False)


def test_kills_lose_nothing(short, expected, rng):
    reported = [kills.one_kill(short, expected, 0.5, rng) for _ in range(4)]
    assert not any(happened.startswith("wrong") for happened in reported)


def test_other_draws_are_noticed(short, expected):
    happened = kills.one_kill(short, "other draws", 0.0, np.random.default_rng(0))
    assert happened.startswith("wrong")


def test_a_child_that_is_killed_returns_nothing():
    assert kills.in_a_child(kills.time.sleep, 60.0, kill_after=0.1) is None
    assert kills.in_a_child(abs, -3) == 3
