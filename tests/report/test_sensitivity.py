"""How far estimates moved, as the page tells it: the numbers, the largest shift, and one sentence about both."""

import pandas as pd
import pytest

from disaggregate.report.sensitivity import read_sensitivity, sensitivity_section
from disaggregate.tables.problems import TableError

CHANGES = ["as it is", "results trusted less", "linear kernel"]


@pytest.fixture
def table():
    """Everybody and two levels, one of which is called as files call what is missing."""
    rows = [
        (by, subgroup, change, estimate)
        for change, estimates in zip(
            CHANGES, [(0.5, 0.4, 0.6), (0.5, 0.296, 0.64), (0.45, 0.42, 0.6)], strict=True
        )
        for (by, subgroup), estimate in zip(
            [("everybody", "everybody"), ("sex", "f"), ("sex", "None")], estimates, strict=True
        )
    ]
    table = pd.DataFrame(rows, columns=["by", "subgroup", "change", "estimate"])
    shift = table["estimate"] - [*table["estimate"][:3]] * 3
    return table.assign(
        n=10, std_error=0.08, conf_low=0.1, conf_high=0.9, shift=shift, shift_in_std_errors=shift / 0.08
    )


def of_kind(section, kind):
    return [element for element in section.elements if element.kind == kind]


def test_estimates_stand_side_by_side(table, tmp_path):
    table.to_csv(tmp_path / "s.csv", index=False)
    section = sensitivity_section(read_sensitivity(tmp_path / "s.csv"), "purple")
    everybody, by_sex = of_kind(section, "table")
    assert [column.heading for column in by_sex.columns] == [
        "sex",
        "As it is",
        "Results trusted less",
        "Linear kernel",
        "Largest shift, in standard errors",
    ]
    rows = [[cell.text for cell in row] for row in by_sex.rows]
    assert rows == [
        ["f", "0.400", "0.296", "0.420", "1.300"],
        ["missing", "0.600", "0.640", "0.600", "0.500"],
    ]
    assert [cell.text for cell in everybody.rows[0]] == ["everybody", "0.500", "0.500", "0.450", "0.625"]
    assert [block.text for block in of_kind(section, "heading")] == ["Everybody", "By sex"]


def test_the_farthest_is_reported_in_a_sentence(table):
    reported = of_kind(sensitivity_section(read_sensitivity(table), "purple"), "text")[-1].text
    assert reported == (
        "1 of 3 estimates moves by more than one standard error under some choice. The farthest is that of "
        "sex = f: with results trusted less it is 0.296 rather than 0.400, a shift of 1.3 standard errors."
    )
    calm = table.assign(shift_in_std_errors=table["shift_in_std_errors"] / 2)
    reported = of_kind(sensitivity_section(read_sensitivity(calm), "purple"), "text")[-1].text
    assert reported.startswith("None of 3 estimates moves by more than one standard error")


def test_another_table_is_refused(table):
    with pytest.raises(TableError, match="no column 'shift'; give what `disaggregate sensitivity` wrote"):
        read_sensitivity(table.drop(columns="shift"))
    with pytest.raises(TableError, match="one under another choice"):
        read_sensitivity(table[table["change"] == "as it is"])
    with pytest.raises(TableError, match="several rows for one subgroup"):
        read_sensitivity(pd.concat([table, table]))


def test_few_people_are_not_reported(table):
    few = table.assign(n=[10, 8, 2] * 3)
    section = sensitivity_section(read_sensitivity(few, min_group_size=5), "purple")
    _, by_sex = of_kind(section, "table")
    # Who are hidden alone follow from the total, so that their neighbours are hidden with them.
    assert {cell.text for row in by_sex.rows for cell in row[1:]} == {"suppressed"}
    assert of_kind(section, "text")[-1].text.startswith("None of 1 estimate moves")
