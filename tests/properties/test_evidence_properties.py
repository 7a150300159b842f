"""Whatever is given as evidence: refused by name, or a likelihood that makes sense."""

from decimal import Decimal

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from disaggregate.groups import evidence as kinds
from disaggregate.groups.grouped import group_rows

EXACT = settings(derandomize=True, deadline=None, max_examples=400, phases=[Phase.generate])
ODD = st.one_of(
    st.floats(),
    st.integers(),
    st.sampled_from([10**400, -(10**400), 5e-324, 1e308, Decimal("NaN"), Decimal("1E+500"), Decimal("0.5")]),
    st.booleans(),
    st.none(),
    st.text(max_size=3),
    st.sampled_from([np.float32(0.5), np.int8(3), np.array([0.5]), [], {}, 1j]),
)
SENSIBLE = st.one_of(st.integers(0, 12), st.floats(0.0, 1.0), st.sampled_from([0.0, 1.0, 5e-324]))
VALUE = st.one_of(SENSIBLE, ODD)
KINDS = [
    (kinds.Fraction, 2),
    (kinds.Count, 1),
    (kinds.AtLeast, 1),
    (kinds.AtMost, 1),
    (kinds.Between, 2),
    (kinds.Population, 2),
    (kinds.Survey, 2),
    (kinds.NoisyCount, 2),
]


def made(kind, values):
    try:
        return kind(*values)
    except ValueError as error:
        assert len(str(error)) > 10
        return None


@EXACT
@given(st.sampled_from(KINDS), st.tuples(VALUE, VALUE), st.integers(1, 12))
def test_evidence_is_refused_or_makes_sense(kind, values, n):
    report = made(kind[0], values[: kind[1]])
    if report is None:
        return
    assert hash(report) == hash(made(kind[0], values[: kind[1]]))
    try:
        data = group_rows(["g"] * n, {"g": report})
    except ValueError as error:
        assert "'g'" in str(error)
        return
    assert data.log_likelihood.shape == (n + 1,)
    assert not np.isnan(data.log_likelihood).any()
    assert np.isfinite(data.log_likelihood.max())


@EXACT
@given(st.lists(st.tuples(st.sampled_from(KINDS), st.tuples(SENSIBLE, SENSIBLE)), max_size=4), st.integers(1, 8))
def test_several_reports_hold_together_or_are_refused(parts, n):
    reports = [report for kind, values in parts if (report := made(kind[0], values[: kind[1]])) is not None]
    together = made(kinds.AllOf, (reports,))
    if together is None:
        assert not reports
        return
    try:
        likelihood = together.log_likelihood(n)
    except ValueError as error:
        assert len(str(error)) > 10
        return
    assert not np.isnan(likelihood).any()
