"""One backward pass: from what ys receive to what reaches every tensor on the way to xs."""
from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from ..core.errors import ArgumentError, NoGradientError, ShapeError
from ..core.graph import Graph, Operation, Tensor
from ..core.indexed_slices import IndexedSlices, dense
from ..core.op import REGISTERED_GRADIENTS, Blocked, blocked, build
from ..core.shapes import compatible, show
from .aggregate import AggregationMethod, Gradient, total
from .blocked_reasons import no_gradient_reason, note_blocked


def carries_gradient(tensor: Tensor) -> bool:
    """Whether a gradient can flow through this tensor: numbers that vary continuously, a handle, or a list of them."""
    dtype = tensor.dtype.base_dtype
    return dtype.is_differentiable or dtype.name in ("resource", "variant")


class _RuleScope:
    """What a rule makes is named after its operation and belongs to it. Entered for each: leaner than two contexts."""

    __slots__ = ("graph", "saved")

    def __init__(self, graph: Graph, op: Operation, y: Tensor) -> None:
        self.graph, self.saved = graph, (graph.scope, graph.backprop_origin)
        graph.scope = graph.unique_name(f"{op.name}_grad")
        graph.backprop_origin = (op, y)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self.graph.scope, self.graph.backprop_origin = self.saved


class Sweep:
    """One backward pass. An op is processed once all of its consumers on the way to ys are.

    between: the operations that gradients may flow through. ends: those of them whose inputs
    receive nothing (the ops of xs that no other x feeds, and stop_gradients).
    """

    def __init__(self, graph: Graph, ys: list[Tensor], between: dict[Operation, None], ends: set[Operation], *,
                 method: int = AggregationMethod.DEFAULT, gate: bool = False) -> None:
        self.graph, self.ys, self.between, self.ends = graph, set(ys), between, ends
        self.method, self.gate = method, gate
        self.pending = self._consumers_between()
        self.terms: dict[Tensor, list[Gradient]] = {}
        self.final: dict[Tensor, Gradient | None] = {}
        self.y_of: dict[Operation, Tensor] = {}

    def _consumers_between(self) -> dict[Operation, int]:
        counts = dict.fromkeys(self.between, 0)
        for op in self.between:
            for tensor in inputs_of(op):
                if tensor.op in counts:
                    counts[tensor.op] += 1
        return counts

    def run(self, ys: list[Tensor], seeds: list[Gradient]) -> None:
        """Send `seeds` back from `ys`."""
        for y, seed in zip(ys, seeds):
            self._receive(y, seed)
            self.y_of.setdefault(y.op, y)
        ready = deque(dict.fromkeys(y.op for y in ys if self.pending.get(y.op) == 0))
        while ready:
            op = ready.popleft()
            dys = self._finish(op)
            dxs: Iterable[Any] = ()
            if op not in self.ends and any(dy is not None for dy in dys):
                dxs = self._differentiate(op, dys)
            inputs = inputs_of(op)
            for tensor, dx in zip(inputs, dxs):
                if dx is not None:
                    self._receive(tensor, dx)
            for tensor in inputs:
                if tensor.op in self.pending:
                    self.pending[tensor.op] -= 1
                    self.y_of.setdefault(tensor.op, self.y_of[op])
                    if self.pending[tensor.op] == 0:
                        ready.append(tensor.op)

    def _receive(self, tensor: Tensor, gradient: Gradient) -> None:
        self.terms.setdefault(tensor, []).append(gradient)

    def _finish(self, op: Operation) -> list[Gradient | None]:
        """Sum what each output received; tell whoever observes gradients of this graph."""
        if len(op.outputs) == 1 and len(self.terms.get(op.outputs[0], ())) == 1:
            sums: list[Gradient | None] = self.terms.pop(op.outputs[0])  # type: ignore[assignment]
        else:
            with self.graph.differentiating(op, self.y_of[op]):
                sums = [self._total(tensor) for tensor in op.outputs]
        observers = self.graph.extras.get("gradient_observers", ())
        for tensor, gradient in zip(op.outputs, sums):
            self.final[tensor] = gradient
            if gradient is not None and observers:
                is_y = tensor in self.ys and not any(c in self.between for c in tensor._consumers)
                for observer in observers:
                    observer.observe(tensor, gradient, is_y=is_y)
        return sums

    def _total(self, tensor: Tensor) -> Gradient | None:
        terms = self.terms.pop(tensor, None)
        return total(self.graph, terms, tensor.op.name if tensor.op is not None else "leaf", self.method
                     ) if terms else None

    def _differentiate(self, op: Operation, dys: list[Gradient | None]) -> list[Gradient | None]:
        with _RuleScope(self.graph, op, self.y_of[op]):
            rule = rule_of(op)
            if rule is None:
                reason = no_gradient_reason(op) or ""
                for i in range(len(op.inputs)):
                    note_blocked(self.graph, op, i, reason)
                return [None] * len(op.inputs)
            for i, dy in enumerate(dys):
                if dy is None and op.outputs[i].dtype.base_dtype.is_differentiable and op.type not in _TAKE_NONE:
                    dys[i] = self.final[op.outputs[i]] = build.ZerosLike(op.outputs[i])
            dxs = self._call(rule, op, dys)
            if self.gate and sum(dx is not None for dx in dxs) > 1:
                dxs = _gated(self.graph, dxs)
            return dxs

    def _call(self, rule: Any, op: Operation, dys: list[Gradient | None]) -> list[Gradient | None]:
        given = dys if op.type in _TAKE_ROWS else [dense(dy) if isinstance(dy, IndexedSlices) else dy for dy in dys]
        dxs = rule(op, *given)
        dxs = list(dxs) if isinstance(dxs, (list, tuple)) and not isinstance(dxs, Blocked) else [dxs]
        if len(dxs) != len(inputs_of(op)):
            raise ArgumentError(f"the gradient of {op.type} gave {len(dxs)} gradients for {len(op.inputs)} inputs\n"
                                f"in {op.name}: {op.describe()}\nwritten at {op.site}")
        return [self._checked(op, i, dx) for i, dx in enumerate(dxs)]

    def _checked(self, op: Operation, index: int, dx: Any) -> Gradient | None:
        tensor = inputs_of(op)[index]
        if dx is None:
            dx = blocked(f"the gradient function of {op.type} gives None for this input")
        if isinstance(dx, Blocked):
            note_blocked(self.graph, op, index, dx.reason)
            return None
        if not carries_gradient(tensor):
            return None
        if isinstance(dx, Tensor) and tensor.dtype.base_dtype.is_differentiable:
            if not compatible(dx.dims, tensor.dims):
                raise ShapeError(f"the gradient of {op.type} for {tensor.name!r} has shape {show(dx.dims)}, expected "
                                 f"{show(tensor.dims)}\nin {op.name}: {op.describe()}\nwritten at {op.site}")
            if dx.dims != tensor.dims:
                dx.set_shape(tensor.dims)
        return dx

    def gradient_of(self, x: Tensor, zeros: bool = False) -> Gradient | None:
        """What reached `x`; with `zeros`, zeros in place of None."""
        found = self.final.get(x)
        if found is None and x in self.terms:
            found = self.final[x] = self._total(x)
        if found is None and zeros:
            return zeros_for(x)
        return found


def zeros_for(x: Tensor) -> Tensor:
    """Zeros in the shape of an x; of the value behind it, if x is the handle of a variable."""
    return build.ZerosLike(build.ReadVariableOp(x) if x.dtype.base_dtype.name == "resource" else x)


_TAKE_NONE = frozenset(("If", "While"))  # rules that ask which outputs receive anything: not all depend on all inputs
_TAKE_ROWS = frozenset(("Identity", "DebugGradientIdentity", "ReadVariableOp"))  # rules that pass IndexedSlices on


def ends_of(xs: list[Tensor], stops: list[Tensor], between: dict[Operation, None]) -> set[Operation]:
    """Operations of a sweep whose inputs need no gradient."""
    return {s.op for s in stops} | {x.op for x in xs if x.op is not None
                                    and not any(t.op in between for t in x.op.inputs)}


def inputs_of(op: Operation) -> tuple[Tensor, ...]:
    """What a gradient may flow back to: the inputs; inside of a function, the outer tensor that was captured."""
    return op.inputs if op.inputs or op.type != "Captured" else (op.attrs["external"],)


def ops_between(ys: list[Tensor], xs: list[Tensor]) -> dict[Operation, None]:
    """Operations on some path from xs to ys, from the ys backwards."""
    reached = reached_from(xs)
    between: dict[Operation, None] = {}
    queue = deque(dict.fromkeys(y.op for y in ys))
    while queue:
        op = queue.popleft()
        if op in between or op not in reached:
            continue
        between[op] = None
        queue.extend(t.op for t in inputs_of(op) if t.op not in between)
    return between


def reached_from(xs: list[Tensor]) -> set[Operation]:
    """Operations that depend on some x through tensors that carry gradients, the x's own included."""
    reached: set[Operation] = set()
    queue = deque(x.op for x in xs)
    while queue:
        op = queue.popleft()
        if op in reached:
            continue
        reached.add(op)
        for tensor in op.outputs:
            if carries_gradient(tensor):
                queue.extend(tensor._consumers)
    return reached


def rule_of(op: Operation) -> Any:
    """The gradient rule of an operation, or None if it is declared to have none.

    Raises NoGradientError (LookupError) if there should be one and is not.
    """
    if op.override is not None:
        if op.override not in REGISTERED_GRADIENTS:
            raise NoGradientError(f"no gradient is registered under the name {op.override!r}\nin {op.name}: "
                                  f"{op.describe()}\nwritten at {op.site}\nregister one with "
                                  f"@tf.RegisterGradient({op.override!r})")
        return REGISTERED_GRADIENTS[op.override]
    definition = op.definition
    if definition.gradient_rule is None and definition.no_grad is None:
        if op.type in REGISTERED_GRADIENTS:
            return REGISTERED_GRADIENTS[op.type]
        raise NoGradientError(f"no gradient is defined for operation {op.name!r} (op type {op.type}): "
                              f"{definition.no_rule}\nwritten at {op.site}")
    return definition.gradient_rule


def _gated(graph: Graph, dxs: list[Gradient | None]) -> list[Gradient | None]:
    """The same gradients, none of them ready before all are."""
    with graph.name_scope("tuple"):
        group = _group(graph, [dx for dx in dxs if dx is not None])
        with graph.control_dependencies([group]):
            return [_held(dx) for dx in dxs]


def _group(graph: Graph, gradients: list[Gradient]) -> Operation:
    with graph.control_dependencies([g.op for g in gradients]):
        return build.NoOp(name="group_deps")


def _held(dx: Gradient | None) -> Gradient | None:
    if dx is None:
        return None
    if isinstance(dx, IndexedSlices):
        return IndexedSlices(build.Identity(dx.values, name="control_dependency"), dx.indices, dx.dense_shape)
    return build.Identity(dx, name="control_dependency")
