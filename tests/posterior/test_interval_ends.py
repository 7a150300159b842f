import numpy as np
import pytest

from disaggregate.posterior.summaries import interval_ends


@pytest.mark.parametrize(
    ("level", "ends"), [(0.9, (0.05, 0.95)), (0.5, (0.25, 0.75)), (np.float32(0.5), (0.25, 0.75))]
)
def test_ends_are_symmetric(level, ends):
    assert interval_ends(level) == pytest.approx(ends)


@pytest.mark.parametrize("level", [0, 1, 0.0, 1.0, 90, -0.1, np.nan, np.inf, "0.9", None, True, [0.9]])
def test_bad_levels_are_refused(level):
    with pytest.raises(ValueError, match=r"level must lie between 0 and 1, such as 0\.9; got"):
        interval_ends(level)
