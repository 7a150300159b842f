"""Simulated populations must be what their descriptions say."""

import zlib

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare, multivariate_normal
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from disaggregate import datasets
from disaggregate.datasets import make_districts, make_hidden_cluster, make_population

MAKERS = [make_districts, make_hidden_cluster, make_population]


@pytest.fixture
def seed(request):
    return zlib.crc32(request.node.name.encode())


@pytest.mark.parametrize("make", MAKERS)
class TestEveryDataset:
    def test_has_one_group_and_one_label_a_row_and_one_share_a_group(self, make, seed):
        data = make(random_state=seed)
        assert len(data.X) == len(data.groups) == len(data.y)
        assert set(np.unique(data.y)) == {0, 1}
        assert isinstance(data.shares, pd.Series)
        assert data.shares.index.is_unique
        assert set(data.shares.index) == set(data.groups)
        assert data.shares.between(0, 1).all()
        assert len(data.DESCR) > 40

    def test_same_seed_same_data_and_other_seed_other_data(self, make, seed):
        one, same, other = make(random_state=seed), make(random_state=seed), make(random_state=seed + 1)
        for key in ("X", "groups", "shares", "y"):
            assert np.array_equal(np.asarray(one[key]), np.asarray(same[key]))
        assert not np.array_equal(np.asarray(one.X), np.asarray(other.X))
        assert not np.array_equal(one.y, other.y)

    @pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
    def test_generators_are_accepted_and_advance(self, make, kind, seed):
        first, again = kind(seed), kind(seed)
        one, two, repeat = (
            make(random_state=first),
            make(random_state=first),
            make(random_state=again),
        )
        assert np.array_equal(np.asarray(one.X), np.asarray(repeat.X))
        assert not np.array_equal(np.asarray(one.X), np.asarray(two.X))

    def test_the_global_random_state_is_left_alone(self, make):
        before = np.random.get_state()[1].copy()  # noqa: NPY002 - the legacy state is what must not change
        make()
        assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002

    @pytest.mark.parametrize("bad", [-1, 0.5, "seed", True])
    def test_a_bad_random_state_is_named(self, make, bad):
        with pytest.raises(ValueError, match=r"random_state must be .* but got .*random_state=0"):
            make(random_state=bad)


class TestDistricts:
    def test_sizes_and_reports_are_those_of_the_paper(self, seed):
        data = make_districts(random_state=seed)
        assert data.X.shape == (55, 2)
        assert data.X.dtype == np.float64
        assert data.shares.to_dict() == {"A": 0.73, "B": 0.25, "C": 0.85}
        by_group = pd.Series(data.y).groupby(data.groups).agg(["size", "sum"])
        assert by_group["size"].to_dict() == {"A": 19, "B": 16, "C": 20}
        assert by_group["sum"].to_dict() == {"A": 14, "B": 4, "C": 17}

    def test_changing_the_result_leaves_the_next_one_alone(self, seed):
        shares = make_districts(random_state=seed).shares
        shares["A"] = 0.5
        assert make_districts(random_state=seed).shares["A"] == 0.73

    def test_labels_are_learnable_but_not_by_a_straight_line(self, seed):
        X, y, _ = pooled_districts(seed)
        straight = LogisticRegression().fit(X, y).predict_proba(X)[:, 1]
        assert roc_auc_score(y, straight) < 0.6
        distance = np.linalg.norm(X[:, None] - datasets.POSITIVE_CENTRES, axis=2).min(axis=1)
        assert 0.9 < roc_auc_score(y, np.linalg.norm(X, axis=1) - distance) < 0.995

    @pytest.mark.parametrize("label", [0, 1])
    def test_positions_depend_on_the_label_only(self, label, seed):
        X, y, groups = pooled_districts(seed)
        squares = [np.square(X[(y == label) & (groups == group)]).sum(axis=1) for group in "ABC"]
        for one, other in [(0, 1), (0, 2), (1, 2)]:
            gap = squares[one].mean() - squares[other].mean()
            error = np.hypot(*(squares[i].std() / np.sqrt(len(squares[i])) for i in (one, other)))
            assert abs(gap) < 4 * error


def pooled_districts(seed, copies=200):
    rng = np.random.default_rng(seed)
    many = [make_districts(random_state=rng) for _ in range(copies)]
    return tuple(np.concatenate([data[key] for data in many]) for key in ("X", "y", "groups"))


class TestHiddenCluster:
    def test_thirteen_of_75_groups_of_eight_hold_positives(self, seed):
        data = make_hidden_cluster(random_state=seed)
        assert data.X.shape == (600, 2)
        assert np.array_equal(np.bincount(data.groups), np.full(75, 8))
        positives = np.bincount(data.groups, weights=data.y)
        assert np.count_nonzero(positives) == 13
        assert positives.max() <= 6
        assert np.array_equal(data.shares.to_numpy(), positives / 8)

    def test_counts_and_places_of_positives_are_uniform(self, seed):
        data = make_hidden_cluster(n_groups=75 * 100, random_state=seed)
        in_groups = data.y.reshape(-1, 8)
        counts = np.bincount(in_groups.sum(axis=1), minlength=7)
        assert counts[1:].sum() == 1300
        assert chisquare(counts[1:7]).pvalue > 1e-4
        assert chisquare(in_groups.sum(axis=0)).pvalue > 1e-4
        first, second = np.split(in_groups.any(axis=1), 2)
        assert chisquare([first.sum(), second.sum()]).pvalue > 1e-4

    def test_bayes_score_reaches_the_stated_auc_and_no_more(self, seed):
        data = make_hidden_cluster(n_groups=75 * 200, random_state=seed)
        assert data.bayes_auc == 0.94
        auc = roc_auc_score(data.y, data.bayes_score)
        error = np.sqrt(auc * (1 - auc) / data.y.sum())
        assert abs(auc - 0.94) < 4 * error < 0.02

    def test_bayes_score_is_the_log_density_ratio(self, seed):
        data = make_hidden_cluster(random_state=seed)
        positive = multivariate_normal([0, 0], 9.0 * 0.06 / 0.94).logpdf(data.X)
        negative = multivariate_normal([0, 0], 9.0).logpdf(data.X)
        assert np.allclose(data.bayes_score, positive - negative)

    def test_a_single_group_has_a_positive(self, seed):
        assert make_hidden_cluster(n_groups=1, random_state=seed).y.any()

    @pytest.mark.parametrize("bad", [0, -3, 2.0, "75", True, None])
    def test_bad_n_groups_is_named(self, bad):
        with pytest.raises(ValueError, match=r"n_groups must be a positive integer, but got .*n_groups=100"):
            make_hidden_cluster(n_groups=bad)


class TestPopulation:
    def test_columns_are_of_mixed_types(self, seed):
        X = make_population(random_state=seed).X
        assert X.shape == (2000, 6)
        assert X["age"].between(18, 95).all()
        assert X["income"].gt(0).all()
        assert pd.api.types.is_integer_dtype(X["age"])
        assert pd.api.types.is_float_dtype(X["income"])
        assert X["education"].cat.ordered
        assert list(X["education"].cat.categories) == datasets.EDUCATION_LEVELS
        assert set(X["sex"]) == {"female", "male"}
        assert X["employed"].dtype == bool
        assert X["household_size"].min() == 1
        assert pd.api.types.is_integer_dtype(X["household_size"])

    def test_shares_are_the_realised_ones(self, seed):
        data = make_population(5000, n_groups=20, random_state=seed)
        realised = pd.Series(data.y).groupby(data.groups).mean()
        assert np.allclose(data.shares.loc[realised.index], realised)

    @pytest.mark.parametrize(("n", "n_groups"), [(1, 1), (7, 7), (51, 50), (2000, 1)])
    def test_no_group_is_empty(self, n, n_groups, seed):
        data = make_population(n, n_groups=n_groups, random_state=seed)
        assert np.bincount(data.groups, minlength=n_groups).min() >= 1
        assert list(data.shares.index) == list(range(n_groups))
        assert data.shares.notna().all()

    def test_labels_are_drawn_from_p(self, seed):
        data = make_population(200_000, random_state=seed)
        assert data.p.min() > 0
        assert data.p.max() < 1
        tenth = pd.qcut(data.p, 10, labels=False)
        for part in range(10):
            p, y = data.p[tenth == part], data.y[tenth == part]
            assert abs(y.mean() - p.mean()) < 4 * np.sqrt((p * (1 - p)).mean() / len(p))
        assert 0.75 < roc_auc_score(data.y, data.p) < 0.9

    def test_probability_falls_and_rises_with_age(self, seed):
        data = make_population(50_000, random_state=seed)
        young, middle, old = (
            data.p[data.X["age"].between(*ages)].mean() for ages in [(18, 25), (45, 55), (80, 95)]
        )
        assert middle < young - 0.1
        assert middle < old - 0.1

    @pytest.mark.parametrize("column", ["age", "log_income", "level"])
    def test_districts_differ_in_composition_beyond_chance(self, column, seed):
        data = make_population(20_000, random_state=seed)
        values = data.X.assign(log_income=np.log(data.X["income"]), level=data.X["education"].cat.codes)[column]
        by_group = values.groupby(data.groups)
        z_scores = (by_group.mean() - values.mean()) / (values.std() / np.sqrt(by_group.size()))
        assert np.square(z_scores).mean() > 5

    @pytest.mark.parametrize("bad", [0, -3, 2.0, "75", True])
    def test_bad_sizes_are_named(self, bad):
        with pytest.raises(ValueError, match=r"^n must be a positive integer, but got"):
            make_population(bad)
        with pytest.raises(ValueError, match=r"^n_groups must be a positive integer, but got"):
            make_population(n_groups=bad)

    def test_more_groups_than_people_are_refused(self):
        with pytest.raises(ValueError, match=r"n=10 for n_groups=50\. Raise n or lower n_groups"):
            make_population(10)
