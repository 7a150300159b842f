"""Imports go in one direction: a module uses its own folder and lower ones, in functions and for types too."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
PACKAGE = "disaggregate"

# Folders and single modules, from low to high.
ORDER = (
    *("storage", "datasets", "parallel", "old_modules"),  # these use nothing else of ours
    *("groups", "evidence"),
    *("tables", "basis", "model", "settings", "sampler", "posterior", "fitting", "saving", "estimator"),
    *("analysis", "privacy"),
    *("images", "plots", "report"),
    PACKAGE,  # the package itself: what a user gets with `import disaggregate`
    *("experiments", "web", "cli", "__main__"),
)


def modules_in(source: Path) -> dict[str, Path]:
    """Return the file of each module, by its full name."""
    found = {}
    for file in sorted((source / PACKAGE).rglob("*.py")):
        parts = file.relative_to(source).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports_of(name: str, modules: dict[str, Path]) -> Iterator[str]:
    """Yield the modules of ours that a module imports, wherever the import stands."""
    file = modules[name]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            base = base_of(node, name, is_package=file.name == "__init__.py")
            targets = [f"{base}.{alias.name}" for alias in node.names]
            yield from (target if target in modules else base for target in targets if base in modules)


def base_of(node: ast.ImportFrom, name: str, *, is_package: bool) -> str:
    """Return what stands between from and import, in full."""
    if not node.level:
        return node.module or ""
    parents = name.split(".")
    above = parents[: len(parents) - node.level + is_package]
    return ".".join([*above, node.module] if node.module else above)


def folder_of(name: str) -> str:
    """Return the folder of a module, or its own name if it is in none."""
    return PACKAGE if name == PACKAGE else name.split(".")[1]


def too_high(source: Path) -> dict[tuple[str, str], str]:
    """Return the imports that go the wrong way, in words, by short module and by the folder that is higher."""
    modules, place = modules_in(source), {folder: rank for rank, folder in enumerate(ORDER)}
    homeless = sorted(name for name in modules if folder_of(name) not in place)
    assert not homeless, f"no place in ORDER: {', '.join(homeless)}"
    found = {}
    for name in modules:
        for target in imports_of(name, modules):
            if place[folder_of(target)] > place[folder_of(name)]:
                short = name.removeprefix(f"{PACKAGE}.")
                found[short, folder_of(target)] = f"{name} imports {target}, which is higher"
    return found


def test_imports_go_one_way():
    wrong = list(too_high(SOURCE).values())
    assert not wrong, "\n" + "\n".join(wrong)


BAD = {
    "at the top": ("groups/shares.py", "from disaggregate.tables.kinds import Kind"),
    "in a function": ("groups/shares.py", "def f():\n    import disaggregate.tables.kinds"),
    "for types": ("groups/shares.py", "if TYPE_CHECKING:\n    from disaggregate.tables import kinds"),
    "from above": ("groups/shares.py", "from ..tables import kinds"),
    "of the package of a folder": ("groups/__init__.py", "from ..tables import kinds"),
    "of what users get": ("estimator.py", "from disaggregate import fit_tables"),
}


@pytest.mark.parametrize(("file", "code"), BAD.values(), ids=BAD)
def test_a_wrong_import_is_reported(file, code, tmp_path):
    for name in ("__init__.py", "groups/__init__.py", "tables/__init__.py", "tables/kinds.py", file):
        path = tmp_path / PACKAGE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert not too_high(tmp_path)
    (tmp_path / PACKAGE / file).write_text(code)
    (reported,) = too_high(tmp_path).values()
    module = ".".join([PACKAGE, *Path(file).with_suffix("").parts]).removesuffix(".__init__")
    assert reported.startswith(f"{module} imports disaggregate")
    assert reported.endswith("which is higher")


def test_right_imports_are_not_reported(tmp_path):
    for name, code in {
        "__init__.py": "from disaggregate import tables",
        "groups/__init__.py": "from .shares import share\nfrom disaggregate.groups import shares\nimport numpy",
        "groups/shares.py": "",
        "tables/__init__.py": "from disaggregate.groups import shares\nfrom ..groups.shares import share",
    }.items():
        path = tmp_path / PACKAGE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
    assert not too_high(tmp_path)
