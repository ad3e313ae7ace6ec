"""Between y and x: which ops a gradient passes, where it is cut, along which path it flows."""
from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ...api.control.custom import CustomRule
from ...core.graph import Operation, Tensor
from ...core.op import REGISTERED_GRADIENTS
from ...core.traversal import ancestors, reached
from ...gradients.between import carries_gradient
from ...gradients.blocked_reasons import blocked_reason, no_gradient_reason
from ..facts.roles import place_of
from ..facts.stats import statistics
from .cut_remedies import of_an_index, remedy_for_cut
from .findings import Cut, Hop, Path

# ops that only move elements
_MOVES = frozenset(("BroadcastTo", "ConcatV2", "ExpandDims", "Pack", "Reshape", "Select", "SelectV2", "Slice",
                    "Squeeze", "StridedSlice", "Tile", "Transpose"))


def _between(y: Tensor, x: Tensor, behind: Collection[Operation] | None = None) -> set[Operation]:
    """The ops on the ways from x to y. behind: all that y comes from, where that is known."""
    known = ancestors([y]) if behind is None else behind
    return reached([c for c in x._consumers if c in known] if y is not x else [],
                   lambda op: [c for t in op.outputs for c in t._consumers if c in known])


def cuts_between(y: Tensor, x: Tensor, behind: Collection[Operation] | None = None) -> tuple[list[Cut], bool]:
    """The ops that cut a path from y to x, in backward order; and whether some path is not cut. behind: all that y
    comes from, where that is known."""
    on_paths = _between(y, x, behind)
    live = _live(y, x, on_paths)
    cuts = []
    for op in sorted(on_paths, key=lambda op: -op.index):
        for index, tensor in _ways(op):
            if tensor is not x and tensor.op not in on_paths:
                continue
            found = _cut(op, index, on_paths, y)
            if found is not None:
                kind, reason = found
                remedy = of_an_index(op, y, x) or remedy_for_cut(op, index, kind)
                cuts.append(Cut(op.name, op.type, tensor.name, kind, reason, remedy, op in live, place_of(op)))
                break
    return cuts, x in live


def _live(y: Tensor, x: Tensor, on_paths: set[Operation]) -> set[Any]:
    """Operations that a gradient reaches going back from y, cutters included; and x itself if it gets there."""
    def onward(node: Any) -> list[Any]:
        let = [t for index, t in _ways(node) if (t is x or t.op in on_paths) and _cut(
            node, index, on_paths, y) is None] if node is not x else []
        return [*(t.op for t in let if t.op in on_paths), *(t for t in let if t is x)]

    return reached([*([x] if y is x else []), *([y.op] if y.op in on_paths else [])], onward)


def live_ops(y: Tensor) -> set[Operation]:
    """The ops behind y that a gradient of it may reach; no insides of a function that has a gradient of its own."""
    return reached([y.op], lambda op: [t.op for _, t in _ways(op)] if op.type != "StopGradient" else [])


def passed(y: Tensor, x: Tensor) -> dict[Operation, tuple[Tensor, ...]]:
    """Each op that the gradient of y passes on its way to x, with the inputs through which it goes on; from x up."""
    on_paths = _between(y, x)
    found: dict[Operation, tuple[Tensor, ...]] = {}
    for op in sorted((op for op in _live(y, x, on_paths) if isinstance(op, Operation)), key=lambda op: op.index):
        inputs = tuple(dict.fromkeys(t for i, t in _ways(op) if (t is x or t.op in found)
                                     and _cut(op, i, on_paths, y) is None))
        if inputs:
            found[op] = inputs
    return found


def _ways(op: Operation) -> list[tuple[int, Tensor]]:
    """The inputs that a gradient may go to, numbered: what a custom gradient has computed is none of them."""
    rule = REGISTERED_GRADIENTS.get(op.override or "")
    return list(enumerate(op.inputs))[rule.results if isinstance(rule, CustomRule) else 0:]


def _cut(op: Operation, index: int, on_paths: set[Operation], y: Tensor) -> tuple[str, str] | None:
    """Kind and reason why no gradient passes from an op's outputs to its input; None if one may."""
    if not carries_gradient(op.inputs[index]) and op.inputs[index].op in on_paths and (
            op.definition.elementwise or op.type in _MOVES):
        return None  # what makes integers of real numbers is the cut, not what computes with them or moves them
    reason = no_gradient_reason(op)
    if reason is not None:
        return ("stop_gradient" if op.type == "StopGradient" else "no gradient"), reason
    if op.definition.gradient_rule is None and op.override is None:
        return "no rule", op.definition.no_rule or "no gradient is registered"
    outputs = [t for t in op.outputs if t is y or any(c in on_paths for c in t._consumers)]
    if outputs and not any(carries_gradient(t) for t in outputs):
        return "integer", f"its output is {outputs[0].dtype.base_dtype.name}, through which no gradient flows"
    if not carries_gradient(op.inputs[index]):
        if op.inputs[index].op in on_paths:
            return None  # the producer of an integer is the cut, not its readers
        dtype = op.inputs[index].dtype.base_dtype.name
        return "integer", f"{op.inputs[index].name} is {dtype}, and gradients exist for real numbers only"
    reason = blocked_reason(op, index)
    return None if reason is None else ("blocked", reason)


def path(y: Tensor, x: Tensor, gradients: Mapping[Tensor, Any], parts: Mapping[Any, Any] | None = None) -> Path:
    """The way of the gradient from y to x. gradients: values of the gradient at tensors on it, as far as known.

    Of several paths the one that carries most at each turn, going up from x. parts: by (op, input), what the op alone
    adds to the gradient at its input, where several do; without them, what arrives at the op counts.
    """
    on_paths = _between(y, x)
    cuts, flows = cuts_between(y, x)
    if not flows or y is x:
        return Path(y.name, x.name, (), 0, tuple(cuts))
    live = _live(y, x, on_paths)
    norms = {key: statistics(g) for key, g in (*gradients.items(), *(parts or {}).items())}
    hops = _climb(y, x, live, norms, _distances(y, live))
    measured = [hop for hop in hops if hop.gain is not None]
    strongest = max(measured, key=lambda hop: hop.gain or 0.0).op if measured else ""
    weakest = min(measured, key=lambda hop: hop.gain or 0.0).op if measured else ""
    return Path(y.name, x.name, tuple(hops), _count(y, x, live), tuple(cuts), strongest, weakest)


def _distances(y: Tensor, live: set[Any]) -> dict[Operation, int]:
    """Ops between y and each live op, along the shortest way."""
    distance = {y.op: 0}
    queue = deque([y.op])
    while queue:
        op = queue.popleft()
        for tensor in op.inputs:
            if tensor.op in live and tensor.op not in distance and carries_gradient(tensor):
                distance[tensor.op] = distance[op] + 1
                queue.append(tensor.op)
    return distance


def _climb(y: Tensor, x: Tensor, live: set[Any], norms: Mapping[Any, Any], distance: dict[Operation, int]) -> list[Hop]:
    hops: list[Hop] = []
    tensor = x
    while tensor is not y:
        takers = [op for op in dict.fromkeys(tensor._consumers) if op in live and op in distance]
        above = [(op, out) for op in takers for out in op.outputs
                 if out is y or any(c in live and c in distance for c in out._consumers)]
        if not above:
            break
        op, out = max(above, key=lambda pair: (size_at(norms, (pair[0], tensor)), size_at(norms, pair[1]),
                                               -distance[pair[0]]))
        incoming, outgoing = norm_at(norms, out), norm_at(norms, tensor)
        share = norms[tensor].zero_share if tensor in norms else None
        hops.append(Hop(op.name, op.type, tensor.name, incoming, outgoing, gain(norms, op, out, tensor), share,
                        place_of(op)))
        tensor = out
    return hops[::-1]


def gain(norms: Mapping[Any, Any], op: Operation, output: Tensor, tensor: Tensor) -> float | None:
    """Norm of what an op gives on to an input over that of what it got; None if one is not known. norms: of gradients
    at tensors, and of parts of them at (op, input)."""
    key = op, tensor
    norm, further = norm_at(norms, output), norm_at(norms, key if key in norms else tensor)
    return further / norm if norm and further is not None else None


def norm_at(norms: Mapping[Any, Any], tensor: Any) -> float | None:
    """The norm that the Stats of a tensor give; nan or inf if any element is. None if there are no Stats."""
    if tensor not in norms:
        return None
    stats = norms[tensor]
    return float("nan") if stats.nans else np.inf if stats.infs else stats.norm


def size_at(norms: Mapping[Any, Any], tensor: Any) -> float:
    """The norm, for comparing: nan counts as infinite."""
    norm = norm_at(norms, tensor)
    return 0.0 if norm is None else np.inf if np.isnan(norm) else norm


def _count(y: Tensor, x: Tensor, live: set[Any]) -> int:
    """How many paths lead from y to x; exact, as there may be 2**20 of them."""
    ops = sorted((op for op in live if isinstance(op, Operation)), key=lambda op: -op.index)
    ways: dict[Operation, int] = {y.op: 1}
    total = 0
    for op in ops:
        here = ways.get(op, 0)
        if not here:
            continue
        for index, tensor in enumerate(op.inputs):
            if not carries_gradient(tensor) or blocked_reason(op, index) is not None:
                continue
            if tensor is x:
                total += here
            if tensor.op in live:
                ways[tensor.op] = ways.get(tensor.op, 0) + here
    return total
