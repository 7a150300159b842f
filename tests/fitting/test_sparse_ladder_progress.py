"""The pilot of a sparse ladder takes long, so it says how far it is."""

import pytest

from tests.contract.small import GROUPS, SHARES, small_features, small_model


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_pilot_shows_how_far_it_is(capsys):
    model = small_model("sparse", n_replicas=4, n_draws=5, n_burn=5, progress=True)
    model.fit(small_features(), SHARES, groups=GROUPS)
    assert "tuning" in capsys.readouterr().err
