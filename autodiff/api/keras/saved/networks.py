"""How the layers of a model go together, told as the configs of Keras tell it, and put together as they tell."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....core import nest
from ....core.errors import ArgumentError
from ....core.graph import Tensor
from ..calls import BEGINS, Input, histories
from ..utils import serialized


def connections(inputs: list[Tensor], outputs: list[Tensor]) -> dict[str, Any]:
    """The layers between tensors with the calls of each, and where these begin and end; {} if other ops are between.

    A tensor is told as [name of its layer, number of the call, number among its outputs]; the calls of a model begin
    at 1, as its own tensors are the first.
    """
    if any(BEGINS not in vars(x) for x in inputs):
        return {}
    rows = {vars(x)[BEGINS].name: (vars(x)[BEGINS], list[Any]()) for x in inputs}
    places = {id(x): [name, 0, 0] for x, name in zip(inputs, rows)}
    for _, call in histories(outputs):
        if id(call.outputs[0]) in places:
            continue
        layer, calls = rows.setdefault(call.layer.name, (call.layer, []))
        given = nest.flatten(call.inputs)
        if any(id(x) not in places for x in given):
            return {}
        told = {key: value for key, value in call.options.items() if isinstance(value, (bool, int, float, str))}
        calls.append([[*places[id(x)], told] for x in given])
        number = len(calls) - 1 + ("_outputs" in vars(layer))
        places.update((id(y), [layer.name, number, i]) for i, y in enumerate(call.outputs))
    if any(id(y) not in places for y in outputs):
        return {}
    return {"layers": [{**serialized(layer), "name": name, "inbound_nodes": calls} for name, (layer, calls) in
                       rows.items()],
            "input_layers": [places[id(x)] for x in inputs], "output_layers": [places[id(y)] for y in outputs]}


def connected(config: dict[str, Any], made: Callable[[dict[str, Any]], Any]) -> tuple[Any, Any]:
    """Inputs and outputs of such layers. made: the layer of its class and config.

    Raises ArgumentError (ValueError) where a call waits for a tensor that no layer gives.
    """
    tensors: dict[tuple[Any, ...], Any] = {}
    layers, waiting = {}, []
    for told in config["layers"]:
        name, settings = told["name"], told["config"]
        if told["class_name"] == "InputLayer":
            tensors[name, 0, 0] = Input(None, None, name, settings.get("dtype"),
                                        batch_shape=settings["batch_input_shape"])
        else:
            layers[name] = made(told)
            waiting += [(name, number, call) for number, call in enumerate(told["inbound_nodes"], "layers" in settings)]
    while waiting:
        ready = [each for each in waiting if all(tuple(x[:3]) in tensors for x in each[2])]
        if not ready:
            raise ArgumentError(f"layer {waiting[0][0]!r} is given what no layer gives", found=str(waiting[0][2]))
        waiting.remove(ready[0])
        name, number, call = ready[0]
        given, options = [tensors[tuple(x[:3])] for x in call], (*call[0], {})[3]
        outputs = nest.flatten(layers[name](given[0] if len(given) == 1 else given, **options))
        tensors.update(((name, number, i), y) for i, y in enumerate(outputs))
    begins, ends = ([tensors[tuple(x)] for x in config[key]] for key in ("input_layers", "output_layers"))
    return begins[0] if len(begins) == 1 else begins, ends[0] if len(ends) == 1 else ends
