"""Sets of whole numbers or words along the last axis: what is in both, in either, in one alone."""

import numpy as np

from ...core.declare import op
from ...core.dtypes import int8, int16, int32, int64, string, uint8, uint16
from ...core.errors import ArgumentError
from ...core.op import Index, Spec
from ..common.batch_axis import unvaried
from ..common.coordinates import checked, coordinates, numbers

OPERATIONS = {"a-b": np.setdiff1d, "b-a": lambda a, b: np.setdiff1d(b, a), "intersection": np.intersect1d,
              "union": np.union1d}


def _made(a_indices, a_values, a_shape, b_indices, b_values, b_shape, *, operation):
    if operation not in OPERATIONS:
        raise ArgumentError(f"Invalid set operation: {operation}", expected=", ".join(OPERATIONS))
    rank = coordinates(a_indices, a_values, a_shape)[1]
    coordinates(b_indices, b_values, b_shape)
    index = a_indices.dtype.base_dtype
    return Spec(index, (None, rank)), Spec(a_values.dtype.base_dtype, (None,)), Spec(index, (rank,))


@op("SetOperation", infer=_made, dtypes=(int8, int16, int32, int64, uint8, uint16, string),
    no_grad="members of sets are chosen, not computed")
def set_operation(a_indices: Index, a_values, a_shape: Index, b_indices: Index, b_values, b_shape: Index, *, operation):
    """A set for each place of all axes but the last, in ascending order. Gives indices, values and the shape.

    a_indices: int[n, rank], a_values: T[n], a_shape: int[rank], rank >= 2; b the same, of the same shape but for the
    last axis, sparse tensors whose members are the values at a place. operation: 'a-b', 'b-a', 'intersection' or
    'union'. Raises InvalidArgumentError for other ranks or shapes.
    """
    checked(a_indices, a_values, a_shape)
    checked(b_indices, b_values, b_shape)
    if a_shape.size < 2 or not np.array_equal(a_shape[:-1], b_shape[:-1]):
        raise ArgumentError(f"Mismatched group shapes: {a_shape.tolist()} and {b_shape.tolist()}",
                            expected="rank >= 2 and equal sizes of all axes but the last")
    groups = a_shape[:-1]
    a_places, b_places = numbers(a_indices[:, :-1], groups), numbers(b_indices[:, :-1], groups)
    indices, values, largest = [], [], 0
    for place in np.union1d(a_places, b_places):
        members = OPERATIONS[operation](a_values[a_places == place], b_values[b_places == place])
        group = np.array(np.unravel_index(place, groups), a_indices.dtype)
        indices += [(*group, i) for i in range(len(members))]
        values.append(members)
        largest = max(largest, len(members))
    return (np.array(indices, a_indices.dtype).reshape(-1, a_shape.size),
            np.concatenate([*values, a_values[:0]]).astype(a_values.dtype),
            np.array([*groups, largest], a_indices.dtype))


set_operation.batched(unvaried(*range(6)))
