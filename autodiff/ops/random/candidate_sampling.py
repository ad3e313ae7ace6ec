"""Candidate samplers: a few classes drawn in place of all, and how often each was to be expected among them."""

import numpy as np

from ...core.declare import op
from ...core.dtypes import float32, int64
from ...core.errors import InvalidArgumentError
from ...core.infer import rank_of
from ...core.op import Index, Spec

_DRAWN = "classes are drawn at random"


def _candidates(true_classes, *, num_true, num_sampled, range_max, unique=True, seed=0, seed2=0):
    rank_of(true_classes, exactly=2, what="true_classes")
    rows = None if true_classes.dims is None else true_classes.dims[0]
    return Spec(int64, (num_sampled,)), Spec(float32, (rows, num_true)), Spec(float32, (num_sampled,))


@op("LogUniformCandidateSampler", infer=_candidates, stateful=True, no_grad=_DRAWN)
def log_uniform(true_classes: Index, *, num_true, num_sampled, range_max, unique=True, seed=0, seed2=0, run):
    """Classes, the first the likeliest: P(k) = log((k + 2) / (k + 1)) / log(range_max + 1).

    true_classes: int[n, num_true] -> int64[num_sampled], expected counts float32[n, num_true] of the
    true classes and float32[num_sampled] of the sampled ones. unique: no class is drawn twice.
    """
    top = np.log1p(range_max)

    def draw(stream, count):
        return (np.exp(stream.random(count) * top).astype(np.int64) - 1) % range_max

    def probability(k):
        return np.log((k + 2.0) / (k + 1.0)) / top

    return _sampled(draw, probability, true_classes, num_sampled, range_max, unique, run.stream(seed, seed2))


@op("UniformCandidateSampler", infer=_candidates, stateful=True, no_grad=_DRAWN)
def uniform(true_classes: Index, *, num_true, num_sampled, range_max, unique=True, seed=0, seed2=0, run):
    """Classes, all equally likely. Inputs and outputs are those of LogUniformCandidateSampler."""
    def draw(stream, count):
        return stream.integers(0, range_max, count)

    def probability(k):
        return np.full(np.shape(k), 1.0 / range_max)

    return _sampled(draw, probability, true_classes, num_sampled, range_max, unique, run.stream(seed, seed2))


def _sampled(draw, probability, true_classes, count, range_max, unique, stream):
    if unique and count > range_max:
        raise InvalidArgumentError(f"cannot draw {count} different classes of {range_max}")
    classes, tries = _different(draw, count, stream) if unique else (draw(stream, count), count)

    def expected(k):
        p = probability(k)
        return (p * count if tries == count else -np.expm1(tries * np.log1p(-p))).astype(np.float32)

    counts = expected(np.concatenate([true_classes.reshape(-1), classes]))
    return classes, counts[:true_classes.size].reshape(true_classes.shape), counts[true_classes.size:]


def _different(draw, count, stream):
    """So many classes, no two alike, and how many draws it took to come by them."""
    drawn = draw(stream, count).tolist()
    while len(classes := dict.fromkeys(drawn)) < count:
        drawn += draw(stream, len(drawn)).tolist()
    found = list(classes)[:count]
    return np.array(found, np.int64), drawn.index(found[-1]) + 1 if count else 0
