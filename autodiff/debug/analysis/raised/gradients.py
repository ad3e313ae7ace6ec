"""Errors of gradients that are None: what cuts them, or whose they are, and the line by which they flow."""
from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ....core.constant_value import static_value
from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, descendants, past
from ....gradients.blocked_reasons import GradientCall
from ...facts.graph_lists import calls_of, trainable_tensors
from ...facts.roles import PLACEHOLDERS, STORES, VARIABLES, at_line, place_of
from ..advice import Remark
from ..edits.in_graph import alike
from ..scripts.calls import called, given, owner_of, words_of
from ..scripts.changes import Change
from ..scripts.expressions import number_of
from ..scripts.parsed import is_within
from ..scripts.straight_through import straight_past
from ..scripts.thrown_away import never_read
from ..why import why_none
from .arguments import by_tensorflow
from .left_out import of_copies_kept, of_the_other, without_none
from .raised_at import RaisedAt

_NAMED = 8  # variables that an answer names
_STEPS = ("Round", "Rint", "Floor", "Ceil", "Sign")
_COMPARED = ("Greater", "GreaterEqual", "Less", "LessEqual")
_PASSES = ("Identity", "StridedSlice", "Squeeze", "Reshape", "ExpandDims")
_CUTS = ("StridedSlice", "Split")
_SHAPES = ("Reshape", "Transpose", "Squeeze", "ExpandDims")
_READS = ("Identity", "ReadVariableOp")
_SQUASHED = ("Softmax", "Sigmoid")
_SIDES = ("labels", "onehot_labels", "multi_class_labels"), ("logits",)  # of a cross entropy, in order


def without(at: RaisedAt) -> Remark | None:
    """Why the first variable has no gradient, where an optimizer or the script's own lines got none."""
    call = next((each for each in reversed(calls_of(at.graph)) if {each.found.get(x) for x in each.xs} & {None}), None)
    losses = [t for each in given(at.node, 0, "loss") if (t := at.tensor(each)) is not None]
    y = call.ys[0] if call is not None else next(iter(losses), None)
    if y is None:
        return None
    xs = trainable_tensors(at.graph) if call is None else [x for x in call.xs if call.found.get(x) is None]
    found = why_none(y, xs[0])
    cuts = [at.graph.operations[cut.op] for cut in found.cuts if cut.op in at.graph.operations]
    if found.lines:
        names = ", ".join(x.name for x in xs[:_NAMED]) + f" and {len(xs) - _NAMED} more" * (len(xs) > _NAMED)
        return Remark(_spelled(at, f"{names} {'have' if xs[1:] else 'has'} no gradient: {found.text}", y, *xs), None,
                      found.remedy, found.lines)
    for changes, remedy, cause in _edits(at, y, xs, call, cuts):
        if changes:
            return Remark(_spelled(at, f"{xs[0].name} has no gradient: {cause or found.text}", y, xs[0]),
                          None if found.cuts or cause else found.place, remedy, at.rows(changes, at.file))
    return None


def _spelled(at: RaisedAt, text: str, *tensors: Tensor) -> str:
    """A text with what the frame calls tensors."""
    for t in tensors:
        text = text.replace(t.name, at.spelling(t) or t.name)
    return text


def _edits(at: RaisedAt, y: Tensor, xs: Sequence[Tensor], call: GradientCall | None, cuts: list[Operation]
           ) -> Iterator[tuple[list[Change], str, str]]:
    """What may be done, the surest first: changes, and them in words; a cause, where that says more."""
    yield *_never_read(at, xs), ""
    if call is not None:
        yield of_copies_kept(at, y, xs, call, cuts)
        yield _of_the_same(at, y, xs)
        yield of_the_other(at, y, xs)
    yield *_beside(at, y, xs[0]), ""
    yield _past_all(at, y, xs[0], cuts)
    if call is not None and len(xs) < len(call.xs):
        yield ([], "", "") if _is_forgotten(xs[0]) else (*without_none(at), "")
    elif call is not None:
        yield _of_others(at, y, xs)
    yield _fetched(at, y)
    if call is not None:
        yield *_of_copies(at, xs), ""
        yield *_of_parts(at, xs), ""
    behind = ancestors([y])
    chosen = next((op for op in behind if op.type == "ArgMax" and xs[0].op in ancestors([op.outputs[0]])), None)
    if chosen is not None:
        yield *_of_the_asked(at, y, chosen), ""
        yield *_classified(at, y, chosen), ""


def _never_read(at: RaisedAt, xs: Sequence[Tensor]) -> tuple[list[Change], str]:
    """Without the weights that a layer makes and the script reads nowhere, if all are such."""
    lines = {x.op.site.line for x in xs if x.op.site is not None and x.op.site.file == at.file}
    made = [never_read(at, line) for line in lines if all(x.op.site is not None for x in xs)]
    found = [each for each in made if each is not None]
    if not found or len(found) < len(made):
        return [], ""
    names = " and ".join(at.raw(each.targets[0]) for each in found)
    return [at.gone(each) for each in found], f"leave {names} out, or use it in the computation"


def _is_forgotten(x: Tensor) -> bool:
    """Whether what a model makes of a variable is used by nothing, no loss of its own among that: it is not to be left
    out in silence."""
    made = (op for op in descendants([x]) if op.gradient_of is None and op.type not in (*_READS, *STORES))
    ends = [op.outputs[0] for op in made if op.outputs and not any(t._consumers for t in op.outputs)]
    return bool(ends) and not any(t.dims == () and t.dtype.is_floating for t in ends)


def _beside(at: RaisedAt, y: Tensor, x: Tensor) -> tuple[list[Change], str]:
    """What nothing uses of a variable, in the one later call that takes a placeholder in its place."""
    behind = ancestors([y])
    after = descendants([x]) - behind
    lost = {name for name, t in at.tensors().items() if t.op in after and t.op.gradient_of is None}
    made = {getattr(node.targets[0], "id", ""): node.lineno for node in at.all(ast.Assign)}
    name = max((each for each in made if each in lost), key=lambda each: made[each], default="")
    later = [node for node in at.all(ast.Assign) if name and made[name] < node.lineno <= at.node.lineno
             and at.tensor(node.targets[0]) is not None]
    taken = [each for node in later for each in given(node.value, slice(None)) if isinstance(each, ast.Name)
             and (t := at.tensor(each)) is not None and t.op.type in PLACEHOLDERS and t.op in behind]
    if len(taken) != 1 or x.op.type not in VARIABLES:
        return [], ""
    return [(*at.range(taken[0]), name)], f"{name} in place of {taken[0].id} at line {taken[0].lineno}"


def _of_others(at: RaisedAt, y: Tensor, xs: Sequence[Tensor]) -> tuple[list[Change], str, str]:
    """The list of the variables that a loss is made of, where it is asked for the gradients of others."""
    flow = {t for t in trainable_tensors(at.graph) if t not in xs and why_none(y, t).kind in ("flows", "not asked")}
    lists = {name: {at.variable(each) for each in value} for name, value in at.names.items()
             if isinstance(value, (list, tuple)) and value}
    new = next((name for name, tensors in lists.items() if flow and tensors == flow), "")
    old = next((name for name, tensors in lists.items() if tensors == {*xs}), "")
    calls = at.calls("gradients", "compute_gradients", "minimize", "zip")
    if any({*call.xs} == flow for call in calls_of(at.graph)):  # which another loss trains already
        return [], "", ""
    changes = [(*at.range(node), new) for call in calls for node in (*call.args, *words_of(call).values())
               if isinstance(node, ast.Name) and node.id == old and old and new]
    return changes, f"{new} in place of {old}", f"{at.spelling(y)} is not made of {old}, but of {new}"


def _of_the_same(at: RaisedAt, y: Tensor, xs: Sequence[Tensor]) -> tuple[list[Change], str, str]:
    """The tensor that was asked about, where the loss is made of the same expression, written a second time."""
    x, name = xs[0], at.spelling(xs[0])
    twin = next((op for op in ancestors([y]) if op.type == x.op.type and op is not x.op and op.inputs
                 and alike(op.outputs[0], x)), None)
    node = next(iter(at.spanned(twin)), None) if twin is not None else None
    if twin is None or node is None or len(xs) > 1 or not name or at.scope(node) is not at.scope(at.node):
        return [], "", ""
    cause = (f"{at.spelling(y) or y.name} is made of {at.written(node)} at line {node.lineno}, which is another tensor "
             f"than {name}{at_line(place_of(x.op))}")
    if x.op.index < twin.index:
        return [(*at.range(node), name)], f"{name} in place of {at.written(node)} at line {node.lineno}", cause
    calls = [each for each in at.calls("gradients") if len(each.args) > 1 and at.tensor(each.args[1]) is x]
    other = at.spelling(twin.outputs[0])
    return [(*at.range(each.args[1]), other) for each in calls if other], f"ask for the gradient of {other}", cause


def _fetched(at: RaisedAt, y: Tensor) -> tuple[list[Change], str, str]:
    """The tensor itself, where what a run gave of it is computed with."""
    nodes: list[Any] = [node for node in ast.walk(at.scope(at.node)) if isinstance(node, ast.Assign)]
    for node in nodes:
        kind, name = called(node.value), node.targets[0]
        fetched = next(iter(node.value.args), None) if kind == "run" else owner_of(node.value)
        tensor = at.tensor(fetched) if kind in ("run", "eval") else None
        is_number = isinstance(at.value(name), (np.ndarray, np.generic)) and node.lineno < at.node.lineno
        if fetched is not None and tensor is not None and is_number and tensor.op not in ancestors([y]):
            text = at.written(fetched)
            return ([(*at.range(node.value), text)], f"{at.written(name)} = {text}",
                    f"{at.written(name)}, at line {node.lineno}, is what a run gave of {text}: mere numbers")
    return [], "", ""


def _of_copies(at: RaisedAt, xs: Sequence[Tensor]) -> tuple[list[Change], str]:
    """The gradients of what was copied, where those of copies were asked for."""
    calls = [each for each in at.calls("gradients") if len(each.args) > 1]
    names = [at.spelling(past(x, _READS)) for x in xs]  # the variables
    if len(calls) != 1 or not all(names) or not all(x.op.type == "Identity" for x in xs):
        return [], ""
    asked = calls[0].args[1]
    listed = names[0] if len(names) == 1 and not isinstance(asked, ast.List) else f"[{', '.join(names)}]"
    return [(*at.range(asked), listed)], f"ask for the gradients of {', '.join(names)}, not of their copies"


def _of_parts(at: RaisedAt, xs: Sequence[Tensor]) -> tuple[list[Change], str]:
    """Parts of the gradients of what was cut, where those of the parts, of which nothing is made, were asked for."""
    changes, words = list[Change](), ""
    for call in (each for each in at.calls("gradients") if len(each.args) > 1):
        asked, y = call.args[1], at.tensor(call.args[0])
        nodes = asked.elts if isinstance(asked, (ast.List, ast.Tuple)) else [asked]
        asks = [next((x for x in xs if node in at.spanned(x.op)), at.tensor(node)) for node in nodes]
        texts = [_part_of(at, x, at.written(call.args[0]), y) for x in asks]
        if not all(texts):
            continue
        node = at._around[call]
        is_first = len(nodes) == 1 and isinstance(node, ast.Subscript) and at.written(node.slice) == "0"
        new = texts[0] if is_first else f"[{', '.join(texts)}]"
        changes.append((*at.range(node if is_first else call), new))
        words = words or f"{new} in place of {at.written(node if is_first else call)}"
    return changes, words + (f", and so {len(changes) - 1} more" if len(changes) > 1 else "")


def _part_of(at: RaisedAt, x: Tensor | None, y_text: str, y: Tensor | None) -> str:
    """The part of a gradient that belongs to a part of a tensor, which y is not made of; "" where that is not known."""
    if x is None or y is not None and x.op in ancestors([y]):
        return ""
    if x.op.type not in _CUTS:
        return _arranged(at, x, y_text, y)
    whole = x.op.inputs[x.op.type == "Split"]
    source = at.spelling(whole) or at.spelling(past(whole, _READS))
    node: Any = next((each for each in at.spanned(x.op) if isinstance(each, ast.Subscript)), None)
    if x.op.type == "Split":
        axis, width = static_value(x.op.inputs[0]), x.dims and x.dims[-1]
        is_last = axis is not None and width and int(axis) in (-1, len(x.dims or ()) - 1)
        cut = f"..., {x.value_index * width}:{(x.value_index + 1) * width}" if is_last and width else ""
    else:
        cut = at.written(node.slice) if node is not None else ""
    return f"{at.tensorflow('gradients', y_text, source)}[0][{cut}]" if source and cut else ""


def _arranged(at: RaisedAt, x: Tensor, y_text: str, y: Tensor | None) -> str:
    """The gradient by a tensor in the shape of what was arranged of it, as that was; "" where it is not known."""
    made = next(iter(at.spanned(x.op)), None) if x.op.type in _SHAPES else None
    while x.op.type in _SHAPES and (y is None or x.op not in ancestors([y])):
        x = x.op.inputs[0]
    read = [at.range(each) for each in ast.walk(made) if at.tensor(each) is x] if isinstance(made, ast.Call) else []
    if len(read) != 1 or made is None:
        return ""
    (first, end), (start, last) = read[0], at.range(made)
    return f"{at.text[start:first]}{at.tensorflow('gradients', y_text, at.text[first:end])}[0]{at.text[end:last]}"


def _of_the_asked(at: RaisedAt, y: Tensor, chosen: Operation) -> tuple[list[Change], str]:
    """The score itself, where a mask that is given leaves one of them, and a real number is wanted of it."""
    masked, variables = chosen.inputs[0].op, {t.op for t in trainable_tensors(at.graph)}
    fixed = [t for t in masked.inputs if not ancestors([t]) & variables] if masked.type == "Mul" else []
    wanted = ancestors([y], [chosen.outputs[0]]) - ancestors([chosen.outputs[0]])
    is_real = any(op.type in PLACEHOLDERS and op.outputs[0].dtype.is_floating for op in wanted)
    axis, calls = static_value(chosen.inputs[1]), [n for n in at.spanned(chosen) if isinstance(n, ast.Call)]
    is_counted = any(op.type == "Equal" for op in wanted)
    if len(fixed) != 1 or not is_real or is_counted or axis is None or not calls or not calls[0].args:
        return [], ""
    cast = next((op for op in chosen.outputs[0]._consumers if op.type == "Cast"), None)
    around = [n for n in at.spanned(cast) if isinstance(n, ast.Call) and is_within(calls[0], n)] if cast else []
    new = at.tensorflow("reduce_sum", calls[0].args[0], f"axis={int(axis)}")
    return [(*at.range((around or calls)[0]), new)], f"{new}: the score of what was chosen, in place of its index"


def _classified(at: RaisedAt, y: Tensor, chosen: Operation) -> tuple[list[Change], str]:
    """A cross entropy of the scores, in place of a loss of which one is the largest."""
    scores = chosen.inputs[0]
    squash = scores.op if scores.op.type in _SQUASHED else None
    node: Any = next((each for each in at.spanned(squash or chosen) if isinstance(each, ast.Call)), None)
    logits = at.spelling(squash.inputs[0] if squash else scores) or (at.written(node.args[0]) if node else "")
    own = ancestors([scores])
    fed = [op.outputs[0] for op in ancestors([y]) if op.type in PLACEHOLDERS and op not in own]
    labels = at.spelling(fed[0]) if len(fed) == 1 else ""
    loss: Any = next((each for each in ast.walk(at.scope(at.node)) if isinstance(each, ast.Assign)
                      and at.tensor(each.targets[0]) is y), None)
    asked = next(iter(getattr(at.node, "args", ())), None)
    target = loss.value if loss is not None else asked if not isinstance(asked, ast.Name) else None
    if not labels or not logits or target is None:
        return [], ""
    k, dims = (scores.dims or [None])[-1], fed[0].dims or ()
    if len(dims) == 2 and dims[-1] == k:
        new = at.tensorflow("losses.softmax_cross_entropy", labels, logits)
    else:
        ids = labels if len(dims) < 2 else at.tensorflow("reshape", labels, "[-1]")
        new = at.tensorflow("losses.sparse_softmax_cross_entropy", at.cast(ids, "int32"), logits)
    return [(*at.range(target), new)], new


def _past_all(at: RaisedAt, y: Tensor, x: Tensor, cuts: Sequence[Operation]) -> tuple[list[Change], str, str]:
    """What lets the gradient past the ops that cut it, where that can be written; which one, where not all are."""
    for op in cuts:
        straight, words = straight_past(at, op, y)
        if straight:
            return straight, words, ""
    written = [op for op in cuts if at.spanned(op)]
    past = [_past(at, op, at.spanned(op)[0]) for op in written]
    changes: list[Change] = []
    for made, _ in past:
        if all(end <= low or start >= high for start, end, _ in made for low, high, _ in changes):
            changes += made
    mended = [op for op, (made, _) in zip(written, past) if made and made[-1] in changes]
    cause = (f"the only way from {y.name} to {x.name} passes {mended[0].type}{at_line(place_of(mended[0]))}, which "
             "lets no gradient through") if mended and len(mended) < len(cuts) else ""
    return changes, " and ".join(dict.fromkeys(words for made, words in past if made and made[-1] in changes)), cause


def _past(at: RaisedAt, op: Operation, node: Any) -> tuple[list[Change], str]:
    """What lets the gradient past an op: its slope taken for 1, no cast, no function of NumPy."""
    first = next(iter(given(node, 0)), None)
    text = at.written(first) if first is not None else ""
    labels, logits = (next(iter(given(node, place, *names)), None) for place, names in enumerate(_SIDES))
    fed = at.tensor(logits) if "cross_entropy" in called(node) else None
    if op.type == "StopGradient" and labels is not None and logits is not None and fed is not None and (
            ancestors([fed]).isdisjoint(t.op for t in trainable_tensors(at.graph))):
        return [(*at.range(labels), at.written(logits)), (*at.range(logits), at.written(labels))], (
            f"{at.written(logits)} for the labels and {at.written(labels)} for the logits, which are swapped")
    if op.type == "StopGradient" and text:
        return [(*at.range(node), text)], f"{text} in place of {at.written(node)}"
    if op.type in _STEPS and text:
        shares = past(op.inputs[0], (*_SHAPES, "Identity")).op.type in _SQUASHED
        if shares and not any(each.type in ("MatMul", "Conv2D") and each.gradient_of is None
                              for each in descendants(op.outputs)):  # of a loss, which the shares themselves fit
            return [(*at.range(node), text)], f"{text} in place of {at.written(node)}"
        return _straight(at, node, first)
    if called(node) == "dropout":
        return [], ""
    if op.type in _COMPARED or op.type == "Cast" and op.inputs[0].dtype.is_bool:
        return _of_choice(at, op, node)
    if op.type == "Cast" and text and op.outputs[0].dtype.is_integer:
        changes: list[Change] = [(*at.range(node), text)]
        for user in op.outputs[0]._consumers:
            for each in at.spanned(user):
                sides = [each.left, each.right] if isinstance(each, ast.BinOp) else given(each, slice(2))
                changes += [(*at.range(side), at.cast(side, "float32")) for side in sides if (t := at.tensor(
                    side)) is not None and t.dtype.is_integer and t is not op.outputs[0]]
        return changes, f"{text} in place of {at.written(node)}, which an integer lets no gradient through"
    return by_tensorflow(at, node) if op.type in ("PyFunc", "EagerPyFunc") else ([], "")


def _straight(at: RaisedAt, node: Any, first: Any) -> tuple[list[Change], str]:
    """The value as it is, and the gradient as if the op were not there."""
    changes, name = [], at.written(first)
    if not isinstance(first, (ast.Name, ast.Attribute)):
        changes, name = [at.before(at.statement(node), f"smooth = {name}")], "smooth"
    value = at.written(node).replace(at.written(first), name, 1)
    new = f"{name} + {at.module()}.stop_gradient({value} - {name})"
    return [*changes, (*at.range(node), f"({new})")], f"{new}: the same value, and a gradient"


def _of_choice(at: RaisedAt, op: Operation, node: Any) -> tuple[list[Change], str]:
    """A probability in place of whether something is above a bound."""
    cast = op if op.type == "Cast" else next((c for c in op.outputs[0]._consumers if c.type == "Cast"), None)
    compared = op.inputs[0].op if op.type == "Cast" else op
    whole = next((each for each in (at.spanned(cast) if cast is not None else ()) if isinstance(each, ast.Call)), None)
    inner = next(iter(at.spanned(compared)), None)
    sides = [] if inner is None else [inner.left, *inner.comparators] if isinstance(inner, ast.Compare) else [
        *getattr(inner, "args", ())]
    if whole is None or len(sides) != 2 or compared.type not in _COMPARED[:2]:
        return [], ""
    is_squashed = past(compared.inputs[0], _PASSES).op.type in _SQUASHED
    above = sides[0] if number_of(sides[1]) == 0 else f"{at.beside(sides[0])} - {at.beside(sides[1])}"
    smooth = at.written(sides[0]) if is_squashed else at.tensorflow("sigmoid", above)
    return [(*at.range(whole), smooth)], f"{smooth} in place of {at.written(whole)}, which has no slope"
