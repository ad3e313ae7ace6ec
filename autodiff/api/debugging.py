"""Checks and printing inside of a run: tf.Assert, tf.check_numerics, tf.Print and the assert_ functions."""
from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.constant_value import static_value
from ..core.convert import convert_to_tensor
from ..core.dtypes import DType, as_dtype
from ..core.errors import ArgumentError, DTypeError, InvalidArgumentError, KindError, ShapeError
from ..core.graph import Graph, Tensor, get_default_graph
from ..core.indexed_slices import IndexedSlices
from ..core.name_scope import scope
from ..core.op import OPS, build
from ..core.sparse_tensor import SparseTensor
from .common.made import named
from .common.unsupported import refusing
from .control.dependencies import control_dependencies, group
from .math.selection import is_numeric_tensor as is_numeric_tensor


def Assert(condition: Any, data: Sequence[Any], summarize: int | None = None, name: str | None = None) -> Any:  # noqa: N802
    """The operation that fails with InvalidArgumentError unless `condition` holds. bool[]; data: what to show."""
    with scope(name, "Assert", [condition, *data]):
        shown = [convert_to_tensor(item, name=f"data_{i}") for i, item in enumerate(data)]
        return _guarded(condition, shown, summarize)


def _guarded(condition: Any, data: Sequence[Any], summarize: int | None) -> Any:
    """Assert under the name of what TensorFlow gives: the end of the branches that it makes for what is not known."""
    name = "Assert" if static_value(condition) is not None else "AssertGuard/Merge"
    return build.Assert(condition, *data, summarize=3 if summarize is None else summarize, name=name)


def Print(input_: Any, data: Sequence[Any], message: str | None = None, first_n: int | None = None,  # noqa: N802
          summarize: int | None = None, name: str | None = None) -> Tensor:
    """The input; prints `data` to standard error whenever it is computed, or the first_n times."""
    with scope(name, "Print", [input_, *data]) as full:
        shown = [convert_to_tensor(item, name=f"data_{i}") for i, item in enumerate(data)]
        return build.Print(input_, *shown, message=message or "", first_n=-1 if first_n is None else first_n,
                           summarize=3 if summarize is None else summarize, count=[], name=full)


def print(*inputs: Any, **options: Any) -> Any:  # noqa: A001 (TensorFlow's name)
    """The operation that prints tensors, structures of them and other values. options: output_stream, summarize, sep,
    end, name.

    output_stream: an open file, or the name of one to add to, `file://PATH`; standard error by default.
    """
    unknown = sorted(set(options) - {"output_stream", "summarize", "sep", "end", "name"})
    if unknown:
        raise ArgumentError(f"tf.print takes output_stream, summarize, sep, end and name, found {unknown[0]!r}")
    parts: list[Any] = []
    for i, item in enumerate(inputs):
        parts += [options.get("sep", " ")] * (i > 0) + ([str(item)] if isinstance(item, str) else _printed(item))
    tensors, text = [], [""]
    for part in parts:
        if isinstance(part, str):
            text[-1] += part
        else:
            tensors.append(part)
            text.append("")
    summarize = options.get("summarize")
    stream = options.get("output_stream")
    if isinstance(stream, str) and not stream.startswith("file://"):
        raise ArgumentError(f"Unknown output stream, output_stream: {stream}", expected="an open file or file://PATH")
    printed = build.PrintV2(*tensors, text=tuple(text), summarize=3 if summarize is None else summarize,
                            end=options.get("end", "\n"), stream=None if stream is sys.stderr else stream,
                            name=options.get("name"))
    return None if get_default_graph().executing_eagerly else printed


def _printed(item: Any) -> list[Any]:
    """The texts and tensors that a value, or a structure of values, is printed as."""
    if isinstance(item, SparseTensor):
        return ["'SparseTensor(indices=", item.indices, ", values=", item.values, ", shape=", item.dense_shape, ")'"]
    if isinstance(item, Tensor) or hasattr(item, "as_tensor"):
        return [convert_to_tensor(item)]
    if isinstance(item, dict):
        pairs = [[f"{key!r}: ", *_printed(item[key])] for key in sorted(item)]
        return ["{", *(part for i, pair in enumerate(pairs) for part in [", "] * (i > 0) + pair), "}"]
    if isinstance(item, (list, tuple)):
        ends = "[]" if isinstance(item, list) else ("(", ",)" if len(item) == 1 else ")")
        return [ends[0], *(part for i, one in enumerate(item) for part in [", "] * (i > 0) + _printed(one)), ends[1]]
    return [repr(item) if isinstance(item, str) else str(item)]


def is_tensor(x: Any) -> bool:
    """Whether x is a tensor or a variable, or the like of them with sparse values."""
    return isinstance(x, (Tensor, IndexedSlices)) or hasattr(x, "as_tensor")


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """The tensor; its run fails with InvalidArgumentError if an element is nan or infinite."""
    return build.CheckNumerics(tensor, message=message, name=name)


def verify_tensor_all_finite(t: Any = None, msg: str | None = None, name: str | None = None, x: Any = None,
                             message: str | None = None) -> Tensor:
    """The tensor; its run fails with InvalidArgumentError and `msg` if an element is nan or infinite."""
    value = x if t is None else t
    with scope(name, "VerifyFinite", [value]) as full:
        tensor = convert_to_tensor(value, name="t")
        with control_dependencies([build.CheckNumerics(tensor, message=(message if msg is None else msg) or "")]):
            return build.Identity(tensor, name=full)


def add_check_numerics_ops() -> Any:
    """The operation that checks every floating tensor made so far, in the order they were made."""
    graph: Graph = get_default_graph()
    check: list[Any] = []
    for op in graph.get_operations():
        for output in op.outputs:
            if output.dtype.base_dtype.is_floating and op.type not in ("VariableV2", "Captured", "Argument"):
                with control_dependencies(check):
                    check = [build.CheckNumerics(output, message=f"{op.name}:{output.value_index}")]
    return group(*check)


def _fails_statically(condition: Tensor) -> bool:
    value = static_value(condition)
    return value is not None and not np.all(value)


def _checked(holds: Tensor, data: list[Any], summarize: int | None) -> Any:
    """Assert that all of `holds`; at once if it is known while the graph is built."""
    if _fails_statically(holds):
        raise InvalidArgumentError(" ".join(_first(item, summarize) for item in data))
    everywhere = build.All(holds, build.Range(0, build.Rank(holds), 1))
    return None if get_default_graph().executing_eagerly else Assert(everywhere, data, summarize)


def _first(item: Any, summarize: int | None) -> str:
    """The first elements of a tensor that has a value, 3 unless told, all of them for -1; other items as they are."""
    count = 3 if summarize is None else summarize if summarize >= 0 else None
    return str(item.numpy().reshape(-1)[:count] if hasattr(item, "array") else item)


def _comparison(op: str, sign: str, name_: str, text: str) -> Callable[..., Any]:
    def check(x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
              name: str | None = None) -> Any:
        with scope(name, name_, [x, y]):
            if x is y and op == "Equal" and not get_default_graph().executing_eagerly:
                return build.NoOp()
            x = convert_to_tensor(x, name="x")
            y = convert_to_tensor(y, dtype=x.dtype.base_dtype if not hasattr(y, "dtype") else None, name="y")
            if data is None:
                data = [f"Condition x {sign} y did not hold element-wise:", f"x ({x.name}) = ", x, f"y ({y.name}) = ",
                        y]
            return _checked(OPS[op](x, y), [message, *data] if message else list(data), summarize)

    return named(check, name_, text)


_TEXT = "The operation that fails with InvalidArgumentError unless x {} y for all elements, broadcast."
assert_equal = _comparison("Equal", "==", "assert_equal", _TEXT.format("=="))
assert_none_equal = _comparison("NotEqual", "!=", "assert_none_equal", _TEXT.format("!="))
assert_less = _comparison("Less", "<", "assert_less", _TEXT.format("<"))
assert_less_equal = _comparison("LessEqual", "<=", "assert_less_equal", _TEXT.format("<="))
assert_greater = _comparison("Greater", ">", "assert_greater", _TEXT.format(">"))
assert_greater_equal = _comparison("GreaterEqual", ">=", "assert_greater_equal", _TEXT.format(">="))


def _sign(op: str, sign: str, name_: str) -> Callable[..., Any]:
    def check(x: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
              name: str | None = None) -> Any:
        with scope(name, name_, [x]):
            x = convert_to_tensor(x, name="x")
            if data is None:
                data = [message or "", f"Condition x {sign} 0 did not hold element-wise:", f"x ({x.name}) = ", x]
            return _checked(OPS[op](x, convert_to_tensor(0, dtype=x.dtype.base_dtype)), list(data), summarize)

    return named(check, name_, f"The operation that fails with InvalidArgumentError unless x {sign} 0 for all "
                 "elements.")


assert_positive = _sign("Greater", ">", "assert_positive")
assert_negative = _sign("Less", "<", "assert_negative")
assert_non_negative = _sign("GreaterEqual", ">=", "assert_non_negative")
assert_non_positive = _sign("LessEqual", "<=", "assert_non_positive")


def assert_near(x: Any, y: Any, rtol: Any = None, atol: Any = None, data: Any = None, summarize: int | None = None,
                message: str | None = None, name: str | None = None) -> Any:
    """The operation that fails unless |x - y| <= atol + rtol |y| for all elements; both 10 times the precision."""
    with scope(name, "assert_near", [x, y]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, dtype=x.dtype.base_dtype, name="y")
        precision = 10 * float(np.finfo(x.dtype.as_numpy_dtype).eps)
        rtol = convert_to_tensor(precision if rtol is None else rtol, dtype=x.dtype.real_dtype, name="rtol")
        atol = convert_to_tensor(precision if atol is None else atol, dtype=x.dtype.real_dtype, name="atol")
        holds = abs(x - y) <= atol + rtol * abs(y)
        if data is None:
            data = ["x and y not equal to tolerance", f"x ({x.name}) = ", x, f"y ({y.name}) = ", y]
        return _checked(holds, [message, *data] if message else list(data), summarize)


def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """Whether each element, in order, is at least the one before. -> bool[]."""
    return _ordered("LessEqual", x, name, "is_non_decreasing")


def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """Whether each element, in order, is above the one before. -> bool[]."""
    return _ordered("Less", x, name, "is_strictly_increasing")


def _ordered(op: str, x: Any, name: str | None, default: str) -> Tensor:
    with scope(name, default, [x]) as full:
        flat = build.Reshape(convert_to_tensor(x, name="x"), [-1])
        return build.All(OPS[op](flat[:-1], flat[1:]), [0], name=full)


def assert_rank(x: Any, rank: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                name: str | None = None) -> Any:
    """The operation that fails unless x has this rank; ShapeError (ValueError) when that is known already."""
    return _ranked(x, rank, "Equal", lambda found, wanted: found == wanted, message, name, "assert_rank")


def assert_rank_at_least(x: Any, rank: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                         name: str | None = None) -> Any:
    """The operation that fails unless x has at least this rank; ShapeError (ValueError) when that is known."""
    return _ranked(x, rank, "GreaterEqual", lambda found, wanted: found >= wanted, message, name,
                   "assert_rank_at_least")


def _ranked(x: Any, rank: Any, op: str, holds: Callable[[int, int], bool], message: str | None, name: str | None,
            default: str) -> Any:
    with scope(name, default, [x]):
        x = convert_to_tensor(x, name="x")
        wanted = _integer_rank(rank, default)
        if x.dims is not None and wanted is not None:
            if not holds(len(x.dims), int(wanted)):
                least = "" if op == "Equal" else "at least "
                raise ShapeError(f"{message or ''}. Tensor {x.name} must have rank {least}{int(wanted)}. Received rank "
                                 f"{len(x.dims)}, shape {x.shape}".removeprefix(". "))
            return build.NoOp(name="static_checks_determined_all_ok")
        data = [message or "", f"Tensor {x.name} has the wrong rank, expected", rank, "found", build.Rank(x)]
        return _checked(OPS[op](build.Rank(x), _one_rank(rank, wanted)), data, None)


def _one_rank(rank: Any, known: np.ndarray | None) -> Any:
    """A rank, checked in each run that it is one number if its value is not known."""
    if known is not None:
        return rank
    with control_dependencies([assert_rank(rank, 0, message="Rank must be a scalar")]):
        return build.Identity(rank)


def _integer_rank(rank: Any, what: str) -> np.ndarray | None:
    """The value of a rank, if it is known. Raises DTypeError (TypeError) for a fraction, ShapeError for a list."""
    if convert_to_tensor(rank).dtype.base_dtype is not as_dtype("int32"):
        raise DTypeError(f"{what}: a rank must be of type {as_dtype('int32')}", found=repr(rank))
    value = static_value(rank)
    if value is not None and value.ndim:
        raise ShapeError(f"{what}: Rank must be a scalar", expected="one number", found=repr(rank))
    return value


def assert_rank_in(x: Any, ranks: Sequence[int], data: Any = None, summarize: int | None = None,
                   message: str | None = None, name: str | None = None) -> Any:
    """The operation that fails unless x has one of these ranks; ShapeError (ValueError) when that is known."""
    with scope(name, "assert_rank_in", [x]):
        x = convert_to_tensor(x, name="x")
        known = [_integer_rank(rank, "assert_rank_in") for rank in ranks]
        if x.dims is not None and all(rank is not None for rank in known):
            if len(x.dims) not in known:
                raise ShapeError(f"{message or ''}. Tensor {x.name} must have rank in {tuple(ranks)}. Received rank "
                                 f"{len(x.dims)}, shape {x.shape}".removeprefix(". "))
            return build.NoOp(name="static_checks_determined_all_ok")
        holds = build.Any(build.Equal(build.Rank(x), build.Pack(*map(_one_rank, ranks, known), axis=0)), [0])
        return _checked(holds, [message or "", f"Tensor {x.name} has the wrong rank", build.Rank(x)], summarize)


def assert_scalar(tensor: Any, name: str | None = None, message: str | None = None) -> Tensor:
    """The tensor. Raises ShapeError (ValueError) unless it is a scalar."""
    tensor = convert_to_tensor(tensor)
    if tensor.dims != ():
        raise ShapeError(f"{message or ''}Expected scalar shape", found=tensor.describe())
    return tensor


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Any:
    """Raises DTypeError (TypeError) unless x is an integer tensor."""
    x = convert_to_tensor(x)
    if not x.dtype.base_dtype.is_integer:
        raise DTypeError(f"{message or ''}Expected \"x\" to be integer type.", found=x.describe())
    with scope(name, "assert_integer", [x]):
        return build.NoOp(name="statically_determined_was_integer")


def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> Any:
    """Raises DTypeError (TypeError) unless the tensor is of this dtype."""
    tensor, wanted = convert_to_tensor(tensor), as_dtype(tf_type).base_dtype
    if tensor.dtype.base_dtype is not wanted:
        raise DTypeError(f"{message or ''}{tensor.name} must be of type {wanted}", found=tensor.describe())
    with scope(name, "assert_type", [tensor]):
        return build.NoOp(name="statically_determined_correct_type")


def assert_same_float_dtype(tensors: Sequence[Any] | None = None, dtype: Any = None) -> DType:
    """The floating dtype that all of these share. Raises ArgumentError (ValueError) if there is none."""
    found = None if dtype is None else as_dtype(dtype).base_dtype
    for tensor in tensors or ():
        if tensor is not None:
            own = (tensor if hasattr(tensor, "dense_shape") else convert_to_tensor(tensor)).dtype.base_dtype
            if found not in (None, own):
                raise ArgumentError(expected="one dtype for all tensors", found=f"{found.name} and {own.name}")
            found = own
    found = as_dtype("float32") if found is None else found
    if not found.is_floating:
        raise ArgumentError(expected="a floating dtype", found=found.name)
    return found


def assert_proper_iterable(values: Any) -> None:
    """Raises KindError (TypeError) for a tensor, array or string, and for what cannot be iterated."""
    if isinstance(values, (Tensor, np.ndarray, str, bytes)) or hasattr(values, "dense_shape"):
        raise KindError(f"Expected argument \"values\" to be a \"proper\" iterable. Found: {type(values)}")
    if not hasattr(values, "__iter__"):
        raise KindError(f"Expected argument \"values\" to be iterable. Found: {type(values)}")


__getattr__ = refusing("tf.debugging", __name__)
