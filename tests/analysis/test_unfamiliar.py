from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from disaggregate.analysis.unfamiliar import UnfamiliarValues
from disaggregate.tables.encoding import make_encoder
from disaggregate.tables.roles import Roles

PEOPLE = pd.DataFrame({"g": np.repeat(list("abcd"), 5), "age": np.arange(20.0), "sex": ["f", "m"] * 10})


@pytest.fixture
def analysis():
    encoder = make_encoder(PEOPLE, ["age", "sex"])
    return SimpleNamespace(encoder=encoder, group_names=("a", "b", "c", "d"), roles=Roles("g"))


def reported(analysis, *pieces):
    unfamiliar = UnfamiliarValues(analysis)
    for piece in pieces:
        unfamiliar.observe(piece)
    return unfamiliar.messages()


def test_the_people_of_the_fit_are_known(analysis):
    assert reported(analysis, PEOPLE) == []
    assert (
        reported(analysis, PEOPLE.assign(g=PEOPLE["g"].str.upper() + " ")) == []
    )  # spelt differently, but one to one


def test_one_line_for_all_pieces(analysis):
    strange = PEOPLE.assign(g="z", sex="x", age=np.nan)
    lines = reported(analysis, strange, strange)
    assert len(lines) == 3
    assert "40 rows in 1 group" in lines[0]
    assert "(40 rows): 'x'" in lines[1]
    assert "40 missing values" in lines[2]


def test_a_missing_group_column(analysis):
    [line] = reported(analysis, PEOPLE.drop(columns="g"))
    assert "20 of 20 rows name no group (column 'g')" in line
    analysis.group_names = None
    assert reported(analysis, PEOPLE.drop(columns="g")) == []


def test_another_unit(analysis):
    [line] = reported(analysis, PEOPLE.assign(age=1000.0 * PEOPLE["age"]))
    assert "same" in line
