import numpy as np
import pytest

from benchmarks.judge import calibration_error, judge


def test_perfect_predictions():
    y = np.array([0, 0, 1, 1])
    found = judge(y, np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0.0, 0.0, 1.0, 1.0]))
    assert (found["accuracy"], found["auc"]) == (1.0, 1.0)
    assert found["log_loss"] < 1e-5
    assert found["calibration"] < 1e-5


def test_accuracy_goes_by_the_sign_of_the_score_and_log_loss_by_the_probability():
    y = np.array([0, 1])
    found = judge(y, np.array([1.0, 2.0]), np.array([0.5, 0.5]))
    assert found["accuracy"] == 0.5
    assert found["auc"] == 1.0
    assert found["log_loss"] == pytest.approx(np.log(2.0))


def test_probabilities_that_come_true_are_calibrated(rng):
    probability = rng.random(200_000)
    y = (rng.random(200_000) < probability).astype(int)
    assert calibration_error(y, probability) < 0.01
    assert calibration_error(y, probability**2) == pytest.approx(1.0 / 6.0, abs=0.01)


def test_few_individuals_have_fewer_bins():
    assert calibration_error(np.array([1, 0]), np.array([0.9, 0.4])) == pytest.approx(0.25)
