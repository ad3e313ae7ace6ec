"""tensorflow.python.ops.image_ops: resizing by the words of both versions."""
from ...api.image import ResizeMethod as ResizeMethodV1
from ...api.image.resizing import resize_image_with_pad_v1, resize_image_with_pad_v2, resize_images_v2

__all__ = ["ResizeMethodV1", "resize_image_with_pad_v1", "resize_image_with_pad_v2", "resize_images_v2"]


class ResizeMethod:
    """The ways of resizing in version 2's words."""

    BILINEAR, NEAREST_NEIGHBOR, BICUBIC, AREA = "bilinear", "nearest", "bicubic", "area"
    LANCZOS3, LANCZOS5, GAUSSIAN, MITCHELLCUBIC = "lanczos3", "lanczos5", "gaussian", "mitchellcubic"
