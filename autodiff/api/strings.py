"""Functions of strings, which are bytes: the namespace tf.strings."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import float32, int32, string
from ..core.errors import ArgumentError, UnsupportedError
from ..core.graph import Tensor
from ..core.op import OPS, build
from ..core.sparse_tensor import SparseTensor
from .common.arguments import one_of
from .common.unsupported import refusing

__all__ = ["as_string", "format", "join", "length", "lower", "reduce_join", "regex_full_match", "regex_replace",
           "split", "strip", "substr", "to_hash_bucket", "to_hash_bucket_fast", "to_hash_bucket_strong", "to_number",
           "unsorted_segment_join", "upper"]

def _function(op: str, order: str = "") -> Callable[..., Any]:
    """An op as a function of its tensors, attributes and a name. order: of the arguments where it is another."""
    definition = OPS[op]
    tensors = [parameter.name for parameter in definition.parameters]
    defaults = {**definition.attributes, "name": None}
    names = order.split() or [*tensors, *sorted(definition.required), *defaults]
    signature = Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=defaults.get(name, Parameter.empty))
                           for name in names])

    def function(*args: Any, **options: Any) -> Any:
        given = signature.bind(*args, **options).arguments
        inputs = [given.pop(name) for name in tensors]
        return definition(*inputs, **given)

    function.__name__, function.__doc__ = definition.kernel.__name__, definition.doc
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


lower, upper, strip, as_string = map(_function, ("StringLower", "StringUpper", "StringStrip", "AsString"))
regex_replace, regex_full_match = _function("RegexReplace"), _function("RegexFullMatch")
encode_base64, decode_base64 = _function("EncodeBase64"), _function("DecodeBase64")
length, substr = _function("StringLength", "input name unit"), _function("Substr", "input pos len name unit")
to_hash_bucket_fast = _function("StringToHashBucketFast")
to_hash_bucket_strong = _function("StringToHashBucketStrong", "input num_buckets key name")
unsorted_segment_join = _function("UnsortedSegmentJoin")


def to_number(string_tensor: Any = None, out_type: Any = float32, name: str | None = None, input: Any = None) -> Tensor:
    """The numbers that strings are. input: another name of string_tensor."""
    return build.StringToNumber(one_of("string_tensor", string_tensor, "input", input), out_type=out_type, name=name)


def to_hash_bucket(string_tensor: Any = None, num_buckets: int = 1, name: str | None = None,
                   input: Any = None) -> Tensor:
    """A number below num_buckets for each string. input: another name of string_tensor. -> int64[...]."""
    return build.StringToHashBucket(one_of("string_tensor", string_tensor, "input", input), num_buckets=num_buckets,
                                    name=name)


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


string_join, string_strip, string_to_number, string_to_hash_bucket = join, strip, to_number, to_hash_bucket
string_to_hash_bucket_fast, string_to_hash_bucket_strong = to_hash_bucket_fast, to_hash_bucket_strong
string_length, string_lower, string_upper, string_format = length, lower, upper, format

__getattr__ = refusing("tf.strings", __name__)
