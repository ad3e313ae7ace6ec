"""Bytes to tensors and back: raw numbers, serialized tensors, whole files."""

import glob
import os

import numpy as np

from ...core.declare import op
from ...core.dtypes import as_dtype, string
from ...core.errors import AutodiffError, InvalidArgumentError, NotFoundError
from ...core.op import Int32, Own, Spec
from ...core.shapes import show
from ..common.file_formats import file_format
from ..common.texts import Text, plain, text_op


def _one_text(*inputs, **attrs):
    return Spec(string, ())


def _numbers(bytes, *, out_type, little_endian=True):
    return Spec(as_dtype(out_type), None if bytes.dims is None else (*bytes.dims, None))


@text_op("DecodeRaw", infer=_numbers)
def decode_raw(bytes: Text, *, out_type, little_endian=True):
    """Texts as the numbers that their bytes are. bytes: string[...] -> out_type[..., n]."""
    texts = np.asarray(bytes, object)
    dtype = np.dtype(as_dtype(out_type).as_numpy_dtype).newbyteorder("<" if little_endian else ">")
    parts = texts.ravel().tolist()
    lengths = {len(part) for part in parts}
    if len(lengths) > 1:
        raise InvalidArgumentError("DecodeRaw requires input strings to all be the same size, but element lengths are "
                                   f"{sorted(lengths)}")
    size = lengths.pop() if lengths else 0
    if size % dtype.itemsize:
        raise InvalidArgumentError(f"Input to DecodeRaw has length {size} that is not a multiple of {dtype.itemsize}, "
                                   f"the size of {as_dtype(out_type).name}")
    whole = np.frombuffer(b"".join(parts), dtype).astype(dtype.newbyteorder("="))
    return whole.reshape(*texts.shape, size // dtype.itemsize)


@text_op("DecodePaddedRaw", infer=lambda input_bytes, fixed_length, **attrs: _numbers(input_bytes, **attrs))
def decode_padded_raw(input_bytes: Text, fixed_length: Int32, *, out_type, little_endian=True):
    """So many bytes of each text, filled up with zeros, as numbers. input_bytes: string[...] -> out_type[..., n]."""
    size = int(fixed_length)
    texts = np.asarray(input_bytes, object)
    padded = np.array([text[:size].ljust(size, b"\0") for text in texts.ravel().tolist()], object)
    return decode_raw.kernel(padded.reshape(texts.shape), out_type=out_type, little_endian=little_endian)


@op("SerializeTensor", infer=_one_text, stateful=True, no_grad="a text has no gradient")
def serialize_tensor(tensor: Own):
    """A tensor as the bytes of a TensorProto. tensor: any[...] -> string[]."""
    array = np.asarray(tensor)
    name = "string" if array.dtype == object else array.dtype.name
    return file_format("tensor_values").proto_of_array(name, array).SerializeToString()


@text_op("ParseTensor", infer=lambda serialized, *, out_type: Spec(as_dtype(out_type), None))
def parse_tensor(serialized: Text, *, out_type):
    """The tensor of a TensorProto's bytes. serialized: string[] -> out_type[...]."""
    if np.ndim(serialized):
        raise InvalidArgumentError(f"Expected `serialized` to be a scalar, got shape: {show(np.shape(serialized))}")
    values = file_format("tensor_values")
    try:
        proto = values.TensorProto.FromString(plain(serialized))
    except AutodiffError as error:
        shown = plain(serialized)[:40].decode("utf8", "replace")
        raise InvalidArgumentError(f"Could not parse `serialized` as TensorProto: '{shown}'\n{error}") from None
    if values.dtype_name(proto.dtype) != as_dtype(out_type).name:
        raise InvalidArgumentError(f"Type mismatch between parsed tensor ({values.dtype_name(proto.dtype)}) and dtype "
                                   f"({as_dtype(out_type).name})")
    return values.array_of_proto(proto)


@op("ReadFile", infer=_one_text, stateful=True, no_grad="a text has no gradient")
def read_file(filename: Text):
    """The content of a file. filename: string[] -> string[]."""
    try:
        with open(plain(filename), "rb") as file:
            return file.read()
    except OSError as error:
        raise NotFoundError(f"{plain(filename).decode(errors='replace')}; {error.strerror}") from None


@op("WriteFile", infer=lambda filename, contents: (), stateful=True, no_grad="a file is written")
def write_file(filename: Text, contents: Text):
    """Write a file. filename, contents: string[]."""
    try:
        os.makedirs(os.path.dirname(plain(filename)) or b".", exist_ok=True)
        with open(plain(filename), "wb") as file:
            file.write(plain(contents))
    except OSError as error:
        raise NotFoundError(f"{plain(filename).decode(errors='replace')}; {error.strerror}") from None
    return ()


@text_op("MatchingFiles", infer=lambda pattern: Spec(string, (None,)))
def matching_files(pattern: Text):
    """Names of the files that fit patterns, sorted. pattern: string[...] -> string[n]."""
    names = sorted(name for each in np.asarray(pattern, object).ravel().tolist() for name in glob.glob(each))
    return np.array(names, object)
