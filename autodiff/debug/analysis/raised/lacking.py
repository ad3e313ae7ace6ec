"""Errors of what is not there: a function's result, summaries to merge, variables of a checkpoint."""
from __future__ import annotations

import ast
import re

from ...facts.roles import at_line, place_of
from ..advice import Remark
from ..scripts.calls import called
from ..scripts.changes import Change
from .raised_at import RaisedAt

_TAKERS = ("compile", "Lambda", "add_loss", "add_metric", "map", "map_fn", "scan", "foldl", "while_loop", "cond")


def no_return(at: RaisedAt) -> Remark | None:
    """What a function of the script computes and does not return: one that is called, or given to what calls it."""
    statement = at.statement(at.node)
    named = at.assigned(*_none_in(at, statement))
    for node in (node for node in at.all(ast.Assign) if node is statement or node in named):
        function = _without_return(at, called(node.value))
        if function is None:
            continue
        last = function.body[-1]
        made = {at.written(target) for each in ast.walk(function) if isinstance(each, ast.Assign)
                for target in each.targets}
        wanted = [at.written(each) for each in getattr(node.targets[0], "elts", [node.targets[0]])]
        text = ", ".join(wanted) if made.issuperset(wanted) else at.written(last.targets[0]) if isinstance(
            last, ast.Assign) and len(wanted) == 1 else ""
        if text:
            return at.remark(f"{function.name} returns nothing, and {at.written(node.targets[0])} is None",
                             f"return {text} at its end", [at.after(last, f"return {text}")], last)
    given = {each.id for call in at.calls(*_TAKERS) for each in ast.walk(call) if isinstance(each, ast.Name)}
    for function in (found for name in sorted(given) if (found := _without_return(at, name)) is not None):
        last = function.body[-1]
        if isinstance(last, ast.Expr):
            return at.remark(f"{function.name} returns nothing", f"return {at.written(last)}", [
                (*at.range(last), f"return {at.written(last)}")], last)
        if isinstance(last, ast.Assign):
            text = at.written(last.targets[0])
            return at.remark(f"{function.name} returns nothing", f"return {text} at its end", [
                at.after(last, f"return {text}")], last)
    return None


def _without_return(at: RaisedAt, name: str) -> ast.FunctionDef | None:
    """The one function of a name in the file, if nothing in it returns."""
    found = [each for each in at.all(ast.FunctionDef) if each.name == name]
    return found[0] if len(found) == 1 and not any(isinstance(each, (ast.Return, ast.Yield)) and at.scope(
        each) is found[0] for each in ast.walk(found[0])) else None


def _none_in(at: RaisedAt, node: ast.AST) -> list[str]:
    """The names in a node that are None there."""
    return [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and at.names.get(each.id, at) is None]


def no_summaries(at: RaisedAt) -> Remark | None:
    """A merged summary where there was none to merge."""
    made = next((node for node in at.assigned(*_none_in(at, at.node))
                 if called(node.value) in ("merge_all", "merge_all_summaries")), None)
    loss = next((at.written(given) for call in at.calls("minimize", "compute_gradients") for given in call.args[:1]
                 if isinstance(given, (ast.Name, ast.Attribute))), "")
    if made is None or not loss:
        return None
    line = f'{at.module()}.summary.scalar("loss", {loss})'
    name = at.written(made.targets[0])
    return at.remark(f"{name} is None: no summary was made before line {made.lineno}", f"{line} before it",
                     [at.before(made, line)], made)


def an_optimizer(at: RaisedAt) -> Remark | None:
    """An optimizer that is run, in place of what its minimize gave."""
    fetched = next(node for node in ast.walk(at.node.args[0]) if hasattr(at.value(node), "apply_gradients"))
    made = [node for node in at.all(ast.Assign) if called(node.value) in ("minimize", "apply_gradients")]
    name = next((text for node in made if at.thing(node.targets[0]) is not None and (
        text := at.spelling(at.thing(node.targets[0])))), "")
    return at.in_place(f"{at.written(fetched)} is an optimizer, and no operation: {name} is", fetched, name
                       ) if name else None


def of_a_checkpoint(at: RaisedAt) -> Remark | None:
    """Variables that a checkpoint lacks, or has of another shape: the others are restored."""
    session, path = map(at.written, at.node.args[:2])
    name = (re.findall(r"Key (\S+) not found", at.said) or [""])[0]
    saved = [call for call in at.calls("save") if call.lineno < at.node.lineno]
    if re.search(r"_\d+(/|$)", name) and f"{re.sub(r'_[0-9]+(?=/|$)', '', name)}" in at.said.partition("it holds")[2]:
        blocks = [node for node in ast.walk(at.scope(at.node)) if isinstance(node, ast.With) and any(
            each in ast.walk(node) for each in saved)]
        if blocks:
            line = f"{at.module()}.reset_default_graph()"
            return at.remark(f"{name} is there for the second time, the first is still in the graph", f"{line} before "
                             "the model is made anew", [at.after(blocks[0], line)], blocks[0])
    kept = "saved.get(v.op.name) == v.shape.as_list()"
    lines = [f"saved = {at.module()}.train.load_checkpoint({path}).get_variable_to_shape_map()"]
    some = f"[v for v in {at.module()}.global_variables() if {kept}]"
    new = f"{at.module()}.train.Saver({some}).restore({session}, {path})"
    if not any(call.lineno < at.node.lineno and at.scope(call) is at.scope(at.node) for call in at.calls(
            "global_variables_initializer")):
        lines.append(f"{session}.run({at.module()}.global_variables_initializer())")
    changes: list[Change] = [at.before(at.statement(at.node), *lines), (*at.range(at.node), new)]
    op = at.graph.operations[name] if name in at.graph.operations else None
    what = f"{name}{at_line(place_of(op))} is not in the checkpoint" if op is not None else (
        "a variable has another shape in the checkpoint")
    return at.remark(what, "restore all that fit, and let the initializer give the others their values", changes)
