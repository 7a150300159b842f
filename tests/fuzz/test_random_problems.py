import numpy as np
import pytest

from fuzz import random_problems
from fuzz.random_problems import check_problem, random_problem, run

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_random_problems_go_all_the_way():
    assert run(40, seed=1, defaults_every=40) == []


def test_a_loaded_model_that_predicts_otherwise_is_noticed(tmp_path, monkeypatch):
    problem = random_problem(np.random.default_rng(0))
    load = random_problems.dg.load

    def load_wrongly(path):
        model = load(path)
        model.label_proba_ = model.label_proba_ + 1e-12
        return model

    monkeypatch.setattr(random_problems.dg, "load", load_wrongly)
    with pytest.raises(AssertionError, match="label_proba_ differs"):
        check_problem(problem, tmp_path)


def test_a_probability_that_is_none_is_noticed(tmp_path, monkeypatch):
    problem = random_problem(np.random.default_rng(0))
    monkeypatch.setattr(
        random_problems.dg.GroupStatsClassifier, "predict_interval", lambda model, X: np.full((len(X), 2), np.nan)
    )
    with pytest.raises(AssertionError, match="predict_interval is not a probability"):
        check_problem(problem, tmp_path)
