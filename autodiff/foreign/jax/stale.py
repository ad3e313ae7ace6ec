"""What a function that jax.jit has traced reads otherwise than as an argument, and that is another one at a later call:
what JAX compiled keeps the first. So does the function that runs here in its place."""
from __future__ import annotations

import argparse
import ast
import contextlib
import dis
import inspect
import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np

from ...core.errors import ArgumentError
from ...core.site import PACKAGE, Site
from ...debug.analysis.findings import Finding
from ...debug.analysis.scripts.calls import called
from ...debug.analysis.scripts.parsed import Parsed
from ...debug.facts.records import Place
from ...debug.facts.roles import as_place, at_line, place_on
from ..handed_on import function_of
from ..new_lines import NewLines
from ..script_lines import on_lines

_LIBRARY = "/lib/python3"
_MOST = 2000  # parts of one thing, and elements of an array of NumPy's, that are compared at each call
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_HOLDERS = (types.SimpleNamespace, argparse.Namespace)


class Read(NamedTuple):
    """What is read by a name: where that is kept, and what it was at first, as a tree of leaves."""

    owner: Any
    key: str
    name: str
    site: Site
    tree: Any
    leaves: Sequence[Any]

    def put(self, value: Any) -> None:
        """Let the name be of something else."""
        (self.owner.__setitem__ if isinstance(self.owner, dict) else partial(setattr, self.owner))(self.key, value)

    def now(self) -> Any:
        """What the name is of."""
        return self.owner[self.key] if isinstance(self.owner, dict) else getattr(self.owner, self.key)

    def has_changed(self) -> bool:
        """Whether it is another one than at first."""
        with contextlib.suppress(Exception):  # what is gone, or cannot be compared
            leaves, tree = jax.tree.flatten(self.now())
            return bool(tree != self.tree or any(map(_differ, leaves, self.leaves)))
        return False


@dataclass
class Reads:
    """Of a jitted function with arguments of one form. told: what is kept since it was first seen to matter."""

    name: str = ""
    reads: Sequence[Read] = ()
    told: tuple[tuple[Read, Any], ...] = ()
    turns: int = 0

    @contextlib.contextmanager
    def as_first(self, traced: Callable[[], Any]) -> Iterator[None]:
        """While the function is called again. traced: what JAX would compile of it now, to compare."""
        changed = [read for read in self.reads if read.has_changed()]
        self.turns += bool(changed)
        if changed and not self.told and not self.turns & (self.turns - 1):
            with contextlib.suppress(Exception):  # of what cannot be traced twice nothing is told
                now = traced()
                self.told = tuple((read, read.now()) for read in changed if _as_first([read])(traced)() != now)
        with _as_first(changed if self.told else ()):
            yield


@contextlib.contextmanager
def _as_first(reads: Sequence[Read]) -> Iterator[None]:
    kept = [(read, read.now()) for read in reads]
    for read in reads:
        read.put(jax.tree.unflatten(read.tree, read.leaves))
    try:
        yield
    finally:
        for read, value in kept:
            read.put(value)


def _differ(new: Any, old: Any) -> bool:
    if new is old and not isinstance(new, np.ndarray):
        return False
    if _is_object(new):
        return True
    if isinstance(new, (jax.Array, np.ndarray, np.generic)) and not isinstance(new, jax.core.Tracer):
        return not isinstance(old, type(new)) or new is not old and (
            new.shape != old.shape or new.dtype != old.dtype or np.asarray(new).tobytes() != np.asarray(old).tobytes())
    return isinstance(new, _PLAIN) and isinstance(old, _PLAIN) and (type(new) is not type(old) or new != old)


def _said(old: Any, new: Any) -> str:
    """What was, and what is there now, where words or figures tell these apart."""
    then, now = map(figure, (old, new))
    return f", {then}, not {now} as it is now" if then != now else ", not as it is now"


def figure(value: Any) -> str:
    """A number, or the norm of what is more than that."""
    leaves = jax.tree.leaves(value)
    if len(leaves) == 1 and np.ndim(leaves[0]) == 0:
        return f"{leaves[0]:.4g}" if isinstance(leaves[0], (float, np.floating, jax.Array)) else repr(leaves[0])
    numbers = [np.ravel(np.asarray(x)) for x in leaves if isinstance(x, (int, float, np.ndarray, jax.Array))]
    return f"of norm {np.linalg.norm(np.concatenate([*numbers, np.zeros(1)]).astype(float)):.4g}"


def findings(functions: Iterable[Reads]) -> list[Finding]:
    """What functions keep of their first calls, though it has changed since: the same of several by the first."""
    found = dict[str, Finding]()
    for each in (each for each in functions if each.told):
        told = sorted(each.told, key=lambda told: told[0].name)
        names, site = [read.name for read, _ in told], told[0][0].site
        old = [jax.tree.unflatten(read.tree, read.leaves) for read, _ in told]
        new = [read.now() if read.has_changed() else last for read, last in told]
        made = changed_on(site.file, names[0])
        given = ", ".join(f"{_title(name)}={name}" for name in names)
        found.setdefault(",".join(names), Finding(
            99, "stale under jit", "", "", ",".join(names), f"{each.name} is jitted and reads {' and '.join(names)}"
            f"{at_line(as_place(site))}, no argument of it{', given anew' * bool(made)}{at_line(made)}: JAX traces it "
            f"at the first call, and goes on with what that was then{_said(old, new)}; so does this run",
            f"give it as an argument: {each.name}(…, {given})", "doctor", as_place(site), confidence="certain"))
    return [*found.values()]


def _title(name: str) -> str:
    return name.rpartition(".")[2]


def changed_on(file: str, name: str) -> Place | None:
    """The last line outside of __init__ that gives a name, or an attribute so called, or a part of it, another value,
    after it has one."""
    found, title = list[int](), _title(name)
    for line, statement in sorted(on_lines(file).items()):
        whole = getattr(statement, "targets", [getattr(statement, "target", ast.Pass())])
        texts = [ast.unparse(part).partition("[")[0] for each in whole for part in getattr(each, "elts", [each])]
        if line == statement.lineno and (name in texts or "." in name and any(x.endswith(f".{title}") for x in texts)):
            found.append(line)
    last = [line for line in found[1:][-1:] if getattr(function_of(Site(file, line, "")), "name", "") != "__init__"]
    return place_on(file, last[0]) if last else None


def as_argument(file: str, which: str) -> NewLines:
    """Names, or attributes of self, with commas between them, as last arguments of the jitted functions that read them;
    {} where one of these has other arguments than plain ones, or is used otherwise than in calls."""
    source, changes, names = Parsed.of_file(file), [], which.split(",")
    for function in source.all(ast.FunctionDef):
        nodes = [node for node in ast.walk(function) if isinstance(node, (ast.Name, ast.Attribute))]
        reads, given = {node: name for node in nodes if (name := ast.unparse(node)) in names}, function.args
        if not reads or "jit" not in "".join(map(ast.unparse, function.decorator_list)):
            continue
        calls = [node for node in source.all(ast.Call) if called(node) == function.name]
        uses = [node for node in source.all(ast.Name, ast.Attribute) if _title(ast.unparse(node)) == function.name]
        titles = {name: _title(name) for name in reads.values()}
        if not given.args or given.vararg or given.kwonlyargs or given.kwarg or given.defaults or {
                *map(id, uses)} != {id(call.func) for call in calls} or len({*titles.values()}) < len(titles) or any(
                    isinstance(node, ast.Name) and node.id in titles.values() and node not in reads for node in nodes):
            return {}
        end = source.range(given.args[-1])[1]
        changes += [(end, end, "".join(f", {title}" for title in titles.values())),
                    *(source.put(node, titles[name]) for node, name in reads.items())]
        for call in calls:
            owner = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else "self"
            changes.append(source.one_more(call, ", ".join(f"{title}=" + re.sub(r"^self\b", owner, name)
                                                           for name, title in titles.items())))
    with contextlib.suppress(ArgumentError):
        return source.rows(sorted(changes), file)
    return {}


def reads_of(fun: Any, args: Any) -> Reads:
    """What a function, and those that it calls, reads of names around it, and of what its arguments are."""
    inner, found, seen = inspect.unwrap(getattr(fun, "func", fun)), list[Read](), set[Any]()
    objects, attributes, stored = dict[int, tuple[str, Any]](), dict[str, Site](), set[str]()
    titles = getattr(getattr(inner, "__code__", None), "co_varnames", ())
    todo: list[Any] = [(None, "", "", fun, None), *((None, "", title, arg, None) for title, arg in zip(titles, args))]
    while todo:
        owner, key, name, value, site = todo.pop()
        seen.add(_at(owner, key, value))
        if isinstance(value, partial):
            todo += [(None, "", name, x, site) for x in (value.func, *value.args, *value.keywords.values())]
        elif inspect.ismethod(value):
            todo += [(None, "", "self", value.__self__, site), (None, "", "", value.__func__, site)]
        elif inspect.isfunction(function := inspect.unwrap(value) if callable(value) else None):
            todo += _of_code(function, function.__code__, attributes, stored) if _is_users(
                function.__code__.co_filename) else []
        else:
            leaves, tree = jax.tree.flatten(value)
            objects |= {id(x): (name, x) for x in leaves[:_MOST] if _is_object(x)}
            if site is not None and owner is not None and 0 < len(leaves) <= _MOST and any(
                    isinstance(x, (*_PLAIN, jax.Array, np.ndarray, np.generic)) or _is_object(x) for x in leaves):
                found.append(Read(owner, key, name, site, tree, [x.copy() if isinstance(
                    x, np.ndarray) and x.size <= _MOST else x for x in leaves]))
        todo += [] if todo else [each for name, x in objects.values() for each in _parts(name, x, attributes)]
        todo = [each for each in todo if _at(each[0], each[1], each[3]) not in seen]
    return Reads(getattr(inner, "__name__", "the function"), [
        read for read in found if (f".{read.key}" if "." in read.name else read.name) not in stored])


def _at(owner: Any, key: str, value: Any) -> Any:
    return (id(owner), key) if owner is not None else id(value)


def _of_code(function: Any, code: Any, attributes: dict[str, Site], stored: set[str]) -> list[Any]:
    """What the code of a function reads by name; notes the attributes that it reads, and all that it changes."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    found = []
    for step in dis.get_instructions(code):
        name, line = step.argval, step.positions.lineno if step.positions is not None else None
        site = Site(code.co_filename, line or code.co_firstlineno, function.__name__)
        if step.opname == "STORE_GLOBAL" or step.opname == "STORE_DEREF" and name in cells:
            stored.add(name)
        elif step.opname == "STORE_ATTR":
            stored.add(f".{name}")
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            attributes.setdefault(name, site)
        elif step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and name in function.__globals__:
            found.append((function.__globals__, name, name, function.__globals__[name], site))
        elif step.opname.endswith("DEREF") and name in cells:
            with contextlib.suppress(ValueError):  # it is empty
                found.append((cells[name], "cell_contents", name, cells[name].cell_contents, site))
    return found + [each for inner in code.co_consts if isinstance(inner, types.CodeType)
                    for each in _of_code(function, inner, attributes, stored)]


def _parts(name: str, thing: Any, attributes: dict[str, Site]) -> Iterator[tuple[Any, ...]]:
    """Of what an object, class or module has the attributes that are read."""
    own = vars(thing)
    for key, site in [*attributes.items()]:
        if key in own and not isinstance(own[key], (staticmethod, classmethod, property)):
            yield own if isinstance(own, dict) else thing, key, f"{name}.{key}", own[key], site
        elif not isinstance(thing, types.ModuleType):
            made = inspect.getattr_static(thing, key, None)
            yield None, "", "", getattr(made, "__func__", getattr(made, "fget", made)), site


def _is_object(x: Any) -> bool:
    """Whether the script's own code made its class, or it is a plain holder of settings, so that its parts are read."""
    kind = x if isinstance(x, (type, types.ModuleType)) else type(x)
    name = getattr(kind, "__module__", "") or kind.__name__
    return isinstance(x, _HOLDERS) or hasattr(x, "__dict__") and name != "builtins" and (
        name == "__main__" or _is_users(getattr(sys.modules.get(name), "__file__", None) or _LIBRARY))


def _is_users(file: str) -> bool:
    return "-packages" not in file and not file.startswith((PACKAGE, "<frozen")) and _LIBRARY not in file
