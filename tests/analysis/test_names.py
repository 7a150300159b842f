"""The names under which parts of the analysis are public."""

import pytest

import disaggregate as dg
import disaggregate.analysis
import disaggregate.privacy
from disaggregate.analysis.renamed import renamed


def test_short_and_former_names_lead_to_the_same():
    assert dg.fit_tables is dg.analysis.fit_tables
    assert dg.load is dg.analysis.load
    assert dg.Analysis is dg.analysis.Analysis
    assert dg.privacy.landmarks is dg.analysis.privacy.landmarks


def test_old_names_of_arguments_are_accepted_with_a_warning():
    seen = []

    @renamed(told="on_problems")
    def given(*, on_problems=None):
        return on_problems

    with pytest.warns(FutureWarning, match="told is now called on_problems"):
        assert given(told=seen) is seen
    with pytest.raises(TypeError, match="both on_problems and told"):
        given(told=1, on_problems=2)
    assert given(on_problems=3) == 3


def test_the_tables_of_a_fit_accept_the_old_names():
    with (
        pytest.warns(FutureWarning, match="room_for is now called output"),
        pytest.raises(ValueError, match="none"),
    ):
        dg.fit_tables("none.csv", "none.csv", group="g", share="s", room_for="m.dgz")
