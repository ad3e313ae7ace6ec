"""Edits across functions: what an activation takes, of a layer or function; what a function returns, at its call."""
from __future__ import annotations

import ast
import re
from typing import NamedTuple

from ....core.errors import ArgumentError
from ....core.graph import Operation
from ....core.site import source_lines
from ....core.traversal import users_of
from ..scripts.calls import given, words_of
from ..scripts.changes import Change
from ..scripts.expressions import name_of
from ..scripts.parsed import LOOPS, is_within, stands_at
from ..scripts.source_tree import WHOLE, Source

_ACTIVATIONS = {"Softmax": "nn.softmax", "Sigmoid": "sigmoid"}


def taken_apart(source: Source, op: Operation, target: ast.expr) -> tuple[str, str, list[Change]]:
    """A name for what an activation takes, as `target` may read it, its other arguments, and all changes that give it.

    Raises ArgumentError where the activation is not the whole of what a statement, or one that calls its function,
    gives a name.
    """
    node, changes, activated = _without(source, op)
    named = _named_at(source, op, node, target)
    names = {statement: _name(source, statement) for statement in named}
    for statement, name in names.items():
        old = statement.targets[0]
        changes += [(*source.range(old), name),
                    source.after(statement, f"{source.raw(old)} = {activated.format(name)}")]
    chosen = next((each for each in named if stands_at(each.value, op.spans)), named[0])
    return names[chosen], activated.partition("{}")[2][:-1], changes


def _without(source: Source, op: Operation) -> tuple[ast.expr, list[Change], str]:
    """The expression that made an activation, the change that takes it off, and how it is written, with {} for it."""
    try:
        node = source.expression(op)
        part = source.operand(node, op, 0)
        function = source.raw(node.func) if isinstance(node, ast.Call) else ""
        return node, [(*source.range(node), source.raw(part))], f"{function}({{}}{source.arguments(node, op, None)})"
    except ArgumentError:
        calls = [each for each in source.spanned(op) if isinstance(each, ast.Call)]
        words = [word for call in calls for word in (*given(call, None, "activation", "activation_fn"), *(
            each for each in call.args if name_of(each) == op.type.lower()))]
        if len(calls) != 1 or len(words) != 1 or op.type not in _ACTIVATIONS:
            raise
        said = source.raw(words[0]) if name_of(words[0]) else f"{source.module()}.{_ACTIVATIONS[op.type]}"
        if (name_of(words[0]) or str(getattr(words[0], "value", ""))) != op.type.lower():
            raise
        return calls[0], [(*source.range(words[0]), "None")], f"{said}({{}})"


def _named_at(source: Source, op: Operation, node: ast.expr, target: ast.expr) -> list[ast.Assign]:
    """The statements that give the activation a name: its own, or all that call the function that returns it."""
    statement, scope = source.statement(node), source.scope(node)
    if isinstance(statement, ast.Assign) and statement.value is node and len(statement.targets) == 1 and (
            scope is source.scope(target) and isinstance(statement.targets[0], ast.Name)
            or isinstance(statement.targets[0], ast.Attribute)):
        return [statement]
    if not isinstance(scope, ast.FunctionDef) or not _returns(source, scope, node) or scope.decorator_list:
        raise ArgumentError("what it is made of is written in another function")
    read = [each for each in ast.walk(source.tree) if getattr(each, "id", getattr(each, "attr", "")) == scope.name]
    calls = [call for call in source.all(ast.Call) if call.func in read]
    found = [each for each in map(source.statement, read) if isinstance(each, ast.Assign) and each.value in calls
             and len(each.targets) == 1 and isinstance(each.targets[0], (ast.Name, ast.Attribute))]
    here = [each for each in found if stands_at(each.value, op.spans)]
    if len(found) != len(read) or len(here) != 1 or (
            source.scope(here[0]) is not source.scope(target) and isinstance(here[0].targets[0], ast.Name)):
        raise ArgumentError("what it is made of is written in another function, whose result gets no name")
    loops = [each for each in source.around(here[0]) if isinstance(each, LOOPS)]
    if loops and not is_within(target, loops[-1]):
        raise ArgumentError(f"{scope.name} is called again and again")
    return found


def _returns(source: Source, function: ast.FunctionDef, node: ast.expr) -> bool:
    """Whether a function gives nothing but the value of an expression of it."""
    returned = [each for each in ast.walk(function) if isinstance(each, ast.Return) and source.scope(each) is function]
    value = returned[0].value if len(returned) == 1 else None
    if not isinstance(value, ast.Name):
        return value is node
    made = [each.value for each in ast.walk(function) if isinstance(each, ast.Assign)
            and value.id in map(ast.unparse, each.targets)]
    reads = [each for each in ast.walk(function) if isinstance(each, ast.Name) and each.id == value.id
             and isinstance(each.ctx, ast.Load)]
    return value is node or made == [node] and reads == [value]


def _name(source: Source, statement: ast.Assign) -> str:
    """What a statement calls the logits from now on; an attribute's where it gave an attribute."""
    target = statement.targets[0]
    if isinstance(target, ast.Attribute):
        return f"{ast.unparse(target)}_logits"
    if statement.value not in source.named:
        source.named[statement.value] = source.new_name("logits")
    return source.named[statement.value]


class AtCall(NamedTuple):
    """What a function returns, written anew at the call of it, where its parts are known by other names; or what is
    written around the call, where others that call it have no need of that."""

    op: Operation
    template: str
    parts: tuple[tuple[Operation, int | None], ...]

    @property
    def number(self) -> int:
        """Of the call among the op's spans."""
        return max(of_this_alone(self.op), 1) if self.is_around else 1

    @property
    def is_around(self) -> bool:
        """Whether all of what the call gives is kept."""
        return self.parts == ((self.op, WHOLE),)

    @property
    def file(self) -> str:
        """The file with the call; "" if nothing is known to call."""
        return spans[self.number].file if len(spans := self.op.spans) > self.number else ""


def of_this_alone(op: Operation) -> int:
    """Of the expressions that led to an op, whose value it is, the innermost that led to no other of its kind; 0 for
    its own, and where the op's value is used in there."""
    spans = op.spans
    others = [each.spans for each in op.graph.operations.values() if each.type == op.type and each is not op
              and each.gradient_of is None and each.span == op.span and each.spans != spans]
    number = next((i for i in range(len(spans)) if all(i >= len(each) or each[i:] == spans[i:] or each[i] != spans[i]
                                                       for each in others)), 0)
    return 0 if any(spans[number] in c.spans for c in users_of(op)) else number


def written_at_call(source: Source, line: AtCall) -> list[Change]:
    """The call as it is to be, last; before it what gives parts of it names. Raises ArgumentError."""
    if line.is_around:
        around = [each for each in source.all(ast.Call) if stands_at(each, line.op.spans[line.number:][:1])]
        if len(around) != 1 or not of_this_alone(line.op):
            raise ArgumentError("the call of it is not surely found")
        return [(*source.range(around[0]), source.spelled(line.template).format(source.raw(around[0])))]
    here = Source("".join(source_lines(line.op.site.file if line.op.site is not None else "")))
    node = here.expression(line.op)
    function = here.scope(node)
    calls = [each for each in source.all(ast.Call) if stands_at(each, line.op.spans)]
    if not isinstance(function, ast.FunctionDef) or not _returns(here, function, node) or len(calls) != 1:
        raise ArgumentError("it is not what a function returns")
    known, texts, changes = _arguments(source, function, calls[0]), [], []
    for op, number in line.parts:
        try:
            inner = here.expression(op)
            part = here.operand(inner, op, number or 0) if here.scope(inner) is function else None
        except ArgumentError:
            part = None
        if part is not None and ast.unparse(part) in known:
            texts.append(known[ast.unparse(part)])
        elif part is not None or number != 0 or op.type not in _ACTIVATIONS:
            raise ArgumentError("a part of it is known in its function alone")
        else:
            text, more = _logits(source, op, calls[0])
            texts.append(text)
            changes += more
    new = re.sub(r"\{(\d+)\}", lambda found: texts[int(found[1])], source.spelled(line.template))
    return [*changes, (*source.range(calls[0]), new)]


def _logits(source: Source, op: Operation, target: ast.expr) -> tuple[str, list[Change]]:
    """What an activation takes, as `target` may read it; and what gives it a name, if it needs one."""
    try:
        part = source.operand(source.expression(op), op, 0)
        named = source.named_first(part, target, "logits")
        source.check_alike(part, target)
        return source.named.get(part) or source.raw(part), named
    except ArgumentError:
        text, _, changes = taken_apart(source, op, target)
        return text, changes


def _arguments(source: Source, function: ast.FunctionDef, call: ast.Call) -> dict[str, str]:
    """What a call gives for the names of a function's parameters, as it is written there."""
    names = [each.arg for each in function.args.args]
    names = names[1:] if isinstance(call.func, ast.Attribute) and names[:1] in (["self"], ["cls"]) else names
    nodes = {name: each for name, each in zip(names, call.args) if not isinstance(each, ast.Starred)} | words_of(call)
    return {name: source.raw(each) for name, each in nodes.items()}
