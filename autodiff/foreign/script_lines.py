"""What a script's lines say of values: the lines that use what a call gave, the names that ops' results were given, and
what it calls the modules and functions of JAX, by what it imports."""
from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator

from ..core.graph import Operation, Tensor
from ..core.site import Site, source_lines
from ..debug.analysis.scripts.parsed import Parsed


@functools.lru_cache(256)
def lines_of_use(sites: tuple[Site, ...]) -> tuple[Site, ...]:
    """The lines that use the last of what the innermost line's statement assigns; its own, if it assigns nothing.

    sites: of a call, innermost first. Where a function returns the result, the lines of its caller follow.
    """
    if not sites:
        return ()
    site = sites[0]
    found = _statement(site)
    if found is None:
        return ()
    statement, scope = found
    names = set(_assigned(statement)[-1:])  # of a value and gradients these
    used = [s for s in _simple(scope) if s.lineno > statement.lineno and names & read_by(s)] if names else [statement]
    lines = [Site(site.file, s.lineno, site.function) for s in used]
    lines += [line for s in used for line in _inside(site.file, s)]
    if any(isinstance(s, ast.Return) for s in used):
        lines += lines_of_use(sites[1:])
    return tuple(lines)


@functools.lru_cache(256)
def factor_on(sites: tuple[Site, ...]) -> tuple[str, float, Site] | None:
    """The one name of a number that the statements on these lines, or those that use what they assign, multiply by: it,
    the number, and where it was given.

    Of several the one in what is subtracted; None if there is no such name, or still several.
    """
    found, taken = dict[str, tuple[str, float, Site]](), set[str]()
    for site in dict.fromkeys([*sites, *(use for line in sites for use in lines_of_use((line,)))]):
        statement = on_lines(site.file).get(site.line)
        for node in ast.walk(statement) if statement is not None else ():
            for name in _factors(node):
                if (given := _number_of(site.file, name)) is not None:
                    found[name] = name, given[0], Site(site.file, given[1], "<module>")
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
                taken.update(name for part in ast.walk(node.right) for name in _factors(part))
    left = [found[name] for name in found if len(found) == 1 or name in taken]
    return left[0] if len(left) == 1 else None


def _factors(node: ast.AST) -> list[str]:
    """The names that a product multiplies."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
        return []
    return [side.id for side in (node.left, node.right) if isinstance(side, ast.Name)]


@functools.lru_cache(256)
def _number_of(file: str, name: str) -> tuple[float, int] | None:
    """The number that a name is given, and the line; None if it is given anything else, or more than once."""
    found: list[tuple[ast.expr | None, int]] = []
    for node in nodes_in(file):
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(n, ast.Name) and n.id == name for target in targets for n in ast.walk(target)):
                found.append((node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None, node.lineno))
        elif isinstance(node, ast.arguments):
            plain = [*node.posonlyargs, *node.args]
            defaults = [None] * (len(plain) - len(node.defaults)) + list(node.defaults)
            found += [(value, arg.lineno) for arg, value in zip([*plain, *node.kwonlyargs],
                                                                 [*defaults, *node.kw_defaults]) if arg.arg == name]
    value, line = found[0] if len(found) == 1 else (None, 0)
    if isinstance(value, ast.Constant) and isinstance(value.value, (int, float)) and not isinstance(value.value, bool):
        return float(value.value), line
    return None


def names_between(file: str, made: int, used: int) -> list[str]:
    """The names that the statement on one line assigns, and that on another reads."""
    use = on_lines(file).get(used)
    return [name for name in _assigned(on_lines(file).get(made)) if use is not None and name in read_by(use)]


def line_of_name(file: str, name: str) -> int:
    """The first line that assigns a name; 0 if none does."""
    return min((line for line, statement in on_lines(file).items() if name in _assigned(statement)), default=0)


def assigned_names(operations: Iterable[Operation]) -> dict[str, Tensor]:
    """The names that the script gave to results of operations, also inside of functions that have returned.

    A statement `name = …` names the last tensor that was made by its line, or by the functions it called; of several
    the last. Names of the script's top level come before those of functions, outer functions before inner ones.
    """
    found: dict[str, tuple[int, Tensor]] = {}
    for op in operations:
        sites = op.traceback
        for depth, site in enumerate(sites):
            name = _name_on(site.file, site.line)
            height = len(sites) - depth
            if name and op.outputs and height <= found.get(name, (height,))[0]:
                found[name] = height, op.outputs[0]
    return {name: tensor for name, (_, tensor) in found.items()}


def first_name(site: Site) -> list[str]:
    """The first of the names that the statement on a line assigns, which is that of a value and gradients; or none."""
    return assigned_on(site.file, site.line)[:1]


def assigned_on(file: str, line: int) -> list[str]:
    """The names that the statement on a line assigns."""
    return _assigned(on_lines(file).get(line))


@functools.lru_cache(256)
def loop_around(file: str, line: int) -> range | None:
    """The lines of the innermost loop that a line is in, within its function; None if it is in none."""
    loops = loops_around(file, line)
    return range(loops[-1].lineno, (loops[-1].end_lineno or loops[-1].lineno) + 1) if loops else None


def loops_around(file: str, line: int) -> list[ast.For | ast.While | ast.AsyncFor]:
    """The loops that a line is in, within its function, outer ones first."""
    found: list[ast.For | ast.While | ast.AsyncFor] = []
    for node in holding(file, line):
        if isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
            found.append(node)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            found = []
    return found


def holding(file: str, line: int) -> list[ast.AST]:
    """What has a body that a line is in, outer ones first."""
    return [node for node in nodes_in(file) if hasattr(node, "body") and getattr(node, "lineno", line + 1) <= line
            <= (getattr(node, "end_lineno", None) or 0)]


@functools.lru_cache(4096)
def _name_on(file: str, line: int) -> str:
    """The only name that the statement on a line assigns, or ""."""
    statement = on_lines(file).get(line)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


@functools.lru_cache(16)
def on_lines(file: str) -> dict[int, ast.stmt]:
    """The statements that hold no others, by each of their lines."""
    return {line: node for node in _plain(file) for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def block_of(file: str, line: int) -> list[ast.stmt]:
    """The statements of the block that a line is in; of no block all that hold no others."""
    holders = [node.body for node in holding(file, line) if isinstance(getattr(node, "body", None), list)]  # type: ignore
    return [*holders[-1]] if holders else [*dict.fromkeys(on_lines(file).values())]


def beside(file: str, line: int) -> list[ast.stmt]:
    """All statements that begin on a line and hold no others."""
    return [node for node in _plain(file) if node.lineno == line]


@functools.lru_cache(16)
def _plain(file: str) -> list[ast.stmt]:
    """All statements that hold no others."""
    return [node for node in nodes_in(file) if isinstance(node, ast.stmt) and not hasattr(node, "body")]


def _inside(file: str, statement: ast.stmt) -> Iterator[Site]:
    """The lines of the script's own functions that a statement calls, the last first: it returns what counts."""
    calls = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    called = {function.id for function in calls if isinstance(function, ast.Name)}
    for node in nodes_in(file):
        if isinstance(node, ast.FunctionDef) and node.name in called:
            yield from (Site(file, s.lineno, node.name) for s in reversed(list(_simple(node))))


def _statement(site: Site) -> tuple[ast.stmt, ast.AST] | None:
    """The statement on a line, and the function or module that it stands in."""
    tree = parsed(site.file)
    if tree is None:
        return None
    inside = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.Module))
              and (isinstance(node, ast.Module) or node.lineno <= site.line <= (node.end_lineno or 0))]
    scope = max(inside, key=lambda node: getattr(node, "lineno", 0))
    on_line = [s for s in _simple(scope) if s.lineno <= site.line <= (s.end_lineno or s.lineno)]
    return (on_line[0], scope) if on_line else None


def usual_on(file: str, rate: ast.expr) -> ast.expr | None:
    """The number that `args.NAME` is where the command line does not say it: the default of an argument of argparse."""
    for node in nodes_in(file) if isinstance(rate, ast.Attribute) and isinstance(rate.value, ast.Name) else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            words = {word.arg: word.value for word in node.keywords}
            called = [str(ast.literal_eval(each)) for each in [*node.args, *filter(None, [words.get("dest")])]
                      if isinstance(each, ast.Constant)]
            number = words.get("default")
            if isinstance(rate, ast.Attribute) and rate.attr in [name.lstrip("-").replace("-", "_") for name in called]:
                return number if isinstance(number, ast.Constant) and isinstance(number.value, (int, float)) else None
    return None


@functools.lru_cache(16)
def parsed(file: str) -> ast.Module | None:
    """A file's tree; None where it is no Python."""
    try:
        return ast.parse("".join(source_lines(file)))
    except SyntaxError:
        return None


def nodes_in(file: str) -> Iterator[ast.AST]:
    """All nodes of a file's tree, outer ones first; none where it is no Python."""
    tree = parsed(file)
    return ast.walk(tree) if tree is not None else iter(())


def _simple(scope: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a scope that hold no others, in order; not those of functions in it."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
            continue
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            yield node
        else:
            yield from _simple(node)


def _assigned(statement: ast.stmt | None) -> list[str]:
    """The names that a statement assigns to, in the order they are written."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    names = [node for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    return [node.id for node in sorted(names, key=lambda node: (node.lineno, node.col_offset))]


def read_by(statement: ast.stmt) -> set[str]:
    """The names that a statement reads."""
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def spelled(file: str, name: str) -> str:
    """'np.mean' for 'jax.numpy.mean' after `import jax.numpy as np`; jnp where the file does not import it at all."""
    for full, ours in _imported(file):
        if name == full or name.startswith(f"{full}."):
            return ours + name[len(full):]
    has_it = re.search(r"^\s*import jax\b", "".join(source_lines(file)), re.MULTILINE)
    return name if has_it else name.replace("jax.numpy", "jnp")


@functools.lru_cache(16)
def _imported(file: str) -> list[tuple[str, str]]:
    """Full names and the file's own, the innermost module first."""
    return sorted(Parsed.of_file(file).imported().items(), reverse=True)
