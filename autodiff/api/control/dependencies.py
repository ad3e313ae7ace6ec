"""Groups, control dependencies and scopes: in which order operations run, and under which names."""
from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from ...core import nest
from ...core.defaults import STACKS
from ...core.errors import ArgumentError, KindError
from ...core.graph import Operation, Tensor, default_graph_below, get_default_graph, graph_of
from ...core.indexed_slices import IndexedSlices
from ...core.op import build
from ...ops.common.instead import instead


def control_dependencies(control_inputs: Any) -> Any:
    """Ops made inside the block run after these operations or tensors; None forgets the outer blocks."""
    return get_default_graph().control_dependencies(control_inputs)


def device(device_name_or_function: Any) -> Any:
    """Keeps for `op.device` what is asked for: a name, or a function of the operation. There is one, the CPU."""
    return get_default_graph().device(device_name_or_function)


def colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    """Ops made inside have the device of this operation or tensor."""
    return get_default_graph().colocate_with(op, ignore_existing)


@contextlib.contextmanager
def container(container_name: str) -> Iterator[str]:
    """Kept as an attribute of variables, tables and queues made inside; without effect: a session holds its own."""
    graph = get_default_graph()
    with instead([(graph, "_container", container_name)]):
        yield container_name


class name_scope:  # noqa: N801 (TensorFlow's name)
    """`with tf.name_scope(name, default_name, values) as scope`: prefix the names of ops made inside.

    name: None takes default_name. values: tensors whose graph becomes the default one. Yields the
    prefix with its `/`, or '' at the top. Raises KindError (TypeError) for a name that is no string.
    """

    def __init__(self, name: str | None, default_name: str | None = None, values: Any = None) -> None:
        chosen = default_name if name is None else name
        if not (default_name is None or isinstance(default_name, str)):
            raise KindError(f"default_name is {default_name!r}, expected a string; values are the third argument")
        if chosen is not None and not isinstance(chosen, str):
            raise KindError(f"a scope's name is a string, found {chosen!r}")
        if chosen is None and values is not None:
            raise ArgumentError(expected="a name or a default_name for this scope", found="None for both")
        self.name, self._values, self._stacks = chosen, values, list[contextlib.ExitStack]()

    def __enter__(self) -> str:
        graph = graph_of(self._values or ())
        self._stacks.append(contextlib.ExitStack())
        if graph is not get_default_graph():
            self._stacks[-1].enter_context(graph.as_default())
        return self._stacks[-1].enter_context(graph.name_scope(self.name))

    def __exit__(self, *exc: Any) -> None:
        self._stacks.pop().close()


def op_scope(values: Any, name: str | None, default_name: str | None = None) -> name_scope:
    """name_scope with its arguments in the order before TensorFlow 1.0."""
    return name_scope(name, default_name, values)


def group(*inputs: Any, name: str | None = None) -> Any:
    """One operation that has run when all of these have. inputs: operations, tensors, variables, nested.

    Executing eagerly they have run already, and there is none (None). Raises KindError (TypeError) for anything else.
    """
    if get_default_graph().executing_eagerly:
        return None
    operations = _operations(inputs)
    graph = graph_of(operations)
    with contextlib.nullcontext() if graph is get_default_graph() else graph.as_default():
        places: dict[str, list[Operation]] = {}
        for op in operations:
            places.setdefault(op.device, []).append(op)
        with graph.name_scope("group_deps" if name is None else name) as full:
            if len(places) > 1:  # an operation on each device, and one that waits for those
                return _after([_after(found, place) for place, found in sorted(places.items())], name=full)
            return _after(operations, next(iter(places), ""), full)


def _after(operations: list[Operation], place: str = "", name: str | None = None) -> Operation:
    graph = get_default_graph()
    with graph.control_dependencies(operations), graph.device(place) if place else contextlib.nullcontext():
        return build.NoOp(name=name)


def _operations(inputs: Iterable[Any]) -> list[Operation]:
    found = [_operation(item) for item in nest.flatten(list(inputs)) if item is not None]
    return list(dict.fromkeys(found))


def _operation(item: Any) -> Operation:
    if isinstance(item, Operation):
        return item
    if not hasattr(item, "op"):
        raise KindError(expected="an operation, tensor or variable", found=f"{item!r} of type {type(item).__name__}")
    op = item.op
    made = op.control_inputs[-1] if op.type == "ReadVariableOp" and op.control_inputs else None
    if made is not None and made.inputs and made.inputs[0] is op.inputs[0]:  # what an assignment gives: it is enough
        return made
    return op


def tuple(tensors: Any, name: str | None = None, control_inputs: Any = None) -> list[Any]:
    """The same tensors, none of them ready before all are. None stays None.

    control_inputs: further operations to wait for. Raises ArgumentError (ValueError) when there is
    no tensor at all, KindError (TypeError) for control inputs that are none.
    """
    present = [t for t in tensors if t is not None]
    if not present:
        raise ArgumentError(expected="at least one tensor that is not None", found=repr(tensors))
    waits_for = [*present, *(_control_input(c) for c in control_inputs or ())]
    with name_scope(name, "tuple", present):
        with control_dependencies([group(*waits_for)]):
            return [None if t is None else _held(t) for t in tensors]


def _control_input(item: Any) -> Any:
    if not isinstance(item, (Operation, Tensor)) and not hasattr(item, "as_tensor"):
        raise KindError(expected="control inputs to be operations or tensors", found=repr(item))
    return item


def _held(item: Any) -> Any:
    if isinstance(item, IndexedSlices):
        return IndexedSlices(build.Identity(item.values, name="control_dependency"), item.indices, item.dense_shape)
    return item if isinstance(item, Operation) else build.Identity(item, name="control_dependency")


@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Ops made inside are made outside of branches, loop bodies and functions, without control dependencies.

    They have the name scope and the device that ops have where the block stands.
    """
    graph = get_default_graph()
    outermost = graph.outermost
    if outermost.building_function:  # somebody's own graph of a function: those below it are where it will be called
        outermost = next((g for g in reversed(STACKS.graphs) if not g.building_function), default_graph_below())
    scope, placement = f"{graph.scope}/" if graph.scope else "", outermost.placement
    with contextlib.nullcontext() if outermost.executing_eagerly else outermost.as_default():
        with outermost.name_scope(scope), outermost.control_dependencies(None):
            with instead([(outermost, "placement", graph.placement or placement)]):
                yield
