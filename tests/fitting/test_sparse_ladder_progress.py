"""The pilot of a sparse ladder takes long, so it says how far it is."""

import pytest

from tests.helpers.small import GROUPS, SHARES, small_features, small_model


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_pilot_shows_how_far_it_is():
    reported = []
    model = small_model(
        "sparse", n_replicas=4, n_draws=5, n_burn=5, progress=lambda *given: reported.append(given)
    )
    model.fit(small_features(), SHARES, groups=GROUPS)
    of_pilot = [n_done / n_sweeps for n_done, n_sweeps, what in reported if what == "tuning"]
    assert of_pilot[0] == 0.0
    assert of_pilot[-1] == 1.0
    assert len(of_pilot) > 2
