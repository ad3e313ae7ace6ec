"""Where nan and inf come from: the ops that made them, told apart from those that passed them on."""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.function_graph import functions_of
from ...core.graph import Operation, Tensor
from ...core.traversal import reached
from ...runtime.plan.state import OUTSIDE
from ..facts.function_calls import Inside
from ..facts.known import inputs_read
from ..facts.roles import PLACEHOLDERS, VARIABLES, at_line, of_data, place_of, takes_elements, traceback_of
from ..facts.stats import bad_elements, has_nonfinite
from .arithmetic_rules import in_words, number, overflows
from .edits.in_graph import at_one_place, is_half
from .edits.of_keras.schedules import set_to_nan
from .findings import Operand, Origin, WhyNonfinite
from .origins.chain import LOST, chain_of
from .origins.recurrent import growing, with_step
from .origins.sources import Scene
from .refusals import no_solution
from .remedies import by_zero, mapped_ops, numpys, of_none, of_products, remedy_for

Values = Mapping[Tensor, Any]
_TESTS: dict[str, Callable[[Any], Any]] = {"nan": np.isnan, "inf": np.isposinf, "-inf": np.isneginf}
_MAPPED = ": its map function"
_SELECTS = ("Select", "SelectV2", "Where")
_DEEPEST = 5  # branches and loops inside of each other
_LISTS = ("variant", "resource")
_SHOWN = 50  # origins described in full


def origins(ops: Sequence[Operation], values: Values,
            roots: Collection[Tensor]) -> tuple[list[Operation], set[Operation], int]:
    """Ops that made something non-finite, in order; those of all non-finite ops that reach a root; count of the bad.

    ops: in topological order. values: of their tensors, as far as known. roots: y and the gradients asked for.
    """
    bad = {t for op in ops for t in op.outputs if t in values and has_nonfinite(values[t])}
    bad |= {t for op in ops for t in inputs_read(op, values)
            if t in values and t not in bad and has_nonfinite(values[t])}
    lists: set[Tensor] = set()  # that hold some of it, or were given it; those of loops are looked into
    for op in ops:
        if not functions_of(op) and any(t in bad or t in lists for t in op.inputs):
            lists.update(t for t in op.outputs if t.dtype.name in _LISTS or t.dtype.is_ref and t not in values)
    bad |= lists
    made = [op for op in ops if any(t in bad for t in op.outputs) and (
        not any(t in bad for t in inputs_read(op, values)) or _makes_nan(op, values))
        and not any(t in lists for t in (*inputs_read(op, values), *op.outputs))
        and not (op.type == "Const" and any(_asked(c, bad) for t in op.outputs for c in t._consumers))]
    return made, _reaching(roots, bad, values), sum(any(t in bad for t in op.outputs) for op in ops)


def _makes_nan(op: Operation, values: Values) -> bool:
    """Whether nan comes out of an op that only inf went into."""
    return (any(t in values and _has_nan(values[t]) for t in op.outputs)
            and not any(t in values and _has_nan(values[t]) for t in inputs_read(op, values)))


def _has_nan(value: Any) -> bool:
    return (array := np.asarray(value)).dtype.kind in "fc" and bool(np.isnan(array).any())


def _reaching(roots: Collection[Tensor], bad: Collection[Tensor], values: Values) -> set[Operation]:
    """Ops from which a chain of non-finite tensors leads to a root."""
    return reached([root.op for root in roots if root in bad],
                   lambda op: [t.op for t in (*inputs_read(op, values), *_asked(op, bad)) if t in bad])


def _asked(op: Operation, bad: Collection[Tensor]) -> list[Tensor]:
    """What is not finite of all that a choice asks about which answers nan, as that of `clip_by_global_norm` does."""
    if op.type not in _SELECTS or not any(t in bad and t.op.type == "Const" for t in op.inputs[1:]):
        return []
    conditions = reached([op.inputs[0].op], lambda o: [t.op for t in o.inputs if t.dtype.name == "bool"])
    return [t for condition in conditions for t in condition.inputs if t in bad]


def reaches(ops: Sequence[Operation], values: Values, roots: Collection[Tensor]) -> set[Operation]:
    """Ops whose non-finite outputs a chain of non-finite tensors links to a root."""
    return origins(ops, values, roots)[1]


def why_nonfinite(ops: Sequence[Operation], values: Values, roots: Collection[Tensor], *, target: Tensor | None = None,
                  step: int = 0, variable_note: Callable[[str], str] = lambda name: "",
                  inside: Inside = lambda op, values, within: None) -> WhyNonfinite:
    """Explain what is not finite in `values`: of the target alone (its causes count as harmful), or of a whole run.

    variable_note: what is known of a variable's past, by name. inside: looks into branches and loops.
    """
    made, reaching, count = origins(ops, values, [target] if target is not None else roots)
    described: list[Origin] = []
    for op in made[:_SHOWN]:
        for origin in _described(op, Scene(values, inside), op in reaching, variable_note):
            twin = replace(origin, harmful=not origin.harmful)
            if twin in described and origin.harmful:
                described.remove(twin)
            if not any(origin == other or twin == other or _same(origin, other) for other in described):
                described.append(origin)
    spoils_y = any(t in values and has_nonfinite(values[t]) for t in roots if t.op.gradient_of is None)
    described.sort(key=lambda origin: (origin.secondary, origin.phase == "forward" and not spoils_y))
    harmful, masked = (tuple(each for each in described if bool(each.harmful) is on) for on in (True, False))
    name = target.name if target is not None else ""
    first = next((op for op in made if harmful and op.name == leading(harmful).op), None)
    text = _text(harmful, masked, name) + (_called(first, made) if first is not None else "")
    return WhyNonfinite(name, step, harmful, masked, count - len(made), len(ops), text)


def _called(op: Operation, made: Collection[Operation]) -> str:
    """`, called at model.py:22`: which call of a function gave an op its numbers, where others gave it good ones."""
    mine, blamed = traceback_of(op), {each.forward_op for each in made}
    others = [traceback_of(each) for each in at_one_place(op.forward_op) if each not in blamed]
    calls = (a for other in others for a, b in zip(mine[1:], other[1:]) if a != b)
    return next((f", called{at_line(place)}" for place in calls), "")


def _described(op: Operation, scene: Scene, harmful: bool, note: Callable[[str], str], depth: int = 0) -> list[Origin]:
    """An op; of a branch or loop the ops inside of it that are to blame."""
    values, within = scene.values, scene.call.number if scene.call is not None else OUTSIDE
    called = ((each, call) for each in (op, *_behind_lists(op))
              if (call := scene.inside(each, values, within)) is not None)
    caller, call = next(called, (op, None)) if depth < _DEEPEST else (op, None)
    if call is None:
        return [describe(op, values, harmful=harmful, note=note, scene=scene)]
    known = {t: v for t, v in call.values.items() if t.dtype.name not in _LISTS}
    collected = [t for o in call.ops for t in o.inputs if any(out.dtype.name in _LISTS for out in o.outputs)]
    made, reaching, _ = origins(call.ops, known, (*call.outputs, *collected))
    found = []
    inner_scene = Scene(call.values, scene.inside, call, caller, scene)
    for inner in made[:_SHOWN]:
        own = _described(inner, inner_scene, harmful and inner in reaching, note, depth + 1)
        if any(t.dtype.name in _LISTS for t in inner.inputs):  # it reads what another loop has kept
            kept = [origin for filler in _behind_lists(op) if functions_of(filler) and _is_bad(filler, values)
                    for origin in _described(filler, scene, harmful, note, depth + 1)]
            own = [origin for origin in kept if origin.inside] or own
        found += [replace(origin, inside=origin.inside or call.where) for origin in own]
    return found or [describe(op, values, harmful=harmful, note=note, scene=scene)]


def _is_bad(op: Operation, values: Values) -> bool:
    """Whether an output is known not to be finite."""
    return any(t in values and t.dtype.name not in _LISTS and has_nonfinite(values[t]) for t in op.outputs)


def _behind_lists(op: Operation) -> list[Operation]:
    """The ops that filled the lists that an op reads: the values of lists are not known one by one."""
    found: list[Operation] = []
    stack = [t.op for t in op.inputs if t.dtype.name in _LISTS]
    while stack:
        filler = stack.pop()
        if filler not in found:
            found.append(filler)
            stack.extend(t.op for t in filler.inputs if t.dtype.name in _LISTS)
    return found


def _same(a: Origin, b: Origin) -> bool:
    """Whether two origins are one op of the script, met again where a gradient repeats what it needs."""
    return bool(a.inside) and a.inside != b.inside and a.op_type == b.op_type == a.forward_type and a.place == b.place


def leading(harmful: Sequence[Origin]) -> Origin:
    """The origin to tell of first: an inf is nothing wrong until something makes nan of it, or it was made in a map."""
    first = harmful[0]
    if first.phase == "input" and "nan" not in first.bad and _MAPPED not in first.rule:
        return next((o for o in harmful if o.secondary), first)
    return first


def _text(harmful: Sequence[Origin], masked: Sequence[Origin], target: str) -> str:
    if harmful:
        first, after = harmful[0], leading(harmful)
        if after is not first:
            return f"{after.rule} in {after.op}{at_line(after.place)}, as {first.rule}{at_line(first.place)}"
        where = (f", the gradient of {first.forward_op}" if first.phase == "backward" else
                 f" in {first.op}" if first.op_type != "Const" else "") + f", {first.inside}" * bool(first.inside)
        trap = ", on the branch that tf.where does not take" if first.trap == "where" else ""
        return f"{first.rule}{where}{at_line(first.place)}{trap}"
    return f"{target or 'every tensor that matters'} is finite" + (
        f"; {len(masked)} non-finite values are masked" if masked and not target else "")


def describe(op: Operation, values: Values, *, harmful: bool, note: Callable[[str], str] = lambda name: "",
             scene: Scene | None = None) -> Origin:
    """All about one op that made something non-finite. scene: where it is, to follow the numbers back."""
    tensor = next(t for t in op.outputs if t in values and has_nonfinite(values[t]))
    array = np.asarray(values[tensor])
    secondary = any(t in values and has_nonfinite(values[t]) for t in inputs_read(op, values))
    elements = _chosen(array, nan_only=secondary)
    operands = _operands(op, values, array, elements[0])
    numbers = [operand.value for operand in operands]
    phase = "backward" if op.gradient_of is not None else "forward" if op.inputs else "input"
    forward = op.forward_op
    trap = _trap(op, values, operands)
    rule = _rule(op, numbers, array[elements[0]], values, note)
    if phase == "backward":
        rule = f"{rule}{_continued(op, tensor, values, elements[0])} in d {_plain(forward)}"
    overflow = not secondary and bool(op.inputs) and overflows(op.type, _matched(op, numbers), array[elements[0]])
    rule += ", float16, which ends at 65504" * bool(overflow and array.dtype == np.float16)
    is_known = tensor is op.outputs[0] or takes_elements(op)
    chain = chain_of(tensor, elements[0], scene) if scene is not None and harmful and is_known else ()
    if trap == "underflow" and not any(LOST in link.text for link in chain):
        rule += "; the 0 is an underflow: " + _underflow(op, values, operands)
    remedy = growing(op.graph, chain) or of_products(op, chain) or remedy_for(op, trap, numbers, values)
    return with_step(op, scene, Origin(
        op.name, op.type, tensor.name, phase, _kinds(array), int((~np.isfinite(array)).sum()), array.size, elements,
        operands, rule, remedy, forward.name, forward.type, harmful, secondary, trap,
        getattr(set_to_nan(op), "place", place_of(op)), chain=chain, overflows=overflow))


def _plain(op: Operation) -> str:  # a function with a rule of its own is known by its scope
    op_type = op.name.split("/")[-2] if op.type == "IdentityN" and "/" in op.name else op.type
    return {"RealDiv": "div", "TrueDiv": "div", "SelfAdjointEigV2": "eigh"}.get(op_type, op_type.lower())


def _chosen(array: np.ndarray, *, nan_only: bool) -> tuple[tuple[int, ...], ...]:
    if nan_only and array.dtype.kind in "fc":
        flat = np.flatnonzero(np.isnan(array))[:5]
        if flat.size:
            return tuple(tuple(int(i) for i in np.unravel_index(f, array.shape)) for f in flat)
    return bad_elements(array)


def _kinds(array: np.ndarray) -> str:
    real = np.abs(array) if array.dtype.kind == "c" else array
    return ", ".join(name for name, test in _TESTS.items() if test(real).any())


def _operands(op: Operation, values: Values, output: np.ndarray, index: tuple[int, ...]) -> tuple[Operand, ...]:
    """The numbers that went into one element of the output; None where an input is not matched element by element."""
    found = []
    for tensor in inputs_read(op, values):
        value = values.get(tensor)
        array = None if value is None else np.asarray(value)
        at = None if array is None else _index_in(array.shape, output.shape, index)
        found.append(Operand(tensor.name, at or (), None if at is None or array is None or array.dtype.kind in "OSU"
                             else array[at].item()))
    return tuple(found)


def _index_in(shape: tuple[int, ...], output: tuple[int, ...], index: tuple[int, ...]) -> tuple[int, ...] | None:
    """The element of an input of `shape` that broadcasting brings to `index`; None if it does not fit."""
    if len(shape) > len(output):
        return None
    tail = output[len(output) - len(shape):]
    if any(n not in (1, m) for n, m in zip(shape, tail)):
        return None
    return tuple(0 if n == 1 else i for n, i in zip(shape, index[len(output) - len(shape):]))


def _rule(op: Operation, numbers: list[Any], result: Any, values: Values, note: Callable[[str], str]) -> str:
    if not op.inputs or op.type == "ReadVariableOp":  # in a loop it is given the variable's name
        name = str(values[op.inputs[0]]) if op.inputs and op.inputs[0] in values else op.name
        what = ("the value fed for" if op.type in PLACEHOLDERS else "variable" if op.type in VARIABLES or op.type ==
                "ReadVariableOp" else "the constant" if op.type == "Const" else "the dataset's" if takes_elements(op)
                else op.type)
        if (rate := set_to_nan(op)) is not None:
            return f"{rate.op.name} was set to {number(result)}{rate.why}{numpys(op)}"
        whose = f"{what} {name!r}" if of_data(op) is None else f"the dataset of{at_line(of_data(op))[3:]}"
        made = "".join(f"{_MAPPED} computes {each.type.lower()}{at_line(place_of(each))}{by_zero(each)}"
                       for each in mapped_ops(op)[:1])
        made += ": float16 ends at 65504" if op.type == "Const" and is_half(op) and np.isinf(result) else ""
        return f"{whose} contains {number(result)}{note(name)}{made}{numpys(op)}"
    numbers = _matched(op, numbers)
    given = np.asarray(values[op.inputs[0]]) if op.inputs[0] in values else None
    if numbers[:2] == [0.0, 0.0] and (told := of_none(op, values)):
        return told
    if op.type in ("Softmax", "LogSoftmax") and given is not None and np.isneginf(given).all(axis=-1).any():
        return f"{op.type.lower()} of a row that is -inf throughout = {number(result)}"
    if told := no_solution(op, values):
        return f"{told} = {number(result)}"
    if op.type == "PyFunc" and op.inputs:
        return f"the Python function {getattr(op.attrs['function'], '__name__', 'of it')} gives {number(result)}"
    bad = next((t for t in op.inputs if t in values and has_nonfinite(values[t])), None)
    if bad is not None and None in numbers:
        return f"{op.type} makes {number(result)} of the {_kinds(np.asarray(values[bad]))} in {bad.name}"
    return in_words(op.type, numbers, result)


def _matched(op: Operation, numbers: list[Any]) -> list[Any]:
    """The numbers that met, None for those of an op that does not go element by element."""
    return [None] * len(numbers) if not op.definition.elementwise and len(op.inputs) > 1 else numbers


def _continued(op: Operation, tensor: Tensor, values: Values, index: tuple[int, ...]) -> str:
    """`, then 0 * inf = nan`: what the gradient of the same op goes on to do with an inf."""
    if _has_nan(values[tensor]):
        return ""
    for consumer in tensor._consumers:
        result = values.get(consumer.outputs[0]) if consumer.outputs else None
        if consumer.origin is op.origin and result is not None and consumer.definition.elementwise:
            array = np.asarray(result)
            if array.shape == np.shape(values[tensor]) and np.isnan(array[index]):
                numbers = [operand.value for operand in _operands(consumer, values, array, index)]
                return ", then " + in_words(consumer.type, numbers, array[index])
    return ""


def _trap(op: Operation, values: Values, operands: Iterable[Operand]) -> str:
    if op.gradient_of is not None and _comes_from_select(op, values):
        return "where"
    return "underflow" if _underflow(op, values, operands) else ""


def _comes_from_select(op: Operation, values: Values) -> bool:
    """Whether a rule makes nan of a gradient that comes, a few ops away, from a choice that zeroed part of it."""
    level = reached([op], lambda at: [c for t in at.outputs for c in t._consumers if c.origin is op.origin])
    if (known := [values[t] for o in level for t in o.outputs if t in values]) and not any(map(_has_nan, known)):
        return False
    for _ in range(8):
        level = {t.op for o in level for t in o.inputs if t.op.gradient_of is not None}
        if any(o.forward_op.type in _SELECTS for o in level):
            return op.forward_op.type not in _SELECTS
    return False


_PASSES = ("Sum", "Mean", "Identity", "Reshape", "AddN", "Add", "AddV2", "Max", "Sqrt", "ExpandDims", "Squeeze", "Neg")
_SHRINKS = ("Mul", "Square", "Exp", "Pow", "Prod", "RealDiv", "Sigmoid", "Softmax")
_NEVER_ZERO = ("Exp", "Sigmoid", "Softmax")  # of whatever finite number


def _underflow(op: Operation, values: Values, operands: Iterable[Operand]) -> str:
    """`Square(1e-23) = 0`, if a zero operand is one that rounding made of numbers other than zero."""
    zero = {operand.name for operand in operands if operand.value == 0}
    tensors = [t for t in op.inputs if t.name in zero and t.op.gradient_of is None]
    for _ in range(5):
        above: list[Tensor] = []
        for tensor in tensors:
            inputs = [np.asarray(values[t]) for t in tensor.op.inputs if t in values]
            if tensor.op.type in _SHRINKS and inputs and tensor in values:
                output = np.asarray(values[tensor])
                lost = np.flatnonzero((output == 0) & np.logical_and.reduce(
                    [np.broadcast_to((i != 0) | (tensor.op.type in _NEVER_ZERO), output.shape) & np.isfinite(i)
                     for i in inputs if _fits(i, output)] or [np.zeros(output.shape, bool)]))
                if lost.size:
                    first = next(i for i in inputs if _fits(i, output))
                    value = np.broadcast_to(first, output.shape).ravel()[lost[0]]
                    return f"{tensor.op.type}({number(value)}) = 0 in {output.dtype.name}"
            if tensor.op.type in _PASSES or tensor.op.type in _SHRINKS and tensor.op.type not in _NEVER_ZERO:
                above.extend(tensor.op.inputs)
        tensors = above
    return ""


def _fits(array: np.ndarray, output: np.ndarray) -> bool:
    return _index_in(array.shape, output.shape, (0,) * output.ndim) is not None
