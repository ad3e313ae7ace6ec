"""Kernels of ops on tensors of unknown shapes: those of their values are judged in the run, as a build judges them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.errors import InvalidArgumentError
from ...core.function_graph import Function
from ...core.graph import Operation
from ...core.infer import broadcast_shape, broadcast_test, same_shape, same_shape_test
from .run_sentences import refusal_of_a_build

_ANY = (same_shape, same_shape_test, broadcast_shape, broadcast_test)  # what NumPy judges as they do
_MOST = 64  # combinations of shapes remembered for an op


def kernel_of(op: Operation) -> Callable[..., Any]:
    """The op's kernel; if no build has seen whether its inputs fit, one that refuses values of shapes that do not.

    Many kernels are NumPy functions that would make something of others: sums repeat what has one row.
    """
    definition = op.definition
    if definition.infer in _ANY or op.type == "Reshape" or not (_has_unknown_rank(op) or _has_sizes_to_compare(op)):
        return definition.kernel
    if any(t.dtype.name in ("variant", "resource") or t.dtype.is_ref for t in op.inputs):
        return definition.kernel
    return definition.kernel if any(isinstance(v, Function) for v in op.attrs.values()) else _Judged(op)


def _has_unknown_rank(op: Operation) -> bool:
    return any([tensor.dims is None for tensor in op.inputs])


def _has_sizes_to_compare(op: Operation) -> bool:
    free = [tensor.dims for tensor in op.inputs if tensor.op.type != "Const"]
    return len(free) > 1 and any([None in dims for dims in free])  # type: ignore[operator]


class _Judged:
    """A kernel that looks at the shapes of its arguments, once for each combination."""

    __slots__ = ("_op", "_kernel", "_seen")

    def __init__(self, op: Operation) -> None:
        self._op, self._kernel = op, op.definition.kernel
        self._seen: set[tuple[Any, ...]] = set()

    def __call__(self, *args: Any, **attrs: Any) -> Any:
        shapes = tuple([getattr(value, "shape", None) for value in args])
        if shapes not in self._seen:
            if sentence := refusal_of_a_build(self._op, args):
                raise InvalidArgumentError(None, self._op, sentence)
            if len(self._seen) >= _MOST:
                self._seen.clear()
            self._seen.add(shapes)
        return self._kernel(*args, **attrs)
