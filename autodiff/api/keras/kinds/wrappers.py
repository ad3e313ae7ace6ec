"""Layers of Keras around a layer: at each step, or in both directions."""
from __future__ import annotations

from typing import Any

from ....core.op import build
from ....core.shapes import TensorShape
from ....ops.common.op_counts import counted_as
from ...arrays.shaping import concat, reshape, shape
from ...layers import Layer
from ...variables.layer_calls import takes
from .cells import copied
from .plain import Weights, make_inside
from .recurrent import RNN

__all__ = ["Bidirectional", "TimeDistributed", "Wrapper"]


class Wrapper(Weights, Layer):
    """A layer inside of a layer, whose variables are its own."""

    def __init__(self, layer: Any, **options: Any) -> None:
        super().__init__(**options)
        self.layer = layer

    def build(self, input_shape: Any = None) -> None:
        self.built = True  # the layer makes its variables when it is called

    def _inside(self) -> list[Any]:
        return [self.layer]


class TimeDistributed(Wrapper):
    """A layer at each step by itself. [b, time, ...] -> [b, time, ...]."""

    supports_masking = True

    def build(self, input_shape: Any = None) -> None:
        """The layer makes its variables in the scope of this one; a model those of its layers when it is called."""
        dims = TensorShape(input_shape).as_list()
        if not hasattr(self.layer, "layers"):
            make_inside(self.layer, self, TensorShape([dims[0], *dims[2:]]))
        self.built = True

    def call(self, inputs: Any, training: Any = None) -> Any:
        dims = inputs.dims
        with counted_as(0 if None not in dims[1:] else None):
            sizes = shape(inputs)
        with counted_as(2 if None not in dims[2:] else None):
            x = reshape(inputs, [-1, *dims[2:]] if None not in dims[2:] else concat([[-1], sizes[2:]], 0))
        y = self.layer.call(x, **({"training": training} if takes(self.layer, "training") else {}))
        with counted_as(2 if None not in dims[1:] else None):
            made = reshape(y, concat([sizes[:2], shape(y)[1:]], 0))
        made.set_shape([*dims[:2], *y.dims[1:]])
        return made


class Bidirectional(Wrapper):
    """A recurrent layer, and another like it from the last step on. merge_mode: concat, sum, mul, ave or None."""

    def __init__(self, layer: RNN, merge_mode: str | None = "concat", **options: Any) -> None:
        if layer._batch_input_shape is not None and "input_shape" not in options:
            options.setdefault("batch_input_shape", layer._batch_input_shape)
        super().__init__(layer, **options)
        self.forward_layer, self._mode = layer, merge_mode
        args, given = layer._arguments
        if type(layer) is RNN:  # its cell is not shared
            args, given = (), {**layer._given(), "cell": copied(layer.cell)}
        self.backward_layer = type(layer)(*args, **{**given, "go_backwards": True, "name": f"backward_{layer.name}"})
        for each in self._inside():
            each.zero_output_for_mask = each.return_sequences
        layer._name = f"forward_{layer.name}"

    def build(self, input_shape: Any = None) -> None:
        """Both layers make their variables, each in a scope of its own, before either is called."""
        for layer in self._inside():
            if not layer.built:
                with layer._entered(None):
                    layer._dtype = layer._dtype or self._dtype
                    layer.build(input_shape)
        self.built = True

    def _inside(self) -> list[Any]:
        return [self.forward_layer, self.backward_layer]

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return self.forward_layer.compute_mask(inputs, mask)

    def call(self, inputs: Any, mask: Any = None) -> Any:
        one, other = (layer(inputs, mask=mask) for layer in self._inside())
        states: list[Any] = []
        if self.forward_layer.return_state:
            (one, *first), (other, *second) = one, other
            states = first + second
        if self.forward_layer.return_sequences:
            other = build.ReverseV2(other, [1])
        merged = {"concat": lambda: concat([one, other], -1), "sum": lambda: one + other, "mul": lambda: one * other,
                  "ave": lambda: (one + other) / 2.0, None: lambda: [one, other]}[self._mode]()
        return [merged, *states] if states else merged
