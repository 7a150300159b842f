"""From tables to the fit, without fitting: what is shown, what is refused, and what is chosen."""

import html
import io

import pandas as pd
import pytest

from tests.web.conftest import PEOPLE, RESULTS, sent


def opened(client, **tables):
    answer = client.post("/tables", files=sent(**tables))
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].rsplit("/", 1)[0]


def shown(answer, status=200):
    assert answer.status_code == status
    return html.unescape(answer.text)


@pytest.fixture
def session(client, none_open):
    return opened(client)


def test_roles_are_guessed_and_a_check_leads_to_the_fit(client, session):
    page = shown(client.get(f"{session}/columns"))
    assert page.count("selected") == 6
    answer = client.post(f"{session}/columns", data={"outcome": "voted <b>", "sampled": "no"})
    assert answer.headers["location"] == f"{session}/check"
    assert "Ready to fit" in shown(client.get(f"{session}/check"))
    assert "learning from age, sex" in shown(client.get(f"{session}/check"))
    fit = shown(client.get(f"{session}/fit"))
    assert "Start the fit" in fit
    assert "minute" in fit  # how long it will take
    raw = client.get("/").text
    assert "voted &lt;b&gt;" in raw


@pytest.mark.parametrize(
    ("state", "reported"),
    [
        ({"state": "stopped", "can_resume": True}, ["any draw was kept", "Resume from the checkpoint"]),
        ({"state": "stopped", "can_resume": False}, ["before it drew anything"]),
        ({"state": "killed", "code": -9, "can_resume": True}, ["exit code -9", "Resume from the checkpoint"]),
        ({"state": "failed", "message": "no memory", "can_resume": False}, ["no memory", "Start again"]),
        ({"state": "done", "stopped_early": "with 3 of 5 draws", "can_resume": True}, ["3 of 5", "Draw the rest"]),
        ({"state": "done", "stopped_early": "", "can_resume": True}, ["See the answer"]),
        (
            {"state": "running", "what": "comparing kernels", "done": 0, "total": 0, "left": 30.0, "seconds": 9.0},
            ["Comparing kernels", "30 seconds left", "Stop and keep"],
        ),
    ],
)
def test_every_state_of_a_fit_is_reported(client, pages, session, monkeypatch, state, reported):
    client.post(f"{session}/columns", data={"sampled": "no"})
    monkeypatch.setattr(pages.fits, "state", lambda key: state)
    page = shown(client.get(f"{session}/fit"))
    assert all(words in page for words in reported)
    assert ('value="resume"' in page) == (state.get("can_resume", False) and state.get("stopped_early") != "")


def test_steps_that_are_not_ready_lead_back(client, session):
    assert client.get(f"{session}/check").headers["location"] == f"{session}/columns"
    assert client.get(f"{session}/fit").headers["location"] == f"{session}/check"
    for step in ("answer", "take-home"):
        assert client.get(f"{session}/{step}").headers["location"] == f"{session}/fit"


@pytest.mark.parametrize(
    ("fields", "reported"),
    [
        ({"people-0": "feature"}, "names the group"),
        ({"people-1": "group"}, "names the group"),
        ({"results-1": "ignore"}, "share, or the count"),
        ({"people-1": "ignore", "people-2": "ignore"}, "at least one column"),
        ({"people-1": "nonsense"}, "no known role"),
        ({"people-1": "weight", "people-2": "weight"}, "same role"),
    ],
)
def test_a_wrong_column_is_reported(client, session, fields, reported):
    page = shown(client.post(f"{session}/columns", data={"sampled": "no", **fields}), 400)
    assert reported in page
    assert 'role="alert"' in page


def test_what_was_sent_is_shown_again_with_the_complaint(client, session):
    sent_before = {"sampled": "yes", "outcome": "voted <b>", "results-1": "ignore", "people-3": "weight"}
    page = shown(client.post(f"{session}/columns", data=sent_before), 400)
    assert 'value="voted <b>"' in page
    assert page.count('class="role-ignore"') == 1
    assert page.count('class="role-weight"') == 1
    assert 'value="yes" checked' in page


@pytest.mark.parametrize(
    ("tables", "reported"),
    [
        ({"people": "", "results": RESULTS}, "people"),
        ({"people": "a,b\n1\n", "results": RESULTS}, "people"),
        ({"results": "\x00\x01\x02"}, "results"),
        ({"names": ("people.pdf", "results.csv")}, "must end in"),
        ({"names": ("people", "results.csv")}, "must end in"),
    ],
)
def test_bad_files_are_reported_and_leave_nothing(client, pages, none_open, tables, reported):
    page = shown(client.post("/tables", files=sent(**tables)), 400)
    assert reported in page
    assert str(pages.sessions._folder) not in page
    assert len(pages.sessions) == 0


MANY_WAYS = "district;share,note\nd0;0.5,a\nd1;0.25,b\nd2;0.75,c\nd3;0.4,d\n"


def test_ways_to_read_a_table_are_buttons(client, pages, none_open):
    answer = client.post("/tables", files=sent(results=MANY_WAYS))
    assert answer.headers["location"].endswith("/tables")
    session = answer.headers["location"].rsplit("/", 1)[0]
    page = shown(client.get(answer.headers["location"]))
    assert "semicolons its columns are 'district'" in page
    assert "--separator" not in page  # that is for the command line
    assert 'value="results:separator=;"' in page
    assert shown(client.get("/")).count("/tables") == 2  # the form, and the way back to this
    assert client.get(f"{session}/columns").status_code == 404
    assert (
        client.post(f"{session}/tables", data={"settle": "people:separator=;"})
        .headers["location"]
        .endswith("tables")
    )
    settled = client.post(f"{session}/tables", data={"settle": "results:separator=,"})
    assert settled.headers["location"] == f"{session}/columns"
    assert "district;share" in shown(client.get(f"{session}/columns"))
    assert client.get(f"{session}/tables").headers["location"] == f"{session}/columns"
    again = client.post(f"{session}/tables", data={"settle": "undo"})
    assert again.headers["location"] == f"{session}/tables"
    (known,) = pages.sessions.all()
    assert known.readings == {}
    assert client.post(f"{session}/close").status_code == 303
    assert len(pages.sessions) == 0


def test_what_was_chosen_for_one_table_holds_for_the_check_and_not_for_the_other(client, none_open):
    results = "district;share, official\nd0;0,5\nd1;0,25\nd2;0,75\nd3;0,4\n"
    session = client.post("/tables", files=sent(results=results)).headers["location"].rsplit("/", 1)[0]
    client.post(f"{session}/tables", data={"settle": "results:separator=;"})
    assert "share, official" in shown(client.get(f"{session}/columns"))
    client.post(f"{session}/columns", data={"sampled": "no"})
    page = shown(client.get(f"{session}/check"))
    assert "Ready to fit" in page
    assert "learning from age, sex" in page


def test_the_sheets_of_a_workbook_are_buttons(client, pages, none_open, tmp_path):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(tmp_path / "book.xlsx") as book:
        for name, text in (("Notes", "a,b\n1,2\n"), ("Final", RESULTS)):
            pd.read_csv(io.StringIO(text)).to_excel(book, sheet_name=name, index=False)
    files = sent(results=(tmp_path / "book.xlsx").read_bytes(), names=("people.csv", "book.xlsx"))
    session = client.post("/tables", files=files).headers["location"].rsplit("/", 1)[0]
    page = shown(client.get(f"{session}/tables"))
    assert 'value="results:sheet=Notes"' in page
    assert str(pages.sessions._folder) not in page
    client.post(f"{session}/tables", data={"settle": "results:sheet=Final"})
    client.post(f"{session}/columns", data={"sampled": "no"})
    assert "Ready to fit" in shown(client.get(f"{session}/check"))


def test_one_file_is_not_enough(client):
    page = shown(client.post("/tables", files={"people": ("p.csv", PEOPLE)}), 400)
    assert "results" in page


def test_percent_and_spelling_are_reported_and_need_no_click(client, none_open):
    results = "place,pct_yes\nD0,50\nD1,25.5\nD2,75\nD9,10\n"
    session = opened(client, people=PEOPLE.replace("district", "place"), results=results)
    client.post(f"{session}/columns", data={"sampled": "no"})
    page = shown(client.get(f"{session}/check"))
    assert "Ready to fit" in page
    assert "How it was read" in page
    assert "percentages" in page
    assert "spelt differently" in page


def test_the_fewest_people_of_a_number_are_checked_before_a_fit(client, session):
    client.post(f"{session}/columns", data={"sampled": "no"})
    client.get(f"{session}/check")
    assert 'name="fewest"' in shown(client.get(f"{session}/fit"))
    sent_before = {"action": "start", "length": "quick", "fewest": "81"}
    assert "1 to 80 people" in shown(client.post(f"{session}/fit", data=sent_before), 400)


def test_an_open_question_is_settled_by_a_click(client, none_open):
    results = "district,share\nd0,1.0\nd1,0.5\nd2,1.5\n"
    session = opened(client, results=results)
    client.post(f"{session}/columns", data={"sampled": "no"})
    assert "Corrections are needed" in shown(client.get(f"{session}/check"))
    assert client.post(f"{session}/check", data={"settle": "shares_in=nonsense"}).status_code == 303
    assert "Corrections are needed" in shown(client.get(f"{session}/check"))
    assert client.post(f"{session}/check", data={"settle": "shares_in=percent"}).status_code == 303
    assert "Ready to fit" in shown(client.get(f"{session}/check"))
    client.post(f"{session}/check", data={"settle": "undo"})
    assert "Corrections are needed" in shown(client.get(f"{session}/check"))


def test_another_name_of_the_group_is_understood(client, none_open):
    session = opened(client, results=RESULTS.replace("district", "cd"))
    client.post(f"{session}/columns", data={"sampled": "no"})
    assert "Ready to fit" in shown(client.get(f"{session}/check"))


def test_a_closed_analysis_says_so(client):
    page = shown(client.get("/s/unknown/columns"), 404)
    assert "not open any more" in page
