"""Lists that loops write element by element: versions share their elements, and each reads as a copy would."""
import copy
import gc
import pickle
import random

import numpy as np
import pytest

import autodiff as tf
from autodiff.ops.control import shared_lists
from autodiff.ops.control.shared_lists import SharedList, put

pytestmark = pytest.mark.usefixtures("own_graph")


def test_each_version_reads_as_the_copy_it_stands_for(monkeypatch):
    monkeypatch.setattr(shared_lists, "LONG", 0)
    draw = random.Random(1)
    versions = [([None] * 4, [None] * 4)]
    for turn in range(300):
        shared, plain = draw.choice(versions[-3:] if turn % 7 else versions)  # mostly of the newest
        index, item = draw.randrange(len(plain) + (turn % 50 == 0)), draw.choice((None, turn))
        versions.append((put(shared, index, item), [*plain[:index], item, *plain[index + 1:]]))
    for shared, plain in versions[1:]:
        assert isinstance(shared, list) and list(shared) == plain == shared and plain == shared
        assert len(shared) == len(plain) and [shared[i] for i in range(-4, 4)] == [*plain[-4:], *plain[:4]]
        assert shared + [1] == [*plain, 1] and [1] + shared == [1, *plain] and [*reversed(shared)] == plain[::-1]
        assert shared[1:3] == plain[1:3] and repr(shared) == repr(plain) and (None in shared) == (None in plain)
        assert pickle.loads(pickle.dumps(shared)) == plain == copy.deepcopy(shared)
    with pytest.raises(IndexError):
        versions[-1][0][len(versions[-1][1])]


def test_an_index_that_is_written_again_and_again_holds_few_old_values(monkeypatch):
    monkeypatch.setattr(shared_lists, "LONG", 0)

    class Value:
        pass

    items = [None] * 3
    for _ in range(50):
        items = put(items, 1, Value())
    assert sum(type(thing) is Value for thing in gc.get_objects()) == sum(
        1 for value in _held(items) if type(value) is Value) <= 6


def _held(items):
    entry = items._entries[1]
    while entry is not None:
        yield entry[1]
        entry = entry[2]


def written_and_read():
    """Each element is written, the one before it read, and one of them in every iteration; one run ends early."""
    x = tf.placeholder(tf.float32, [None, 2])
    given = tf.TensorArray(tf.float32, tf.shape(x)[0], clear_after_read=False).unstack(x)
    array = tf.TensorArray(tf.float32, 1, dynamic_size=True, clear_after_read=False).write(0, x[0])

    def body(i, array):
        h = tf.tanh(array.read(i - 1) + given.read(i) * given.read(0))
        h = tf.cond(tf.reduce_sum(h) > 0.5, lambda: tf.sin(h), lambda: h * 0.5)
        return i + 1, array.write(i, h)

    def goes_on(i, array):
        return (i < 9) & (tf.reduce_sum(array.read(i - 1)) < 50)

    last = tf.while_loop(goes_on, body, [1, array])[1].stack()
    loss = tf.reduce_sum(last ** 2)
    first = tf.gradients(loss, x)[0]
    return x, [last, loss, first, tf.gradients(tf.reduce_sum(tf.sin(first)), x)[0]]


def test_loops_and_their_derivatives_are_the_same(monkeypatch):
    x, fetches = written_and_read()
    fed = np.random.default_rng(1).standard_normal((9, 2)).astype(np.float32)
    found = []
    for long in (128, 0):
        monkeypatch.setattr(shared_lists, "LONG", long)
        with tf.Session() as sess:
            for _ in range(3):  # interpreted, then compiled
                found.append(sess.run(fetches, {x: fed}))
    for values in found[1:]:
        for a, b in zip(found[0], values):
            np.testing.assert_array_equal(a, b)


def test_the_history_of_a_written_array_is_linear_in_its_length():
    steps = tf.placeholder(tf.int32, [])
    x = tf.Variable(0.5)

    def body(i, h, array):
        h = tf.sin(h + x)
        return i + 1, h, array.write(i, h)

    loop = tf.while_loop(lambda i, *_: i < steps, body, [0, x, tf.TensorArray(tf.float32, steps)])[2]
    tf.gradients(tf.reduce_sum(loop.stack()), x)
    [history] = [t for t in loop.flow.op.outputs if t.dtype.name == "variant"][-1:]
    versions = tf.Session()
    versions.run(tf.global_variables_initializer())
    lists = versions.run(history, {steps: 400})
    assert len(lists) == 400 and [sum(item is not None for item in version) for version in lists] == [*range(400)]
    shared = {id(version._entries) for version in lists if type(version) is SharedList}
    assert len(shared) == 1 and sum(type(version) is SharedList for version in lists) == 399
