"""Layer: a function whose variables are made at its first call, in a variable scope of their own."""
from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...core import nest, site
from ...core.collections import GraphKeys, get_collection_ref
from ...core.convert import convert_to_tensor
from ...core.dtypes import DType, as_dtype, float32
from ...core.errors import ArgumentError, KindError, ShapeError
from ...core.graph import Tensor, get_default_graph
from ...core.op import build
from ...core.shapes import TensorShape, as_dims, compatible
from .layer_calls import given_shape, remembered, takes, with_mask
from .layer_weights import Holding, add_once
from .named_initializers import named_initializer
from .trackable import restore_waiting
from .variable import Variable
from .variable_kinds import VariableSynchronization
from .variable_scope import VariableScope, get_variable, variable_scope
from .variable_store import made_apart

_NAMES = "layer_names"


class InputSpec(NamedTuple):
    """The demands of a layer on its input. axes: the size that each of these axes must have. None demands nothing."""

    dtype: Any = None
    shape: Any = None
    ndim: int | None = None
    max_ndim: int | None = None
    min_ndim: int | None = None
    axes: dict[int, int | None] | None = None


class Layer(Holding):
    """A function with variables. Subclasses make them in `build(input_shape)` and compute in `call(inputs, ...)`.

    trainable: whether optimizers change its variables by default. name: its variable scope; by default the class
    name in snake case, made unique. dtype: of its variables, by default that of its first input.
    activity_regularizer: a function of the output whose mean over the batch joins the losses.
    """

    _named_once = False  # whether its name, the only such one in the graph, is that of its scope, as Keras has it

    def __init__(self, trainable: bool = True, name: Any = None, dtype: Any = None, *, activity_regularizer: Any = None,
                 _scope: Any = None, _reuse: bool | None = None, **unknown: Any) -> None:
        if set(unknown) - _IGNORED:
            raise KindError(f"{type(self).__name__} has no argument {min(set(unknown) - _IGNORED)!r}")
        self.trainable, self._reuse, self.built = trainable, _reuse, False
        self._batch_input_shape = given_shape(unknown)
        self.activity_regularizer = callable_or_none(activity_regularizer, "activity_regularizer")
        self.input_spec: Any = None
        self._dtype = None if dtype is None else as_dtype(dtype).base_dtype
        self._trainable_weights: list[Variable] = []
        self._non_trainable_weights: list[Variable] = []
        self._losses: list[Tensor] = []
        self._updates: list[Any] = []
        self._conditional: list[Any] = []  # of the losses and updates those that come of inputs
        self._base_name = name.name if isinstance(name, VariableScope) else name or snake_case(type(self).__name__)
        self._name = name if isinstance(name, str) and name else \
            numbered(snake_case(type(self).__name__), 0 if self._named_once else 1)
        self._scope: VariableScope | None = None
        self._frames = site.capture()  # of who made it
        if _scope:
            with variable_scope(_scope) as self._scope:
                pass

    @property
    def _shares(self) -> Any:
        """Whether its variables are there: those of Keras' layers are made by each layer once."""
        return not self._named_once and (self.built or self._reuse)

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> DType | None:
        """The dtype of its variables; None before the first call where it was not given."""
        return self._dtype

    @property
    def scope_name(self) -> str:
        """The name of its variable scope. Raises ArgumentError (ValueError) before the first call."""
        if self._scope is None:
            raise ArgumentError(f"layer {self._name!r} has no scope before its first call")
        return self._scope.name

    def count_params(self) -> int:
        """How many numbers its variables hold. Raises ArgumentError (ValueError) before the first call."""
        if not self.built:
            raise ArgumentError(f"layer {self._name!r} has no variables before its first call")
        return sum(variable.shape.num_elements() or 0 for variable in self.weights)

    def build(self, input_shape: Any) -> None:
        """Make the variables. input_shape: a TensorShape, or a structure of them."""
        self.built = True

    def call(self, inputs: Any, *args: Any, **options: Any) -> Any:
        """The output for these inputs."""
        return inputs

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The shape of the output for an input of this shape."""
        raise NotImplementedError(f"{type(self).__name__} does not say which shape its output has")

    def add_weight(self, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None,
                   regularizer: Any = None, trainable: bool | None = None, constraint: Any = None,
                   use_resource: bool | None = None, synchronization: Any = VariableSynchronization.AUTO,
                   aggregation: Any = None, partitioner: Any = None, experimental_autocast: bool = True) -> Variable:
        """A variable of this layer, made or, where its scope says so, shared.

        regularizer: variable -> loss, which joins the losses the first time. initializer: by default that of the
        enclosing variable_scope, else Glorot's uniform one, or zeros for integers.
        """
        if synchronization == VariableSynchronization.ON_READ and trainable:
            raise ArgumentError("Synchronization value can be set to VariableSynchronization.ON_READ only for "
                                "non-trainable variables. You have specified trainable=True and "
                                "synchronization=VariableSynchronization.ON_READ.")
        trainable = (trainable if trainable is not None else synchronization != VariableSynchronization.ON_READ)
        graph = get_default_graph()
        is_apart = self._named_once and self._scope is None  # made before its first call, as by __init__
        around = graph.scope and f"{graph.scope}/"
        own = VariableScope(name=graph.scope, name_scope=around) if is_apart else self._find_scope(None)
        before = set() if graph.executing_eagerly else {id(v) for v in get_collection_ref(GraphKeys.GLOBAL_VARIABLES)}
        with variable_scope(own, reuse=self._shares, auxiliary_name_scope=False) as scope, \
                graph.name_scope(scope.original_name_scope):
            variable = get_variable(
                name, shape=() if shape is None else shape, dtype=as_dtype(dtype or self._dtype or float32),
                initializer=named_initializer(initializer), trainable=trainable and self.trainable,
                constraint=constraint, use_resource=use_resource, partitioner=partitioner,
                custom_getter=made_apart if self._named_once else None)
            if regularizer is not None and id(variable) not in before:
                self._regularize(name, variable, regularizer)
        trained = variable.trainable if graph.executing_eagerly else _listed(variable, GraphKeys.TRAINABLE_VARIABLES)
        trained = trained and trainable and self.trainable
        add_once(self._trainable_weights if trained else self._non_trainable_weights, variable)
        return variable

    add_variable = add_weight

    def _regularize(self, name: str, variable: Variable, regularizer: Callable[[Any], Any]) -> None:
        with get_default_graph().name_scope(f"{name}/Regularizer"):
            loss = regularizer(variable)
        if loss is not None:
            self.add_loss(loss)

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add to the losses, and to REGULARIZATION_LOSSES. losses: tensors, or functions that make one."""
        for loss in nest.flatten(losses):
            loss = loss() if callable(loss) else loss
            if loss is None:
                continue
            self._losses.append(loss)
            self._conditional += [] if inputs is None else [loss]
            self._collect(loss, GraphKeys.REGULARIZATION_LOSSES)

    def _collect(self, item: Any, collection: str) -> None:
        """Put into a collection what a layer adds; a layer of Keras keeps it to itself, as in TensorFlow."""
        graph = get_default_graph()
        if not graph.executing_eagerly:
            add_once(graph.outermost.extras.setdefault(f"{collection} of Keras", []) if self._named_once else
                     graph.outermost.get_collection_ref(collection), item)

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add to the updates. updates: operations or tensors, or functions that make one."""
        for update in nest.flatten(updates):
            made = update() if callable(update) else update
            eager = get_default_graph().executing_eagerly
            self._updates.append(made.op if isinstance(made, Tensor) and not eager else made)
            self._conditional += [] if inputs is None else self._updates[-1:]

    def __call__(self, inputs: Any, *args: Any, scope: Any = None, **options: Any) -> Any:
        """The output for these inputs; the first call makes the variables.

        Raises ShapeError (ValueError) for an input that does not fit the layer.
        """
        with self._entered(scope) as opened:
            inputs = nest.map_structure(_as_tensor, inputs)
            if takes(self, "scope"):
                options["scope"] = opened
            check_inputs(self.input_spec, inputs, self._name)
            if not self.built:
                self._first_call(inputs)
            outputs = self.call(inputs, *args, **with_mask(self, inputs, options))
            if outputs is None:
                raise ArgumentError(f"the call of layer {self._name!r} must return a tensor, found None")
            self._regularize_activity(outputs)
        outputs = remembered(self, inputs, (args, options), outputs)
        for update in self.updates:
            self._collect(update, GraphKeys.UPDATE_OPS)
        return outputs

    apply = __call__

    @contextlib.contextmanager
    def _entered(self, scope: Any) -> Iterator[VariableScope]:
        """The scopes of one call: a layer of Keras has a name scope where it is called, others the one they have."""
        graph = get_default_graph()
        if self._named_once:
            with graph.name_scope(self._name) as name:
                self._scope = self._scope or VariableScope(name=name.rstrip("/"), name_scope=name)
                yield self._scope
            return
        with variable_scope(self._find_scope(scope), reuse=self._shares, auxiliary_name_scope=False) as within, \
                graph.name_scope(within.original_name_scope):
            yield within

    def _first_call(self, inputs: Any) -> None:
        first = nest.flatten(inputs)[:1]
        if self._dtype is None and first and hasattr(first[0], "dtype"):
            self._dtype = as_dtype(first[0].dtype).base_dtype
        if all(hasattr(x, "shape") for x in nest.flatten(inputs)):
            self.build(nest.map_structure(lambda x: x.shape, inputs))
        self.built = True
        restore_waiting()

    def _find_scope(self, scope: Any) -> VariableScope:
        """The layer's variable scope, opened once, so that it has its name."""
        if self._scope is None:
            named = self._base_name if self._reuse and scope is None else scope
            with variable_scope(named, None if self._reuse else self._base_name) as self._scope:
                pass
        return self._scope

    def _regularize_activity(self, outputs: Any) -> None:
        if self.activity_regularizer is None:
            return
        with get_default_graph().name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self.activity_regularizer(output)
                self.add_loss(loss / build.Cast(build.Shape(output)[0], dtype=loss.dtype), inputs=True)


_IGNORED = {"input_shape", "input_dim", "batch_input_shape", "batch_size", "weights", "autocast", "dynamic"}  # of Keras


def snake_case(name: str) -> str:
    """`BasicLSTMCell` → `basic_lstm_cell`."""
    parted = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    lower = re.sub("([a-z])([A-Z])", r"\1_\2", parted).lower()
    return f"private{lower}" if lower.startswith("_") else lower


def numbered(base: str, first: int) -> str:
    """`dense_1`, `dense_2`, …: a name of the layer's own, apart from that of its scope. first: 0 for `dense` before."""
    counts = get_default_graph().outermost.extras.setdefault(_NAMES, {})
    counts[base] = counts.get(base, 0) + 1
    number = counts[base] - 1 + first  # Keras' layers count from 0, those of tf.layers from 1, with one counter
    return f"{base}_{number}" if number else base


def callable_or_none(function: Any, what: str) -> Any:
    """The function. Raises KindError (TypeError) for anything that cannot be called."""
    if function is not None and not callable(function):
        raise KindError(expected=f"a function as {what}", found=repr(function))
    return function


def _listed(variable: Variable, collection: str) -> bool:
    return any(variable is other for other in get_collection_ref(collection))


def _as_tensor(value: Any) -> Any:
    """Numbers and arrays as tensors, variables as what is read from them."""
    if isinstance(value, (np.ndarray, np.generic, float, int)) or hasattr(value, "as_tensor"):
        return convert_to_tensor(value)
    return value


def check_inputs(spec: Any, inputs: Any, name: str) -> None:
    """Raises ShapeError (ValueError) where inputs do not have the ranks, sizes and dtypes of their specs."""
    specs, tensors = ([spec] if isinstance(spec, InputSpec) else list(spec or ())), nest.flatten(inputs)
    if not specs:
        return
    if len(specs) != len(tensors):
        raise ShapeError(f"layer {name!r} expects {len(specs)} inputs, found {len(tensors)}")
    for i, (one, tensor) in enumerate(zip(specs, tensors)):
        if one is not None and (wrong := _misfit(one, tensor)):
            raise ShapeError(f"Input {i} of layer {name} is incompatible with the layer: {wrong}")


def _misfit(spec: InputSpec, tensor: Tensor) -> str:
    """The first demand that an input does not meet, or ''."""
    dims = tensor.dims
    if dims is None:
        ranks = (spec.ndim, spec.min_ndim, spec.max_ndim)
        return "" if ranks == (None, None, None) else "its rank is undefined, but the layer requires a defined rank."
    expected = [f"ndim={spec.ndim}"] if spec.ndim not in (None, len(dims)) else []
    expected += [f"min_ndim={spec.min_ndim}"] if spec.min_ndim is not None and len(dims) < spec.min_ndim else []
    expected += [f"max_ndim={spec.max_ndim}"] if spec.max_ndim is not None and len(dims) > spec.max_ndim else []
    if expected:
        return f"expected {expected[0]}, found ndim={len(dims)}. Full shape received: {list(dims)}"
    for axis, size in (spec.axes or {}).items():
        if size is not None and dims[axis] not in (size, None):
            return (f"expected axis {axis} of input shape to have value {size} but received input with shape "
                    f"{list(dims)}")
    if spec.shape is not None and not compatible(as_dims(spec.shape), dims):
        return f"expected shape={tuple(spec.shape)}, found shape={list(dims)}"
    if spec.dtype is not None and as_dtype(spec.dtype) is not tensor.dtype.base_dtype:
        return f"expected dtype={as_dtype(spec.dtype).name}, found dtype={tensor.dtype}"
    return ""
