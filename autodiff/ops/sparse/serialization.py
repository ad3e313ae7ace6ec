"""Sparse tensors as texts, one for each part, that queues and batches can hold; and back."""

import numpy as np

from ...core.declare import op
from ...core.dtypes import as_dtype, int64, string
from ...core.errors import AutodiffError, InvalidArgumentError
from ...core.infer import rank_of
from ...core.op import Index, Own, Spec
from ..common.coordinates import coordinates
from ..common.file_formats import file_format
from ..common.texts import Text, plain
from ..files.bytes import serialize_tensor

_NO_GRADIENT = "texts have no gradient"


def _texts(*parts):
    return np.array([serialize_tensor.kernel(part) for part in parts], object)


def _one(indices, values, shape):
    coordinates(indices, values, shape)
    return Spec(string, (3,))


@op("SerializeSparse", infer=_one, stateful=True, no_grad=_NO_GRADIENT)
def serialize_sparse(indices: Index, values: Own, shape: Index):
    """The texts of indices, values and shape. int[n, r], any[n], int[r] -> string[3]."""
    return _texts(indices, values, shape)


def _many(indices, values, shape):
    coordinates(indices, values, shape)
    return Spec(string, (None, 3))


@op("SerializeManySparse", infer=_many, stateful=True, no_grad=_NO_GRADIENT)
def serialize_many_sparse(indices: Index, values: Own, shape: Index):
    """The texts of each slice along axis 0. int[n, r], any[n], int[r] -> string[shape[0], 3]."""
    rows = [indices[:, 0] == i for i in range(int(shape[0]))]
    slices = [_texts(indices[row, 1:], values[row], shape[1:]) for row in rows]
    return np.array(slices, object).reshape(-1, 3)


def _parsed(text, kind, i, part):
    values = file_format("tensor_values")
    try:
        proto = values.TensorProto.FromString(plain(text))
    except AutodiffError as error:
        raise InvalidArgumentError(f"Could not parse serialized proto: {error}") from None
    found = values.dtype_name(proto.dtype)
    if found != kind.name:
        raise InvalidArgumentError(f"Requested SparseTensor of type {kind.name} but SparseTensor[{i}].{part}.dtype() "
                                   f"== {found}")
    return values.array_of_proto(proto)


def _parts(serialized, *, dtype):
    rank_of(serialized, at_least=1, what="serialized")
    return Spec(int64, (None, None)), Spec(as_dtype(dtype), (None,)), Spec(int64, (None,))


@op("DeserializeSparse", infer=_parts, stateful=True, no_grad=_NO_GRADIENT)
def deserialize_sparse(serialized: Text, *, dtype):
    """The sparse tensor of the texts of several: their leading axes come first, its sizes are the largest of theirs.

    serialized: string[..., 3] -> indices int64[n, rank], values dtype[n], dense_shape int64[rank]. Raises
    InvalidArgumentError for another last size, texts of another type, or tensors of several ranks.
    """
    if serialized.shape[-1] != 3:
        raise InvalidArgumentError("Serialized sparse tensors should have 3 columns", found=serialized.shape[-1])
    lead, rows = serialized.shape[:-1], serialized.reshape(-1, 3)
    kinds = int64, as_dtype(dtype), int64
    parsed = [[_parsed(text, kind, i, part) for text, kind, part in zip(row, kinds, ("indices", "values", "shape"))]
              for i, row in enumerate(rows)]
    for i, (_, _, shape) in enumerate(parsed):
        if len(shape) != len(parsed[0][2]):
            raise InvalidArgumentError(f"Inconsistent shape across SparseTensors: rank prior to SparseTensor[{i}] was: "
                                       f"{len(parsed[0][2])} but rank of SparseTensor[{i}] is: {len(shape)}")
    indices = [np.concatenate([np.tile(np.array(np.unravel_index(i, lead), np.int64).reshape(1, -1), (len(where), 1)),
                               where], axis=1) if lead else where for i, (where, _, _) in enumerate(parsed)]
    if not parsed:
        return np.zeros((0, len(lead)), np.int64), np.zeros(0, kinds[1].as_numpy_dtype), np.array(lead, np.int64)
    shape = np.max([shape for _, _, shape in parsed], axis=0)
    return (np.concatenate(indices), np.concatenate([values for _, values, _ in parsed]),
            np.concatenate([np.array(lead, np.int64), shape]))
