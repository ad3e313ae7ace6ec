"""Ops evaluated by their kernels alone, in double precision."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.dtypes import DType, as_dtype
from ...core.errors import ArgumentError
from ...core.function_graph import is_kernel
from ...core.graph import Graph, Operation, Tensor
from ...core.traversal import ancestors, in_order
from ...runtime.plan.state import Run
from ...runtime.session import RepeatSession
from ..facts.roles import is_variable

Values = Mapping[Tensor, Any]
_WIDE = {"float32": "float64", "float16": "float64", "bfloat16": "float64", "complex64": "complex128"}


def widened(value: Any) -> Any:
    """A float or complex array in double precision, also in a list; anything else as it is."""
    if isinstance(value, list):
        return [widened(item) for item in value]
    array = np.asarray(value)
    name = array.dtype.name
    return array.astype(_WIDE[name]) if name in _WIDE else value


def own_attrs(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes for a copy of an op: the note that a loop keeps of its iterations is the original's."""
    return {name: dict(value) if isinstance(value, dict) else value for name, value in attrs.items()}


def wide_attrs(op: Operation) -> dict[str, Any]:
    """The op's attributes, dtypes of floats widened."""
    found: dict[str, Any] = {}
    for name, value in own_attrs(op.attrs).items():
        is_named = name == "dtype" and value is not None
        dtype = value if isinstance(value, DType) else as_dtype(value) if is_named else None
        found[name] = as_dtype(_WIDE[dtype.name]) if dtype is not None and dtype.name in _WIDE else value
    return {**found, "types": [_WIDE.get(name, name) for name in found["types"]]} if is_kernel(op) else found


def wide_session(graph: Graph) -> RepeatSession:
    """A session of its own compiled bodies of branches and loops: those of runs have buffers for the graph's dtypes."""
    session = RepeatSession(graph=graph)
    session.makes = (*session.makes, "float64")
    return session


class Kernels:
    """Evaluates ops by their kernels alone, in double precision."""

    def __init__(self, graph: Graph) -> None:
        self._run = Run(wide_session(graph), 1)

    def of(self, op: Operation, args: Sequence[Any]) -> list[Any]:
        """The outputs of one op."""
        self._run.op = op
        attrs = wide_attrs(op)
        if op.definition.takes_run:
            attrs["run"] = self._run
        with np.errstate(all="ignore"):
            result = op.definition.kernel(*args, **attrs)
        return [result] if len(op.outputs) == 1 else list(result)

    def values(self, tensors: Sequence[Tensor], known: Values) -> list[Any]:
        """Tensors computed from `known` ones, which are not computed again. Raises ArgumentError for variables."""
        found = dict(known)
        for op in in_order(ancestors(tensors, known)):
            if is_variable(op.outputs[0]):
                raise ArgumentError(f"{op.name} has no value here")
            found.update(zip(op.outputs, self.of(op, [found[t] for t in op.inputs])))
        return [found[t] for t in tensors]
