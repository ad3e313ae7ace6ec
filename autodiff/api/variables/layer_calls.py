"""Calls of layers, remembered on the tensors they gave, so that a model of Keras can make them on other inputs."""
from __future__ import annotations

import inspect
from typing import Any, NamedTuple

from ...core import nest
from ...core.graph import Tensor
from ...core.op import build
from .trackable import Trackable


class Call(NamedTuple):
    """A call of a layer, kept where its inputs are those of a model of Keras, so that it can be made on others."""

    layer: Any
    inputs: Any
    args: tuple[Any, ...]
    options: dict[str, Any]
    outputs: list[Any]

    @property
    def input_tensors(self) -> Any:
        return self.inputs

    @property
    def output_tensors(self) -> Any:
        return self.outputs[0] if len(self.outputs) == 1 else self.outputs


HISTORY = "_keras_history"  # the attribute of a tensor that says which Call it comes from; None for an input
MASK = "_keras_mask"  # of a tensor that knows which of its steps count: bool[b, time]


class Described(Trackable):
    """What a layer knows of how it was made, and of its calls in models of Keras.

    supports_masking: whether the mask of its input is that of its output.
    """

    _arguments: tuple[tuple[Any, ...], dict[str, Any]]
    inbound_nodes: list[Call]
    supports_masking = False

    def __new__(cls, *args: Any, **options: Any) -> Any:
        made = super().__new__(cls)
        made.__dict__.update(_arguments=(args, options), inbound_nodes=[])
        return made

    def get_config(self) -> dict[str, Any]:
        """Its settings by name, from which from_config makes another. A subclass adds its own."""
        layer: Any = self
        shape = {} if layer._batch_input_shape is None else {"batch_input_shape": layer._batch_input_shape}
        return {"name": layer.name, "trainable": layer.trainable,
                "dtype": None if layer.dtype is None else layer.dtype.name, **shape}

    def _given(self) -> dict[str, Any]:
        """The arguments that it was made of, by name."""
        args, options = self._arguments
        signature = inspect.signature(type(self))
        given = dict(signature.bind_partial(*args, **options).arguments)
        for name, parameter in signature.parameters.items():
            given.update(given.pop(name, {}) if parameter.kind is parameter.VAR_KEYWORD else {})
        return given

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """A layer of such settings."""
        return cls(**config)

    def _only_call(self) -> Call:
        calls = self.inbound_nodes
        if len({id(call.outputs[0]) for call in calls}) != 1:
            name = self.name  # type: ignore[attr-defined]
            raise AttributeError(f"Layer {name} " + ("has multiple inbound nodes, hence its input and output are ill-"
                                                     "defined." if calls else "is not connected, no input to return."))
        return calls[0]

    input = property(lambda self: self._only_call().input_tensors)
    output = property(lambda self: self._only_call().output_tensors)
    input_shape = property(lambda self: nest.map_structure(lambda x: tuple(x.dims), self.input))
    output_shape = property(lambda self: nest.map_structure(lambda x: tuple(x.dims), self.output))

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the output: that of the first input which has one."""
        return next((each for each in nest.flatten(mask) if each is not None), None) if self.supports_masking else None


def mask_of(inputs: Any) -> Any:
    """The masks of tensors; None if none has one."""
    masks = nest.map_structure(lambda x: getattr(x, MASK, None), inputs)
    return masks if any(mask is not None for mask in nest.flatten(masks)) else None


def with_mask(layer: Any, inputs: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call, and the mask of the inputs if the layer takes one and is given none."""
    mask = mask_of(inputs) if options.get("mask") is None else None
    return {**options, "mask": mask} if mask is not None and takes(layer, "mask") else options


def remembered(layer: Any, inputs: Any, given: tuple[tuple[Any, ...], dict[str, Any]], outputs: Any) -> Any:
    """The outputs of a call, which know of it if an input knows of one. given: the other arguments."""
    tensors = nest.flatten(inputs)
    mask = layer.compute_mask(inputs, mask_of(inputs))
    for y in () if mask is None else nest.flatten(outputs)[:1]:
        setattr(y, MASK, mask)
    if not any(HISTORY in vars(x) for x in tensors if isinstance(x, Tensor)):
        return outputs
    outputs = nest.map_structure(lambda y: build.Identity(y) if any(y is x for x in tensors) else y, outputs)
    made = nest.flatten(outputs)
    call = Call(layer, inputs, *given, made)
    layer.inbound_nodes.append(call)
    for y in made:
        setattr(y, HISTORY, call)
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
