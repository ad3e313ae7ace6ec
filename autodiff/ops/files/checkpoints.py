"""Checkpoints as ops: what a stored graph's `save` and `restore` are made of."""

import os

import numpy as np

from ...core.declare import op
from ...core.dtypes import as_dtype, string
from ...core.errors import InvalidArgumentError, NotFoundError
from ...core.infer import fixed, rank_of
from ...core.op import Own, Spec, outputs
from ...core.shapes import show
from ..common.file_formats import file_format
from ..common.texts import Text, spelled


def _texts(texts):
    return [t.decode() if isinstance(t, bytes) else t for t in np.asarray(texts, object).ravel().tolist()]


def _part(text):
    """`7 2 0,3:-` -> (7, 2), (0, 0), (3, 2): of which whole a part is, where it begins, and its shape; None for all."""
    if not text:
        return None
    *dims, slices = text.split(" ")
    full, extents = tuple(map(int, dims)), slices.split(":") if slices else []
    if len(extents) != len(full):
        raise InvalidArgumentError(expected="a shape and a slice of it, as '7 2 0,3:-'", found=repr(text))
    pairs = [(0, dim) if extent == "-" else tuple(map(int, extent.split(","))) for extent, dim in zip(extents, full)]
    return full, tuple(begin for begin, _ in pairs), tuple(length for _, length in pairs)


def _restored(prefix, tensor_names, shape_and_slices, *, dtypes):
    rank_of(tensor_names, exactly=1, what="tensor_names")
    return tuple(Spec(as_dtype(dtype), None) for dtype in dtypes)


@op("RestoreV2", infer=_restored, stateful=True, no_grad="the values come from a file")
def restore(prefix: Text, tensor_names: Text, shape_and_slices: Text, *, dtypes):
    """Arrays of a checkpoint, or parts of them. prefix: string[]; the others: string[n] -> any[...] n times."""
    reader, found = file_format("checkpoints").open_checkpoint(spelled(prefix)), []
    stored = reader.dtypes()
    for name, text, dtype in zip(_texts(tensor_names), _texts(shape_and_slices), map(as_dtype, dtypes)):
        if name not in stored:
            raise NotFoundError(f"Key {name} not found in checkpoint\nit holds: {', '.join(stored) or 'nothing'}")
        if stored[name] != dtype.name and stored[name] != "bfloat16":
            raise InvalidArgumentError(f"Expected dtype {dtype.name} of {name!r} does not equal original dtype "
                                       f"{stored[name]}")
        array, part = reader.read(name), _part(text)
        if part is not None:
            array = array[tuple(slice(begin, begin + length) for begin, length in zip(*part[1:]))]
        found.append(np.ascontiguousarray(array).reshape(array.shape))
    return outputs(tuple(found))


def _nothing(*inputs, **attrs):
    return ()


def _stored(dtype, array, part):
    return file_format("checkpoint").Stored(dtype, array, part)


@op("SaveV2", infer=_nothing, stateful=True, no_grad="a file is written")
def save(prefix: Text, tensor_names: Text, shape_and_slices: Text, *tensors: Own):
    """Write a checkpoint. prefix: string[], tensor_names and shape_and_slices: string[n], tensors: any[...] n times."""
    found: dict = {}
    for name, text, array in zip(_texts(tensor_names), _texts(shape_and_slices), tensors):
        array, part = np.asarray(array), _part(text)
        stored = _stored(as_dtype(array.dtype).name, array, part and file_format("checkpoint").Part(*part[:2]))
        if part:
            found.setdefault(name, []).append(stored)
        else:
            found[name] = stored
    try:
        file_format("checkpoint").write_bundle(spelled(prefix), found)
    except OSError as error:
        raise NotFoundError(f"{spelled(prefix)}; {error.strerror}") from None
    return ()


@op("MergeV2Checkpoints", infer=_nothing, stateful=True, no_grad="files are written")
def merge_checkpoints(checkpoint_prefixes: Text, destination_prefix: Text, *, delete_old_dirs=True):
    """Several checkpoints as one. checkpoint_prefixes: string[n], destination_prefix: string[]."""
    prefixes, merged = _texts(checkpoint_prefixes), {}
    for prefix in prefixes:
        reader = file_format("checkpoints").open_checkpoint(prefix)
        merged.update({name: _stored(dtype, reader.read(name), None) for name, dtype in reader.dtypes().items()})
    file_format("checkpoint").write_bundle(spelled(destination_prefix), merged)
    for prefix in prefixes:
        if file_format("checkpoints").prefix_of(prefix) != spelled(destination_prefix):
            for suffix in (".index", ".data-00000-of-00001"):
                os.remove(prefix + suffix)
            if delete_old_dirs and not os.listdir(os.path.dirname(prefix) or "."):
                os.rmdir(os.path.dirname(prefix))
    return ()


@op("ShardedFilename", infer=fixed(string), stateful=True, no_grad="a text has none")
def sharded_filename(basename: Text, shard: Own, num_shards: Own):
    """The name of one file of several. basename: string[], shard, num_shards: int[] -> string[]."""
    for what, value in ("basename", basename), ("shard", shard), ("num_shards", num_shards):
        if np.ndim(value):
            raise InvalidArgumentError(f"{what} must be a scalar, got shape {show(np.shape(value))}")
    return f"{spelled(basename)}-{int(shard):05d}-of-{int(num_shards):05d}".encode()
