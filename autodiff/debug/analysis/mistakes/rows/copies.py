"""Batches that a dataset gives otherwise than meant: of one example again and again, or of a dataset left as it was."""
from __future__ import annotations

import numpy as np

from .....core.site import source_lines
from ....facts.roles import PLACEHOLDERS, place_on
from ...findings import Finding
from ...scripts.parsed import Parsed
from ...scripts.thrown_away import OF_DATASETS, left_dataset
from ..case import Case, finding
from ..heads import heads
from ..pairing import batches_of, inputs_of, named

COPIES = "one example in a batch"
_ROWS = 4  # that a batch has at least
_MOST = 0.9  # of the batches
LEFT = "dataset thrown away"
_FASTER = ("cache", "prefetch")  # which change no element


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


def left_datasets(case: Case) -> list[Finding]:
    """The first call of a method of a dataset whose result is thrown away, in the files that made the loss."""
    made = {op.site.file: op for op in reversed(case.behind) if op.site is not None} if case.steps else {}
    for file, op in made.items():
        text = "".join(source_lines(file))
        try:
            found = left_dataset(Parsed(text), *OF_DATASETS) if "Dataset" in text else None
        except (SyntaxError, ValueError):
            continue
        if found is not None:
            place = place_on(file, found[0])
            is_faster = any(f".{each}(" in place.text for each in _FASTER)
            return [finding(30 if is_faster else 56, LEFT, op, f"what {place.text} gives is thrown away: a dataset "
                            "stays as it is, and its methods give new ones", "give it to the name that it is of",
                            confidence="certain")]
    return []
