"""tensorflow.python.compat.compat: the date before which changes of TensorFlow's graphs count as made."""
from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator

_horizon = [datetime.date(2019, 8, 21)]  # of TensorFlow 1.15, and what scripts set inside of a `with`


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether a change of that date counts as made."""
    return _horizon[-1] > datetime.date(year, month, day)


@contextlib.contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """Inside, the date is this one."""
    _horizon.append(datetime.date(year, month, day))
    try:
        yield
    finally:
        _horizon.pop()
