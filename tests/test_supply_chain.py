"""The oldest versions that are tested are the oldest that are allowed."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LINES = (ROOT / "constraints" / "oldest.txt").read_text(encoding="utf-8").splitlines()
PINS = dict(line.split("==") for line in LINES if "==" in line)


def lower_bounds():
    extras = PROJECT["optional-dependencies"]
    for line in [
        *PROJECT["dependencies"],
        *(line for extra in ("plots", "parquet", "report") for line in extras[extra]),
    ]:
        if found := re.match(r"([a-z0-9-]+)>=([0-9.]+)", line):
            yield found.groups()


@pytest.mark.parametrize(("name", "bound"), list(lower_bounds()))
def test_every_lower_bound_is_tested(name, bound):
    assert name in PINS, f"add {name} to constraints/oldest.txt"
    pinned = [int(part) for part in PINS[name].split(".")]
    allowed = [int(part) for part in bound.split(".")]
    assert pinned[: len(allowed)] == allowed
    assert not any(pinned[len(allowed) :])


def test_no_file_of_constraints_names_a_host():
    assert all("//" not in line for line in LINES)
