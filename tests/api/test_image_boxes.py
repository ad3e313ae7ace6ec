"""Crops and likeness of images: gradients by central differences, values of TensorFlow 1.15.5 or of definitions."""

from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.op import OPS

RNG = np.random.default_rng(4)
IMAGES = RNG.uniform(size=(2, 5, 6, 3)).astype(np.float32)
BOXES = np.array([[0.1, 0.23, 0.8, 0.9], [0.93, 0.83, 0.12, 0.27], [-0.3, 0.1, 1.2, 0.7]], np.float32)  # off pixels
OF = np.array([0, 1, 1], np.int32)


pytestmark = pytest.mark.usefixtures("own_graph")


def run(fetched: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetched)


def test_a_whole_image_in_its_own_size_is_itself() -> None:
    crop = tf.image.crop_and_resize(IMAGES, [[0.0, 0.0, 1.0, 1.0]], [1], [5, 6])
    np.testing.assert_allclose(run(crop)[0], IMAGES[1], rtol=1e-6)


def test_what_is_outside_has_the_value_that_is_given() -> None:
    crop = run(tf.image.crop_and_resize(IMAGES, [[-1.0, 0.0, 1.0, 1.0]], box_indices=[0], crop_size=[3, 2],
                                        extrapolation_value=9))
    assert (crop[0, 0] == 9).all() and (crop[0, 1:] < 2).all()


@pytest.mark.parametrize("size", [(4, 3), (1, 1), (1, 4)])
def test_gradients_of_a_crop_are_central_differences(size: tuple[int, int]) -> None:
    weights = RNG.normal(size=(3, *size, 3)).astype(np.float32)

    def total(image: np.ndarray, boxes: np.ndarray) -> float:
        crop = OPS["CropAndResize"].kernel(image, boxes.astype(np.float32), OF, np.array(size))
        return float((crop.astype(np.float64) * weights).sum())

    image, boxes = tf.constant(IMAGES), tf.constant(BOXES)
    loss = tf.reduce_sum(tf.image.crop_and_resize(image, boxes, OF, size) * weights)
    by_image, by_boxes = run(tf.gradients(loss, [image, boxes]))
    h = 2.0**-7  # float32 keeps six digits: what is linear in it loses none to a large step
    for place in ((0, 1, 2, 0), (1, 2, 3, 1), (1, 4, 4, 2)):
        change = np.zeros_like(IMAGES)
        change[place] = 1
        slope = total(IMAGES + change, BOXES) - total(IMAGES - change, BOXES)
        np.testing.assert_allclose(by_image[place], slope / 2, rtol=1e-3, atol=1e-4)
    for place in ((0, 0), (0, 3), (1, 1), (1, 2)):
        change = np.zeros_like(BOXES)
        change[place] = h / 8
        slope = (total(IMAGES, BOXES + change) - total(IMAGES, BOXES - change)) / (h / 4)
        np.testing.assert_allclose(by_boxes[place], slope, rtol=2e-2, atol=2e-2)  # differences of float32 sums


def test_the_gradient_for_the_image_differentiates_again() -> None:
    image = tf.constant(IMAGES)
    slope, = tf.gradients(tf.image.crop_and_resize(image, BOXES, OF, [4, 3]) ** 2.0, image)
    twice, = tf.gradients(slope * slope[::-1], image)
    plain = OPS["CropAndResize"].kernel
    back = OPS["CropAndResizeGradImage"].kernel

    def through(x: np.ndarray) -> np.ndarray:
        return 2 * back(plain(x, BOXES, OF, np.array([4, 3])), BOXES, OF, np.array(x.shape), T="float32")

    np.testing.assert_allclose(run(twice), through(2 * through(IMAGES)[::-1]), rtol=1e-4, atol=1e-5)


def test_equal_images_are_alike() -> None:
    a = RNG.uniform(size=(2, 20, 23, 3))
    assert run(tf.image.psnr(a, a, 1.0)).tolist() == [np.inf, np.inf]
    np.testing.assert_allclose(run(tf.image.ssim(tf.constant(a), tf.constant(a), 1.0)), [1, 1])


def test_psnr_is_by_the_mean_square() -> None:
    a, b = RNG.uniform(size=(2, 2, 8, 9, 3))
    expected = 10 * np.log10(1 / ((a - b) ** 2).mean(axis=(1, 2, 3)))
    np.testing.assert_allclose(run(tf.image.psnr(a, b, 1.0)), expected, rtol=1e-5)
    whole = [(255 * x).astype(np.uint8) for x in (a, b)]
    expected = 10 * np.log10(255**2 / ((1.0 * whole[0] - whole[1]) ** 2).mean(axis=(1, 2, 3)))
    np.testing.assert_allclose(run(tf.image.psnr(*whole, 255)), expected, rtol=1e-4)


def test_ssim_is_the_mean_over_windows() -> None:
    a, b = RNG.uniform(size=(2, 13, 12, 1))
    places = np.exp(-0.5 * ((np.arange(11) - 5) / 1.5) ** 2)
    weights = np.outer(places, places) / np.outer(places, places).sum()
    values = []
    for i in range(3):
        for j in range(2):
            x, y = a[i:i + 11, j:j + 11, 0], b[i:i + 11, j:j + 11, 0]
            mx, my = (weights * x).sum(), (weights * y).sum()
            sx, sy, sxy = ((weights * p).sum() - q for p, q in ((x * x, mx * mx), (y * y, my * my), (x * y, mx * my)))
            values.append((2 * mx * my + 1e-4) * (2 * sxy + 9e-4) / ((mx**2 + my**2 + 1e-4) * (sx + sy + 9e-4)))
    np.testing.assert_allclose(run(tf.image.ssim(tf.constant(a), tf.constant(b), 1.0)), np.mean(values), rtol=1e-5)


def test_small_images_have_no_likeness_over_windows() -> None:
    a = tf.constant(RNG.uniform(size=(8, 8, 1)))
    with pytest.raises(ValueError):
        tf.image.ssim(a, a, 1.0)
    with pytest.raises(ValueError, match="not compatible"):
        tf.image.psnr(a, a[:4], 1.0)


def test_likeness_over_scales_of_equal_images_is_1_and_falls_with_noise() -> None:
    a = RNG.uniform(size=(1, 40, 41, 1))
    equal, noisy = (tf.image.ssim_multiscale(tf.constant(a), tf.constant(b), 1.0, (0.4, 0.6))
                    for b in (a, a + 0.1 * RNG.normal(size=a.shape)))
    assert run(equal).tolist() == pytest.approx([1.0])
    assert 0.5 < run(noisy)[0] < 0.99


def test_slopes_of_images() -> None:
    x = tf.constant(IMAGES)
    down, across = run(tf.image.image_gradients(x))
    np.testing.assert_array_equal(down[:, :-1], IMAGES[:, 1:] - IMAGES[:, :-1])
    np.testing.assert_array_equal(across[:, :, :-1], IMAGES[:, :, 1:] - IMAGES[:, :, :-1])
    assert not down[:, -1].any() and not across[:, :, -1].any()
    edges = run(tf.image.sobel_edges(x))
    middle = IMAGES[:, 2] + 0.0
    expected = (middle[:, 3] - middle[:, 1]) * 2 + IMAGES[:, 1, 3] - IMAGES[:, 1, 1] + IMAGES[:, 3, 3] - IMAGES[:, 3, 1]
    np.testing.assert_allclose(edges[:, 2, 2, :, 1], expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError):
        tf.image.image_gradients(x[0])


def test_windows_become_channels_row_by_row() -> None:
    patches = run(tf.image.extract_patches(IMAGES, [1, 2, 2, 1], [1, 3, 3, 1], [1, 1, 1, 1], "VALID"))
    np.testing.assert_array_equal(patches[1, 1, 1], IMAGES[1, 3:5, 3:5].ravel())


def test_other_colors_and_back() -> None:
    for there, back in ((tf.image.rgb_to_yuv, tf.image.yuv_to_rgb), (tf.image.rgb_to_yiq, tf.image.yiq_to_rgb)):
        turned = there(IMAGES)
        np.testing.assert_allclose(run(turned)[..., 0], IMAGES @ np.float32([0.299, 0.587, 0.114]), rtol=1e-5)
        np.testing.assert_allclose(run(back(turned)), IMAGES, atol=1e-3)  # the constants have few digits


def test_gamma_keeps_the_type() -> None:
    np.testing.assert_allclose(run(tf.image.adjust_gamma(IMAGES, 0.5, 2.0)), 2 * np.sqrt(IMAGES), rtol=1e-6)
    assert run(tf.image.adjust_gamma(np.array([[[64, 128, 255]]], np.uint8), 2.0)).tolist() == [[[16, 64, 255]]]
    with pytest.raises(ValueError):
        tf.image.adjust_gamma(IMAGES, -1.0)
