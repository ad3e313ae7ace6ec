"""from_onnx: the walk over an ONNX graph's nodes, each made of our ops in the order of the file.

The source that they were made at is the model as text: a line for each node, input and initializer.
"""
from __future__ import annotations

import linecache
import os
import re
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...core.collections import OUTPUTS
from ...core.errors import ArgumentError, AutodiffError
from ...core.graph import Graph, Tensor, get_default_graph
from ...core.site import Site
from ...debug.analysis.advice import advice_of
from ...files.disk.arrays import read_arrays
from ..model import MissingOp, Model, Use, build_at, legal_name, tf
from . import arrange, control, elementwise, index, normalize, resize, sampling, sequences, signal, windows  # noqa: F401
from .messages import ATTRIBUTE_FIELDS, array_of, declared, dtype_of, read_model
from .table import PARAMETERS, Body, Node, onnx
from .words import WORDS

_SMALL = 16  # elements of a parameter that may be a setting
_OWN_DOMAINS = ("", "ai.onnx")
_TRACE = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)|'  # torch's exporter
                    r"^(?P<old_file>[^\s(]+)\((?P<old_line>\d+)\): (?P<old_function>\S+)", re.MULTILINE)  # its old one
_LIBRARY = ("site-packages", "dist-packages", "/lib/python3", "<")  # parts of paths of files that are not the user's
_LONGEST = 40  # characters of an attribute


def from_onnx(source: Any) -> Model:
    """Read a model into a graph of its own. source: the path of a file, its bytes, or a ModelProto.

    Float initializers become Variables by their names, inputs placeholders. Ops are named below their node, and have
    the user's line where the exporter left it, and one of a listing of the file, which has a line for each node. feeds:
    what NAME.npz beside NAME.onnx has for the inputs. Raises MissingOpError for ops that are not there, DataLossError
    for a damaged file.
    """
    reader = _Reader(source)
    onnx.check(reader.uses())
    with reader.graph.as_default():
        made = build_at(reader.graph, reader.places(None), reader.file, reader.read)
    advice_of(reader.graph).words = WORDS
    return replace(made, feeds=_examples(os.path.splitext(reader.file)[0] + ".npz", made.inputs))


def survey(source: Any) -> list[MissingOp]:
    """The ops of a model that are not there, most frequent first."""
    return onnx.missing(_Reader(source).uses())


def _examples(path: str, inputs: Mapping[str, Tensor]) -> dict[Tensor, np.ndarray]:
    """The arrays of an .npz file that have the names of inputs, or `feeds:NAME`."""
    if not os.path.exists(path):
        return {}
    found = {key.removeprefix("feeds:"): array for key, array in read_arrays(path).items()}
    return {tensor: found[name] for name, tensor in inputs.items() if name in found}


class _Reader:
    """A model while it is being read. values are looked up in the scopes of graphs, innermost first."""

    def __init__(self, source: Any) -> None:
        model, self._folder = read_model(source)
        self._model = model
        self.file = os.fspath(source) if self._folder else f"{model.graph.name or 'model'}.onnx"
        self.graph = Graph()
        self.graph.keeps_subnormals = True
        self._functions = {(f.domain, f.name, f.overload): f for f in model.functions}
        self._versions = _versions(model.opset_import)
        self._declared = {info.name: declared(info) for info in (*model.graph.value_info, *model.graph.output)}
        self._variables: dict[str, Any] = {}
        nodes = [*model.graph.node, *[node for function in model.functions for node in function.node]]
        self._nodes_of_file = list(numbered(nodes))
        held = {tensor.name for tensor in model.graph.initializer}
        self._given = [*[info for info in model.graph.input if info.name not in held], *model.graph.initializer]
        self._numbers = {id(made): number for number, made in enumerate(
            [*[node for node, _ in self._nodes_of_file], *self._given], 1)}

    def uses(self) -> Iterator[Use]:
        """Every op of the model, those of branches, bodies and functions too."""
        for node, _ in self._nodes_of_file:
            if _key(node) not in self._functions:
                yield Use(_op_name(node), self.places(node)[0])

    def read(self) -> Model:
        """The model, in the graph at hand."""
        publish(self.file, self._nodes_of_file, self._given)
        source = self._model.graph
        values: ChainMap[str, Any] = ChainMap({})
        self._initialize(source, values)
        inputs = {info.name: build_at(self.graph, self._listed(info), "inputs", self._input, info)
                  for info in source.input if info.name not in values}
        values.update(inputs)
        names = {info.name: self.graph.unique_name(legal_name(info.name)) for info in source.output}  # before others
        self._nodes(source.node, values, self._versions, {})
        made_by = {name: self.places(node) for node in source.node for name in node.output}
        outputs = tuple(build_at(self.graph, made_by.get(info.name, ()), "outputs", self._output, names[info.name],
                                 _given(values, info.name, "graph")) for info in source.output)
        named = {name: value for name, value in values.items() if isinstance(value, Tensor)}
        return Model(self.graph, inputs, outputs, self._variables, values=named)

    def _input(self, info: Any) -> Tensor:
        found = declared(info)
        if found is None:
            kind = info.type.WhichOneof("value")
            if kind == "optional_type" and info.type.optional_type.elem_type.WhichOneof("value") == "tensor_type":
                info.type.CopyFrom(info.type.optional_type.elem_type)  # a value is always given
                return self._input(info)
            raise ArgumentError(expected="inputs that are tensors", found=f"{info.name!r}, a {kind}")
        return tf.placeholder(tf.as_dtype(found[0]), found[1], name=legal_name(info.name))

    def _output(self, name: str, value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        found = tf.identity(value, name=f"{name}/")
        self.graph.add_to_collection(OUTPUTS, found)
        return found

    def _initialize(self, source: Any, values: ChainMap[str, Any]) -> None:
        """Initializers: parameters become Variables, integers constants."""
        means = {name for node in source.node if node.op_type == "BatchNormalization" for name in node.input[3:5]}
        for tensor in source.initializer:
            array, name = array_of(tensor, self._folder), legal_name(tensor.name)
            if array.dtype.kind == "f" and not get_default_graph().building_function:
                variable = build_at(self.graph, self._listed(tensor), "initializers", partial(
                    tf.Variable, array, trainable=tensor.name not in means, name=name))
                self._variables[tensor.name] = variable
                values[tensor.name] = read = variable.value()
                if array.size <= _SMALL:
                    self.graph.extras.setdefault(PARAMETERS, {})[read] = array
            else:
                values[tensor.name] = build_at(self.graph, self._listed(tensor), "initializers",
                                               partial(tf.constant, array, name=name))

    def _nodes(self, nodes: Iterable[Any], values: ChainMap[str, Any], versions: Mapping[str, int],
               given: Mapping[str, Any]) -> None:
        for node in nodes:
            found = self._node(node, values, versions, given)
            for name, value in zip(node.output, found):
                if name:
                    values[name] = self._shaped(name, value)

    def places(self, node: Any | None) -> tuple[Site, ...]:
        """The user's lines for a node, then its line in the listing of the file; 0 is what belongs to no node."""
        if node is None:
            return (Site(self.file, 0, "<module>"),)
        return (*_sites(node), Site(self.file, self._numbers[id(node)], node.name or node.op_type))

    def _listed(self, given: Any) -> tuple[Site, ...]:
        """The line of an input or initializer of the model in the listing; none for those of bodies."""
        number = self._numbers.get(id(given))
        return () if number is None else (Site(self.file, number, "<module>"),)

    def _node(self, node: Any, values: ChainMap[str, Any], versions: Mapping[str, int],
              given: Mapping[str, Any]) -> Sequence[Any]:
        """given: attributes of the function that this node is in, by name."""
        where = f"node {node.name or ', '.join(node.output)!r} ({node.op_type})"
        inputs = [_given(values, name, where) if name else None for name in node.input]
        while inputs and inputs[-1] is None:
            inputs.pop()
        called = self._functions.get(_key(node))
        graph = get_default_graph()
        with graph.name_scope(legal_name(node.name or node.op_type)):
            if called is not None:
                return build_at(graph, self.places(node), where, self._call, called, inputs, node, given)
            attributes = {a.name: self._attribute(a, values, versions, given) for a in _resolved(node, given)}
            return build_at(graph, self.places(node), where, self._build, node, inputs, attributes, versions)

    def _build(self, node: Any, inputs: list[Any], attributes: dict[str, Any], versions: Mapping[str, int]) -> Any:
        op = _op_name(node)
        if "node" in onnx.ops[op].arguments:
            domain = "" if node.domain in _OWN_DOMAINS else node.domain
            attributes["node"] = Node(node.name, versions.get(domain, 1), len(node.output))
        try:
            return onnx.build(op, inputs, attributes)
        except AutodiffError:
            raise
        except Exception as error:  # inputs and attributes that its op does not have lead anywhere
            raise ArgumentError(f"{op} cannot be made of what the file gives it",
                                found=f"{type(error).__name__}: {error}") from error

    def _call(self, function: Any, inputs: list[Any], node: Any, given: Mapping[str, Any]) -> list[Any]:
        """The nodes of a function of the model's own, in place of the node that calls it."""
        attributes = {a.name: a for a in function.attribute_proto} | {a.name: a for a in _resolved(node, given)}
        values: ChainMap[str, Any] = ChainMap(dict.fromkeys(function.input))
        values.update(zip(function.input, inputs))
        self._nodes(function.node, values, _versions(function.opset_import), attributes)
        return [_given(values, name, f"function {function.name!r}") for name in function.output]

    def _attribute(self, attribute: Any, values: ChainMap[str, Any], versions: Mapping[str, int],
                   given: Mapping[str, Any]) -> Any:
        field = ATTRIBUTE_FIELDS.get(attribute.type) or next(
            (f.name for f, _ in attribute.ListFields() if f.name in ATTRIBUTE_FIELDS.values()), "i")
        value = getattr(attribute, field)
        if field == "t":
            return array_of(value, self._folder)
        return self._body(value, values, versions, given) if field == "g" else \
            list(value) if isinstance(value, list) else value

    def _body(self, source: Any, outer: ChainMap[str, Any], versions: Mapping[str, int],
              given: Mapping[str, Any]) -> Body:
        def build(*arguments: Any) -> list[Any]:
            values = outer.new_child(dict(zip([info.name for info in source.input], arguments)))
            self._initialize(source, values)
            self._nodes(source.node, values, versions, given)
            return [_given(values, info.name, "body") for info in source.output]

        return Body(tuple(map(declared, source.input)), tuple(map(declared, source.output)), build)

    def _shaped(self, name: str, value: Any) -> Any:
        """A value with what the file declares of its shape, where that is more than was found, and no contradiction."""
        found = self._declared.get(name)
        if isinstance(value, Tensor) and found is not None and found[1] is not None \
                and get_default_graph() is self.graph:
            old = value.dims if value.dims is not None else (None,) * len(found[1])
            if len(old) == len(found[1]) and all(a is None or b is None or a == b for a, b in zip(old, found[1])):
                value.set_shape(found[1])
        return value


def _given(values: Mapping[str, Any], name: str, where: str) -> Any:
    """A value by its name. Raises ArgumentError if nothing has given it yet."""
    if name not in values:
        raise ArgumentError(f"nothing gives {name!r}", expected="a value of a node before, an input or an initializer",
                            node=where)
    return values[name]


def _versions(imports: Iterable[Any]) -> dict[str, int]:
    return {"" if each.domain in _OWN_DOMAINS else each.domain: each.version for each in imports}


def _key(node: Any) -> tuple[str, str, str]:
    return node.domain, node.op_type, node.overload


def _op_name(node: Any) -> str:
    return node.op_type if node.domain in _OWN_DOMAINS else f"{node.domain}.{node.op_type}"


def _resolved(node: Any, given: Mapping[str, Any]) -> list[Any]:
    """A node's attributes; those that stand for the function's are that, under the node's name for it."""
    found = []
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            if attribute.ref_attr_name not in given:
                continue
            copy = type(attribute)()
            copy.CopyFrom(given[attribute.ref_attr_name])
            copy.name = attribute.name
            attribute = copy
        found.append(attribute)
    return found


def _sites(node: Any) -> tuple[Site, ...]:
    """The user's lines that an exporter left with a node, innermost first."""
    texts = [entry.value for entry in node.metadata_props if entry.key.endswith("stack_trace")] or [node.doc_string]
    frames, outermost_first = [], True
    for match in _TRACE.finditer(texts[0]):
        outermost_first = match["file"] is not None
        file, line, function = (match["file"], match["line"], match["function"]) if outermost_first else (
            match["old_file"], match["old_line"], match["old_function"])
        frames.append(Site(file, int(line), function))
    frames = frames[::-1] if outermost_first else frames
    return tuple([f for f in frames if not any(part in f.file for part in _LIBRARY)]) or tuple(frames)


def numbered(nodes: Iterable[Any], depth: int = 0) -> Iterator[tuple[Any, int]]:
    """Nodes and those of their bodies, in the order of the file, each with how deep it lies."""
    for node in nodes:
        yield node, depth
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from numbered(graph.node, depth + 1)


def listed(node: Any, depth: int) -> str:
    """`y = Softmax(x, axis=-1)`, indented."""
    given = [name or "None" for name in node.input]
    given += [f"{a.name}={_value(a)}" for a in node.attribute if not a.g.node and not a.graphs]
    return f"{'    ' * depth}{', '.join(node.output)} = {node.op_type}({', '.join(given)})"


def _value(attribute: Any) -> str:
    if attribute.ref_attr_name:
        return str(attribute.ref_attr_name)
    value = getattr(attribute, ATTRIBUTE_FIELDS.get(attribute.type, "i"))
    if attribute.type == 4:
        is_small = all(size == 1 for size in value.dims) and not value.external_data
        return str(array_of(value).tolist()) if is_small else f"tensor{list(value.dims)}"
    text = value.decode(errors="replace") if isinstance(value, bytes) else f"{value:g}" if attribute.type == 1 \
        else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST - 1]}…"


def _told(value: Any) -> str:
    """`input x float32[?,4]` or `initializer W float32[4,3]`."""
    is_held = hasattr(value, "data_type")
    found = (dtype_of(value.data_type), tuple(value.dims)) if is_held else declared(value)
    dtype, dims = found or ("", None)
    sizes = "" if dims is None else f"[{','.join('?' if size is None else str(size) for size in dims)}]"
    return f"{'initializer' if is_held else 'input'} {value.name} {dtype}{sizes}".rstrip()


def publish(file: str, nodes: Iterable[tuple[Any, int]], given: Iterable[Any]) -> None:
    """Let Python's line cache have the text for `file`, where everything that shows lines looks for them.

    given: inputs and initializers, which stand below the nodes.
    """
    lines = [f"{text}\n" for text in (*[listed(node, depth) for node, depth in nodes], *map(_told, given))]
    linecache.cache[file] = (sum(map(len, lines)), None, lines, file)
