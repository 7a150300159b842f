import inspect
from dataclasses import asdict

import pandas as pd
import pytest

from disaggregate.tables.column_roles import ROLES, ColumnNames, takes_columns
from disaggregate.tables.problems import TableError
from disaggregate.tables.roles import Roles, resolve_roles

PEOPLE = pd.DataFrame(columns=["district", "age", "job", "w", "r1", "r2", "name"])
RESULTS = pd.DataFrame(columns=["district", "share", "votes", "valid", "low", "chi", "noise", "population"])


def resolve(people=PEOPLE, results=RESULTS, **roles):
    return resolve_roles(people, results, **{"group": "district", "share": "share", **roles})


def complaint(**roles):
    with pytest.raises(TableError) as caught:
        resolve(**roles)
    return str(caught.value)


def test_features_default_to_all_the_rest():
    roles = resolve(weight="w", replicates=["r1", "r2"], ignore="name", size="population")
    assert roles == Roles(
        group="district",
        share="share",
        size="population",
        weight="w",
        replicates=("r1", "r2"),
        features=("age", "job"),
        ignore=("name",),
    )
    assert roles.names("weight") == ("w",)
    assert roles.names("total") == ()
    assert Roles(**asdict(roles)) == roles


def test_a_count_is_looked_for_in_people_and_is_no_feature():
    people = PEOPLE.assign(n=1)
    roles = resolve(people, count="n", ignore="name")
    assert roles.count == "n"
    assert "n" not in roles.features
    assert "count: people has no column 'm'" in complaint(count="m")
    assert "column 'age' is given as count and features" in complaint(count="age", features="age")
    assert resolve(people, RESULTS.assign(n=1), count="n", share=None, positives="votes", total="n").total == "n"


def test_named_features_keep_their_order():
    assert resolve(features=["job", "age"]).features == ("job", "age")
    assert resolve(features="age").features == ("age",)


def test_a_name_with_a_role_in_results_is_no_feature_unless_named():
    people = PEOPLE.assign(share=0.5)
    assert "share" not in resolve(people).features
    assert resolve(people, features=["age", "share"]).features == ("age", "share")
    assert resolve(people, features="age", ignore="share").share == "share"


def test_every_unknown_name_is_reported_at_once_with_the_nearest():
    message = complaint(group="distrct", share="Shares", weight="wt", features=["ages", "zzz"])
    lines = message.splitlines()
    assert lines[0] == "group: people has no column 'distrct'; did you mean 'district'?"
    assert lines[1] == "group: results has no column 'distrct'; did you mean 'district'?"
    assert "features: people has no column 'ages'; did you mean 'age'?" in lines
    assert (
        "features: people has no column 'zzz'; its columns are 'district', 'age', 'job', 'w', 'r1' and 2 more."
        in lines
    )
    assert "share: results has no column 'Shares'; did you mean 'share'?" in lines


def test_the_other_table_is_named():
    assert complaint(share="age") == "share: 'age' is a column of people, but share is looked for in results."
    assert "weight: 'valid' is a column of results, but weight is looked for in people." in complaint(
        weight="valid"
    )


def test_swapped_tables_are_recognised():
    results = pd.DataFrame({"district": ["a", "b"], "share": [0.1, 0.2]})
    people = pd.DataFrame({"district": ["a", "a", "b"], "age": [20, 30, 40]})
    swapped = "The tables seem to be swapped: the table of people comes first, then that of results."
    with pytest.raises(TableError) as raised:
        resolve_roles(results, people, group="district", share="share")
    assert str(raised.value).splitlines()[1:] == [swapped]
    with pytest.raises(TableError) as raised:
        resolve_roles(people, results, group="district", share="age")
    assert swapped not in str(raised.value)


def test_the_column_of_groups_is_called_the_same_in_both_tables():
    people = pd.DataFrame(columns=["District", "x"])
    with pytest.raises(TableError) as raised:
        resolve(people)
    assert str(raised.value) == (
        "group: 'district' is a column of results, but not of people. It has 'District': call it "
        "'district' in both."
    )
    with pytest.raises(TableError, match=r"Its columns are 'zone', 'x': call it 'district' in both"):
        resolve(people.rename(columns={"District": "zone"}))


def test_ignore_may_name_columns_of_either_table():
    assert resolve(ignore=["votes", "name"]).ignore == ("votes", "name")
    assert "ignore: people has no column 'nam'; did you mean 'name'?" in complaint(ignore="nam")


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"weight": "district"}, "column 'district' is given as group and weight; a column plays one role."),
        ({"features": ["age", "age"]}, "column 'age' is given as features and features"),
        ({"features": "age", "ignore": "age"}, "column 'age' is given as features and ignore"),
        ({"share": "share", "low": "share"}, "column 'share' is given as share and low"),
        (
            {"total": "valid"},
            "total: column 'valid' says the number of people .*, so it needs positives beside it",
        ),
        ({"noise": "noise"}, "noise: column 'noise' says .* needs positives"),
        ({"share": None, "low": "low", "confidence": "chi"}, "confidence: column 'chi' says .* needs share"),
        ({"share": None}, "name a column of results as share, as positives .* columns are 'share', 'votes'"),
    ],
)
def test_roles_must_fit_together(roles, message):
    with pytest.raises(TableError, match=message):
        resolve(**roles)


def test_no_feature_left():
    with pytest.raises(TableError, match="people has no column left to be a feature"):
        resolve(ignore=["age", "job", "w", "r1", "r2", "name"])


def test_each_role_is_one_that_a_caller_can_name():
    of_their_own = {"group", "confidence", "tallies"}
    assert set(ColumnNames.__annotations__) == set(ROLES) - of_their_own


def test_roles_are_arguments_with_a_description():
    @takes_columns
    def look(people, *, group, confidence=1.0, **columns):
        """Look at columns.

        Parameters
        ----------
        {columns}
        confidence : float
        """

    shown = inspect.signature(look).parameters
    assert list(shown)[:3] == ["people", "group", "share"]
    assert shown["share"].default is None
    assert shown["features"].default == ()
    assert "share : str, optional\n            Column of results: share" in look.__doc__
    assert look.__doc__.count("confidence :") == 1


def test_an_argument_that_is_no_role_is_refused():
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'shar'; did you mean 'share'"):
        resolve(shar="s")
