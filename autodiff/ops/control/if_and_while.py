"""Branches and loops as ops: If and While call functions, graphs of their own."""

from ...core.declare import op
from ...core.dtypes import ALL, as_dtype, variant
from ...core.op import Bool, Kind, Spec
from ...core.shapes import agreeing, as_dims
from ..common.turns import check_deadline, deadline

# a value, or a variable that the function reads or assigns
Passed = Kind("Passed", allowed=tuple(ALL), handle=True)


@op("Argument", infer=lambda *, dtype, shape: Spec(as_dtype(dtype), as_dims(shape)), stateful=True,
    no_grad="an argument of a function has no inputs")
def argument(*, dtype, shape, run):
    """A parameter of a function graph; each call gives it a value. -> dtype[shape]."""
    return run.not_fed()


@op("Captured", infer=lambda *, external: Spec(external.dtype, external.dims), stateful=True)
def captured(*, external, run):
    """An outer tensor inside of a function graph; each call gives it a value. -> any[...]."""
    return run.not_fed()


@captured.gradient
def _captured_gradient(node, dy):
    return (dy,)  # to the outer tensor: see inputs_of in gradients/backprop


def _merged_outputs(cond, *captures, then_branch, else_branch):
    merged = tuple(Spec(a.dtype.base_dtype, agreeing(a.dims, b.dims))
                   for a, b in zip(then_branch.outputs, else_branch.outputs))
    return merged + (Spec(variant, ()),) * (len(then_branch.kept) + len(else_branch.kept))


@op("If", infer=_merged_outputs, stateful=True)
def if_(cond: Bool, *captures: Passed, then_branch, else_branch, run):
    """One of two functions, by a predicate. cond: bool[]; captures: the inputs of both, then's first.

    -> outputs of the one, then for each tensor that either keeps a list: with its value, or empty.
    """
    split, count = len(then_branch.inputs), len(then_branch.outputs)
    if cond:
        given = run.call(then_branch, captures[:split])
        kept = [*([value] for value in given[count:]), *([] for _ in else_branch.kept)]
    else:
        given = run.call(else_branch, captures[split:])
        kept = [*([] for _ in then_branch.kept), *([value] for value in given[count:])]
    return unpacked([*given[:count], *kept])


def unpacked(values):
    """A list of results as an op gives them: one alone, several as a tuple."""
    return values[0] if len(values) == 1 else tuple(values)


class History(list):
    """The values of a loop variable, an iteration each.

    recalled: of the first variable: inner tensor -> its values, for the gradient, which computes no others again.
    """

    __slots__ = ("recalled",)


def _loop_outputs(*values, cond, body, shapes, record, back_prop=True):
    final = tuple(Spec(a.dtype, d) for a, d in zip(body.arguments, shapes))
    return final + (Spec(variant, ()),) * (len(final) + len(body.kept))


@op("While", infer=_loop_outputs, stateful=True)
def while_(*values: Passed, cond, body, shapes, record, back_prop=True, run):
    """A body repeated while a condition holds. values: loop variables, captures of cond, captures of body.

    shapes: shape invariants. record: a dict; when its "on" is true, the loop also gives for each loop
    variable the list of its values at the start of each iteration, which the gradient reads, and for each tensor
    that the body keeps a list of its values. -> final loop variables, then the lists.
    """
    count = len(shapes)
    state = list(values[:count])
    split = count + len(cond.captured)
    also = [t for t in body.recalled if body.computes is None or t.op in body.computes] if record["on"] else []
    goes_on, repeat = run.caller(cond, values[count:split]), run.caller(body, values[split:], tuple(also))
    history = [History() for _ in (*state, *body.kept)]
    recalled = {tensor: [] for tensor in also}
    past, is_recorded = [], record["on"]
    turn, has_deadline = 0, deadline() is not None
    while goes_on(state, turn)[0]:
        if has_deadline:
            check_deadline(f"the loop {run.op.name!r}")
        given = repeat(state, turn + 1)
        if is_recorded:
            past.append((*state, *given[count:]))
        state = given[:count]
        turn += 2
    for values, column in zip((*history, *recalled.values()), zip(*past)):
        values.extend(column)
    history[0].recalled = recalled
    return (*state, *history)


@op("Recall", infer=lambda *inputs, count, **_: tuple(Spec(t.dtype.base_dtype, t.dims) for t in inputs[count:]),
    stateful=True)
def recall(*inputs: Passed, type, attrs, override, count):
    """The output of an op in the original call, for a gradient that repeats the call.

    inputs: the `count` inputs of that op, to which its gradient goes, then its outputs. type, attrs, override: its own.
    """
    return unpacked(inputs[count:])
