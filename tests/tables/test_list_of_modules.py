"""The list of modules in the folder's docstring has all of them."""

import re
from pathlib import Path

import disaggregate.tables


def test_the_docstring_lists_every_module_once():
    folder = Path(disaggregate.tables.__file__).parent
    modules = sorted(file.stem for file in folder.glob("*.py") if file.stem != "__init__")
    assert sorted(re.findall(r"``(\w+)``", disaggregate.tables.__doc__)) == modules
