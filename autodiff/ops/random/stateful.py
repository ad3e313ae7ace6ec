"""Random numbers: each op draws from its own stream, fixed by (graph seed, op seed, run).

With a seed they are TensorFlow's own, but those of gamma and Poisson.
"""

import numpy as np

from ...core.constant_value import static_dims
from ...core.declare import op
from ...core.dtypes import FLOATS, INDICES, REALS, as_dtype, float32, int64
from ...core.errors import ArgumentError, ShapeError
from ...core.infer import rank_of, same_shape
from ...core.op import Index, Int32, Spec, blocked, build
from ..common.batch_axis import rank_in, shared
from . import philox
from .stateless import bounded, classes_of, drawn_classes

_DEPENDS = "random numbers do not depend on the inputs differentiably"


def _drawn(shape, *, dtype=float32, seed=0, seed2=0):
    rank_of(shape, exactly=1, what="shape")
    return Spec(as_dtype(dtype), static_dims(shape))


def _same_numbers(node, args, batched):
    shared(node, batched, *range(len(args)))
    return [None]


def _floats(made, method, run, seeds, shape, dtype):
    """What `made`, of philox.py, makes of seeds; without any, `method` of a stream in the precision it can do."""
    kind = as_dtype(dtype).as_numpy_dtype
    if any(seeds):
        return made(shape, kind, *_begun(run, seeds, shape))
    precise = np.float32 if kind is np.float16 else kind
    return np.asarray(getattr(run.stream(*seeds), method)(tuple(shape), precise)).astype(kind, copy=False)


def _begun(run, seeds, shape):
    """The stream of an op of these seeds, where a draw of so many numbers begins in it, and blocks to its next."""
    step = 256 * int(np.prod(shape, dtype=np.int64))
    return philox.stream_of(*seeds), run.place(step), step


@op("RandomStandardNormal", infer=_drawn, stateful=True, no_grad=_DEPENDS, batched=_same_numbers)
def random_standard_normal(shape: Index, *, dtype=float32, seed=0, seed2=0, run):
    """Normal numbers of mean 0 and deviation 1. shape: int[rank] -> dtype[shape]."""
    return _floats(philox.normal, "standard_normal", run, (seed, seed2), shape, dtype)


@op("RandomUniform", infer=_drawn, stateful=True, no_grad=_DEPENDS, batched=_same_numbers)
def random_uniform(shape: Index, *, dtype=float32, seed=0, seed2=0, run):
    """Numbers in [0, 1), all equally likely. shape: int[rank] -> dtype[shape]."""
    if as_dtype(dtype).as_numpy_dtype is np.float16 and not (seed or seed2):  # rounded, the largest would be 1
        numbers = np.asarray(run.stream(0, 0).random(tuple(shape), np.float32))
        return (np.floor(numbers * 1024) / 1024).astype(np.float16)
    return _floats(philox.uniform, "random", run, (seed, seed2), shape, dtype)


@op("TruncatedNormal", infer=_drawn, stateful=True, no_grad=_DEPENDS, batched=_same_numbers)
def truncated_normal(shape: Index, *, dtype=float32, seed=0, seed2=0, run):
    """Standard normal numbers, those beyond two deviations drawn again. shape: int[rank] -> dtype[shape]."""
    if seed or seed2:
        return _floats(philox.truncated_normal, "", run, (seed, seed2), shape, dtype)
    stream = run.stream(seed, seed2)
    numbers = np.asarray(stream.standard_normal(tuple(shape)))
    while (outside := np.abs(numbers) >= 2.0).any():
        numbers[outside] = stream.standard_normal(np.count_nonzero(outside))
    return numbers.astype(as_dtype(dtype).as_numpy_dtype)


def _integers(shape, minval, maxval, *, seed=0, seed2=0):
    rank_of(minval, exactly=0, what="minval")
    rank_of(maxval, exactly=0, what="maxval")
    return Spec(minval.dtype.base_dtype, static_dims(shape))


@op("RandomUniformInt", infer=_integers, dtypes=INDICES, stateful=True, no_grad="integers have no gradient",
    batched=_same_numbers)
def random_uniform_int(shape: Index, minval, maxval, *, seed=0, seed2=0, run):
    """Integers in [minval, maxval), all equally likely. shape: int[rank] -> int[shape]."""
    shape = bounded(shape, minval, maxval)
    if seed or seed2:
        return philox.integers(shape, minval, maxval, *_begun(run, (seed, seed2), shape))
    return np.asarray(run.stream(seed, seed2).integers(minval, max(maxval, minval + 1), shape, minval.dtype))


@op("RandomShuffle", infer=same_shape, stateful=True, no_rule="a shuffle does not keep its order")
def random_shuffle(value, *, seed=0, seed2=0, run):
    """The rows in random order. value: any[n, ...] -> any[n, ...]."""
    if value.ndim == 0 or not len(value):
        return np.array(value)
    if not (seed or seed2):
        return run.stream(seed, seed2).permutation(value, axis=0)
    words = philox.words_of(philox.stream_of(seed, seed2), run.place((len(value) + 2) // 4))
    order = list(range(len(value)))
    for i in range(len(value) - 1):
        other = i + next(words) % (len(value) - i)
        order[i], order[other] = order[other], order[i]
    return value[order]


@random_shuffle.batched
def _(node, args, batched):
    rank = rank_in(node)
    if rank == 0:
        return args[0]
    swap = [1, 0, *range(2, rank + 1)]  # one order for all slices, as the one op has
    return build.Transpose(build.RandomShuffle(build.Transpose(args[0], swap), **node.attrs), swap)


@op("Multinomial", infer=classes_of, dtypes=REALS, stateful=True, no_grad="a sampled class is an integer")
def multinomial(logits, num_samples: Int32, *, seed=0, seed2=0, output_dtype=int64, run):
    """Classes drawn with probability softmax(logits). logits: float[n, k], num_samples: int32[] -> int[n, samples]."""
    if not logits.shape[1]:
        raise ArgumentError("num_classes should be positive, got 0")
    shape = len(logits), int(num_samples)
    if seed or seed2:
        kept = len(logits), -(-shape[1] // 4) * 8
        draws = philox.uniform(shape, np.float64, *_begun(run, (seed, seed2), kept))
    else:
        draws = run.stream(seed, seed2).random(shape)
    return drawn_classes(logits, draws, output_dtype)


@multinomial.batched_if_same(1)
def _(node, args, batched):
    sizes = build.Shape(args[0])
    drawn = build.Multinomial(build.Reshape(args[0], build.Pack(-1, sizes[2], axis=0)), args[1], **node.attrs)
    return build.Reshape(drawn, build.Pack(sizes[0], sizes[1], args[1], axis=0))


def _many(shape, parameter, *, seed=0, seed2=0, dtype=None):
    drawn = static_dims(shape)
    dims = None if drawn is None or parameter.dims is None else (*drawn, *parameter.dims)
    return Spec(as_dtype(dtype or parameter.dtype.base_dtype), dims)


@op("RandomGamma", infer=_many, dtypes=FLOATS, stateful=True)
def random_gamma(shape: Index, alpha, *, seed=0, seed2=0, run):
    """Gamma(alpha, 1) numbers, `shape` of them for each alpha. alpha: float[...] -> float[*shape, ...]."""
    drawn = run.stream(seed, seed2).standard_gamma(alpha, (*shape, *alpha.shape))
    return np.asarray(drawn).astype(alpha.dtype)


@random_gamma.gradient
def _(node, dy):
    shape, alpha = node.inputs
    drawn = node.outputs[0]
    if alpha.dims is None or drawn.dims is None:
        ones = build.Fill(build.Size(shape)[None], 1)
        widened = build.Reshape(alpha, build.ConcatV2(0, ones, build.Shape(alpha)))
        axes = build.Range(0, build.Size(shape), 1)
    else:
        axes = np.arange(len(drawn.dims) - len(alpha.dims), dtype=np.int32)
        widened = alpha
    dalpha = build.Sum(dy * build.RandomGammaGrad(widened, drawn), axes)
    return blocked("a shape is made of integers"), dalpha


@op("RandomPoissonV2", infer=_many, dtypes=REALS, stateful=True, no_grad="a count is not differentiable")
def random_poisson(shape: Index, rate, *, seed=0, seed2=0, dtype=int64, run):
    """Poisson counts, `shape` of them for each rate. rate: float[...] -> dtype[*shape, ...]."""
    drawn = run.stream(seed, seed2).poisson(rate, (*shape, *rate.shape))
    return np.asarray(drawn).astype(as_dtype(dtype).as_numpy_dtype)


@random_gamma.batched_if_same(0)
@random_poisson.batched_if_same(0)
def _(node, args, batched):
    drawn = node.definition(*args, **node.attrs)
    if drawn.dims is None or node.outputs[0].dims is None:
        raise ShapeError(f"cannot vectorize {node.type} over inputs of unknown rank")
    axis = len(node.outputs[0].dims) - rank_in(node, 1)  # the slices come after `shape`; they belong first
    return build.Transpose(drawn, [axis, *[i for i in range(len(drawn.dims)) if i != axis]])
