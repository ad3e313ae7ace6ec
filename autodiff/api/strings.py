"""Functions of strings, which are bytes: the namespace tf.strings."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import float32, int32, string
from ..core.errors import ArgumentError, UnsupportedError
from ..core.graph import Tensor
from ..core.op import build
from ..core.sparse_tensor import SparseTensor
from .common.renamed_arguments import one_of
from .common.unsupported import refusing

__all__ = ["as_string", "format", "join", "length", "lower", "reduce_join", "regex_full_match", "regex_replace",
           "split", "strip", "substr", "to_hash_bucket", "to_hash_bucket_fast", "to_hash_bucket_strong", "to_number",
           "unicode_transcode", "unsorted_segment_join", "upper"]

# ---- one to another -----------------------------------------------------------------------

def lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Small letters for capital ones: of ASCII alone unless encoding is utf-8."""
    return build.StringLower(input, encoding=encoding, name=name)


def upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Capital letters for small ones: of ASCII alone unless encoding is utf-8."""
    return build.StringUpper(input, encoding=encoding, name=name)


def strip(input: Any, name: str | None = None) -> Tensor:
    """Without white space at both ends."""
    return build.StringStrip(input, name=name)


def length(input: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """How many bytes each string has, or characters with unit UTF8_CHAR. -> int32[...]."""
    return build.StringLength(input, unit=unit, name=name)


def substr(input: Any, pos: Any, len: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """`len` bytes, or characters with unit UTF8_CHAR, from `pos`, which counts from the end if it is negative."""
    return build.Substr(input, pos, len, unit=unit, name=name)


def regex_replace(input: Any, pattern: Any, rewrite: Any, replace_global: bool = True,
                  name: str | None = None) -> Tensor:
    r"""All that fits a pattern, or the first, written anew: \\1 to \\9 in `rewrite` are the pattern's groups."""
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        return build.StaticRegexReplace(input, pattern=pattern, rewrite=rewrite, replace_global=replace_global,
                                        name=name)
    return build.RegexReplace(input, pattern, rewrite, replace_global=replace_global, name=name)


def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    """Whether all of a string fits a pattern. -> bool[...]."""
    if isinstance(pattern, (str, bytes)):
        return build.StaticRegexFullMatch(input, pattern=pattern, name=name)
    return build.RegexFullMatch(input, pattern, name=name)


def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Tensor:
    """Bytes as letters, digits, - and _."""
    return build.EncodeBase64(input, pad=pad, name=name)


def decode_base64(input: Any, name: str | None = None) -> Tensor:
    """The bytes that encode_base64 was given."""
    return build.DecodeBase64(input, name=name)


def unicode_transcode(input: Any, input_encoding: str, output_encoding: str, errors: str = "replace",
                      replacement_char: int = 65533, replace_control_characters: bool = False,
                      name: str | None = None) -> Tensor:
    """Texts in another encoding. errors: replace or ignore what is no text, or fail (strict)."""
    return build.UnicodeTranscode(
        input, input_encoding=input_encoding, output_encoding=output_encoding, errors=errors,
        replacement_char=replacement_char, replace_control_characters=replace_control_characters, name=name)


# ---- numbers ------------------------------------------------------------------------------

def as_string(input: Any, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1,
              fill: str = "", name: str | None = None) -> Tensor:
    """Numbers as C prints them: %f for floats, %e if scientific, %g if shortest."""
    return build.AsString(input, precision=precision, scientific=scientific, shortest=shortest, width=width, fill=fill,
                          name=name)


def to_number(string_tensor: Any = None, out_type: Any = float32, name: str | None = None, input: Any = None) -> Tensor:
    """The numbers that strings are. input: another name of string_tensor."""
    return build.StringToNumber(one_of("string_tensor", string_tensor, "input", input), out_type=out_type, name=name)


def to_hash_bucket(string_tensor: Any = None, num_buckets: int = 1, name: str | None = None,
                   input: Any = None) -> Tensor:
    """A number below num_buckets for each string. input: another name of string_tensor. -> int64[...]."""
    return build.StringToHashBucket(one_of("string_tensor", string_tensor, "input", input), num_buckets=num_buckets,
                                    name=name)


def to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """A number below num_buckets for each string, the same on all machines. -> int64[...]."""
    return build.StringToHashBucketFast(input, num_buckets=num_buckets, name=name)


def to_hash_bucket_strong(input: Any, num_buckets: int, key: Sequence[int], name: str | None = None) -> Tensor:
    """A number below num_buckets for each string, hard to guess without the two numbers of `key`. -> int64[...]."""
    return build.StringToHashBucketStrong(input, num_buckets=num_buckets, key=tuple(key), name=name)


# ---- together and apart -------------------------------------------------------------------

def join(inputs: Sequence[Any], separator: str = "", name: str | None = None) -> Tensor:
    """The strings at each place of tensors of one shape, one after the other; a scalar is at every place."""
    return build.StringJoin(*inputs, separator=separator, name=name)


def reduce_join(inputs: Any, axis: Any = None, keep_dims: bool | None = None, separator: str = "",
                name: str | None = None, reduction_indices: Any = None, keepdims: bool | None = None) -> Tensor:
    """Strings along an axis joined; of several first along the first; by default of all, in order."""
    tensor = convert_to_tensor(inputs, dtype=string)
    axes = one_of("axis", axis, "reduction_indices", reduction_indices)
    if axes is None:
        known = None if tensor.dims is None else np.arange(len(tensor.dims), dtype=np.int32)[::-1]
        axes = build.Range(build.Rank(tensor) - 1, -1, -1) if known is None else known
    return build.ReduceJoin(tensor, convert_to_tensor(axes, dtype=int32),
                            keep_dims=bool(one_of("keepdims", keepdims, "keep_dims", keep_dims)), separator=separator,
                            name=name)


def unsorted_segment_join(inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "",
                          name: str | None = None) -> Tensor:
    """Strings of one number joined, in their order."""
    return build.UnsortedSegmentJoin(inputs, segment_ids, num_segments, separator=separator, name=name)


def string_split(source: Any, sep: Any = None, skip_empty: bool = True, delimiter: Any = None) -> SparseTensor:
    """Strings cut at each byte that is in `sep`, a space by default. source: string[n]. -> a sparse string[n, k]."""
    mark = one_of("sep", sep, "delimiter", delimiter)
    return SparseTensor(*build.StringSplit(source, " " if mark is None else mark, skip_empty=skip_empty))


def string_split_v2(source: Any, sep: Any = None, maxsplit: int = -1) -> SparseTensor:
    """Strings cut as Python's str.split does. source: string[n]. -> a sparse string[n, k]."""
    return SparseTensor(*build.StringSplitV2(source, "" if sep is None else sep, maxsplit=maxsplit))


def split(input: Any = None, sep: Any = None, maxsplit: int = -1, result_type: str = "SparseTensor",
          source: Any = None) -> SparseTensor:
    """Strings cut as Python's str.split does. input: string[n]. -> a sparse string[n, k].

    Raises UnsupportedError for result_type RaggedTensor: there are no ragged tensors.
    """
    if result_type == "RaggedTensor":
        raise UnsupportedError("gradbg has no ragged tensors", hint="use result_type='SparseTensor'")
    if result_type != "SparseTensor":
        raise ArgumentError("result_type must be 'RaggedTensor' or 'SparseTensor'.", found=repr(result_type))
    return string_split_v2(one_of("input", input, "source", source), sep, maxsplit)


def format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None) -> Tensor:
    """A text with tensors in the places of its placeholders, of long ones `summarize` entries at each end."""
    tensors = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    if template.count(placeholder) != len(tensors):
        raise ArgumentError(f"{template.count(placeholder)} placeholder(s) in template does not match {len(tensors)} "
                            "tensor(s) provided as input")
    return build.StringFormat(*tensors, template=template, placeholder=placeholder, summarize=summarize, name=name)


# ---- names of the top of tf ---------------------------------------------------------------

string_join, string_strip, string_to_number, string_to_hash_bucket = join, strip, to_number, to_hash_bucket
string_to_hash_bucket_fast, string_to_hash_bucket_strong = to_hash_bucket_fast, to_hash_bucket_strong
string_length, string_lower, string_upper, string_format = length, lower, upper, format

__getattr__ = refusing("tf.strings", __name__)
