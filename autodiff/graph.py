"""Graph, Operation and Tensor: what a model script builds."""
from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from . import indexing, site
from .dtypes import DType
from .errors import ArgumentError, GraphError, KindError, StateError, UnknownNameError, shown_as
from .names import UniqueNames, check_op_name, check_scope_name, did_you_mean
from .op import OPS, OpDef, Spec
from .shapes import TensorShape, as_dims, merge, show


class Tensor:
    """One output of an operation: a name, an element type and a partial shape; no value.

    dims: tuple of sizes and Nones, or None for unknown rank. name: `scope/Op_1:0`.
    """

    __slots__ = ("op", "value_index", "dtype", "dims", "_consumers", "__weakref__")
    __array_priority__ = 100  # numpy_array * tensor asks the tensor

    def __init__(self, op: "Operation", value_index: int, spec: Spec) -> None:
        self.op, self.value_index = op, value_index
        self.dtype, self.dims = spec
        self._consumers: list[Operation] = []

    @property
    def name(self) -> str:
        return f"{self.op.name}:{self.value_index}"

    @property
    def graph(self) -> "Graph":
        return self.op.graph

    @property
    def device(self) -> str:
        return self.op.device

    @property
    def shape(self) -> TensorShape:
        return TensorShape(self.dims)

    def get_shape(self) -> TensorShape:
        """The static shape, as TF1 spells it."""
        return TensorShape(self.dims)

    def set_shape(self, shape: Any) -> None:
        """Merge what the user knows into the static shape. Raises ShapeError if they contradict."""
        self.dims = merge(self.dims, as_dims(shape))

    def consumers(self) -> list["Operation"]:
        """The operations that take this tensor as input, in the order they were made."""
        return list(dict.fromkeys(self._consumers))

    def eval(self, feed_dict: dict | None = None, session: Any = None) -> Any:
        """The value, from `session` or the default session."""
        return session_for(self.graph, session, "evaluate tensor").run(self, feed_dict)

    def describe(self) -> str:
        """`h:0 float32[?,784]`."""
        return f"{self.name} {self.dtype.name}{show(self.dims)}"

    # Operators find their op by name in OPS, so that tensors need not import ops.
    def __add__(self, other: Any) -> "Tensor":
        return _binary("Add", "add", self, other)

    def __radd__(self, other: Any) -> "Tensor":
        return _reversed("Add", "add", self, other)

    def __sub__(self, other: Any) -> "Tensor":
        return _binary("Sub", "sub", self, other)

    def __rsub__(self, other: Any) -> "Tensor":
        return _reversed("Sub", "sub", self, other)

    def __mul__(self, other: Any) -> "Tensor":
        return _binary("Mul", "mul", self, other)

    def __rmul__(self, other: Any) -> "Tensor":
        return _reversed("Mul", "mul", self, other)

    def __truediv__(self, other: Any) -> "Tensor":
        return _binary("RealDiv", "truediv", self, other)

    def __rtruediv__(self, other: Any) -> "Tensor":
        return _reversed("RealDiv", "truediv", self, other)

    def __floordiv__(self, other: Any) -> "Tensor":
        return _binary("FloorDiv", "floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> "Tensor":
        return _reversed("FloorDiv", "floordiv", self, other)

    def __mod__(self, other: Any) -> "Tensor":
        return _binary("FloorMod", "mod", self, other)

    def __rmod__(self, other: Any) -> "Tensor":
        return _reversed("FloorMod", "mod", self, other)

    def __pow__(self, other: Any) -> "Tensor":
        return _binary("Pow", "pow", self, other)

    def __rpow__(self, other: Any) -> "Tensor":
        return _reversed("Pow", "pow", self, other)

    def __matmul__(self, other: Any) -> "Tensor":
        return _binary(_product_of(self, other), "matmul", self, other)

    def __rmatmul__(self, other: Any) -> "Tensor":
        return _reversed(_product_of(self, other), "matmul", self, other)

    def __lt__(self, other: Any) -> "Tensor":
        return _binary("Less", "Less", self, other)

    def __le__(self, other: Any) -> "Tensor":
        return _binary("LessEqual", "LessEqual", self, other)

    def __gt__(self, other: Any) -> "Tensor":
        return _binary("Greater", "Greater", self, other)

    def __ge__(self, other: Any) -> "Tensor":
        return _binary("GreaterEqual", "GreaterEqual", self, other)

    def __and__(self, other: Any) -> "Tensor":
        return _binary("LogicalAnd", "and", self, other)

    def __rand__(self, other: Any) -> "Tensor":
        return _reversed("LogicalAnd", "and", self, other)

    def __or__(self, other: Any) -> "Tensor":
        return _binary("LogicalOr", "or", self, other)

    def __ror__(self, other: Any) -> "Tensor":
        return _reversed("LogicalOr", "or", self, other)

    def __xor__(self, other: Any) -> "Tensor":
        return _binary("LogicalXor", "xor", self, other)

    def __rxor__(self, other: Any) -> "Tensor":
        return _reversed("LogicalXor", "xor", self, other)

    def __invert__(self) -> "Tensor":
        return OPS["LogicalNot"](self)

    def __neg__(self) -> "Tensor":
        return OPS["Neg"](self)

    def __abs__(self) -> "Tensor":
        return OPS["Abs"](self)

    def __getitem__(self, key: Any) -> "Tensor":
        return indexing.slice_tensor(graph_of((self,)), self, key)

    def __bool__(self) -> bool:
        raise KindError(f"using a tf.Tensor as a Python bool is not allowed: {self.describe()} has no value while the "
                        "graph is built\nuse tf.cond for a choice in the graph, or `is not None` to test for presence")

    def __iter__(self) -> Iterator["Tensor"]:
        raise KindError(f"a tensor is not iterable in graph mode: {self.describe()}\nuse tf.unstack or tf.map_fn")

    def __len__(self) -> int:
        raise KindError(f"len is not defined for a tensor: {self.describe()}\nuse tf.shape(x)[0] or x.shape[0]")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise KindError(f"a tensor has no value while the graph is built: {self.describe()}\n"
                        "evaluate it with session.run, or use the tf function instead of the NumPy one")

    def __float__(self) -> float:
        raise KindError(f"a tensor has no value while the graph is built: {self.describe()}")

    __int__ = __index__ = __float__  # type: ignore[assignment]

    def __str__(self) -> str:
        shown = f", shape={self.shape}" if self.dims is not None else ""
        return f'Tensor("{self.name}"{shown}, dtype={self.dtype.name})'

    def __repr__(self) -> str:
        return f"<tf.Tensor {self.name!r} shape={self.shape} dtype={self.dtype.name}>"


def _binary(op: str, name: str, x: Tensor, y: Any) -> Any:
    return OPS[op].build(OPS[op], (x, y), {}, name, x.dtype.base_dtype)


def _reversed(op: str, name: str, y: Tensor, x: Any) -> Any:
    return OPS[op].build(OPS[op], (x, y), {}, name, y.dtype.base_dtype)


def _product_of(x: Tensor, other: Any) -> str:
    """MatMul for two matrices, BatchMatMulV2 if there may be more axes."""
    depth = 0
    while isinstance(other, (list, tuple)) and other:
        other, depth = other[0], depth + 1
    shape = getattr(other, "shape", ())
    ranks = x.shape.ndims, None if shape is None or getattr(shape, "ndims", 0) is None else depth + len(shape)
    return "MatMul" if all(rank is not None and rank <= 2 for rank in ranks) else "BatchMatMulV2"


class Operation:
    """One node of a graph. Knows the user's line, and for a gradient op the op it belongs to.

    type: the op's registered name. attrs: its attributes. origin: the forward Operation whose
    gradient rule made this one, or None. gradient_of: the y of that gradient. index: place in
    the order of making, from 0.
    """

    __slots__ = ("graph", "definition", "name", "inputs", "attrs", "outputs", "control_inputs", "origin",
                 "gradient_of", "index", "device", "override", "_frames", "__weakref__")

    def __init__(self, graph: "Graph", definition: OpDef, name: str, inputs: tuple[Tensor, ...],
                 attrs: dict[str, Any], specs: Sequence[Spec], control_inputs: list["Operation"]) -> None:
        self.graph, self.definition, self.name = graph, definition, name
        self.inputs, self.attrs, self.control_inputs = inputs, attrs, control_inputs
        self.origin, self.gradient_of = graph.backprop_origin
        self.device: str = graph.current_device
        self.override: str | None = graph.overrides.get(definition.name) if graph.overrides else None
        self.index = len(graph.operations)
        self._frames = site.capture()
        self.outputs = tuple([Tensor(self, i, spec) for i, spec in enumerate(specs)])
        for tensor in inputs:
            tensor._consumers.append(self)

    @property
    def type(self) -> str:
        return self.definition.name

    @property
    def traceback(self) -> tuple[site.Site, ...]:
        """The user's lines that led here, innermost first."""
        return site.resolve(self._frames)

    @property
    def site(self) -> site.Site | None:
        """The user's line that made this operation; None outside of any file."""
        return self.traceback[0] if self._frames else None

    @property
    def forward_op(self) -> "Operation":
        """For a gradient op of any order the op of the user's own that it goes back to; else itself."""
        op = self
        while op.origin is not None:
            op = op.origin
        return op

    def get_attr(self, name: str) -> Any:
        """An attribute by name. Raises ArgumentError for an unknown one."""
        if name not in self.attrs:
            raise ArgumentError(f"no attribute {name!r} in {self.describe()}: it has {sorted(self.attrs)}")
        return self.attrs[name]

    def values(self) -> tuple[Tensor, ...]:
        return self.outputs

    def run(self, feed_dict: dict | None = None, session: Any = None) -> None:
        """Run this operation in `session` or the default session."""
        session_for(self.graph, session, "execute operation").run(self, feed_dict)

    def describe(self) -> str:
        """`MatMul(h:0 float32[?,784], w:0 float32[100,10])`."""
        return f"{self.type}({', '.join(t.describe() for t in self.inputs)})"

    def __str__(self) -> str:
        return f"name: {self.name!r} op: {self.type!r} inputs: {[t.name for t in self.inputs]}"

    def __repr__(self) -> str:
        return f"<tf.Operation {self.name!r} type={self.type}>"


class _ControlGroup:
    """One control_dependencies block: what its ops wait for, and which ops it holds."""

    def __init__(self, waits_for: list[Operation]) -> None:
        self.waits_for, self.members = waits_for, set()


class Graph:
    """Operations and tensors by name; scopes, collections, control dependencies.

    seed: graph-level random seed or None. backprop_origin: (forward op, y) while a gradient rule
    builds. overrides: op type -> name of a registered gradient. extras: what other modules keep
    per graph (variable store, gradient calls), by their own key.
    """

    building_function = False
    executing_eagerly = False

    def __init__(self) -> None:
        self.operations: dict[str, Operation] = {}
        self.names = UniqueNames()
        self.scope = ""
        self.seed: int | None = None
        self.finalized = False
        self.backprop_origin: tuple[Operation | None, Tensor | None] = (None, None)
        self.overrides: dict[str, str] = {}
        self.current_device = ""
        self.collections: dict[Any, list[Any]] = {}
        self.extras: dict[str, Any] = {}
        self._control: list[_ControlGroup] = []

    # ---- building -----------------------------------------------------------------------
    def add(self, definition: OpDef, inputs: tuple[Tensor, ...], attrs: dict[str, Any], specs: Sequence[Spec],
            name: str) -> Operation:
        """Make an operation. `name` ending in `/` is taken literally, else made unique in the scope."""
        if self.finalized:
            raise StateError(f"the graph is finalized: cannot add {definition.name} {name!r}")
        for tensor in inputs:
            if tensor.graph is not self:
                inputs = tuple(self.capture(t) for t in inputs)
                break
        name = name[:-1] if name.endswith("/") else self.unique_name(name)
        op = Operation(self, definition, name, inputs, attrs, specs, self._control_inputs_for(inputs))
        self.operations[name] = op
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
            raise GraphError(f"tensor {tensor.name!r} is from another graph than this one\nbuild both in the same "
                             "`with graph.as_default()` block")
        return tensor

    def _control_inputs_for(self, inputs: tuple[Tensor, ...]) -> list[Operation]:
        if not self._control:
            return []
        found: dict[Operation, None] = {}
        for group in self._control:
            if not any(t.op in group.members for t in inputs):
                found.update(dict.fromkeys(group.waits_for))
        for tensor in inputs:
            found.pop(tensor.op, None)
        return list(found)

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> Iterator[None]:
        """Ops made inside wait for these operations or tensors; None forgets the outer blocks."""
        saved = self._control
        if control_inputs is None:
            self._control = []
        else:
            waits_for = list(dict.fromkeys(self._as_operation(c) for c in control_inputs))
            self._control = [*saved, _ControlGroup(waits_for)]
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

    # ---- names --------------------------------------------------------------------------
    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` in the current scope, made unique."""
        return self.names.take(f"{self.scope}/{name}" if self.scope else name, mark=mark_as_used)

    @contextlib.contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Prefix names made inside; yields the prefix with its `/`.

        A name ending in `/` re-enters that scope literally; None or '' goes back to the top.
        """
        saved = self.scope
        if not name:
            self.scope = ""
        elif name.endswith("/"):
            self.scope = name[:-1]
        else:
            check_scope_name(name, top=not self.scope)
            self.scope = self.unique_name(name)
        try:
            yield f"{self.scope}/" if self.scope else ""
        finally:
            self.scope = saved

    def get_name_scope(self) -> str:
        return self.scope

    # ---- looking up ---------------------------------------------------------------------
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

    def as_graph_element(self, element: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """The Operation or Tensor that a name or object stands for in this graph."""
        as_element = getattr(element, "_as_graph_element", None)
        if as_element is not None:
            element = as_element()
        if isinstance(element, str):
            return self._named(element, allow_tensor, allow_operation)
        if isinstance(element, Tensor) and allow_tensor or isinstance(element, Operation) and allow_operation:
            if element.graph is not self:
                raise GraphError(f"{element!r} is not an element of this graph")
            return element
        wanted = " or ".join(w for w, ok in (("a Tensor", allow_tensor), ("an Operation", allow_operation)) if ok)
        raise KindError(f"expected {wanted} or its name, found {element!r} of type {type(element).__name__}")

    def _named(self, name: str, allow_tensor: bool, allow_operation: bool) -> Any:
        if ":" in name and allow_tensor:
            op_name, _, slot = name.partition(":")
            if not op_name or not slot.isdigit():
                raise ArgumentError(f"{name!r} looks like a tensor name, but is not one: expected 'op_name:output_index'")
            op = self.operations.get(op_name)
            if op is None:
                raise UnknownNameError(f"the name {name!r} refers to a tensor of an operation that is not in the graph: "
                                       f"{op_name!r}").explain(did_you_mean(op_name, self.operations))
            if int(slot) >= len(op.outputs):
                raise UnknownNameError(f"the name {name!r} refers to an output that does not exist: operation "
                                       f"{op_name!r} has {len(op.outputs)}")
            return op.outputs[int(slot)]
        if ":" in name:
            raise ArgumentError(f"{name!r} is a tensor name, expected the name of an operation")
        op = self.operations.get(name)
        if op is not None and allow_operation:
            return op
        if op is not None:
            raise ArgumentError(f"{name!r} is the name of an operation, not of a tensor: expected '{name}:0'")
        if not allow_operation:
            raise ArgumentError(f"{name!r} is not a tensor name: expected 'op_name:output_index'")
        raise UnknownNameError(f"the name {name!r} refers to an operation that is not in the graph").explain(
            did_you_mean(name, self.operations))

    # ---- collections --------------------------------------------------------------------
    def add_to_collection(self, name: Any, value: Any) -> None:
        self.collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        for name in [names] if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The list itself."""
        return self.collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """A copy of the list; `scope` is a regex that must match from the start of the item's name."""
        items = self.collections.get(name, [])
        if scope is None:
            return list(items)
        return [item for item in items if hasattr(item, "name") and re.match(scope, item.name)]

    def get_all_collection_keys(self) -> list[Any]:
        return list(self.collections)

    def clear_collection(self, name: Any) -> None:
        self.collections.pop(name, None)

    # ---- modes --------------------------------------------------------------------------
    @contextlib.contextmanager
    def as_default(self) -> Iterator["Graph"]:
        """Make this graph the default one inside the block."""
        STACKS.graphs.append(self)
        try:
            yield self
        finally:
            STACKS.graphs.remove(self) if STACKS.graphs[-1] is not self else STACKS.graphs.pop()

    @contextlib.contextmanager
    def gradient_override_map(self, mapping: dict[str, str]) -> Iterator[None]:
        """Ops of these types made inside take the gradient registered under another name."""
        saved = self.overrides
        self.overrides = {**saved, **mapping}
        try:
            yield
        finally:
            self.overrides = saved

    @contextlib.contextmanager
    def differentiating(self, origin: Operation | None, y: Tensor | None) -> Iterator[None]:
        """Ops made inside belong to the gradient of `origin` for `y`."""
        saved, self.backprop_origin = self.backprop_origin, (origin, y)
        try:
            yield
        finally:
            self.backprop_origin = saved

    @contextlib.contextmanager
    def device(self, device: Any) -> Iterator[None]:
        """Keeps the text for `op.device`; there is one device, the CPU."""
        saved = self.current_device
        self.current_device = device if isinstance(device, str) else saved
        try:
            yield
        finally:
            self.current_device = saved

    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Any:
        """Accepted and without effect: there is one device."""
        return contextlib.nullcontext()

    def finalize(self) -> None:
        """Refuse any further operation."""
        self.finalized = True

    @property
    def outermost(self) -> "Graph":
        """The graph that is not the body of a branch or loop: where variables live."""
        return self

    @property
    def version(self) -> int:
        """Count of operations so far."""
        return len(self.operations)

    def is_feedable(self, tensor: Any) -> bool:
        return True

    def is_fetchable(self, element: Any) -> bool:
        return True


class _Stacks(threading.local):
    """Default graphs, sessions and recording tapes of this thread, innermost last.

    eager: what stands in for the bottom graph when executing eagerly.
    """

    def __init__(self) -> None:
        self.graphs: list[Graph] = []
        self.bottom = Graph()
        self.eager: Graph | None = None
        self.sessions: list[Any] = []
        self.tapes: list[Any] = []


STACKS = _Stacks()


def get_default_graph() -> Graph:
    """The innermost graph made default, or the thread's own; when executing eagerly, what runs ops at once."""
    if STACKS.graphs:
        return STACKS.graphs[-1]
    return STACKS.bottom if STACKS.eager is None else STACKS.eager


def reset_default_graph() -> None:
    """Start over with an empty default graph. Raises AssertionError inside `with graph.as_default()`, as TF does."""
    if STACKS.graphs:
        raise NestedResetError("reset_default_graph inside of `with graph.as_default()`: leave the block first")
    STACKS.bottom = Graph()


@shown_as("AssertionError")
class NestedResetError(StateError, AssertionError):
    """reset_default_graph was called in a nested graph."""


def get_default_session() -> Any:
    """The innermost default session, or None."""
    return STACKS.sessions[-1] if STACKS.sessions else None


@contextlib.contextmanager
def default_session(session: Any) -> Iterator[Any]:
    """Make `session` the default one inside the block."""
    STACKS.sessions.append(session)
    try:
        yield session
    finally:
        STACKS.sessions.remove(session)


def session_for(graph: Graph, session: Any, purpose: str) -> Any:
    """`session`, or the default one; checked to be a session of `graph`."""
    found = session if session is not None else get_default_session()
    if found is None:
        raise GraphError(f"cannot {purpose}: no default session\nuse `with sess.as_default()`, or pass "
                         "eval(session=sess)")
    if found.graph is not graph:
        raise GraphError(f"cannot {purpose}: the session's graph is different from the tensor's graph")
    return found


def graph_of(values: Iterable[Any]) -> Graph:
    """The graph that an op of these inputs joins: theirs, else the default one.

    Raises GraphError if the inputs are of two graphs.
    """
    default = get_default_graph()
    if default.building_function:
        return default
    found = None
    for value in values:
        graph = getattr(value, "graph", None)
        if isinstance(graph, Graph) and graph is not found and not graph.executing_eagerly:
            if found is not None:
                raise GraphError(f"inputs are from different graphs: {value!r} and others\nbuild all of them in the "
                                 "same `with graph.as_default()` block")
            found = graph
    return found or default


def checked_op_name(name: str) -> str:
    """`name`, refused if it is no legal operation name."""
    check_op_name(name[:-1] if name.endswith("/") else name)
    return name


def is_numpy(value: Any) -> bool:
    """Whether `value` is a NumPy array or scalar."""
    return isinstance(value, (np.ndarray, np.generic))


