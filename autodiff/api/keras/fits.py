"""What `fit` was given: the rows in their order, those that it keeps to validate with, and whether it mixes them."""
from __future__ import annotations

from typing import Any, NamedTuple

from ...core.site import RawFrames
from .batches import Batch


class Fit(NamedTuple):
    """One call. x, y: what it trains with. held: the part that validation_split keeps, () for none. frames: where it
    was called."""

    x: Any
    y: Any
    held: Batch | tuple[()]
    size: int
    shuffles: bool
    frames: RawFrames


def parted(arrays: Batch, share: float) -> tuple[Batch, Batch]:
    """The rows to train with, and the last ones, by their share of all."""
    at = int(len(arrays[0][0]) * (1.0 - share))
    return tuple(tuple([each[part] for each in side] for side in arrays)  # type: ignore[return-value]
                 for part in (slice(at), slice(at, None)))
