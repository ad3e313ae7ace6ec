"""The gradient rule of one operation: found, called with what its outputs received, its answer checked."""
from __future__ import annotations

from typing import Any

from ..core.errors import ArgumentError, NoGradientError, ShapeError
from ..core.graph import Graph, Operation, Tensor
from ..core.indexed_slices import IndexedSlices, dense
from ..core.names import RuleScopes
from ..core.op import OPS, REGISTERED_GRADIENTS, Blocked, blocked, build
from ..core.shapes import compatible, show
from ..core.site import inside
from ..ops.common.op_counts import counted_as
from .aggregate import Gradient
from .between import carries_gradient, inputs_of
from .blocked_reasons import no_gradient_reason, note_blocked
from .rule_counts import rule_count

_TAKE_NONE = frozenset(("If", "While"))  # rules that ask which outputs receive anything: not all depend on all inputs
# rules that pass IndexedSlices on
_TAKE_ROWS = frozenset(("Identity", "DebugGradientIdentity", "ReadVariableOp", "Captured"))


def apply_rule(graph: Graph, op: Operation, y: Tensor, dys: dict[Tensor, Gradient | None], *,
               gate: bool, scopes: RuleScopes) -> list[Gradient | None]:
    """The gradient of each input of `op`; None where no gradient flows, and the graph then keeps the reason.

    dys: what each output received; zeros are put there where nothing arrived and the rule wants a tensor.
    gate: no gradient is ready before all are. scopes: where the rules of this sweep build.
    Raises NoGradientError (LookupError) without a rule, ArgumentError or ShapeError (ValueError) for a wrong answer.
    """
    saved = graph.in_rule, graph.backprop_origin, graph.made_from
    scopes.open(op)
    graph.in_rule, graph.backprop_origin = scopes, (op, y)
    try:
        rule = op._more is None and op.definition.gradient_rule or rule_of(op)
        if rule is None:
            reason = no_gradient_reason(op) or ""
            for index in range(len(op.inputs)):
                note_blocked(graph, op, index, reason)
            return [None] * len(op.inputs)
        if rule not in scopes.made_from:
            scopes.made_from[rule] = inside(graph.made_from, rule)
        graph.made_from = scopes.made_from[rule]
        inputs = op.inputs or inputs_of(op)
        if graph.seed is None:
            dxs = _answer(rule, op, dys, inputs)
        else:
            with counted_as(rule_count(op)):
                dxs = _answer(rule, op, dys, inputs)
        for dx, tensor in zip(dxs, inputs):
            if type(dx) is not Tensor or dx.dims != tensor.dims or not tensor.dtype.base_dtype.is_differentiable:
                dxs = [_checked(graph, op, tensor, index, dx) for index, (dx, tensor) in enumerate(zip(dxs, inputs))]
                break
        return _gated(graph, dxs) if gate and sum(dx is not None for dx in dxs) > 1 else dxs
    finally:
        graph.in_rule, graph.backprop_origin, graph.made_from = saved
        scopes.close()


def rule_of(op: Operation) -> Any:
    """The gradient rule of an operation, or None if it is declared to have none.

    Raises NoGradientError (LookupError) if there should be one and is not.
    """
    if op.override is not None:
        if op.override not in REGISTERED_GRADIENTS:
            if op.override in OPS and (OPS[op.override].gradient_rule or OPS[op.override].no_grad):
                return OPS[op.override].gradient_rule  # another op's own, as of Identity
            raise NoGradientError(f"no gradient is registered under the name {op.override!r}",
                                  node=f"{op.name}: {op.describe()}", line=f"{op.site}",
                                  hint=f"register one with @tf.RegisterGradient({op.override!r})")
        return REGISTERED_GRADIENTS[op.override]
    definition = op.definition
    if definition.gradient_rule is None and definition.no_grad is None:
        if op.type in REGISTERED_GRADIENTS:
            return REGISTERED_GRADIENTS[op.type]
        raise NoGradientError(f"no gradient is defined for operation {op.name!r} (op type {op.type}): "
                              f"{definition.no_rule}", line=f"{op.site}",
                              hint="compute with what it is given instead, or with tf.stop_gradient of what it gives")
    return definition.gradient_rule


def _given(op: Operation, dys: dict[Tensor, Gradient | None]) -> list[Gradient | None]:
    """What a rule is given: what each output received, made dense and filled up with zeros as far as it wants that."""
    given = [dys[t] for t in op.outputs]
    kind = op.definition.name
    if kind not in _TAKE_NONE:
        for index, tensor in enumerate(op.outputs):
            if given[index] is None and tensor.dtype.base_dtype.is_differentiable:
                given[index] = dys[tensor] = build.ZerosLike(tensor)
    if kind not in _TAKE_ROWS:
        given = [dense(dy) if isinstance(dy, IndexedSlices) and t.dtype.name != "resource" else dy
                 for t, dy in zip(op.outputs, given)]
    return given


def _answer(rule: Any, op: Operation, dys: dict[Tensor, Gradient | None], inputs: tuple[Tensor, ...]) -> list[Any]:
    """The answers of the rule, one for each input."""
    made = op._outputs
    dy = dys[made] if type(made) is Tensor else None  # as most have it: one tensor for one
    dxs = rule(op, dy) if type(dy) is Tensor else rule(op, *_given(op, dys))
    if type(dxs) is not tuple:
        dxs = list(dxs) if isinstance(dxs, (list, tuple)) and not isinstance(dxs, Blocked) else [dxs]
    if len(dxs) != len(inputs):
        raise ArgumentError(f"the gradient of {op.type} gave {len(dxs)} gradients for {len(op.inputs)} inputs",
                            node=f"{op.name}: {op.describe()}", line=f"{op.site}")
    return dxs


def _checked(graph: Graph, op: Operation, tensor: Tensor, index: int, dx: Any) -> Gradient | None:
    """The gradient of one input, with the shape of the input; None, and a note why, if the rule blocks it."""
    dx = blocked(f"the gradient function of {op.type} gives None for this input") if dx is None else dx
    if isinstance(dx, Blocked):
        note_blocked(graph, op, index, dx.reason)
        return None
    if not carries_gradient(tensor):
        return None
    if isinstance(dx, Tensor) and tensor.dtype.base_dtype.is_differentiable:
        if not compatible(dx.dims, tensor.dims):
            raise ShapeError(f"the gradient of {op.type} for {tensor.name!r} has shape {show(dx.dims)}, expected "
                             f"{show(tensor.dims)}", node=f"{op.name}: {op.describe()}", line=f"{op.site}")
        if dx.dims != tensor.dims:
            dx.set_shape(tensor.dims)
    return dx


def _gated(graph: Graph, dxs: list[Gradient | None]) -> list[Gradient | None]:
    """The same gradients, none of them ready before all are: gate_gradients, in TensorFlow's names."""
    with graph.name_scope("tuple"):
        with graph.control_dependencies([dx.op for dx in dxs if dx is not None]):
            group = build.NoOp(name="group_deps")
        with graph.control_dependencies([group]):
            return [_held(dx) for dx in dxs]


def _held(dx: Gradient | None) -> Gradient | None:
    if dx is None:
        return None
    if isinstance(dx, IndexedSlices):
        return IndexedSlices(build.Identity(dx.values, name="control_dependency"), dx.indices, dx.dense_shape)
    return build.Identity(dx, name="control_dependency")
