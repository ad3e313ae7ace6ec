"""The calls of layers by which tensors were made, and those calls again, on other inputs."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core import nest
from ...core.errors import ArgumentError, UnsupportedError
from ...core.graph import Tensor, get_default_graph
from ..variables.layer_calls import HISTORY, takes


def histories(tensors: Any) -> Iterator[tuple[Tensor, Any]]:
    """Each tensor that a layer made on the way to some, with the call that made it: nearest to the inputs first."""
    seen: set[int] = set()
    waiting: list[tuple[Tensor, bool]] = [(tensor, False) for tensor in reversed(list(tensors))]
    while waiting:
        tensor, done = waiting.pop()
        history = vars(tensor).get(HISTORY)
        if done:
            yield tensor, history
        elif id(tensor) not in seen:
            seen.add(id(tensor))
            waiting += [(tensor, True)] if history is not None else []
            made_of = nest.flatten(history.inputs) if history is not None else () if HISTORY in vars(tensor) or \
                get_default_graph().executing_eagerly else tensor.op.inputs
            waiting += [(each, False) for each in reversed(list(made_of)) if isinstance(each, Tensor)]


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
    if all(old is new for old, new in zip(nest.flatten(inputs), nest.flatten(given))):
        return outputs
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
