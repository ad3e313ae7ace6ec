"""Other numbers to feed, to be tried: cleaned, within usual bounds, scaled, or as before."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ....core.graph import Tensor
from ...analysis.edits import formulas
from ...analysis.edits.in_graph import Edit
from ...history.replay import Moment
from .came_from import FAR, usual_size

UNSCALED = 100.0  # what nobody feeds who has scaled the data
_LARGE, _ODD = 5.0, 20.0  # of what is fed at all, and of a number of it that is to blame


def scaled_feeds(failed: Moment, least: float = _LARGE) -> Iterable[list[Edit]]:
    """All that is larger than `least`, scaled."""
    large = [formulas.scaled_feed(t, np.ndim(value)) for t, value in failed.feeds.items() if t.dtype.is_floating
             and np.ndim(value) and len(value) > 1 and np.abs(value).max(initial=0.0) > least]
    yield from [large] if large else []


def other_number(fed: Tensor, failed: Moment, moments: Sequence[Moment]) -> Iterable[list[Edit]]:
    """Of a placeholder that is fed one number, 0 now: what it was fed before."""
    if fed.dtype.is_floating and fed in failed.feeds and not np.any(failed.feeds[fed]):
        before = [abs(float(m.feeds[fed])) for m in moments if np.ndim(m.feeds.get(fed, ())) == 0]
        yield from [[formulas.higher_feed(fed, min(filter(None, before)))]] if any(before) else []


def other_feeds(fed: Tensor, index: tuple[int, ...], failed: Moment, moments: Sequence[Moment]) -> Iterable[list[Edit]]:
    """Of the placeholder of which an element is the origin: cleaned, within usual bounds, or scaled."""
    if not fed.dtype.is_floating or not np.ndim(failed.feeds.get(fed, 0.0)):
        return
    array = np.asarray(failed.feeds[fed], np.float64)
    value, usual = abs(array[index]), usual_size(fed, [m for m in moments if m.run < failed.run])
    if not np.isfinite(value):
        yield [formulas.clean_feed(fed)]
    elif value in (0.0, 1.0) and array.min() >= 0.0 and array.max() <= 1.0:
        yield [formulas.clipped_feed(fed, 1e-6, 1.0 - 1e-6)]
    elif usual and value > FAR * usual:
        yield [formulas.clipped_feed(fed, -usual, usual)]
    elif value > _ODD and len(array) > 1:  # one row has no mean
        yield [formulas.scaled_feed(fed, array.ndim)]
