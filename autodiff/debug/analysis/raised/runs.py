"""Errors of runs too early or too late: nothing is initialized, a dataset is at its end, a session is closed."""
from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from ....core.graph import Operation
from ....runtime.session import Session
from ...facts.roles import ASSIGNS, at_line, place_of
from ..advice import Remark
from ..scripts.calls import owner_of, word_of
from ..scripts.changes import Change
from ..scripts.parsed import is_within
from .raised_at import RaisedAt

_ALL = ("global_variables_initializer", "initialize_all_variables")
_RUNS = ("run", "eval", "restore", "save")


def uninitialized(at: RaisedAt) -> Remark | None:
    """A variable that is read before its initializer was run, or that one made earlier does not have."""
    graph, name = at.error.op.graph, (re.search(r"value (\S+)|variable (\S+) from", at.said) or [""])[0].split()[-1 if (
        "value" in at.said) else 1]
    made = graph.operations[name]
    if any(each.op.name == name for each in graph.collected.get("local_variables", ())):
        return _local(at, made)
    initializers = [op for op in graph.operations.values() if op.type == "NoOp" and op.waits_for
                    and {*ASSIGNS} >= {each.type for each in op.waits_for}]
    run = [(op, call) for op in reversed(initializers) for call in _runs_of(at, op)][:1]
    has_it = any(each.inputs[0].op is made for op, _ in run for each in op.waits_for)
    if run and not has_it:
        return _made_before(at, made, *run[0])
    ready = next((op for op in reversed(initializers) if any(each.inputs[0].op is made for each in op.waits_for)), None)
    text = at.spelling(ready) if ready is not None else ""
    return _run_first(at, made, text or f"{at.module()}.global_variables_initializer()",
                      f"no initializer of {name} was run before")


def _runs_of(at: RaisedAt, initializer: Operation) -> list[ast.Call]:
    """The calls that run an initializer: by its name, or where it is made."""
    name, made = at.spelling(initializer), at.spanned(initializer)
    return [call for call in at.calls("run") if any(
        given in made or isinstance(given, (ast.Name, ast.Attribute)) and name and at.written(given).endswith(
            name.rpartition(".")[2]) for part in _run_by(call) for given in ast.walk(part))
        and not is_within(call, at.node)]


def _run_by(call: ast.Call) -> list[ast.expr]:
    """What a call of `run` may run: what it is given, and what it is a method of."""
    return [*call.args[:1], owner_of(call) or call]


def _made_before(at: RaisedAt, made: Operation, initializer: Operation, call: ast.Call) -> Remark | None:
    """What was run is moved behind what makes the variable, or made where it is run."""
    there = at_line(place_of(initializer))
    said = f"the initializer{there} was made before {made.name}{at_line(place_of(made))}, which so has no value"
    run, line = at.statement(call), _line_in(at, made, at.scope(call))
    creates = next((at.beside_of(node, run) for node in ast.walk(at.scope(call)) if isinstance(node, ast.stmt)
                    and node.lineno == line), None) if line else None
    if line and line < call.lineno and not any(node in at.spanned(initializer) for node in ast.walk(call)):
        new = f"{at.module()}.global_variables_initializer()"
        changes = [(*at.range(each), new) for each in _run_by(call) if at.value(each) is initializer][:1]
        return at.remark(said, f"make it where it is run: {new}", changes, call)
    if creates is None or creates.lineno < run.lineno:
        return _run_first(at, made, "", said)
    end = getattr(creates, "end_lineno", 0)
    if any(run.end_lineno < each.lineno <= end for each in at.calls(*_RUNS)):
        if above := _made_above(at, run, creates):
            names = " and ".join(f"line {each.lineno}" for each in above)
            return at.remark(said, f"make it before that, {names} before line {run.lineno}", [
                at.before(run, *map(at.written, above)), *(_gone(at, each) for each in above)], run)
        changes = [at.after(creates, at.run(_only(at, at), at.session()))]
        return at.remark(said, "run that of the new ones too, behind what makes them", changes, creates)
    return at.remark(said, f"run it behind line {end}, when all variables are there", [
        at.gone(run), at.after(creates, at.written(run))], run)


def _made_above(at: RaisedAt, run: Any, creates: Any) -> list[ast.stmt]:
    """The statements behind a run that what makes a variable is made of, itself the last, where they may as well stand
    in front of the run: in one block with it, no runs, of nothing that others there make of the graph; else []."""
    block = next((each for _, each in ast.iter_fields(at._around[run]) if isinstance(each, list) and run in each), [])
    if creates not in block:
        return []
    between = block[block.index(run) + 1:block.index(creates)]
    moved: list[Any] = [creates]
    wanted = _named(creates, ast.Load)
    for each in reversed(between):
        if _named(each, ast.Store) & wanted:
            moved.insert(0, each)
            wanted |= _named(each, ast.Load)
    made = set().union(*(_named(each, ast.Store) for each in moved))
    stay = [each for each in between if each not in moved]
    is_sure = all(isinstance(each, (ast.Assign, ast.Expr)) and "\n" not in at.written(each) and not any(
        is_within(call, each) for call in at.calls(*_RUNS)) for each in moved)
    return moved if is_sure and not made & _named(run, ast.Load) and not any(
        (made | {at.module()}) & _named(each, ast.Load, ast.Store) for each in stay) else []


def _gone(at: RaisedAt, statement: ast.AST) -> Change:
    """Nothing in place of a statement, nor of the blank line behind it where there is one before it too."""
    start, end, new = at.gone(statement)
    return start, end + (at.text[:start].endswith("\n\n") and at.text.startswith("\n", end)), new


def _named(node: ast.AST, *contexts: type[ast.expr_context]) -> set[str]:
    """The names that a statement reads or gives something to."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, contexts)}


def _only(at: RaisedAt, frame: RaisedAt) -> str:
    """The initializer of what has no value yet, as a frame spells it."""
    asked = frame.run(f"{at.module()}.is_variable_initialized(v)", at.session())
    return f"{at.module()}.variables_initializer([v for v in {at.module()}.global_variables() if not {asked}])"


def _line_in(at: RaisedAt, made: Operation, scope: ast.AST) -> int:
    """The line of a function from which a variable was made; 0 for none."""
    name = getattr(scope, "name", "<module>")
    return next((site.line for site in reversed(made.traceback) if site.file == at.file and site.function == name), 0)


def _run_first(at: RaisedAt, made: Operation, text: str, said: str) -> Remark:
    """An initializer that is run once, before what raised. text: it; "" for one of what has no value yet."""
    frame, statement = next(_places(at, made))
    text = text or _only(at, frame)
    is_default = at.thing(owner_of(at.node)) is not None  # as of an eval
    line = f"{text}.run()" if is_default else frame.run(text, at.session())
    if not is_default and any(word_of(call, "graph") for call in at.calls("Session")):
        name = line.partition(".run(")[0]  # whose graph may be the default one elsewhere only
        line = f'{name}.run([v.initializer for v in {name}.graph.get_collection("variables")])'
    return at.remark(said, f"{line} before line {statement.lineno}", [frame.before(statement, line)], statement)


def _places(at: RaisedAt, made: Operation | None) -> Iterator[tuple[RaisedAt, Any]]:
    """Frames, and statements of these, before which all that a run needs is there; the outermost first."""
    session, handlers = at.session(), [node for node in at.around(at.node) if isinstance(node, ast.Try)]
    for frame in at.callers():
        statement: Any = frame.out_of_loops(frame.node, within=ast.Try if handlers else ())
        if handlers and isinstance(frame.node, ast.AST) and frame is at:
            loops = [each for each in frame.around(handlers[0]) if isinstance(each, (ast.For, ast.While))]
            statement = loops[0] if loops and isinstance(loops[0], ast.While) else frame.statement(frame.node)
        line = _line_in(frame, made, frame.scope(frame.node)) if made is not None else 0
        is_inside = statement.lineno <= line <= statement.end_lineno
        if frame.outer and frame is not at and is_inside or frame is not at and session is not None and not (
                frame.spelling(session)):
            continue
        yield frame, statement


def _local(at: RaisedAt, made: Operation) -> Remark | None:
    """What metrics count in, which the initializer of all others leaves out."""
    local = at.tensorflow("local_variables_initializer")
    said = f"{made.name}{at_line(place_of(made))} is a local variable, as metrics have: no initializer of those was run"
    calls = at.calls(*_ALL)
    if len(calls) == 1 and 0 < _line_in(at, made, at.scope(calls[0])) < calls[0].lineno:
        text = at.tensorflow("group", calls[0], local)
        return at.remark(said, f"{text} in place of {at.written(calls[0])}", [(*at.range(calls[0]), text)], calls[0])
    return _run_first(at, made, local, said)


def not_begun(at: RaisedAt) -> Remark | None:
    """An iterator of a dataset that is to be initialized."""
    iterator = at.error.op.attrs["function"].iterator
    name = at.spelling(iterator)
    text = f"{name}.initializer" if name and iterator.initializer is not None else ""
    if not text:
        return None
    behind = iterator.initializer.inputs
    if any(t.op.type == "Placeholder" for t in behind):
        return None  # which its initializer is to be fed
    return _run_first(at, at.error.op, text, f"the iterator {name} was never initialized")


def at_its_end(at: RaisedAt) -> Remark | None:
    """A dataset with fewer elements than there are steps."""
    iterator = at.error.op.attrs["function"].iterator
    calls = at.calls("make_one_shot_iterator", "make_initializable_iterator", "make_initializer")
    said = f"the dataset{at_line(place_of(at.error.op))} is at its end after {iterator.given} elements"
    endless = next((each for each in at.around(at.node) if isinstance(each, ast.While) and getattr(
        each.test, "value", None)), None)
    if endless is not None and not any(isinstance(each, ast.Break) for each in ast.walk(endless)):
        return at.remark(said, f"end the loop there: except {at.module()}.errors.OutOfRangeError: pass", [at.wrapped(
            endless, endless, "try:", [f"except {at.module()}.errors.OutOfRangeError:", "    pass"])], endless)
    made = [call for call in calls if len(calls) == 1 or at.value(at.statement(call).targets[0]) is iterator]
    call = made[0] if len(made) == 1 else None
    if call is None or not isinstance(call.func, ast.Attribute):
        return None
    dataset = call.args[0] if call.args else call.func.value
    return at.remark(said, f"{at.beside(dataset)}.repeat() at line {call.lineno}", [
        (*at.range(dataset), f"{at.beside(dataset)}.repeat()")], call)


def closed(at: RaisedAt) -> Remark | None:
    """A run behind the session's with block, or behind its close."""
    session = at.session()
    name = at.spelling(session) if session is not None else ""
    scope = at.scope(at.node)
    ends = [node for node in ast.walk(scope) if isinstance(node, ast.With) and any(
        name and getattr(item.optional_vars, "id", "") == name for item in node.items)
        and (node.end_lineno or 0) < at.node.lineno]
    closes = [at.statement(call) for call in at.calls("close") if at.value(owner_of(call)) is session
              and at.scope(call) is scope and call.lineno < at.node.lineno]
    if closes:
        last = at.statement([call for call in at.calls(*_RUNS) if at.scope(call) is scope][-1])
        last = at.out_of_loops(last)
        changes: list[Change] = [at.gone(closes[-1]), at.after(last, at.written(closes[-1]))]
        return at.remark(f"{name} was closed at line {closes[-1].lineno}", "close it behind the last run",
                         changes, closes[-1])
    if not ends:
        return None
    block, first = ends[-1], at.beside_of(at.node, ends[-1])
    siblings = next(each for _, each in ast.iter_fields(at._around[block]) if isinstance(each, list) and block in each)
    behind = siblings[siblings.index(block) + 1:]
    last = next(each for each in reversed(behind) if each is first or name in {
        node.id for node in ast.walk(each) if isinstance(node, ast.Name)})
    return at.remark(f"the with block at line {block.lineno} has closed {name} before", f"put lines {behind[0].lineno} "
                     f"to {last.end_lineno} into that block", [at.wrapped(behind[0], last, "")], at.node)


def no_session(at: RaisedAt) -> Remark | None:
    """An eval or run of a tensor's or operation's own, without a session."""
    name = next((name for name, value in at.names.items() if isinstance(value, Session)), "")
    calls = [call for call in at.calls("eval", "run") if at.thing(owner_of(call)) is not None
             and word_of(call, "session") is None]
    return at.remark(f"no session is the default one: {name} is not, outside of a with block", f"session={name}", [
        at.one_more(call, f"session={name}") for call in {*calls, at.node}]) if name else None


def tensor_fed(at: RaisedAt) -> Remark | None:
    """Tensors that are fed, where numbers are wanted: these are fetched first."""
    used = {at.written(each) for each in ast.walk(at.node) if isinstance(each, ast.Name)}
    dicts = [node for node in ast.walk(at.node) if isinstance(node, ast.Dict)] or [
        node.value for node in ast.walk(at.scope(at.node)) if isinstance(node, ast.Assign) and isinstance(
            node.value, ast.Dict) and used & {*map(at.written, node.targets)}]
    fed = [value for each in dicts for value in each.values if at.tensor(value) is not None]
    names = [f"{at.written(value).replace('.', '_')}_value" for value in fed]
    if not fed or not all(each.isidentifier() for each in names):
        return None
    tensors = ", ".join(map(at.written, fed))
    first, run = at.out_of_loops(at.node), at.run(f"[{tensors}]" if len(fed) > 1 else tensors, at.session())
    if {*map(at.written, fed)} <= {node.id for node in ast.walk(first) if isinstance(node, ast.Name)
                                   and isinstance(node.ctx, ast.Store)}:  # then it is what was fetched
        return at.remark(f"{tensors} is a tensor before the first run, and numbers are fed", f"{tensors} = {run}", [
            at.before(first, f"{tensors} = {run}")], first)
    line = f"{', '.join(names)} = {run}"
    return at.remark(f"{tensors} {'is a tensor' if len(fed) == 1 else 'are tensors'}, and numbers are fed", line, [
        at.before(at.statement(fed[0]), line), *((*at.range(value), name) for value, name in zip(fed, names))])
