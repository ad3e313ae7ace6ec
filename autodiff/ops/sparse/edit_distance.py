"""Levenshtein's distance of sequences along the last axis of sparse tensors."""

import numpy as np

from ...core.constant_value import static_value
from ...core.declare import op
from ...core.dtypes import float32
from ...core.errors import ShapeError
from ...core.op import Index, Spec
from ..common.batch_axis import unvaried
from ..common.coordinates import checked, coordinates


def _distances(*parts, **_):
    ranks = [coordinates(*parts[i:i + 3])[1] for i in (0, 3)]
    if None not in ranks and ranks[0] != ranks[1]:
        raise ShapeError(f"Num elements of hypothesis_shape does not match truth_shape: {ranks[0]} vs. {ranks[1]}")
    rank = ranks[1] if ranks[0] is None else ranks[0]
    shapes = [static_value(parts[i]) for i in (2, 5)]
    if None in (rank, *(None if shape is None else 0 for shape in shapes)):
        return Spec(float32, None if rank is None else (None,) * (rank - 1))
    return Spec(float32, tuple(np.maximum(*shapes)[:-1].tolist()))


@op("EditDistance", infer=_distances, no_grad="edits are counted, not computed", batched=unvaried(*range(6)))
def edit_distance(hypothesis_indices: Index, hypothesis_values, hypothesis_shape: Index, truth_indices: Index,
                  truth_values, truth_shape: Index, *, normalize=True):
    """The least count of insertions, deletions and changes that make a hypothesis the truth: float32[...].

    Sparse tensors of one rank, whose sequences lie along the last axis; of the other axes the result has the larger
    sizes. normalize: divided by the length of the truth, inf where there is none.
    """
    checked(hypothesis_indices, hypothesis_values, hypothesis_shape)
    checked(truth_indices, truth_values, truth_shape)
    out = np.zeros(np.maximum(hypothesis_shape, truth_shape)[:-1], np.float32)
    guesses, truths = _sequences(hypothesis_indices, hypothesis_values), _sequences(truth_indices, truth_values)
    for place in guesses.keys() | truths.keys():
        guess, truth = guesses.get(place, []), truths.get(place, [])
        edits = _edits(guess, truth)
        out[place] = edits if not normalize else edits / len(truth) if truth else np.inf
    return out


def _sequences(indices, values):
    """Place -> the values along the last axis there."""
    found = {}
    for (*place, _), value in zip(indices.tolist(), values.tolist()):
        found.setdefault(tuple(place), []).append(value)
    return found


def _edits(a, b):
    above = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(row[-1] + 1, above[j] + 1, above[j - 1] + (x != y)))
        above = row
    return above[-1]
