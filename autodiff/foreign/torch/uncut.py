"""Tensors themselves in place of their numbers: the lines of a script that a gradient is to pass."""
from __future__ import annotations

import ast
import copy
import functools
import re
from collections.abc import Iterator, Sequence

from ...core.site import Site
from ...debug.facts.records import Place
from ...debug.facts.roles import as_place, at_line
from ..new_lines import NewLines, is_alone, last_name, nodes_on, replaced, text_on, tight
from ..script_lines import assigned_on, block_of, holding, loops_around, nodes_in, on_lines, read_by

_ARRAYS = ("np.array", "numpy.array", "np.asarray", "numpy.asarray", "np.stack", "numpy.stack")
_WRAPPED = ("tensor", "as_tensor", "from_numpy", "Parameter", "Variable", "Tensor", "FloatTensor")
_NUMBERS = ("item", "detach", "data", "numpy", "tolist")  # what takes the numbers of a tensor
_ALIKE = frozenset("""abs clip concatenate cos dot exp log max maximum mean min minimum sign sin sqrt square stack std
sum tanh var where""".split())  # of NumPy's functions those that torch has by the same name
_COMPARES = re.compile("loss|criter|mse|dist|err|cos|l1")  # in the names of what is given two of a kind
_PLACES = ("cpu", "clone")  # what may stand between, and is kept where no numbers are taken


def connected(file: str, line: int) -> NewLines:
    """Tensors themselves, not their numbers; and what was computed without a gradient with it."""
    return next(filter(None, _connections(file, line)), {})


def redrawn(file: str, line: int) -> NewLines:
    """The draw on a line by what lets a gradient through: rsample(), or noise that is scaled and moved."""
    for node in nodes_on(file, line):
        if isinstance(node, ast.Attribute) and node.attr == "sample":
            return replaced(file, node, f"{ast.unparse(node.value)}.rsample")
        if not isinstance(node, ast.Call) or ast.unparse(node.func) != "torch.normal":
            continue
        given = dict(zip(("mean", "std"), node.args)) | {word.arg or "": word.value for word in node.keywords}
        like = [each for each in given.values() if isinstance(each, (ast.Name, ast.Attribute))]
        if given.keys() == {"mean", "std"} and len(node.args) < 3 and like:
            std, is_part = given["std"], any(node in (getattr(each, name, None) for name in (
                "left", "right", "operand", "value")) for each in nodes_on(file, line) if isinstance(each, ast.expr))
            text = (f"{ast.unparse(given['mean'])} + {tight(std, ast.unparse(std))} * torch.randn_like("
                    f"{ast.unparse(like[0])})")
            return replaced(file, node, f"({text})" if is_part else text)
    return {}


def _no_grads(file: str, line: int) -> Iterator[tuple[ast.expr, ast.With | None]]:
    """The no_grad() around a line, inner ones first, each with its statement; None for a decorator."""
    below = [node for node in nodes_in(file) if isinstance(node, ast.FunctionDef) and line in [
        each.lineno for each in node.decorator_list]]
    for holder in (*below, *holding(file, line)[::-1]):
        for each in holder.decorator_list if isinstance(holder, ast.FunctionDef) else [
                item.context_expr for item in holder.items] if isinstance(holder, ast.With) else ():
            if last_name(each.func if isinstance(each, ast.Call) else each) in ("no_grad", "inference_mode"):
                yield each, holder if isinstance(holder, ast.With) else None


def unrecorded(sites: Sequence[Site]) -> Place | None:
    """The no_grad() around the innermost of the lines of a call that is in any."""
    return next((as_place(Site(site.file, node.lineno, site.function)) for site in sites for node, _ in _no_grads(
        site.file, site.line)), None)


@functools.lru_cache(1024)
def told_unrecorded(sites: tuple[Site, ...]) -> str:
    """The no_grad() around a call, in words, and where the function is called that it decorates; "" for none."""
    for site, caller in zip(sites, [*sites[1:], None]):
        for node, around in _no_grads(site.file, site.line):
            called = f", called{at_line(as_place(caller))}" if around is None and caller is not None else ""
            return f"under the no_grad{at_line(as_place(Site(site.file, node.lineno, site.function)))}{called}"
    return ""


def called_itself(sites: Sequence[Site]) -> NewLines:
    """What a function that no_grad decorates returns, in place of the one call of it that is to have a gradient.

    {} where it does more than to return that, or nothing else calls it.
    """
    for site, caller in zip(sites, sites[1:]):
        functions = [each for each in holding(site.file, site.line) if isinstance(each, ast.FunctionDef)]
        if all(around is not None for _, around in _no_grads(site.file, site.line)) or not functions:
            continue
        made, names = functions[-1], [each.arg for each in functions[-1].args.args]
        calls, others = ([node for node in nodes if isinstance(node, ast.Call) and last_name(node.func) == made.name]
                         for nodes in (nodes_on(caller.file, caller.line), nodes_in(site.file)))
        value = getattr(made.body[0], "value", None)
        if len(calls) != 1 or len(others) < 2 or not isinstance(made.body[0], ast.Return) or value is None:
            break
        given = [*calls[0].args]
        if names[:1] == ["self"] and isinstance(calls[0].func, ast.Attribute):
            given.insert(0, calls[0].func.value)
        known = {**dict(zip(names, given)), **{word.arg or "": word.value for word in calls[0].keywords}}
        text = ast.unparse(_Given(known).visit(copy.deepcopy(value)))
        return replaced(caller.file, calls[0], tight(value, text)) if (known.keys() >= {*names}) else {}
    return {}


class _Given(ast.NodeTransformer):
    """An expression of parameters with what a call gives for them."""

    def __init__(self, known: dict[str, ast.expr]) -> None:
        self.known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """What is given for it."""
        return self.known.get(node.id, node)


def _connections(file: str, line: int) -> Iterator[NewLines]:
    statement = on_lines(file).get(line)
    for each, around in _no_grads(file, line):
        if around is None:
            yield {(file, each.lineno): ""}
        elif isinstance(each, ast.Call):
            yield _detached_later(file, around.body[-1].lineno, replaced(file, each.func, "torch.enable_grad"))
    yield _other_side(file, line)
    if later := _computed_of(file, statement) if statement is not None else []:
        found = _with_sources(file, later[-1], [each.lineno for each in later])
        yield found if (file, line) in found else {}
        return  # NumPy does not take a tensor with a gradient
    if statement is not None and any(_is_wrap(node) for node in ast.walk(statement)):
        yield _with_sources(file, statement)
    for node in nodes_on(file, line):
        if isinstance(node, ast.expr) and (source := _itself(node)) is not node:
            yield _detached_later(file, line, replaced(file, node, ast.unparse(source)))


def _computed_of(file: str, statement: ast.stmt) -> list[ast.stmt]:
    """What its block computes of the numbers that a statement takes of a tensor, by NumPy or as a list, up to where a
    tensor is made of them again; [] if none is."""
    takes = any(isinstance(node, ast.Attribute) and node.attr in ("numpy", "tolist") for node in ast.walk(statement))
    names, found = set(assigned_on(file, statement.lineno)), list[ast.stmt]()
    for other in block_of(file, statement.lineno) if takes else ():
        if other.lineno > statement.lineno and names & read_by(other):
            names |= set(assigned_on(file, other.lineno))
            found.append(other)
            if any(_is_wrap(node) for node in ast.walk(other)):
                return found
    return []


def _other_side(file: str, line: int) -> NewLines:
    """`loss(x, z.detach())` for `loss(x.detach(), z)` where the same is written twice in a block."""
    statement = on_lines(file).get(line)
    if not isinstance(statement, ast.Assign):
        return {}
    own = ast.unparse(statement.value)
    if not any(other is not statement and own in ast.unparse(other) for other in block_of(file, line)):
        return {}
    for node in ast.walk(statement.value):
        is_call = isinstance(node, ast.Call)
        sides = (node.args[:2] if _COMPARES.search(last_name(node.func).lower()) else []) if isinstance(
            node, ast.Call) else [node.left, node.right] if isinstance(
            node, ast.BinOp) and isinstance(node.op, ast.Sub) else []
        taken = [_itself(side) is not side for side in sides]
        if sorted(taken) == [False, True] and sides[0].lineno == sides[1].end_lineno:
            texts = [ast.unparse(_itself(side)) if cut else f"{ast.unparse(side)}.detach()"
                     for side, cut in zip(sides, taken)]
            both = ast.copy_location(ast.Name("", ast.Load()), sides[0])
            both.end_col_offset = sides[1].end_col_offset
            is_plain = not any(isinstance(side, (ast.BinOp, ast.UnaryOp)) for side in sides)
            return replaced(file, both, (", " if is_call else " - ").join(texts)) if is_plain else {}
    return {}


def _is_wrap(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) in _WRAPPED and bool(node.args)


def _itself(node: ast.expr) -> ast.expr:
    """The tensor whose numbers an expression takes."""
    found = node
    while True:
        called = node.func if isinstance(node, ast.Call) else node
        if isinstance(called, ast.Attribute) and called.attr in (*_NUMBERS, *_PLACES):
            found = called.value if called.attr in _NUMBERS else found
            node = called.value
        elif isinstance(node, ast.Call) and ast.unparse(called) == "float" and node.args:
            found = node = node.args[0]
        else:
            return found


class _Tensors(ast.NodeTransformer):
    """An expression of the tensors whose numbers it takes. lists: names of lists; changed: whether it took any;
    is_torch: whether it was computed by NumPy."""

    def __init__(self, lists: set[str]) -> None:
        self.lists, self.changed, self.is_torch = lists, False, False

    def visit(self, node: ast.AST) -> ast.AST:
        """The same of tensors."""
        source = _itself(node) if isinstance(node, ast.expr) else node
        self.changed |= source is not node
        if isinstance(source, ast.Call) and _is_wrap(source):
            self.changed, first = True, source.args[0]
            if isinstance(first, ast.Call) and first.args and ast.unparse(first.func) in _ARRAYS:
                first = first.args[0]
            is_list = isinstance(first, (ast.List, ast.Tuple, ast.ListComp)) or ast.unparse(first) in self.lists
            made = self.visit(first)
            return ast.parse(f"torch.stack({ast.unparse(made)})", mode="eval").body if is_list else made
        if isinstance(source, ast.Call) and (name := ast.unparse(source.func).partition(".linalg."))[2]:
            self.is_torch, source.func = True, ast.parse(f"torch.linalg.{name[2]}", mode="eval").body
            for word in source.keywords:
                word.arg = {"axis": "dim", "keepdims": "keepdim"}.get(word.arg or "", word.arg)
        made = self.generic_visit(source)
        if isinstance(made, ast.Attribute) and ast.unparse(made.value) in ("np", "numpy") and made.attr in _ALIKE:
            self.is_torch, made.value = True, ast.Name("torch", ast.Load())
        return made


def _with_sources(file: str, statement: ast.stmt, between: Sequence[int] = ()) -> NewLines:
    """A statement that makes a tensor of numbers, and those before it that took them of tensors; {} if none did.
    between: lines that compute with these numbers."""
    lists, found = _lists(file, read_by(statement)) | _lists(file, {ast.unparse(node) for node in ast.walk(
        statement) if isinstance(node, ast.Attribute)}, is_seen=True), NewLines()
    todo, seen = [statement], set[int]()
    while todo:
        part = todo.pop()
        seen.add(part.lineno)
        value = getattr(part, "value", None)
        appended = part is not statement and isinstance(part, ast.Expr) and isinstance(value, ast.Call)
        value = value.args[0] if appended and value is not None and value.args else value
        if not isinstance(value, ast.expr) or not is_alone(file, part):
            return {}
        changed = _Tensors(lists)
        new = changed.visit(copy.deepcopy(value))
        if part.lineno in between and any(isinstance(node, ast.Call) and ast.unparse(node.func).startswith((
                "np.", "numpy.")) for node in ast.walk(new)):
            return {}
        if changed.changed or changed.is_torch and part.lineno in between:
            is_same = isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) == ast.unparse(new) and len(
                block_of(file, part.lineno)) > 1
            lines = {(file, part.lineno): ""} if is_same else replaced(file, value, ast.unparse(new))
            if not lines:
                return {}
            found |= lines
        todo += [each for each in _sources(file, part, read_by(part) if not appended else {
            node.id for node in ast.walk(value) if isinstance(node, ast.Name)}) if each.lineno not in seen]
    return found if len(found) > 1 or _takes_numbers(statement) or lists else {}


def _takes_numbers(statement: ast.stmt) -> bool:
    """Whether what is made anew is no mere name."""
    return any(_is_wrap(node) and not isinstance(node.args[0], ast.Name)  # type: ignore[attr-defined]
               for node in ast.walk(statement))


def _sources(file: str, use: ast.stmt, names: set[str]) -> Sequence[ast.stmt]:
    """The statements before one, in its loop or function, that give names their values, or are appended to them."""
    loops = loops_around(file, use.lineno)
    inside = [node for node in holding(file, use.lineno) if isinstance(node, ast.FunctionDef)]
    start = loops[0].lineno if loops else inside[-1].lineno if inside else 1
    before = {node.lineno: node for at, node in on_lines(file).items() if start <= at < use.lineno}
    last = {name: node for at, node in sorted(before.items()) for name in assigned_on(file, at) if name in names}
    return [*last.values(), *(node for node in before.values() if names & {_appends_to(node), _added_to(node)})]


def _added_to(statement: ast.stmt) -> str:
    """The name that a statement adds to, or ""."""
    return ast.unparse(statement.target) if isinstance(statement, ast.AugAssign) else ""


def _appends_to(statement: ast.stmt) -> str:
    """The name of the list that a statement appends to, or ""."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    is_one = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "append"
    return ast.unparse(value.func.value) if is_one else ""  # type: ignore[union-attr]


def _lists(file: str, names: set[str], *, is_seen: bool = False) -> set[str]:
    """Those of names that are lists: they are begun as one, appended to, or, unless is_seen, given by nothing seen."""
    statements = {node.lineno: node for node in on_lines(file).values()}.values()
    made = {name: node for node in statements for name in assigned_on(file, node.lineno)}
    appended, added = ({of(node) for node in statements} for of in (_appends_to, _added_to))
    return {name for name in names if name in appended or not is_seen and name not in {*made, *added} or isinstance(
        getattr(made.get(name), "value", None), (ast.List, ast.ListComp))}


def _detached_later(file: str, line: int, uncut: NewLines) -> NewLines:
    """Where one loss is differentiated before another, what the first takes stays without a gradient."""
    around = loops_around(file, line)[-1:] or [h for h in holding(file, line) if isinstance(h, ast.FunctionDef)][-1:]
    rest = range(line + 1, (around[0].end_lineno or 0) + 1) if around else range(0)
    ends = [at for at in rest if ".backward(" in text_on(file, at)]
    names, found = assigned_on(file, line), dict(uncut)
    for at in range(line + 1, ends[0] if len(ends) > 1 else 0):
        uses = [node for node in nodes_on(file, at) if isinstance(node, ast.Name) and node.id in names]
        if len(uses) > 1:
            return {}
        for use in uses:
            found |= replaced(file, use, "{}.detach()")
    return found
