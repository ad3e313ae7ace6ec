"""Functions of datasets that make nan or inf of finite elements: which element was the first, and which op did it."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.graph import Graph, Tensor
from ...runtime.session import Session

GAVE = "gave nonfinite"  # in the extras of a function's graph: of which element, its outputs, the first such op


def look_into(graph: Graph, given: Mapping[Tensor, Any], outputs: Sequence[Tensor], made: Sequence[Any]) -> None:
    """Note in a function's graph the first element of which it makes nan or inf; made: what outputs are for `given`.

    The op is found in a session of its own, so that what the function draws stays as it was.
    """
    if GAVE in graph.extras or not any(map(_is_odd, made)) or any(map(_is_odd, given.values())):
        return
    floating = [t for op in graph.operations.values() for t in op.outputs if t.dtype.is_floating]
    values = dict(zip(floating, Session(graph=graph).run(floating, dict(given))))
    graph.extras[GAVE] = given, outputs, next((t.op for t in floating if _is_odd(values[t]) and not any(
        _is_odd(values[each]) for each in t.op.inputs if each in values)), None)


def _is_odd(value: Any) -> bool:
    return getattr(value, "dtype", None) is not None and value.dtype.kind == "f" and not np.isfinite(value).all()
