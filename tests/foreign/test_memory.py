"""Memory of PyTorch's tensors: what views of one storage hold after writes to others, beside NumPy's own views."""

import numpy as np
import pytest

import autodiff as tf

from .mini_torch import Tensor, installed

VIEWS = [np.s_[:, 1], np.s_[2], np.s_[:, 0:2], np.s_[:, 2:4], np.s_[1:3, 2:5], np.s_[::2], np.s_[:, 1::2], np.s_[:]]


@pytest.fixture
def memory():
    """A base of 4 by 6 in memory that is followed, and a function that gives a view of it."""
    with installed("autodiff.foreign.torch"), tf.Graph().as_default():
        from autodiff.foreign.torch.memory import Memory
        base, found = Tensor(np.arange(24, dtype=np.float32).reshape(4, 6)), Memory(None)
        found.give(base, tf.zeros([4, 6]))
        found.write(base, tf.constant(base.array.copy()))
        yield found, base, lambda at: Tensor(base.array[at], base.storage)


def written(found, view, value):
    found.write(view, tf.fill(list(view.shape), np.float32(value)))
    view.array[...] = value


@pytest.mark.parametrize("seed", range(12))
def test_views_hold_what_numpy_says(memory, seed):
    (found, base, view), draw, session = memory, np.random.default_rng(seed), tf.Session()
    known = [view(at) for at in VIEWS]
    for value in range(40, 40 + draw.integers(2, 60)):
        written(found, known[draw.integers(len(known))] if draw.random() < 0.5 else view(
            VIEWS[draw.integers(len(VIEWS))]), value)
        for tensor in (known[draw.integers(len(known))], base)[:draw.integers(3)]:
            assert (session.run(found.of(tensor)) == tensor.array).all()
    for tensor in (*known, base):
        assert (session.run(found.of(tensor)) == tensor.array).all()


def test_parts_that_nobody_reads_whole_are_kept_apart(memory):
    found, base, view = memory
    parts = [view(np.s_[:, i:i + 2]) for i in (0, 2, 4)]
    for i, part in enumerate(parts):
        written(found, part, 1.0 + i)
    assert all((tf.Session().run(found.of(part)) == part.array).all() for part in parts)

    def count():
        return sum(op.type == "TensorScatterUpdate" for op in tf.get_default_graph().get_operations())
    assert count() == 0
    assert (tf.Session().run(found.of(base)) == base.array).all() and count() == 1


class Open(np.int64):
    """A size that may be another one: nothing is looked up by it."""

    __hash__ = None


def test_views_whose_sizes_are_open_are_followed_too(memory):
    found, base, view = memory
    rows, column, other = view(np.s_[:]), view(np.s_[:, 1]), view(np.s_[:, 3])
    for tensor in (rows, column):
        tensor.stride = lambda of=tensor: tuple(Open(n) for n in Tensor.stride(of))
    found.of(rows)
    for value, tensor in enumerate((base, column, other, column)):
        written(found, tensor, float(value))
        assert all((tf.Session().run(found.of(each)) == each.array).all() for each in (rows, column, other))
