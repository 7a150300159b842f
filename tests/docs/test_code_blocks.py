"""Whatever the README and the documentation tell a reader to type works."""

import re
from pathlib import Path

import pytest

import disaggregate as dg
from disaggregate import plots
from disaggregate.cli.main import COMMANDS
from tests.helpers.pages import PageError, blocks_of, commands_of, is_notebook, run_page

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
WITHOUT_CODE = {
    *("index", "api", "comparison", "defaults", "measurements", "model", "principles", "stress", "versions"),
    "web",
}


# `make docs` runs the code of pages that consist of cells, and fails if it does not work.
RUN_HERE = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.thorough] if is_notebook(path) else []) for path in PAGES
]


@pytest.mark.parametrize("path", RUN_HERE)
def test_what_a_page_says_works(path, reader):
    assert (run_page(path) == 0) == (path.stem in WITHOUT_CODE)


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ("```python\nx = 1\n```\n\n```python\nx / 0\n```\n", "page.md, line 6: ZeroDivisionError"),
        (
            "```\ndisaggregate fit nobody.csv results.csv --group district --share share -o m.dgz\n```\n",
            "ended with 2",
        ),
        ("text\n\n```console\n$ disaggregate chek people.csv\n```\n", "page.md, line 4: .* ended with 2"),
        ("```py\nx = 1\n```\n", "'py' is neither run nor known"),
        ("```{code-cell}\nx = 1\nx / 0\n```\n", "page.md, line 2: ZeroDivisionError"),
        ("```{code-cell}\n:tags: [remove-input]\n!disaggregate chek people.csv\n```\n", "ended with 2"),
    ],
    ids=[
        "python that raises",
        "a file that is not there",
        "a command that is none",
        "a language that is not run",
        "a cell that raises",
        "a command in a cell that is none",
    ],
)
def test_a_page_that_does_not_work_is_found(page, complaint, reader):
    path = reader / "page.md"
    path.write_text(page)
    with pytest.raises(PageError, match=complaint):
        run_page(path)


def test_pages_that_the_documentation_runs_itself_are_known():
    assert is_notebook(DOCS / "gallery.md")
    assert not any(is_notebook(path) for path in (ROOT / "README.md", DOCS / "start.md", DOCS / "model.md"))


def test_blocks_share_a_namespace_and_commands_a_folder(reader):
    path = reader / "page.md"
    path.write_text(
        "```python\nfrom pathlib import Path\n```\n"
        "```\ndisaggregate check people.csv \\\n    results.csv --group district --share share  # looks\n"
        "make demo\n```\n"
        "```python\nassert Path('people.csv').exists()\n```\n"
    )
    assert run_page(path) == 3


def test_blocks_and_commands_are_read_as_written():
    text = 'a\n```text\nno\n```\n\n```\n$ disaggregate fit a.csv --title "two words"  # why\n```\n'
    text_block, shell = blocks_of(text)
    assert (text_block.kind, text_block.code, text_block.line) == ("text", "no\n", 2)
    assert list(commands_of(shell)) == [["fit", "a.csv", "--title", "two words"]]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_links_between_pages_lead_somewhere(path):
    targets = re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", path.read_text(encoding="utf-8"))
    assert [target for target in targets if not (path.parent / target).exists()] == []


def test_every_command_has_its_help_on_a_page():
    page = (DOCS / "commands.md").read_text()
    asked = re.findall(r"^!disaggregate (\w+) --help$", page, re.MULTILINE)
    assert asked == [command.__name__.rpartition(".")[2] for command in COMMANDS]


def test_every_plot_has_a_picture():
    gallery = (DOCS / "gallery.md").read_text()
    assert sorted(re.findall(r"^### `(\w+)`$", gallery, re.MULTILINE)) == sorted(plots.__all__)
    assert [name for name in plots.__all__ if f"plots.{name}(" not in gallery] == []


def test_every_public_name_is_in_the_reference():
    reference = (DOCS / "api.md").read_text()
    assert [name for name in dg.__all__ if not re.search(rf":: disaggregate\.{name}\b", reference)] == []


def test_every_page_is_in_the_contents():
    contents = [block.code for block in blocks_of((DOCS / "index.md").read_text()) if block.kind == "{toctree}"]
    listed = {line for code in contents for line in code.splitlines() if line and not line.startswith(":")}
    assert listed == {path.stem for path in DOCS.glob("*.md")} - {"index"}
