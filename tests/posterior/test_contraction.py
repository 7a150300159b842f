"""What an estimate rests on: by formula, and in the diagnostics of a fit."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtr

import disaggregate as dg
from disaggregate.groups import evidence, group_rows
from disaggregate.model.components import make_components
from disaggregate.model.priors import half_normal
from disaggregate.posterior.bounds import ReportedShares, reported_shares, subgroup_bounds
from disaggregate.posterior.contraction import (
    ON_BOTH,
    ON_GROUPS,
    ON_PRIOR,
    change_contraction,
    contraction,
    in_words,
    rate_contraction,
)
from disaggregate.sampler.dense.prior import draws_from_prior
from tests.helpers.small import small_model


def test_contraction_is_the_share_of_variance_that_is_gone(rng):
    prior = rng.normal(size=(20_000, 4))
    posterior = rng.normal(size=(20_000, 4)) * [0.1, 0.5, 1.0, 1.5] + 3.0
    assert_allclose(contraction(posterior, prior), [0.99, 0.75, 0.0, 0.0], atol=0.04)


def test_a_few_extreme_draws_of_the_prior_decide_nothing(rng):
    prior = rng.standard_cauchy(size=(20_000, 1))
    posterior = 0.5 * rng.standard_cauchy(size=(20_000, 1))
    assert_allclose(contraction(posterior, prior), [0.75], atol=0.03)


def test_what_the_prior_knows_and_what_nobody_knows_has_none():
    constant, unknown = np.full((10, 1), 0.3), np.full((10, 1), np.nan)
    assert np.isnan(contraction(constant, constant)).all()
    assert np.isnan(contraction(unknown, unknown)).all()
    assert in_words(np.array([np.nan])) == [""]


@pytest.mark.parametrize(
    ("removed", "reported"),
    [(0.95, ON_GROUPS), (0.9, ON_GROUPS), (0.6, ON_BOTH), (0.49, ON_PRIOR), (0.0, ON_PRIOR)],
)
def test_words(removed, reported):
    assert in_words(np.array([removed])) == [reported]


def test_the_rate_of_everybody_is_not_what_tells_of_a_subgroup(rng):
    level, difference = rng.normal(size=(2, 4000))
    prior = ndtr(np.column_stack([level + difference, level - difference]))
    posterior = ndtr(np.column_stack([0.01 * level + difference, 0.01 * level - difference]))
    reported = rate_contraction(posterior, prior, np.ones(2))
    assert (reported < 0.5).all()  # the sum is known now, the difference is as open as before
    assert rate_contraction(posterior[:, :1] * 0.0 + 0.5, prior[:, :1], np.ones(1)) == 1.0


def test_a_rare_outcome_is_judged_as_a_common_one(rng):
    difference = rng.normal(size=(4000, 1)) * 0.3
    found = [
        change_contraction(
            (ndtr(level + 0.5 * difference), ndtr(level + 0 * difference)),
            (ndtr(difference), 0.5 + 0 * difference),
        )
        for level in (0.0, -2.0)
    ]
    assert_allclose(found, 0.75, atol=1e-6)


def test_bounds_against_all_labels():
    group, subgroup = np.array([0, 0, 0, 1, 1, 1, 1]), np.array([0, 0, 1, 0, 1, 1, 1])
    counts = [2, 3]
    rates = [
        [np.mean(np.array(labels)[subgroup == s]) for s in (0, 1)]
        for labels in product([0, 1], repeat=7)
        if sum(labels[:3]) == counts[0] and sum(labels[3:]) == counts[1]
    ]
    shares = np.array([[2 / 3, 2 / 3], [0.75, 0.75]])
    found = subgroup_bounds(subgroup, ReportedShares(group, shares), np.ones(7))
    assert_allclose(found, np.column_stack([np.min(rates, axis=0), np.max(rates, axis=0)]))


@pytest.mark.parametrize(
    ("known", "bounds"),
    [
        (evidence.Count(1), (0.25, 0.25)),
        (evidence.Fraction(0.4), (0.4, 0.4)),
        (evidence.Fraction(0.4, 30.0), (0.0, 1.0)),
        (evidence.Between(1, 2), (0.25, 0.5)),
        (evidence.AtLeast(1), (0.25, 1.0)),
        (evidence.AtMost(3), (0.0, 0.75)),
        (evidence.Survey(1, 2), (0.25, 0.75)),
        (evidence.NoisyCount(1.0, 1.0), (0.0, 1.0)),
        (evidence.Unknown(), (0.0, 1.0)),
        (evidence.AllOf((evidence.AtLeast(1), evidence.AtMost(3))), (0.25, 0.75)),
    ],
)
def test_every_report_says_what_it_leaves_possible(known, bounds):
    assert known.share_bounds(4) == bounds
    likely = np.exp(known.log_likelihood(4)) > 0.0
    if not isinstance(known, evidence.Fraction):
        possible = np.flatnonzero(likely) / 4
        assert bounds[0] <= possible.min()
        assert possible.max() <= bounds[1]


def test_a_report_bounds_only_the_people_that_it_speaks_of():
    data = group_rows(["a", "a", "b"], {"a": evidence.Count(1), "b": evidence.Population(0.5)})
    assert reported_shares(data, ["a", "b"]) is None  # one of two people of a, and a sample of b
    found = reported_shares(data, ["a", "c", "a", "b"])
    assert found.shares[found.group].tolist() == [[0.5, 0.5], [0.0, 1.0], [0.5, 0.5], [0.0, 1.0]]


def test_what_hidden_groups_report_bounds_nothing():
    counts = {"one": 1, "few": 3, "ten": 4, "more": 9}
    sizes = {"one": 1, "few": 12, "ten": 14, "more": 16}
    ids = [name for name, size in sizes.items() for _ in range(size)]
    data = group_rows(ids, {name: evidence.Count(n) for name, n in counts.items()})
    assert reported_shares(data, ids).shares[:4].tolist() == [
        [1.0, 1.0],
        [0.25, 0.25],
        [2 / 7, 2 / 7],
        [9 / 16, 9 / 16],
    ]
    found = reported_shares(data, ids, None, 10)  # one by itself would follow from the total, so few is hidden too
    assert found.shares.tolist() == [[0.0, 1.0], [0.0, 1.0], [2 / 7, 2 / 7], [9 / 16, 9 / 16], [0.0, 1.0]]


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(5)
    lean = np.repeat(rng.uniform(0.1, 0.9, 12), 10)
    people = pd.DataFrame({"old": (rng.random(120) < lean).astype(float), "noise": rng.normal(size=120)})
    people["group"] = np.repeat(np.arange(12), 10)
    positive = rng.random(120) < 0.2 + 0.6 * people["old"]
    shares = positive.groupby(people["group"]).mean().to_dict()
    model = small_model(
        kernel="linear", prior=dg.GaussianProcess(emphasis=1.0), n_replicas=1, n_draws=200, n_burn=200
    )
    return model.fit(people[["old", "noise"]], shares, groups=people["group"]), people


def test_subgroups_say_what_tells_them(fitted):
    model, people = fitted
    table = model.subgroups(people, "old", groups="group")
    assert table.columns.tolist()[-4:] == ["bound_low", "bound_high", "contraction", "rests_on"]
    assert ((table["bound_low"] >= 0.0) & (table["bound_low"] < table["bound_high"])).all()
    assert (table["contraction"] > 0.5).all()
    assert table["rests_on"].tolist() == in_words(table["contraction"].to_numpy())
    assert "bound_low" not in model.subgroups(people, "old")  # nobody says whose groups these are


def test_suppressed_subgroups_tell_nothing(fitted):
    model, people = fitted
    few = people.assign(kind=["a", "b", *["c"] * 118])
    table = model.subgroups(few, "kind", groups="group", min_group_size=5)
    hidden = table[table["estimate"].isna()]
    assert len(hidden) > 1
    assert hidden[["bound_low", "bound_high", "contraction"]].isna().all(axis=None)
    assert (hidden["rests_on"] == "").all()


def test_bounds_do_not_tell_what_a_hidden_group_reports(fitted):
    model, people = fitted
    assert "bound_low" in model.subgroups(people, "old", groups="group", min_group_size=10)
    assert "bound_low" not in model.subgroups(people, "old", groups="group", min_group_size=11)  # groups have 10


def test_the_prior_has_nothing_to_do_with_the_reports(fitted):
    model, people = fitted
    features = people[["old", "noise"]]
    prior = model.posterior_.prior
    assert prior.shape == (1, 400)
    other = small_model(kernel="linear", prior=dg.GaussianProcess(emphasis=1.0), n_replicas=1)
    other.fit(features, dict.fromkeys(range(12), 0.5), groups=people["group"])
    assert_allclose(other.posterior_.prior.scores(features.to_numpy()), prior.scores(features.to_numpy()))


def test_draws_from_the_prior_have_its_variances(rng):
    scale = half_normal(0.5)
    components = make_components(
        3, np.array([1.0, 0.3]), 1, 2.0, scale, np.ones((4, 1)), scale, 4, scale, 4, False, column_square=0.0
    )
    drawn = draws_from_prior(components, 4000, rng)
    individual, context, place = drawn.scales.T
    for delta2 in drawn.scales.T:
        assert np.median(np.sqrt(delta2)) == pytest.approx(0.5 * 0.6745, rel=0.1)  # of a half-normal law
    known = [1.0 * individual, 0.09 * individual, context, *[place] * 4]
    for weight, variance in zip(drawn.weights[:, 1:].T, known, strict=True):
        assert np.mean(weight**2 / variance) == pytest.approx(1.0, rel=0.1)


def test_the_verdict_says_what_the_groups_tell(fitted):
    reported = fitted[0].diagnostics_
    assert reported.rests_on in (ON_GROUPS, ON_BOTH)
    assert f"{reported.contraction:.0%} of the prior variance" in reported.verdict


def test_one_group_leaves_differences_to_the_prior():
    people = pd.DataFrame({"x": np.linspace(-1.0, 1.0, 10)})
    model = small_model(kernel="linear", n_replicas=1, n_draws=200, n_burn=200)
    reported = model.fit(people, {"a": 0.5}, groups=["a"] * 10).diagnostics_
    assert reported.rests_on == ON_PRIOR
    assert "rests on the prior" in reported.verdict


def test_files_keep_what_the_groups_tell(fitted, tmp_path):
    model, people = fitted
    model.save(tmp_path / "m.dgz")
    loaded = dg.load(tmp_path / "m.dgz")
    pd.testing.assert_frame_equal(
        loaded.subgroups(people, "old", groups="group"), model.subgroups(people, "old", groups="group")
    )
    assert loaded.diagnostics_.contraction == model.diagnostics_.contraction
