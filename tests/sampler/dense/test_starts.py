import numpy as np
import pytest
from disaggregate.sampler.dense.model import DenseProblem, fitted_scores
from disaggregate.sampler.dense.starts import regression_guesses, start_at
from sklearn.metrics import roc_auc_score

from disaggregate.datasets import make_hidden_cluster
from disaggregate.groups import group_rows
from disaggregate.groups.evidence import Count, Fraction
from disaggregate.sampler.evidence import WHOLE_GROUP, make_evidence, make_ladder
from disaggregate.sampler.model import Prior

PRIOR = Prior(1.0, 1.0, 3.0, 15.0)


@pytest.fixture(scope="module")
def cluster():
    data = make_hidden_cluster(random_state=0)
    grouped = group_rows(data.groups.tolist(), {j: Fraction(share) for j, share in data.shares.items()})
    X = data.X[grouped.order]
    kernel = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    value, vector = np.linalg.eigh(kernel + 1.0)
    columns = np.ascontiguousarray(vector[:, -80:].T)
    ladder = make_ladder(make_evidence(grouped), np.array([1.0, 0.3, 0.0]))
    return DenseProblem(columns, np.sqrt(value[-80:]), ladder), np.asarray(data.y)[grouped.order]


def test_regressions_already_know_something(cluster):
    problem, y = cluster
    for guess in regression_guesses(problem, PRIOR):
        assert roc_auc_score(y, guess @ (problem.columns * problem.deviation[:, None])) > 0.8


def test_starts_lie_between_guess_and_prior(cluster, rng):
    problem, _ = cluster
    guess = regression_guesses(problem, PRIOR)[1]
    start = start_at(problem, PRIOR, guess, rng)
    guessed = guess @ (problem.columns * problem.deviation[:, None])
    closeness = [np.corrcoef(guessed, fitted)[0, 1] for fitted in start.fitted]
    assert closeness[0] > 0.9
    assert abs(closeness[-1]) < 0.5
    np.testing.assert_allclose(start.fitted, fitted_scores(problem, start.position))


def test_starts_without_a_guess_differ(cluster, rng):
    problem, _ = cluster
    one, other = start_at(problem, PRIOR, None, rng), start_at(problem, PRIOR, None, rng)
    assert abs(np.corrcoef(one.position[0], other.position[0])[0, 1]) < 0.5


def test_labels_of_large_groups_are_possible(rng):
    n = WHOLE_GROUP + 1
    data = group_rows(["g"] * n, {"g": Count(17)})
    columns = np.full((1, n), n**-0.5)
    problem = DenseProblem(columns, np.ones(1), make_ladder(make_evidence(data), np.array([1.0, 0.0])))
    assert (start_at(problem, PRIOR, None, rng).scores[0] > 0).sum() == 17
