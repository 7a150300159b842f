"""As many digits as intervals are worth."""

import numpy as np
import pandas as pd
import pytest

from disaggregate.tables.rounding import in_digits, worthwhile_digits


def digits(*halves, fewest=2):
    low = np.zeros(len(halves))
    table = pd.DataFrame({"conf_low": low, "conf_high": 2.0 * np.array(halves)})
    return worthwhile_digits(table, fewest).tolist()


def test_two_digits_of_half_an_interval():
    assert digits(0.03) == [3]
    assert digits(0.0003) == [5]
    assert digits(40.0) == [2]
    assert digits(40.0, fewest=3) == [3]


def test_rows_of_about_the_same_width_have_the_same_digits():
    assert digits(0.11, 0.09, 0.12) == [2, 2, 2]
    assert digits(0.012, 0.09, 0.02) == [3, 3, 3]


def test_rows_of_other_widths_have_their_own():
    assert digits(0.1, 0.1, 4e-6) == [2, 2, 7]
    assert digits(0.1, 4e-6, 4e-6) == [2, 7, 7]


def test_no_width_no_digits_of_its_own():
    assert digits(np.nan, 0.0, 0.02) == [2, 2, 3]
    assert digits(np.nan) == [2]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.1234, "0.123"),
        (-1234.5, "-1,234.500"),
        (0.0003, "0.0003"),
        (-0.00004, "-0.00004"),
        (0.000049, "0.00005"),
        (2e-22, "0.000"),
        (-2e-22, "0.000"),
        (-0.0, "0.000"),
        (np.nan, "nan"),
    ],
)
def test_what_is_small_is_not_called_zero_unless_it_is_nothing(value, written):
    assert in_digits(value, 3) == written
