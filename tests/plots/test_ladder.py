"""Swap rates of the ladder: a bar a pair, rungs by their powers."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from disaggregate.plots import replica_swaps
from disaggregate.posterior.ladder import LadderReport
from disaggregate.posterior.log_evidence import LogEvidence


def test_pairs_stand_between_their_rungs(ax):
    ladder = LadderReport(np.array([1.0, 0.25, 0.0005, 0.0]), np.array([0.4, 0.05, 0.3]), LogEvidence(0, 0), 0.0)
    assert replica_swaps(ladder, ax=ax) is ax
    assert [bar.get_height() for bar in ax.patches] == [0.4, 0.05, 0.3]
    assert [bar.get_x() + bar.get_width() / 2 for bar in ax.patches] == [0.5, 1.5, 2.5]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "0.25", "5e-4", "0"]
    colours = [to_hex(bar.get_facecolor()) for bar in ax.patches]
    assert colours[0] == colours[2] != colours[1]


def test_bad_input_is_explained():
    single = LadderReport(np.ones(1), np.empty(0), LogEvidence(0, 0), 0.0, "starts agreed")
    for none in (None, single):
        with pytest.raises(ValueError, match=r"each chain had one replica\. Fit with n_replicas=8"):
            replica_swaps(none)
    with pytest.raises(ValueError, match=r"needs model.diagnostics_.ladder, but got list"):
        replica_swaps([0.1])
