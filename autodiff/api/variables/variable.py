"""Variable: a value that a session keeps between runs, as a reference or as a resource."""
from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from ...core.collections import GraphKeys, checked_names
from ...core.convert import to_tensor
from ...core.defaults import STACKS
from ...core.dtypes import DType, as_dtype
from ...core.errors import ArgumentError, ShapeError, StateError
from ...core.graph import Graph, Operation, Tensor, get_default_graph
from ...core.op import OPS, build
from ...core.shapes import TensorShape, as_dims, compatible, merge
from ...ops.common.op_counts import counted_as
from ..control.dependencies import init_scope
from .initial_values import guarded, initial_tensor, only_on
from .saved_parts import Saved
from .tensor_operators import Rows, TensorOperators
from .variable_kinds import Created, VariableSynchronization, resource_variables_enabled

_CREATED = itertools.count()


class Variable(TensorOperators, Rows, Saved, metaclass=Created):
    """A value that a session keeps between runs; used in an expression it is the tensor read from it.

    initial_value: a tensor or value, or a function without arguments that gives one (dtype then
    says of which type). trainable: whether optimizers change it by default. collections: names of
    the lists it joins. validate_shape: the shape must be known, and is kept. use_resource: a
    resource variable, whose reads are ordered; a reference otherwise. caching_device: of the one read that all
    uses share. import_scope, aggregation and, but for `trainable`, synchronization are accepted without effect.
    Raises ArgumentError (ValueError) without initial value; for a reference with one of unknown shape.
    """

    is_resource = False
    _distribute_strategy = None

    def __new__(cls, *args: Any, use_resource: bool | None = None, **options: Any) -> "Variable":
        use_resource = resource_variables_enabled() if use_resource is None else use_resource
        eager = get_default_graph().executing_eagerly
        return object.__new__(ResourceVariable if cls is Variable and (use_resource or eager) else cls)

    def __init__(self, initial_value: Any = None, trainable: bool | None = None, collections: Any = None,
                 validate_shape: bool = True, caching_device: Any = None, name: str | None = None,
                 variable_def: Any = None, dtype: Any = None, expected_shape: Any = None, import_scope: Any = None,
                 constraint: Callable[[Any], Any] | None = None, use_resource: bool | None = None,
                 synchronization: Any = None, aggregation: Any = None, shape: Any = None) -> None:
        if variable_def is not None:
            vars(self).update(vars(self.from_proto(variable_def, import_scope)))
            return
        if initial_value is None:
            raise ArgumentError("initial_value must be specified.", found="None")
        if isinstance(initial_value, Tensor) and initial_value.graph.building_function:
            raise ArgumentError(f"Initializer for variable {name or 'Variable'} is from inside a control-flow "
                                "construct, such as a loop or conditional. When creating a variable inside a loop or "
                                "conditional, use a lambda as the initializer.")
        if constraint is not None and not callable(constraint):
            raise ArgumentError(f"the constraint of a variable is a function, found {constraint!r}")
        self.trainable = synchronization != VariableSynchronization.ON_READ if trainable is None else bool(trainable)
        self.caching_device = caching_device
        self.constraint, self.created = constraint, next(_CREATED)
        self.synchronization, self.aggregation = synchronization, aggregation
        names = checked_names(collections, [GraphKeys.GLOBAL_VARIABLES])
        if self.trainable and GraphKeys.TRAINABLE_VARIABLES not in names:
            names.append(GraphKeys.TRAINABLE_VARIABLES)
        wanted = None if dtype is None else as_dtype(dtype).base_dtype
        with init_scope():
            self._graph = get_default_graph()
            with self._graph.name_scope("Variable" if name is None else name) as scope:
                is_open = shape is not None and as_dims(shape) is None
                self._make(scope, initial_value, wanted, validate_shape and not is_open, as_dims(shape))
        if self._graph.executing_eagerly:  # there a variable lives as long as it is referred to
            names = [name for name in names if name == GraphKeys.GLOBAL_STEP]
        self._graph.add_to_collections(names, self)

    def _make(self, scope: str, initial_value: Any, dtype: DType | None, validate_shape: bool, dims: Any) -> None:
        """The operations `v/initial_value`, `v`, `v/Assign` and `v/read`."""
        self._initial_value = initial_tensor(initial_value, dtype, validate_shape, beside=scope.rstrip("/"))
        if dims is None and validate_shape:
            dims = self._initial_value.dims
        dtype = self._initial_value.dtype.base_dtype
        self.handle_tensor: Tensor = build.VariableV2(shape=dims, dtype=dtype, name=scope)
        self.initializer: Operation = build.Assign(self.handle_tensor, guarded(self._initial_value, self.op.name),
                                                   validate_shape=validate_shape).op
        with only_on(self.caching_device):
            self._snapshot: Tensor = build.Identity(self.handle_tensor, name="read")

    def adopt(self, graph: Graph, handle: Tensor, initializer: Operation, snapshot: Tensor, initial_value: Any, *,
              trainable: bool) -> None:
        """Become the variable of operations that are in a graph already, in place of `__init__`."""
        self._graph, self.handle_tensor, self.initializer, self._snapshot = graph, handle, initializer, snapshot
        self._initial_value = initial_value
        self.trainable, self.constraint, self.created = trainable, None, next(_CREATED)
        self.caching_device = "" if self.is_resource and snapshot.op.type != "ReadVariableOp" else None
        self.synchronization = self.aggregation = None

    @property
    def op(self) -> Operation:
        """The operation that stands for the variable in the graph."""
        return self.handle_tensor.op

    @property
    def name(self) -> str:
        return self.handle_tensor.name

    @property
    def _shared_name(self) -> str:
        return self.op.name

    @property
    def graph(self) -> Graph:
        return self._graph

    @property
    def device(self) -> str:
        return self.handle_tensor.device

    @property
    def dtype(self) -> DType:
        return self.handle_tensor.dtype

    @property
    def shape(self) -> TensorShape:
        return self.handle_tensor.shape

    def get_shape(self) -> TensorShape:
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Merge what the user knows into the static shape. Raises ShapeError if they contradict."""
        self.handle_tensor.set_shape(shape)
        self._snapshot.set_shape(shape)

    @property
    def initial_value(self) -> Tensor:
        return self._initial_value

    def _as_graph_element(self) -> Tensor:
        return self.handle_tensor

    def as_tensor(self) -> Tensor:
        """The tensor that stands for the variable in an expression."""
        return self._snapshot

    def value(self) -> Tensor:
        return self.as_tensor()

    def read_value(self) -> Tensor:
        """The value at the time this new op runs."""
        return build.Identity(self.handle_tensor, name="read")

    def initialized_value(self) -> Tensor:
        """The value, or the initial value while the session holds none."""
        if self._graph.executing_eagerly:
            return self.read_value()
        if self._initial_value is None:
            raise ArgumentError(f"{self.name!r} was made of a VariableDef that names no initial value")
        with init_scope():
            with counted_as(9):  # a branch on whether it is initialized
                return build.InitializedValue(self.handle_tensor, self.initializer.inputs[1])

    def is_initialized(self, name: str | None = None) -> Tensor:
        return build.IsVariableInitialized(self.handle_tensor, name=name)

    def eval(self, session: Any = None) -> Any:
        """The value that `session`, or the default one, holds."""
        return self.as_tensor().eval(session=session)

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Give a new value; gives the reference after it, or the operation if read_value is False."""
        if self._graph.executing_eagerly:
            value = to_tensor(self._graph, value, self.dtype.base_dtype, "value")
            self.shape.assert_is_compatible_with(value.dims)
        return self._changed("Assign", value, name, read_value)

    def assign_add(self, delta: Any, use_locking: bool = False, name: str | None = None,
                   read_value: bool = True) -> Any:
        """Add `delta`, as assign does."""
        return self._changed("AssignAdd", delta, name, read_value)

    def assign_sub(self, delta: Any, use_locking: bool = False, name: str | None = None,
                   read_value: bool = True) -> Any:
        """Subtract `delta`, as assign does."""
        return self._changed("AssignSub", delta, name, read_value)

    def count_up_to(self, limit: int) -> Tensor:
        """Add 1 and give the value before; OutOfRangeError once it has reached the limit."""
        return _built("ResourceCountUpTo" if self.is_resource else "CountUpTo", self, limit=limit)

    def _changed(self, kind: str, value: Any, name: str | None, read_value: bool, **attrs: Any) -> Any:
        assigned = _built(kind, self, value, name=name, **attrs)
        return assigned if read_value else assigned.op

    def _rows_changed(self, kind: str, indices: Any, updates: Any, name: str | None) -> Any:
        return _built(kind, self, indices, updates, name=name)

    def __repr__(self) -> str:
        return f"<tf.Variable {self.name!r} shape={self.shape} dtype={self.dtype.name}>"


class ResourceVariable(Variable):
    """A variable behind a handle: each read is an op of its own, in the order that the graph says."""

    is_resource = True

    def _make(self, scope: str, initial_value: Any, dtype: DType | None, validate_shape: bool, dims: Any) -> None:
        """The operations `v`, `v/IsInitialized/…`, `v/Assign` and `v/Read/ReadVariableOp`."""
        graph = self._graph
        self._name = scope.rstrip("/")
        self._initial_value = initial_tensor(initial_value, dtype, validate_shape, beside=self._name, is_resource=True)
        dims = self._initial_value.dims if dims is None and validate_shape else dims
        if not compatible(self._initial_value.dims, dims):
            raise ShapeError(f"The initial value's shape ({self._initial_value.shape}) is not compatible with the "
                             f"explicitly supplied `shape` argument ({TensorShape(dims)}).")
        self._dtype, self._dims = self._initial_value.dtype.base_dtype, dims
        self.handle_tensor = build.VarHandleOp(shape=dims, dtype=self._dtype, shared_name=self._name, name=scope)
        if graph.executing_eagerly:
            build.AssignVariableOp(self.handle_tensor, self._initial_value)
            self.initializer = self.caching_device = None  # type: ignore[assignment]  # it has its value
            return
        with graph.name_scope("IsInitialized"):
            build.VarIsInitializedOp(self.handle_tensor)
        with graph.name_scope("Assign") as assign_scope, graph.device(None), graph.device(self.device):
            self.initializer = build.AssignVariableOp(self.handle_tensor, guarded(self._initial_value, self._name),
                                                      name=assign_scope)
        with graph.name_scope("Read"), graph.device(None), graph.device(self.device):
            self._snapshot = self._read()
            if self.caching_device is not None:
                with only_on(self.caching_device):
                    self._snapshot = build.Identity(self._snapshot)

    def adopt(self, graph: Graph, handle: Tensor, initializer: Operation, snapshot: Tensor, initial_value: Any, *,
              trainable: bool) -> None:
        super().adopt(graph, handle, initializer, snapshot, initial_value, trainable=trainable)
        self._dtype, self._dims = handle.op.attrs["dtype"], as_dims(handle.op.attrs["shape"])
        self._name = handle.op.name

    def _read(self) -> Tensor:
        return build.ReadVariableOp(self.handle_tensor)

    def _note_access(self) -> None:
        for tape in STACKS.tapes:
            tape.variable_accessed(self)

    handle = _handle = property(lambda self: self.handle_tensor)

    @property
    def _shared_name(self) -> str:
        return self._name

    @property
    def name(self) -> str:
        return f"{self._name}:0"

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        return TensorShape(self._dims)

    def set_shape(self, shape: Any) -> None:
        self._dims = merge(self._dims, as_dims(shape))

    def _as_graph_element(self) -> Tensor:
        return self._snapshot

    _graph_element = property(_as_graph_element)
    _cached_value = property(lambda self: None if self.caching_device is None else self._snapshot)

    def as_tensor(self) -> Tensor:
        self._note_access()
        return self._read() if self.caching_device is None else self._snapshot

    def read_value(self) -> Tensor:
        self._note_access()
        with get_default_graph().name_scope("Read"):
            value = self._read()
        return build.Identity(value)

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """The rows at `indices`. indices: int[...]."""
        self._note_access()
        with get_default_graph().name_scope(name or "Gather") as scope:
            rows = build.ResourceGather(self.handle_tensor, indices, dtype=self._dtype, name=scope)
        return build.Identity(rows)

    def is_initialized(self, name: str | None = None) -> Tensor:
        return build.VarIsInitializedOp(self.handle_tensor, name=name)

    def __repr__(self) -> str:
        if not self._graph.executing_eagerly:
            return super().__repr__()
        value = self.numpy()
        return (f"<tf.Variable {self.name!r} shape={self.shape} dtype={self.dtype.name}, "
                f"numpy={repr(value) if self.shape.ndims else value}>")

    def numpy(self) -> Any:
        """The value, when executing eagerly."""
        if not self._graph.executing_eagerly:
            raise StateError("numpy() is only available when eager execution is enabled: use session.run")
        return self._read().numpy()  # type: ignore[attr-defined]

    def __int__(self) -> int:
        return int(self.numpy())

    __index__ = __int__

    def __float__(self) -> float:
        return float(self.numpy())

    def __bool__(self) -> bool:
        return bool(self.numpy()) if self._graph.executing_eagerly else True

    def eval(self, session: Any = None) -> Any:
        return self._snapshot.eval(session=session)

    def _changed(self, kind: str, value: Any, name: str | None, read_value: bool, **attrs: Any) -> Any:
        return self._after(_built(f"{kind}VariableOp", self, value, name=name, **attrs), read_value)

    def _after(self, change: Operation, read_value: bool = True) -> Any:
        """The result of an assignment: the value read after it, the operation alone, or eagerly the variable."""
        if self._graph.executing_eagerly:
            return self if read_value else None
        if not read_value:
            return change
        with get_default_graph().control_dependencies([change]):
            return self._read()

    def _rows_changed(self, kind: str, indices: Any, updates: Any, name: str | None) -> Any:
        return self._after(_built(kind, self, indices, updates, name=name or f"Resource{kind}").op)


def _built(kind: str, variable: Variable, *values: Any, name: str | None = None, **attrs: Any) -> Any:
    """The op `kind` of a variable and values; Python values become the variable's dtype."""
    return OPS[kind](variable.handle_tensor, *values, name=name, **attrs)
