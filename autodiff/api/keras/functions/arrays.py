"""Numbers and shapes as Keras' backend has them: reductions, element by element, axes; the last axis is the default."""
from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ....core.convert import convert_to_tensor
from ....core.dtypes import bool_
from ....ops.common.op_counts import counted_as, counting
from ... import math, random
from ...arrays import creation, gathering, rearrange, shaping
from ...control import map_and_scan
from ...linalg.products import matmul, tensordot
from ...sparse.arithmetic import sparse_tensor_to_dense

__all__ = [
    "FLOAT", "abs", "all", "any", "arange", "argmax", "argmin", "batch_dot", "batch_flatten", "cast", "cast_to_floatx",
    "clip", "concatenate", "constant", "cos", "cumprod", "cumsum", "dot", "dtype", "equal", "exp", "expand_dims",
    "flatten", "foldl", "foldr", "gather", "greater", "greater_equal", "int_shape", "is_sparse", "less", "less_equal",
    "log", "map_fn", "max", "maximum", "mean", "min", "minimum", "ndim", "not_equal", "one_hot", "ones_like",
    "permute_dimensions", "pow", "prod", "random_binomial", "random_normal", "random_uniform", "repeat",
    "repeat_elements", "reshape", "reverse", "round", "shape", "shape_of", "sign", "sin", "sqrt", "square", "squeeze",
    "stack", "std", "stop_gradient", "sum", "tile", "to_dense", "transpose", "truncated_normal", "var", "zeros_like"]

FLOAT = "float32"  # the dtype of weights


def _reduction(reduce: Any, of_bools: Any = None, dtype: Any = None) -> Any:
    """A reduction. of_bools: the type that bool numbers are made; dtype: that all are."""
    def reduced(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        to = dtype or of_bools
        x = math.cast(x, to) if to and (dtype or convert_to_tensor(x).dtype.base_dtype == bool_) else x
        return reduce(x, axis=axis, keepdims=keepdims)
    reduced.__doc__ = reduce.__doc__
    return reduced


def _of_one(function: Any) -> Any:
    def found(x: Any) -> Any:
        return function(x)
    found.__doc__ = function.__doc__
    return found


sum, max, min, prod = map(_reduction, (math.reduce_sum, math.reduce_max, math.reduce_min, math.reduce_prod))
mean, var, std = (_reduction(each, FLOAT) for each in (math.reduce_mean, math.reduce_variance, math.reduce_std))
all, any = (_reduction(each, dtype="bool") for each in (math.reduce_all, math.reduce_any))
abs, cos, exp, log, round, sign, sin, square = map(_of_one, (
    math.abs, math.cos, math.exp, math.log, math.round, math.sign, math.sin, math.square))
equal, greater, greater_equal, less, less_equal, maximum, minimum, not_equal = (
    math.equal, math.greater, math.greater_equal, math.less, math.less_equal, math.maximum, math.minimum,
    math.not_equal)
cast, cumprod, cumsum, foldl, foldr, shape, squeeze, stack, transpose = (
    math.cast, math.cumprod, math.cumsum, map_and_scan.foldl, map_and_scan.foldr, _of_one(shaping.shape),
    shaping.squeeze, shaping.stack, _of_one(shaping.transpose))
gather = gathering.gather
ones_like, stop_gradient, zeros_like = creation.ones_like, creation.stop_gradient, creation.zeros_like


def sqrt(x: Any) -> Any:
    """The square root of what is positive; 0 of the rest."""
    return math.sqrt(math.clip_by_value(x, 0.0, np.inf))


def pow(x: Any, a: Any) -> Any:
    """x to the power a."""
    return math.pow(x, a)


def clip(x: Any, min_value: Any, max_value: Any) -> Any:
    """x within bounds; None for none."""
    return math.clip_by_value(x, -np.inf if min_value is None else min_value,
                              np.inf if max_value is None else max_value)


def argmax(x: Any, axis: int = -1) -> Any:
    """Where the largest is along an axis."""
    return math.argmax(x, axis)


def argmin(x: Any, axis: int = -1) -> Any:
    """Where the smallest is along an axis."""
    return math.argmin(x, axis)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = "int32") -> Any:
    """Whole numbers from start to stop, or from 0 to start."""
    one, other = (0, start) if stop is None else (start, stop)
    return math.cast(creation.range(one, other, step), dtype)


def one_hot(indices: Any, num_classes: int) -> Any:
    """1 at each index, 0 elsewhere. int[...] -> float[..., num_classes]."""
    return creation.one_hot(indices, num_classes)


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Any:
    """A constant, of floats unless a type is told."""
    return creation.constant(value, dtype or FLOAT, shape, name or "Const")


def numpy_seed(seed: int | None, below: int = 10_000_000) -> int:
    """The seed, or else one that NumPy's generator draws, as in TensorFlow: numpy.random.seed settles these."""
    return int(np.random.randint(below)) if seed is None else seed


def random_normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None) -> Any:
    """Numbers of a normal distribution."""
    return random.random_normal(shape, mean, stddev, dtype or FLOAT, numpy_seed(seed))


def truncated_normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None) -> Any:
    """Numbers of a normal distribution, within two deviations of its mean."""
    return random.truncated_normal(shape, mean, stddev, dtype or FLOAT, numpy_seed(seed))


def random_uniform(shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = None, seed: Any = None) -> Any:
    """Numbers from minval to below maxval."""
    return random.random_uniform(shape, minval, maxval, dtype or FLOAT, numpy_seed(seed))


def random_binomial(shape: Any, p: float = 0.0, dtype: Any = None, seed: Any = None) -> Any:
    """1 with a chance of p, otherwise 0."""
    return cast(random_uniform(shape, dtype=dtype, seed=seed) <= p, dtype or FLOAT)


def cast_to_floatx(x: Any) -> Any:
    """An array or tensor of the dtype of weights."""
    return cast(x, FLOAT) if hasattr(x, "op") else np.asarray(x, FLOAT)


def dtype(x: Any) -> str:
    """The name of its type."""
    return str(x.dtype.base_dtype.name)


def ndim(x: Any) -> int | None:
    """How many axes it has; None if that is not known."""
    return x.shape.ndims


def int_shape(x: Any) -> Any:
    """The sizes that are known, None for others."""
    return None if ndim(x) is None else tuple(x.shape.as_list())


def shape_of(x: Any) -> list[Any]:
    """The sizes, as numbers where they are known."""
    return [shape(x)[i] if dim is None else dim for i, dim in enumerate(int_shape(x))]


def is_sparse(tensor: Any) -> bool:
    """Whether it is a SparseTensor."""
    return hasattr(tensor, "dense_shape") and hasattr(tensor, "values")


def to_dense(tensor: Any) -> Any:
    """With all its zeros, if it is sparse."""
    return sparse_tensor_to_dense(tensor) if is_sparse(tensor) else tensor


def expand_dims(x: Any, axis: int = -1) -> Any:
    """With an axis of one more."""
    return shaping.expand_dims(x, axis)


def concatenate(tensors: Any, axis: int = -1) -> Any:
    """One after another along an axis."""
    return shaping.concat(tensors, axis)


def reshape(x: Any, shape: Any) -> Any:
    """The same numbers in another shape."""
    return shaping.reshape(x, shape)


def reverse(x: Any, axes: Any) -> Any:
    """The other way round along axes."""
    return rearrange.reverse(x, [axes] if isinstance(axes, int) else axes)


def tile(x: Any, n: Any) -> Any:
    """So many times along each axis."""
    return rearrange.tile(x, [n] if isinstance(n, int) else n)


def flatten(x: Any) -> Any:
    """All numbers in a row."""
    return reshape(x, [-1])


@counting(10)
def batch_flatten(x: Any) -> Any:
    """Each example as a vector."""
    sizes = int_shape(x)[1:]
    return reshape(x, [-1, int(np.prod(sizes)) if None not in sizes else math.reduce_prod(shape(x)[1:])])


def permute_dimensions(x: Any, pattern: Any) -> Any:
    """The axes in another order."""
    return shaping.transpose(x, pattern)


@counting(5)
def repeat_elements(x: Any, rep: int, axis: int) -> Any:
    """Each slice along an axis so many times."""
    return rearrange.repeat(x, rep, axis=axis)


def repeat(x: Any, n: int) -> Any:
    """Each vector n times. float[b, k] -> float[b, n, k]."""
    return tile(expand_dims(x, 1), [1, n, 1])


def dot(x: Any, y: Any) -> Any:
    """Σ over the last axis of x and the one before the last of y."""
    if ndim(x) == ndim(y) == 2:
        return matmul(x, y)
    with counted_as(_of_dot(x, y)):
        return tensordot(x, y, [[-1], [-2 if (ndim(y) or 0) > 1 else 0]])


def _of_dot(x: Any, y: Any) -> int:
    """The operations of a dot product of more axes: sizes, both as matrices, the product and its shape."""
    x_dims, y_dims = int_shape(x), int_shape(y)
    made = [*x_dims[:-1], *y_dims[:-2], *y_dims[-1:]]
    reads = 2 * builtins.sum(hasattr(each, "initializer") for each in (x, y))
    as_matrices = builtins.sum(2 if dim is not None else 3 for dim in (x_dims[-1], y_dims[-2:][0]))
    return 4 + reads + as_matrices + 2 + 1 + 2 + (None in made) * builtins.sum(dim is not None for dim in made)


def batch_dot(x: Any, y: Any, axes: Any = None) -> Any:
    """The products of two batches, each example with its own, summed over an axis of each."""
    given = ndim(x) or 0, ndim(y) or 0
    one, other = (axes, axes) if isinstance(axes, int) else axes or (given[0] - 1, given[1] - 2 or 1)
    with counted_as(5 if given == (2, 2) and one == other else None if given[0] == given[1] else 7):
        x = expand_dims(x, 1) if given[0] == 2 else x
        y = expand_dims(y, -1) if given[1] == 2 else y
        made = matmul(x, y, transpose_a=given[0] > 2 and one == given[0] - 2, transpose_b=given[1] > 2 and
                      other == given[1] - 1)
        made = squeeze(made, 1) if given[0] == 2 else made
        made = squeeze(made, -1) if given[1] == 2 else made
        return expand_dims(made, 1) if ndim(made) == 1 else made


def map_fn(fn: Any, elems: Any, name: str | None = None, dtype: Any = None) -> Any:
    """fn of each slice along the first axis."""
    return map_and_scan.map_fn(fn, elems, dtype, name=name)
