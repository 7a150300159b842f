import threading

import pytest

from disaggregate.parallel.monitor import Interrupted, Monitor


def sweeps_counted(monitor):
    (task,) = monitor._bar.tasks
    return task.completed


def test_sweeps_of_all_threads_are_counted():
    with Monitor(400, show=False) as monitor:
        threads = [threading.Thread(target=lambda: [monitor.on_sweeps(5) for _ in range(20)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sweeps_counted(monitor) == 400


def test_stop_interrupts_the_next_report():
    with Monitor(10, show=False) as monitor:
        monitor.on_sweeps(4)
        monitor.stop()
        with pytest.raises(Interrupted):
            monitor.on_sweeps(4)
        assert sweeps_counted(monitor) == 4


def test_a_function_is_told_of_progress_instead():
    told = []
    with Monitor(10, show=lambda *progress: told.append(progress), what="tuning") as monitor:
        monitor.on_sweeps(4)
        monitor.on_sweeps(6)
    assert told == [(0, 10, "tuning"), (4, 10, "tuning"), (10, 10, "tuning")]


@pytest.mark.parametrize("show", [False, True])
def test_bar_is_drawn_on_standard_error_when_asked_for(show, capsys):
    with Monitor(10, show=show) as monitor:
        monitor.on_sweeps(10)
    out, err = capsys.readouterr()
    assert out == ""
    assert ("10/10" in err) == show


def test_runs_that_need_more_sweeps_than_foreseen_never_show_more_than_all():
    told = []
    with Monitor(10, show=lambda *progress: told.append(progress[:2])) as monitor:
        monitor.on_sweeps(8)
        monitor.on_sweeps(8)
    assert told == [(0, 10), (8, 10), (10, 10)]
