"""Batches of one example, again and again: rows that are all the same."""
from __future__ import annotations

import numpy as np

from ....facts.roles import PLACEHOLDERS
from ...findings import Finding
from ..case import Case, finding
from ..heads import heads
from ..pairing import batches_of, inputs_of, named

COPIES = "one example in a batch"
_ROWS = 4  # that a batch has at least
_MOST = 0.9  # of the batches


def copies(case: Case) -> list[Finding]:
    """Inputs and labels of which each batch has one row, as often as it has rows, though batches differ."""
    head = next((each for each in heads(case) if each.labels is not None), None) if len(case.steps) >= _ROWS else None
    labels = batches_of(case, head.labels) if head is not None and head.labels is not None else []
    fed = {t: [np.asarray(run.feeds[t]) for run in case.steps if t in run.feeds]
           for t in inputs_of(case)} if head is not None else {}
    if head is None or head.labels is None or not fed or not all(
            _are_copies(arrays) for arrays in (labels, *fed.values())):
        return []
    tensor, arrays = next(iter(fed.items()))
    if tensor.op.type not in PLACEHOLDERS or len({each[0].tobytes() for each in arrays}) < _ROWS:
        return []
    many = sum(not _differs(each) for each in arrays)
    return [finding(72, COPIES, next(iter(tensor._consumers), tensor.op), f"in {many} of {len(arrays)} training steps "
                    f"the {len(arrays[0])} rows of {tensor.name} are one example, {len(arrays[0])} times, and so are "
                    f"those of {named(head.labels)}: a step learns that one, and forgets the others",
                    "index each row of a batch by its own number", target=tensor.name, confidence="certain")]


def _are_copies(arrays: list[np.ndarray]) -> bool:
    """Whether nearly all of these have several rows, and one in all of them."""
    large = [each for each in arrays if each.ndim and len(each) >= _ROWS]
    return len(large) >= _ROWS and sum(map(_differs, large)) <= (1 - _MOST) * len(arrays) and len(
        large) >= _MOST * len(arrays)


def _differs(array: np.ndarray) -> bool:
    return bool((array != array[:1]).any())
