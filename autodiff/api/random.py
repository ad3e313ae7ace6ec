"""Random tensors and seeds: TensorFlow's functions."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..core.constant_value import static_dims
from ..core.convert import convert_to_tensor
from ..core.dtypes import as_dtype, float32, float64, int32, int64
from ..core.errors import ArgumentError, DTypeError, InvalidArgumentError
from ..core.graph import Tensor, get_default_graph
from ..core.name_scope import scope
from ..core.op import OPS, build
from ..core.shapes import is_known
from ..ops.common.op_counts import operations_so_far
from .common.made import named
from .common.unsupported import refusing

_DEFAULT_SEED = 87654321  # stands for the graph's seed when only the op has one
_LARGEST = 2**31 - 1


def set_random_seed(seed: int | None) -> None:
    """Set the seed of the default graph: from here on its random ops draw the same numbers in every session."""
    get_default_graph().seed = seed


def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """The pair of seeds of a random op: of its graph, and its own.

    (None, None) if neither is set. If only the graph's is, the count of operations so far tells ops
    apart, or, eagerly, the next of its random numbers. Never (0, 0), which means "not seeded" to an op.
    """
    graph = get_default_graph()
    if graph.seed is None:
        if op_seed is None:
            return None, None
        seeds = _DEFAULT_SEED, op_seed % _LARGEST
    else:
        seeds = graph.seed % _LARGEST, (_count(graph) if op_seed is None else op_seed) % _LARGEST
    return (0, _LARGEST) if seeds == (0, 0) else seeds


def _count(graph: Any) -> int:
    return graph.seeds.randint(0, _LARGEST) if graph.executing_eagerly else operations_so_far(graph)


def _seeds(seed: int | None) -> dict[str, Any]:
    first, second = get_seed(seed)
    return {"seed": first or 0, "seed2": second or 0}


def _shape(shape: Any) -> Tensor:
    return convert_to_tensor(shape, dtype=int32 if isinstance(shape, (list, tuple)) else None, name="shape")


def _normal(kind: str, op: str, words: str) -> Callable[..., Tensor]:
    def drawn(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, seed: int | None = None,
              name: str | None = None) -> Tensor:
        with scope(name, kind, [shape, mean, stddev]) as full:
            dtype, shape = as_dtype(dtype), _shape(shape)
            mean = convert_to_tensor(mean, dtype=dtype, name="mean")
            stddev = convert_to_tensor(stddev, dtype=dtype, name="stddev")
            numbers = OPS[op](shape, dtype=dtype, **_seeds(seed))
            return build.Add(build.Mul(numbers, stddev, name="mul"), mean, name=full)

    return named(drawn, kind, f"Normal numbers{words}. shape: int[rank]; mean, stddev broadcast to it -> dtype[shape].")


random_normal = _normal("random_normal", "RandomStandardNormal", "")
truncated_normal = _normal("truncated_normal", "TruncatedNormal", " within two deviations of the mean")


def random_uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32, seed: int | None = None,
                   name: str | None = None) -> Tensor:
    """Numbers in [minval, maxval), all equally likely. shape: int[rank] -> dtype[shape].

    maxval: 1 if None for floats; integers need one, else ArgumentError (ValueError).
    """
    dtype = as_dtype(dtype)
    if maxval is None:
        if dtype.is_integer:
            raise ArgumentError(expected=f"a maxval for integers of {dtype.name}", found="None")
        maxval = 1
    with scope(name, "random_uniform", [shape, minval, maxval]) as full:
        shape = _shape(shape)
        minval = convert_to_tensor(minval, dtype=dtype, name="min")
        maxval = convert_to_tensor(maxval, dtype=dtype, name="max")
        if dtype.is_integer:
            return build.RandomUniformInt(shape, minval, maxval, name=full, **_seeds(seed))
        numbers = build.RandomUniform(shape, dtype=dtype, **_seeds(seed))
        return build.Add(build.Mul(numbers, build.Sub(maxval, minval, name="sub"), name="mul"), minval, name=full)


def random_shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """The rows in random order. value: any[n, ...] -> any[n, ...]."""
    return build.RandomShuffle(value, name=name, **_seeds(seed))


def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """A block of `size` at a random place. value: any[...], size: int[rank], not larger -> any[size]."""
    with scope(name, "random_crop", [value, size]) as full:
        value = convert_to_tensor(value, name="value")
        size = convert_to_tensor(size, dtype=None if isinstance(size, Tensor) else int32, name="size")
        wanted = static_dims(size)
        if is_known(value.dims) and wanted is not None and is_known(wanted):
            if any(w > v for w, v in zip(wanted, value.dims)):
                raise InvalidArgumentError(None, None, expected=f"a crop no larger than {list(value.dims)}",
                                           found=list(wanted))
        room = build.Shape(value, out_type=size.dtype.base_dtype) - size + 1
        start = random_uniform(build.Shape(room), maxval=size.dtype.base_dtype.max, dtype=size.dtype.base_dtype,
                               seed=seed)
        return build.Slice(value, build.FloorMod(start, room), size, name=full)


def multinomial(logits: Any, num_samples: Any, seed: int | None = None, name: str | None = None,
                output_dtype: Any = None) -> Tensor:
    """Classes drawn with probability softmax(logits). logits: float[n, k] -> int64[n, num_samples]."""
    with scope(name, "multinomial", [logits]):
        return _classes(logits, num_samples, output_dtype, seed)


def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: int | None = None,
                name: str | None = None) -> Tensor:
    """Classes drawn with probability softmax(logits). logits: float[n, k] -> int64[n, num_samples]."""
    with scope(name, "categorical", [logits]):
        return _classes(logits, num_samples, dtype, seed)


def _classes(logits: Any, num_samples: Any, dtype: Any, seed: int | None) -> Tensor:
    logits = convert_to_tensor(logits, name="logits")
    return build.Multinomial(logits, num_samples, output_dtype=as_dtype(dtype or int64), **_seeds(seed))


def random_gamma(shape: Any, alpha: Any, beta: Any = None, dtype: Any = float32, seed: int | None = None,
                 name: str | None = None) -> Tensor:
    """Gamma numbers of form alpha and rate beta, `shape` of them for each pair -> dtype[*shape, ...]."""
    dtype = as_dtype(dtype)
    with scope(name, "random_gamma", [shape, alpha, beta]):
        shape = _shape(shape)
        alpha = convert_to_tensor(alpha, dtype=dtype, name="alpha")
        beta = convert_to_tensor(1 if beta is None else beta, dtype=dtype, name="beta")
        alpha = alpha + build.ZerosLike(beta)
        smallest = convert_to_tensor(dtype.as_numpy_dtype(_tiny(dtype)))
        return build.Maximum(smallest, build.RealDiv(build.RandomGamma(shape, alpha, **_seeds(seed)), beta))


def _tiny(dtype: Any) -> float:
    if not dtype.is_floating:
        raise DTypeError(expected="a float type for gamma numbers", found=dtype.name)
    return {float32: 1.1754944e-38, float64: 2.2250738585072014e-308}.get(dtype, 6.104e-05)


def random_poisson(lam: Any, shape: Any, dtype: Any = float32, seed: int | None = None,
                   name: str | None = None) -> Tensor:
    """Poisson counts of mean `lam`, `shape` of them for each -> dtype[*shape, ...]."""
    with scope(name, "random_poisson", [lam, shape]):
        rate = convert_to_tensor(lam, name="lam")
        return build.RandomPoissonV2(_shape(shape), rate, dtype=as_dtype(dtype), **_seeds(seed))


poisson = random_poisson


def stateless_normal(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32,
                     name: str | None = None) -> Tensor:
    """Normal numbers that `seed`, int[2], alone decides. shape: int[rank] -> dtype[shape]."""
    with scope(name, "stateless_random_normal", [shape, seed, mean, stddev]) as full:
        return _seeded(build.StatelessRandomNormal, shape, seed, stddev, mean, dtype, full)


def stateless_truncated_normal(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32,
                               name: str | None = None) -> Tensor:
    """Normal numbers within two deviations that `seed`, int[2], alone decides. shape: int[rank] -> dtype[shape]."""
    with scope(name, "stateless_truncated_normal", [shape, seed, mean, stddev]) as full:
        return _seeded(build.StatelessTruncatedNormal, shape, seed, stddev, mean, dtype, full)


def stateless_uniform(shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32,
                      name: str | None = None) -> Tensor:
    """Numbers in [minval, maxval) that `seed`, int[2], alone decides; maxval: 1 if None. -> dtype[shape].

    Raises ArgumentError (ValueError) for integers without a maxval.
    """
    dtype = as_dtype(dtype)
    if maxval is None and dtype.is_integer:
        raise ArgumentError(f"Must specify maxval for integer dtype {dtype!r}")
    with scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as full:
        minval = convert_to_tensor(minval, dtype=dtype, name="min")
        maxval = convert_to_tensor(1 if maxval is None else maxval, dtype=dtype, name="max")
        if dtype.is_integer:
            return build.StatelessRandomUniformInt(_shape(shape), seed, minval, maxval, name=full)
        return _seeded(build.StatelessRandomUniform, shape, seed, maxval - minval, minval, dtype, full)


def stateless_multinomial(logits: Any, num_samples: Any, seed: Any, output_dtype: Any = int64,
                          name: str | None = None) -> Tensor:
    """Classes drawn with probability softmax(logits), float[n, k], that `seed` decides. -> int64[n, num_samples]."""
    return build.StatelessMultinomial(logits, num_samples, seed, output_dtype=as_dtype(output_dtype), name=name)


def stateless_categorical(logits: Any, num_samples: Any, seed: Any, dtype: Any = int64,
                          name: str | None = None) -> Tensor:
    """stateless_multinomial by its later name."""
    return stateless_multinomial(logits, num_samples, seed, dtype, name)


def _seeded(op: Any, shape: Any, seed: Any, factor: Any, shift: Any, dtype: Any, full: str) -> Tensor:
    dtype = as_dtype(dtype)
    numbers = op(_shape(shape), convert_to_tensor(seed, name="seed"), dtype=dtype)
    scaled = build.Mul(numbers, convert_to_tensor(factor, dtype=dtype, name="factor"))
    return build.Add(scaled, convert_to_tensor(shift, dtype=dtype, name="shift"), name=full)


class Candidates(NamedTuple):
    """Classes that a candidate sampler drew, int64[num_sampled]; the expected counts of the true ones, float32[n,
    num_true], and of those drawn, float32[num_sampled]."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


class Hits(NamedTuple):
    """Rows int32[k], places among the classes that were drawn int64[k], and the lowest float, float32[k]."""

    indices: Tensor
    ids: Tensor
    weights: Tensor


def log_uniform_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
                                  seed: int | None = None, name: str | None = None) -> Candidates:
    """Classes drawn so that the first are the likeliest, as for words sorted by how frequent they are.

    true_classes: int[n, num_true]. unique: no class is drawn twice. P(k) = log((k + 2) / (k + 1)) / log(range_max + 1).
    """
    return _candidates("LogUniform", true_classes, num_true, num_sampled, unique, seed, name, range_max=range_max)


def uniform_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
                              seed: int | None = None, name: str | None = None) -> Candidates:
    """Classes drawn with equal chances; arguments are as in log_uniform_candidate_sampler."""
    return _candidates("Uniform", true_classes, num_true, num_sampled, unique, seed, name, range_max=range_max)


def learned_unigram_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
                                      seed: int | None = None, name: str | None = None) -> Candidates:
    """Classes drawn as often as the session's earlier runs had them for true ones, and one time more."""
    return _candidates("LearnedUnigram", true_classes, num_true, num_sampled, unique, seed, name, range_max=range_max)


def fixed_unigram_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
                                    vocab_file: str = "", distortion: float = 1.0, num_reserved_ids: int = 0,
                                    num_shards: int = 1, shard: int = 0, unigrams: Sequence[float] = (),
                                    seed: int | None = None, name: str | None = None) -> Candidates:
    """Classes drawn by how frequent they are, to the power of distortion.

    unigrams: how frequent each is; or vocab_file: what stands after the last comma of each line. num_reserved_ids: so
    many classes before these are never drawn. num_shards, shard: of each num_shards classes only the one at `shard`.
    """
    return _candidates("FixedUnigram", true_classes, num_true, num_sampled, unique, seed, name, range_max=range_max,
                       vocab_file=vocab_file, distortion=float(distortion), num_reserved_ids=int(num_reserved_ids),
                       num_shards=int(num_shards), shard=int(shard), unigrams=tuple(map(float, unigrams)))


def all_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, seed: int | None = None,
                          name: str | None = None) -> Candidates:
    """Every class once, none by chance."""
    return _candidates("All", true_classes, num_true, num_sampled, unique, seed, name)


def _candidates(kind: str, true_classes: Any, num_true: int, num_sampled: int, unique: bool, seed: int | None,
                name: str | None, **settings: Any) -> Candidates:
    return Candidates(*OPS[f"{kind}CandidateSampler"](
        true_classes, num_true=int(num_true), num_sampled=int(num_sampled), unique=bool(unique), **settings,
        **_seeds(seed), name=name))


def compute_accidental_hits(true_classes: Any, sampled_candidates: Any, num_true: int, seed: int | None = None,
                            name: str | None = None) -> Hits:
    """Where a class that was drawn is a true one, to be added to its logit.

    true_classes: int[n, num_true], sampled_candidates: int[num_sampled].
    """
    return Hits(*build.ComputeAccidentalHits(true_classes, sampled_candidates, num_true=int(num_true), **_seeds(seed),
                                             name=name))


normal, uniform, shuffle, gamma = random_normal, random_uniform, random_shuffle, random_gamma  # as tf.random names them


__getattr__ = refusing("tf.random", __name__)
