"""Habits of the tests: each asserts something, as one that cannot fail is none; none patches private names."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
OF_OTHERS = {"_save_data", "__init__"}
PATCHES = {"setattr", "patch"}
EXPECTS = {"raises", "warns", "fail", "check_estimator", "check_grad"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions_in(tree: ast.AST) -> Iterator[Function]:
    """Yield all functions, methods and nested ones among them."""
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def called_in(function: Function) -> set[str]:
    """Return the bare names of what a function calls, and of what it hands to others to call."""
    names = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            names |= {part for part in (node.func, *node.args) if isinstance(part, ast.Name | ast.Attribute)}
    return {part.attr if isinstance(part, ast.Attribute) else part.id for part in names}


def asserts_itself(function: Function) -> bool:
    """Return whether a function holds an assertion, or calls something that is one by its name."""
    if any(isinstance(node, ast.Assert) for node in ast.walk(function)):
        return True
    return any(name in EXPECTS or name.startswith("assert") for name in called_in(function))


def without_assertion(trees: dict[str, ast.AST]) -> list[str]:
    """Return the tests that assert nothing, neither themselves nor through functions of the tests."""
    functions = [(file, function) for file, tree in trees.items() for function in functions_in(tree)]
    asserting = {function.name for _, function in functions if asserts_itself(function)}
    while more := {f.name for _, f in functions if f.name not in asserting and called_in(f) & asserting}:
        asserting |= more
    return [
        f"{file}: {function.name}"
        for file, function in functions
        if function.name.startswith("test_") and not (asserts_itself(function) or called_in(function) & asserting)
    ]


def test_every_test_asserts_something():
    trees = {str(path.relative_to(TESTS)): ast.parse(path.read_text("utf-8")) for path in TESTS.rglob("*.py")}
    assert len(trees) > 150
    found = without_assertion(trees)
    assert not found, "\n" + "\n".join(found)


def patched_private_names(tree: ast.AST) -> Iterator[str]:
    """Yield the private names that a file sets in other modules; those of other libraries are theirs."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in PATCHES:
            texts = [part.value for part in node.args[:2] if isinstance(part, ast.Constant)]
            yield from (
                text
                for text in texts
                if isinstance(text, str) and text.split(".")[-1].startswith("_") and text not in OF_OTHERS
            )


def test_no_test_patches_a_private_name():
    found = {
        str(path.relative_to(TESTS.parent)): names
        for folder in (TESTS, TESTS.parent / "fuzz", TESTS.parent / "benchmarks")
        for path in folder.rglob("*.py")
        if (names := list(patched_private_names(ast.parse(path.read_text("utf-8")))))
    }
    assert not found


def test_a_private_name_is_seen():
    code = 'monkeypatch.setattr(a, "_b", 1)\nmonkeypatch.setattr("a.b._c", 1)\nmonkeypatch.setattr(a, "b", "_d")'
    assert list(patched_private_names(ast.parse(code))) == ["_b", "a.b._c"]


@pytest.mark.parametrize(
    ("code", "is_found"),
    [
        ("def test_a():\n    f()", True),
        ("def test_a():\n    assert f()", False),
        ("def test_a():\n    with pytest.raises(ValueError):\n        f()", False),
        ("def test_a():\n    helper()\ndef helper():\n    other()\ndef other():\n    assert 1", False),
        ("def test_a():\n    helper()\ndef helper():\n    other()\ndef other():\n    pass", True),
        ("def test_a():\n    np.testing.assert_allclose(1, 1)", False),
    ],
)
def test_what_counts_as_an_assertion(code, is_found):
    assert bool(without_assertion({"it": ast.parse(code)})) is is_found
