"""Windows as shifted parts: against loops over all places."""

import itertools

import numpy as np
import pytest

import autodiff as tf
from autodiff.tensorflow_names.python.ops import reduced_shape

RNG = np.random.default_rng(0)


def windows(x, sizes, strides, rates, same):
    """Each place with its window: the elements that are in the image, and where in the window they are."""
    reach = [(k - 1) * r + 1 for k, r in zip(sizes, rates)]
    space = x.shape[1:-1]
    counts = [-(-n // s) if same else -(-(n - r + 1) // s) for n, s, r in zip(space, strides, reach)]
    before = [max((c - 1) * s + r - n, 0) // 2 if same else 0 for c, s, r, n in zip(counts, strides, reach, space)]
    for place in np.ndindex(*counts):
        found = {}
        for at in np.ndindex(*sizes):
            i = tuple(p * s - b + a * r for p, s, b, a, r in zip(place, strides, before, at, rates))
            if all(0 <= k < n for k, n in zip(i, space)):
                found[at] = x[(slice(None), *i)]
        yield counts, place, found


def by_hand(x, sizes, strides, rates, same, of_window):
    pieces = [of_window(found) for _, _, found in windows(x, sizes, strides, rates, same)]
    counts = next(windows(x, sizes, strides, rates, same))[0]
    return np.stack(pieces, 1).reshape(len(x), *counts, -1)


@pytest.mark.parametrize(("kind", "padding"), [*itertools.product(("MAX", "AVG"), ("SAME", "VALID"))])
def test_windows_with_holes_are_pooled_over_what_they_have(kind, padding):
    x = RNG.normal(size=(2, 6, 5, 3))
    take = np.max if kind == "MAX" else np.mean
    expected = by_hand(x, (2, 3), (1, 1), (2, 1), padding == "SAME", lambda found: take([*found.values()], axis=0))
    found = tf.nn.pool(x, [2, 3], kind, padding, dilation_rate=[2, 1])
    turned = tf.nn.pool(np.moveaxis(x, -1, 1), [2, 3], kind, padding, dilation_rate=[2, 1], data_format="NCHW")
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(found), expected)
        np.testing.assert_allclose(np.moveaxis(session.run(turned), 1, -1), expected)
    with pytest.raises(ValueError, match="not supported in conjunction with dilation_rate"):
        tf.nn.pool(x, [2, 3], kind, padding, dilation_rate=[2, 1], strides=[2, 2])


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_dilation_and_erosion_are_the_largest_sum_and_the_least_difference(padding):
    x, kernel = RNG.normal(size=(1, 6, 5, 2)), RNG.normal(size=(2, 2, 2))
    options = {"strides": [1, 2, 1, 1], "rates": [1, 1, 2, 1], "padding": padding}
    dilated, eroded = tf.nn.dilation2d(x, kernel, **options), tf.nn.erosion2d(x, kernel, **options)
    arguments = (2, 2), (2, 1), (1, 2), padding == "SAME"
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(dilated), by_hand(x, *arguments, lambda found: np.max(
            [v + kernel[at] for at, v in found.items()], axis=0)))
        np.testing.assert_allclose(session.run(eroded), by_hand(x, *arguments, lambda found: np.min(
            [v - kernel[1 - at[0], 1 - at[1]] for at, v in found.items()], axis=0)))
        given = tf.constant(x)
        assert tf.test.compute_gradient_error(given, x.shape, tf.nn.dilation2d(given, kernel, **options),
                                              dilated.shape.as_list(), x_init_value=x) < 1e-6
    with pytest.raises(ValueError, match="known sizes"):
        tf.nn.dilation2d(x, tf.placeholder(tf.float64), **options)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_patches_of_volumes_are_windows_as_channels(padding):
    x = RNG.normal(size=(2, 4, 3, 5, 2))
    found = tf.extract_volume_patches(x, [1, 2, 1, 2, 1], [1, 1, 2, 2, 1], padding)

    def flat(found):
        return np.concatenate([found.get(at, np.zeros((2, 2))) for at in np.ndindex(2, 1, 2)], -1)

    with tf.Session() as session:
        np.testing.assert_allclose(session.run(found), by_hand(x, (2, 1, 2), (1, 2, 2), (1, 1, 1), padding == "SAME",
                                                               flat))


def test_windows_over_channels_take_the_largest_of_each_group() -> None:
    x = tf.constant(np.arange(8.0).reshape(1, 1, 2, 4))
    y = tf.nn.max_pool(x, [1, 1, 1, 2], [1, 1, 1, 2], "SAME")
    with tf.Session() as session:
        values, slopes = session.run([y, tf.gradients(y, x)[0]])
    assert values.ravel().tolist() == [1, 3, 5, 7] and slopes.ravel().tolist() == [0, 1] * 4
    for ksize, strides, says in (([1, 2, 1, 2], [1, 1, 1, 2], "exactly one of"), ([1, 1, 1, 2], [1] * 4, "equal the"),
                                 ([1, 1, 1, 3], [1, 1, 1, 3], "evenly divide")):
        with pytest.raises(tf.errors.UnimplementedError, match=says):
            tf.nn.max_pool(x, ksize, strides, "VALID")


def test_blocks_of_unknown_shape_keep_the_rank_and_what_is_behind() -> None:
    images, edges = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    assert tf.space_to_batch(images, edges, 4).shape.ndims == tf.batch_to_space(images, edges, 4).shape.ndims == 4
    known, blocks = tf.placeholder(tf.float32, [1, 4, 4, 2]), tf.placeholder(tf.int32, [2])
    assert tf.space_to_batch_nd(known, blocks, edges).shape.as_list() == [None, None, None, 2]
    with pytest.raises(ValueError, match="non-negative"):
        tf.space_to_batch_nd(known, [2, 2], [[0, -2], [0, 0]])
    assert tf.space_to_batch_nd([[1.0]], np.zeros(0), np.zeros((0, 2))).shape.as_list() == [1, 1]


def test_the_shape_that_a_reduction_leaves() -> None:
    with tf.Session() as session:
        assert session.run(reduced_shape([3, 4, 5], [0, -1])).tolist() == [1, 4, 1]
