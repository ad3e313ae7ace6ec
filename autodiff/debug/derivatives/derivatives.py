"""Derivatives on demand: of any tensor by any other, of first and second order, unseen by the script."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...core.constant_value import is_one
from ...core.errors import ArgumentError, AutodiffError
from ...core.graph import Graph, Operation, Tensor
from ...core.indexed_slices import IndexedSlices, dense
from ...core.op import build
from ...gradients.backprop import gradients
from ...gradients.batching import vectorize
from ...gradients.blocked_reasons import GradientCall
from ...gradients.higher_order import jacobian
from ...gradients.sweep import Sweep
from ..facts.graph_lists import calls_of
from ..facts.layer import is_in_layer
from ..facts.roles import is_variable
from .hidden_ops import HiddenOps


@dataclass(frozen=True, eq=False)
class Product:
    """A Hessian-vector product as graph: `result` for one direction; `rows` for several on a leading axis, None if an
    op on the way cannot be vectorized."""

    direction: Tensor
    result: Tensor
    directions: Tensor | None = None
    rows: Tensor | None = None


class Derivatives:
    """Gradients of one graph: those the script built, and hidden ones built when they are asked for."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.hidden = HiddenOps(graph)
        self._built: dict[tuple[Tensor, Tensor], tuple[Any, GradientCall]] = {}
        self._products: dict[tuple[Tensor, Tensor], Product | None] = {}
        self._jacobians: dict[tuple[Tensor, Tensor], Tensor | None] = {}
        self._parts: dict[tuple[Tensor, Operation, Tensor], Tensor | None] = {}

    def script_call(self, y: Tensor) -> GradientCall | None:
        """The script's last gradient call of y alone, not weighted by a grad_ys; None if there is none."""
        for call in reversed(calls_of(self.graph)):
            if call.ys == (y,) and is_plain(call):
                return call
        return None

    def maker(self, y: Tensor) -> str:
        """Whose call made the gradients of y that are shown: the script's, the prompt's, or built on demand."""
        call = self.script_call(y)
        if call is None:
            return "built on demand"
        seed = call.found[call.ys[0]]
        return f"the {'prompt' if is_in_layer(seed.op) else 'script'}'s gradient call"  # type: ignore[union-attr]

    def gradient(self, y: Tensor, x: Tensor) -> tuple[Any, GradientCall]:
        """d sum(y) / d x (a Tensor, IndexedSlices or None), and the call it is from: the script's, if it has it."""
        for tensor in (y, x):
            if tensor.graph is not self.graph:
                raise ArgumentError(f"{tensor.name!r} is inside of a branch or loop: this is answered for tensors "
                                    "outside of them only",
                                    hint="`grad` gives its gradient in each iteration, `print` its value")
        call = self.script_call(y)
        if call is not None and call.found.get(x) is not None and not call.stops:
            return call.found[x], call
        if (y, x) not in self._built:
            self._built[y, x] = self._build(y, x)
        return self._built[y, x]

    def known(self, y: Tensor, x: Tensor) -> Any:
        """The gradient if some call has it already, else None; builds nothing."""
        call = self.script_call(y)
        found = None if call is None else call.found.get(x)
        return found if found is not None else self._built.get((y, x), (None, None))[0]

    def prepare(self, y: Tensor, xs: list[Tensor]) -> None:
        """Build what `gradient` will be asked for, in one backward pass."""
        call = self.script_call(y)
        missing = [x for x in xs if (y, x) not in self._built
                   and (call is None or call.stops or call.found.get(x) is None)]
        if missing:
            try:
                with self.hidden.building() as calls:
                    found = gradients(y, missing)
            except AutodiffError:
                return  # one of them has no gradient rule on its path: `gradient` will tell which
            for x, gradient in zip(missing, found):
                self._built[y, x] = gradient, calls[-1]

    def _build(self, y: Tensor, x: Tensor) -> tuple[Any, GradientCall]:
        with self.hidden.building() as calls:
            found = gradients(y, x)[0]
        return found, calls[-1]

    def all_from(self, y: Tensor, x: Tensor) -> dict[Tensor, Any]:
        """The gradients of y at every tensor between y and x."""
        _, call = self.gradient(y, x)
        return {tensor: found for tensor, found in call.found.items() if found is not None}

    def parts(self, y: Tensor, x: Tensor, edges: Sequence[tuple[Operation, Tensor]]) -> dict[Any, Tensor]:
        """What single ops between y and x add to the gradient at one of their inputs, for (op, input); those known."""
        arriving = self.all_from(y, x)
        missing = [edge for edge in edges if (y, *edge) not in self._parts]
        if missing:
            with self.hidden.building():
                for op, tensor in missing:
                    self._parts[y, op, tensor] = self._part(op, tensor, arriving)
        return {(op, tensor): part for op, tensor in edges if (part := self._parts[y, op, tensor]) is not None}

    def _part(self, op: Operation, tensor: Tensor, arriving: dict[Tensor, Any]) -> Tensor | None:
        """What one op adds to the gradient at its input, by its rule alone."""
        outputs = [t for t in op.outputs if t in arriving]
        sweep = Sweep(self.graph, outputs, {op: 0}, set())
        try:
            sweep.run(outputs, [dense(arriving[t]) for t in outputs])
        except AutodiffError:
            return None  # the gradient of the whole was built otherwise
        found = sweep.gradient_of(tensor)
        return None if found is None else dense(found)

    def dense(self, gradient: Any) -> Tensor:
        """A gradient as one tensor; rows become the array they stand for."""
        if isinstance(gradient, IndexedSlices):
            with self.hidden.building():
                return dense(gradient)
        return gradient

    def of_order(self, y: Tensor, x: Tensor, order: int) -> Any:
        """The gradient at x of y (order 1), of the sum of that gradient (2), and so on; None if there is none."""
        found = self.gradient(y, x)[0]
        for _ in range(order - 1):
            if found is None:
                return None
            found = self.gradient(self.dense(found), x)[0]
        return found

    def per_example(self, y: Tensor, x: Tensor) -> Tensor | None:
        """d y / d x with one leading axis for the elements of y."""
        if (y, x) not in self._jacobians:
            with self.hidden.building():
                self._jacobians[y, x] = jacobian(y, _readable(x))
        return self._jacobians[y, x]

    def product(self, y: Tensor, x: Tensor) -> Product | None:
        """Hessian times vector, for directions fed to placeholders; None if y does not depend on x."""
        if (y, x) not in self._products:
            self._products[y, x] = self._product(y, x)
        return self._products[y, x]

    def _product(self, y: Tensor, x: Tensor) -> Product | None:
        first, _ = self.gradient(y, x)
        if first is None:
            return None
        dtype = x.dtype.base_dtype if is_variable(x) and x.dtype.name != "resource" else first.dtype.base_dtype
        with self.hidden.building():
            gradient = dense(first)
            dims = None if gradient.dims is None else list(gradient.dims)
            direction = build.Placeholder(dtype=dtype, shape=dims, name="direction")
            second = gradients(gradient, [x], grad_ys=[direction])[0]
            result = build.ZerosLike(gradient) if second is None else build.Identity(dense(second))
            stacked = None if dims is None else [None, *dims]
            directions = build.Placeholder(dtype=dtype, shape=stacked, name="directions")
            rows: Tensor | None = None
            if second is not None:
                try:
                    rows = vectorize([result], {direction: directions}, build.Shape(directions)[0])[0]
                except AutodiffError:
                    rows = None
        return Product(direction, result, directions, rows)


def _readable(x: Tensor) -> Any:
    if x.dtype.name == "resource":
        raise ArgumentError(f"per-example gradients of the resource variable {x.name!r}: name the tensor read from it")
    return x


def is_plain(call: GradientCall) -> bool:
    """Whether its ys received ones."""
    found = call.found.get(call.ys[0])
    if found is None or isinstance(found, IndexedSlices):
        return False
    seeds = [found.op, *(t.op for t in found.op.inputs)]
    return any(op.type == "Fill" and op.origin is call.ys[0].op and is_one(op.inputs[1]) for op in seeds)
