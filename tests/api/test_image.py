"""Images: numbers of TensorFlow 1.15, adjoints of the resizing maps, sizes that are known late, and refusals."""

from typing import Any

import numpy as np
import pytest

import autodiff as tf

X = np.array([[0.0, 3, 1], [7, 2, 5]], np.float32).reshape(1, 2, 3, 1)
COLORS = np.array([[[0.2, 0.4, 0.9], [0.7, 0.1, 0.3]]], np.float32)

# method, align_corners, X resized to 3 by 4, gradient of the sum of squares; by TensorFlow 1.15.5
RESIZED = [
    (0, False, [0, 2.25, 2, 1, 4.66667, 2.91667, 3, 3.66667, 7, 3.25, 3.5, 5],
     [4.7222, 7.8333, 7.4444, 22.8194, 13.2917, 20.3889]),
    (0, True, [0, 2, 2.33333, 1, 3.5, 2.83333, 2.66667, 3, 7, 3.66667, 3, 5],
     [5.7778, 9.4444, 7.4444, 20.8889, 12.5556, 15.8889]),
    (1, False, [0, 0, 3, 1, 0, 0, 3, 1, 7, 7, 2, 5], [0, 12, 4, 28, 4, 10]),
    (1, True, [0, 3, 3, 1, 7, 2, 2, 5, 7, 2, 2, 5], [0, 12, 2, 28, 16, 20]),
    (2, False, [0, 2.53125, 2.28125, 0.78906, 4.79876, 2.72674, 2.7954, 3.89273, 7.77778, 2.84809, 3.11458, 5.81944],
     [2.1541, 8.4541, 5.1876, 25.1362, 13.3069, 24.5113]),
    (3, False, [0, 2, 2.33333, 1, 3.5, 2.83333, 2.66667, 3, 7, 3.66667, 3, 5], None),
]
ADJUSTED = [
    ("rgb_to_hsv", (), [0.61905, 0.77778, 0.9, 0.94444, 0.85714, 0.7]),
    ("hsv_to_rgb", (), [0.828, 0.9, 0.54, 0.276, 0.27, 0.3]),
    ("adjust_hue", (0.3,), [0.9, 0.2, 0.54, 0.42, 0.7, 0.1]),
    ("adjust_saturation", (0.5,), [0.55, 0.65, 0.9, 0.7, 0.4, 0.5]),
    ("adjust_contrast", (2.0,), [-0.05, 0.55, 1.2, 0.95, -0.05, 0.0]),
    ("rgb_to_grayscale", (), [0.39718, 0.30213]),
    ("per_image_standardization", (), [-0.57155, -0.08165, 1.1431, 0.6532, -0.8165, -0.3266]),
    ("total_variation", (), [1.4]),
]


def run(fetches: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetches)


@pytest.mark.parametrize(("method", "align_corners", "values", "gradient"), RESIZED)
def test_resizing_gives_the_numbers_of_tensorflow(method: int, align_corners: bool, values: list[float],
                                                  gradient: list[float] | None) -> None:
    x = tf.constant(X)
    y = tf.image.resize_images(x, [3, 4], method, align_corners)
    np.testing.assert_allclose(run(y).ravel(), values, atol=1e-5)
    if gradient is None:
        with pytest.raises(LookupError, match="ResizeArea"):
            tf.gradients(y, x)
    else:
        np.testing.assert_allclose(run(tf.gradients(y * y, x)[0]).ravel(), gradient, atol=1e-4)


@pytest.mark.parametrize(("name", "arguments", "values"), ADJUSTED)
def test_colors_have_the_numbers_of_tensorflow(name: str, arguments: tuple[float, ...], values: list[float]) -> None:
    np.testing.assert_allclose(run(getattr(tf.image, name)(COLORS, *arguments)).ravel(), values, atol=1e-5)


@pytest.mark.parametrize("attrs", [{}, {"align_corners": True}, {"half_pixel_centers": True}], ids=str)
@pytest.mark.parametrize("size", [(7, 11), (2, 3), (1, 1)])
@pytest.mark.parametrize("name", ["resize_bilinear", "resize_nearest_neighbor", "resize_bicubic"])
def test_the_gradient_is_the_adjoint_and_its_gradient_the_map(name: str, size: tuple[int, int],
                                                              attrs: dict[str, bool]) -> None:
    generator = np.random.default_rng(0)
    x = tf.constant(generator.normal(size=(2, 5, 6, 3)).astype(np.float32))
    dy = tf.constant(generator.normal(size=(2, *size, 3)).astype(np.float32))
    y = getattr(tf.image, name)(x, list(size), **attrs)
    dx = tf.gradients(y, x, grad_ys=dy)[0]
    back = tf.gradients(dx, dy, grad_ys=x)[0]
    there, back_there, once, again = run([tf.reduce_sum(y * dy), tf.reduce_sum(x * dx), y, back])
    np.testing.assert_allclose(there, back_there, rtol=1e-4, atol=1e-4)  # sums of float32 in two orders
    np.testing.assert_allclose(once, again, rtol=1e-5, atol=1e-6)


def test_a_nan_stays_where_it_is_seen() -> None:
    x = np.zeros((1, 4, 4, 1), np.float32)
    x[0, 0, 0] = np.nan
    assert np.isnan(run(tf.image.resize_bilinear(x, [8, 8]))).sum() == 4


def test_sizes_known_late_give_the_same() -> None:
    x = np.arange(90, dtype=np.float32).reshape(5, 6, 3)
    late = tf.placeholder_with_default(x, [None, None, 3])
    for function in (lambda x: tf.image.resize_image_with_crop_or_pad(x, 3, 9),
                     lambda x: tf.image.resize_image_with_pad(x, 4, 9), lambda x: tf.image.central_crop(x, 0.5),
                     lambda x: tf.image.resize_images(x, [9, 9], preserve_aspect_ratio=True)):
        now, then = run([function(tf.constant(x)), function(late)])
        np.testing.assert_array_equal(now, then)


def test_turns_and_mirrors() -> None:
    x = np.arange(12, dtype=np.int32).reshape(2, 3, 2)
    for k in range(4):
        wanted = np.rot90(x, k)
        given = [tf.image.rot90(x, k), tf.image.rot90(x[None], k)[0], tf.image.rot90(x, tf.constant(k) + 0)]
        for found in run(given):
            np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(run(tf.image.flip_left_right(x)), x[:, ::-1])
    np.testing.assert_array_equal(run(tf.image.flip_up_down(x[None])), x[::-1][None])
    np.testing.assert_array_equal(run(tf.image.transpose_image(x)), x.swapaxes(0, 1))


def test_random_flips_give_the_image_or_its_mirror() -> None:
    x = np.arange(16 * 6, dtype=np.float32).reshape(16, 2, 3, 1)
    flipped = run(tf.image.random_flip_left_right(x, seed=1))
    mirrored = [bool((y == z[:, ::-1]).all()) for y, z in zip(flipped, x)]
    assert all(m or (y == z).all() for m, y, z in zip(mirrored, flipped, x))
    assert 0 < sum(mirrored) < 16


def test_element_types_are_scaled() -> None:
    bytes_ = np.array([[[0, 51, 255]]], np.uint8)
    floats = run(tf.image.convert_image_dtype(bytes_, tf.float32))
    np.testing.assert_allclose(floats.ravel(), [0, 0.2, 1])
    np.testing.assert_array_equal(run(tf.image.convert_image_dtype(floats, tf.uint8)), bytes_)
    assert run(tf.image.adjust_brightness(bytes_, 0.5)).ravel().tolist() == [127, 178, 255]


@pytest.mark.parametrize("call", [
    lambda: tf.image.resize_images(X[0, 0], [3, 4]),
    lambda: tf.image.resize_images(X, [3]),
    lambda: tf.image.resize_images(X, [3, 4], 9),
    lambda: tf.image.crop_to_bounding_box(X, 0, 0, 3, 3),
    lambda: tf.image.pad_to_bounding_box(X, 1, 0, 2, 3),
    lambda: tf.image.central_crop(X, 1.5),
    lambda: tf.image.random_hue(COLORS, 0.6),
    lambda: tf.image.random_contrast(COLORS, 0.8, 0.2),
    lambda: tf.image.grayscale_to_rgb(COLORS),
])
def test_what_does_not_fit_is_refused_when_built(call: Any) -> None:
    with pytest.raises(ValueError, match="expected|must|max_delta|should|not implemented"):
        call()


def test_a_crop_that_does_not_fit_is_refused_when_run() -> None:
    late = tf.placeholder_with_default(X, [1, None, None, 1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="height must be >= target [+] offset"):
        run(tf.image.crop_to_bounding_box(late, 0, 0, 3, 3))


def test_images_of_unknown_size_are_compared_in_the_run() -> None:
    tf.reset_default_graph()
    a, b = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [None, None, 1])
    ratio = tf.image.psnr(a, b, 1.0)
    with tf.Session() as session:
        assert session.run(ratio, {a: np.zeros((2, 2, 1)), b: np.full((2, 2, 1), 0.1)}) == pytest.approx(20, rel=1e-5)
        with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
            session.run(ratio, {a: np.zeros((2, 1, 1)), b: np.zeros((2, 2, 1))})  # would be broadcast
    assert tf.image.flip_left_right(a).shape.as_list() == [None] * 3
