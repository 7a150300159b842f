"""One line for a whole fit, and how long it will take."""

import logging

import pytest

from disaggregate.parallel.durations import duration
from disaggregate.parallel.fit_progress import FitProgress, Forecast, fit_progress


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self):
        return self.now


def run(progress, clock, stages):
    """Go through stages of (what, sweeps, seconds) in ten steps each."""
    for what, n_sweeps, seconds in stages:
        for step in range(11):
            progress(step * n_sweeps // 10, n_sweeps, what)
            clock.now += seconds / 10 if step < 10 else 0.0


def test_the_time_that_is_left_is_that_of_all_stages():
    forecast = Forecast(800)
    forecast.update(0, 200, "tuning", 100.0)
    forecast.update(20, 200, "tuning", 108.0)
    assert forecast.seconds_left is None  # what went before the first sweeps says nothing of the others
    forecast.update(100, 200, "tuning", 116.0)
    assert forecast.share == pytest.approx(0.1)
    assert forecast.seconds_left == pytest.approx(90.0)


def test_a_stage_has_a_pace_of_its_own():
    forecast = Forecast(800)
    for n_done, now in ((0, 0.0), (20, 2.0), (200, 20.0)):
        forecast.update(n_done, 200, "tuning", now)
    forecast.update(0, 800, "sampling", 20.0)
    assert forecast.seconds_left == pytest.approx(80.0)
    forecast.update(100, 800, "sampling", 50.0)
    forecast.update(200, 800, "sampling", 80.0)
    assert forecast.seconds_left == pytest.approx(180.0)
    forecast.update(800, 800, "sampling", 260.0)
    assert forecast.seconds_left == 0.0


def test_stages_that_nobody_foresaw_never_take_the_line_back():
    forecast = Forecast(100)
    shares = []
    for n_done, n_sweeps, what in [(0, 50, "tuning"), (50, 50, "tuning"), (0, 500, "tuning"), (100, 500, "tuning"),
                                   (0, 100, "sampling"), (100, 100, "sampling")]:  # fmt: skip
        forecast.update(n_done, n_sweeps, what, float(len(shares)))
        shares.append(forecast.share)
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


def test_rounds_of_draws_that_are_expected_count_until_the_chains_are_done():
    forecast = Forecast(400)
    for n_done, now in ((0, 0.0), (10, 1.0), (100, 10.0)):
        forecast.update(n_done, 100, "sampling", now)
    assert forecast.share == pytest.approx(0.25)
    assert forecast.seconds_left == pytest.approx(30.0)
    forecast.update(0, 200, "sampling", 10.0)
    assert forecast.seconds_left == pytest.approx(30.0)
    forecast.update(200, 200, "sampling", 30.0)
    assert forecast.share == pytest.approx(0.75)
    forecast.update(0, 300, "sampling", 30.0)  # more than were expected
    assert forecast.seconds_left == pytest.approx(30.0)


def test_the_line_ends_full_when_fewer_rounds_were_needed(capsys):
    clock = Clock()
    with FitProgress(4000, True, clock) as progress:
        run(progress, clock, LONG)
    assert "100%" in capsys.readouterr().err


LONG = [("comparing kernels", 100, 5.0), ("sampling", 400, 20.0)]
SHORT = [("comparing kernels", 100, 0.5), ("sampling", 400, 2.0)]


@pytest.mark.parametrize(
    ("show", "stages", "is_shown"),
    [(True, LONG, True), (True, SHORT, True), ("auto", LONG, True), ("auto", SHORT, False), (False, LONG, False)],
)
def test_one_line_is_shown_where_it_is_asked_for_or_the_fit_is_long(show, stages, is_shown, capsys):
    clock = Clock()
    with FitProgress(400, show, clock) as progress:
        run(progress, clock, stages)
    out, err = capsys.readouterr()
    assert out == ""
    assert ("100%" in err) == is_shown
    assert err.count("%") == is_shown
    assert "left" not in err  # nothing is, in the end
    assert ("this fit takes about 25 seconds" in err) == (is_shown and stages is LONG)


def test_the_log_is_reported_once_how_long_it_takes(caplog):
    clock = Clock()
    with caplog.at_level(logging.INFO, "disaggregate"), FitProgress(400, False, clock) as progress:
        run(progress, clock, LONG)
    assert caplog.messages == ["this fit takes about 25 seconds"]


def test_a_function_is_called_instead():
    def reported(n_done, n_sweeps, what):
        """Do nothing."""

    with fit_progress(10, reported) as progress:
        assert progress is reported


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 second"), (19.0, "19 seconds"), (43.0, "45 seconds"), (150.0, "2 minutes")]
)
def test_times_are_reported_in_words(seconds, words):
    assert duration(seconds) == words
