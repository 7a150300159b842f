import math
from dataclasses import FrozenInstanceError, fields
from decimal import Decimal
from fractions import Fraction as Rational
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.integrate import quad

from disaggregate.groups.evidence import (
    AllOf,
    AtLeast,
    AtMost,
    Between,
    Count,
    Fraction,
    NoisyCount,
    Population,
    RoundedCount,
    Survey,
    Unknown,
)

SIZES = [1, 2, 7, 40]
NAN, INF = math.nan, math.inf


# ---- the paper's Beta ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("confidence", [0.0, 0.5, 5.0, 1000.0, 1e5])
@pytest.mark.parametrize("share", [0.01, 0.25, 0.5, 0.73])
def test_fraction_is_the_beta_density_with_its_normaliser(share, confidence, n):
    fraction = np.arange(n + 1) / n
    expected = stats.beta.logpdf(share, confidence * fraction + 1, confidence * (1 - fraction) + 1)
    assert_allclose(Fraction(share, confidence).log_likelihood(n), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("k", [0, 1, 3])
def test_fraction_is_a_density_of_the_report_for_every_count(k):
    total, _ = quad(lambda share: math.exp(Fraction(share, 12.0).log_likelihood(3)[k]), 0.0, 1.0)
    assert total == pytest.approx(1.0, abs=1e-8)


def test_normaliser_changes_the_likelihood_ratio_between_counts():
    """Trap 2 of the design: what the paper drops as a constant depends on the count."""
    n, share, confidence = 10, 0.3, 50.0
    fraction = np.arange(n + 1) / n
    dropped = confidence * (fraction * np.log(share) + (1 - fraction) * np.log1p(-share))
    kept = Fraction(share, confidence).log_likelihood(n)
    assert np.argmax(dropped) == 0  # without it the fewest positives always look best below one half
    assert np.argmax(kept) == 3
    assert abs((kept[3] - kept[0]) - (dropped[3] - dropped[0])) > 20.0


@pytest.mark.parametrize("confidence", [1e-300, 1.0, 1000.0, 1e9])
@pytest.mark.parametrize("n", SIZES)
def test_share_of_0_means_all_negative_and_1_all_positive(n, confidence):
    none, everyone = (Fraction(share, confidence).log_likelihood(n) for share in (0.0, 1.0))
    assert none[0] == pytest.approx(math.log1p(confidence), rel=1e-6)
    assert_array_equal(none[1:], -INF)
    assert_array_equal(everyone, none[::-1])


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_confidence_0_says_nothing(share):
    assert_array_equal(Fraction(share, 0.0).log_likelihood(6), 0.0)


@pytest.mark.parametrize(
    ("share", "n", "possible"),
    [
        (0.5, 4, [2]),
        (0.5, 3, [1, 2]),
        (0.3, 3, [1]),
        (0.0, 3, [0]),
        (1.0, 3, [3]),
        (1e-12, 5, [0]),
        (0.21, 2, [1]),  # 0 is nearer to the share, but the Beta's divergence decides
        (0.3333, 9, [3]),
    ],
)
def test_infinite_confidence_leaves_the_counts_nearest_to_the_share(share, n, possible):
    exact = Fraction(share, INF).log_likelihood(n)
    assert_array_equal(np.flatnonzero(exact == 0.0), possible)
    assert_array_equal(np.delete(exact, possible), -INF)
    for confidence in (1e9, 1e11):
        nearly = Fraction(share, confidence).log_likelihood(n)
        assert_allclose(np.exp(nearly - nearly.max())[possible], 1.0, atol=0.01)
        assert np.exp(nearly - nearly.max()).sum() == pytest.approx(len(possible), abs=0.01)
    assert_array_equal(Fraction(share, 1e15).log_likelihood(n), exact)


@pytest.mark.parametrize("share", [5e-324, 1e-300, 0.1, 1.0 - 1e-16])
@pytest.mark.parametrize("confidence", [1e-9, 1000.0, 1e9, 1e12 - 1, INF])
def test_every_share_leaves_a_finite_likelihood_for_some_count(share, confidence):
    vector = Fraction(share, confidence).log_likelihood(30)
    assert not np.isnan(vector).any()
    assert np.isfinite(vector.max())


# ---- bounds and tallies -------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 5])
@pytest.mark.parametrize(
    ("evidence", "agrees"),
    [
        (Count(0), lambda k: k == 0),
        (Count(1), lambda k: k == 1),
        (AtLeast(), lambda k: k >= 1),
        (AtLeast(0), lambda k: True),
        (AtMost(1), lambda k: k <= 1),
        (AtMost(99), lambda k: True),
        (Between(1, 3), lambda k: 1 <= k <= 3),
        (Between(0, 0), lambda k: k == 0),
        (Unknown(), lambda k: True),
    ],
)
def test_bounds_are_0_inside_and_impossible_outside(evidence, agrees, n):
    expected = [0.0 if agrees(k) else -INF for k in range(n + 1)]
    assert_array_equal(evidence.log_likelihood(n), expected)


# ---- samples ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("size", [None, 40, 10**18])
@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_a_population_says_nothing_of_the_members_own_count(share, size, n):
    assert_array_equal(Population(share, size).log_likelihood(n), np.zeros(n + 1))
    assert_array_equal(Population(share, size).weighted_log_likelihood(3 * n, float(n)), np.zeros(3 * n + 1))
    assert Population(share, size).support(n) == (0, n)


def test_only_a_population_speaks_of_one():
    whole = Population(0.3, 50)
    assert whole.population is whole
    for other in (Fraction(0.3), Count(1), Survey(1, 2), NoisyCount(1.0, 1.0), AtLeast(1), Unknown()):
        assert other.population is None


@pytest.mark.parametrize(("positives", "sampled"), [(0, 0), (0, 2), (1, 2), (3, 3), (2, 5)])
def test_survey_is_the_chance_of_drawing_that_many_from_the_members(positives, sampled):
    n = 5
    polls = list(combinations(range(n), sampled))
    with np.errstate(divide="ignore"):
        expected = np.log(
            [np.mean([sum(m < k for m in poll) == positives for poll in polls]) for k in range(n + 1)]
        )
    assert_allclose(Survey(positives, sampled).log_likelihood(n), expected, atol=1e-12)
    assert_allclose(expected, stats.hypergeom.logpmf(positives, n, np.arange(n + 1), sampled), atol=1e-9)


# ---- noise --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "scale"), [(3.0, 1.0), (-4.2, 0.1), (2.5, 30.0), (10.0, 0.05)])
@pytest.mark.parametrize(("noise", "law"), [("laplace", stats.laplace), ("gaussian", stats.norm)])
def test_noisy_count_is_the_density_of_the_noise(value, scale, noise, law):
    expected = law.logpdf(value, loc=np.arange(8), scale=scale)
    assert_allclose(NoisyCount(value, scale, noise).log_likelihood(7), expected, rtol=1e-10)


@pytest.mark.parametrize(
    "evidence", [NoisyCount(2.4, 1e-310), NoisyCount(2.4, 1e-200, "gaussian"), NoisyCount(1e300, 1.0, "gaussian")]
)
def test_noise_beyond_all_numbers_is_impossible_not_nan(evidence):
    assert_array_equal(evidence.log_likelihood(4), -INF)


@pytest.mark.parametrize("base", [1, 3, 5])
def test_a_rounded_count_is_the_law_of_unbiased_rounding(base):
    n = 12
    published = np.arange(0, n + base + 1, base)
    published = published[published - base < n]
    law = np.exp([RoundedCount(value, base).log_likelihood(n) for value in published])
    assert_allclose(law.sum(axis=0), 1.0)  # each count is rounded to something
    assert_allclose(published @ law, np.arange(n + 1))  # and right on average
    assert ((law > 0.0).sum(axis=0) <= 2).all()
    assert_array_equal(law[:, ::base], np.eye(len(published))[:, : n // base + 1])  # multiples stay


# ---- counts that have any weight ----------------------------------------------------------------------

LIKELY = [
    *(Fraction(share, chi) for share in (0.0, 1e-9, 0.02, 0.5, 1.0) for chi in (0.0, 5.0, 1000.0, 1e9, INF)),
    Count(7),
    Between(3, 9),
    AtLeast(12),
    AtMost(5),
    Population(0.3, 5000),
    Survey(3, 12),
    NoisyCount(20.0, 1.0, "gaussian"),
    NoisyCount(-2.0, 0.5, "gaussian"),
    RoundedCount(10, 5),
    RoundedCount(0, 3),
    Unknown(),
    AllOf((Fraction(0.3), Fraction(0.4))),
    AllOf((Fraction(0.3, 10.0), AtLeast(1))),
    AllOf((Population(0.3, 5000), AtMost(4))),
    AllOf((Fraction(0.1), Fraction(0.9))),
]
LITTLE = 30.0


def most_outside(evidence, n):
    """Return how far below the likeliest count the likeliest one outside the support is."""
    values, (low, high) = evidence.log_likelihood(n), evidence.support(n)
    assert 0 <= low <= high <= n
    return values.max() - max([-INF, *values[:low], *values[high + 1 :]])


@pytest.mark.parametrize("n", [12, 40, 1500])
@pytest.mark.parametrize("evidence", LIKELY, ids=repr)
def test_no_count_outside_the_support_has_weight(evidence, n):
    assert most_outside(evidence, n) >= LITTLE


@pytest.mark.parametrize(
    "evidence",
    [
        NoisyCount(50.0, 1.0),  # 24 scales of Laplace noise are 24 in log likelihood
        NoisyCount(-100.0, 1.0),  # the value is far from every count, so that all are nearly as far
        NoisyCount(-3000.0, 100.0, "gaussian"),
        AllOf((Fraction(0.3), Fraction(0.6))),  # both supports end just where the two reports meet
    ],
    ids=repr,
)
def test_no_count_outside_a_narrow_support_has_weight(evidence):
    assert most_outside(evidence, 1000) >= LITTLE


def test_a_support_is_narrow_where_the_report_is():
    assert Count(7).support(10**9) == (7, 7)
    assert Fraction(1.0).support(10**9) == (10**9, 10**9)
    low, high = Fraction(0.3).support(10**9)
    assert low < 0.3 * 10**9 < high
    assert high - low < 0.4 * 10**9
    assert AllOf((Fraction(0.3), AtLeast(3 * 10**8))).support(10**9) == (3 * 10**8, high)


@pytest.mark.parametrize("n", [12, 40, 1500])
@pytest.mark.parametrize("evidence", LIKELY, ids=repr)
def test_some_counts_have_the_log_likelihood_that_they_have_among_all(evidence, n):
    low, high = evidence.support(n)
    counts = np.unique(
        np.rint(np.concatenate([np.arange(low, high + 1, 2), [high], np.linspace(0, n, 5)]))
    ).astype(int)
    if evidence in (Fraction(share, INF) for share in (1e-9, 0.02, 0.5)):
        counts = np.arange(low, high + 1)
    assert_allclose(evidence.log_likelihood_at(counts, n), evidence.log_likelihood(n)[counts], rtol=1e-12)


@pytest.mark.parametrize("evidence", [Fraction(0.5, INF), AllOf((AtLeast(3), Unknown()))], ids=repr)
def test_counts_that_are_asked_for_do_not_change_each_other(evidence):
    assert_array_equal(evidence.log_likelihood_at(np.arange(2), 10), [-INF, -INF])


@pytest.mark.parametrize(
    "evidence",
    [Count(4), AtLeast(4), Between(4, 9), Population(0.5, 2), Survey(1, 4), RoundedCount(10, 5)],
    ids=repr,
)
def test_reports_that_do_not_fit_the_group_are_refused_at_some_counts_too(evidence):
    with pytest.raises(ValueError, match=r"in a group of 3|3 members|3 sampled"):
        evidence.log_likelihood_at(np.arange(2), 3)


# ---- every kind ---------------------------------------------------------------------------------------

EVERY_KIND = [
    (Fraction(0.7), Fraction(0.7, 1000.0), Fraction(0.7, 10.0)),
    (Fraction(np.float64(0.5)), Fraction(Rational(1, 2)), Fraction(0.25)),
    (Fraction(Decimal("0.5"), np.int64(7)), Fraction(0.5, 7.0), Fraction(0.5, 8)),
    (Count(3), Count(np.int64(3)), Count(2)),
    (Count(3.0), Count(3), Count(4)),
    (AtLeast(), AtLeast(1), AtLeast(2)),
    (AtMost(1), AtMost(np.int8(1)), AtMost(2)),
    (Between(1, 2), Between(1.0, 2.0), Between(1, 3)),
    (Population(0.3), Population(0.3, None), Population(0.3, 10)),
    (Population(0.3, 50), Population(0.3, 50.0), Population(0.4, 50)),
    (Survey(1, 2), Survey(np.int64(1), 2), Survey(2, 2)),
    (NoisyCount(1, 2), NoisyCount(1.0, 2.0, "laplace"), NoisyCount(1.0, 2.0, "gaussian")),
    (RoundedCount(5, 5), RoundedCount(5.0, np.int8(5)), RoundedCount(10, 5)),
    (Unknown(), Unknown(), Count(0)),
]


@pytest.mark.parametrize(("one", "same", "other"), EVERY_KIND, ids=lambda evidence: repr(evidence))
def test_evidence_is_frozen_and_equal_by_value(one, same, other):
    assert one == same
    assert hash(one) == hash(same)
    assert repr(one) == repr(same)
    assert one != other
    assert len({one, same, other}) == 2
    name = fields(one)[0].name if fields(one) else "anything"
    with pytest.raises(FrozenInstanceError):
        setattr(one, name, 1)


@pytest.mark.parametrize(
    ("evidence", "share"),
    [
        (Fraction(0.3), 0.3),
        (Count(3), 0.75),
        (Population(0.3, 10), 0.3),
        (Survey(1, 2), 0.5),
        (Survey(0, 0), NAN),
        (NoisyCount(5.0, 1.0), 1.25),
        (RoundedCount(3, 3), 0.75),
        (RoundedCount(5, 5), 1.0),
        (AtLeast(1), NAN),
        (AtMost(1), NAN),
        (Between(1, 2), NAN),
        (Unknown(), NAN),
    ],
    ids=repr,
)
def test_reported_share_of_a_group_of_four(evidence, share):
    assert evidence.reported_share(4) == pytest.approx(share, nan_ok=True)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Fraction(-0.1), r"Fraction expects a share from 0 to 1, got -0\.1"),
        (lambda: Fraction(73), r"got 73 \(divide a percentage by 100\)"),
        (lambda: Fraction(250), r"got 250\.$"),
        (lambda: Fraction(NAN), "share from 0 to 1, got nan"),
        (lambda: Fraction(Decimal("NaN")), "share from 0 to 1"),
        (lambda: Fraction("0.5"), "share from 0 to 1, got '0.5'"),
        (lambda: Fraction(None), "share from 0 to 1, got None"),
        (lambda: Fraction(True), "share from 0 to 1, got True"),
        (lambda: Fraction(np.True_), "share from 0 to 1"),
        (lambda: Fraction(0.5, -1), "confidence of 0 or more, got -1"),
        (lambda: Fraction(0.5, NAN), "confidence of 0 or more, got nan"),
        (lambda: Fraction(0.5, "high"), "confidence of 0 or more, got 'high'"),
        (lambda: Fraction(0.5, True), "confidence of 0 or more, got True"),
        (lambda: Count(-1), "Count expects positives to be a whole number of 0 or more, got -1"),
        (lambda: Count(1.5), "whole number of 0 or more, got 1.5"),
        (lambda: Count(NAN), "whole number of 0 or more, got nan"),
        (lambda: Count(INF), "whole number of 0 or more, got inf"),
        (lambda: Count("1"), "whole number of 0 or more, got '1'"),
        (lambda: Count(True), "whole number of 0 or more, got True"),
        (lambda: AtLeast(-1), "AtLeast expects positives"),
        (lambda: AtMost(0.5), "AtMost expects positives"),
        (lambda: Between(-1, 2), "Between expects low"),
        (lambda: Between(0, "2"), "Between expects high"),
        (lambda: Between(3, 2), "low <= high, got low=3 and high=2"),
        (lambda: Population(1.01), "Population expects a share from 0 to 1"),
        (lambda: Population(False), "Population expects a share from 0 to 1"),
        (lambda: Population(0.5, -3), "Population expects size"),
        (lambda: Population(0.5, 10.5), "Population expects size"),
        (lambda: RoundedCount(4, 3), "RoundedCount expects value to be a multiple of base"),
        (lambda: RoundedCount(0, 0), "multiple of base"),
        (lambda: RoundedCount(3.5, 3), "RoundedCount expects value"),
        (lambda: Survey(3, 2), "no more positives than people sampled, got positives=3 and sampled=2"),
        (lambda: Survey(-1, 2), "Survey expects positives"),
        (lambda: Survey(1, NAN), "Survey expects sampled"),
        (lambda: NoisyCount(NAN, 1.0), "NoisyCount expects a finite value, got nan"),
        (lambda: NoisyCount("3", 1.0), "NoisyCount expects a finite value, got '3'"),
        (lambda: NoisyCount(True, 1.0), "NoisyCount expects a finite value, got True"),
        (lambda: NoisyCount(3.0, 0.0), "positive, finite scale, got 0.0"),
        (lambda: NoisyCount(3.0, INF), "positive, finite scale, got inf"),
        (lambda: NoisyCount(3.0, "1"), "positive, finite scale, got '1'"),
        (lambda: NoisyCount(3.0, 1.0, "uniform"), "noise='laplace' or 'gaussian', got 'uniform'"),
    ],
)
def test_impossible_reports_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        (Count(4), r"Count\(4\) cannot hold in a group of 3"),
        (AtLeast(4), r"AtLeast\(4\) cannot hold in a group of 3"),
        (Between(4, 9), r"Between\(4, 9\) cannot hold in a group of 3"),
        (Survey(1, 4), r"Survey\(sampled=4\) expects at most the group's 3 members"),
        (Population(0.5, 2), r"Population\(size=2\) expects at least as many people as its 3 sampled"),
    ],
    ids=repr,
)
def test_reports_that_do_not_fit_the_group_are_refused(evidence, message):
    with pytest.raises(ValueError, match=message):
        evidence.log_likelihood(3)


# ---- several reports at once --------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 7, 40])
def test_reports_that_all_hold_multiply(n):
    parts = (Fraction(0.3, 10.0), AtLeast(1))
    expected = parts[0].log_likelihood(n)
    expected[0] = -INF
    assert_allclose(AllOf(parts).log_likelihood(n), expected)
    assert AllOf(parts).reported_share(n) == 0.3
    assert math.isnan(AllOf((AtLeast(1),)).reported_share(n))


def test_reports_that_contradict_each_other_are_refused():
    with pytest.raises(ValueError, match="contradict each other"):
        AllOf((Count(2), AtLeast(3))).log_likelihood(5)


@pytest.mark.parametrize("parts", [(), [], None, 3, (0.5,), (Count(1), "more")])
def test_all_of_something_else_is_refused(parts):
    with pytest.raises(ValueError, match="expects some pieces of evidence"):
        AllOf(parts)


def test_equal_reports_are_equal():
    assert AllOf([Count(1), AtLeast(1)]) == AllOf((Count(1), AtLeast(1)))
    assert hash(AllOf([Count(1)])) == hash(AllOf((Count(1),)))


def test_what_is_known_of_the_members_of_a_sample_holds_beside_its_population():
    sample = Population(0.3, 500)
    both = AllOf((AtLeast(2), sample))
    assert both.population is sample
    assert AllOf((AtLeast(2), Unknown())).population is None
    assert AllOf((Count(1), AllOf((Unknown(), sample)))).population is sample
    assert_array_equal(both.log_likelihood(4), AtLeast(2).log_likelihood(4))
    assert both.support(4) == (2, 4)
    assert both.reported_share(4) == 0.3
    with pytest.raises(ValueError, match=r"Population\(size=500\) expects at least as many people"):
        both.log_likelihood(501)
