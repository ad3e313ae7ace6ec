"""variable_scope and get_variable: variables made and shared by name."""
from __future__ import annotations

import contextlib
import enum
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...core.collections import GraphKeys, get_collection
from ...core.convert import as_array
from ...core.defaults import InThread
from ...core.dtypes import DType, as_dtype, float32
from ...core.errors import ArgumentError, KindError, StateError
from ...core.graph import Tensor, get_default_graph, graph_of
from .variable import Variable
from .variable_kinds import VariableAggregation, VariableSynchronization
from .variable_store import found_or_made

_OPEN, _COUNTS = "variable_scope", "variable_scope_counts"


class _ReuseMode(enum.Enum):
    AUTO_REUSE = 1


AUTO_REUSE = _ReuseMode.AUTO_REUSE  # make a variable the first time, share it from then on


class VariableScope:
    """A prefix of variable names, and what get_variable takes where it is not told otherwise.

    reuse: True shares existing variables, AUTO_REUSE also makes new ones, False or None makes them.
    original_name_scope: the name scope it was first opened with, with its `/`.
    """

    def __init__(self, reuse: Any = False, name: str = "", initializer: Any = None, regularizer: Any = None,
                 caching_device: Any = None, partitioner: Any = None, custom_getter: Any = None, name_scope: str = "",
                 dtype: Any = float32, use_resource: bool | None = None, constraint: Any = None) -> None:
        self.reuse, self.name, self.original_name_scope = reuse or False, name, name_scope
        self.initializer, self.regularizer, self.constraint = initializer, regularizer, constraint
        self.caching_device, self.partitioner, self.custom_getter = caching_device, partitioner, custom_getter
        self.dtype: DType | None = None if dtype is None else as_dtype(dtype)
        self.use_resource = use_resource

    def _copy(self, **changed: Any) -> "VariableScope":
        kept = {key: getattr(self, key) for key in _SETTINGS}
        return VariableScope(**{**kept, **changed})

    def reuse_variables(self) -> None:
        """Share existing variables from here on."""
        self.reuse = True

    def set_initializer(self, initializer: Any) -> None:
        self.initializer = initializer

    def set_dtype(self, dtype: Any) -> None:
        self.dtype = as_dtype(dtype)

    def set_use_resource(self, use_resource: bool) -> None:
        self.use_resource = use_resource

    def set_regularizer(self, regularizer: Any) -> None:
        self.regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        self.caching_device = caching_device

    def set_partitioner(self, partitioner: Any) -> None:
        self.partitioner = partitioner

    def set_custom_getter(self, custom_getter: Any) -> None:
        self.custom_getter = custom_getter

    def get_collection(self, name: Any) -> list[Any]:
        """The items of a collection whose names are in this scope."""
        return get_collection(name, f"{self.name}/" if self.name else "")

    trainable_variables = functools.partialmethod(get_collection, GraphKeys.TRAINABLE_VARIABLES)
    global_variables = functools.partialmethod(get_collection, GraphKeys.GLOBAL_VARIABLES)
    local_variables = functools.partialmethod(get_collection, GraphKeys.LOCAL_VARIABLES)

    def get_variable(self, var_store: Any, name: str, *args: Any, **options: Any) -> Variable:
        """get_variable in this scope. var_store is accepted without effect."""
        return _in_scope(self, name, *args, **options)


_SETTINGS = ("reuse", "name", "initializer", "regularizer", "caching_device", "partitioner", "custom_getter", "dtype",
             "use_resource", "constraint")


def get_variable_scope() -> VariableScope:
    """The innermost variable scope of the default graph."""
    return _open_one().value


def _open_one() -> InThread:
    return get_default_graph().outermost.extras.setdefault(_OPEN, InThread(VariableScope()))


def get_variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, regularizer: Any = None,
                 trainable: bool | None = None, collections: Any = None, caching_device: Any = None,
                 partitioner: Any = None, validate_shape: bool = True, use_resource: bool | None = None,
                 custom_getter: Any = None, constraint: Any = None,
                 synchronization: Any = VariableSynchronization.AUTO,
                 aggregation: Any = VariableAggregation.NONE) -> Variable:
    """The variable of this name in the current variable scope, made if the scope's `reuse` says so.

    initializer: a tensor or value (then no shape is given), or a function of (shape, dtype); Glorot's uniform one by
    default, zeros for integers. regularizer: variable -> loss, put into REGULARIZATION_LOSSES. custom_getter: called in
    place of the making, with it as first argument. Raises GraphError (ValueError) when a variable exists and is not to
    be shared, or should exist and does not; ShapeError, ArgumentError (ValueErrors) for shapes and dtypes that differ.
    """
    return _in_scope(get_variable_scope(), name, shape, dtype, initializer, regularizer, trainable=trainable,
                     collections=collections, caching_device=caching_device, partitioner=partitioner,
                     validate_shape=validate_shape, use_resource=use_resource, custom_getter=custom_getter,
                     constraint=constraint, synchronization=synchronization, aggregation=aggregation)


def get_local_variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None,
                       regularizer: Any = None, trainable: bool = False, collections: Any = None,  # noqa: PLR0913
                       caching_device: Any = None, partitioner: Any = None, validate_shape: bool = True,
                       use_resource: bool | None = None, custom_getter: Any = None, constraint: Any = None,
                       synchronization: Any = VariableSynchronization.AUTO,
                       aggregation: Any = VariableAggregation.NONE) -> Variable:
    """get_variable for one that is not trained and not saved: it joins LOCAL_VARIABLES. trainable has no effect."""
    return get_variable(name, shape, dtype, initializer, regularizer, trainable=False,
                        collections=[*(collections or ()), GraphKeys.LOCAL_VARIABLES], caching_device=caching_device,
                        partitioner=partitioner, validate_shape=validate_shape, use_resource=use_resource,
                        custom_getter=custom_getter, constraint=constraint, synchronization=synchronization,
                        aggregation=aggregation)


def no_regularizer(_: Any) -> None:
    """A regularizer that says: none, not even the scope's."""


def _in_scope(scope: VariableScope, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None,
              regularizer: Any = None, *, reuse: Any = None, custom_getter: Any = None, partitioner: Any = None,
              constraint: Any = None, use_resource: bool | None = None, caching_device: Any = None,
              **options: Any) -> Variable:
    """get_variable, with what it is not told taken from `scope`."""
    if not isinstance(name, str) or not name:
        raise ArgumentError(f"the name of a variable is a string that is not empty, found {name!r}")
    partitioner = partitioner or scope.partitioner
    if dtype is not None and initializer is not None and not callable(initializer):
        _check_value_dtype(name, initializer, as_dtype(dtype))
    custom_getter = scope.custom_getter if custom_getter is None else custom_getter
    if custom_getter is not None and not callable(custom_getter):
        raise ArgumentError(f"custom_getter passed to get_variable is not callable: {custom_getter!r}")
    arguments = dict(
        name=f"{scope.name}/{name}" if scope.name else name, shape=shape,
        dtype=scope.dtype if dtype is None else as_dtype(dtype).base_dtype,
        initializer=scope.initializer if initializer is None else initializer,
        regularizer=scope.regularizer if regularizer is None else regularizer,
        reuse=(scope.reuse or False) if reuse is None else reuse,
        constraint=scope.constraint if constraint is None else constraint,
        caching_device=scope.caching_device if caching_device is None else caching_device,
        use_resource=scope.use_resource if use_resource is None else use_resource, partitioner=partitioner, **options)
    if arguments.get("trainable") is None:  # a custom getter asks what it is
        arguments["trainable"] = arguments.get("synchronization") != VariableSynchronization.ON_READ
    with get_default_graph().name_scope(None):
        if custom_getter is not None:
            return custom_getter(getter=found_or_made, **arguments)
        return found_or_made(**arguments)


def _inside(inner: Callable[..., Any], outer: Callable[..., Any]) -> Callable[..., Any]:
    """Both custom getters: the inner one is called, and its getter calls the outer one."""
    return lambda getter, *args, **options: inner(functools.partial(outer, getter), *args, **options)


def _check_value_dtype(name: str, value: Any, dtype: DType) -> None:
    found = value.dtype.base_dtype if isinstance(value, (Tensor, Variable)) else None
    found = as_dtype(as_array(value).dtype) if found is None else found
    if found is not dtype.base_dtype:
        raise ArgumentError(f"Initializer type '{found.name}' and explicit dtype '{dtype.name}' don't match: "
                            f"variable {name!r}")


class variable_scope:  # noqa: N801 (TensorFlow's name)
    """`with tf.variable_scope(name) as scope`: prefix the names of variables and of ops.

    name_or_scope: a name, or a VariableScope to open again; None takes default_name made unique.
    reuse: True, AUTO_REUSE, or False and None, which inherit. The rest become the scope's settings.
    auxiliary_name_scope: False leaves op names alone. Raises ArgumentError (ValueError) for another
    reuse, KindError (TypeError) without any name or for one of another type.
    """

    def __init__(self, name_or_scope: Any, default_name: str | None = None, values: Any = None, initializer: Any = None,
                 regularizer: Any = None, caching_device: Any = None, partitioner: Any = None,
                 custom_getter: Any = None, reuse: Any = None, dtype: Any = None, use_resource: bool | None = None,
                 constraint: Any = None, auxiliary_name_scope: bool = True) -> None:
        if name_or_scope is None and default_name is None:
            raise KindError(expected="a name_or_scope or a default_name", found="None for both")
        if reuse not in (None, True, False, AUTO_REUSE):
            raise ArgumentError(f"reuse is {reuse!r}, expected True, False, None or tf.AUTO_REUSE")
        if name_or_scope is None and reuse:
            raise ArgumentError("reuse cannot be asked for without a name_or_scope")
        if not isinstance(auxiliary_name_scope, bool):
            raise KindError(f"auxiliary_name_scope is {auxiliary_name_scope!r}, expected True or False")
        if name_or_scope is not None and not isinstance(name_or_scope, (str, VariableScope)):
            raise KindError(expected="a string or VariableScope to open", found=repr(name_or_scope))
        self._scope, self._default, self._values = name_or_scope, default_name, values
        self._reuse, self._getter, self._names_ops = reuse or None, custom_getter, auxiliary_name_scope
        given = dict(initializer=initializer, regularizer=regularizer, caching_device=caching_device,
                     partitioner=partitioner, use_resource=use_resource, constraint=constraint,
                     dtype=None if dtype is None else as_dtype(dtype))
        self._given = {key: value for key, value in given.items() if value is not None}

    def __enter__(self) -> VariableScope:
        self._stack = contextlib.ExitStack()
        try:
            self._opened = self._open(self._stack)
        except BaseException:
            self._stack.close()
            raise
        return self._opened

    def _open(self, stack: contextlib.ExitStack) -> VariableScope:
        graph = graph_of(self._values or ())
        if graph is not get_default_graph():
            stack.enter_context(graph.as_default())
        reopened = self._scope if isinstance(self._scope, VariableScope) else None
        name = self._default if self._scope is None else reopened.name.split("/")[-1] if reopened else self._scope
        full = f"{graph.scope}/" if graph.scope and not self._names_ops else ""
        if self._names_ops and name:
            full = stack.enter_context(graph.name_scope(str(name)))
        if self._scope is None:
            name = unique_scope_name(self._default)  # type: ignore[arg-type]
        elif reopened is None:
            name = self._scope
        return stack.enter_context(pure_variable_scope(
            reopened or name, name_scope=full, reuse=self._reuse, custom_getter=self._getter, given=self._given))

    def __exit__(self, *exc: Any) -> None:
        if get_variable_scope() is not self._opened and exc[0] is None:
            raise StateError("Improper nesting of variable_scope.", expected=f"to be left first: {self._opened.name!r}",
                             found=f"{get_variable_scope().name!r} in it")
        self._stack.close()


class _Counts(dict[str, int]):
    """Name -> how often the scope was opened since the one around it was."""

    def __init__(self) -> None:
        super().__init__()
        self._inside: dict[str, set[str]] = {}  # as a graph may have thousands

    def opened(self, name: str) -> None:
        """Count once more."""
        if name not in self:
            parts = name.split("/")
            for end in range(1, len(parts)):
                self._inside.setdefault("/".join(parts[:end]), set()).add(name)
        self[name] = self.get(name, 0) + 1

    def left(self, name: str) -> None:
        """Begin anew with those inside."""
        self.update(dict.fromkeys(self._inside.get(name, ()), 0))


@contextlib.contextmanager
def pure_variable_scope(scope: Any, *, name_scope: str, reuse: Any = None, custom_getter: Any = None,
                        given: dict[str, Any] | None = None) -> Iterator[VariableScope]:
    """Open a variable scope without naming ops. scope: a name within the current one, or a VariableScope."""
    counts: _Counts = get_default_graph().outermost.extras.setdefault(_COUNTS, _Counts())
    outer = get_variable_scope()
    reopened = isinstance(scope, VariableScope)
    base = scope if reopened else outer
    name = scope.name if reopened else f"{outer.name}/{scope}" if outer.name else scope
    if custom_getter is not None and base.custom_getter is not None:
        custom_getter = _inside(custom_getter, base.custom_getter)
    saved = dict(counts) if reopened else None
    counts.opened(name)
    _open_one().value = inner = base._copy(
        name=name, reuse=reuse or base.reuse, custom_getter=custom_getter or base.custom_getter, **(given or {}))
    inner.original_name_scope = scope.original_name_scope if reopened else name_scope
    try:
        yield inner
    finally:
        if saved is None:
            counts.left(name)
        else:
            counts.clear()
            counts.update(saved)
        _open_one().value = outer


def unique_scope_name(prefix: str) -> str:
    """`prefix`, `prefix_1`, …: the first that is not open or used in the current variable scope."""
    outer = get_variable_scope().name
    counts = get_default_graph().outermost.extras.get(_COUNTS, {})
    name = f"{outer}/{prefix}" if outer else prefix
    if not counts.get(name):
        return prefix
    index = 1
    while counts.get(f"{name}_{index}"):
        index += 1
    return f"{prefix}_{index}"


def variable_op_scope(values: Any, name_or_scope: Any, default_name: str | None = None,
                      **options: Any) -> variable_scope:
    """variable_scope with its arguments in the order before TensorFlow 1.0."""
    return variable_scope(name_or_scope, default_name, values, **options)


def create_partitioned_variables(shape: Any, slicing: Sequence[int], initializer: Any, dtype: Any = float32,
                                 trainable: bool = True, collections: Any = None, name: str | None = None,
                                 reuse: Any = None) -> list[Variable]:
    """The parts of a variable that is cut into so many along each axis; along one axis alone."""
    if len(shape) != len(slicing):
        raise ArgumentError("The 'shape' and 'slicing' of a partitioned Variable must have the length", found=slicing)
    if min(shape) < 1:
        raise ArgumentError("Partitioned Variables must have more than one row", found=shape)
    with variable_scope(name, "PartitionedVariable", reuse=reuse) as scope, get_default_graph().name_scope(None):
        return list(found_or_made(scope.name, list(shape), dtype, initializer, None, scope.reuse or False,
                                  trainable=trainable, collections=collections, use_resource=scope.use_resource,
                                  partitioner=lambda **_: slicing))
