import numpy as np
import pandas as pd
import pytest

from benchmarks.stress import HARMS, harmed, report


@pytest.mark.parametrize("name", ["nothing", "misreported", "inexact", "a little", "a lot", "make-up"])
def test_other_settings_see_the_same_data(name):
    data = harmed(np.random.default_rng(0), HARMS[name])
    for other in (other for other in HARMS if other.startswith(f"{name}, ")):
        twin = harmed(np.random.default_rng(0), HARMS[other])
        assert np.array_equal(twin.X, data.X)
        assert np.array_equal(twin.reports, data.reports)


def test_make_up_differs_only_where_it_matters_or_is_asked_for():
    assert not HARMS["a lot, effects"].has_make_up
    assert HARMS["make-up, effects"].has_make_up
    assert HARMS["no make-up, context"].has_make_up


def test_rows_stand_in_the_order_of_the_harms():
    rows = pd.DataFrame(
        {
            "case": ["a lot", "a lot", "nothing"],
            "seed": [0, 1, 0],
            "alarm": [1.0, 0.0, 0.0],
            "50%": 0.5,
            "90%": [0.8, 1.0, 0.9],
        }
    )
    lines = report(rows).splitlines()
    assert lines[-2].startswith("| nothing: the model is right | 1 |")
    assert lines[-1].endswith("(1.0 on the probit scale) | 2 | 50.0% ± 0.0% | 90.0% ± 10.0% | 50% |")


def test_the_same_stands_only_after_what_it_is_the_same_as():
    alone = pd.DataFrame({"case": ["a lot, effects"], "seed": 0, "alarm": 0.0, "50%": 0.5, "90%": 0.9})
    assert report(alone).splitlines()[-1].startswith(f"| {HARMS['a lot'].description}, `group_effects=True` | 1 |")
    both = pd.concat([alone, alone.assign(case="a lot")])
    assert report(both).splitlines()[-1].startswith("| the same, `group_effects=True` | 1 |")
