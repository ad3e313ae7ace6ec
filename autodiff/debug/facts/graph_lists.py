"""Lists about a graph: its tensors, operations, variables, script lines; facts only, no values."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ...core.graph import Graph, Operation, Tensor
from ...gradients.blocked_reasons import GradientCall, no_gradient_reason
from .answers import OpRow, SourceLine
from .layer import layer_of
from .roles import place_of, role_of


def op_row(op: Operation) -> OpRow:
    """One operation as a row of a list."""
    return OpRow(op.name, op.type, tuple(t.name for t in op.inputs), tuple(t.name for t in op.outputs), role_of(op),
                 place_of(op))


def attributes_of(op: Operation) -> tuple[tuple[str, str], ...]:
    """Names and values of attributes, as short texts."""
    found = []
    for name, value in op.attrs.items():
        if isinstance(value, np.ndarray):
            text = f"{value.dtype.name}{list(value.shape)}" if value.size > 8 else str(value.tolist())
        else:
            text = str(getattr(value, "name", value))
        found.append((name, text if len(text) <= 60 else text[:57] + "..."))
    return tuple(found)


def rule_of_gradient(op: Operation) -> str:
    """The behavior of an op's gradient, in words."""
    if op.override is not None:
        return f"overridden by the registered gradient {op.override!r}"
    reason = no_gradient_reason(op)
    if reason is not None:
        return f"none (None to tf.gradients): {reason}"
    definition = op.definition
    if definition.gradient_rule is None:
        return f"none (LookupError): {definition.no_rule}"
    doc = (definition.gradient_rule.__doc__ or "").strip()
    code = getattr(definition.gradient_rule, "__code__", None)
    where = f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}" if code is not None else ""
    return doc or f"a rule built of ops, declared at {where}"


def neighbors(op: Operation) -> tuple[list[Operation], list[Operation]]:
    """Producers and consumers of an op, each once; control inputs count as producers."""
    producers = dict.fromkeys([*(t.op for t in op.inputs), *op.control_inputs])
    consumers = dict.fromkeys(c for t in op.outputs for c in t._consumers)
    return list(producers), list(consumers)


def made_on(operations: Iterable[Operation], file: str) -> dict[int, list[Operation]]:
    """Forward operations by the line of `file` that made them (each of the lines that led there)."""
    found: dict[int, list[Operation]] = {}
    lines: dict[tuple[tuple[int, int], ...], set[int]] = {}  # ops made by one line in a loop share their frames
    for op in operations:
        if op.gradient_of is None and op.type not in ("Const", "Argument"):
            frames = tuple([(id(code), at) for code, at in op._frames])
            if frames not in lines:
                lines[frames] = {site.line for site in op.traceback if site.file == file}
            for line in lines[frames]:
                found.setdefault(line, []).append(op)
    return found


def source_lines(lines: list[str], first: int, last: int, made: Mapping[int, list[Operation]],
                 norms: Mapping[Tensor, float | None], current: int) -> tuple[SourceLine, ...]:
    """Lines `first` to `last`, from 1, with what each made and the largest gradient norm of it."""
    found = []
    for number in range(max(first, 1), min(last, len(lines)) + 1):
        ops = made.get(number, [])
        tensors = [t for op in ops for t in op.outputs]
        known = [norm for t in tensors if (norm := norms.get(t)) is not None]
        types = tuple(dict.fromkeys(op.type for op in ops))
        found.append(SourceLine(number, lines[number - 1].rstrip("\n"), types, tuple(t.name for t in tensors),
                                max(known) if known else None, number == current))
    return tuple(found)


def script_file(graph: Graph) -> str:
    """The file that most lines of the graph are from; "" if there is none."""
    counts: dict[str, int] = {}
    for op in list(graph.operations.values())[:2000]:
        if op._frames:
            file = op._frames[-1][0].co_filename
            counts[file] = counts.get(file, 0) + 1
    return max(counts, key=lambda f: counts[f]) if counts else ""


def operations_of(graph: Graph) -> list[Operation]:
    """The operations of a graph, then those of its layer."""
    return list({**graph.operations, **layer_of(graph).operations}.values())


def version_of(graph: Graph) -> tuple[int, int]:
    """Changes whenever a graph or its layer does."""
    return graph.version, len(layer_of(graph).operations)


def collected_in(graph: Graph, key: str) -> list[Any]:
    """A collection of a graph, with what its layer adds."""
    return [*graph.collected.get(key, ()), *layer_of(graph).collected.get(key, ())]


def calls_of(graph: Graph) -> list[GradientCall]:
    """The calls of `gradients` in a graph (not inside of its functions), oldest first, then those in its layer."""
    calls = [*graph.extras.get("calls", ()), *layer_of(graph).extras.get("calls", ())]
    return [call for call in calls if call.ys and call.ys[0].graph is graph]


def asked_in_vain(graph: Graph) -> list[tuple[GradientCall, Tensor]]:
    """What the script asked the gradient of, other than trainable variables, and got None; with the call."""
    variables = trainable_tensors(graph)
    return [(call, x) for call in calls_of(graph) if call.ys[0].op.gradient_of is None for x in call.xs
            if call.found.get(x) is None and x not in variables]


def lacking(graph: Graph) -> str:
    """The y of the last gradient call that gave None for something, "" if none did."""
    return next((call.ys[0].name for call in reversed(calls_of(graph)) if any(
        call.found.get(x) is None for x in call.xs)), "")


def without_any(graph: Graph) -> set[Tensor]:
    """What calls of `gradients` gave None for, and no other call a gradient."""
    calls = calls_of(graph)
    given = {x for call in calls for x, gradient in call.found.items() if gradient is not None}
    return {x for call in calls for x in call.xs} - given


def variables_of(graph: Graph) -> list[tuple[Any, bool]]:
    """Each variable of the graph and its layer, and whether it is trainable."""
    trainable = set(map(id, collected_in(graph, "trainable_variables")))
    listed: dict[int, Any] = {}
    for key in ("variables", "local_variables", "trainable_variables"):
        for variable in collected_in(graph, key):
            if getattr(variable, "handle_tensor", None) is not None:
                listed.setdefault(id(variable), variable)
    return [(variable, number in trainable) for number, variable in listed.items()]


def trainable_tensors(graph: Graph) -> list[Tensor]:
    """The tensors that stand for the trainable variables, each once."""
    found = [variable.handle_tensor for variable, trainable in variables_of(graph) if trainable]
    return list(dict.fromkeys(found))


def bytes_of(values: Iterable[Any]) -> int:
    """Bytes of arrays, each array counted once."""
    seen: dict[int, int] = {}
    for value in values:
        array = np.asarray(value)
        base = array.base if isinstance(array.base, np.ndarray) else array
        seen[id(base)] = base.nbytes
    return sum(seen.values())


def added_by_layers(graph: Graph, collection: str) -> tuple[list[Operation], list[Operation]]:
    """What layers put into a collection, and what those of Keras, which keep it to themselves, would have put there."""
    groups = graph.collected.get(collection, ()), graph.extras.get(f"{collection} of Keras", ())
    listed, kept = ([getattr(each, "op", each) for each in group] for group in groups)
    return [op for op in listed if isinstance(op, Operation)], [op for op in kept if isinstance(op, Operation)]
