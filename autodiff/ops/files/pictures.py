"""PNG to pixels and back."""

import numpy as np

from ...core.declare import op
from ...core.dtypes import as_dtype, string, uint8, uint16
from ...core.errors import ArgumentError, DTypeError, InvalidArgumentError, ShapeError
from ...core.infer import rank_of
from ...core.op import Spec
from ..common.batch_axis import slice_by_slice
from ..common.file_formats import file_format
from ..common.texts import Text, plain, text_op

_SHARES = np.array([0.2126, 0.7152, 0.0722])  # of red, green and blue in gray: ITU-R BT.709


def _decoded(contents, *, channels=0, dtype=uint8):
    rank_of(contents, exactly=0, what="contents")
    if channels not in (0, 1, 3, 4):
        raise ArgumentError(expected="channels must be 0, 1, 3, or 4", found=channels)
    if as_dtype(dtype) not in (uint8, uint16):
        raise DTypeError(expected="dtype uint8 or uint16", found=as_dtype(dtype).name)
    return Spec(as_dtype(dtype), (None, None, channels or None))


@text_op("DecodePng", infer=_decoded)
def decode_png(contents: Text, *, channels=0, dtype=uint8):
    """The pixels of a PNG, as many channels as it has or as are wanted. contents: string[] -> dtype[h, w, channels]."""
    try:
        pixels = file_format("media").read_png(plain(contents))
    except ValueError as error:
        raise InvalidArgumentError(str(error)) from None
    full, wanted = np.iinfo(pixels.dtype).max, as_dtype(dtype).as_numpy_dtype
    has = pixels.shape[2]
    color = pixels[..., :has - 1] if has in (2, 4) else pixels
    if channels == 1 and color.shape[2] == 3:
        color = np.rint(color @ _SHARES).astype(pixels.dtype)[..., None]
    if channels in (3, 4) and color.shape[2] == 1:
        color = np.repeat(color, 3, axis=2)
    if channels == 4:
        alpha = pixels[..., -1:] if has in (2, 4) else np.full_like(pixels[..., :1], full)
        color = np.concatenate([color, alpha], axis=2)
    pixels = color if channels else pixels
    if pixels.dtype == wanted:
        return pixels
    return (pixels >> 8).astype(wanted) if wanted is np.uint8 else pixels.astype(wanted) * wanted(257)


def _encoded(image, *, compression=-1):
    rank_of(image, exactly=3, what="image")
    if image.dims is not None and image.dims[2] not in (None, 1, 2, 3, 4):
        raise ShapeError(expected="image must have 1, 2, 3, or 4 channels", found=image.dims[2])
    return Spec(string, ())


@op("EncodePng", infer=_encoded, dtypes=(uint8, uint16), no_grad="texts have no gradient", batched=slice_by_slice)
def encode_png(image, *, compression=-1):
    """The PNG of an image. image: uint8 or uint16[h, w, 1 to 4] -> string[]."""
    return np.array(file_format("media").write_png(image), object)
