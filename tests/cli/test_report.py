"""`disaggregate report`: a page to share, and no page where a mistake was made."""

import json

import pytest

import disaggregate as dg
from disaggregate.cli.main import main
from tests.helpers.two_tables import SETTINGS, make_tables


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """People, and the model of them."""
    folder = tmp_path_factory.mktemp("report")
    people, results, _ = make_tables(n_groups=8)
    people.to_csv(folder / "people.csv", index=False)
    roles = {"group": "district", "share": "share", "weight": "w", "ignore": ["yes", "all"]}
    with pytest.warns(match="draws|agree"):
        dg.fit_tables(people, results, settings={**SETTINGS, "n_draws": 30, "n_burn": 30}, **roles).save(
            folder / "m.dgz"
        )
    return folder


def command(folder, out, *options):
    return ["report", str(folder / "m.dgz"), str(folder / "people.csv"), "-o", str(out), *options]


def test_it_writes_a_page(folder, tmp_path, capsys):
    out = tmp_path / "r.html"
    asked = ["--by", "sex", "--by", "place", "--feature", "age", "--title", "Votes", "--question", "Who & why?"]
    assert main(command(folder, out, *asked)) == 0
    assert str(out) in capsys.readouterr().out
    page = out.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "<title>Votes</title>" in page
    assert "Who &amp; why?" in page
    assert page.index("by sex</caption>") < page.index("by place</caption>")
    assert [file.name for file in tmp_path.iterdir()] == ["r.html"]


def test_it_answers_machines(folder, tmp_path, capsys):
    assert main(command(folder, tmp_path / "r.html", "--by", "sex", "--feature", "age", "--json")) == 0
    assert json.loads(capsys.readouterr().out) == {"output": str(tmp_path / "r.html")}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--by", "sex,hair"], "no column 'hair'"),
        (["--feature", "height"], "'height' is not a feature"),
        (["--feature", "agee"], "did you mean 'age'?"),
        (["--level", "2"], "expected a number between 0 and 1"),
    ],
)
def test_a_mistake_is_one_message_and_no_file(folder, tmp_path, capsys, options, message):
    assert main(command(folder, tmp_path / "r.html", *options)) == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert "Traceback" not in printed
    assert list(tmp_path.iterdir()) == []


def test_a_page_is_not_called_as_another_kind_of_file_is(folder, tmp_path, capsys):
    assert main(command(folder, tmp_path / "r.pdf")) == 2
    assert "expected an --output that ends in .html" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["people.csv", "m.dgz"])
def test_what_it_reads_is_not_written_over(folder, capsys, name):
    before = (folder / name).read_bytes()
    assert main(command(folder, folder / name)) == 2
    assert "same file" in capsys.readouterr().err
    assert (folder / name).read_bytes() == before


def test_missing_jinja_is_one_message(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    assert main(command(folder, tmp_path / "r.html")) == 2
    assert "pip install 'disaggregate[report]'" in capsys.readouterr().err


def test_sensitivity_is_a_table_that_the_page_shows(folder, tmp_path, capsys):
    out, page = tmp_path / "s.csv", tmp_path / "r.html"
    given = [str(folder / "m.dgz"), str(folder / "people.csv")]
    assert main(["sensitivity", *given, "--by", "sex", "--change", "weak", "--draws", "5", "-o", str(out)]) == 0
    printed = capsys.readouterr()
    assert "1 of 1: weaker effects expected" in printed.err
    assert "Under other choices" in printed.out
    assert "largest shift" in " ".join(printed.out.split())
    assert main(command(folder, page, "--feature", "age", "--by", "sex", "--sensitivity", str(out))) == 0
    text = page.read_text(encoding="utf-8")
    assert "Weaker effects expected" in text
    assert "Estimated share of “the outcome” by sex under other choices." in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--by", "hair"], "no column 'hair'"),
        (["--by", "sex", "--change", "bold"], "'bold' is not one of them"),
        (["--by", "sex", "--level", "7"], "expected a number between 0 and 1"),
    ],
)
def test_a_mistake_about_sensitivity_is_one_message_and_no_file(folder, tmp_path, capsys, options, message):
    given = [str(folder / "m.dgz"), str(folder / "people.csv"), *options]
    assert main(["sensitivity", *given, "-o", str(tmp_path / "s.csv")]) == 2
    assert message in capsys.readouterr().err
    assert main(["sensitivity", *given[:2], "--by", "sex", "-o", str(tmp_path / "s.txt")]) == 2
    assert "must end in one of" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
