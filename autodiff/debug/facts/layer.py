"""The layer: what is built at the prompt, beside the script's graph, which keeps its names, lists and version."""
from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from ...core.errors import GraphError
from ...core.graph import Graph, Operation
from ...core.names import UniqueNames
from ...ops.common.instead import instead

SCOPE = "prompt/"  # so that no name of the layer, a variable's above all, is ever one that the script gives
_KEY = "layer"
_ABOUT_OPS = ("blocked", "rows", "advice", "stands_for")  # extras that tell of operations, whoever made them


class Layer:
    """Operations of a graph that it does not list. operations: by name. collected, extras: what they add to its own.

    They are of the graph, and can be fetched and differentiated like its own, as plans follow inputs, not lists.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.operations: dict[str, Operation] = {}
        self.collected: dict[Any, list[Any]] = {}
        self.extras: dict[str, Any] = {}
        self._names = _Scoped(graph)
        self._is_open = False

    @contextlib.contextmanager
    def building(self) -> Iterator[None]:
        """Inside, the layer's operations are listed, and new ones join it; in a finalized graph too."""
        if self._is_open:
            yield
            return
        graph = self.graph
        count = len(graph.operations)
        graph.operations.extend(self.operations.values())
        inside: dict[str, Any] = dict(
            names=self._names, scope="", finalized=False, overrides={}, _control=[], backprop_origin=(None, None),
            placement="", collected=_joined(graph.collected, self.collected), extras=_joined(graph.extras, self.extras))
        self._is_open = True
        try:
            with instead([(graph, *each) for each in inside.items()]), graph.as_default():
                yield
        finally:
            self._is_open = False
            collected, extras = inside["collected"], inside["extras"]
            graph.extras.update({key: extras[key] for key in _ABOUT_OPS if key in extras})
            self.collected, self.extras = _added(collected, graph.collected), _added(extras, graph.extras)
            self.operations = graph.operations.cut(count)


class _Scoped(UniqueNames):
    """Names in the scope of the layer."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph

    def take(self, name: str, *, mark: bool = True) -> str:
        found = super().take(_scoped(name), mark=mark)
        while mark and found in self.graph.operations:
            found = super().take(_scoped(name))
        return found

    def implies(self, rules: Any) -> bool:
        """Each name is given by `take`."""
        return False

    def literal(self, name: str) -> str:
        numbers = (f"{_scoped(name)}_{number}" for number in itertools.count(1))  # slots of `x` and of `prompt/x`
        return next(each for each in itertools.chain((_scoped(name),), numbers) if each not in self.graph.operations)


def _scoped(name: str) -> str:
    return name if name.startswith(SCOPE) else SCOPE + name


@contextlib.contextmanager
def kept_in(graph: Graph) -> Iterator[None]:
    """Inside, operations join the graph itself. Raises GraphError for those that take some of the layer: they go."""
    count = len(graph.operations)
    with graph.as_default():
        yield
    made = list(graph.operations.values())[count:]
    lent = next((t for op in made for t in op.inputs if is_in_layer(t.op)), None)
    if lent is not None:
        graph.operations.cut(count)
        for tensor in {t for op in made for t in op.inputs}:
            tensor._consumers = [op for op in tensor._consumers if op not in made]
        raise GraphError(f"{lent.name!r} was built beside the script's graph, and cannot be built on in it",
                         hint="build that with --keep too, or both without")


def layer_of(graph: Graph) -> Layer:
    """The layer of a graph, which may be empty; a branch's or loop's body, which shares extras, has none."""
    found = graph.extras.get(_KEY)
    if found is None and not graph.building_function:
        found = graph.extras[_KEY] = Layer(graph)
    return found if found is not None and found.graph is graph else Layer(graph)


def is_in_layer(op: Operation) -> bool:
    """Whether an operation was built at the prompt, beside the script's own."""
    layer = op.graph.extras.get(_KEY)
    return layer is not None and layer.operations.get(op.name) is op


def _joined(own: Mapping[Any, Any], more: Mapping[Any, Any]) -> dict[Any, Any]:
    """Copies of the containers of `own`, with what `more` adds to them."""
    found = {key: value if key in _ABOUT_OPS else _copied(value) for key, value in own.items()}
    for key, value in more.items():
        there = found.get(key)
        if isinstance(there, list):
            there += value
        elif isinstance(there, (dict, set)):
            there.update(value)
        else:
            found[key] = _copied(value)
    return found


def _copied(value: Any) -> Any:
    return value.copy() if type(value) in (dict, list, set) else value


def _added(now: Mapping[Any, Any], own: Mapping[Any, Any]) -> dict[Any, Any]:
    """What `now` has beyond `own`, container by container."""
    found: dict[Any, Any] = {}
    for key, value in now.items():
        base = own.get(key)
        if key in _ABOUT_OPS or value is base:
            continue
        if isinstance(value, list) and isinstance(base, list):
            known = set(map(id, base))
            more: Any = [item for item in value if id(item) not in known]
        elif isinstance(value, set) and isinstance(base, set):
            more = value - base
        elif isinstance(value, dict) and isinstance(base, dict):
            more = {name: item for name, item in value.items() if name not in base or base[name] is not item}
        else:
            more = value
        if more or base is None:
            found[key] = more
    return found
