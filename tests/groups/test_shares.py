from decimal import Decimal
from fractions import Fraction as Rational

import numpy as np
import pandas as pd
import pytest

from disaggregate.groups.evidence import AtLeast, Fraction
from disaggregate.groups.shares import evidence_of


@pytest.mark.parametrize("report", [0.5, np.float32(0.5), Decimal("0.5"), Rational(1, 2)])
def test_numbers_become_fractions(report):
    assert evidence_of("a", report, 7.0) == Fraction(0.5, 7.0)


@pytest.mark.parametrize("report", [0, 1, np.int64(1)])
def test_whole_numbers_are_shares_too(report):
    assert evidence_of("a", report, 7.0) == Fraction(float(report), 7.0)


def test_evidence_stays_as_it_is():
    assert evidence_of("a", AtLeast(2), {"b": 1.0}) == AtLeast(2)


def test_confidence_may_differ_by_group():
    assert evidence_of("a", 0.5, {"a": 3.0, "b": 4.0}) == Fraction(0.5, 3.0)
    with pytest.raises(ValueError, match="not for group 'a'"):
        evidence_of("a", 0.5, {"b": 4.0})


@pytest.mark.parametrize(
    ("report", "message"),
    [
        (None, "share of group 'a' is missing"),
        (np.nan, "share of group 'a' is missing"),
        (pd.NA, "share of group 'a' is missing"),
        (True, r"group 'a' is True, which can be read in two ways; .*AtLeast\(1\)"),
        ("0.5", "share of group 'a' must be a number from 0 to 1 or an evidence object, got '0.5'"),
        (AtLeast, "share of group 'a' must be a number"),
        (1j, "share of group 'a' must be a number"),
        (62.5, r"group 'a': .* got 62.5 \(divide a percentage by 100\)"),
        (-1e-9, "group 'a': Fraction expects a share from 0 to 1"),
    ],
)
def test_what_is_no_share_is_refused_with_the_group(report, message):
    with pytest.raises(ValueError, match=message):
        evidence_of("a", report, 7.0)


def test_bad_confidence_names_the_group():
    with pytest.raises(ValueError, match="group 'a': Fraction expects a confidence of 0 or more, got -3"):
        evidence_of("a", 0.5, -3)
