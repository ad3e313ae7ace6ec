"""Traps in a graph that show without running it: where a gradient will be nan, None, or vanish."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.constant_value import is_one, static_value
from ...core.graph import Operation, Tensor
from ...core.traversal import ancestors, descendants, in_order, past, users_of
from ..facts.roles import READS, at_line, place_of
from .advice import advice_of
from .attenuation import SATURATING
from .cut_remedies import is_straight_through
from .edits.in_graph import SELECTS
from .edits.of_givens import MATRICES
from .findings import Finding
from .flow import cuts_between, live_ops
from .kept_away import CARRIES, MANY, is_kept_away, is_risky_power, sign_of
from .mistakes.case import SHAPES, finding
from .mistakes.heads import through
from .remedies import is_sum_of_squares
from .silent_mistakes import silent_mistakes, suspicions
from .update_blame import is_kept_out, is_no_weight
from .why import CHAIN, why_none

_UNSAFE = {"Log": "log'(0) is inf", "Log1p": "log1p'(-1) is inf", "Sqrt": "sqrt'(0) is inf", "Rsqrt": "rsqrt(0) is inf",
           "Reciprocal": "1 / 0 is inf", "RealDiv": "x / 0 is inf", "Exp": "exp(x) overflows",
           "Pow": "the derivative of a power at base 0 is inf", "Acos": "acos'(1) is inf", "Asin": "asin'(1) is inf",
           "Acosh": "acosh'(1) is inf", "Atanh": "atanh'(1) is inf"}
_ZERO_STAYS = ("Sqrt", "Rsqrt")  # rules by which a gradient of 0 gives 0, whatever the slope
_PASS = ("Identity", "Reshape", "Sum", "Mean", "Neg", "Mul", "ExpandDims", "Squeeze", "Cast", "StridedSlice",
         "Transpose", "BroadcastTo", "Add", "AddV2", "Sub", "Pack", "ConcatV2", "Tile", "Max", "Min")
_TIMES = 3  # products by the same weights, from which on they are those of a cell in time
_GROWTH = 1e4  # over all iterations, from which on a training does not survive its first step
_SQUASHES = ("Tanh", "Sigmoid", "Softsign", "Relu6")  # what keeps a state bounded


_LOOKUP = "TensorFlow 1.15 refuses that with a LookupError"
_ONCE = {  # op -> the op of its gradient, whose derivative TensorFlow does not have; what is said; what to do
    "SparseSoftmaxCrossEntropyWithLogits": ("Mul", f"{_LOOKUP}, as one kernel is loss and gradient",
        "tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.one_hot(labels, k), logits=logits)"),
    **{kind: (f"{kind}Grad", _LOOKUP, "repeat rows and columns by tf.tile, or multiply by a constant matrix")
       for kind in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic")},
    "Softsign": ("SoftsignGrad", _LOOKUP, "x / (1 + tf.abs(x))"),
    "MaxPoolWithArgmax": ("MaxPoolGradWithArgmax", _LOOKUP, "tf.nn.max_pool"),
    "While": ("While", "TensorFlow 1.15 refuses that with a TypeError: second-order gradient for while loops not "
              "supported", "a loop of Python's, which makes the ops of each turn, as tf.nn.static_rnn does")}


def taken_twice(ops: Iterable[Operation]) -> list[Finding]:
    """Ops whose second derivative is taken, of those that have none in TensorFlow."""
    found: dict[Operation, None] = {}
    for op in ops:
        of = op.origin
        if of is not None and op.type == "Softmax" and of.type.startswith("Sparse"):
            found[of] = None
        elif of is not None and of.origin is not None and of.origin.type in _ONCE and of.origin.origin is None and (
                of.type == _ONCE[of.origin.type][0] != "Mul"):
            found[of.origin] = None
    return [finding(45, "second derivative", op, f"its second derivative is taken: {_ONCE[op.type][1]}",
                    f"where the script is to run there too: {_ONCE[op.type][2]}") for op in found
            if not advice_of(op.graph).words]


def static_findings(y: Tensor | None, variables: Sequence[Tensor], ops: Iterable[Operation]) -> list[Finding]:
    """Traps on the way from the variables to y (None: in all ops), the worst first."""
    ops = [*ops]
    forward = [op for op in ops if op.gradient_of is None]
    if y is not None:
        below = live_ops(y)
        forward = [op for op in forward if op in below]
    trained = descendants(variables) if variables else set(forward)
    moved = {op.name for op in trained}  # no gradient goes to what else is chosen from
    found = [trap for op in forward if op in trained for trap in _of_op(op) if trap.op in moved] + taken_twice(ops)
    if y is not None:
        found += suspicions(y, [op for op in forward if op in trained])
        found += silent_mistakes(y, y.graph.operations.values(), variables)
        behind = ancestors([y])
        found += [each for v in variables for each in _of_variable(y, v, behind)]
        found += _chains(y, variables)
    listed: dict[tuple[str, str, str], Finding] = {}
    for each in found:
        listed.setdefault((each.kind, each.op, each.target), each)
    return sorted(listed.values(), key=lambda f: -f.severity)


def _of_op(op: Operation) -> list[Finding]:
    if op.type in SELECTS:
        return _where(op)
    if op.type == "Log" and not is_kept_away(op.inputs[0]):
        return [_of_log(op)]
    if op.type in ("Sqrt", "Rsqrt") and not is_kept_away(op.inputs[0]):
        if is_sum_of_squares(op.inputs[0]):
            return [finding(42, "norm", op, "a norm, whose derivative at 0 is nan: sqrt'(0) is inf, times 0",
                            "tf.sqrt(tf.reduce_sum(x * x) + 1e-12)")]
        return [finding(36, "sqrt", op, f"{op.type.lower()} of something that may be 0: {_UNSAFE[op.type]}",
                        f"tf.{op.type.lower()}(x + 1e-12)")]
    if op.type == "RealDiv" and not is_kept_away(op.inputs[1]):
        return [finding(28, "division", op, "a division by something that may be 0",
                        "tf.div_no_nan(x, y), or x / (y + 1e-12)")]
    if op.type == "Pow" and is_risky_power(op):
        return [finding(38, "power", op, "a power whose derivative at base 0 is inf or nan",
                        "tf.pow(tf.maximum(x, 1e-12), p)")]
    if op.type in ("Acos", "Asin") and op.inputs[0].op.type not in ("Minimum", "Maximum"):
        return [finding(28, "arc", op, f"{op.type.lower()} of something that may be 1: {_UNSAFE[op.type]}",
                        "keep the argument inside (-1, 1): tf.clip_by_value(x, -1 + 1e-6, 1 - 1e-6)")]
    if op.type in ("Svd", "SelfAdjointEigV2") and any(t._consumers for t in op.outputs[1:]):
        return [finding(36, "decomposition", op, "vectors of a decomposition: with equal values their derivative is "
                        "nan", "use the values alone, or break the tie")]
    return []


def _of_log(op: Operation) -> Finding:
    """What may be 0 under a logarithm; of a sigmoid's and that of 1 less it the latter is told, as it is 0 first.

    The target is what it is the logarithm of: of all logarithms of that one is told."""
    source = past(op.inputs[0], CARRIES).op
    of = source.outputs[0].name
    if source.type == "Softmax":
        return finding(49, "log of softmax", op, "log of a softmax: a probability underflows to 0 and gives -inf",
                       "use tf.nn.log_softmax, or tf.nn.softmax_cross_entropy_with_logits", target=of)
    if source.type == "Sigmoid":
        return finding(48, "log of sigmoid", op, "log of a sigmoid: it underflows to 0 and gives -inf",
                       "use tf.nn.sigmoid_cross_entropy_with_logits, or tf.log_sigmoid", target=of)
    share = past(source.inputs[1], CARRIES) if source.type == "Sub" and is_one(source.inputs[0]) else op.outputs[0]
    if share.op.type == "Sigmoid":
        other = next((f" as well as that of the sigmoid itself{at_line(place_of(log))}" for log in through(share)
                      if log.type == "Log"), "")
        return finding(49, "log of sigmoid", op, f"log of 1 less a sigmoid, which rounds to 1: it gives -inf{other}",
                       "use tf.nn.sigmoid_cross_entropy_with_logits, or tf.log_sigmoid(-x)", target=share.name)
    return finding(30, "log", op, "log of something that may be 0", "tf.log(tf.maximum(x, 1e-12))")


def _where(op: Operation) -> list[Finding]:
    """tf.where over something unsafe: the branch that is not taken gets the gradient 0, and 0 * inf is nan."""
    for branch in () if _leaves_labels_out(op) else op.inputs[1:3]:
        unsafe = _unsafe_above(branch)
        either = unsafe is not None and (all(unsafe in ancestors([t]) for t in op.inputs[1:3]) or unsafe.type == "Exp"
                                         and not ancestors(op.outputs).issuperset(users_of(unsafe)))
        choice, equal = op.inputs[0].op, "NotEqual" if branch is op.inputs[1] else "Equal"
        if unsafe is not None and unsafe.type in ("RealDiv", "Reciprocal", "Log"):  # not where it is that number itself
            either |= choice.type == equal and branch in choice.inputs
        if unsafe is not None and not either and branch not in _if_large(op, unsafe) and not _is_guarded(unsafe):
            return [finding(57, "where trap", unsafe, f"tf.where ({op.name}) over {unsafe.type}: "
                            f"{_UNSAFE[unsafe.type]} on the branch not taken, and its gradient 0 * inf is nan", "guard "
                            "the input, not the output: safe = tf.where(ok, x, tf.ones_like(x)), then tf.where(ok, "
                            f"{unsafe.type.lower()}(safe), other)", target=op.name)]
    return []


def _leaves_labels_out(where: Operation) -> bool:
    """Whether it chooses by labels that are to be ignored, which it chooses as well: a cross entropy's own."""
    choice = where.inputs[0]
    return choice.op.type == "NotEqual" and any(each.type in SELECTS and each.inputs[1] is choice.op.inputs[0]
                                                for each in choice._consumers)


def _if_large(where: Operation, exp: Operation) -> list[Tensor]:
    """The branch that is taken where an exponential overflows, as its own comparison chooses; [] if none does."""
    choice = where.inputs[0].op
    sides = [i for i, t in enumerate(choice.inputs) if exp in ancestors([t])] if exp.type == "Exp" else []
    is_more = choice.type in ("Greater", "GreaterEqual")
    if len(sides) != 1 or not is_more and choice.type not in ("Less", "LessEqual"):
        return []
    return [where.inputs[1 + sides[0] if is_more else 2 - sides[0]]]


def _unsafe_above(tensor: Tensor) -> Operation | None:
    """The nearest op above that may give inf, within a few ops."""
    level, seen = [tensor.op], {tensor.op}
    for _ in range(MANY):
        above: list[Operation] = []
        for op in level:
            if op.type in _UNSAFE and op.type not in _ZERO_STAYS and not _is_harmless(op):
                return op
            if op.type not in MATRICES and not op.override:  # of which each element takes all, or that has its own rule
                above += [t.op for t in op.inputs if t.op not in seen]
            seen.update(above)
        level = above
    return None


def _is_harmless(op: Operation) -> bool:
    """Whether what the op must not be given is kept away from it."""
    if op.type == "RealDiv":
        return is_kept_away(op.inputs[1])
    if op.type == "Pow":
        return not is_risky_power(op)
    return op.type in ("Log", "Reciprocal") and is_kept_away(op.inputs[0]) or (
        op.type == "Exp" and sign_of(op.inputs[0]) < 0)


def _is_guarded(op: Operation) -> bool:
    """Whether the argument that must not be 0 went through a choice or a bound of its own."""
    argument = op.inputs[1] if op.type == "RealDiv" else op.inputs[0]
    return argument.op.type in (*SELECTS, "Maximum", "Minimum")


def _of_variable(y: Tensor, variable: Tensor, behind: set[Operation]) -> list[Finding]:
    """Why a variable will get no gradient, and where one of several paths to it is cut."""
    cuts, flows = cuts_between(y, variable, behind)
    if not flows and (is_no_weight(variable) or is_kept_out(variable, cuts)):
        return []  # a target network's, or a learning rate: it is not meant to be trained
    if not flows:
        found = why_none(y, variable)
        first = next((cut for cut in found.cuts if cut.first), None)
        op = variable.op if first is None else y.graph.operations.get(first.op, variable.op)
        return [finding(90 if found.kind == "cut" else 55, "no gradient", op,
                        f"no gradient reaches {variable.name}: {found.text}", found.remedy, target=variable.name)]
    straight = {op.name for op in ancestors([op.inputs[0] for op in behind if is_straight_through(op)] if cuts else ())}
    return [Finding(25, "cut path", cut.op, cut.op_type, variable.name,
                    f"one of the paths to {variable.name} is cut: {cut.reason}", cut.remedy, f"path {y.name} "
                    f"{variable.name}", cut.place) for cut in cuts if cut.first and cut.kind in (
                        "no gradient", "no rule", "integer") and cut.op not in straight
                    and not _only_asks(y.graph.operations.get(cut.op))]


def _only_asks(op: Operation | None) -> bool:
    """Whether an op only asks something: masks and shapes are not meant to carry gradients."""
    if op is None or op.type in SHAPES or all(t.dtype.name == "bool" for t in op.outputs):
        return True
    is_choice = bool(op.inputs) and not all(t.dtype.is_floating for t in (op.outputs[0], *op.inputs))
    return is_choice and any(o.type in SHAPES for o in ancestors(op.inputs))


def _is_unrolled(ops: Iterable[Operation]) -> bool:
    """Whether the same weights are multiplied by again and again."""
    uses = Counter(t for op in ops if op.type == "MatMul" for t in op.inputs[1:] if t.op.type in _PASS)
    return max(uses.values(), default=0) >= _TIMES


def _chains(y: Tensor, variables: Sequence[Tensor]) -> list[Finding]:
    """Long chains of squashing functions, on every way back from y to a variable: what goes beside them, as by a skip
    connection, or as what a gate lets through, is not shrunk."""
    behind = in_order(ancestors([y]))
    if _is_unrolled(behind):  # a cell in time: what it remembers passes beside its squashing functions
        return []
    before: dict[Operation, int] = {y.op: int(y.op.type in SATURATING)}
    for op in reversed(behind):
        for source in (t.op for t in op.inputs if op in before):
            passed = before[op] + (source.type in SATURATING)
            before[source] = min(before.get(source, passed), passed)
    deepest = max((before.get(variable.op, 0) for variable in variables), default=0)
    if deepest <= CHAIN:
        return []
    last = next(op for op in reversed(behind) if op.type in SATURATING)
    return [finding(30, "squashing chain", last, f"{deepest} squashing functions in a row ({last.type}): each shrinks "
                    "the gradient, so the first layers will hardly learn",
                    "use tf.nn.relu, skip connections, or normalize each layer")]


def loop_growth(loop: Operation, start: Mapping[str, Any]) -> list[Finding]:
    """Linear recurrences that explode. start: the values of variables before the first step."""
    turns, body = _turns(loop), loop.attrs["body"].graph
    inner = list(body.operations.values())
    if turns is None or any(op.type in _SQUASHES for op in inner):
        return []
    for op in inner:
        if op.type != "MatMul":
            continue
        variable = next((v for v in map(_variable, op.inputs) if v is not None), None)
        if variable is None:
            continue
        matrix = np.asarray(start.get(variable.name))
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
            continue
        largest = float(np.abs(np.linalg.eigvals(matrix.astype(np.float64))).max())
        growth = largest**turns if turns * np.log10(max(largest, 1e-9)) < 300 else np.inf
        if growth > _GROWTH:
            return [Finding(107, "growing loop", op.name, op.type, f"{variable.name}:0", f"{loop.name} multiplies by "
                            f"{variable.name} {turns} times, whose largest eigenvalue was {largest:.3g} at the start: "
                            f"states and gradients grow by {largest:.3g}^{turns} = {growth:.2g}", "begin with a matrix "
                            f"of eigenvalues up to 1: divide its initial value by {largest:.3g}; clip with "
                            "tf.clip_by_global_norm; or take a gated cell", f"grad {loop.name}", place_of(op))]
    return []


def _variable(tensor: Tensor) -> Operation | None:
    """The variable that an input of a body's op was read from, outside."""
    op = tensor.op
    while op.type in READS:
        op = op.attrs["external"].op if op.type == "Captured" else op.inputs[0].op
    return op if op.type in ("VariableV2", "VarHandleOp") else None


def _turns(loop: Operation) -> int | None:
    """How often a loop runs that counts up to a constant; None where that cannot be told."""
    for op in loop.attrs["cond"].graph.operations.values():
        if op.type in ("Less", "LessEqual"):
            value = static_value(op.inputs[1])
            if value is not None and value.size == 1:
                return int(value) + (op.type == "LessEqual")
    return None
