"""Eager execution: every op runs at once, on the very same op declarations."""
from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core import errors, site
from ..core.defaults import STACKS
from ..core.devices import LOCAL_CPU
from ..core.graph import Graph, Operation, Tensor
from ..core.op import OpDef, Spec
from ..core.operation import OperationSlots
from ..core.shapes import merge
from ..core.tensor import TensorSlots
from .config import ConfigProto
from .plan.run_sentences import as_in_a_run, in_tensorflows_words

_IDS = itertools.count()


class Cell:
    """The value behind a variable's handle in eager execution. value: an array, or None before the first."""

    __slots__ = ("name", "spec", "value")

    def __init__(self, name: str, spec: Spec) -> None:
        self.name, self.spec = name, spec
        self.value: np.ndarray | None = None


class _EagerSlots(TensorSlots):
    __slots__ = ("array", "value_index", "_context", "id")
    array: Any
    _context: "EagerContext"
    id: int


class EagerTensor(_EagerSlots, Tensor):
    """A tensor that has its value. array: the NumPy value. op: the recorded operation, if a tape records."""

    __slots__ = ()

    def __new__(cls, context: "EagerContext", spec: Spec, value: Any, op: Any = None, index: int = 0) -> "EagerTensor":
        self: Any = object.__new__(_EagerSlots)
        self.op, self.value_index = op, index
        self.dtype = spec.dtype.base_dtype
        self.array, self._context = value, context
        self.dims = np.shape(value) if self.dtype.kind != "O" or isinstance(value, np.ndarray) else spec.dims
        self._takers = self._more = None
        self.id = next(_IDS)
        self.__class__ = cls
        return self

    @property
    def name(self) -> str:
        return f"{self.op.name if self.op is not None else 'eager'}:{self.value_index}"

    @property
    def graph(self) -> Graph:
        return self._context

    @property
    def device(self) -> str:
        return f"{LOCAL_CPU}:0"

    backing_device = device

    @property
    def ndim(self) -> int:
        return np.ndim(self.array)

    def numpy(self) -> Any:
        """The value: an array, a NumPy scalar for a scalar tensor, or bytes. Raises ArgumentError for a handle."""
        if isinstance(self.array, Cell):
            raise errors.ArgumentError("Cannot convert a Tensor of dtype resource to a NumPy array.")
        return self.array[()] if isinstance(self.array, np.ndarray) and self.array.ndim == 0 else self.array

    def set_shape(self, shape: Any) -> None:
        merge(self.dims, shape.dims_tuple if hasattr(shape, "dims_tuple") else shape)

    def eval(self, feed_dict: dict | None = None, session: Any = None) -> Any:
        raise NotEagerlyError("eval is not supported when eager execution is enabled: use .numpy()")

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.array, dtype)

    def __bool__(self) -> bool:
        return bool(self.array)

    def __float__(self) -> float:
        return float(self.array)

    def __int__(self) -> int:
        return int(self.array)

    def __index__(self) -> int:
        if not self.dtype.is_integer:
            raise errors.KindError(f"only integer tensors can be an index, found {self.dtype.name}")
        return int(self.array)

    def __len__(self) -> int:
        if not self.dims:
            raise errors.KindError("a scalar tensor has no length")
        return self.dims[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.dims:
            raise errors.KindError("cannot iterate over a scalar tensor")
        return iter([self[i] for i in range(self.dims[0])])

    def __format__(self, spec: str) -> str:
        return format(self.numpy(), spec) if not self.dims else format(str(self), spec)

    def __str__(self) -> str:
        return f"tf.Tensor({self._shown()}, shape={self.shape}, dtype={self.dtype.name})"

    def __repr__(self) -> str:
        return (f"<tf.Tensor: id={self.id}, shape={self.shape}, dtype={self.dtype.name}, "
                f"numpy={np.array_repr(self.array) if self.dims else self._shown()}>")

    def _shown(self) -> Any:
        return "<unprintable>" if isinstance(self.array, Cell) else self.numpy()


class EagerRun:
    """The services of the context to a kernel: variables through their cells, random streams."""

    is_repeat, session = False, None

    def __init__(self) -> None:
        self.op: Any = None
        self.begin()

    def begin(self) -> None:
        """Begin all streams anew."""
        self.number, self._places = 0, dict[Any, int]()  # of draws; where those of each kind go on

    def handle(self, name: str, spec: Spec) -> Cell:
        """A place for a new variable's value."""
        return Cell(name, spec)

    def read(self, cell: Cell) -> np.ndarray:
        if cell.value is None:
            raise errors.FailedPreconditionError(None, None, f"Attempting to use uninitialized value {cell.name}")
        return cell.value

    def assign(self, cell: Cell, value: Any) -> Any:
        cell.value = np.array(value)
        return value

    def forget(self, cell: Cell) -> None:
        cell.value = None

    def update(self, cell: Cell, place: Any, change: Callable[[np.ndarray], Any]) -> np.ndarray:
        """Have `change` write a copy of a variable's value, which becomes its value."""
        value = self.read(cell).copy()
        change(value)
        return self.assign(cell, value)

    def is_initialized(self, cell: Cell) -> np.bool_:
        return np.bool_(cell.value is not None)

    def not_fed(self) -> Any:
        raise errors.StateError("tf.placeholder is not compatible with eager execution: call functions on values")

    def place(self, blocks: int) -> int:
        """Where in its stream a draw with seeds begins, which keeps so many blocks: after those of ops of its kind."""
        kind = self.op.type, *map(self.op.attrs.get, ("seed", "seed2", "dtype"))
        begun = self._places.get(kind, 0)
        self._places[kind] = begun + blocks
        return begun

    def stream(self, seed: int, seed2: int) -> np.random.Generator:
        """A fresh draw each time; the same sequence in each program when seeds are set."""
        self.number += 1
        if not seed and not seed2:
            return np.random.Generator(np.random.Philox())
        return np.random.Generator(np.random.Philox(key=[seed & 0xFFFFFFFF, seed2 & 0xFFFFFFFF],
                                                    counter=[0, 0, 0, self.number]))


class EagerContext(Graph):
    """Stands where the default graph stands, and runs what is added in place of keeping it."""

    executing_eagerly = True

    def __init__(self) -> None:
        self.runner = EagerRun()
        super().__init__()

    @property
    def seed(self) -> int | None:
        """The seed of random ops; setting it begins their streams anew, as in TensorFlow."""
        return self._seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self._seed, self.seeds = seed, random.Random(seed)
        self.runner.begin()

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        return f"{self.scope}/{name}" if self.scope else name

    def capture(self, tensor: Tensor) -> Tensor:
        if not isinstance(tensor, EagerTensor):
            raise errors.KindError(f"a graph tensor cannot be used eagerly: {tensor.describe()}")
        return tensor

    def add(self, definition: OpDef, inputs: tuple[Tensor, ...], attrs: dict[str, Any], specs: Sequence[Spec],
            name: str) -> Any:
        """Run the kernel now; gives an operation whose outputs have their values."""
        operation = EagerOperation(self, definition, name.rstrip("/"), inputs, attrs)
        values = self._run(operation, [self.capture(t).array for t in inputs])  # type: ignore[attr-defined]
        if len(specs) == 1:
            values = (values,)
        recorded = [tape for tape in STACKS.tapes if tape.wants(operation)]
        operation._outputs = tuple(EagerTensor(self, spec, value, operation if recorded else None, i)
                                  for i, (spec, value) in enumerate(zip(specs, values)))
        for tape in recorded:
            tape.record(operation)
        return operation

    def _run(self, operation: "EagerOperation", arrays: list[Any]) -> Any:
        definition = operation.definition
        self.runner.op = operation
        engine = {"run": self.runner} if definition.takes_run else {}
        here = {"node": operation.describe(), "line": str(operation.site)}
        try:
            with np.errstate(all="ignore"):
                result = definition.kernel(*arrays, **operation.attrs, **engine)
        except (errors.ArgumentError, errors.ShapeError) as error:
            raise errors.InvalidArgumentError(error.sentence, **error.where).explain(**here) from None
        except errors.AutodiffError as error:
            raise error.explain(**here) from None
        except (ValueError, IndexError, TypeError, ArithmeticError) as error:
            told = in_tensorflows_words(error, operation, arrays)
            raise errors.InvalidArgumentError(None, None, told, **here) from error
        return result

    def refusal(self, error: errors.AutodiffError, definition: OpDef, inputs: Sequence[Tensor],
                attrs: dict[str, Any]) -> errors.AutodiffError:
        """What a build refuses, as the failure of the run that it is here."""
        return errors.InvalidArgumentError(as_in_a_run(error.sentence, definition, inputs, **attrs), **error.where)

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs: Any) -> Iterator[None]:
        """Earlier operations have run already; functions are called, to run theirs."""
        for each in control_inputs if isinstance(control_inputs, (list, tuple)) else ():
            if callable(each):
                each()
        yield


class EagerOperation(Operation):
    """An operation that has run; kept only by the tapes that recorded it."""

    __slots__ = ()

    def __new__(cls, context: EagerContext, definition: OpDef, name: str, inputs: tuple[Tensor, ...],
                attrs: dict[str, Any]) -> "EagerOperation":
        self: Any = object.__new__(OperationSlots)
        self.graph, self.definition, self._name = context, definition, name
        self.inputs, self.attrs, self._outputs, self._index = inputs, attrs, (), -1
        self.origin, self.gradient_of = context.backprop_origin
        self._frames, self._more = site.capture(), None
        self.__class__ = cls
        if definition.name in context.overrides:
            self.override = context.overrides[definition.name]
        return self

    def describe(self) -> str:
        return f"{self.type}({', '.join(f'{t.dtype.name}{list(t.dims or ())}' for t in self.inputs)})"


def enable_eager_execution(config: Any = None, device_policy: Any = None, execution_mode: Any = None) -> None:
    """Run every op at once from here on. Raises StateError (ValueError) once a graph has been built."""
    if config is not None and not isinstance(config, ConfigProto):
        raise errors.KindError("config must be a tf.ConfigProto, or None", found=repr(config))
    for what, value, count in (("device_policy", device_policy, 4), ("execution_mode", execution_mode, 2)):
        if value is not None and value not in range(count):
            raise errors.ArgumentError(f"{what} must be one of {[*range(count)]} or None, found {value!r}")
    if STACKS.eager is None:
        begun = 0 if STACKS.bottom is None else len(STACKS.bottom.operations)
        if begun or STACKS.graphs:
            raise TooLateError("tf.enable_eager_execution must be called at program startup: the default graph has "
                               f"{begun} operations already")
        STACKS.eager = EagerContext()


def disable_eager_execution() -> None:
    """Build graphs again."""
    STACKS.eager = None


disable_v2_behavior = disable_eager_execution  # all else of TensorFlow 2 is not here to be disabled


def executing_eagerly() -> bool:
    """Whether ops made here run at once."""
    return not STACKS.graphs and STACKS.eager is not None


@contextlib.contextmanager
def eager_mode() -> Iterator[None]:
    """Ops made inside run at once; the default graphs are as before after it."""
    graphs, eager = list(STACKS.graphs), STACKS.eager
    STACKS.graphs.clear()
    STACKS.eager = eager or EagerContext()
    try:
        yield
    finally:
        STACKS.graphs[:], STACKS.eager = graphs, eager


@contextlib.contextmanager
def graph_mode() -> Iterator[None]:
    """Ops made inside are kept in a graph of their own, unless a graph is the default one already."""
    if not executing_eagerly():
        yield
        return
    with Graph().as_default():
        yield


@errors.shown_as("NotImplementedError")
class NotEagerlyError(errors.StateError, NotImplementedError):
    """What a tensor that has its value does not do."""


@errors.shown_as("ValueError")
class TooLateError(errors.StateError, ValueError):
    """Eager execution was asked for after a graph was begun."""
