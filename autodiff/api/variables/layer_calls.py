"""Calls of layers, remembered on the tensors they gave, so that a model of Keras can make them on other inputs."""
from __future__ import annotations

import inspect
from typing import Any, NamedTuple

from ...core import nest
from ...core.graph import Tensor
from ...core.op import build


class Call(NamedTuple):
    """A call of a layer, kept where its inputs are those of a model of Keras, so that it can be made on others."""

    layer: Any
    inputs: Any
    args: tuple[Any, ...]
    options: dict[str, Any]
    outputs: list[Any]


HISTORY = "_keras_history"  # the attribute of a tensor that says which Call it comes from; None for an input


def remembered(layer: Any, inputs: Any, given: tuple[tuple[Any, ...], dict[str, Any]], outputs: Any) -> Any:
    """The outputs of a call, which know of it if an input knows of one. given: the other arguments."""
    tensors = nest.flatten(inputs)
    if not any(HISTORY in vars(x) for x in tensors if isinstance(x, Tensor)):
        return outputs
    outputs = nest.map_structure(lambda y: build.Identity(y) if any(y is x for x in tensors) else y, outputs)
    made = nest.flatten(outputs)
    for y in made:
        setattr(y, HISTORY, Call(layer, inputs, *given, made))
    return outputs


def given_shape(options: Any) -> tuple[Any, ...] | None:
    """The shape of a batch that a layer of Keras is told with its first arguments; None if it is told none."""
    if options.get("batch_input_shape") is not None:
        return tuple(options["batch_input_shape"])
    shape = options.get("input_shape")
    if shape is None:
        shape = None if options.get("input_dim") is None else (options["input_dim"],)
    return None if shape is None else (options.get("batch_size"), *shape)


def takes(layer: Any, argument: str) -> bool:
    """Whether a layer's call has an argument of that name."""
    return argument in inspect.signature(layer.call).parameters
