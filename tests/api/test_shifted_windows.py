"""Windows as shifted parts: against loops over all places."""

import itertools

import numpy as np
import pytest

import autodiff as tf

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
