"""The graph of objects below a root: its nodes, their states by key, and the message that a checkpoint keeps of it."""
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ....files.checkpoint_messages import CHECKPOINT_MESSAGES
from ...variables.saved_parts import SaveableObject
from ...variables.trackable import dependencies_of
from ...variables.variable import Variable
from ..checkpoints import OBJECT_GRAPH, load_checkpoint, write_checkpoint
from ..saved_variables import Restoring, arrays_of
from ..slots import Slots

VALUE = "VARIABLE_VALUE"


def states_of(holder: Any) -> dict[str, Any]:
    """What of an object itself is saved: attribute -> variable, or function (name) -> SaveableObject."""
    if isinstance(holder, Variable):
        return {VALUE: holder}
    return dict(getattr(holder, "_gather_saveables_for_checkpoint", dict)())


def objects_below(root: Any) -> Iterator[tuple[Any, str, Sequence[Any]]]:
    """(object, its path, what it holds) of all objects, the nearest first; slots of optimizers are not among them."""
    waiting, seen = [(root, "")], {id(root)}
    for holder, path in waiting:
        held = dependencies_of(holder)
        yield holder, path, held
        for name, value in held:
            if id(value) not in seen:
                seen.add(id(value))
                waiting.append((value, f"{path}{name.replace('.', '..').replace('/', '.S')}/"))


def slots_of(holder: Any) -> list[tuple[str, Any, Variable]]:
    """(name, variable, slot) of an optimizer; nothing for another object."""
    slots = getattr(holder, "_slots", None)
    return slots.of_variables() if isinstance(slots, Slots) else []


def described(root: Any) -> tuple[Any, dict[str, Any]]:
    """The message of the objects below a root, and key -> state."""
    message, states = CHECKPOINT_MESSAGES["TrackableObjectGraph"](), dict[str, Any]()
    found = list(objects_below(root))
    numbers = {id(holder): number for number, (holder, _, _) in enumerate(found)}

    def add(holder: Any, path: str) -> Any:
        node = message.nodes.add()
        for name, state in states_of(holder).items():
            key = f"{path}.ATTRIBUTES/{name}"
            full_name = state._shared_name if isinstance(state, Variable) else getattr(holder, "name", "")
            node.attributes.add(name=name, full_name=full_name, checkpoint_key=key)
            states[key] = state
        return node

    for holder, path, held in found:
        node = add(holder, path)
        for name, value in held:
            node.children.add(node_id=numbers[id(value)], local_name=name)
    for holder, path, _ in found:
        for name, variable, slot in slots_of(holder):
            if id(variable) in numbers:
                number = numbers[id(variable)]
                message.nodes[numbers[id(holder)]].slot_variables.add(
                    original_variable_node_id=number, slot_name=name, slot_variable_node_id=len(message.nodes))
                add(slot, f"{found[number][1]}.OPTIMIZER_SLOT/{path}{name}/")
    return message, states


def write_objects(root: Any, prefix: str, session: Any) -> str:
    """Write a checkpoint of what is below a root, in a folder that is made; gives the prefix.

    session: None while executing eagerly.
    """
    message, states = described(root)
    arrays = arrays_of(session, {key: [state] for key, state in states.items() if isinstance(state, Variable)})
    for key, state in states.items():
        if not isinstance(state, Variable):
            saved = state if isinstance(state, SaveableObject) else state(name=key)
            arrays.update(Restoring(saved).arrays(session))
    os.makedirs(os.path.dirname(prefix) or ".", exist_ok=True)
    write_checkpoint(prefix, {**arrays, OBJECT_GRAPH: np.array(message.SerializeToString(), object)})
    return prefix


def object_metadata(save_path: Any) -> Any:
    """The message of a checkpoint of objects. Raises NotFoundError for one of names."""
    reader = load_checkpoint(save_path)
    reader.array(OBJECT_GRAPH)
    return reader.object_graph
