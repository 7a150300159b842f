"""One page that needs nothing else: all numbers are there, nothing is fetched, and no name becomes code."""

import copy
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import disaggregate as dg
from disaggregate.groups.context import Context
from disaggregate.posterior.contraction import ON_GROUPS, ON_PRIOR
from disaggregate.report import write_report
from disaggregate.report.background import method_elements
from disaggregate.report.elements import Facts, Text
from disaggregate.report.groups import as_people_count
from disaggregate.report.page import MISSING_JINJA
from disaggregate.report.percentages import share
from disaggregate.report.subgroups import Rates
from disaggregate.report.verdict import verdict_elements
from tests.helpers.census import ROLES, make_census
from tests.helpers.two_tables import SETTINGS, make_tables

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
HOSTILE = "<script>alert(1)</script>"
FORMULA = "$\\frac{$ & -->"
SECTIONS = ["answer", "subgroups", "effects", "groups", "limits", "appendix"]
VOID = {"meta", "br", "hr", "img", "link", "input"}
GROUPS = "Reported and implied share of “the outcome” in each group."


class Page(HTMLParser):
    """Reads a page: its tags, its tables, and whether all that was opened was closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.tables, self.texts = [], [], {}, []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.rows = []
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "table":
            self.tables[self.caption] = self.rows

    def handle_data(self, data):
        self.texts.append(data)
        if "caption" in self.open:
            self.caption = data
        elif "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def written(analysis, people, path, **options):
    write_report(analysis, people, path, **options)
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tables():
    """Names that are code, formulas and long words; and one group that reports nothing."""
    people, results, _ = make_tables()
    names = {"d00": HOSTILE, "d01": FORMULA}
    people["district"] = people["district"].replace(names)
    people["place"] = people["place"].replace({"town": HOSTILE})
    people["sex"] = people["sex"].replace({"m": f"{FORMULA} {'long ' * 30}"}).mask(people.index == 5)
    return people, results.assign(district=results["district"].replace(names)).query("district != 'd11'")


@pytest.fixture(scope="module")
def analysis(tables):
    roles = {"group": "district", "share": "share", "weight": "w", "ignore": ["yes", "all"], "confidence": 70}
    return dg.fit_tables(*tables, settings={**SETTINGS, "n_replicas": None, "kernel": "auto"}, **roles)


@pytest.fixture(scope="module")
def text(analysis, tables, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    return written(analysis, tables[0], path, title="Two & more", question="Who <b>votes</b>?")


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def test_it_has_its_sections_and_landmarks(page):
    assert [tag["id"] for tag in page.all("section")] == SECTIONS
    assert [tag["href"] for tag in page.all("a")] == [f"#{name}" for name in SECTIONS]
    assert len(page.all("h1")) == len(page.all("main")) == len(page.all("nav")) == 1
    assert page.all("html") == [{"lang": "en"}]
    assert "Two & more" in page.texts
    assert "Who <b>votes</b>?" in page.texts


def test_nothing_is_fetched(text, page):
    assert "://" not in text
    assert not re.search(r"@import|<link|<iframe|<object|\ssrc=|url\((?!#)", text)
    links = [value for _, tag in page.tags for name, value in tag.items() if name.endswith("href")]
    assert links
    assert all(link.startswith("#") for link in links)


def test_names_within_the_page_are_unique_and_known(page):
    names = [tag["id"] for _, tag in page.tags if "id" in tag]
    assert len(names) == len(set(names))
    values = [value for _, tag in page.tags for value in tag.values() if value]
    used = {name for value in values for name in re.findall(r"url\(#([^)]*)\)", value)}
    used |= {value[1:] for value in values if value.startswith("#") and not re.fullmatch(r"#[0-9a-f]{6}", value)}
    assert used <= set(names)


def test_only_our_script_is_there_and_may_run(text, page):
    import base64
    import hashlib

    assert len(page.all("script")) == 1
    assert HOSTILE not in text
    assert HOSTILE in [row[0] for row in page.tables[GROUPS]]
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL).group(1)
    wanted = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = next(tag["content"] for tag in page.all("meta") if "http-equiv" in tag)
    assert f"script-src 'sha256-{wanted}'" in policy
    assert "default-src 'none'" in policy


def test_group_table_and_its_figure(analysis, page):
    rows = page.tables[GROUPS]
    assert rows[0] == ["district", "People", "Reported", "Implied (90% interval)"]
    shown = pd.DataFrame(rows[1:]).set_index(0)
    for row in analysis.classifier.group_table().itertuples():
        reported = "—" if pd.isna(row.reported) else f"{100 * row.reported:.1f}%"
        n, share, implied = shown.loc[row.group].tolist()
        assert (n, share) == (str(row.n), reported)
        assert float(implied.split("%")[0].lstrip("<>")) == pytest.approx(100 * row.implied, abs=1.0)
    assert any("1 group reported no share" in text for text in page.texts)
    assert any("Implied against reported" in tag.get("aria-label", "") for tag in page.all("svg"))


def test_groups_stand_where_people_look_for_them():
    ids = pd.Series(["d10", "d9", "D1 b", "d1 a", "12", "7", "-"], index=list("abcdefg"))
    assert ids.sort_values(key=as_people_count).tolist() == ["7", "12", "-", "d1 a", "D1 b", "d9", "d10"]


def test_the_answer_comes_first_by_its_name(analysis, tables, page, text):
    everybody = analysis.subgroups(tables[0], []).iloc[0]
    value, between = share(everybody["estimate"], everybody["conf_low"], everybody["conf_high"])
    lead = next(text for text in page.texts if text.startswith("The share of “the outcome” among 240 people"))
    assert value in lead
    assert between in lead
    assert "It differs most by" in lead
    assert "positives" not in text.casefold()
    assert "Population" not in text
    assert text.index("What may be relied on") < text.index("By how many percentage points")


def test_a_name_of_the_outcome_is_used(analysis, tables, tmp_path):
    named = replace(analysis, outcome="voted <purple>")
    page = Page(written(named, tables[0], tmp_path / "r.html", by="sex", features="age"))
    assert any("“voted <purple>”" in text for text in page.texts)
    assert "the outcome" not in " ".join(page.texts[:40])


def test_all_rates_share_one_axis(page, text):
    forests = [
        part for part in text.split('<figure class="forest">')[1:] if "points" not in part.split("</caption>")[0]
    ]
    axes = [re.findall(r'<text x="([^"]+)%"[^>]*>([^<]+)<', part.split("</thead>")[0]) for part in forests]
    assert len(axes) > 2
    assert all(axis == axes[0] for axis in axes)


def test_subgroups_by_each_category_and_by_bands_of_numbers(analysis, tables, page):
    for name in ("place", "sex"):
        rows = page.tables[f"“the outcome” by {name}"]
        expected = analysis.subgroups(tables[0], name)
        shown = {row[2].split()[0] for row in rows[1:]}
        assert shown == {share(*row)[0] for row in expected[["estimate", "conf_low", "conf_high"]].to_numpy()}
        assert {row[3] for row in rows[1:]} == {str(value) for value in expected["n"]}
    assert rows[-1][0] == "missing"
    bands = [row[0] for row in page.tables["“the outcome” by age"][1:]]
    assert bands[0].startswith("under")
    assert bands[-1] == "missing"


def test_effects_and_what_groups_can_tell(analysis, tables, page):
    rows = page.tables["Average effect of each feature on the probability."]
    assert [row[0] for row in rows[1:]] == ["age", "place", "sex"]
    expected = analysis.effects(tables[0], "age")
    assert float(rows[1][2]) == pytest.approx(expected["estimate"][0], abs=6e-4)
    assert "+1 sd" in page.texts  # a year and a dollar have no axis in common
    between = page.tables["What the groups can say about each feature"]
    assert [row[2] for row in between[1:]] == analysis.between_groups(tables[0])["says"].tolist()


def test_the_method_says_what_no_interval_shows(analysis):
    def shown(context, effects=None):
        classifier = copy.copy(analysis.classifier)
        classifier.context_, classifier.group_effects_ = context, effects
        blocks = method_elements(replace(analysis, classifier=classifier))
        return " ".join(block.text for block in blocks if isinstance(block, Text))

    nobody = Context((), np.empty((0, 1)), np.zeros(1), 1.0)
    with_context, without = shown(nobody), shown(None)
    assert "average features of their group, which this fit allows for" in with_context
    assert "average features of their group" not in without
    assert "no interval shows it" in without
    with_effects = shown(None, SimpleNamespace(names=()))
    assert (
        "differ as a whole group, for reasons that no feature measures, which this fit allows for" in with_effects
    )


@pytest.fixture(scope="module", params=["sample", "cells"])
def of_places(request):
    """An analysis of a sample of each group, or of cells, and its people."""
    short = {**SETTINGS, "n_replicas": None, "context": "auto"}
    if request.param == "cells":
        cells, votes = make_census()
        return dg.fit_tables(cells, votes, count="n", settings=short, **ROLES), cells
    people, results, _ = make_tables()
    results = results[["district", "share"]].assign(voters=9000)
    return dg.fit_tables(
        people, results, group="district", share="share", size="voters", sampled=True, settings=short
    ), people


def test_no_reader_meets_a_number_that_is_none(of_places, tmp_path):
    analysis, people = of_places
    assert analysis.classifier.diagnostics_.ladder is None  # groups have intercepts
    page = Page(written(analysis, people, tmp_path / "r.html"))
    assert not [text for text in page.texts if re.search(r"\bnan\b|\binf\b", text, re.IGNORECASE)]
    assert "nan" not in str(analysis.classifier.diagnostics_)
    shown = " ".join(page.texts)
    assert ("of which the people are a sample" in shown) == analysis.sampled
    assert ("estimates for exactly the people of the group" in shown) == (not analysis.sampled)
    assert "Log evidence of the reports" not in page.texts
    assert "Gain from the features" not in page.texts
    quantities = [row[0] for row in page.tables["Agreement of the chains: the worst value of each quantity."]]
    assert "scale of the effect of the group as a whole (delta2_place)" in quantities
    assert "scale of the effect of group composition (delta2_context)" in quantities


def test_draws_that_are_too_few_to_judge_are_no_number(analysis):
    known = analysis.classifier.diagnostics_
    evidence = replace(known.ladder.log_evidence, std_error=np.nan)
    unknown = replace(
        known, worst_rhat=np.nan, fewest_effective=np.nan, ladder=replace(known.ladder, log_evidence=evidence)
    )
    classifier = copy.copy(analysis.classifier)
    classifier.diagnostics_ = unknown
    [facts] = [
        block
        for block in verdict_elements(replace(analysis, classifier=classifier), unknown)
        if isinstance(block, Facts)
    ]
    shown = dict(facts.pairs)
    assert [text for text in shown.values() if "nan" in text] == []
    assert list(shown.values()).count("not known") == 2


def test_it_says_what_tells_each_share(analysis, page, tables):
    rows = page.tables["What each share rests on."]
    assert rows[0] == [
        "By",
        "Who",
        "Share",
        "Prior variance removed",
        "Rests on",
    ]  # no bounds: reports may be off
    expected = analysis.subgroups(tables[0], "place")
    found = {row[1]: row[-1] for row in rows[1:] if row[0] == "place"}
    assert found == dict(zip(expected["place"], expected["rests_on"], strict=True))


def test_nothing_is_ready_that_rests_on_the_prior(analysis):
    settled = replace(analysis.classifier.diagnostics_, converged=True, contraction=0.95)
    by = [Rates("sex", pd.DataFrame({"rests_on": [ON_GROUPS, shown]})) for shown in (ON_GROUPS, ON_PRIOR)]
    heads = [verdict_elements(analysis, settled, found)[0].text for found in ([], by[:1], by)]
    assert [head.startswith("Ready to use.") for head in heads] == [True, True, False]
    assert "1 of 4 shares rest on the prior" in heads[2]
    nothing = replace(settled, contraction=0.1)
    assert not verdict_elements(analysis, nothing)[0].text.startswith("Ready")


def test_verdict_kernels_settings_and_versions(analysis, page):
    diagnostics = analysis.classifier.diagnostics_
    shown = "".join(page.texts)
    assert diagnostics.verdict in shown
    assert f"{diagnostics.worst_rhat:.3f}" in page.texts
    assert str(diagnostics.ladder.log_evidence) in page.texts
    kernels = page.tables["Kernels that were compared, and the weight of each in the results."]
    assert [row[0] for row in kernels[1:]] == [score.kernel for score in diagnostics.kernels]
    settings = dict(page.tables["Settings of the fit."][1:])
    assert "confidence" not in settings  # the classifier's own is not what the reports were trusted with
    assert settings["n_draws"] == str(SETTINGS["n_draws"])
    assert dict(page.tables["Versions that made this report."][1:])["disaggregate"] == dg.__version__


def test_data_is_described(analysis, page):
    features = page.tables["Features that the model learned from."]
    assert [row[:2] for row in features[1:]] == [["age", "number"], ["place", "category"], ["sex", "category"]]
    assert "11 shares, 1 group without a result, confidence 70" in page.texts
    assert all(note in page.texts for note in analysis.encoder.notes)
    assert all(str(problem) in page.texts for problem in analysis.problems)


def test_tables_can_be_sorted(page):
    assert len(page.all("button")) > 20
    cells = page.all("td")
    numbers = [cell["data-sort"] for cell in cells if cell.get("class") == "number" and "data-sort" in cell]
    assert numbers
    assert all(float(number) == float(number) for number in numbers)
    assert sum("data-sort" not in cell for cell in cells) >= 1  # gaps have nothing to be sorted by


def test_equal_input_gives_equal_pages(analysis, tables, tmp_path, text):
    assert (
        written(analysis, tables[0], tmp_path / "a.html", title="Two & more", question="Who <b>votes</b>?") == text
    )


def test_choices_are_kept(analysis, tables, tmp_path):
    people = tables[0].drop(columns="district").assign(hair=["red", "black"] * 120)
    text = written(analysis, people, tmp_path / "r.html", by="hair", features="age", level=0.5)
    page = Page(text)
    assert {row[0] for row in page.tables["“the outcome” by hair"][1:]} == {"black", "red"}
    assert [row[0] for row in page.tables["Average effect of each feature on the probability."][1:]] == ["age"]
    assert "“the outcome” by sex" not in page.tables
    assert "What the groups can say about each feature" not in page.tables
    assert "Implied (50% interval)" in page.tables[GROUPS][0]


def test_a_mistake_leaves_the_old_file_and_nothing_else(analysis, tables, tmp_path, monkeypatch):
    path = tmp_path / "r.html"
    path.write_text("old")
    with pytest.raises(ValueError, match="no column 'hair'"):
        write_report(analysis, tables[0], path, by=["hair"])
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_report(analysis, tables[0], path, by="sex", features="age")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_missing_jinja_is_explained(analysis, tables, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=re.escape(MISSING_JINJA)):
        write_report(analysis, tables[0], tmp_path / "r.html")
    assert "pip install 'disaggregate[report]'" in MISSING_JINJA


def test_dates_are_shown_by_their_step_and_long_categories_left_out(tmp_path):
    people, results, _ = make_tables()
    people = people.assign(
        born=pd.Timestamp("1970-01-01") + pd.to_timedelta(people.index % 90, unit="D"),
        street=[f"s{row % 40:02d}" for row in people.index],
    ).drop(columns=["w", "sex"])
    analysis = dg.fit_tables(people, results, group="district", positives="yes", total="all", settings=SETTINGS)
    page = Page(written(analysis, people, tmp_path / "r.html"))
    effects = page.tables["Average effect of each feature on the probability."]
    assert [row[0] for row in effects[1:]] == ["age", "place", "born"]
    assert effects[-1][1] == "+1 month"
    assert any("to compare: street." in text for text in page.texts)
    assert any("no ladder of replicas" in text for text in page.texts)
    assert "“the outcome” by street" not in page.tables
