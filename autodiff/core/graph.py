"""Graph: the operations and tensors that a model script builds, by name."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from .defaults import STACKS, InThread, entered
from .devices import Placed
from .errors import GraphError, KindError, NestedResetError, StateError
from .graph_parts import PROMOTIONS, Collected, ControlGroup, Operations, written_as
from .names import RuleScopes, UniqueNames, check_scope_name, element_named
from .op import OPS, OpDef, Spec
from .operation import Operation
from .site import Known
from .tensor import Tensor

_MANY = 1 << 13  # operations


class Graph(Placed, Collected):
    """Operations and tensors by name; scopes, collections, control dependencies.

    keeps_subnormals: whether its runs have the smallest numbers as IEEE 754 has them, and not as 0 as TensorFlow's.
    seed: graph-level random seed or None. backprop_origin: (forward op, y) while a gradient rule builds. in_rule: where
    it does. made_from: the frame that makes many operations, meanwhile. overrides: op type -> name of a registered
    gradient. extras: what other modules keep per graph (variable store, gradient calls), by their own key.
    """

    in_loop = executing_eagerly = is_rewired = False  # is_rewired: whether an operation was given other inputs
    keeps_subnormals = False
    adding = ""  # the operation whose inputs come from other graphs
    shown: Callable[[Tensor, "Graph"], Tensor] | None = None  # makes of a function's tensor one for another graph

    def __init__(self) -> None:
        self.operations: Operations = Operations()
        self.names = UniqueNames()
        self.in_rule: RuleScopes | None = None
        self._scopes = InThread("")
        self.seed: int | None = None
        self.finalized = False
        self.placement, self.colocated = "", ()  # of its own: each operation reads them
        self.backprop_origin: tuple[Operation | None, Tensor | None] = (None, None)
        self.overrides: dict[str, str] = {}
        self.collected = {}
        self.extras: dict[str, Any] = {}
        self.made_from: Known | None = None
        self._container = ""
        self._control: list[ControlGroup] = []

    def add(self, definition: OpDef, inputs: tuple[Tensor, ...], attrs: dict[str, Any], specs: Sequence[Spec],
            name: str) -> Operation:
        """Make an operation. `name` ending in `/` is taken literally, else made unique in the scope."""
        for tensor in inputs:
            if tensor.op is None or tensor.op.graph is not self:
                self.adding = name
                inputs = tuple(self.capture(t) for t in inputs)
                break
        return self.enter(definition, inputs, attrs, specs, name)

    def enter(self, definition: OpDef, inputs: tuple[Tensor, ...], attrs: dict[str, Any], specs: Sequence[Any],
              name: str) -> Operation:
        """`add`, for inputs that are of this graph. specs: pairs will do."""
        if self.finalized:
            raise StateError(f"Graph is finalized and cannot be modified: cannot add {definition.name} {name!r}",
                             hint="make it once, before the session and outside of the loop that runs it")
        named = self.names.literal(name[:-1]) if name.endswith("/") else self._name_in_scope(name)
        op = Operation.begun(self, definition, named, inputs, attrs, specs)
        listed = self.operations.listed
        listed.append(op)
        if not len(listed) % _MANY:
            PROMOTIONS.promote()  # they live on: collections meanwhile would walk all of them, and find nothing
        if self.colocated:
            op.stand_with(self.colocated)
            op._colocation_dict = self.beside
        if self._control:
            op.waits_for = self._control_inputs_for(inputs)
            for group in self._control:
                group.members.add(op)
        for tape in STACKS.tapes:
            if tape.wants(op):
                tape.record(op)
        return op

    def capture(self, tensor: Tensor) -> Tensor:
        """This graph's own tensor for one that comes in as an input; a function graph takes foreign ones."""
        if tensor.graph.executing_eagerly:
            value, spec = np.asarray(tensor), Spec(tensor.dtype, tensor.dims)
            return self.add(OPS["Const"], (), {"value": value, "dtype": tensor.dtype}, (spec,), "Const").outputs[0]
        if tensor.graph is not self:
            if tensor.graph.shown is not None:
                return tensor.graph.shown(tensor, self)
            raise GraphError(f"tensor {tensor.name!r} is from another graph than this one",
                             hint="build both in the same `with graph.as_default()` block")
        return tensor

    def _control_inputs_for(self, inputs: tuple[Tensor, ...]) -> tuple[Operation, ...]:
        found: dict[Operation, None] = {}
        for group in self._control:
            if not any(t.op in group.members for t in inputs):
                found.update(dict.fromkeys(group.waits_for))
        for tensor in inputs:
            found.pop(tensor.op, None)
        return tuple(found)

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> Iterator[None]:
        """Ops made inside wait for these operations or tensors; None forgets the outer blocks.

        While the body of a branch or loop is built, the outermost graph's means the body's.
        """
        current = get_default_graph()
        if current.building_function and current is not self and current.outermost is self:
            with current.control_dependencies(control_inputs):
                yield
            return
        saved = self._control
        if control_inputs is None:
            self._control = []
        else:
            waits_for = list(dict.fromkeys(self._as_operation(c) for c in control_inputs))
            self._control = [*saved, ControlGroup(waits_for)]
        try:
            yield
        finally:
            self._control = saved

    def _as_operation(self, element: Any) -> Operation:
        if isinstance(element, Operation):
            return element
        if not isinstance(element, (Tensor, str)) and hasattr(element, "op"):
            return element.op
        found = self.as_graph_element(element)
        return found if isinstance(found, Operation) else found.op

    def create_op(self, op_type: str, inputs: Any = (), dtypes: Any = None, *more: Any, **options: Any) -> Operation:
        """An operation of this type, with its inputs in order. attrs: Python values or AttrValues.

        Raises ArgumentError (ValueError) for a type that the table does not have.
        """
        return written_as("Operation", self, op_type, inputs, *more, **options)

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` in the current scope, made unique."""
        if mark_as_used:
            found = self._name_in_scope(name)
            if type(found) is tuple and self.in_rule is not None:
                self.in_rule.has_scopes, found = True, f"{self.in_rule.scope}/{found[1]}"
            return found  # type: ignore[return-value]
        scope = self._scopes.value
        return self.names.take(f"{scope}/{name}" if scope else name, mark=False)

    def _name_in_scope(self, name: str) -> str | tuple[str, str]:
        """A unique name: all of it, or the scope around that of a rule and the last part."""
        scope = self._scopes.value
        if not scope:
            return self.names.take(name)
        rule, found = self.in_rule, None
        if rule is not None and scope == rule.scope and rule.operation is self.backprop_origin[0]:
            found = rule.leaf(name)
        return found if found is not None else self.names.take(f"{scope}/{name}")

    @contextlib.contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Prefix names made inside; yields the prefix with its `/`.

        A name ending in `/` re-enters that scope literally; None or '' goes back to the top.
        """
        saved = self.scope
        if name:
            check_scope_name(name, top=not saved)
        self.scope = "" if not name else name[:-1] if name.endswith("/") else self.unique_name(name)
        try:
            yield f"{self.scope}/" if name else ""
        finally:
            self.scope = saved

    @property
    def scope(self) -> str:
        """The name scope of this thread, without its last `/`."""
        return self._scopes.value

    @scope.setter
    def scope(self, name: str) -> None:
        self._scopes.value = name

    def get_name_scope(self) -> str:
        return self.scope

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> Any:
        """All operations as a GraphDef; from_version: only the later ones. add_shapes: with `_output_shapes`."""
        return written_as("GraphDef", self, from_version, add_shapes)

    def get_operations(self) -> list[Operation]:
        """All operations in the order they were made."""
        return list(self.operations.values())

    def get_operation_by_name(self, name: str) -> Operation:
        """Raises KindError for a non-str, UnknownNameError (a KeyError) for an unknown name."""
        if not isinstance(name, str):
            raise KindError(f"operation names are strings, found {type(name).__name__}")
        return self.as_graph_element(name, allow_tensor=False)

    def get_tensor_by_name(self, name: str) -> Tensor:
        """Raises KindError for a non-str, ArgumentError for a bad form, UnknownNameError for an unknown name."""
        if not isinstance(name, str):
            raise KindError(f"tensor names are strings, found {type(name).__name__}")
        return self.as_graph_element(name, allow_operation=False)

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """The Operation or Tensor that a name or object stands for in this graph."""
        as_element = getattr(obj, "_as_graph_element", None)
        element = obj if as_element is None else as_element()
        if isinstance(element, str):
            return element_named(element, self.operations, allow_tensor=allow_tensor, allow_operation=allow_operation)
        if isinstance(element, Tensor) and allow_tensor or isinstance(element, Operation) and allow_operation:
            if element.graph is not self:
                raise GraphError(f"{type(element).__name__} {element} is not an element of this graph.",
                                 hint="make the session of the graph that it is in, tf.Session(graph=graph), or build "
                                      "all in one graph")
            return element
        wanted = " or ".join(w for w, ok in (("Tensor", allow_tensor), ("Operation", allow_operation)) if ok)
        raise KindError(f"Can not convert a {type(element).__name__} into a {wanted}.", found=repr(element))

    @contextlib.contextmanager
    def as_default(self) -> Iterator["Graph"]:
        """Make this graph the default one inside the block."""
        with entered(STACKS.graphs, self):
            yield self

    def __repr__(self) -> str:
        types = [op.type for op in self.operations.values()]
        variables = types.count("VariableV2") + types.count("VarHandleOp")
        return f"<Graph: operations {len(types)}, variables {variables}, placeholders {types.count('Placeholder')}>"

    @contextlib.contextmanager
    def gradient_override_map(self, mapping: dict[str, str]) -> Iterator[None]:
        """Ops of these types made inside take the gradient registered under another name."""
        for name in (*mapping, *mapping.values()):
            if not isinstance(name, str):
                raise KindError(expected="names of op types and gradients", found=repr(name))
        saved = dict(self.overrides)
        self.overrides.update(mapping)  # in place: functions share the map, and a script may hold the outermost graph
        try:
            yield
        finally:
            self.overrides.clear()
            self.overrides.update(saved)

    @contextlib.contextmanager
    def differentiating(self, origin: Operation | None, y: Tensor | None) -> Iterator[None]:
        """Ops made inside belong to the gradient of `origin` for `y`."""
        saved, self.backprop_origin = self.backprop_origin, (origin, y)
        try:
            yield
        finally:
            self.backprop_origin = saved

    def finalize(self) -> None:
        """Refuse any further operation."""
        self.finalized = True

    def _unsafe_unfinalize(self) -> None:
        self.finalized = False

    @property
    def outermost(self) -> "Graph":
        """The graph that is not the body of a branch or loop: where variables live."""
        return self

    @property
    def _c_graph(self) -> "Graph":
        return self

    @property
    def version(self) -> int:
        """Count of operations so far."""
        return len(self.operations)


def get_default_graph() -> Graph:
    """The innermost graph made default, or the thread's own; when executing eagerly, what runs ops at once."""
    return STACKS.graphs[-1] if STACKS.graphs else default_graph_below()


def default_graph_below() -> Graph:
    """The default graph outside of all blocks that make one so."""
    if STACKS.eager is not None:
        return STACKS.eager
    STACKS.bottom = STACKS.bottom if STACKS.bottom is not None else Graph()
    return STACKS.bottom


def reset_default_graph() -> None:
    """Start over with an empty default graph. Raises AssertionError inside `with graph.as_default()`, as TF does."""
    if STACKS.graphs:
        raise NestedResetError("reset_default_graph inside of `with graph.as_default()`: leave the block first")
    STACKS.bottom = Graph()


def graph_of(values: Iterable[Any]) -> Graph:
    """The graph that an op of these inputs joins: theirs, else the default one.

    Raises GraphError if the inputs are of two graphs.
    """
    default = get_default_graph()
    if default.building_function:
        return default
    for value in values:
        if type(value) is not Tensor or value.op.graph is not default:
            break
    else:
        return default
    found = None
    for value in values:
        graph = value.op.graph if type(value) is Tensor else getattr(value, "graph", None)
        if graph is default and found is None and not default.executing_eagerly:
            found = graph
        if isinstance(graph, Graph) and graph.building_function:
            graph = graph.outermost
        if isinstance(graph, Graph) and graph is not found and not graph.executing_eagerly:
            if found is not None:
                raise GraphError(f"{value!r} must be from the same graph as the other inputs",
                                 hint="build all of them in the same `with graph.as_default()` block, and nothing "
                                      "before tf.reset_default_graph()")
            found = graph
    return found or default
