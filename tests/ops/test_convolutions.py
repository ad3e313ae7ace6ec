"""Convolutions at sizes where they are done some images at a time, by wide products."""

import itertools
from typing import Any

import numpy as np
import pytest

import autodiff as tf

IMAGE = (7, 9)
PADS = ("SAME", "VALID", [(0, 0), (1, 2), (3, 0), (0, 0)], [(0, 0), (0, 0), (5, 6), (0, 0)])


@pytest.mark.parametrize(("window", "strides", "dilations", "padding"), [
    *itertools.product([(3, 4), (1, 3), (5, 1)], [(1, 1), (2, 1), (1, 2)], [(1, 1)], PADS),
    *itertools.product([(3, 4), (1, 3)], [(1, 1)], [(2, 1), (1, 2)], PADS),
    ((3, 9), (1, 1), (1, 1), "VALID"), ((2, 9), (2, 3), (2, 1), "VALID"), ((7, 9), (1, 1), (1, 1), "VALID")])
@pytest.mark.parametrize(("images", "channels"), [(3, 17), (40, 2), (300, 8)])
def test_both_gradients_are_adjoint(images: int, channels: int, window: Any, strides: Any, dilations: Any,
                                    padding: Any) -> None:
    tf.reset_default_graph()
    rng = np.random.default_rng(0)
    x = tf.constant(rng.standard_normal((images, *IMAGE, channels)))
    w = tf.constant(rng.standard_normal((*window, channels, 4)))
    y = tf.nn.conv2d(x, w, strides=[1, *strides, 1], padding=padding, dilations=[1, *dilations, 1])
    dy = tf.constant(rng.standard_normal([*map(int, y.shape)]))
    dx, dw = tf.gradients(y, [x, w], grad_ys=dy)
    along_y, along_x, along_w = tf.Session().run([tf.reduce_sum(a * b) for a, b in ((y, dy), (x, dx), (w, dw))])
    np.testing.assert_allclose([along_x, along_w], along_y, rtol=1e-9, atol=1e-9)


def test_layers_have_strides_or_dilations() -> None:
    x, w = tf.ones([1, 7, 7, 2]), tf.ones([3, 3, 2, 4])
    for refused in (lambda: tf.nn.convolution(x, w, "SAME", strides=[2, 2], dilation_rate=[2, 2]),
                    lambda: tf.layers.conv2d(x, 4, 3, strides=2, dilation_rate=(1, 2))):
        with pytest.raises(ValueError):
            refused()
    assert tf.nn.conv2d(x, w, 2, "SAME", dilations=2).shape.as_list() == [1, 4, 4, 4]


def test_windows_as_wide_as_the_image_give_what_any_give() -> None:
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((2, 6, 5, 3)), rng.standard_normal((2, 5, 3, 4))
    y = tf.Session().run(tf.nn.conv2d(tf.constant(x), tf.constant(w), [1, 2, 1, 1], "VALID"))
    expected = np.stack([np.tensordot(x[:, i:i + 2], w, 3) for i in (0, 2, 4)], 1)[:, :, None]
    np.testing.assert_allclose(y, expected, rtol=1e-12)


def test_an_empty_batch_of_images_as_wide_as_windows_has_gradients() -> None:
    tf.reset_default_graph()
    x, w = tf.zeros([0, 6, 5, 3]), tf.ones([2, 5, 3, 4])
    y = tf.nn.conv2d(x, w, [1, 2, 1, 1], "VALID")
    dx, dw = tf.Session().run(tf.gradients(y, [x, w]))
    assert dx.shape == (0, 6, 5, 3) and dw.shape == w.shape and not dw.any()
