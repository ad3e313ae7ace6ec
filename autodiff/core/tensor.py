"""Tensor: one output of an operation, as model scripts handle it."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import indexing
from .defaults import STACKS, joined_graph, session_for
from .dtypes import DType
from .errors import KindError, NoValueError, OperatorNotAllowedInGraphError, UnsupportedError
from .op import NO_ATTRIBUTES, OPS, Spec
from .shapes import Dims, TensorShape, as_dims, merge, show

if TYPE_CHECKING:
    from .graph import Graph
    from .operation import Operation


_NONE = object()
_OWN = {"_more", "__weakref__"}


class Reference:
    """A key for dicts and sets, equal to every other of the same object, whatever `==` does to the object itself."""

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def deref(self) -> Any:
        """The object itself."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)


def _operators(op: str, name: str) -> tuple[Any, Any]:
    """The methods of a tensor on the left and on the right of an operator. Their op is found by name in OPS, so that
    tensors need not import ops."""
    def on_left(x: "Tensor", y: Any) -> Any:
        definition = OPS[op]
        return definition.build(definition, (x, y), NO_ATTRIBUTES, name, x.dtype.base_dtype)

    def on_right(y: "Tensor", x: Any) -> Any:
        definition = OPS[op]
        return definition.build(definition, (x, y), NO_ATTRIBUTES, name, y.dtype.base_dtype)

    return on_left, on_right


class Lean:
    """Has no dict of its own, as there are as many as operations, and takes attributes beside its slots nonetheless.

    `_more`, a slot: name -> value of those, None before the first. Each object of a class with a `__dict__` takes 32
    bytes more, and 8 for each name that any of them was given. A base with the slots alone makes objects, and sets
    their slots, quickly; last they get the class with this too.
    """

    __slots__ = ()
    _more: dict[str, Any] | None

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(type(self), name):
            setattr(type(self), name, seldom(name))
        object.__setattr__(self, name, value)

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        found = getattr(self, "_more", None)
        if found is None:
            object.__setattr__(self, "_more", found := {})
        return found

    def __getstate__(self) -> Any:
        names = {name for kind in type(self).__mro__ for name in kind.__dict__.get("__slots__", ())} - _OWN
        return dict(self.__dict__), {name: getattr(self, name) for name in names}


def seldom(name: str, default: Any = _NONE) -> Any:
    """An attribute that few objects have: of all others it is the default, and without one they have none."""
    def read(owner: Any) -> Any:
        found = default if owner._more is None else owner._more.get(name, default)
        if found is _NONE:
            raise AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}")
        return found

    def write(owner: Any, value: Any) -> None:
        vars(owner)[name] = value

    def forget(owner: Any) -> None:
        if vars(owner).pop(name, _NONE) is _NONE:
            raise AttributeError(name)

    return property(read, write, forget)


class TensorSlots:
    """What each tensor has, to be set while it is made."""

    __slots__ = ("op", "dtype", "dims", "_takers", "_more", "__weakref__")
    op: "Operation"
    dtype: DType
    dims: Dims | None
    _takers: Any  # an Operation, from the second on a tuple, a list if there are many


class Tensor(Lean, TensorSlots):  # scripts set their own attributes
    """One output of an operation: a name, an element type and a partial shape; no value.

    dims: tuple of sizes and Nones, or None for unknown rank. name: `scope/Op_1:0`.
    """

    __slots__ = ()
    __array_priority__ = 100  # numpy_array * tensor asks the tensor

    @staticmethod
    def of(op: "Operation", spec: Spec) -> "Tensor":
        """A new output of an operation."""
        made: Any = object.__new__(TensorSlots)
        made.op, (made.dtype, made.dims), made._takers, made._more = op, spec, None, None
        made.__class__ = Tensor
        return made

    @property
    def value_index(self) -> int:
        made = self.op._outputs
        return 0 if made is self else made.index(self)

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

    def _shape_as_list(self) -> list[int | None] | None:
        return None if self.dims is None else list(self.dims)

    def _shape_tuple(self) -> tuple[int | None, ...] | None:
        return self.dims

    @property
    def _value_index(self) -> int:
        return self.value_index

    def _as_node_def_input(self) -> str:
        return self.name if self.value_index else self.op.name

    def experimental_ref(self) -> Reference:
        """What stands for this tensor in dicts and sets; its `deref()` is the tensor."""
        return Reference(self)

    def _as_tf_output(self) -> "Tensor":
        return self  # what code that calls the C library asks for

    def consumers(self) -> list["Operation"]:
        """The operations that take this tensor as input, each as often as it does; those that graphs list."""
        return [op for op in self._consumers if op.graph.operations.get(op.name) is op]

    def add_consumer(self, op: "Operation") -> None:
        """Note an operation that takes this tensor as input and that the graph does not list as one that does."""
        self.op.graph.operations.link()
        self.note_taker(op)

    def note_taker(self, op: "Operation") -> None:
        """`add_consumer`, of those that the graph lists, in their order."""
        known = self._takers
        if known is None:
            self._takers = op
        elif type(known) is list:
            known.append(op)
        elif type(known) is tuple:
            self._takers = (*known, op) if len(known) < 4 else [*known, op]
        else:
            self._takers = (known, op)

    @property
    def _consumers(self) -> Sequence["Operation"]:
        """The operations that take this tensor, each as often as it does; not to be written to."""
        self.op.graph.operations.link()
        known = self._takers
        return () if known is None else known if type(known) is list or type(known) is tuple else (known,)

    @_consumers.setter
    def _consumers(self, ops: Sequence["Operation"]) -> None:
        self._takers = list(ops) or None

    def eval(self, feed_dict: dict | None = None, session: Any = None) -> Any:
        """The value, from `session` or the default session."""
        return session_for(self.graph, session, "evaluate tensor using `eval()`").run(self, feed_dict)

    def describe(self) -> str:
        """`h:0 float32[?,784]`."""
        return f"{self.name} {self.dtype.name}{show(self.dims)}"

    __add__, __radd__ = _operators("AddV2", "add")
    __sub__, __rsub__ = _operators("Sub", "sub")
    _times, __rmul__ = _operators("Mul", "mul")
    __truediv__, __rtruediv__ = _operators("RealDiv", "truediv")
    __floordiv__, __rfloordiv__ = _operators("FloorDiv", "floordiv")
    __mod__, __rmod__ = _operators("FloorMod", "mod")
    __pow__, __rpow__ = _operators("Pow", "pow")
    __and__, __rand__ = _operators("LogicalAnd", "and")
    __or__, __ror__ = _operators("LogicalOr", "or")
    __xor__, __rxor__ = _operators("LogicalXor", "xor")
    __lt__, __le__ = _operators("Less", "Less")[0], _operators("LessEqual", "LessEqual")[0]
    __gt__, __ge__ = _operators("Greater", "Greater")[0], _operators("GreaterEqual", "GreaterEqual")[0]

    def __mul__(self, other: Any) -> "Tensor":
        if type(other) is not Tensor and hasattr(other, "with_values"):  # a SparseTensor: its entries are multiplied
            return NotImplemented
        return self._times(other)

    def __matmul__(self, other: Any) -> "Tensor":
        return _operators(_product_of(self, other), "matmul")[0](self, other)

    def __rmatmul__(self, other: Any) -> "Tensor":
        return _operators(_product_of(self, other), "matmul")[1](self, other)

    __div__, __rdiv__ = __truediv__, __rtruediv__  # as Python 2's code calls them

    def __invert__(self) -> "Tensor":
        return OPS["LogicalNot"](self)

    def __neg__(self) -> "Tensor":
        return OPS["Neg"](self)

    def __abs__(self) -> "Tensor":
        return OPS["ComplexAbs" if self.dtype.is_complex else "Abs"](self)

    def __getitem__(self, key: Any) -> "Tensor":
        return indexing.slice_tensor(joined_graph(self), self, key)

    @property
    def assign(self) -> Any:
        """For a part of a variable, `v[1:]`: the function that gives this part a new value."""
        found = indexing.assigner(self)
        if found is None:
            raise UnsupportedError(f"Sliced assignment is only supported for variables: {self.describe()} is none, nor "
                                   "a part of one like v[1:]")
        return found

    def __bool__(self) -> bool:
        raise OperatorNotAllowedInGraphError(f"using a `tf.Tensor` as a Python `bool` is {STACKS.conversions[-1]}. "
                                             f"{self.describe()} has no value while the graph is built",
                                             hint="use tf.where for a choice in the graph, element by element, tf.cond "
                                                  "for one of all, or `is not None` to test for presence")

    __nonzero__ = __bool__  # as Python 2 called it, and libraries still ask for it

    def __iter__(self) -> Iterator["Tensor"]:
        raise OperatorNotAllowedInGraphError(f"iterating over `tf.Tensor` is {STACKS.conversions[-1]}: "
                                             f"{self.describe()}", hint="use tf.unstack or tf.map_fn")

    def __len__(self) -> int:
        raise KindError(f"len is not well defined for symbolic Tensors. ({self.name}) Please call `x.shape` rather "
                        "than `len(x)` for shape information.", hint="use tf.shape(x)[0] for what only a run knows")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise NoValueError(f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array: it has no value while "
                           f"the graph is built, {self.describe()}",
                           hint="evaluate it with session.run, or use the tf function instead of the NumPy one")

    def __float__(self) -> float:
        raise KindError(f"a tensor has no value while the graph is built: {self.describe()}")

    __int__ = __index__ = __float__

    def __str__(self) -> str:
        shown = f", shape={self.shape}" if self.dims is not None else ""
        return f'Tensor("{self.name}"{shown}, dtype={self.dtype.name})'

    def __repr__(self) -> str:
        return f"<tf.Tensor {self.name!r} shape={self.shape} dtype={self.dtype.name}>"


Tensor.OVERLOADABLE_OPERATORS = {  # type: ignore[attr-defined]
    name for name in vars(Tensor) if name.strip("_") in (
        "add radd sub rsub mul rmul div rdiv truediv rtruediv floordiv rfloordiv mod rmod lt le gt ge and rand or ror "
        "xor rxor getitem pow rpow invert neg abs matmul rmatmul").split()}


def _product_of(x: Tensor, other: Any) -> str:
    """MatMul for two matrices, BatchMatMulV2 if there may be more axes."""
    depth = 0
    while isinstance(other, (list, tuple)) and other:
        other, depth = other[0], depth + 1
    shape = getattr(other, "shape", ())
    ranks = x.shape.ndims, None if shape is None or getattr(shape, "ndims", 0) is None else depth + len(shape)
    return "MatMul" if all(rank is not None and rank <= 2 for rank in ranks) else "BatchMatMulV2"
