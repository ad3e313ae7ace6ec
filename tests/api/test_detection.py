"""Boxes and pictures: numbers of TensorFlow 1.15.5, or what PNG's definition says."""

import struct
import zlib
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.image.resizing import resize_image_with_pad_v2, resize_images_v2
from autodiff.core.op import build
from autodiff.files.media import read_png, write_png

BOXES = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1],
                  [0, 100, 1, 101]], np.float32)
SCORES = np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3], np.float32)
IMAGE = (np.arange(30) % 7).reshape(1, 5, 6, 1).astype(np.float32)
RNG = np.random.default_rng(3)


pytestmark = pytest.mark.usefixtures("own_graph")


def run(fetched: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        return session.run(fetched, feeds)


def test_the_best_of_boxes_that_overlap_is_kept() -> None:
    assert run(tf.image.non_max_suppression(BOXES, SCORES, 3)).tolist() == [3, 0, 5]
    flipped = BOXES[:, [2, 1, 0, 3]]  # corners in any order
    kept, valid = run(tf.image.non_max_suppression_padded(flipped, SCORES, 5, pad_to_max_output_size=True))
    assert kept.tolist() == [3, 0, 5, 0, 0] and valid == 3
    soft, left = run(tf.image.non_max_suppression_with_scores(BOXES, SCORES, 6, 1.0, 0.0, 0.5))
    assert soft.tolist() == [3, 0, 1, 5, 4, 2]
    np.testing.assert_allclose(left, [0.95, 0.9, 0.384, 0.3, 0.256, 0.197], atol=1e-2)  # as TensorFlow's test has them
    overlaps = np.array([[1, 0.7, 0.2], [0.7, 1, 0], [0.2, 0, 1]], np.float32)
    assert run(tf.image.non_max_suppression_overlaps(overlaps, [0.7, 0.9, 0.1], 3, 0.6, 0.4)).tolist() == [1]


def test_equal_scores_keep_the_first_and_nan_is_none() -> None:
    assert run(tf.image.non_max_suppression(BOXES, [0.5, 0.5, np.nan, 0.5, 0.5, 0.5], 9)).tolist() == [0, 3, 5]
    assert run(tf.image.non_max_suppression(np.zeros((0, 4), np.float32), np.zeros(0, np.float32), 9)).tolist() == []


@pytest.mark.parametrize("wrong", [
    ((BOXES[0], SCORES), "Shape must be rank 2 but is rank 1"), ((BOXES[:, :3], SCORES), "must be 4 but is 3"),
    ((BOXES[:1], SCORES[:2]), "Dimensions must be equal, but are 1 and 2"),
    ((BOXES, SCORES, [3]), "Shape must be rank 0 but is rank 1")])
def test_boxes_that_do_not_fit_are_refused(wrong: Any) -> None:
    inputs, words = wrong
    with pytest.raises(ValueError, match=words):
        tf.image.non_max_suppression(*inputs, *([3] if len(inputs) == 2 else []))


def test_a_sampled_part_is_within_its_bounds_and_covers_the_box() -> None:
    box = [[[0.2, 0.3, 0.6, 0.8]]]
    part = tf.image.sample_distorted_bounding_box([40, 50, 1], box, min_object_covered=0.5, area_range=(0.1, 0.6))
    whole = tf.image.sample_distorted_bounding_box([40, 50, 1], box, min_object_covered=1.0, area_range=(0.01, 0.02))
    with tf.Session() as session:
        drawn = [session.run(part) for _ in range(40)]
        begin, size, _ = session.run(whole)
    for (y, x, _), (height, width, _), corners in drawn:
        assert 0.1 <= height * width / 2000 <= 0.6 and 0.7 < width / height < 1.4
        np.testing.assert_allclose(corners[0, 0] * [40, 50, 40, 50], [y, x, y + height, x + width], rtol=1e-5)
        shared = max(min(y + height, 24) - max(y, 8), 0) * max(min(x + width, 40) - max(x, 15), 0)
        assert shared >= 0.5 * 16 * 25
    assert len({tuple(begin) for begin, _, _ in drawn}) > 5
    assert begin.tolist() == [0, 0, 0] and size.tolist() == [40, 50, -1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="No bounding boxes provided"):
        run(tf.image.sample_distorted_bounding_box([40, 50, 1], np.zeros((1, 0, 4), np.float32)))


def test_frames_are_drawn_a_pixel_wide() -> None:
    boxes = [[[0.1, 0.2, 0.7, 0.9], [-0.2, 0.3, 0.5, 1.4]]]
    frames = run(tf.image.draw_bounding_boxes(np.zeros((1, 6, 7, 1), np.float32), boxes))[0, ..., 0]
    assert frames.astype(int).tolist() == [[0, 1, 1, 1, 1, 1, 0], [0, 1, 0, 0, 0, 1, 0], [0, 1, 1, 1, 1, 1, 1],
                                           [0, 1, 1, 1, 1, 1, 0], *[[0] * 7] * 2]


@pytest.mark.parametrize(("kernel", "antialias", "sums"), [  # of y and of its square
    ("gaussian", False, (35.023, 129.861)),
    ("lanczos3", True, (34.716, 135.200)), ("gaussian", True, (34.649, 114.864)),
    ("triangle", True, (34.685, 118.801)),
    ("mitchellcubic", False, (35.152, 138.028)), ("keyscubic", True, (34.759, 128.184)),
    ("box", False, (35.500, 137.250)), ("lanczos5", False, (34.558, 159.977))])
def test_kernels_have_the_numbers_of_tensorflow(kernel: str, antialias: bool, sums: tuple[float, float]) -> None:
    x = tf.constant(IMAGE)
    y = build.ScaleAndTranslate(x, [3, 4], [0.5, 0.7], [0.0, 0.0], kernel_type=kernel, antialias=antialias)
    value, slope = run([y, tf.gradients(y * y, x)[0]])
    np.testing.assert_allclose([value.sum(), (value * value).sum()], sums, atol=6e-4)  # told to three places
    np.testing.assert_allclose((slope * IMAGE).sum(), 2 * (value * value).sum(), rtol=1e-5)  # of a square form


def test_version_2_resizes_by_centers_of_pixels() -> None:
    x = np.array([[1, 2], [3, 4]], np.float32).reshape(2, 2, 1)
    assert run(resize_images_v2(x, [1, 1]))[0, 0, 0] == 2.5
    assert run(resize_images_v2(x, [4, 4], "nearest"))[..., 0].tolist() == [[1, 1, 2, 2]] * 2 + [[3, 3, 4, 4]] * 2
    assert run(resize_images_v2(IMAGE, [2, 2], "bilinear", antialias=True)).shape == (1, 2, 2, 1)
    assert run(resize_image_with_pad_v2(x, 4, 2))[..., 0].tolist() == [[0, 0], [1, 2], [3, 4], [0, 0]]
    with pytest.raises(ValueError, match="Resize method is not implemented"):
        resize_images_v2(x, [1, 1], "cubic")


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_a_png_read_is_what_was_written(dtype: Any, channels: int) -> None:
    pixels = RNG.integers(0, np.iinfo(dtype).max, (4, 5, channels)).astype(dtype)
    decoded = tf.image.decode_png(tf.image.encode_png(pixels), dtype=dtype)
    assert np.array_equal(run(decoded), pixels)


def _png(header: tuple[int, ...], rows: bytes, *chunks: tuple[bytes, bytes]) -> bytes:
    parts = (b"IHDR", struct.pack(">IIBBBBB", *header)), *chunks, (b"IDAT", zlib.compress(rows)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts)


def test_filters_palettes_and_few_bits_are_read() -> None:
    rows = b"".join(bytes([kind, *[10, 20, 30, 1, 2, 3]]) for kind in (0, 1, 2, 3, 4))
    assert read_png(_png((2, 5, 8, 2, 0, 0, 0), rows)).reshape(5, 6).tolist() == [
        [10, 20, 30, 1, 2, 3], [10, 20, 30, 11, 22, 33], [20, 40, 60, 12, 24, 36], [20, 40, 60, 17, 34, 51],
        [30, 60, 90, 31, 62, 93]]
    palette = (b"PLTE", bytes(range(9))), (b"tRNS", b"\x07")
    assert read_png(_png((3, 1, 2, 3, 0, 0, 0), bytes([0, 0b00011000]), palette[0])).tolist() == [
        [[0, 1, 2], [3, 4, 5], [6, 7, 8]]]
    assert read_png(_png((1, 1, 8, 3, 0, 0, 0), bytes([0, 1]), *palette)).tolist() == [[[3, 4, 5, 255]]]
    assert read_png(_png((9, 1, 1, 0, 0, 0, 0), bytes([0, 0b10100000, 128]))).ravel().tolist() == [
        255, 0, 255, 0, 0, 0, 0, 0, 255]


def test_channels_that_are_wanted_are_made() -> None:
    gray, color = np.full((1, 1, 1), 9, np.uint8), np.array([[[200, 100, 50, 7]]], np.uint8)
    wanted = {(0, n): tf.image.decode_png(write_png(gray), n) for n in (1, 3, 4)}
    wanted |= {(1, n): tf.image.decode_png(write_png(color), n) for n in (1, 3)}
    found = {key: value.ravel().tolist() for key, value in run(wanted).items()}
    assert found == {(0, 1): [9], (0, 3): [9, 9, 9], (0, 4): [9, 9, 9, 255], (1, 1): [118], (1, 3): [200, 100, 50]}
    assert run(tf.image.decode_image(write_png(gray), dtype=tf.float32)) == np.float32(9 / 255)


@pytest.mark.parametrize("damaged", [
    b"\xff\xd8\xff\xe0", write_png(np.zeros((2, 2, 3), np.uint8))[:40], _png((2, 2, 8, 2, 0, 0, 1), bytes(14)),
    _png((1, 1, 8, 3, 0, 0, 0), bytes([0, 5])), _png((1, 1, 8, 0, 0, 0, 0), bytes([9, 5])),
    _png((2**31, 2**31, 8, 0, 0, 0, 0), bytes(9)), _png((1, 1, 3, 0, 0, 0, 0), bytes([0, 5]))])
def test_what_is_no_png_is_refused_in_words(damaged: bytes) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid PNG data"):
        run(tf.image.decode_png(damaged))


@pytest.mark.parametrize(("call", "words"), [
    (lambda x: tf.image.crop_to_bounding_box(x, -1, 0, 1, 1), "offset_height must be >= 0"),
    (lambda x: tf.image.crop_to_bounding_box(x, 5, 0, 1, 1), "height must be >= target [+] offset"),
    (lambda x: tf.image.pad_to_bounding_box(x, 0, 3, 9, 7), "width must be <= target - offset"),
    (lambda x: tf.image.resize_image_with_crop_or_pad(x[:0], 2, 2), "all dims of 'image.shape' must be > 0"),
    (lambda x: tf.image.resize_images(x[..., 0], [2, 2]), "'images' must have either 3 or 4 dimensions"),
    (lambda x: tf.image.resize_images(x, [6, 4.5]), "'size' must be a 1-D int32 Tensor"),
    (lambda x: tf.image.grayscale_to_rgb(x[0, 0]), "A grayscale image must be at least two-dimensional")])
def test_images_are_refused_in_tensorflows_words(call: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call(tf.constant(IMAGE[0]))


def test_what_only_a_run_knows_is_refused_by_the_run() -> None:
    image, gamma = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [])
    cropped = tf.image.crop_to_bounding_box(image, 0, 0, 2, 2)
    assert run(cropped, {image: IMAGE[0]}).shape == (2, 2, 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="all dims of .*image.shape.* must be > 0"):
        run(cropped, {image: IMAGE[0, :0]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="Gamma should be a non-negative real number"):
        run(tf.image.adjust_gamma(IMAGE, gamma), {gamma: -1.0})


def test_a_picture_that_changes_slowly_is_a_small_png():
    across, down = np.meshgrid(np.arange(200), np.arange(120))
    for pixels in (across, down, across + down):
        picture = np.stack([pixels % 256, pixels * 2 % 256, 255 - pixels % 256], 2).astype(np.uint8)
        written = write_png(picture)
        assert len(written) < 2000 and np.array_equal(read_png(written), picture)
