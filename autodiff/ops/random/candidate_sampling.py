"""Candidate samplers: a few classes drawn in place of all, and how often each was to be expected among them.

With a seed the classes are TensorFlow's. true_classes: int[n, num_true] -> classes int64[num_sampled], and expected
counts, of the true ones float32[n, num_true], of those that were drawn float32[num_sampled]. unique: none is drawn
twice. Classes are of 0 <= class < range_max.
"""

import functools
import os

import numpy as np

from ...core.declare import op
from ...core.dtypes import float32, int32, int64, variant
from ...core.errors import InvalidArgumentError, NotFoundError
from ...core.infer import rank_of
from ...core.op import Index, Spec
from ..common.batch_axis import shared
from . import philox

_DRAWN = "classes are drawn at random"


def _candidates(true_classes, *, num_true, num_sampled, **_):
    rank_of(true_classes, exactly=2, what="true_classes")
    rows = None if true_classes.dims is None else true_classes.dims[0]
    return Spec(int64, (num_sampled,)), Spec(float32, (rows, num_true)), Spec(float32, (num_sampled,))


@op("LogUniformCandidateSampler", infer=_candidates, stateful=True, no_grad=_DRAWN)
def log_uniform(true_classes: Index, *, num_true, num_sampled, range_max, unique=True, seed=0, seed2=0, run):
    """Classes, the first the likeliest: P(k) = log((k + 2) / (k + 1)) / log(range_max + 1)."""
    top = np.log1p(range_max)

    def draw(words, count):
        return (np.exp(philox.unit(words(2 * count), np.float64) * top).astype(np.int64) - 1) % range_max

    def probability(k):
        return np.log((k + 2.0) / (k + 1.0)) / top

    return _sampled(draw, probability, true_classes, (num_true, num_sampled), range_max, unique, run, (seed, seed2))


@op("UniformCandidateSampler", infer=_candidates, stateful=True, no_grad=_DRAWN)
def uniform(true_classes: Index, *, num_true, num_sampled, range_max, unique=True, seed=0, seed2=0, run):
    """Classes, all equally likely."""
    def draw(words, count):
        low, high = words(2 * count).astype(np.uint64).reshape(-1, 2).T
        return ((low | high << np.uint64(32)) % np.uint64(range_max)).astype(np.int64)

    def probability(k):
        return np.full(np.shape(k), 1.0 / range_max)

    return _sampled(draw, probability, true_classes, (num_true, num_sampled), range_max, unique, run, (seed, seed2))


@op("FixedUnigramCandidateSampler", infer=_candidates, stateful=True, no_grad=_DRAWN)
def fixed_unigram(true_classes: Index, *, num_true, num_sampled, range_max, unique=True, vocab_file="", distortion=1.0,
                  num_reserved_ids=0, num_shards=1, shard=0, unigrams=(), seed=0, seed2=0, run):
    """Classes as likely as their unigrams, to the power of distortion; those of a file are the last in each line.

    num_reserved_ids: so many classes stand before these, and are never drawn. num_shards, shard: of each num_shards
    unigrams only the one at `shard` has a class. Source: Walker (1977), the method of aliases.
    """
    if bool(vocab_file) == bool(len(unigrams)):
        raise InvalidArgumentError("Must provide either vocab_file or unigrams.", expected="one of them",
                                   found="both" if vocab_file else "none")
    of_file = _in_file(vocab_file, _changed(vocab_file)) if vocab_file else tuple(unigrams)
    weights, chances, others = _aliases(of_file, distortion, num_reserved_ids, num_shards, shard)
    if len(weights) != range_max:
        raise InvalidArgumentError(f"Check failed: range == weights_.size() ({range_max} vs. {len(weights)})",
                                   hint=f"range_max={len(weights)}: reserved ids, and a unigram for each other class")
    total = np.cumsum(weights)[-1]

    def draw(words, count):
        first, second = words(2 * count).reshape(-1, 2).T
        bucket = second % np.uint32(range_max)
        return np.where(philox.unit(first, np.float32) < chances[bucket], bucket, others[bucket]).astype(np.int64)

    def probability(k):
        return np.where(k < range_max, weights[np.minimum(k, range_max - 1)] / total, 0.0)

    return _sampled(draw, probability, true_classes, (num_true, num_sampled), range_max, unique, run, (seed, seed2))


@op("LearnedUnigramCandidateSampler", infer=_candidates, stateful=True, no_grad=_DRAWN)
def learned_unigram(true_classes: Index, *, num_true, num_sampled, range_max, unique=True, seed=0, seed2=0, run):
    """Classes as likely as they were true in the runs of the session before this one, and one time more."""
    place = run.handle(run.op.name, Spec(variant, ()))
    counts = run.read(place) if run.is_initialized(place) else np.ones(range_max, np.int64)
    below = np.cumsum(counts)

    def draw(words, count):
        return np.searchsorted(below, words(count) % np.uint32(below[-1]), "right")

    def probability(k):
        return counts[k] / np.float32(below[-1])

    found = _sampled(draw, probability, true_classes, (num_true, num_sampled), range_max, unique, run, (seed, seed2))
    run.assign(place, counts + np.bincount(true_classes.reshape(-1), minlength=range_max))
    return found


@op("AllCandidateSampler", infer=_candidates, stateful=True, no_grad=_DRAWN)
def all_candidates(true_classes: Index, *, num_true, num_sampled, unique=True, seed=0, seed2=0):
    """Every class once."""
    return (np.arange(num_sampled), np.ones((len(true_classes), num_true), np.float32),
            np.ones(num_sampled, np.float32))


def _hits(true_classes, sampled_candidates, *, num_true, seed=0, seed2=0):
    rank_of(true_classes, exactly=2, what="true_classes")
    rank_of(sampled_candidates, exactly=1, what="sampled_candidates")
    return Spec(int32, (None,)), Spec(int64, (None,)), Spec(float32, (None,))


@op("ComputeAccidentalHits", infer=_hits, no_grad="where classes are alike has no slope")
def accidental_hits(true_classes: Index, sampled_candidates: Index, *, num_true, seed=0, seed2=0):
    """Where a class that was drawn is a true one, and what to add to its logit.

    -> rows int32[k], places among those drawn int64[k], and the lowest float, float32[k].
    """
    rows, _, places = np.nonzero(true_classes[:, :, None] == sampled_candidates)
    return rows.astype(np.int32), places.astype(np.int64), np.full(len(rows), np.finfo(np.float32).min)


@accidental_hits.batched
def _(node, args, batched):
    shared(node, batched, *range(len(batched)))  # each slice would give a result of its own length


def _sampled(draw, probability, true_classes, sizes, range_max, unique, run, seeds):
    """draw: a function of a function that gives words, and a count of classes. sizes: num_true, num_sampled."""
    num_true, count = sizes
    if true_classes.shape[1] != num_true:
        raise InvalidArgumentError("true_classes must have num_true columns", expected=num_true,
                                   found=true_classes.shape[1])
    if unique and count > range_max:
        raise InvalidArgumentError("Sampler's range is too small.", expected=f"at most {range_max} different classes",
                                   found=f"num_sampled={count}")
    words = _words(run, seeds, count)
    classes, tries = _different(draw, count, words) if unique else (draw(words, count), count)

    def expected(k):
        p = np.float32(probability(k))
        return p * np.float32(count) if tries == count else -np.expm1(np.float32(tries) * np.log1p(-p))

    counts = expected(np.concatenate([true_classes.reshape(-1), classes]))
    return classes, counts[:true_classes.size].reshape(true_classes.shape), counts[true_classes.size:]


def _different(draw, count, words):
    """So many classes, no two alike, and how many draws it took to come by them."""
    drawn = draw(words, count).tolist()
    while len(classes := dict.fromkeys(drawn)) < count:
        drawn += draw(words, len(drawn)).tolist()
    found = list(classes)[:count]
    return np.array(found, np.int64), drawn.index(found[-1]) + 1 if count else 0


def _words(run, seeds, count):
    """A function that gives the next so many words of an op's stream, which keeps so many for `count` classes."""
    if not any(seeds):
        return lambda number: run.stream(*seeds).integers(0, philox.LOW, number, np.uint32, endpoint=True)
    stream, step = philox.stream_of(*seeds), 512 * count
    at, kept = run.place(step) + count, None

    def words(number):
        nonlocal at, kept
        if kept is None:  # the draw of every run, and another of as many, which classes that are to differ may need
            kept = philox.drawn(stream, at - count, count, step).ravel()
        more = -(-max(number - len(kept), 0) // 4)
        if more:
            kept, at = np.concatenate([kept, philox.blocks(stream, np.arange(at, at + more)).ravel()]), at + more
        found, kept = kept[:number], kept[number:]
        return found

    return words


def _changed(path):
    """When a file was written last, so that it is read again after that. Raises NotFoundError."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError as error:
        raise NotFoundError(f"{path}; {error.strerror}") from error


@functools.lru_cache(8)
def _in_file(path, changed):
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return tuple(float(line.rsplit(",", 1)[-1]) for line in file if line.strip())


@functools.lru_cache(8)
def _aliases(unigrams, distortion, reserved, shards, shard):
    """Of each class its weight; and of each of as many buckets the chance of its own class, and the other one in it."""
    reserved = len(range(shard, reserved, shards))
    ours = np.float32(unigrams)[(shard - reserved) % shards::shards]
    weights = np.concatenate([np.zeros(reserved, np.float32), ours ** np.float32(distortion)])
    chances = np.float64(weights) * len(weights) / np.cumsum(np.float64(weights))[-1]
    others = np.arange(len(weights))
    low, high = (np.flatnonzero(which).tolist() for which in (chances < 1.0, chances >= 1.0))
    while low and high:
        poor, rich = low.pop(), high.pop()
        others[poor] = rich
        chances[rich] -= 1.0 - chances[poor]
        (low if chances[rich] < 1.0 else high).append(rich)
    chances[low + high] = 1.0  # but for rounding
    return weights, np.float32(chances), others
