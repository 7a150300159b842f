"""A checkpoint is resumed only with the columns of the fit that wrote it."""

import numpy as np
import pytest

import disaggregate as dg
from disaggregate.fitting import dense
from disaggregate.fitting.digests import digest, require_same_digest
from tests.helpers.partitions import use_small_partitions
from tests.helpers.small import small_model

TOWN = dg.datasets.make_districts(random_state=3)


def test_the_last_digit_counts():
    array = np.linspace(0.0, 1.0, 5)
    require_same_digest(array.copy(), digest(array))
    require_same_digest(np.asfortranarray(array.reshape(5, 1)), digest(array))
    array[3] = np.nextafter(array[3], 1.0)
    with pytest.raises(ValueError, match="the checkpoint cannot be resumed here"):
        require_same_digest(array, digest(np.linspace(0.0, 1.0, 5)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("in_partitions", [False, True])
def test_a_fit_with_other_digits_is_not_resumed(in_partitions, tmp_path, monkeypatch):
    how = {"groups": TOWN.groups, "checkpoint": tmp_path / "run.dgc"}
    if in_partitions:
        use_small_partitions(monkeypatch, 20, 10)
    model = small_model(kernel="rbf", gamma="scale", centers=20, n_draws=10, n_burn=5)
    with monkeypatch.context() as patch:
        patch.setattr(dense, "digest", lambda array: "of another machine")
        model.fit(TOWN.X, TOWN.shares, **how)
    kept = how["checkpoint"].read_bytes()
    with pytest.raises(ValueError, match="other digits than before"):
        model.fit(TOWN.X, TOWN.shares, **how, resume=True)
    assert how["checkpoint"].read_bytes() == kept
