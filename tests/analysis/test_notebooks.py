"""What a notebook shows: five lines, tables, plots and the report; and what a log says."""

import logging

import pytest

import disaggregate as dg
from tests.helpers.two_tables import SETTINGS, make_tables

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def people():
    return make_tables(n_groups=6)[0]


@pytest.fixture(scope="module")
def logged():
    return []


@pytest.fixture(scope="module")
def analysis(people, logged):
    handler = logging.Handler()
    handler.emit = lambda record: logged.append(record.getMessage())
    logging.getLogger("disaggregate").addHandler(handler)
    logging.getLogger("disaggregate").setLevel(logging.INFO)
    results = make_tables(n_groups=6)[1]
    settings = {**SETTINGS, "n_draws": 20, "n_burn": 20, "progress": lambda *step: logged.append(step)}
    roles = {"group": "district", "share": "share", "weight": "w"}
    try:
        return dg.fit_tables(people, results, outcome="voted <b>", settings=settings, **roles)
    finally:
        logging.getLogger("disaggregate").removeHandler(handler)
        logging.getLogger("disaggregate").setLevel(logging.NOTSET)


def test_it_prints_in_five_lines(analysis):
    lines = str(analysis).splitlines()
    assert len(lines) == 5
    assert all(len(line) < 120 for line in lines)
    assert "voted <b>" in lines[0]
    assert "120 in 6 groups" in lines[1]


def test_notebooks_show_tables_and_no_markup_of_others(analysis):
    shown = analysis._repr_html_()
    assert shown.startswith("<table>")
    assert "voted &lt;b&gt;" in shown
    assert "<b>" not in shown
    assert "<table" in analysis.classifier.diagnostics_._repr_html_()


def test_plots_are_named_after_the_outcome(analysis, people):
    pytest.importorskip("matplotlib").use("Agg")
    assert "voted <b>" in analysis.plot.subgroups(people, "sex").get_xlabel()
    assert analysis.plot.groups().get_ylabel()
    assert analysis.plot.effects(people, "age").get_xlabel()


def test_a_report_is_shown_and_saved(analysis, people, tmp_path):
    made = analysis.report(people, tmp_path / "r.html", by="sex", features="age", title="Votes")
    assert made.html == (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<title>Votes</title>" in made.html
    assert made._repr_html_().startswith("<iframe")


def test_predictions_along_a_feature(analysis, people):
    table = analysis.predictions(people, {"place": ["land", "town"]})
    assert list(table["place"]) == ["land", "town"]
    assert table["estimate"].between(0, 1).all()


def test_progress_and_log_are_reported(analysis, logged):
    steps = [step for step in logged if isinstance(step, tuple)]
    assert steps[-1][0] == steps[-1][1]
    assert any("120 rows in 6 groups" in line for line in logged if isinstance(line, str))


def test_a_saved_analysis_keeps_the_name_of_its_outcome(analysis, tmp_path):
    analysis.save(tmp_path / "m.dgz")
    loaded = dg.load(tmp_path / "m.dgz")
    assert loaded.outcome == "voted <b>"
    assert loaded.classifier.progress == "auto"
