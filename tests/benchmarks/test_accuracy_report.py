import numpy as np
import pandas as pd
import pytest

from benchmarks.accuracy_report import write_report

ORDER = ["disaggregate", "mean map", "supervised oracle (sees labels)"]


def rows(task, size, method, accuracy, version="0.1"):
    return [
        {
            "task": task,
            "size": size,
            "seed": 0,
            "fold": fold,
            "method": method,
            "accuracy": value,
            "auc": value,
            "log_loss": 1.0 - value,
            "calibration": 0.1,
            "seconds": 1.0,
            "kernel": "",
            "rhat": 1.01 if method == ORDER[0] else np.nan,
            "version": version,
        }
        for fold, value in enumerate(accuracy)
    ]


@pytest.fixture
def report(tmp_path):
    """Write a report of these rows and return its text."""

    def write(*parts, missing=None):
        path = tmp_path / "accuracy.csv"
        pd.DataFrame([row for part in parts for row in part]).to_csv(path, index=False)
        write_report(path, tmp_path, ORDER, missing or {})
        return path.with_suffix(".md").read_text(encoding="utf-8")

    return write


def test_the_best_that_sees_no_labels_is_bold(report):
    text = report(
        rows("vote", 8, ORDER[0], [0.8, 0.9]),
        rows("vote", 8, ORDER[1], [0.7, 0.8]),
        rows("vote", 8, ORDER[2], [0.95, 0.97]),
    )
    assert "| 8 | disaggregate | **0.850** ± 0.050 | **0.850** ± 0.050 |" in text
    assert "| 8 | mean map | 0.750 ± 0.050 |" in text
    assert "| 8 | supervised oracle (sees labels) | 0.960 ± 0.010 |" in text
    assert "| 8 | 1 | 1 | 1 | 1 | 1 |" in text


def test_a_loss_is_reported(report):
    text = report(rows("vote", 8, ORDER[0], [0.6, 0.6]), rows("vote", 8, ORDER[1], [0.9, 0.9]))
    assert "| 8 | mean map | **0.900** ± 0.000 |" in text
    assert "| 8 | 1 | 0 | 0 | 0 | 0 |" in text


def test_near_the_first_is_counted_apart(report):
    text = report(rows("vote", 8, ORDER[0], [0.7, 0.8]), rows("vote", 8, ORDER[1], [0.72, 0.82]))
    assert "| 8 | 1 | 0 | 1 | 0 | 1 |" in text


def test_a_rival_is_judged_on_the_splits_that_both_were_run_on(report):
    """Easier splits that the rival never saw would put ours first."""
    text = report(rows("vote", 8, ORDER[0], [0.6, 0.6, 0.99, 0.99]), rows("vote", 8, ORDER[1], [0.7, 0.7]))
    assert "| 8 | disaggregate | **0.795**" in text
    assert "| 8 | 1 | 0 | 0 | 0 | 0 |" in text


def test_who_is_ahead_by_more_than_a_standard_error_is_named(report):
    lost = "Where a rival is ahead by more than a standard error"
    text = report(rows("vote", 8, ORDER[0], [0.6, 0.62, 0.99]), rows("vote", 8, ORDER[1], [0.7, 0.72]))
    assert lost in text
    assert "| vote | 8 | accuracy | 0.610 | mean map | 0.710 | 0.010 |" in text
    text = report(rows("vote", 8, ORDER[0], [0.7, 0.8]), rows("vote", 8, ORDER[1], [0.72, 0.82]))
    assert lost not in text


def test_cells_won_are_counted_by_rival_and_score(report):
    text = report(
        rows("vote", 8, ORDER[0], [0.7, 0.8]),
        rows("vote", 8, ORDER[1], [0.6, 0.7]),
        rows("vote", 16, ORDER[0], [0.5, 0.5, 0.9]),
        rows("vote", 16, ORDER[1], [0.6, 0.6]),
        rows("sonar", 16, ORDER[0], [0.9]),
        rows("sonar", 16, ORDER[1], [0.8]),
        rows("sonar", 16, ORDER[2], [1.0]),
    )
    assert "| rival | cells | accuracy | AUC | log loss | calibration error |" in text
    assert "| mean map | 3 | 2 | 2 | 2 | 0 |" in text
    assert "supervised oracle (sees labels) | 1 |" not in text


def test_published_numbers_stand_beside_two_bags(report, tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "quadrianto_icml2008_table3.csv").write_text(
        "dataset,MM_err,MM_se,KDE_err,KDE_se,DS_err,DS_se,MCMC_err,MCMC_se,majority_err\n"
        "pima,27.5,3.0,34.8,0.6,34.4,1.7,23.8,1.8,34.8\n",
        encoding="utf-8",
    )
    text = report(rows("two bags, pima", 0, ORDER[0], [0.7, 0.8]))
    assert "| pima | 25.0 ± 5.0 | 27.5 ± 3.0 | 34.8 ± 0.6 | 34.4 ± 1.7 | 23.8 ± 1.8 |" in text


def test_what_was_not_run_is_named_with_the_reason(report):
    text = report(rows("vote", 8, ORDER[0], [0.7]), missing={"llp-learn": "It needs an environment of its own."})
    assert "Not run: llp-learn. It needs an environment of its own." in text


def test_who_has_no_results_is_named_when_only_the_report_is_written(report):
    text = report(rows("vote", 8, ORDER[0], [0.7]), rows("vote", 8, ORDER[1], [0.7]))
    assert f"Not run: {ORDER[2]}." in text
    assert f"Not run: {ORDER[1]}." not in text


def test_a_cell_has_the_version_with_most_fits_and_the_last_of_equals(report):
    text = report(
        rows("vote", 8, ORDER[0], [0.5, 0.6]),
        rows("vote", 16, ORDER[0], [0.5, 0.6]),
        rows("vote", 8, ORDER[1], [0.7, 0.8]),
        rows("vote", 8, ORDER[0], [0.9, 0.9], version="abc1234"),
        rows("vote", 16, ORDER[0], [0.9], version="abc1234"),
    )
    assert "| disaggregate | 0.1 | 2 |" in text
    assert "| disaggregate | abc1234 | 2 |" in text
    assert "| 8 | disaggregate | **0.900** ± 0.000 |" in text
    assert "| 16 | disaggregate | **0.550** ± 0.050 |" in text


def test_the_last_version_is_compared_on_the_splits_of_both(report):
    text = report(
        rows("vote", 8, ORDER[0], [0.5, 0.6, 0.1]),
        rows("vote", 8, ORDER[1], [0.7, 0.8, 0.1]),
        rows("vote", 8, ORDER[0], [0.8, 0.9], version="abc1234"),
    )
    assert "On 2 splits, in groups of 8, beside version 0.1" in text
    assert "| accuracy | 0.5500 | 0.8500 | +0.3000 ± 0.0000 | 0 of 1 | 1 of 1 |" in text
    assert "## The version at" not in report(rows("vote", 8, ORDER[0], [0.5]), rows("vote", 8, ORDER[1], [0.7]))
