"""OpDef: all that is declared of an op, and OPS, the registry of them. No graph in here."""
from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

from .dtypes import ALL, COMPLEX, FLOATS, INDICES, NUMBERS, DType, bool_, float32, int32, resource
from .shapes import Dims


class Spec(NamedTuple):
    """The dtype and shape of one output, inferred when the graph is built."""

    dtype: DType
    dims: Dims | None


class Kind(NamedTuple):
    """The values that a positional parameter of a kernel takes. `shared` kinds have one dtype in common.

    allowed: dtypes, or () for those of the op's `dtypes`. default: dtype of a converted Python value.
    """

    name: str
    shared: bool = False
    allowed: tuple[DType, ...] = ()
    default: DType | None = None
    handle: bool = False


T = Kind("T", shared=True)
Index = Kind("Index", allowed=INDICES, default=int32)
Int32 = Kind("Int32", allowed=(int32,), default=int32)
Float32 = Kind("Float32", allowed=(float32,), default=float32)
Bool = Kind("Bool", allowed=(bool_,), default=bool_)
Own = Kind("Own", allowed=ALL)
Number = Kind("Number", allowed=NUMBERS)
Float = Kind("Float", allowed=FLOATS + COMPLEX)
Ref = Kind("Ref", shared=True, handle=True)
Resource = Kind("Resource", allowed=(resource,), handle=True)


class Parameter(NamedTuple):
    """A positional parameter of a kernel: a tensor, or any number of tensors."""

    name: str
    kind: Kind
    variadic: bool = False


_ENGINE_ARGUMENTS = ("out", "run")  # keyword-only parameters of kernels that are no attributes


class Blocked(NamedTuple):
    """In place of a gradient: there is none, and why."""

    reason: str


def outputs(parts: Any) -> Any:
    """The return value of a kernel with these outputs: the value itself if there is only one."""
    return parts[0] if len(parts) == 1 else parts


def blocked(reason: str) -> Blocked:
    """The answer of a gradient rule for an input through which no gradient flows."""
    return Blocked(reason)


class OpDef:
    """One op. Calling it adds an operation to the graph and gives its output tensors.

    kernel: NumPy function of arrays (positional) and attributes (keyword-only).
    infer: same arguments, tensors for arrays; gives a Spec or a tuple of Specs.
    gradient_rule(node, *dys): a tensor or Blocked for each input. no_grad: why there is none.
    no_rule: why asking for one is a LookupError, as TF has it. batching_rule(node, args, batched): outputs with one
    more leading axis. same: the inputs that may not have it.
    is_plain: all inputs are of the shared dtype. is_simple: and there are some, and no attributes.
    keeps_shape: of inputs of one shape the output has it, and the shared dtype. takes_out / takes_run: the kernel has
    `out` / `run`. usual: float32 if it is one of dtypes, else None.
    """

    __slots__ = ("name", "kernel", "parameters", "attributes", "required", "infer", "build", "elementwise", "dtypes",
                 "usual", "is_plain", "is_simple", "takes_out", "takes_run", "stateful", "no_grad", "no_rule",
                 "keeps_shape", "gradient_rule", "batching_rule", "same", "doc")

    def __init__(self, name: str, kernel: Callable[..., Any], *, parameters: tuple[Parameter, ...],
                 keyword_only: tuple[str, ...], infer: Callable[..., Any], build: Callable[..., Any], elementwise: bool,
                 dtypes: tuple[DType, ...], stateful: bool, no_grad: str | None, no_rule: str | None,
                 batching_rule: Callable[..., Any] | None) -> None:
        defaults = kernel.__kwdefaults__ or {}
        attributes = [name for name in keyword_only if name not in _ENGINE_ARGUMENTS]
        self.name, self.kernel, self.infer, self.build = name, kernel, infer, build
        self.parameters = parameters
        self.attributes: dict[str, Any] = {name: defaults[name] for name in attributes if name in defaults}
        self.required = frozenset([name for name in attributes if name not in defaults])
        self.is_plain = all([p.kind is T and not p.variadic for p in parameters])
        self.is_simple = self.is_plain and bool(parameters) and not attributes
        self.takes_out, self.takes_run = "out" in keyword_only, "run" in keyword_only
        self.elementwise, self.dtypes, self.stateful = elementwise, dtypes, stateful
        self.usual = float32 if any([dtype is float32 for dtype in dtypes]) else None  # known by `is`
        self.no_grad, self.no_rule = no_grad, no_rule
        self.keeps_shape = False
        self.gradient_rule: Callable[..., Any] | None = None
        self.batching_rule = batching_rule
        self.same: tuple[int, ...] = ()
        self.doc = kernel.__doc__ or ""

    @property
    def declared_at(self) -> str:
        """The file and line of the kernel."""
        return f"{self.kernel.__code__.co_filename}:{self.kernel.__code__.co_firstlineno}"

    def __call__(self, *inputs: Any, name: str | None = None, **attrs: Any) -> Any:
        return self.build(self, inputs, attrs or NO_ATTRIBUTES, name)

    def gradient(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Decorator: the gradient rule of this op."""
        self.gradient_rule = rule
        return rule

    def batched(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Decorator: how this op takes one more leading axis."""
        self.batching_rule = rule
        return rule

    def batched_if_same(self, *inputs: int) -> Callable[..., Any]:
        """Decorator: the same, where these inputs (shapes, indices) do not vary from slice to slice."""
        self.same = inputs
        return self.batched

    def __repr__(self) -> str:
        return f"<op {self.name}>"


def _of_all(method: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A method of a table that has them all loaded first."""
    def called(table: OpTable) -> Any:
        table.load_all()
        return method(table)

    return called


class OpTable(dict[str, OpDef]):
    """Op type -> its record. A family of ops is loaded when the first of them is asked for, all to walk through them.

    places: op type -> the module that declares it, as far as that is known beforehand. load_all: loads what is left.
    """

    def __init__(self) -> None:
        self.places: dict[str, str] = {}
        self.load_all: Callable[[], None] = lambda: None

    def __missing__(self, name: str) -> OpDef:
        place = self.places.pop(name, None)
        if place is not None:
            importlib.import_module(place)
        if not self.is_loaded(name):
            self.load_all()
        if not self.is_loaded(name):
            raise KeyError(name)
        return super().__getitem__(name)

    def is_loaded(self, name: str) -> bool:
        """Whether the module that declares it has been loaded."""
        return super().__contains__(name)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or self.get(name) is not None  # type: ignore[arg-type]

    def get(self, name: str, default: Any = None) -> Any:
        """The record of an op type, or `default` if there is none."""
        try:
            return self[name]
        except KeyError:
            return default

    __iter__, __len__ = _of_all(dict.__iter__), _of_all(dict.__len__)
    keys, values, items = _of_all(dict.keys), _of_all(dict.values), _of_all(dict.items)


OPS = OpTable()
NO_ATTRIBUTES: dict[str, Any] = {}  # of all operations that have none; nobody writes to attributes


def _maker(definition: OpDef) -> Callable[..., Any]:
    """What calling a record does, as a function, which Python calls in half the time."""
    def make(*inputs: Any, name: str | None = None, **attrs: Any) -> Any:
        return definition.build(definition, inputs, attrs or NO_ATTRIBUTES, name)

    return make


class _Build:
    """`build.Sum(x, axis)` adds an op by its registered name, so families need not import each other."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        found = self.__dict__[name] = _maker(OPS[name])  # an attribute from now on: a record is never replaced
        return found


build = _Build()


REGISTERED_GRADIENTS: dict[str, Callable[..., Any] | None] = {}  # by RegisterGradient; None: NotDifferentiable
