"""Images as bytes: PNG, decoded and encoded. TensorFlow's tf.image functions."""
from __future__ import annotations

from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype, string, uint8, uint16
from ...core.graph import Tensor
from ...core.op import build
from .colors import convert_image_dtype

__all__ = ["decode_image", "decode_png", "encode_png"]


def decode_png(contents: Any, channels: int = 0, dtype: Any = uint8, name: str | None = None) -> Tensor:
    """The pixels of a PNG. contents: string[] -> uint8 or uint16[h, w, channels]; channels 0: as many as it has."""
    return build.DecodePng(contents, channels=channels, dtype=as_dtype(dtype), name=name)


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """The PNG of an image. image: uint8 or uint16[h, w, 1 to 4] -> string[]."""
    image = convert_to_tensor(image, uint16 if getattr(image, "dtype", None) == "uint16" else uint8)
    return build.EncodePng(image, compression=compression, name=name)


def decode_image(contents: Any, channels: int | None = None, dtype: Any = uint8, name: str | None = None,
                 expand_animations: bool = True) -> Tensor:
    """The pixels of a PNG, uint16 or uint8, floats from 0 to 1. JPEG, GIF and BMP are not read: their run fails."""
    wanted = as_dtype(dtype)
    pixels = decode_png(convert_to_tensor(contents, string), channels or 0, uint8 if wanted is uint8 else uint16, name)
    return pixels if pixels.dtype is wanted else convert_image_dtype(pixels, wanted)
