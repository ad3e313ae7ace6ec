"""The house rules that a machine can check: subjects, lengths, sentences, the line budget."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .expect import expect_each, expect_none

ROOT = Path(__file__).parents[1]
SOURCES = [path for top in ("autodiff", "cli", "scripts", "tests") for path in sorted((ROOT / top).rglob("*.py"))]
PRODUCT = [path for path in SOURCES if path.relative_to(ROOT).parts[0] in ("autodiff", "cli")]

LINES_IN_ALL = 154_000  # of autodiff and cli; raise it only in a commit that says why
LINES_IN_A_MODULE = 350
LINES_IN_A_FUNCTION = 60


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def first_line(docstring: str | None) -> str:
    return (docstring or "").strip().split("\n\n")[0]


def is_subject(docstring: str | None) -> bool:
    """Whether a module docstring begins with its subject: a sentence to its end."""
    return re.match(r"[A-Z@`_a-z][^\n].*[.:?)…]$", first_line(docstring), re.DOTALL) is not None


def long_functions(tree: ast.Module) -> list[str]:
    """`line name` of each function longer than allowed."""
    return [f"{f.lineno} {f.name}" for f in functions_in(tree) if (f.end_lineno or 0) - f.lineno >= LINES_IN_A_FUNCTION]


def functions_in(node: ast.AST) -> Iterator[ast.FunctionDef]:
    """All functions, however deep; expressions, which are most of a tree, are not walked."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield child
        if not isinstance(child, ast.expr):
            yield from functions_in(child)


def undocumented(tree: ast.Module) -> list[str]:
    """`line name` of what other modules may use, and that does not say what it does or is."""
    return [f"{node.lineno} {node.name}" for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))
            and not node.name.startswith("_") and not ast.get_docstring(node) and not is_foreign(node)]


def is_foreign(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Whether it is a row of a table of foreign ops, which their own framework documents."""
    return any(isinstance(d, ast.Call) and isinstance(d.func, ast.Attribute) and d.func.attr == "op"
               for d in node.decorator_list)


class Facts(NamedTuple):
    """What the tests ask of a module; a tree of every module would fill the memory that the other tests collect."""

    text: str
    docstring: str | None
    long: list[str]
    undocumented: list[str]


@functools.cache
def facts_of(path: Path) -> Facts:
    text = path.read_text()
    tree = ast.parse(text)
    return Facts(text, ast.get_docstring(tree), long_functions(tree), undocumented(tree))


def a_module_begins_with_its_subject() -> None:
    expect_none([f"{name_of(path)}: {facts_of(path).docstring!r}" for path in SOURCES
                 if facts_of(path).text.strip() and not is_subject(facts_of(path).docstring)])


def no_function_is_too_long() -> None:
    expect_none([f"{name_of(path)}:{found}" for path in SOURCES for found in facts_of(path).long])


def no_module_is_too_long() -> None:
    expect_none([name_of(path) for path in PRODUCT if len(facts_of(path).text.splitlines()) > LINES_IN_A_MODULE])


def the_whole_is_within_its_budget() -> None:
    assert sum(len(facts_of(path).text.splitlines()) for path in PRODUCT) <= LINES_IN_ALL


def nothing_is_left_to_do() -> None:
    marks = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    expect_none([name_of(path) for path in PRODUCT if marks.search(facts_of(path).text)])


def what_other_modules_may_use_has_a_docstring() -> None:
    expect_none([f"{name_of(path)}:{found}" for path in PRODUCT for found in facts_of(path).undocumented])


def test_modules_are_as_the_house_has_them() -> None:
    """One test, as every check reads all modules."""
    expect_each((check.__name__, check) for check in (
        a_module_begins_with_its_subject, no_function_is_too_long, no_module_is_too_long,
        the_whole_is_within_its_budget, nothing_is_left_to_do, what_other_modules_may_use_has_a_docstring))


def test_the_checks_can_fail() -> None:
    assert not is_subject(None)
    assert not is_subject("No stop")
    assert long_functions(ast.parse("def f():\n" + "    pass\n" * (LINES_IN_A_FUNCTION - 1))) == []
    assert long_functions(ast.parse("def f():\n" + "    pass\n" * LINES_IN_A_FUNCTION)) == ["1 f"]
