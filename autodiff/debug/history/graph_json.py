"""A graph as JSON and arrays, and back: never code, so that a file can be read without trusting it."""
from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from graphlib import TopologicalSorter
from typing import Any

import numpy as np

from ...core.dtypes import DType, as_dtype
from ...core.errors import ArgumentError
from ...core.function_graph import Function, FunctionGraph
from ...core.graph import Graph, Operation, Tensor
from ...core.indexed_slices import IndexedSlices
from ...core.op import OPS, Spec
from ...gradients.blocked_reasons import GradientCall
from ..facts.graph_lists import calls_of
from ..facts.layer import layer_of

Arrays = dict[str, np.ndarray]


class Encoder:
    """Writes operations. arrays: what does not go into JSON, by key."""

    def __init__(self) -> None:
        self.arrays: Arrays = {}

    def graph(self, graph: Graph) -> list[dict[str, Any]]:
        """Every operation in the order of making, those of the layer last: in a recording they are of the graph."""
        lists = graph.operations, layer_of(graph).operations
        return [self._operation(op) for ops in lists for op in sorted(ops.values(), key=lambda op: op.index)]

    def part(self, ops: Collection[Operation], given: Collection[Operation]) -> list[dict[str, Any]]:
        """Only these operations, and those `given`, whose values are known: of them just what they give."""
        before = {op: [] if op in given else [*(t.op for t in op.inputs), *(c for c in op.waits_for if c in ops)]
                  for op in ops}
        listed = {op: self._given(op) if op in given else self._operation(op, frames=1)
                  for op in TopologicalSorter(before).static_order()}
        for op, entry in listed.items():
            entry["control"] = [c.name for c in op.waits_for if c in ops and op not in given]
            entry["index"] = op.index  # which random numbers without a seed follow from
        return list(listed.values())

    def calls(self, graph: Graph) -> list[dict[str, Any]]:
        """The gradient calls of the script."""
        return [{"ys": _names(call.ys), "xs": _names(call.xs), "stops": _names(call.stops),
                 "found": [[t.name, _gradient(g)] for t, g in call.found.items() if g is not None]}
                for call in calls_of(graph)]

    def _given(self, op: Operation) -> dict[str, Any]:
        return {"name": op.name, "type": "Placeholder" if len(op.outputs) == 1 else op.type, "inputs": [],
                "frames": [], "attrs": {}, "specs": _specs(op)}

    def _operation(self, op: Operation, frames: int | None = None) -> dict[str, Any]:
        """frames: how many of the lines that led to it are kept; by default all."""
        sites = [[site.file, site.line, site.function] for site in op.traceback[:frames]]
        found = {"name": op.name, "type": op.type, "inputs": _names(op.inputs), "frames": sites,
                 "attrs": {name: self._value(value) for name, value in op.attrs.items()}, "specs": _specs(op)}
        if op.control_inputs:
            found["control"] = [c.name for c in op.control_inputs]
        if op.origin is not None:
            found["origin"] = op.origin.name
        if op.gradient_of is not None:
            found["gradient_of"] = op.gradient_of.name
        if op.override is not None:
            found["override"] = op.override
        return found

    def _value(self, value: Any) -> Any:
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, DType):
            return {"dtype": value.name}
        if isinstance(value, (np.ndarray, np.generic)):
            array = np.asarray(value)
            if array.dtype == object:
                return {"texts": packed_texts(array)}
            key = f"a{len(self.arrays)}"
            self.arrays[key] = array
            return {"array": key}
        if isinstance(value, (tuple, list)):
            return {"tuple" if isinstance(value, tuple) else "list": [self._value(item) for item in value]}
        if isinstance(value, Mapping):
            return {"dict": [[str(key), self._value(item)] for key, item in value.items()]}
        if isinstance(value, Tensor):
            return {"tensor": value.name}
        if isinstance(value, Function):
            return {"function": {"ops": self.graph(value.graph), "arguments": _names(value.graph.arguments),
                                 "inputs": _names(value.inputs), "outputs": _names(value.outputs),
                                 "captured": _names(value.captured), "kept": _names(value.kept),
                                 "is_repeatable": value.is_repeatable}}
        return {"opaque": type(value).__name__}


def holds_python(attrs: Any) -> bool:
    """Whether there is something among encoded attributes that is no data: a function of Python's, or its like."""
    if isinstance(attrs, list):
        return any(map(holds_python, attrs))
    return isinstance(attrs, dict) and ("opaque" in attrs or holds_python(list(attrs.values())))


def pack_value(value: Any, key: str, arrays: dict[str, Any]) -> Any:
    """Put the arrays of a value, maybe a list of such, into `arrays`; gives their keys in its structure."""
    if isinstance(value, list):
        return [pack_value(item, f"{key}/{i}", arrays) for i, item in enumerate(value)]
    if value is not None:
        arrays[key] = np.asarray(value)
    return None if value is None else key


def unpack_value(item: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """The value that `pack_value` put away."""
    return [unpack_value(each, arrays) for each in item] if isinstance(item, list) else None if item is None else (
        arrays[item])


def packed_texts(array: np.ndarray) -> list[Any]:
    """An array of texts as JSON, to the byte: its shape, and each with what it is before it.

    Raises ArgumentError for an array of anything else.
    """
    texts = []
    for text in np.asarray(array).ravel().tolist():
        if not isinstance(text, (bytes, str)):
            raise ArgumentError(expected="an array of numbers or texts", found=f"{type(text).__name__} in one")
        texts.append(f"s{text}" if isinstance(text, str) else "b" + text.decode("latin-1"))
    return [list(np.shape(array)), texts]


def unpacked_texts(item: list[Any]) -> np.ndarray:
    """The array that `packed_texts` put away. string[...]."""
    shape, texts = item
    listed = [text[1:] if text[:1] == "s" else text[1:].encode("latin-1") for text in texts]
    return np.array(listed, object).reshape(shape)


def _captured(attrs: Any) -> list[str]:
    """Names of what the functions among encoded attributes capture, in order."""
    if isinstance(attrs, list):
        return [name for value in attrs for name in _captured(value)]
    if not isinstance(attrs, dict):
        return []
    return attrs["captured"] if "captured" in attrs else _captured(list(attrs.values()))


def _names(tensors: Any) -> list[str]:
    return [t.name for t in tensors]


def _specs(op: Operation) -> list[Any]:
    return [[t.dtype.name, None if t.dims is None else list(t.dims)] for t in op.outputs]


def _gradient(gradient: Any) -> Any:
    if isinstance(gradient, IndexedSlices):
        shape = gradient.dense_shape
        return {"values": gradient.values.name, "indices": gradient.indices.name,
                "dense_shape": None if shape is None else shape.name}
    return gradient.name


class Decoder:
    """Builds the graph again. Raises ArgumentError for what no Encoder wrote."""

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._arrays = arrays

    def graph(self, graph: Graph, listed: list[dict[str, Any]], outside: Mapping[str, Tensor] | None = None) -> None:
        """Add the operations to an empty graph. outside: tensors around it, by name, for functions."""
        known: dict[str, Tensor] = dict(outside or {})
        with graph.as_default():
            for entry in listed:
                op = self._operation(graph, entry, known)
                known.update({t.name: t for t in op.outputs})
        for entry in listed:
            op = graph.operations[entry["name"]]
            op.index = entry.get("index", op.index)
            op.waits_for = tuple(graph.operations[name] for name in entry.get("control", ()))
            op.origin = graph.operations.get(entry.get("origin", ""))
            op.gradient_of = known.get(entry.get("gradient_of", ""))

    def _operation(self, graph: Graph, entry: dict[str, Any], known: dict[str, Tensor]) -> Operation:
        if entry["type"] not in OPS:
            raise ArgumentError(f"the recording has an op of the unknown type {entry['type']!r}")
        inputs = tuple(known[name] for name in entry["inputs"])
        captured = _captured(entry["attrs"])
        passed = inputs[:entry["attrs"]["count"]] if entry["type"] == "Recall" else inputs
        # a copy in a gradient is given other tensors than those that its functions captured
        around = {**dict(zip(captured, passed[len(passed) - len(captured):])), **known}
        attrs = {name: self._value(value, graph, around) for name, value in entry["attrs"].items()}
        if entry["type"] == "Const" and not isinstance(attrs["value"], np.ndarray):
            raise ArgumentError(f"the constant {entry['name']!r}", expected="an array", found=attrs["value"])
        specs = [Spec(as_dtype(name), None if dims is None else tuple(dims)) for name, dims in entry["specs"]]
        op = graph.add(OPS[entry["type"]], inputs, attrs, specs, entry["name"] + "/")
        op.override = entry.get("override")
        op._frames = tuple((_code(file, line, function), -1) for file, line, function in entry["frames"])
        return op

    def _value(self, value: Any, graph: Graph, known: dict[str, Tensor]) -> Any:
        if not isinstance(value, dict):
            return value
        (kind, item), = value.items()
        if kind == "dtype":
            return as_dtype(item)
        if kind == "array":
            return self._arrays[item]
        if kind == "texts":
            return unpacked_texts(item)
        if kind in ("tuple", "list"):
            items = [self._value(part, graph, known) for part in item]
            return tuple(items) if kind == "tuple" else items
        if kind == "dict":
            return {key: self._value(part, graph, known) for key, part in item}
        if kind == "tensor":
            return known[item]
        if kind == "function":
            return self._function(item, graph, known)
        return _absent

    def _function(self, item: dict[str, Any], outer: Graph, known: dict[str, Tensor]) -> Function:
        inner = FunctionGraph(outer)
        inner.names = type(outer.names)()
        self.graph(inner, item["ops"], known)
        inside = {t.name: t for op in inner.operations.values() for t in op.outputs}
        inner.arguments = [inside[name] for name in item["arguments"]]
        captured = tuple(known[name] for name in item["captured"])
        inputs = tuple(inside[name] for name in item["inputs"])
        inner.captures = dict(zip(captured, inputs[len(inner.arguments):]))
        outputs, kept = (tuple(inside[name] for name in item[part]) for part in ("outputs", "kept"))
        return Function(inner, inputs, outputs, captured, kept, item["is_repeatable"])

    def calls(self, graph: Graph, listed: list[dict[str, Any]]) -> list[GradientCall]:
        """The gradient calls."""
        def tensors(names: list[str]) -> tuple[Tensor, ...]:
            return tuple(graph.get_tensor_by_name(name) for name in names)

        def gradient(item: Any) -> Any:
            if isinstance(item, str):
                return graph.get_tensor_by_name(item)
            (values, indices), shape = tensors([item["values"], item["indices"]]), item["dense_shape"]
            return IndexedSlices(values, indices, None if shape is None else graph.get_tensor_by_name(shape))

        return [GradientCall(tensors(c["ys"]), tensors(c["xs"]), tensors(c["stops"]),
                             {graph.get_tensor_by_name(name): gradient(item) for name, item in c["found"]})
                for c in listed]


@functools.lru_cache(1024)
def _code(file: str, line: int, function: str) -> Any:
    """A code object that is nothing but a place: what an operation remembers of its maker."""
    return compile("", file, "exec").replace(co_name=function, co_firstlineno=line, co_linetable=b"")


def _absent(*_: Any) -> Any:
    raise ArgumentError("a Python function is not part of a recording: only what it gave in each step is")
