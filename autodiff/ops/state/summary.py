"""Summaries: a tensor's value, with a tag, as the bytes of a tf.Summary. They are stateful: none stands for another."""

import functools

import numpy as np

from ...core.declare import op
from ...core.dtypes import string
from ...core.errors import InvalidArgumentError, ShapeError
from ...core.infer import rank_of
from ...core.op import Number, Own, Spec
from ..common.summary_messages import HistogramProto, Summary

_LARGEST = float(np.finfo(np.float64).max)


def _text(tag, *values, **attrs):
    return Spec(string, ())


@op("ScalarSummary", infer=_text, dtypes=(string,), stateful=True, no_grad="a summary is a text")
def scalar_summary(tags, values: Number):
    """One number under its tag. tags: string[], values: real[] -> string[]."""
    if np.shape(values) != np.shape(tags):
        raise InvalidArgumentError(f"tags and values not the same shape: {list(np.shape(tags))} != "
                                   f"{list(np.shape(values))} (tag {_plain(tags)!r})")
    return Summary(value=[Summary.Value(tag=_plain(tags), simple_value=float(values))]).SerializeToString()


@op("HistogramSummary", infer=_text, dtypes=(string,), stateful=True, no_grad="a summary is a text")
def histogram_summary(tag, values: Number):
    """Counts of the elements, all finite, under a tag. tag: string[], values: real[...] -> string[]."""
    flat = np.asarray(values, np.float64).ravel()
    if not np.isfinite(flat).all():
        found = "nan" if np.isnan(flat).any() else "inf"
        raise InvalidArgumentError(f"{found} in summary histogram for: {_plain(tag)}")
    return Summary(value=[Summary.Value(tag=_plain(tag), histo=_histogram(flat))]).SerializeToString()


def _images(tag, tensor, *, max_images=3):
    rank_of(tensor, exactly=4, what="tensor")
    if tensor.dims is not None and tensor.dims[3] not in (None, 1, 3, 4):
        raise ShapeError(f"expected images of 1, 3 or 4 channels, found {tensor.dims[3]}")
    return Spec(string, ())


@op("ImageSummary", infer=_images, dtypes=(string,), stateful=True, no_grad="a summary is a text")
def image_summary(tag, tensor: Number, *, max_images=3):
    """Sizes of images under a tag, without their pixels. tag: string[], tensor: real[n, h, w, c] -> string[]."""
    count, height, width, channels = tensor.shape
    tags = [f"{_plain(tag)}/image"] if max_images == 1 else [f"{_plain(tag)}/image/{i}" for i in range(max_images)]
    return Summary(value=[
        Summary.Value(tag=t, image=Summary.Image(height=height, width=width, colorspace=channels))
        for t in tags[:count]]).SerializeToString()


@op("TensorSummaryV2", infer=_text, dtypes=(string,), stateful=True, no_grad="a summary is a text")
def text_summary(tag, tensor: Own):
    """Texts under a tag. tag: string[], tensor: string[...] -> string[]."""
    value = Summary.Value(tag=_plain(tag))
    value.tensor.dtype = 7  # a string, as tensor.proto numbers types
    value.tensor.string_val = [bytes(v) for v in np.asarray(tensor, object).ravel()]
    return Summary(value=[value]).SerializeToString()


@op("MergeSummary", infer=_text, dtypes=(string,), stateful=True, no_grad="a summary is a text")
def merge_summary(*inputs):
    """Several summaries in one: their bytes, joined. inputs: string[]... -> string[]."""
    return b"".join(np.asarray(x, object).item() for x in inputs)


def _plain(tag):
    tag = np.asarray(tag, object).item()
    return tag.decode() if isinstance(tag, bytes) else tag


@functools.cache
def _limits():
    """Upper bounds of buckets, ten per cent apart, as TensorFlow's histograms have them."""
    sizes = 1e-12 * 1.1 ** np.arange(774)
    sizes = [*sizes[sizes < 1e20], _LARGEST]
    return np.array([*(-s for s in reversed(sizes)), 0.0, *sizes])


def _histogram(flat):
    limits = _limits()
    counts = np.bincount(np.searchsorted(limits, flat, side="right"), minlength=len(limits))[:len(limits)]
    ends_run = np.append((counts[:-1] > 0) | (counts[1:] > 0), True)  # a run of empty buckets is told as one
    return HistogramProto(min=float(flat.min(initial=_LARGEST)), max=float(flat.max(initial=-_LARGEST)), num=flat.size,
                          sum=float(flat.sum()), sum_squares=float(flat @ flat),
                          bucket_limit=limits[ends_run].tolist(), bucket=counts[ends_run].astype(float).tolist())
