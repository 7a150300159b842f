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
    (kinds.RoundedCount, 2),
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


@EXACT
@given(st.sampled_from(KINDS), st.tuples(VALUE, VALUE), st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_cells_are_refused_or_known_as_their_people_are(kind, values, counts):
    report = made(kind[0], values[: kind[1]])
    if report is None:
        return

    def known(ids, **more):
        try:
            return group_rows(ids, {"g": report}, **more).log_likelihood.tolist()
        except ValueError as error:
            return str(error)

    assert known(["g"] * len(counts), counts=np.array(counts)) == known(["g"] * sum(counts))


SHARE = st.one_of(st.floats(0.0, 1.0), st.floats(-300.0, -1.0).map(lambda power: 10.0**power))
CONFIDENCE = st.one_of(st.floats(-3.0, 14.0).map(lambda power: 10.0**power), st.sampled_from([0.0, np.inf]))


@EXACT
@given(SHARE, CONFIDENCE, st.integers(1, 300))
def test_no_count_outside_the_support_of_a_share_has_weight(share, confidence, n):
    for report in (kinds.Fraction(share, confidence), kinds.Fraction(1.0 - share, confidence)):
        assert_nothing_outside(report, n)


@EXACT
@given(st.sampled_from(KINDS[1:7]), st.tuples(SENSIBLE, SENSIBLE), st.integers(1, 12))
def test_no_count_outside_the_support_of_other_reports_has_weight(kind, values, n):
    report = made(kind[0], values[: kind[1]])
    if report is None:
        return
    try:
        report.log_likelihood(n)
    except ValueError:
        return
    assert_nothing_outside(report, n)


def assert_nothing_outside(report, n):
    low, high = report.support(n)
    assert 0 <= low <= high <= n
    likelihood = report.log_likelihood(n)
    outside = np.delete(likelihood, slice(low, high + 1))
    assert (outside <= likelihood.max() - 30.0).all()
    inside = np.arange(low, high + 1)
    np.testing.assert_allclose(report.log_likelihood_at(inside, n), likelihood[inside], rtol=1e-12)
