"""Fits as processes: a few at a time, stopped, killed, failed and resumed; the processes only pretend to fit."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from disaggregate.web import fits
from disaggregate.web.fits import CHECKPOINT, PROGRESS, STATUS, Fits

JOB = {"resume": False}
SLEEPS = "import time; time.sleep(60)"
STOPS = f"""
import json, signal, time
try:
    open("ready", "w").close()
    time.sleep(60)
except KeyboardInterrupt:
    open({STATUS!r}, "w").write(json.dumps({{"state": "done", "stopped_early": "half"}}))
"""


@pytest.fixture
def started(tmp_path, monkeypatch):
    """Start a fit that runs this code."""
    running = Fits(2)

    def start(key, code, job=JOB):
        folder = tmp_path / key
        folder.mkdir(exist_ok=True)
        monkeypatch.setattr(
            fits, "launched", lambda where: subprocess.Popen([sys.executable, "-c", code], cwd=where)
        )
        running.start(key, folder, job)
        return running, folder

    yield start
    running.close()


def until(condition, seconds=20.0):
    end = time.time() + seconds
    while not condition():
        assert time.time() < end
        time.sleep(0.05)


def test_only_so_many_run_and_others_wait(started):
    for key in ("a", "b", "c"):
        running, _ = started(key, SLEEPS)
    assert [running.state(key)["state"] for key in "abc"] == ["running", "running", "waiting"]
    assert running.state("c")["ahead"] == 2
    running.forget("a")
    assert running.state("c")["state"] == "running"
    assert running.state("nobody") == {"state": "none"}


def test_a_stopped_fit_keeps_what_it_drew(started):
    running, folder = started("a", STOPS)
    until((folder / "ready").exists)
    running.stop("a")
    until(lambda: running.state("a")["state"] == "done")
    assert running.state("a")["stopped_early"] == "half"


def test_what_is_left_becomes_less_while_nothing_is_reported(started):
    running, folder = started("a", SLEEPS)
    for age, least, most in ((0.0, 9.0, 10.0), (4.0, 5.0, 6.0), (60.0, 0.0, 0.0)):
        reported = {"what": "comparing kernels", "done": 0, "total": 0, "left": 10.0, "at": time.time() - age}
        (folder / PROGRESS).write_text(json.dumps(reported))
        assert least <= running.state("a")["left"] <= most


def test_a_killed_fit_is_reported_and_can_be_resumed(started):
    running, folder = started("a", SLEEPS)
    (folder / CHECKPOINT).write_text("so far")
    os.kill(running._known["a"].process.pid, signal.SIGKILL)
    until(lambda: running.state("a")["state"] == "killed")
    assert running.state("a")["can_resume"]
    assert running.state("a")["code"] == -signal.SIGKILL
    started("a", SLEEPS, {"resume": True})
    assert running.state("a")["state"] == "running"
    assert (folder / CHECKPOINT).exists()
    assert json.loads((folder / "job.json").read_text())["resume"]


def test_a_fit_that_does_not_stop_is_ended_unless_it_writes(started, monkeypatch):
    monkeypatch.setattr(fits, "GRACE_SECONDS", 0.2)
    deaf = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); open('ready', 'w').close()"
    running, folder = started("a", f"{deaf}; {SLEEPS}")
    until((folder / "ready").exists)
    (folder / PROGRESS).write_text(json.dumps({"what": "writing"}))
    running.stop("a")
    time.sleep(0.5)
    assert running.state("a")["state"] == "stopping"
    (folder / PROGRESS).write_text(json.dumps({"what": "sampling"}))
    until(lambda: running.state("a")["state"] == "stopped")


def test_a_new_fit_does_not_see_the_old_one(started):
    running, folder = started("a", "pass")
    until(lambda: running.state("a")["state"] == "killed")
    for name in (CHECKPOINT, STATUS):
        (folder / name).write_text("{}")
    started("a", SLEEPS)
    assert not (folder / CHECKPOINT).exists()
    assert running.state("a")["state"] == "running"


def test_a_failure_is_reported_in_words(started):
    code = f"import json; open({STATUS!r}, 'w').write(json.dumps({{'state': 'failed', 'message': 'no memory'}}))"
    running, _ = started("a", code)
    until(lambda: running.state("a")["state"] == "failed")
    assert running.state("a")["message"] == "no memory"
