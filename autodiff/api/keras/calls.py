"""The calls of layers by which tensors were made, from Input on, and those calls again, on other inputs."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core import nest
from ...core.errors import ArgumentError, UnsupportedError
from ...core.graph import Tensor, get_default_graph
from ..arrays.creation import placeholder, zeros
from ..variables.layer_base import Layer
from ..variables.layer_calls import HISTORY, Call, takes
from . import backend
from .kinds.plain import Weights

BEGINS = "_input_layer"  # of a tensor that Input gave: its layer


def _walk(tensors: Any) -> Iterator[tuple[Tensor, Any, list[Tensor], bool]]:
    """Each tensor on the way to some, its call and what it is made of: when it is met, and once all before it were."""
    seen: set[int] = set()
    waiting: list[tuple[Tensor, bool]] = [(tensor, False) for tensor in reversed(list(tensors))]
    while waiting:
        tensor, done = waiting.pop()
        if not done and id(tensor) in seen:
            continue
        seen.add(id(tensor))
        history = vars(tensor).get(HISTORY)
        made_of = nest.flatten(history.inputs) if history is not None else () if HISTORY in vars(tensor) or \
            get_default_graph().executing_eagerly else tensor.op.inputs
        before = [each for each in made_of if isinstance(each, Tensor)]
        yield tensor, history, before, done
        waiting += [] if done else [(tensor, True), *((each, False) for each in reversed(before))]


def histories(tensors: Any) -> Iterator[tuple[Tensor, Any]]:
    """Each tensor that a layer made on the way to some, with the call that made it: nearest to the inputs first."""
    return ((tensor, history) for tensor, history, _, done in _walk(tensors) if done and history is not None)


def layers_between(inputs: Any, outputs: Any) -> list[Any]:
    """A model's layers in Keras' order: those farthest from an output first, and then as they are met from there."""
    met: dict[Any, int] = {}
    nodes: dict[int, tuple[Any, list[int]]] = {}  # calls, as they are left -> layer, calls before it
    for tensor, history, before, done in _walk(outputs):
        layer = vars(tensor).get(BEGINS) if history is None else history.layer
        if not done and layer is not None:
            met.setdefault(layer, len(met))
        elif done:
            calls = [id(vars(each).get(HISTORY) or each) for each in before]
            nodes.setdefault(id(history or tensor), (layer, calls))
    depths: dict[Any, int] = {}
    for call, (layer, calls) in reversed(nodes.items()):
        depth = max(depths.get(call, 0), 0 if layer is None else depths.get(layer, 0))
        depths.update({each: max(depths.get(each, 0), depth + 1) for each in calls})
        depths.update({} if layer is None else {layer: depth})
    begins = [vars(tensor).get(BEGINS) for tensor in inputs]
    met.update({layer: -1 for layer in begins if layer is not None and layer not in met})
    return sorted(met, key=lambda layer: (-depths.get(layer, 0), met[layer]))


def inside(layer: Any) -> list[Any]:
    """A layer, and all that it holds."""
    return [layer, *(each for part in layer._inside() for each in inside(part))] if hasattr(layer, "_inside") else []


def check_connected(inputs: list[Any], outputs: list[Any]) -> None:
    """Raises ArgumentError (ValueError) where outputs are made of something that another model begins with."""
    seen, waiting = {id(tensor) for tensor in inputs}, [t for t in outputs if isinstance(t, Tensor)]
    while waiting:
        tensor = waiting.pop()
        if id(tensor) in seen or HISTORY not in vars(tensor):
            continue
        seen.add(id(tensor))
        history = vars(tensor)[HISTORY]
        if history is None:
            raise ArgumentError(f'Graph disconnected: cannot obtain value for tensor {tensor} at layer '
                                f'"{tensor.op.name}". The following previous layers were accessed without issue: []',
                                hint="give the model all inputs, or make the layers of those that it is given")
        waiting += [each for each in nest.flatten(history.inputs) if isinstance(each, Tensor)]


def replayed(inputs: Any, outputs: Any, given: Any, training: Any, clones: Any = None) -> Any:
    """The outputs, were the inputs others: each layer, or its clone, is called again."""
    known = {id(old): new for old, new in zip(nest.flatten(inputs), nest.flatten(given), strict=True)}
    for tensor, history in histories(nest.flatten(outputs)):
        if id(tensor) in known:
            continue
        if any(isinstance(x, Tensor) and id(x) not in known for x in nest.flatten(history.inputs)):
            raise UnsupportedError(f"layer {history.layer.name!r} is given what no layer made, so that the model "
                                   "cannot be called on other inputs", hint="put the ops before it into a Lambda layer")
        options = dict(history.options)
        if training is not None and takes(history.layer, "training"):
            options["training"] = training
        given = nest.map_structure(lambda x: known.get(id(x), x), history.inputs)
        layer = history.layer if clones is None else clones[id(history.layer)]
        made = layer(given, *history.args, **options)
        known.update((id(old), new) for old, new in zip(history.outputs, nest.flatten(made)))
    unknown = [tensor for tensor in nest.flatten(outputs) if id(tensor) not in known]
    if unknown:
        raise UnsupportedError(f"{unknown[0].name} is no output of a layer, so that the model cannot be called "
                               "on other inputs", hint="put the ops behind the last layer into a Lambda layer")
    return nest.map_structure(lambda x: known[id(x)], outputs)


def Input(shape: Any = None, batch_size: int | None = None, name: str | None = None, dtype: Any = None,  # noqa: N802
          sparse: bool = False, tensor: Any = None, batch_shape: Any = None, **options: Any) -> Any:
    """A tensor to begin a model with: a placeholder. shape: without the batch, whose size may be given.

    While executing eagerly it holds zeros, a batch of one.
    """
    if tensor is None:
        dims = list(batch_shape) if batch_shape is not None else [batch_size, *np.atleast_1d(shape if shape is not None
                                                                                             else ())]
        dims, dtype = [None if dim is None else int(dim) for dim in dims], dtype or backend.floatx()
        if get_default_graph().executing_eagerly:
            tensor = zeros([dim or 1 for dim in dims], dtype)
        else:
            tensor = placeholder(dtype, dims, name=name or "input_1")
    setattr(tensor, HISTORY, None)
    if name is None:
        kept = backend._kept()
        kept["inputs"] = kept.get("inputs", 0) + 1
        name = f"input_{kept['inputs']}"
    layer = InputLayer(batch_input_shape=tuple(tensor.dims or ()), name=name)
    layer.inbound_nodes.append(Call(layer, [], (), {}, [tensor]))
    setattr(tensor, BEGINS, layer)
    return tensor


class InputLayer(Weights, Layer):
    """Where a model begins. input_shape: without the batch."""

    def __init__(self, input_shape: Any = None, batch_size: int | None = None, **options: Any) -> None:
        options.setdefault("batch_input_shape", None if input_shape is None else (batch_size, *input_shape))
        super().__init__(**options)
        self.built = True

    def call(self, inputs: Any) -> Any:
        return inputs

    def get_config(self) -> dict[str, Any]:
        """Its name, shape and dtype."""
        return {key: value for key, value in super().get_config().items() if key != "trainable"}
