"""Blocks cover every row once, bound the number of values, and check what the predictor answers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from disaggregate.posterior import batches as module
from disaggregate.posterior.batches import average_draws, batches, row_predictor
from tests.helpers.predictors import of_table


def test_rows_are_asked_for_once_and_in_bounded_number(rng, monkeypatch):
    monkeypatch.setattr(module, "VALUES_AT_ONCE", 10 * 37)
    draws = rng.random((10, 300))
    probability = of_table(draws)
    found = list(batches(probability, 300))
    assert_array_equal(np.concatenate(probability.asked), np.arange(300))
    assert [len(rows) for rows in probability.asked] == [64, 37, 37, 37, 37, 37, 37, 14]
    assert_array_equal(np.hstack([values for _, values in found]), draws)


def test_more_draws_than_values_still_give_a_row_at_a_time(rng, monkeypatch):
    monkeypatch.setattr(module, "VALUES_AT_ONCE", 5)
    monkeypatch.setattr(module, "FIRST_ROWS", 2)
    assert [rows.stop - rows.start for rows, _ in batches(of_table(rng.random((10, 4))), 4)] == [2, 1, 1]


def test_chains_are_put_end_to_end(rng):
    draws = rng.random((3, 4, 5))
    ((_, found),) = batches(lambda rows: draws[:, :, rows], 5)
    assert_array_equal(found, draws.reshape(12, 5))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_average_of_a_table_in_pieces(frame, monkeypatch):
    monkeypatch.setattr(module, "FIRST_ROWS", 2)
    people = frame({"p": [0.1, 0.2, 0.3, 0.8]})
    predict = lambda part: np.stack([part["p"].to_numpy(), 1 - part["p"].to_numpy()])  # noqa: E731
    assert_allclose(average_draws(predict, people, np.array([1.0, 1.0, 2.0, 0.0])), [0.225, 0.775])
    assert_allclose(row_predictor(predict, people)(np.array([3, 0])), [[0.8, 0.1], [0.2, 0.9]])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros(3), r"it gave shape \(3,\)"),
        (np.zeros((2, 4)), r"for 3 rows; it gave shape \(2, 4\)"),
        (np.full((2, 3), 1.5), "values from 1.5 to 1.5"),
        (np.full((2, 3), -0.1), "and not scores"),
        (np.full((2, 3), np.nan), "between 0 and 1"),
        (np.zeros((0, 3)), "at least one draw"),
    ],
)
def test_answers_that_are_no_probabilities_are_refused(answer, message):
    with pytest.raises(ValueError, match=message):
        list(batches(lambda rows: answer, 3))


def test_another_number_of_draws_is_refused(monkeypatch):
    monkeypatch.setattr(module, "FIRST_ROWS", 1)
    with pytest.raises(ValueError, match="gave 5 draws after 4 draws before"):
        list(batches(lambda rows: np.zeros((4 + rows.start, rows.stop - rows.start)), 2))
