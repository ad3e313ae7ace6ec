"""Boxes of images, (y1, x1, y2, x2) with 0 and 1 at the borders: drawn at random, and drawn on images."""

import numpy as np

from ...core.declare import op
from ...core.dtypes import REALS, float16, float32
from ...core.errors import ArgumentError, ShapeError
from ...core.infer import rank_of
from ...core.op import Float32, Spec
from ..common.batch_axis import slice_by_slice

# yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia: red, green, blue, alpha
_COLORS = np.array([[1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1], [0.5, 0.5, 0, 1],
                    [0.5, 0, 0, 1], [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1]])


def _part(image_size, bounding_boxes, min_object_covered, **_):
    rank_of(image_size, exactly=1, what="image_size")
    rank_of(bounding_boxes, exactly=3, what="bounding_boxes")
    rank_of(min_object_covered, exactly=0, what="min_object_covered")
    size = Spec(image_size.dtype.base_dtype, (3,))
    return size, size, Spec(float32, (1, 1, 4))


@op("SampleDistortedBoundingBoxV2", infer=_part, dtypes=REALS, stateful=True,
    no_grad="a part drawn at random does not depend on the boxes differentiably")
def sample_distorted_bounding_box(image_size, bounding_boxes: Float32, min_object_covered: Float32, *,
                                  aspect_ratio_range=(0.75, 1.33), area_range=(0.05, 1.0), max_attempts=100,
                                  use_image_if_no_bounding_boxes=False, seed=0, seed2=0, run):
    """A part of an image, drawn until it covers enough of one of the boxes; the whole image if it never does.

    image_size: int[3], bounding_boxes: float32[b, n, 4] -> begin and size for tf.slice, int[3] each, and the part as
    float32[1, 1, 4]. area_range: of the part to the image; aspect_ratio_range: width to height.
    """
    boxes = bounding_boxes.reshape(-1, 4)
    if not len(boxes) and not use_image_if_no_bounding_boxes:
        raise ArgumentError("No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if "
                            "you wish to not provide any bounding boxes.")
    space, stream = image_size[:2].astype(float), run.stream(seed, seed2)
    drawn = (_drawn(space, stream.uniform(*aspect_ratio_range), area_range, stream) for _ in range(max_attempts))
    covers = (part for part in drawn if part is not None and
              _covered(part, boxes * np.tile(space, 2) if len(boxes) else np.tile(space, 2) * [[0, 0, 1, 1]]) >=
              min_object_covered)
    start, extent = next(covers, (np.zeros(2), space))
    box = np.concatenate([start / space, (start + extent) / space])
    return (np.array([*start, 0], image_size.dtype), np.array([*extent, -1], image_size.dtype),
            box.astype(np.float32)[None, None])


def _drawn(space, aspect, area_range, stream):
    """Corner and size of a part of the proportions `aspect`, all its heights equally likely; None if none fits."""
    area = np.array(area_range) * space.prod()
    low, high = np.rint(np.sqrt(area / aspect))
    high = min(high, space[0], np.floor((space[1] + 0.5 - 1e-7) / aspect))
    height = stream.integers(min(low, high), high + 1) if high > 0 else 0
    extent = np.array([height, np.rint(height * aspect)])
    if not (area[0] <= extent.prod() <= area[1] and (0 < extent).all() and (extent <= space).all()):
        return None
    return stream.integers(0, (space - extent).astype(np.int64) + 1).astype(float), extent


def _covered(part, boxes):
    """The largest share of a box that a part has."""
    start, extent = part
    shared = np.minimum(boxes[:, 2:], start + extent) - np.maximum(boxes[:, :2], start)
    sizes = (boxes[:, 2:] - boxes[:, :2]).prod(1)
    return np.divide(np.maximum(shared, 0).prod(1), sizes, out=np.zeros_like(sizes), where=sizes > 0).max()


def _same_images(images, boxes, colors):
    for tensor, rank, what in ((images, 4, "images"), (boxes, 3, "boxes"), (colors, 2, "colors")):
        rank_of(tensor, exactly=rank, what=what)
    if boxes.dims is not None and boxes.dims[2] not in (4, None):
        raise ShapeError(f"Dimension must be 4 but is {boxes.dims[2]}: the corners (y1, x1, y2, x2) of boxes")
    return Spec(images.dtype.base_dtype, images.dims)


@op("DrawBoundingBoxesV2", infer=_same_images, dtypes=(float32, float16), no_rule="frames are drawn for people to see",
    batched=slice_by_slice)
def draw_bounding_boxes(images, boxes: Float32, colors: Float32):
    """Each image with the frames of its boxes. images: float[b, h, w, 1, 3 or 4], boxes: float32[b, n, 4].

    colors: float32[k, 1 to 4], taken in turn; of none, TensorFlow's ten.
    """
    drawn, (_, height, width, depth) = np.array(images), images.shape
    table = colors if len(colors) else np.ones((1, 1)) if depth == 1 else _COLORS
    for image, frames in zip(drawn, boxes):
        for i, frame in enumerate((frames * (np.array([height, width] * 2) - 1)).astype(np.int64)):
            (top, left), (bottom, right) = np.maximum(frame[:2], 0), np.minimum(frame[2:], [height - 1, width - 1])
            if (frame[:2] > frame[2:]).any() or top > bottom or left > right:
                continue
            color = table[i % len(table)][:depth]
            for line, at in ((slice(top, bottom + 1), c) for c in (frame[1], frame[3]) if 0 <= c < width):
                image[line, at] = color
            for row in (r for r in (frame[0], frame[2]) if 0 <= r < height):
                image[row, left:right + 1] = color
    return drawn
