"""Who may know whom: one ordered list of rooms, and no circles between or inside of them."""

import ast
import fnmatch
import functools
import graphlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from .expect import expect_none

ROOT = Path(__file__).parents[1]

# The rooms, lowest first: a module imports from the lines before its own room's, and from its own room where that makes
# no circle. A module belongs to the longest line that begins its name.
LAYERS = """
autodiff.core
autodiff.files
autodiff.ops.common
autodiff.ops
autodiff.gradients
autodiff.runtime.plan
autodiff.runtime.compiled
autodiff.runtime
autodiff.api
autodiff.debug.facts
autodiff.debug.language
autodiff.debug.derivatives
autodiff.debug.history
autodiff.debug.analysis
autodiff.debug.engine
autodiff.debug.tfdbg
autodiff.debug
autodiff.foreign
autodiff
autodiff.tensorflow_names
cli.model
cli.view
cli.language
cli.commands
cli.screen
cli
""".split()

# module -> (imported, why it is imported inside of a function)
LAZY: dict[tuple[str, str], str] = {
    ("autodiff.api.contrib.opt.external", "scipy.optimize"): "an extra that not everybody has",
    ("autodiff.api.keras.saved.hdf5", "h5py"): "an extra that not everybody has",
    ("autodiff.api.keras.preprocessing.image", "PIL"): "an extra that not everybody has",
    ("autodiff.core.names", "difflib"): "only for a message: import time",
    ("autodiff.debug.debugger", "autodiff.debug.engine.workers"): "only for --on: import time",
    ("autodiff.debug.engine.workers", "distributed"): "an extra that not everybody has",
    ("autodiff.debug.history.gathering", "concurrent.futures"): "only for --on: import time",
    ("autodiff.foreign.torch.graph", "autodiff.foreign.torch.decompose"): "only for ops without a rule: it loads much",
    ("cli.view.render", "cli.view.drawn.console"): "only for terminals: pipes and JSON start without rich",
    ("cli.commands.sharing", "cli.view.drawn.console"): "as cli.view.render",
    ("cli.caller", "cli.view.drawn.console"): "as cli.view.render",
    ("cli", "cli.notebook"): "only for IPython: import time",
    ("cli.view.drawn.sources", "rich.syntax"): "only for source: import time",
    ("cli.view.drawn.progress", "rich.console"): "only for what takes long: import time",
    ("cli.view.drawn.progress", "rich.progress"): "as rich.console",
    ("cli.view.drawn.progress", "rich.table"): "as rich.console",
    ("cli.main", "cli.screen.line_prompt"): "only for a person: pipes and batch start without prompt_toolkit",
    ("cli.main", "cli.screen"): "as cli.repl",
}

# outside package -> the only rooms that may import it
KEPT_TO = {
    "rich": ("cli.view.drawn",),
    "prompt_toolkit": ("cli.screen",),
    "scipy": ("autodiff.api.contrib.opt.external",),
    "h5py": ("autodiff.api.keras.saved.hdf5",),
    "PIL": ("autodiff.api.keras.preprocessing.image",),
    "distributed": ("autodiff.debug.engine.workers",),
    "jax": ("autodiff.foreign.jax",),
    "torch": ("autodiff.foreign.torch",),
}

FORBIDDEN = [  # (modules, what they never import, why)
    ("autodiff*", ("cli", "rich", "prompt_toolkit"), "the library needs nothing but NumPy"),
    ("autodiff.ops*", ("autodiff.runtime", "autodiff.gradients", "autodiff.debug"),
     "a rule builds graph, it never runs it"),
]


class Import(NamedTuple):
    """One imported name. level: 0 for absolute; lazy: inside of a function."""

    module: str
    target: str
    line: int
    level: int
    lazy: bool

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.target}"


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for top in ("autodiff", "cli") for path in sorted((ROOT / top).rglob("*.py"))}


def imports_in(source: str, module: str, *, is_package: bool, known: set[str]) -> Iterator[Import]:
    """Every import of a module's source, relative ones resolved; `known` tells modules from names."""

    def visit(node: ast.AST, lazy: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                continue  # holds no import, and is most of a tree
            if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                continue  # names for annotations alone: nothing is imported when it runs
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield Import(module, alias.name, child.lineno, 0, lazy)
            elif isinstance(child, ast.ImportFrom):
                base = absolute(child)
                for alias in child.names:
                    full = f"{base}.{alias.name}"
                    if full in known or base != module:
                        yield Import(module, full if full in known else base, child.lineno, child.level, lazy)
            yield from visit(child, lazy or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)))

    def absolute(node: ast.ImportFrom) -> str:
        if node.level == 0:
            return node.module or ""
        parts = module.split(".")
        parts = parts[:len(parts) - node.level + (1 if is_package else 0)]
        return ".".join(parts + ([node.module] if node.module else []))

    return visit(ast.parse(source), False)


@functools.cache
def all_imports() -> list[Import]:
    return [found for name, path in MODULES.items() for found in imports_in(
        path.read_text(), name, is_package=path.name == "__init__.py", known=set(MODULES))]


def room_of(module: str) -> int | None:
    """The line in LAYERS of the room that a module belongs to; None if it has none."""
    lines = [line for line in LAYERS if belongs(module, line)]
    return LAYERS.index(max(lines, key=len)) if lines else None


def climbs(found: Import) -> bool:
    """Whether an import goes to a room that stands higher."""
    importer, imported = room_of(found.module), room_of(found.target)
    if importer is None or imported is None or (found.module, found.target) in LAZY:
        return False
    return imported > importer


def belongs(target: str, package: str) -> bool:
    return target == package or target.startswith(package + ".")


def circles(units: dict[str, set[str]]) -> list[str]:
    """One circle of a graph of names; empty if there is none."""
    try:
        graphlib.TopologicalSorter(units).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def children(folder: str) -> dict[str, set[str]]:
    """What each file and folder of a folder imports of its other files and folders."""
    below = folder + "."
    found: dict[str, set[str]] = {}
    for one in all_imports():
        if one.lazy or not one.module.startswith(below) or not one.target.startswith(below):
            continue
        importer, imported = (name.removeprefix(below).partition(".")[0] for name in (one.module, one.target))
        if importer != imported:
            found.setdefault(importer, set()).add(imported)
    return found


FOLDERS = sorted(name for name, path in MODULES.items() if path.name == "__init__.py")


def test_every_room_has_a_module() -> None:
    expect_none([line for line in LAYERS if not any(belongs(module, line) for module in MODULES)])


def test_modules_import_only_from_below() -> None:
    expect_none([str(found) for found in all_imports() if climbs(found)])


def test_there_are_no_circles() -> None:
    """Not between modules, and not between the files and folders of a folder."""
    imported: dict[str, set[str]] = {name: set() for name in MODULES}
    for one in all_imports():
        if one.target in MODULES and not one.lazy:
            imported[one.module].add(one.target)
    assert circles(imported) == []
    assert {folder: found for folder in FOLDERS if (found := circles(children(folder)))} == {}


def begins_at_a_file(package: Path) -> bool:
    """Whether a folder says where to start reading, with a file that is there."""
    if package == ROOT / "autodiff" / "__init__.py":
        return True  # the namespace `tf`; the README says where to start
    doc = " ".join((ast.get_docstring(ast.parse(package.read_text())) or "").split())
    found = re.search(r"Start with `?([\w/]+\.py)|([\w/]+\.py), where to start", doc)
    return found is not None and (package.parent / (found[1] or found[2])).exists()


def test_folders_are_small_and_say_what_lives_there() -> None:
    expect_none([f"{name}: {count} files" for name in FOLDERS
                 if (count := len(list(MODULES[name].parent.glob("*.py")))) > 26])
    assert [path.name for path in (ROOT / "autodiff").iterdir() if path.is_file()] in (
        ["__init__.py", "py.typed"], ["py.typed", "__init__.py"])
    expect_none([name for name in FOLDERS if not begins_at_a_file(MODULES[name])])


@pytest.mark.parametrize(("modules", "packages", "why"), FORBIDDEN, ids=[row[0] for row in FORBIDDEN])
def test_some_never_meet(modules: str, packages: tuple[str, ...], why: str) -> None:
    expect_none([str(found) for found in all_imports() if fnmatch.fnmatchcase(found.module, modules)
                 and any(belongs(found.target, package) for package in packages)], why)


@pytest.mark.parametrize("package", KEPT_TO)
def test_terminal_packages_are_kept_to_their_modules(package: str) -> None:
    expect_none([str(found) for found in all_imports()
                 if belongs(found.target, package) and not any(belongs(found.module, r) for r in KEPT_TO[package])])


def test_imports_inside_a_package_are_relative() -> None:
    expect_none([str(found) for found in all_imports()
                 if found.level == 0 and belongs(found.target, found.module.split(".")[0])])


def test_imports_stand_at_the_top_unless_a_reason_is_listed() -> None:
    expect_none([str(found) for found in all_imports() if found.lazy and (found.module, found.target) not in LAZY])
    lazy = {(found.module, found.target) for found in all_imports() if found.lazy}
    expect_none([f"{importer}: {imported}" for importer, imported in LAZY
                 if (importer, imported) not in lazy], "listed, and not there any more")


def test_the_library_imports_numpy_alone() -> None:
    own = ("autodiff", "numpy")
    outside = {found.target.split(".")[0] for found in all_imports() if found.module.startswith("autodiff")
               and not belongs(found.module, *KEPT_TO.get(found.target.split(".")[0], ("-",)))}
    assert sorted(outside - set(own) - set(sys.stdlib_module_names)) == []


def test_a_climbing_or_hidden_import_is_noticed() -> None:
    source = "from .runtime.session import Session\ndef f():\n    from ..cli import x\n    import rich\n"
    found = list(imports_in(source, "autodiff.graph", is_package=False, known=set(MODULES)))
    assert [(i.target, i.level, i.lazy) for i in found] == [
        ("autodiff.runtime.session", 1, False), ("cli", 2, True), ("rich", 0, True)]
    assert climbs(Import("autodiff.core.graph", "autodiff.runtime.session", 1, 1, False))
    assert not climbs(Import("autodiff.runtime.session", "autodiff.core.graph", 1, 1, False))
    assert circles({"gather": {"slice"}, "slice": {"gather"}}) == ["gather", "slice", "gather"]
