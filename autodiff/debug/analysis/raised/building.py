"""Errors while a graph is built: variables made twice, names that there are not, tensors of other graphs."""
from __future__ import annotations

import ast
import re
from typing import Any

from ....core.graph import Graph, Operation
from ....core.names import closest
from ....core.traversal import ancestors
from ...facts.roles import at_line, place_of
from ..advice import Remark
from ..scripts.calls import called, given, word_of
from ..scripts.changes import Change
from ..scripts.parsed import LOOPS, is_within
from .raised_at import RaisedAt

_SCOPE, _LAYERS, _UPDATES = "variable_scope", "layers", ("minimize", "apply_gradients")


def made_twice(at: RaisedAt) -> Remark | None:
    """A variable of a name that there is: shared where other data comes to the same layers, else another one."""
    made = _graph(at).operations[at.said.split()[1]]
    frames, before = [*at.callers()], [site.line for site in reversed(made.traceback) if site.file == at.file]
    parts = next((i for i, frame in enumerate(frames) if i >= len(before) or not frame.node.lineno <= before[i] <= (
        frame.node.end_lineno)), -1)
    frame = frames[parts]
    loop: Any = None
    if parts < 0:
        frame, loop = next((each, loop) for each in frames for loop in each.around(each.node)
                           if isinstance(loop, LOOPS))
        if (told := _whole_model(at, frame, loop, made)) is not None:
            return told
    said = f"{made.name} was made{at_line(place_of(made))}" + (" in the turn before" if loop else
                                                              f" for line {before[min(parts, len(before) - 1)]}")
    chained = any(made in ancestors([t]) for node in ast.walk(frame.node) if isinstance(node, (ast.Name, ast.Attribute))
                  and (t := frame.tensor(node)) is not None)
    by_turn = loop is not None and any(isinstance(node, ast.Subscript) for node in ast.walk(frame.node))
    if _other_shape(at, made) or chained and not by_turn:
        return _separate(at, frames[parts:] if parts >= 0 else frames, said)
    return _shared(at, frames[parts:] if parts >= 0 else frames, said)


def _other_shape(at: RaisedAt, made: Operation) -> bool:
    """Whether the variable that there is has another shape than the one that was asked for."""
    shapes = [at.value(each) for each in (*at.operands[1:], *given(at.node, None, "shape"))]
    shapes += [ast.literal_eval(node) for node in at.operands[1:] if isinstance(node, (ast.List, ast.Tuple))
               and all(isinstance(each, ast.Constant) for each in node.elts)]
    dims = [*(made.outputs[0].dims or made.attrs.get("shape") or ())]
    return any(isinstance(shape, (list, tuple)) and shape and None not in shape and [*shape] != dims
               for shape in shapes)


def _whole_model(at: RaisedAt, frame: RaisedAt, loop: Any, made: Operation) -> Remark | None:
    """Where each turn of a loop builds the model, and runs it in a session of its own."""
    called = {getattr(each.scope(each.node), "name", "") for each in at.callers()}
    within = [node for node in ast.walk(frame.tree) if isinstance(node, ast.FunctionDef) and node.name in called
              and node is not frame.scope(loop)]
    is_new = any(is_within(call, loop) or frame.scope(call) in within
                 for call in frame.calls("Session", "InteractiveSession"))
    name = frame.scope(loop)
    others = [op for op in made.graph.operations.values() for site in op.traceback if op.type != "Const"
              and site.file == frame.file and site.function == getattr(name, "name", "<module>")
              and not loop.lineno <= site.line <= loop.end_lineno]
    if not is_new or others:
        return None
    line = f"{frame.module()}.reset_default_graph()"
    return frame.remark(f"each turn of the loop builds the model anew in the graph that has {made.name} already",
                        f"begin each turn with {line}", [frame.before(loop.body[0], line)], loop)


def _scopes(at: RaisedAt) -> list[ast.Call]:
    """The calls of variable_scope whose blocks a frame's expression is in, the innermost first."""
    return [item.context_expr for each in at.around(at.node) if isinstance(each, ast.With) for item in each.items
            if isinstance(item.context_expr, ast.Call) and called(item.context_expr) == _SCOPE]


def _shared(at: RaisedAt, frames: list[RaisedAt], said: str) -> Remark | None:
    """The same variables for both: reuse, where their scope is opened, at the second call, or around it."""
    auto = f"{at.module()}.AUTO_REUSE"
    for frame in reversed(frames):
        for call in _scopes(frame)[:1]:
            name = getattr(next(iter(given(call, None, "reuse")), None), "id", "")
            outer = next((each for each in frames if each is not frame and isinstance(each.node, ast.Call)), None)
            parameters = getattr(getattr(frame.scope(frame.node), "args", None), "args", ())
            if outer is not None and name in [each.arg for each in parameters]:
                return outer.remark(said, f"to share it: {name}=True in this call", [
                    outer.told(outer.node, name, "True")])
            return frame.remark(said, f"to share it: reuse={auto}", [frame.told(call, "reuse", auto)], call)
    if _LAYERS in at.written(at.node) and len(frames) == 1:
        return at.remark(said, f"to share it: reuse={auto}", [at.one_more(at.node, f"reuse={auto}")])
    frame, head = frames[0], _reusing(at)
    first = last = frame.statement(frame.node)
    if len(frames) == 1 and isinstance(loop := frame._around[first], LOOPS):
        first, last = loop.body[0], loop.body[-1]
    return frame.remark(said, f"to share it: {head}", [frame.wrapped(first, last, head)])


def _reusing(at: RaisedAt) -> str:
    """The head of a block in which variables that there are are used again."""
    return f"with {at.module()}.{_SCOPE}({at.module()}.get_{_SCOPE}(), reuse={at.module()}.AUTO_REUSE):"


def _separate(at: RaisedAt, frames: list[RaisedAt], said: str) -> Remark | None:
    """Variables of their own for each: by another name, or a scope that has another name each time."""
    scope: Any = at.scope(at.node)
    for call in _scopes(at) if len(frames) > 1 else ():
        name = call.args[0] if call.args else None
        if isinstance(name, ast.Constant):
            new = f"None, default_name={at.written(name)}"
            return at.remark(said, f"to have another one each time: {at.module()}.{_SCOPE}({new})", [
                (*at.range(name), new)], call)
    names = [each for each in given(at.node, 0, "name") if isinstance(each, ast.Constant)
             and isinstance(each.value, str)]
    is_called = len(frames) > 1 and isinstance(scope, ast.FunctionDef)
    around: Any = scope if is_called else next((each for each in at.around(at.node) if isinstance(each, LOOPS)), None)
    if around is not None:
        body = [each for each in around.body if not (is_called and isinstance(getattr(each, "value", None),
                                                                               ast.Constant))]
        head = f'with {at.module()}.{_SCOPE}(None, default_name="{scope.name if is_called else "layer"}"):'
        return at.remark(said, f"to have another one each time: {head}", [at.wrapped(body[0], body[-1], head)], around)
    if not names:
        return None
    quote = at.written(names[0])[-1]
    new = f"{quote}{names[0].value!s}_2{quote}"
    return at.remark(said, f"to have another one: {new}", [(*at.range(names[0]), new)])


def not_there_yet(at: RaisedAt) -> Remark | None:
    """A variable that is reused before it was made, or an optimizer's own where everything is reused."""
    name, auto = at.said.split()[1], f"{at.module()}.AUTO_REUSE"
    said = f"{name} is reused, and was not made before"
    for frame in reversed([*at.callers()]):
        words = [word for call in (*_scopes(frame), frame.node) for word in given(call, None, "reuse")]
        if words:
            return frame.remark(said, f"reuse={auto} makes what is not there", [(*frame.range(words[0]), auto)],
                                words[0])
    if called(at.node) not in _UPDATES:
        return None
    alike = {at.statement(each) for each in (at.node, *at.calls(*_UPDATES)) if at.scope(each) is at.scope(at.node)}
    return at.remark(f"{name} is the optimizer's own, and everything here is reused since reuse_variables()",
                     _reusing(at), [at.wrapped(each, each, _reusing(at)) for each in alike])


def _graph(at: RaisedAt) -> Graph:
    """The graph that is built there, or where that is empty one that has a name."""
    named = [value for value in at.names.values() if isinstance(value, Graph)]
    return next((each for each in (at.graph, *named) if each.operations), at.graph)


def no_such_name(at: RaisedAt) -> Remark | None:
    """A name of no tensor: a layer's, for what it gives, or one that is written otherwise."""
    graph, name = _graph(at), (re.search(r"name '([^']+)'", at.said) or [""])[1]
    texts = [node for node in ast.walk(at.node) if isinstance(node, ast.Constant) and node.value == name]
    keys = [key for node in ast.walk(at.node) if isinstance(node, ast.Dict) for key in node.keys if isinstance(
        key, ast.Constant) and key.value in graph.operations]
    if texts and texts[0] in keys:
        changes = [(at.range(key)[1] - 1, at.range(key)[1] - 1, ":0") for key in keys]
        return at.remark(f"{name!r} is an operation, and what is fed is its output", f"say {name + ':0'!r}", changes)
    new = _known(graph, name)
    if not new or len(texts) != 1:
        return None
    is_tensor = ":" in name or "get_tensor" in at.written(at.node)
    others = [node for call in at.calls("get_tensor_by_name") for node in call.args[:1] if isinstance(
        node, ast.Constant) and isinstance(node.value, str) and (":" not in node.value or node.value.partition(
            ":")[0] not in graph.operations) and node not in texts and _known(graph, node.value)]
    changes = [(at.range(node)[0] + 1, at.range(node)[1] - 1, _known(graph, str(node.value))) for node in others]
    if not is_tensor or "get_operation" in at.written(at.node):
        new = new.partition(":")[0]
    changes.append((at.range(texts[0])[0] + 1, at.range(texts[0])[1] - 1, new))
    made = graph.operations[new.partition(":")[0]]
    return at.remark(f"no tensor is called {name!r}: {new!r}{at_line(place_of(made))} is", f"{new!r} in place of it",
                     changes)


def _known(graph: Graph, name: str) -> str:
    """The output that a name means: of a layer what others take, else of the operation of the most like name."""
    op, _, number = name.partition(":")
    inside = [each for each in graph.operations.values() if each.name.startswith(f"{op}/") and each.gradient_of is None]
    results = [each for each in inside if each.outputs and each.inputs and any(
        c not in inside for c in each.outputs[0]._consumers) and each.name.count("/") == op.count("/") + 1
        and not each.name.endswith("/read")] or [each for each in inside if each.inputs][-1:]
    near = [results[-1].name] if results else [op] if op in graph.operations else [*closest(op, [
        each.name for each in graph.operations.values() if each.gradient_of is None and each.outputs])][:1]
    return f"{near[0]}:{number or 0}" if near else ""


def of_another_graph(at: RaisedAt) -> Remark | None:
    """A session, or an op, of a graph that does not have what it is to take: by a reset, or beside a graph's block."""
    scope = at.scope(at.node)
    resets = [call for call in at.calls("reset_default_graph") if at.scope(call) is scope
              and call.lineno < at.node.lineno]
    named = {name: value for name, value in at.names.items() if isinstance(value, Graph) and value.operations}
    things = [value for node in ast.walk(at.node) if (value := at.thing(node)) is not None]
    owner = next((name for name, value in named.items() if any(each.graph is value for each in things)),
                 [*named][0] if len(named) == 1 else "")
    sessions = [call for call in at.calls("Session", "InteractiveSession") if call.lineno <= at.node.lineno
                and word_of(call, "graph") is None]
    session = at.session()
    if owner and sessions and session is not None and session.graph is not named[owner]:
        return at.remark(f"the session is of the default graph, and the model is in {owner}", f"graph={owner}", [
            at.one_more(sessions[-1], f"graph={owner}")], sessions[-1])
    of: list[Any] = [getattr(each, "op", each) for each in things]
    lost = [op for op in of if op.graph is not at.graph and op.site is not None]
    if resets and lost and lost[0].site.line < resets[-1].lineno:
        return at.remark(f"{lost[0].name}{at_line(place_of(lost[0]))} was made before the graph was reset", "reset it "
                         "before anything is made, or not at all", [at.gone(at.statement(resets[-1]))], resets[-1])
    return _beside_the_block(at, things)


def _beside_the_block(at: RaisedAt, things: list[Any]) -> Remark | None:
    """What was made in front of a graph's block, and is used there, is made in it."""
    block: Any = next((each for each in at.around(at.node) if isinstance(each, ast.With) and any(
        called(item.context_expr) == "as_default" for item in each.items)), None)
    if block is None:
        return None
    outside = {op for graph in {each.graph for each in things} for op in graph.operations.values()
               if op.site is not None and op.site.file == at.file and op.site.line < block.lineno}
    lines = {op.site.line for op in outside if op.site is not None}
    moved = [each for each in ast.walk(at.scope(block)) if isinstance(each, ast.Assign) and each.lineno in lines]
    if not moved:
        return None
    names = " and ".join(at.written(each.targets[0]) for each in moved)
    return at.remark(f"{names} {'is' if len(moved) == 1 else 'are'} made in front of the graph's block at line "
                     f"{block.lineno}, so in another graph", f"make {names} in that block", [
        at.before(block.body[0], *map(at.written, moved)), *map(at.gone, moved)], moved[0])


def made_in_a_loop(at: RaisedAt) -> Remark | None:
    """Variables of a loop's or a condition's function are made in front of that."""
    function = at.scope(at.node)
    if not isinstance(function, ast.FunctionDef):
        return None
    own = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)} | {
        each.arg for each in function.args.args}
    moved = [each for each in function.body if isinstance(each, ast.Assign) and any(
        called(node) in ("Variable", "get_variable") for node in ast.walk(each))
        and not own & {node.id for node in ast.walk(each.value) if isinstance(node, ast.Name)}]
    if not any(is_within(at.node, each) for each in moved):
        return None
    changes: list[Change] = [at.before(function, *map(at.written, moved)), *map(at.gone, moved)]
    return at.remark(f"{at.written(moved[0].targets[0])} is made in {function.name}, which a loop or condition calls",
                     f"make it in front of {function.name}", changes, moved[0])


def no_variables(at: RaisedAt) -> Remark | None:
    """A var_list that a filter of names leaves empty."""
    graph = _graph(at)
    names = [t.op.name if hasattr(t, "op") else str(t) for t in graph.collected.get("trainable_variables", ())]
    tops = sorted({name.rpartition("/")[0].partition("/")[0] for name in names} - {""})
    listed = next(iter(given(at.node, None, "var_list")), at.node.args[-1])
    made = [node.value for node in at.all(ast.Assign) if any(
        at.written(target).rpartition(".")[2] == at.written(listed).rpartition(".")[2] for target in node.targets)]
    texts = [node for part in (made or [listed]) for node in ast.walk(part) if isinstance(node, ast.Constant)]
    asked: list[ast.expr] = [*at.calls("startswith"), *at.all(ast.Compare)]
    asked = [*(each for each in asked if ".name" in at.written(each)), *at.calls("trainable_variables",
                                                                                "get_collection")]
    alike = [node for each in asked for node in ast.walk(each) if isinstance(node, ast.Constant)]
    near = {node: top for node in (*texts, *alike) if isinstance(node.value, str) and node.value and not any(
        node.value in name for name in names) and (top := _top_like(node.value.strip("_/:").lower(), tops))}
    first = next((node for node in texts if node in near), None)
    if first is None:
        return None
    changes = [(*at.range(node), at.written(node)[-1] + top + at.written(node)[-1]) for node, top in near.items()]
    return at.remark(f"no variable's name has {first.value!r}: those of the loss are in {', '.join(tops)}",
                     f"{near[first]!r} in place of {first.value!r}", changes, first)


def _top_like(stem: str, tops: list[str]) -> str:
    """The one scope that begins as a text, or the other way, has it inside or is like it; "" for none."""
    found = [top for top in tops if top.lower().startswith(stem) or stem.startswith(top.lower())] or [
        top for top in tops if stem in top.lower()]
    found = found or closest(stem, tops)[:1]
    return found[0] if len(found) == 1 else ""
