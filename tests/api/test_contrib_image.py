"""tf.contrib.image: pixels, and slopes of their sum, as TensorFlow 1.15.5 has them."""

from typing import Any

import numpy as np
import pytest

import autodiff as tf

pytestmark = pytest.mark.usefixtures("own_graph")
image = tf.contrib.image
BENT = [1.1, 0.2, -1.0, 0.1, 0.9, 0.3, 0.01, -0.02]
CASES: dict[str, Any] = {
    "turned": (lambda x: image.rotate(x, [0.5, -1.2], "BILINEAR")[0],
               [0.28, 0.02, -0.102, 0.336, 0.523, 0.363, 0.496, 0.114, -0.404, -0.416, -0.775, -0.224],
               [0.704, 1.0, 0.883, 0.403, 1.0, 1.0, 1.0, 1.0, 0.403, 0.883, 1.0, 0.704]),
    "nearest": (lambda x: image.rotate(x[0, :, :, 0], 0.8),
                [0.0, -0.416, 0.754, 0.754, 1.0, 0.284, 0.96, 0.004, -0.654, -0.654, -0.911, 0.0],
                [1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1]),
    "moved": (lambda x: image.translate(x, [[0.25, 1.5], [-2.5, 0.0]], "BILINEAR")[1],
              [-0.311, -0.38, 0, 0, 0.825, 0.494, 0, 0, -0.766, -0.266, 0, 0],
              [0, 0, 0.5, 1, 0, 0, 0.5, 1, 0, 0, 0.5, 1]),
    "bent": (lambda x: image.transform(x, BENT, "bilinear", output_shape=[3, 3])[1],
             [0.0, 0.161, 0.339, -0.12, -0.479, -0.232, 0.124, -0.062, -0.545],
             [0.557, 0.45, 0.026, 0.0, 1.0, 1.0, 0.333, 0.0, 1.0, 1.0, 0.578, 0.0]),
    "ints": (lambda x: image.rotate(tf.cast(x * 10, tf.int32), 0.7, "BILINEAR")[0],
             [1, -1, 1, 3, 7, 3, 2, -2, -1, -3, -7, -2], None)}


def run(fetches: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetches)


@pytest.mark.parametrize("case", CASES)
def test_images_are_transformed(case: str) -> None:
    build, pixels, slopes = CASES[case]
    x = tf.constant(np.cos(np.arange(24.0)).reshape(2, 3, 4, 1), tf.float32)
    y = build(x)
    np.testing.assert_allclose(run(y).ravel(), pixels, atol=1e-3)
    slope = tf.gradients(y, x)[0]
    assert (slope is None) == (slopes is None)
    if slopes is not None:
        np.testing.assert_allclose(run(slope)[int(case in ("moved", "bent"))].ravel(), slopes, atol=1e-3)


def test_transforms_are_composed() -> None:
    composed = image.compose_transforms([1, 0.2, -1, 0.1, 0.9, 0.3, -0.1, 0.0], [1, 0, 2, 0, 1, 3, 0, 0.5])
    np.testing.assert_allclose(run(composed), [[1.25, -0.375, 2, 0.125, 1.3125, 4, -0.125, 0.625]], 1e-5)
    nothing = image.transform(tf.ones([1, 2, 2, 1]), [1, 0, 0, 0, 1, 0, -1, 0])  # k is 0 in the second column
    assert run(nothing).ravel().tolist() == [1, 0, 1, 0]


def test_what_transforms_refuse() -> None:
    x = tf.zeros([1, 2, 2, 1])
    for error, words, build in (
            (TypeError, "Images should have rank between 2 and 4.", lambda: image.rotate(tf.zeros([3]), 1.0)),
            (TypeError, "Invalid dtype <dtype: 'bool'>.", lambda: image.rotate(tf.zeros([3, 3], tf.bool), 1.0)),
            (TypeError, "rank must be statically known", lambda: image.rotate(tf.placeholder(tf.float32), 1.0)),
            (TypeError, "Angles should have rank 0 or 1.", lambda: image.rotate(x, [[1.0]])),
            (TypeError, "Translations should have rank 1 or 2.", lambda: image.translate(x, 1.0)),
            (ValueError, "output_shape must be a 1-D Tensor", lambda: image.transform(x, BENT, output_shape=[1, 2, 3])),
            (ValueError, "Invalid interpolation CUBIC", lambda: image.transform(x, BENT, "CUBIC"))):
        with pytest.raises(error, match=words):
            build()
