"""Losses in other words: the logarithm of a softmax made elsewhere as log_softmax, a mean of what may be nothing as the
sum over the count."""
from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from ...core.graph import Graph, Operation
from ...core.traversal import users_of
from ...debug.analysis.advice import advice_of
from ...debug.analysis.edits.in_graph import squashed
from ...debug.facts.roles import place_of
from ..new_calls import calls_on, given_too
from ..new_lines import NewLines, last_name, nodes_on, replaced, tight
from ..script_lines import on_lines, parsed

_CHOICES = ("argmax", "max", "topk", "argsort", "sort")  # what is the same of logarithms
_ARRANGE = ("GatherV2", "GatherNd", "Reshape", "Identity", "Squeeze", "StridedSlice", "Slice", "Transpose",
            "ExpandDims")
_PICKS = ("gather", "squeeze", "flatten", "take_along_dim", "reshape", "view")
_OF_CLASSES = ("cross_entropy", "nll_loss", "CrossEntropyLoss", "NLLLoss")
_LOSSES = (*_OF_CLASSES, *"mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy MSELoss L1Loss SmoothL1Loss "
           "HuberLoss BCELoss BCEWithLogitsLoss binary_cross_entropy_with_logits".split())
_MEANS = ("binary_cross_entropy", "binary_cross_entropy_with_logits", "mse_loss", "l1_loss", "smooth_l1_loss",
          "huber_loss")
_NEW = {"Softmax": "LogSoftmax", "softmax": "log_softmax", "log_softmax": "log_softmax"}


def in_logarithms(graph: Graph, log: Operation) -> NewLines:
    """A logarithm of a softmax that another line makes, where nothing else in the graph uses that softmax."""
    (made, *_), at = squashed(log), place_of(log)
    line = _line_of(graph, made) if made is not None else None
    if made is None or at is None or line is None or made.type != "Softmax" or line[0] != at.file:
        return {}
    alike = [op for op in graph.operations.values() if op.type == "Softmax" and op.gradient_of is None
             and _line_of(graph, op) == line]
    return logarithms_at(*line, at.line) if all(place_of(each) == at for op in alike for each in _takers(op)) else {}


def _line_of(graph: Graph, op: Operation) -> tuple[str, int] | None:
    """The line that made the layer of an op, or else the op."""
    at = place_of(op)
    found = re.match(r"Softmax made at (\S+):(\d+)$", advice_of(graph).makers.get(op.name, "").partition("\n")[0])
    if at is None or found is None:
        return None if at is None else (at.file, at.line)
    return (at.file, int(found[2])) if at.file.endswith(found[1]) else None


def _takers(op: Operation) -> Iterator[Operation]:
    """The ops that use what an op gives, past those that only pick or arrange."""
    for user in users_of(op):
        if user.type in _ARRANGE:
            yield from _takers(user)
        else:
            yield user


def logarithms_at(file: str, made: int, line: int) -> NewLines:
    """The softmax on the line `made` as log_softmax, and `log(p)` on another as p; {} where others want the shares."""
    logs = [(node, given) for node in nodes_on(file, line) if (given := _logged(node)) is not None]
    softs = [*calls_on(file, made, "Softmax", "softmax")]
    tree = parsed(file)
    if tree is None or len(logs) != 1 or len(softs) != 1 or line == made:
        return {}
    (log, given), function = logs[0], softs[0].func
    bases = _given_for(tree, _base(given), line)
    if not bases or not all(_is_theirs_alone(tree, base, log, {id(each) for each in bases}) for base in bases):
        return {}
    text = ast.unparse(function)
    new = text[:len(text) - len(last_name(function))] + _NEW[last_name(function)]
    first, second = replaced(file, function, new), replaced(file, log, ast.unparse(given))
    return {**first, **second} if first and second else {}


def _logged(node: ast.AST) -> ast.expr | None:
    """What a call takes the logarithm of; None of anything else."""
    if not isinstance(node, ast.Call) or last_name(node.func) != "log":
        return None
    if len(node.args) == 1 and ast.unparse(node.func) == "torch.log":
        return node.args[0]
    return node.func.value if isinstance(node.func, ast.Attribute) and not node.args else None


def _base(node: ast.expr) -> ast.Name | ast.Call | None:
    """The name, or the call of a model, that elements are picked of."""
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _PICKS:
            node = node.func.value
        else:
            return node if isinstance(node, ast.Call) else None
    return node


def _given_for(tree: ast.Module, base: ast.Name | ast.Call | None, line: int) -> list[ast.Name | ast.Call]:
    """What is logarithmed; of an argument of the function that a line is in what its calls give for it, with its uses
    there. [] if that is not sure."""
    inside = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.lineno < line <= (
        node.end_lineno or 0)]
    names = [each.arg for each in inside[-1].args.args] if inside else []
    if not isinstance(base, ast.Name) or base.id not in names:
        return [] if base is None else [base]
    is_method, place = names[0] in ("self", "cls"), names.index(base.id)
    owners = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and inside[-1] in node.body]
    called = {inside[-1].name, *(last_name(target) for node in ast.walk(tree) if isinstance(node, ast.Assign) and any(
        isinstance(each, ast.Call) and last_name(each.func) in owners for each in (node.value, *_parts(node.value)))
        for target in node.targets for target in (target, *_parts(target)))}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and last_name(node.func) in called]
    given = [_base(each) for call in calls for each in (*call.args[place - is_method:][:1], *(
        word.value for word in call.keywords if word.arg == base.id))]
    found = [each for each in given if each is not None]
    return found if len(found) == len(calls) else []


def _parts(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else []


def _is_theirs_alone(tree: ast.Module, base: ast.Name | ast.Call, log: ast.AST, handed: Collection[int]) -> bool:
    """Whether nothing but the logarithm, and choices of the largest, uses what the same call gives. handed: nodes that
    are given to the function with the logarithm."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    calls = {ast.unparse(base.func)} if isinstance(base, ast.Call) else {
        ast.unparse(node.value.func) for node in ast.walk(tree) if isinstance(node, ast.Assign) and isinstance(
            node.value, ast.Call) and base.id in map(ast.unparse, node.targets)}
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) in calls]
    kept = {ast.unparse(target) for node in uses if isinstance(parent := parents[node], ast.Assign)
            for target in parent.targets} | ({base.id} if isinstance(base, ast.Name) else set())
    read = [node for node in ast.walk(tree) if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(
        node.ctx, ast.Load) and ast.unparse(node) in kept]
    given = [node for node in uses if not isinstance(parents[node], (ast.Assign, ast.Return))]
    return bool(calls) and all(id(node) in handed or _is_choice(node, parents, log) for node in (*read, *given))


def _is_choice(node: ast.AST, parents: dict[ast.AST, ast.AST], log: ast.AST) -> bool:
    above: Iterator[ast.AST] = _above(node, parents)
    first = next(above, None)
    if isinstance(first, ast.Attribute) and first.attr in ("shape", "size", *_CHOICES):
        return True
    if isinstance(first, ast.Call) and node in first.args[:1] and last_name(first.func) in _CHOICES:
        return True
    return first is log or log in above


def _above(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[ast.AST]:
    while node in parents and not isinstance(node, ast.stmt):
        node = parents[node]
        yield node


def over_count(file: str, line: int) -> Iterator[NewLines]:
    """A mean on a line as a sum over a count; of a loss that is a module, where that is made and called once, too."""
    for call in calls_on(file, line):
        is_value = getattr(on_lines(file).get(line), "value", None) is call
        if last_name(call.func) == "mean" and not call.keywords:
            new = _summed(call)
            yield replaced(file, call, new if is_value else f"({new})") if new else {}
            continue
        made = call if last_name(call.func) in _LOSSES else _made(file, call)
        words = {word.arg: ast.unparse(word.value) for word in made.keywords} if made is not None else {}
        given = [*call.args, *(word.value for word in call.keywords if word.arg == "target")][1:2]
        if made is None or not given or made is not call and made.args or {"reduction", "weight"} & words.keys():
            continue
        target = tight(given[0], ast.unparse(given[0]))
        count = (f"({target} != {words.get('ignore_index', '-100')}).sum().clamp(min=1)" if last_name(
            made.func) in _OF_CLASSES else f"max({target}.numel(), 1)")
        told = [*map(ast.unparse, [*made.args, *made.keywords]), 'reduction="sum"']
        summed = f"{ast.unparse(made.func)}({', '.join(told)})"
        mean = f"{summed if made is call else '{}'} / {count}"
        here = replaced(file, call, mean if is_value else f"({mean})")
        yield here if made is call else {**here, **replaced(file, made, summed)}


def _made(file: str, call: ast.Call) -> ast.Call | None:
    """Where a loss that is a module is made, if it is called at no other line."""
    name, nodes = ast.unparse(call.func), {part for node in on_lines(file).values() for part in ast.walk(node)}
    made = [node.value for node in nodes if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
            and ast.unparse(node.targets[0]) == name and last_name(node.value.func) in _LOSSES]
    calls = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == name]
    return made[0] if len(made) == len(calls) == 1 else None


def _summed(mean: ast.Call) -> str:
    """`x.sum() / max(x.numel(), 1)` for the mean of x; the count is that of what was chosen, where x is computed."""
    owner = getattr(mean.func, "value", None)
    is_function = isinstance(owner, ast.Name) and owner.id == "torch"
    x = mean.args[0] if is_function and mean.args else owner
    if x is None or bool(mean.args) != is_function:
        return ""
    chosen = next((node for node in ast.walk(x) if isinstance(node, ast.Subscript) and not any(isinstance(
        part, (ast.Slice, ast.Constant)) for part in ast.walk(node.slice))), x)
    total, counted = (tight(node, ast.unparse(node)) for node in (x, chosen))
    return f"{total}.sum() / max({counted}.numel(), 1)"


def summed_too(mean: Operation | None) -> Iterator[NewLines]:
    """The sum in place of a mean beside another sum, where it is over the numbers of examples too."""
    if mean is not None and mean.site is not None and len(mean.inputs[0].dims or ()) > 1:
        file, line = mean.site.file, mean.site.line
        yield given_too(file, line, _MEANS, 'reduction="sum"', unless=("reduction",))
        yield from (replaced(file, call.func, f"{ast.unparse(call.func.value)}.sum") for call in nodes_on(file, line)
                    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "mean")
