"""tensorflow.python.ops.distributions.util: checks, static values and triangles that code of distributions shares."""
from __future__ import annotations

import hashlib
import inspect
from typing import Any

import numpy as np

from ...api import math
from ...api.arrays.creation import ones_like, range, zeros_like
from ...api.arrays.rearrange import matrix_band_part, matrix_diag
from ...api.arrays.shaping import concat, rank, reshape, shape, transpose
from ...api.control.control_flow import cond
from ...api.debugging import assert_equal, assert_greater_equal, assert_less_equal, assert_near, assert_non_negative
from ...api.math.softmax import softmax
from ...core.constant_value import static_value
from ...core.convert import convert_to_tensor
from ...core.dtypes import DType, as_dtype, bool_, float16, float32, float64, int16, int32, int64
from ...core.errors import ArgumentError, DTypeError
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import build
from .ops import with_dependencies

_INTEGERS = {float16: int16, float32: int32, float64: int64}


def maybe_get_static_value(x: Any, dtype: Any = None) -> Any:
    """The value of a tensor that is known already, as `dtype` if that is given; None if it is not known."""
    value = static_value(x) if isinstance(x, Tensor) else x
    return value if value is None or dtype is None else np.array(value, dtype)


def prefer_static_value(x: Any) -> Any:
    """The value of a tensor that is known already, else the tensor."""
    value = maybe_get_static_value(x)
    return x if value is None else value


def prefer_static_rank(x: Any) -> Any:
    """The rank of a tensor: a number if it is known, else a tensor."""
    return prefer_static_value(rank(x))


def prefer_static_shape(x: Any) -> Any:
    """The shape of a tensor: an array if it is known, else a tensor."""
    return prefer_static_value(shape(x))


def dimension_size(x: Tensor, axis: int) -> Any:
    """One size of a tensor: a number if it is known, else a tensor."""
    size = None if x.dims is None else x.dims[axis]
    return shape(x)[axis] if size is None else size


def same_dynamic_shape(a: Any, b: Any) -> Tensor:
    """Whether two tensors turn out to have one shape. -> bool[]."""
    first, second = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
    sizes, turned = ([shape(a), shape(b)] for a, b in ((first, second), (second, first)))
    return cond(math.equal(rank(first), rank(second)),
                lambda: math.reduce_all(math.equal(concat(sizes, 0), concat(turned, 0))),
                lambda: convert_to_tensor(False))


def parent_frame_arguments() -> dict[str, Any]:
    """The arguments of the function that calls this, by name, without those of a *list."""
    frame = inspect.currentframe().f_back  # type: ignore[union-attr]
    found = inspect.getargvalues(frame)  # type: ignore[arg-type]
    return {**{name: found.locals[name] for name in found.args},
            **(found.locals[found.keywords] if found.keywords else {})}


def gen_new_seed(seed: int | None, salt: str) -> int | None:
    """Another seed, by a seed and a word; None of None."""
    if seed is None:
        return None
    return int(hashlib.md5(f"{seed}{salt}".encode(), usedforsecurity=False).hexdigest()[:8], 16) & 0x7FFFFFFF


def assert_integer_form(x: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                        int_dtype: Any = None, name: str = "assert_integer_form") -> Any:
    """The operation that fails unless the numbers are whole."""
    with scope(name, name, [x, data]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_integer:
            return build.NoOp()
        wanted = _INTEGERS.get(x.dtype.base_dtype) if int_dtype is None else as_dtype(int_dtype)
        if wanted is None:
            raise DTypeError(f"Unrecognized type {x.dtype.name}")
        return assert_equal(x, math.cast(math.cast(x, wanted), x.dtype), data, summarize,
                            message or f"{x} has non-integer components")


def embed_check_nonnegative_integer_form(x: Any, name: str = "embed_check_nonnegative_integer_form") -> Tensor:
    """x, once its numbers are found to be whole and not negative."""
    with scope(name, name, [x]):
        x = convert_to_tensor(x, name="x")
        checks = [assert_non_negative(x, message=f"'{x}' must be non-negative."),
                  assert_integer_form(x, message=f"'{x}' cannot contain fractional components.")]
        return with_dependencies(checks, x)


def _greatest(dtype: DType) -> int:
    """The whole number up to which a type has all."""
    if dtype.is_floating:
        return 2 ** (int(np.finfo(dtype.as_numpy_dtype).nmant) + 1)
    if not dtype.is_integer and dtype.base_dtype is not bool_:
        raise DTypeError(f"Unrecognized dtype: {dtype.name}")
    return 1 if dtype.base_dtype is bool_ else int(np.iinfo(dtype.as_numpy_dtype).max)


def embed_check_categorical_event_shape(categorical_param: Any,
                                        name: str = "embed_check_categorical_event_shape") -> Tensor:
    """The parameters of a choice, once found to be of at least 2 events, and not more than can be counted."""
    with scope(name, name, [categorical_param]):
        x = convert_to_tensor(categorical_param, name="categorical_param")
        if not x.dtype.is_floating:
            raise DTypeError(f"Unable to validate size of unrecognized dtype ({x.dtype.name}).")
        few = "A categorical-distribution parameter must have at least 2 events."
        many = f"Number of classes exceeds `dtype` precision, i.e., {x.dtype.name} cannot exceed {_greatest(x.dtype)}."
        if x.dims == ():
            raise ArgumentError("A categorical-distribution parameter must have at least 1 dimension.")
        count = dimension_size(x, -1)
        if not isinstance(count, Tensor):
            if not 2 <= count <= _greatest(x.dtype):
                raise ArgumentError(few if count < 2 else many, found=count)
            return x
        return with_dependencies([assert_greater_equal(count, 2, message=few),
                                  assert_less_equal(count, _greatest(x.dtype), message=many)], x)


def embed_check_integer_casting_closed(x: Any, target_dtype: Any, assert_nonnegative: bool = True,
                                       name: str = "embed_check_casting_closed") -> Tensor:
    """x, once its numbers are found to be whole, and the same in another type; one type must be of integers."""
    with scope(name, name, [x]):
        x, target = convert_to_tensor(x, name="x"), as_dtype(target_dtype)
        for dtype in (x.dtype, target):
            if not (dtype.is_floating or dtype.is_integer or dtype.base_dtype is bool_):
                raise DTypeError(f"{dtype.name} must be floating- or integer-type.")
        if x.dtype.is_floating and target.is_floating:
            raise DTypeError(f"At least one of {x.name}.dtype ({x.dtype.name}) and target_dtype ({target.name}) must "
                             "be integer-type.")
        checks = [assert_non_negative(x, message="Elements must be non-negative.")] if assert_nonnegative else []
        lowest = 0 if target.is_unsigned or target.base_dtype is bool_ else -_greatest(target)
        if x.dtype.is_floating:
            checks.append(assert_integer_form(x, int_dtype=target,
                                              message=f"Elements must be {target.name}-equivalent."))
        elif _greatest(x.dtype) > _greatest(target):
            checks.append(assert_less_equal(x, _greatest(target), message=f"Elements cannot exceed "
                                                                          f"{_greatest(target)}."))
        if not assert_nonnegative and not x.dtype.is_floating and -_greatest(x.dtype) < lowest:
            checks.append(assert_greater_equal(x, lowest, message=f"Elements cannot be smaller than {lowest}."))
        return with_dependencies(checks, x) if checks else x


def get_logits_and_probs(logits: Any = None, probs: Any = None, multidimensional: bool = False,
                         validate_args: bool = False, name: str = "get_logits_and_probs",
                         dtype: Any = None) -> tuple[Tensor, Tensor]:
    """Both, of whichever is given. multidimensional: the last axis is of classes, of which one is chosen."""
    with scope(name, name, [probs, logits]):
        if (probs is None) == (logits is None):
            raise ArgumentError("Must pass probs or logits, but not both.")
        x = convert_to_tensor(probs if logits is None else logits, dtype, "logits" if probs is None else "probs")
        if not x.dtype.is_floating:
            raise DTypeError(f"{'logits' if probs is None else 'probs'} must having floating type.")
        if validate_args and multidimensional:
            x = embed_check_categorical_event_shape(x)
        if probs is None:
            return x, softmax(x, name="probs") if multidimensional else math.sigmoid(x, name="probs")
        if validate_args:
            one = convert_to_tensor(1.0, x.dtype)
            x = with_dependencies([assert_non_negative(x), assert_near(
                math.reduce_sum(x, -1), one, message="probs does not sum to 1.") if multidimensional else
                assert_less_equal(x, one, message="probs has components greater than 1.")], x)
        return math.log(x) if multidimensional else math.log(x) - math.log1p(-x), x


def log_combinations(n: Any, counts: Any, name: str = "log_combinations") -> Tensor:
    """Logarithm of the number of ways to order n outcomes of which counts[..., k] are of class k."""
    with scope(name, name, [n, counts]):
        return math.lgamma(convert_to_tensor(n) + 1) - math.reduce_sum(math.lgamma(convert_to_tensor(counts) + 1), -1)


def softplus_inverse(x: Any, name: str | None = None) -> Tensor:
    """log(exp(x) - 1), of x > 0; where that is x itself, or log(x), to all digits, it is computed so."""
    with scope(name, "softplus_inverse", [x]):
        x = convert_to_tensor(x, name="x")
        edge = np.log(np.finfo(x.dtype.as_numpy_dtype).eps) + 2.0
        is_small, is_large = math.less(x, np.exp(edge)), math.greater(x, -edge)
        middle = math.where_v2(math.logical_or(is_small, is_large), ones_like(x), x)
        inside = middle + math.log(-math.expm1(-middle))
        return math.where_v2(is_small, math.log(x), math.where_v2(is_large, x, inside))


def reduce_weighted_logsumexp(logx: Any, w: Any = None, axis: Any = None, keep_dims: bool = False,
                              return_sign: bool = False, name: str | None = None) -> Any:
    """log |sum of w exp(logx)| along axes, and with return_sign the sign of that sum."""
    with scope(name, "reduce_weighted_logsumexp", [logx, w]):
        logx = convert_to_tensor(logx, name="logx")
        if w is None:
            found = math.reduce_logsumexp(logx, axis=axis, keepdims=keep_dims)
            return (found, ones_like(found)) if return_sign else found
        w = convert_to_tensor(w, logx.dtype, "w")
        terms = logx + math.log(math.abs(w))
        largest = math.reduce_max(terms, axis=axis, keepdims=True)
        largest = math.where_v2(math.is_inf(largest), zeros_like(largest), largest)
        total = math.reduce_sum(math.sign(w) * math.exp(terms - largest), axis=axis, keepdims=True)
        sign = math.sign(total)
        found = largest + math.log(sign * total)
        if not keep_dims:
            found, sign = (math.reduce_sum(part, axis=axis) for part in (found, sign))  # one entry each
        return (found, sign) if return_sign else found


def rotate_transpose(x: Any, shift: Any, name: str = "rotate_transpose") -> Tensor:
    """The axes moved round by `shift`, to the right if that is positive."""
    with scope(name, name, [x, shift]):
        x, shift = convert_to_tensor(x, name="x"), convert_to_tensor(shift, name="shift")
        by = static_value(shift)
        if x.dims is not None and by is not None:
            return transpose(x, np.roll(np.arange(len(x.dims)), int(by))) if x.dims else x
        count = rank(x)
        return transpose(x, math.floormod(range(count) - shift, count))


def pick_vector(cond: Any, true_vector: Any, false_vector: Any, name: str = "pick_vector") -> Tensor:
    """One of two vectors, whose lengths may differ. cond: bool[]."""
    with scope(name, name, [cond, true_vector, false_vector]):
        cond = convert_to_tensor(cond, name="cond")
        if cond.dtype.base_dtype is not bool_:
            raise DTypeError(f"{cond}.dtype={cond.dtype} which is not {bool_}")
        choice = static_value(cond)
        if choice is not None:
            return true_vector if choice else false_vector
        first, second = convert_to_tensor(true_vector), convert_to_tensor(false_vector)
        if first.dtype.base_dtype is not second.dtype.base_dtype:
            raise DTypeError(f"{first}.dtype={first.dtype} does not match {second}.dtype={second.dtype}")
        count = shape(first)[:1]
        return build.Slice(concat([first, second], 0), math.where_v2(cond, [0], count),
                           math.where_v2(cond, count, [-1]))


def fill_triangular(x: Any, upper: bool = False, name: str | None = None) -> Tensor:
    """A lower (or upper) triangle of a vector, filled in a spiral. x: any[..., n (n + 1) / 2] -> any[..., n, n]."""
    with scope(name, "fill_triangular", [x]):
        x = convert_to_tensor(x, name="x")
        count = dimension_size(x, -1)
        if isinstance(count, Tensor):
            n = math.cast(math.sqrt(0.25 + math.cast(2 * count, float32)), int32)
        else:
            n = int(np.sqrt(0.25 + 2.0 * count) - 0.5)
            if n * (n + 1) // 2 != count:
                raise ArgumentError(f"Input right-most shape ({count}) does not correspond to a triangular matrix.")
        parts = [x, x[..., n:][..., ::-1]] if upper else [x[..., n:], x[..., ::-1]]
        square = reshape(concat(parts, -1), concat([shape(x)[:-1], [n, n]], 0))
        return matrix_band_part(square, 0 if upper else -1, -1 if upper else 0)


def fill_triangular_inverse(x: Any, upper: bool = False, name: str | None = None) -> Tensor:
    """The vector that fill_triangular makes a triangle of. x: any[..., n, n] -> any[..., n (n + 1) / 2]."""
    with scope(name, "fill_triangular_inverse", [x]):
        x = convert_to_tensor(x, name="x")
        n = dimension_size(x, -1)
        first, rest = (x[..., 0, :], x[..., 1:, :]) if upper else (x[..., -1, ::-1], x[..., :-1, :])
        both = reshape(rest + rest[..., ::-1, ::-1], concat([shape(x)[:-2], [n * (n - 1)]], 0))
        return concat([first, both[..., :n * (n - 1) // 2]], -1)


def tridiag(below: Any = None, diag: Any = None, above: Any = None, name: str | None = None) -> Tensor:
    """A matrix of its three diagonals, each of which may be left out. diag: any[..., n], below, above: one less."""
    with scope(name, "tridiag", [below, diag, above]):
        def padded(x: Any) -> Tensor:
            row = convert_to_tensor(x)
            zero = zeros_like(row[..., :1])
            return matrix_diag(concat([zero, row, zero], -1))

        parts = [*([] if below is None else [padded(below)[..., :-1, 1:]]), *([] if diag is None else [
            matrix_diag(diag)]), *([] if above is None else [padded(above)[..., 1:, :-1]])]
        if not parts:
            raise ArgumentError("Must specify at least one of `below`, `diag`, `above`.")
        return sum(parts[1:], parts[0])
