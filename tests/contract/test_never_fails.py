"""Whatever passes validation is fitted: no chain raises, and nothing that comes out is NaN or out of range.

Runtime warnings are errors here, as everywhere in these tests.
"""

from itertools import combinations, product

import numpy as np
import pytest

from disaggregate.basis.kernels import NAMES
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
from tests.helpers.small import GROUPS, KINDS, MOVES, SHARES, small_features, small_fit

# What must never fail does so in few sweeps, and a pilot of full length would take most of the time.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
EACH_KIND = pytest.mark.parametrize("kind", list(KINDS))
EACH_SWEEP = pytest.mark.parametrize("kind", list(MOVES))  # for what only the columns of a fit depend on


def every_pair(*choices):
    """List combinations such that each two choices of different lists meet in one of them at least.

    All combinations would be several times as many, and a fault needs three choices at once very seldom.
    """
    left = {
        frozenset(pair)
        for one, other in combinations(range(len(choices)), 2)
        for pair in product(_numbered(choices, one), _numbered(choices, other))
    }
    found = []
    while left:
        best = max(product(*(range(len(options)) for options in choices)), key=lambda row: len(_pairs(row) & left))
        left -= _pairs(best)
        found.append(tuple(options[place] for options, place in zip(choices, best, strict=True)))
    return found


def _numbered(choices, number):
    return [(number, place) for place in range(len(choices[number]))]


def _pairs(row):
    return {frozenset(pair) for pair in combinations(enumerate(row), 2)}


def each_pair(names, *choices):
    """Run a test for such combinations of its arguments."""
    return pytest.mark.parametrize(names, every_pair(*choices))


X = small_features()
CROWD = small_features(1100, seed=1)  # more than any block, tile or table of states holds


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


@each_pair(("individuals", "kind", "kernel"), list(INDIVIDUALS), list(KINDS), ["rbf", "linear"])
def test_any_individuals(individuals, kind, kernel):
    X = INDIVIDUALS[individuals]
    assert_sound(X, SHARES, GROUPS, kernel=kernel, intercept=kernel == "rbf", kind=kind)


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


@each_pair(("kind", "share", "intercept"), list(KINDS), [0.0, 0.5, 1.0], [True, False])
def test_one_individual(kind, share, intercept):
    model = assert_sound(X[:1], {"A": share}, ["A"], intercept=intercept, kind=kind)
    if share != 0.5 and not KINDS[kind].of_samples:
        assert model.label_proba_[0] == share


@EACH_KIND
@pytest.mark.parametrize("share", [0.0, 0.37, 1.0])
def test_one_group(share, kind):
    assert_sound(X, {"A": share}, ["A"] * len(X), kind=kind)


@EACH_KIND
@pytest.mark.parametrize("confidence", [1000.0, np.inf])
def test_a_large_group(confidence, kind):
    if KINDS[kind].of_samples and confidence == np.inf:
        pytest.skip("the share of a population knows no confidence")
    shares = {"all": 0.3217}
    assert_sound(CROWD, shares, ["all"] * len(CROWD), n_draws=4, centers=15, confidence=confidence, kind=kind)


@each_pair(("kind", "confidence", "round"), list(KINDS), [0.0, 1e-300, 1e12, np.inf], [True, False])
def test_any_confidence(kind, confidence, round):
    shares = {"A": 0, "B": 1, "C": 0.5, "D": 1} if round else dict.fromkeys("ABCD", 1 / np.pi)
    assert_sound(X, shares, GROUPS, confidence=confidence, kind=kind)


@EACH_KIND
def test_shares_that_no_count_can_match(kind):
    assert_sound(X, {"A": 5e-324, "B": 1e-9, "C": 1.0 - 1e-16, "D": 5e-324}, GROUPS, kind=kind)


@EACH_SWEEP
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "sigmoid"])
@pytest.mark.parametrize("gamma", [1e-6, 1e6, 1e-300, 1e100])
def test_any_gamma(gamma, kernel, kind):
    assert_sound(X, SHARES, GROUPS, kernel=kernel, gamma=gamma, kind=kind)


@each_pair(("kernel", "kind", "intercept"), sorted(NAMES), list(MOVES), [True, False])
def test_any_kernel(kernel, kind, intercept):
    assert_sound(np.abs(X), SHARES, GROUPS, kernel=kernel, intercept=intercept, kind=kind)


CENTERS = {
    "all": "all",
    "one": 1,
    "four": 4,
    "more than there are": 1000,
    "given": X[:1],
    "given five times": np.repeat(X[:1], 5, axis=0),
    "far away": np.full((3, 2), 1e6),
}


@each_pair(("centers", "kind", "intercept"), list(CENTERS), list(MOVES), [True, False])
def test_any_centers(centers, kind, intercept):
    assert_sound(X, SHARES, GROUPS, centers=CENTERS[centers], intercept=intercept, kind=kind)


@EACH_SWEEP
@pytest.mark.parametrize("kernel", [lambda A, B: np.zeros((len(A), len(B))), lambda A, B: -1e9 * A @ B.T])
def test_any_callable(kernel, kind):
    assert_sound(X, SHARES, GROUPS, kernel=kernel, intercept=False, kind=kind)


# a and b rule other things than mu and nu
@each_pair(("kind", "names", "value"), list(KINDS), [("a", "mu"), ("b", "nu")], [1e-9, 1e9])
def test_any_prior(kind, names, value):
    assert_sound(X, SHARES, GROUPS, kind=kind, **dict.fromkeys(names, value))


@EACH_KIND
@pytest.mark.parametrize("n_draws", [1, 3])
def test_any_number_of_draws(n_draws, kind):
    assert_sound(X, SHARES, GROUPS, n_draws=n_draws, kind=kind)


@EACH_KIND
@pytest.mark.parametrize(
    "evidence",
    [
        (Count(0), AtLeast(5), Between(2, 3)),
        (Count(5), Survey(0, 5), NoisyCount(-100.0, 1e-3)),
        (Survey(0, 0), NoisyCount(2.4, 1e-100, "gaussian"), Unknown()),
        (Fraction(0.5, 1e11),),
    ],
    ids=repr,
)
def test_any_evidence(evidence, kind):
    assert_sound(X, SHARES | dict(zip("ABC", evidence, strict=False)), GROUPS, kind=kind)


@EACH_KIND
def test_shares_of_populations_at_the_end_of_what_is_possible(kind):
    shares = {**SHARES, "A": Population(0.0), "B": Population(0.3, 10**15)}
    if KINDS[kind].is_dense:
        assert_sound(X, shares, GROUPS, kind=kind)
        return
    with pytest.raises(ValueError, match='Population needs prior="gaussian_process"'):
        assert_sound(X, shares, GROUPS, kind=kind)


@EACH_KIND
def test_nothing_is_known(kind):
    assert_sound(X, dict.fromkeys("ABCD", Unknown()), GROUPS, kind=kind)


@EACH_KIND
def test_predictions_anywhere(kind):
    model = small_fit(kind, X, SHARES, GROUPS, kernel="linear", n_draws=8, n_burn=4)
    new_groups = [f"new {group}" for group in GROUPS]
    for groups, distance in product((None, GROUPS, new_groups), (1e6, 1e100, 1e200)):
        assert np.isfinite(model.predict_proba(X * distance, groups)).all()
        assert np.isfinite(model.predict_interval(X * distance, groups=groups)).all()
        assert np.isfinite(model.score(X * distance, KINDS[kind].reports(SHARES), groups=GROUPS))
