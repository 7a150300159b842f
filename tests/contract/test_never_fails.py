"""Whatever passes validation is fitted: no chain raises, and nothing that comes out is NaN or out of range.

Runtime warnings are errors here, as everywhere in these tests.
"""

import numpy as np
import pytest
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

from disaggregate.groups.evidence import (
    AtLeast,
    Between,
    Count,
    Fraction,
    NoisyCount,
    Population,
    Survey,
    Unknown,
)
from tests.contract.small import GROUPS, KINDS, MOVES, SHARES, small_features, small_fit

# What must never fail does so in few sweeps, and a pilot of full length would take most of the time.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("short_pilots"),
]
EACH_KIND = pytest.mark.parametrize("kind", list(KINDS))
EACH_SWEEP = pytest.mark.parametrize("kind", list(MOVES))  # for what only the columns of a fit depend on


X = small_features()
CROWD = small_features(2000, seed=1)


def numbers_of(posterior):
    """All numbers that were drawn."""
    for part in posterior.parts:
        yield part.weights if isinstance(part.weights, np.ndarray) else part.weights.data
        if part.places is not None:
            yield part.places
    yield from posterior.scales.values()


def assert_sound(X, shares, groups, kind, n_draws=8, **settings):
    """Fit, and look at everything that a fit offers."""
    model = small_fit(kind, X, shares, groups, n_draws=n_draws, n_burn=4, **settings)
    for numbers in numbers_of(model.posterior_):
        assert np.isfinite(numbers).all()
    for scale in model.posterior_.scales.values():
        assert (scale > 0).all()
    for known in (None, groups):
        probability, draws = model.predict_proba(X, known), model.predict_draws(X, known)
        interval = model.predict_interval(X, groups=known)
        assert draws.shape == (2, n_draws, len(X))
        for values in (probability, interval, draws, model.label_proba_):
            assert np.isfinite(values).all()
            assert values.min() >= 0.0
            assert values.max() <= 1.0
        assert (interval[:, 0] <= interval[:, 1]).all()
    table = model.group_table()
    implied = table[["conf_low", "implied", "conf_high"]].to_numpy()
    assert np.isfinite(implied).all()
    assert implied.min() >= 0.0
    assert implied.max() <= 1.0
    counts = KINDS[kind].counts(len(X))
    assert table["n"].sum() == (len(X) if counts is None else counts.sum())
    assert np.isfinite(model.score(X, KINDS[kind].reports(shares), groups=groups, counts=counts))
    assert isinstance(model.diagnostics_.verdict, str)
    return model


INDIVIDUALS = {
    "all the same individual": np.repeat(X[:1], len(X), axis=0),
    "pairs of individuals": X[np.arange(len(X)) // 2],
    "nearly the same": X[:1] + 1e-9 * X,
    "constant features": np.ones_like(X),
    "zero features": np.zeros_like(X),
    "one constant feature": np.column_stack([X[:, 0], np.ones(len(X))]),
    "many features": small_features(n_features=200),
    "one outlier": np.vstack([X[:-1], [[1e12, -1e12]]]),
}


@EACH_KIND
@pytest.mark.parametrize(("kernel", "intercept"), [("rbf", True), ("linear", False)])
@pytest.mark.parametrize("X", INDIVIDUALS.values(), ids=INDIVIDUALS.keys())
def test_any_individuals(X, kernel, intercept, kind):
    assert_sound(X, SHARES, GROUPS, kernel=kernel, intercept=intercept, kind=kind)


@EACH_SWEEP
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("size", [1e8, 1e-8, 1e50])
def test_any_size_of_features(size, kernel, kind):
    assert_sound(X * size, SHARES, GROUPS, kernel=kernel, kind=kind)


@EACH_SWEEP
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("gamma", ["scale", 1.0])
def test_features_far_from_zero(gamma, kernel, kind):
    assert_sound(X + 1e8, SHARES, GROUPS, kernel=kernel, gamma=gamma, kind=kind)


@EACH_KIND
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_one_individual(intercept, share, kind):
    model = assert_sound(X[:1], {"A": share}, ["A"], intercept=intercept, kind=kind)
    if share != 0.5 and not KINDS[kind].of_samples:
        assert model.label_proba_[0] == share


@EACH_KIND
@pytest.mark.parametrize("share", [0.0, 0.37, 1.0])
def test_one_group(share, kind):
    assert_sound(X, {"A": share}, ["A"] * len(X), kind=kind)


@EACH_KIND
@pytest.mark.parametrize("confidence", [1000.0, np.inf])
def test_a_group_of_2000(confidence, kind):
    if KINDS[kind].of_samples and confidence == np.inf:
        pytest.skip("the share of a population knows no confidence")
    shares = {"all": 0.3217}
    assert_sound(CROWD, shares, ["all"] * 2000, n_draws=4, centers=15, confidence=confidence, kind=kind)


@EACH_KIND
@pytest.mark.parametrize("shares", [{"A": 0, "B": 1, "C": 0.5, "D": 1}, dict.fromkeys("ABCD", 1 / np.pi)])
@pytest.mark.parametrize("confidence", [0.0, 1e-300, 1e12, np.inf])
def test_any_confidence(confidence, shares, kind):
    assert_sound(X, shares, GROUPS, confidence=confidence, kind=kind)


@EACH_KIND
@pytest.mark.parametrize("share", [5e-324, 1e-9, 1.0 - 1e-16])
def test_shares_that_no_count_can_match(share, kind):
    assert_sound(X, dict.fromkeys("ABCD", share), GROUPS, kind=kind)


@EACH_SWEEP
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "sigmoid"])
@pytest.mark.parametrize("gamma", [1e-6, 1e6, 1e-300, 1e100])
def test_any_gamma(gamma, kernel, kind):
    assert_sound(X, SHARES, GROUPS, kernel=kernel, gamma=gamma, kind=kind)


@EACH_SWEEP
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kernel", sorted(PAIRWISE_KERNEL_FUNCTIONS))
def test_any_kernel(kernel, intercept, kind):
    assert_sound(np.abs(X), SHARES, GROUPS, kernel=kernel, intercept=intercept, kind=kind)


@EACH_SWEEP
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    "centers",
    ["all", 1, 4, 1000, X[:1], np.repeat(X[:1], 5, axis=0), np.full((3, 2), 1e6)],
    ids=["all", "one", "four", "more than there are", "given", "given five times", "far away"],
)
def test_any_centers(centers, intercept, kind):
    assert_sound(X, SHARES, GROUPS, centers=centers, intercept=intercept, kind=kind)


@EACH_SWEEP
@pytest.mark.parametrize("kernel", [lambda A, B: np.zeros((len(A), len(B))), lambda A, B: -1e9 * A @ B.T])
def test_any_callable(kernel, kind):
    assert_sound(X, SHARES, GROUPS, kernel=kernel, intercept=False, kind=kind)


@EACH_KIND
@pytest.mark.parametrize("name", ["a", "b", "mu", "nu"])
@pytest.mark.parametrize("value", [1e-9, 1e9])
def test_any_prior(name, value, kind):
    assert_sound(X, SHARES, GROUPS, kind=kind, **{name: value})


@EACH_KIND
@pytest.mark.parametrize("n_draws", [1, 3, 5])
def test_any_number_of_draws(n_draws, kind):
    assert_sound(X, SHARES, GROUPS, n_draws=n_draws, kind=kind)


@EACH_KIND
@pytest.mark.parametrize(
    "evidence",
    [
        Count(0),
        Count(5),
        Between(2, 3),
        AtLeast(5),
        Population(0.0),
        Population(0.3, 10**15),
        Survey(0, 5),
        Survey(0, 0),
        NoisyCount(-100.0, 1e-3),
        NoisyCount(2.4, 1e-100, "gaussian"),
        Fraction(0.5, 1e11),
        Unknown(),
    ],
    ids=repr,
)
def test_any_evidence(evidence, kind):
    if isinstance(evidence, Population) and not KINDS[kind].is_dense:
        with pytest.raises(ValueError, match='Population needs weights="dense"'):
            assert_sound(X, {**SHARES, "A": evidence}, GROUPS, kind=kind)
        return
    assert_sound(X, {**SHARES, "A": evidence}, GROUPS, kind=kind)


@EACH_KIND
def test_nothing_is_known(kind):
    assert_sound(X, dict.fromkeys("ABCD", Unknown()), GROUPS, kind=kind)


@EACH_KIND
@pytest.mark.parametrize("distance", [1e6, 1e100, 1e200])
def test_predictions_anywhere(distance, kind):
    model = small_fit(kind, X, SHARES, GROUPS, kernel="linear", n_draws=8, n_burn=4)
    for groups in (None, GROUPS, [f"new {group}" for group in GROUPS]):
        assert np.isfinite(model.predict_proba(X * distance, groups)).all()
        assert np.isfinite(model.predict_interval(X * distance, groups=groups)).all()
    assert np.isfinite(model.score(X * distance, KINDS[kind].reports(SHARES), groups=GROUPS))
