import builtins
import sys
import threading

import pytest
from rich.console import Console

from disaggregate.parallel.monitor import Interrupted, Monitor, progress_console


def test_sweeps_of_all_threads_are_counted():
    reported = []
    with Monitor(400, callback=lambda *progress: reported.append(progress[0])) as monitor:
        threads = [threading.Thread(target=lambda: [monitor.on_sweeps(5) for _ in range(20)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert reported == list(range(0, 401, 5))


def test_stop_interrupts_the_next_report():
    with Monitor(10, None) as monitor:
        monitor.on_sweeps(4)
        monitor.stop()
        with pytest.raises(Interrupted):
            monitor.on_sweeps(4)


def test_a_function_is_reported_progress():
    reported = []
    with Monitor(10, callback=lambda *progress: reported.append(progress), what="tuning") as monitor:
        monitor.on_sweeps(4)
        monitor.on_sweeps(6)
    assert reported == [(0, 10, "tuning"), (4, 10, "tuning"), (10, 10, "tuning")]


def test_runs_that_need_more_sweeps_than_foreseen_never_show_more_than_all():
    reported = []
    with Monitor(10, callback=lambda *progress: reported.append(progress[:2])) as monitor:
        monitor.on_sweeps(8)
        monitor.on_sweeps(8)
    assert reported == [(0, 10), (8, 10), (10, 10)]


def test_progress_needs_no_widgets_in_a_notebook(monkeypatch):
    class ZMQInteractiveShell:
        """What a notebook runs in, by its name."""

    monkeypatch.setattr(builtins, "get_ipython", ZMQInteractiveShell, raising=False)
    assert Console().is_jupyter
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    assert not progress_console().is_jupyter
