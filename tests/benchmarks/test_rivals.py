import os
import sys
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit, ndtri
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel

from benchmarks.rivals import inverse_calibration, proportion_svm
from benchmarks.rivals.bag_likelihood import penalised_loss
from benchmarks.rivals.bags import read_bags
from benchmarks.rivals.count_likelihood import count_likelihood
from benchmarks.rivals.em_logistic import fit_em_logistic
from benchmarks.rivals.group_folds import best_setting, left_out_scores
from benchmarks.rivals.group_logistic import fit_group_logistic
from benchmarks.rivals.inverse_calibration import fit_inverse_calibration
from benchmarks.rivals.kernels import KERNELS
from benchmarks.rivals.link import fit_link
from benchmarks.rivals.llp_learn import LLPLearn
from benchmarks.rivals.milwrap_counts import MilwrapCounts
from benchmarks.rivals.missing import RivalMissing
from benchmarks.rivals.oracle import Oracle
from benchmarks.rivals.proportion_svm import best_labels
from benchmarks.rivals.registry import BUILT_IN, CEILING, RIVALS
from benchmarks.rivals.sawmil_bags import SawmilBags, positive_bags
from disaggregate.groups.evidence import Count
from disaggregate.model.counts import log_evidence_given_fitted


def easy_problem(rng, n_groups=20, size=10):
    """Two clouds; groups hold between none and all of the positive one."""
    counts = rng.permutation(np.linspace(0, size, n_groups).round().astype(int))
    y = np.concatenate([rng.permutation(np.arange(size) < count) for count in counts]).astype(int)
    X = rng.normal(size=(len(y), 2)) + np.where(y, 1.5, -1.5)[:, None]
    groups = np.repeat(np.arange(n_groups), size)
    return X, y, groups, pd.Series(y).groupby(groups).mean()


def small_bags(rng, sizes=(3, 5, 1, 4)):
    """Groups of several sizes, their rows mixed, with shares of some labelling."""
    groups = rng.permutation(np.repeat(list("dbac"), sizes))
    labels = rng.integers(2, size=len(groups))
    return groups, pd.Series(labels).groupby(groups).mean()


@pytest.mark.parametrize("rival", BUILT_IN, ids=lambda rival: rival.__name__)
def test_an_easy_problem_is_solved(rival, rng, monkeypatch):
    monkeypatch.setattr(proportion_svm, "STARTS", 2)  # enough for an easy problem, and quicker
    X, y, groups, shares = easy_problem(rng)
    fitted = rival().fit(X, shares, groups)
    assert np.mean((fitted.decision_function(X) > 0.0) == y) > 0.9
    probability = fitted.probability(X)
    assert probability.shape == y.shape
    assert np.all((probability >= 0.0) & (probability <= 1.0))
    assert probability[y == 1].mean() > probability[y == 0].mean() + 0.3


def test_the_oracle_solves_it_with_labels(rng):
    X, y, groups, shares = easy_problem(rng)
    fitted = Oracle().fit(X, shares, groups, labels=y)
    assert np.mean((fitted.decision_function(X) > 0.0) == y) > 0.9
    assert -np.mean(np.log(np.where(y, fitted.probability(X), 1.0 - fitted.probability(X)))) < 0.3


def test_groups_of_one_make_it_logistic_regression(rng):
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + rng.normal(size=60) > 0.5).astype(int)
    decide = fit_group_logistic(0.02, X, pd.Series(y.astype(float)), np.arange(60))
    known = LogisticRegression(C=1.0 / (60 * 0.02), tol=1e-10).fit(X, y)
    assert_allclose(decide(X), known.decision_function(X), atol=1e-3)


def test_names_differ_and_the_ceiling_comes_last():
    assert len({rival.name for rival in RIVALS}) == len(RIVALS)
    assert RIVALS[-1] is CEILING


def test_scores_of_left_out_groups_come_from_fits_without_them(rng):
    groups, shares = small_bags(rng)
    seen = []

    def fit(setting, X, kept, inside):
        assert set(kept.index) == set(inside)
        seen.append(set(inside))
        return lambda new: np.full(len(new), setting + len(seen))

    score = left_out_scores(10, fit, np.zeros((len(groups), 1)), shares, groups)
    for row, group in enumerate(groups):
        assert group not in seen[int(score[row]) - 11]


def test_of_two_groups_members_are_left_out():
    groups = np.repeat(["a", "b"], [7, 12])
    X = np.arange(19.0)[:, None]

    def fit(setting, inside_X, kept, inside):
        assert set(kept.index) == set(inside) == {"a", "b"}
        return lambda new: np.isin(new, inside_X)[:, 0]

    assert not left_out_scores(None, fit, X, pd.Series({"a": 0.0, "b": 0.4}), groups).any()


def test_the_highest_of_each_group(rng):
    groups, shares = small_bags(rng)
    bags, score = read_bags(shares, groups), rng.normal(size=len(groups))
    is_high = bags.highest(score, np.minimum([0, 2, 9, 1], bags.sizes))
    for group, count in enumerate(np.minimum([0, 2, 9, 1], bags.sizes)):
        rows = bags.place == group
        assert is_high[rows].sum() == count
        assert np.sort(score[rows])[::-1][:count].sum() == pytest.approx(score[rows & is_high].sum())


def test_the_setting_with_the_least_share_error_is_chosen(rng):
    X, _, groups, shares = easy_problem(rng)
    chosen = best_setting(
        [-1.0, 2.0, 0.5], lambda sign, *_: lambda new: sign * new.sum(axis=1) - 0.1, X, shares, groups
    )
    assert chosen == 2.0


def test_count_likelihood_equals_the_sum_over_labellings(rng):
    groups, shares = small_bags(rng)
    bags, score = read_bags(shares, groups), rng.normal(size=len(groups)) * 2.0
    log_likelihood, given_count = count_likelihood(score, bags)
    expected, total = np.empty(len(score)), 0.0
    for group, count in enumerate(bags.counts):
        rows = np.flatnonzero(bags.place == group)
        labellings = np.array([labels for labels in product([0, 1], repeat=len(rows)) if sum(labels) == count])
        chances = np.where(labellings, expit(score[rows]), expit(-score[rows])).prod(axis=1)
        total += np.log(chances.sum())
        expected[rows] = chances @ labellings / chances.sum()
    assert_allclose(log_likelihood, total)
    assert_allclose(given_count, expected, atol=1e-12)


def test_count_likelihood_agrees_with_the_sampler(rng):
    score = rng.normal(size=12)
    bags = read_bags(pd.Series({"a": 4 / 12}), np.repeat("a", 12))
    four_of_them = Count(4).log_likelihood(12)
    expected = log_evidence_given_fitted(ndtri(expit(score)), np.ones(12, dtype=int), four_of_them)
    assert_allclose(count_likelihood(score, bags)[0], expected)


def test_count_likelihood_survives_scores_that_are_sure_and_wrong():
    bags = read_bags(pd.Series({"a": 0.0, "b": 1.0}), np.repeat(["a", "b"], 40))
    log_likelihood, given_count = count_likelihood(np.repeat([800.0, -800.0], 40), bags)
    assert log_likelihood == pytest.approx(-80 * 800.0)
    assert_array_equal(given_count, np.repeat([0.0, 1.0], 40))


def test_gradient_of_the_bag_likelihood_equals_differences(rng):
    groups, shares = small_bags(rng)
    loss = penalised_loss(rng.normal(size=(len(groups), 4)), read_bags(shares, groups), 0.7)
    theta = rng.normal(size=4)
    assert_allclose(loss(theta)[1], approx_fprime(theta, lambda at: loss(at)[0], 1e-7), rtol=1e-4, atol=1e-5)


def test_em_ends_where_the_gradient_of_the_likelihood_is_zero(rng):
    X, _, groups, shares = easy_problem(rng)
    decide = fit_em_logistic(1.0, X, shares, groups)
    offset = decide(np.zeros((1, 2)))
    theta = np.append(decide(np.eye(2)) - offset, offset)
    gradient = penalised_loss(np.column_stack([X, np.ones(len(X))]), read_bags(shares, groups), 1.0)(theta)[1]
    assert np.abs(gradient).max() < 0.05


def test_labels_of_the_proportion_svm_equal_the_best_of_all_labellings(rng):
    for share, cost, share_cost in product((0.0, 0.3, 0.8), (0.1, 1.0), (0.5, 5.0)):
        score = rng.normal(size=7)
        bags = read_bags(pd.Series({"a": share}), np.repeat("a", 7))

        def objective(labels, bags=bags, score=score, cost=cost, share_cost=share_cost):
            hinge = np.maximum(0.0, 1.0 - labels * score).sum()
            return cost * hinge + share_cost * abs(np.mean(labels > 0.0) - bags.share[0])

        every = [np.array(labels) for labels in product([-1.0, 1.0], repeat=7)]
        assert objective(best_labels(score, bags, cost, share_cost)) == pytest.approx(min(map(objective, every)))


def test_each_group_of_the_proportion_svm_is_labelled_on_its_own(rng):
    groups, shares = small_bags(rng)
    score = rng.normal(size=len(groups))
    together = best_labels(score, read_bags(shares, groups), 1.0, 3.0)
    for group in shares.index:
        rows = groups == group
        assert_array_equal(together[rows], best_labels(score[rows], read_bags(shares, groups[rows]), 1.0, 3.0))


def test_kernel_between_groups_is_the_mean_over_pairs_of_members(rng):
    groups, shares = small_bags(rng)
    X = rng.normal(size=(len(groups), 3))
    average = read_bags(shares, groups).averaging()
    by_groups = average @ rbf_kernel(X) @ average.T
    for i, j in product(range(4), repeat=2):
        first, second = X[groups == shares.index[i]], X[groups == shares.index[j]]
        assert_allclose(by_groups[i, j], np.mean([[rbf_kernel([a], [b])[0, 0] for b in second] for a in first]))


def test_inverse_calibration_minimises_its_objective(rng):
    groups, shares = small_bags(rng)
    X = rng.normal(size=(len(groups), 2))
    bags, (cost, tolerance) = read_bags(shares, groups), (0.8, 0.2)
    means, target = bags.averaging() @ X, inverse_calibration.target(read_bags(shares, groups))

    def objective(theta):
        off = np.abs(means @ theta[:2] / np.sqrt(2.0) + theta[2] - target)  # the linear kernel is divided by 2
        return 0.5 * theta[:2] @ theta[:2] + cost * np.maximum(0.0, off - tolerance).sum()

    decide = fit_inverse_calibration(("linear", cost, tolerance), X, shares, groups)
    offset = decide(np.zeros((1, 2)))
    ours = np.append((decide(np.eye(2)) - offset) * np.sqrt(2.0), offset)
    best = minimize(
        objective, ours + 0.1, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10, "maxiter": 5000}
    )
    assert objective(ours) < best.fun + 1e-3


def test_inverse_calibration_is_finite_for_shares_of_none_and_all():
    bags = read_bags(pd.Series({"a": 0.0, "b": 1.0, "c": 0.5}), np.repeat(["a", "b", "c"], 4))
    assert_allclose(expit(inverse_calibration.target(bags)), [0.125, 0.875, 0.5])


def test_kernels_do_not_depend_on_the_number_of_features():
    for name in KERNELS:
        assert_allclose(
            KERNELS[name](np.ones((1, 3)), np.full((1, 3), 2.0)),
            KERNELS[name](np.ones((1, 50)), np.full((1, 50), 2.0)),
        )


def test_the_link_finds_the_curve_behind_the_shares(rng):
    score = rng.normal(size=20_000) * 3.0
    labels = rng.random(len(score)) < expit(0.5 * score + 1.0)
    groups = np.arange(len(score)) // 8
    link = fit_link(score, pd.Series(labels).groupby(groups).mean(), groups)
    assert link.slope == pytest.approx(0.5, abs=0.05)
    assert link.offset == pytest.approx(1.0, abs=0.1)


def test_the_link_keeps_the_order_of_scores_that_say_nothing(rng):
    groups = np.arange(60) // 10
    link = fit_link(rng.normal(size=60), pd.Series(rng.random(6)), groups)
    assert link.slope > 0.0
    assert np.isfinite(link(np.array([-1e6, 1e6]))).all()


def test_positive_groups_of_a_multiple_instance_learner():
    def positive(shares):
        return positive_bags(read_bags(pd.Series(shares), np.arange(len(shares)))).tolist()

    assert positive([0.0, 0.1, 0.9]) == [False, True, True]
    assert positive([0.2, 0.1, 0.9]) == [True, False, True]
    assert positive([0.1, 0.1, 0.9]) == [False, False, True]
    for share in (0.0, 0.4, 1.0):
        assert sorted(positive([share, share])) == [False, True]


@pytest.mark.parametrize(("rival", "module"), [(MilwrapCounts, "milwrap"), (SawmilBags, "osqp")])
def test_a_package_solves_an_easy_problem_where_it_is_installed(rival, module, rng):
    pytest.importorskip(module)
    X, y, groups, shares = easy_problem(rng)
    fitted = rival().fit(X, shares, groups)
    assert np.mean((fitted.decision_function(X) > 0.0) == y) > 0.9
    assert np.all((fitted.probability(X) >= 0.0) & (fitted.probability(X) <= 1.0))


@pytest.mark.skipif("LLP_LEARN_ENVIRONMENT" not in os.environ, reason="llp-learn has no environment here")
def test_llp_learn_solves_an_easy_problem_where_it_is_installed(rng):
    X, y, groups, shares = easy_problem(rng)
    assert np.mean((LLPLearn().fit(X, shares, groups).decision_function(X) > 0.0) == y) > 0.9


@pytest.mark.parametrize(("rival", "module"), [(MilwrapCounts, "milwrap"), (SawmilBags, "sawmil")])
def test_a_missing_package_says_how_to_get_it(rival, module, rng, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    X, _, groups, shares = easy_problem(rng)
    with pytest.raises(RivalMissing, match=f"pip install '?{module}"):
        rival().fit(X, shares, groups)


def test_a_missing_environment_says_how_to_make_it(rng, monkeypatch, tmp_path):
    X, _, groups, shares = easy_problem(rng)
    monkeypatch.delenv("LLP_LEARN_ENVIRONMENT", raising=False)
    with pytest.raises(RivalMissing, match=r"python -m benchmarks\.rivals\.llp_learn FOLDER"):
        LLPLearn().fit(X, shares, groups)
    monkeypatch.setenv("LLP_LEARN_ENVIRONMENT", str(tmp_path))
    with pytest.raises(RivalMissing):
        LLPLearn().fit(X, shares, groups)
