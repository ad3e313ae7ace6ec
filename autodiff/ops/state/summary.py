"""Summaries: a tensor's value, with a tag, as the bytes of a tf.Summary. They are stateful: none stands for another."""

import functools

import numpy as np

from ...core.declare import op
from ...core.dtypes import string
from ...core.errors import InvalidArgumentError, ShapeError
from ...core.infer import rank_of
from ...core.op import Number, Own, Spec
from ..common.file_formats import file_format
from ..common.texts import Text, spelled

_LARGEST = float(np.finfo(np.float64).max)


def _text(tag, *values, **attrs):
    return Spec(string, ())


@op("ScalarSummary", infer=_text, dtypes=(string,), stateful=True, no_grad="a summary is a text")
def scalar_summary(tags, values: Number):
    """Numbers, each under its tag. tags: string[...], values: real[...] -> string[]."""
    if np.shape(values) != np.shape(tags):
        raise InvalidArgumentError(f"tags and values not the same shape: {list(np.shape(tags))} != "
                                   f"{list(np.shape(values))} (tag {spelled(tags)!r})")
    return _summary(*({"tag": spelled(tag), "simple_value": float(value)} for tag, value in zip(
        np.ravel(tags), np.ravel(values))))


@op("HistogramSummary", infer=_text, dtypes=(string,), stateful=True, no_grad="a summary is a text")
def histogram_summary(tag, values: Number):
    """Counts of the elements, all finite, under a tag. tag: string[], values: real[...] -> string[]."""
    flat = np.asarray(values, np.float64).ravel()
    if not np.isfinite(flat).all():
        found = "nan" if np.isnan(flat).any() else "inf"
        raise InvalidArgumentError(f"{found} in summary histogram for: {spelled(tag)}")
    return _summary({"tag": spelled(tag), "histo": _histogram(flat)})


def _images(tag, tensor, *, max_images=3):
    rank_of(tensor, exactly=4, what="tensor")
    if tensor.dims is not None and tensor.dims[3] not in (None, 1, 3, 4):
        raise ShapeError(expected="images of 1, 3 or 4 channels", found=tensor.dims[3])
    return Spec(string, ())


@op("ImageSummary", infer=_images, dtypes=(string,), stateful=True, no_grad="a summary is a text")
def image_summary(tag, tensor: Number, *, max_images=3):
    """Images under a tag, as PNG. tag: string[], tensor: real[n, h, w, c] -> string[]."""
    count, height, width, channels = tensor.shape
    tags = [f"{spelled(tag)}/image"] if max_images == 1 else [f"{spelled(tag)}/image/{i}" for i in range(max_images)]
    write_png = file_format("media").write_png
    return _summary(*({"tag": t, "image": {"height": height, "width": width, "colorspace": channels,
                                           "encoded_image_string": write_png(_pixels(image))}}
                      for t, image in zip(tags[:count], tensor)))


def _pixels(image):
    """uint8[h, w, c]. The largest float becomes 255, zero being 0, or 127 with negative ones; others are red."""
    if image.dtype == np.uint8:
        return image
    image = np.asarray(image, np.float32)
    finite = np.isfinite(image)
    low, high = image[finite].min(initial=0), image[finite].max(initial=0)
    reach = max(abs(low), abs(high)) if low < 0 else high
    scale = np.float32((127 if low < 0 else 255) / reach) if reach else np.float32(0)
    with np.errstate(invalid="ignore"):
        pixels = np.where(finite, image * scale + (128 if low < 0 else 0), 0).astype(np.uint8)
    pixels[~finite.all(-1)] = (255, 0, 0, 255)[:image.shape[-1]]
    return pixels


@op("TensorSummaryV2", infer=_text, dtypes=(string,), stateful=True, no_grad="a summary is a text")
def tensor_summary(tag, tensor: Own, serialized_summary_metadata: Text):
    """A tensor under a tag. tag: string[], tensor: any[...], serialized_summary_metadata: string[] -> string[]."""
    array = np.asarray(tensor)
    proto = file_format("tensor_values").proto_of_array("string" if array.dtype == object else array.dtype.name, array)
    metadata = file_format("event_file").EVENT_MESSAGES["SummaryMetadata"]
    return _summary({"tag": spelled(tag), "tensor": proto,
                     "metadata": metadata.FromString(np.asarray(serialized_summary_metadata, object).item())})


@op("AudioSummaryV2", infer=_text, dtypes=(string,), stateful=True, no_grad="a summary is a text")
def audio_summary(tag, tensor: Number, sample_rate: Number, *, max_outputs=3):
    """Sounds under a tag, as WAV. tag: string[], tensor: float[n, frames, channels] or [n, frames] -> string[]."""
    sounds = tensor[:, :, None] if tensor.ndim == 2 else tensor
    tags = [f"{spelled(tag)}/audio"] if max_outputs == 1 else [f"{spelled(tag)}/audio/{i}" for i in range(max_outputs)]
    write_wav = file_format("media").write_wav
    for name, count, bits in (("sample_rate", float(sample_rate), 32), ("num_channels", sounds.shape[2], 16)):
        if not 0 < count < 1 << bits:
            raise InvalidArgumentError(None, None, f"{name} must be in (0, 2^{bits}), got: {count:g}")
    return _summary(*({"tag": t, "audio": {"sample_rate": float(sample_rate), "num_channels": sound.shape[1],
                                           "length_frames": sound.shape[0], "content_type": "audio/wav",
                                           "encoded_audio_string": write_wav(sound, int(sample_rate))}}
                      for t, sound in zip(tags, sounds)))


@op("MergeSummary", infer=_text, dtypes=(string,), stateful=True, no_grad="a summary is a text")
def merge_summary(*inputs):
    """Several summaries in one: their bytes, joined. inputs: string[]... -> string[]."""
    return b"".join(np.asarray(x, object).item() for x in inputs)


def _summary(*values):
    """The bytes of a tf.Summary. values: the fields of each of its values."""
    return file_format("event_file").EVENT_MESSAGES["Summary"](value=list(values)).SerializeToString()


@functools.cache
def _limits():
    """Upper bounds of buckets, ten per cent apart, as TensorFlow's histograms have them."""
    sizes = np.multiply.accumulate([1e-12, *[1.1] * 773])
    sizes = [*sizes[sizes < 1e20], _LARGEST]
    return np.array([*(-s for s in reversed(sizes)), 0.0, *sizes])


def _histogram(flat):
    limits = _limits()
    counts = np.bincount(np.searchsorted(limits, flat, side="right"), minlength=len(limits))[:len(limits)]
    ends_run = np.append((counts[:-1] > 0) | (counts[1:] > 0), True)  # a run of empty buckets is told as one
    return {"min": float(flat.min(initial=_LARGEST)), "max": float(flat.max(initial=-_LARGEST)), "num": flat.size,
            "sum": float(flat.sum()), "sum_squares": float(flat @ flat),
            "bucket_limit": limits[ends_run].tolist(), "bucket": counts[ends_run].astype(float).tolist()}
