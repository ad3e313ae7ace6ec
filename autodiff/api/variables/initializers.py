"""Initializers: what a new variable holds, as functions of its shape and dtype."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.dtypes import DType, as_dtype, float32
from ...core.errors import ArgumentError, KindError
from ...core.graph import Tensor
from ...core.op import build
from ...core.shapes import as_dims
from .. import random
from ..arrays import creation
from ..common.made import Configured, named
from ..common.unsupported import refusing
from .assignment import global_variables_initializer as global_variables  # noqa: F401, as tf.initializers has them
from .assignment import local_variables_initializer as local_variables  # noqa: F401
from .assignment import variables_initializer as variables  # noqa: F401

_TRUNCATED_DEVIATION = 0.87962566103423978  # of a standard normal cut at two deviations


class Initializer(Configured):
    """A function of (shape, dtype) that gives a tensor; its settings are attributes.

    get_config gives them by name, from_config makes the same initializer again.
    """

    _config: tuple[str, ...] = ()
    dtype: DType = float32

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} does not say what it fills a variable with")

    def get_config(self) -> dict[str, Any]:
        return {name: self.dtype.name if name == "dtype" else getattr(self, name) for name in self._config}

    def _dtype(self, dtype: Any) -> DType:
        return self.dtype if dtype is None else as_dtype(dtype)


class Zeros(Initializer):
    """All zeros."""

    _config = ("dtype",)

    def __init__(self, dtype: Any = float32) -> None:
        self.dtype = as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return creation.zeros(shape, self._dtype(dtype))


class Ones(Initializer):
    """All ones."""

    _config = ("dtype",)

    def __init__(self, dtype: Any = float32) -> None:
        self.dtype = as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return creation.ones(shape, self._dtype(dtype))


class Constant(Initializer):
    """Given numbers in the order of the elements; the last one repeats. verify_shape: refuse another shape."""

    _config = ("value", "dtype")

    def __init__(self, value: Any = 0, dtype: Any = float32, verify_shape: bool = False) -> None:
        if value is not None and not isinstance(value, (bool, int, float, complex, str, bytes, list, tuple, np.generic,
                                                        np.ndarray)):
            raise KindError(f"Invalid type for initial value: {type(value)} (expected Python scalar, list or tuple of "
                            "values, or numpy.ndarray).")
        self.value, self.dtype, self._verify_shape = value, as_dtype(dtype), verify_shape

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None, verify_shape: Any = None) -> Tensor:
        verify = self._verify_shape if verify_shape is None else verify_shape
        return creation.constant(self.value, dtype=self._dtype(dtype), shape=shape, verify_shape=verify)


class RandomUniform(Initializer):
    """Numbers in [minval, maxval), all equally likely; maxval is 1 by default."""

    _config = ("minval", "maxval", "seed", "dtype")

    def __init__(self, minval: Any = 0, maxval: Any = None, seed: int | None = None, dtype: Any = float32) -> None:
        self.minval, self.maxval, self.seed, self.dtype = minval, maxval, seed, as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return random.random_uniform(shape, self.minval, self.maxval, self._dtype(dtype), seed=self.seed)


class RandomNormal(Initializer):
    """Normal numbers."""

    _config = ("mean", "stddev", "seed", "dtype")

    def __init__(self, mean: Any = 0.0, stddev: Any = 1.0, seed: int | None = None, dtype: Any = float32) -> None:
        self.mean, self.stddev, self.seed, self.dtype = mean, stddev, seed, _floating(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return random.random_normal(shape, self.mean, self.stddev, self._dtype(dtype), seed=self.seed)


class TruncatedNormal(RandomNormal):
    """Normal numbers; those beyond two deviations are drawn again."""

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return random.truncated_normal(shape, self.mean, self.stddev, _floating(self._dtype(dtype)), seed=self.seed)


class UniformUnitScaling(Initializer):
    """Uniform numbers that keep the scale of the layer's inputs: within sqrt(3 / fan_in) * factor."""

    _config = ("factor", "seed", "dtype")

    def __init__(self, factor: float = 1.0, seed: int | None = None, dtype: Any = float32) -> None:
        self.factor, self.seed, self.dtype = factor, seed, _floating(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dims = as_dims(shape) or ()
        inputs = max(math.prod(dims[:-1]), 1)
        limit = math.sqrt(3 / inputs) * self.factor
        return random.random_uniform(shape, -limit, limit, self._dtype(dtype), seed=self.seed)


class VarianceScaling(Initializer):
    """Numbers of variance scale / n, where n counts inputs, outputs, or is the mean of both.

    mode: 'fan_in', 'fan_out', 'fan_avg'. distribution: 'truncated_normal' ('normal' is the same), 'untruncated_normal',
    'uniform'. Raises ArgumentError (ValueError) for others. Source: Glorot and Bengio (2010); He et al. (2015).
    """

    _config: tuple[str, ...] = ("scale", "mode", "distribution", "seed", "dtype")

    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal",
                 seed: int | None = None, dtype: Any = float32) -> None:
        if scale <= 0.0:
            raise ArgumentError(expected="a scale > 0", found=scale)
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ArgumentError(expected="a mode of 'fan_in', 'fan_out' or 'fan_avg'", found=repr(mode))
        if distribution not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise ArgumentError(expected="a distribution of 'truncated_normal', 'untruncated_normal' or 'uniform'",
                                found=repr(distribution))
        self.scale, self.mode, self.distribution = scale, mode, distribution
        self.seed, self.dtype = seed, _floating(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        inputs, outputs = fans(as_dims(shape))
        count = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2.0}[self.mode]
        variance = self.scale / max(1.0, count)
        dtype, deviation = self._dtype(dtype), math.sqrt(variance)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return random.random_uniform(shape, -limit, limit, dtype, seed=self.seed)
        if self.distribution == "untruncated_normal":
            return random.random_normal(shape, 0.0, deviation, dtype, seed=self.seed)
        return random.truncated_normal(shape, 0.0, deviation / _TRUNCATED_DEVIATION, dtype, seed=self.seed)


class GlorotUniform(VarianceScaling):
    """Uniform numbers of variance 2 / (inputs + outputs). Source: Glorot and Bengio (2010), equation 16."""

    _config: tuple[str, ...] = ("seed", "dtype")

    def __init__(self, seed: int | None = None, dtype: Any = float32) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)


class GlorotNormal(VarianceScaling):
    """Truncated normal numbers of variance 2 / (inputs + outputs). Source: Glorot and Bengio (2010)."""

    _config: tuple[str, ...] = ("seed", "dtype")

    def __init__(self, seed: int | None = None, dtype: Any = float32) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)


class Orthogonal(Initializer):
    """A matrix with orthonormal rows or columns, times gain; axes before the last are one.

    Raises ArgumentError (ValueError) for a shape of rank below 2. Source: Saxe, McClelland and Ganguli (2014).
    """

    _config = ("gain", "seed", "dtype")

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: Any = float32) -> None:
        self.gain, self.dtype, self.seed = gain, _floating(dtype), seed

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dims = as_dims(shape)
        if dims is None or len(dims) < 2:
            raise ArgumentError(expected="a shape of rank >= 2 to be orthogonal", found=shape)
        rows, columns = math.prod(dims[:-1]), dims[-1]
        flat = (max(rows, columns), min(rows, columns))
        numbers = random.random_normal(flat, dtype=_floating(self._dtype(dtype)), seed=self.seed)
        q, r = build.Qr(numbers, full_matrices=False)
        q = q * build.Sign(build.MatrixDiagPart(r))  # makes the choice unique: uniform over orthogonal matrices
        if rows < columns:
            q = build.Transpose(q, [1, 0])
        return self.gain * build.Reshape(q, list(dims))


class Identity(Initializer):
    """The identity matrix times gain. Raises ArgumentError (ValueError) for other than two axes."""

    _config = ("gain", "dtype")

    def __init__(self, gain: float = 1.0, dtype: Any = float32) -> None:
        self.gain, self.dtype = gain, _floating(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dims = as_dims(shape)
        if dims is None or len(dims) != 2:
            raise ArgumentError(expected="a shape of rank 2 for an identity matrix", found=shape)
        part: Any = ...
        if partition_info is not None:
            part = tuple(slice(at, at + size) for at, size in zip(partition_info.var_offset, dims))
            dims = as_dims(partition_info.full_shape) or ()
        return creation.constant(self.gain * np.eye(*dims)[part], dtype=_floating(self._dtype(dtype)))


def _by_inputs(kind: str, scale: float, distribution: str, source: str) -> Callable[..., VarianceScaling]:
    def made(seed: int | None = None) -> VarianceScaling:
        return VarianceScaling(scale, "fan_in", distribution, seed)

    return named(made, kind, f"{distribution.replace('_', ' ').capitalize()} numbers of variance {scale:g} / inputs. "
                 f"Source: {source}.")


he_normal, he_uniform, lecun_normal, lecun_uniform = (
    _by_inputs(f"{who}_{kind.removeprefix('truncated_')}", scale, kind, source)
    for who, scale, source in (("he", 2.0, "He et al. (2015), equation 10"),
                               ("lecun", 1.0, "LeCun et al. (1998), section 4.6"))
    for kind in ("truncated_normal", "uniform"))


def fans(dims: Sequence[Any] | None) -> tuple[float, float]:
    """Counts of inputs and outputs of a unit whose weights have this shape; kernel sizes multiply both."""
    dims = [int(size) for size in dims or ()]
    if not dims:
        return 1.0, 1.0
    if len(dims) == 1:
        return dims[0], dims[0]
    window = math.prod(dims[:-2])
    return dims[-2] * window, dims[-1] * window


_compute_fans = fans  # its name in tensorflow.python.ops.init_ops


def _floating(dtype: Any) -> DType:
    found = as_dtype(dtype)
    if not found.is_floating:
        raise ArgumentError(f"Expected floating point type, got {found!r}.")
    return found


zeros = zeros_initializer = Zeros
ones = ones_initializer = Ones
constant = constant_initializer = Constant
random_uniform = random_uniform_initializer = RandomUniform
random_normal = random_normal_initializer = RandomNormal
truncated_normal = truncated_normal_initializer = TruncatedNormal
uniform_unit_scaling = uniform_unit_scaling_initializer = UniformUnitScaling
variance_scaling = variance_scaling_initializer = VarianceScaling
orthogonal = orthogonal_initializer = Orthogonal
identity = identity_initializer = Identity
glorot_uniform = glorot_uniform_initializer = GlorotUniform
glorot_normal = glorot_normal_initializer = GlorotNormal


__getattr__ = refusing("tf.initializers", __name__)
