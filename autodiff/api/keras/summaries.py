"""A model's layers as lines of text, as Keras prints them."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core import nest
from ...core.graph import Tensor
from ..variables.layer_calls import HISTORY
from .calls import BEGINS


def summary_lines(model: Any, outputs: dict[int, Tensor], in_a_row: bool, width: Any, ends: Any) -> Iterator[str]:
    """The lines. outputs: of layers by their id. in_a_row: no layer has several inputs. ends: of columns, or shares."""
    width = width or (65 if in_a_row else 98)
    ends = ends or ([0.45, 0.85, 1.0] if in_a_row else [0.33, 0.55, 0.67, 1.0])
    ends = [int(width * end) for end in ends] if ends[-1] <= 1 else ends

    def row(*fields: Any) -> str:
        line = ""
        for field, end in zip((*fields, "", ""), ends):
            line = f"{line[:-1]} {field}" if line else str(field)
            line = line[:end].ljust(end)
        return line

    yield from (f'Model: "{model.name}"', "_" * width, row("Layer (type)", "Output Shape", "Param #", "Connected to"))
    for i, layer in enumerate(model.layers):
        yield ("_" if i else "=") * width
        shape: Any = tuple(outputs[id(layer)].dims or ()) if id(layer) in outputs else \
            [layer.output_shape] if type(layer).__name__ == "InputLayer" else "multiple"
        sources = [_source(x) for call in layer.inbound_nodes for x in nest.flatten(call.inputs)]
        count = layer.count_params() if layer.built else 0
        yield row(f"{layer.name} ({type(layer).__name__})", shape, count, *sources[:1])
        yield from (row("", "", "", source) for source in sources[1:] if not in_a_row)
    trained = sum(v.shape.num_elements() or 0 for v in model.trainable_weights)
    total = model.count_params()
    yield from ("=" * width, f"Total params: {total:,}", f"Trainable params: {trained:,}",
                f"Non-trainable params: {total - trained:,}", "_" * width)


def _source(tensor: Tensor) -> str:
    """The layer that a tensor comes from, the number of its call, and of the tensor among the call's outputs."""
    call = vars(tensor).get(HISTORY)
    if call is None:
        return f"{vars(tensor)[BEGINS].name}[0][0]" if BEGINS in vars(tensor) else ""
    calls = [id(each) for each in call.layer.inbound_nodes]
    return f"{call.layer.name}[{calls.index(id(call))}][{[id(y) for y in call.outputs].index(id(tensor))}]"
