"""Every dependency has bounds on both sides, and the versions at both ends are those that are tested."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
OURS = ("docs", "dev", "fuzz")  # for those who work on this library, who want the newest of everything
LINES = (ROOT / "constraints" / "oldest.txt").read_text(encoding="utf-8").splitlines()
PINS = dict(line.split("==") for line in LINES if "==" in line)


def requirements(*groups):
    """Names and bounds of what a group of dependencies asks for; None where there is no bound."""
    for line in [line for group in groups for line in group]:
        name, bounds = re.match(r"([a-z0-9-]+)(?:\[[a-z]+\])?([^;]*)", line).groups()
        if name != "disaggregate" and "python_version" not in line:
            least, below = (re.search(rf"{sign}([0-9.]+)", bounds) for sign in (">=", "<"))
            yield name, least and least[1], below and below[1]


SHIPPED = list(requirements(PROJECT["dependencies"], *(EXTRAS[name] for name in EXTRAS if name not in OURS)))
RUN_WHEN_OLD = list(
    requirements(PROJECT["dependencies"], *(EXTRAS[name] for name in ("plots", "parquet", "excel", "report")))
)


def test_the_dependencies_are_found():
    assert {"numpy", "pandas", "matplotlib", "arviz-stats", "distributed", "pyarrow"} <= {
        name for name, *_ in SHIPPED
    }


@pytest.mark.parametrize(("name", "least", "below"), SHIPPED)
def test_the_newest_major_version_that_is_allowed_is_the_one_tested(name, least, below):
    assert least, f"{name} needs a lower bound"
    assert below, f"{name} needs an upper bound"
    installed = int(version(name).split(".")[0])
    assert int(below) == installed + 1, f"tested with {name} {version(name)}, but allowed below {below}"


@pytest.mark.parametrize(("name", "least"), [(name, least) for name, least, _ in RUN_WHEN_OLD])
def test_every_lower_bound_is_tested(name, least):
    assert name in PINS, f"add {name} to constraints/oldest.txt"
    pinned = [int(part) for part in PINS[name].split(".")]
    allowed = [int(part) for part in least.split(".")]
    assert pinned[: len(allowed)] == allowed
    assert not any(pinned[len(allowed) :])


def test_no_file_of_constraints_names_a_host():
    assert all("//" not in line for line in LINES)


def test_the_change_log_speaks_of_this_version():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {PROJECT['version']}\n" in changes
