"""What tests of the whole code base say when they find something: every place, one a line."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from autodiff.debug import Debugger


def expect_none(found: Iterable[object], about: str = "") -> None:
    """Fail with the list of what was found, unless it is empty."""
    lines = list(dict.fromkeys(map(str, found)))
    assert not lines, "\n".join([about, *lines])


def expect_step(dbg: Debugger, step: int, before: Mapping[str, Any], given: Sequence[Any]) -> None:
    """Fail unless a past step is what it was: the variables it began with, and the loss and h that it gave."""
    found = dict(dbg.state.moment(step).variables)
    assert list(found) == list(before)
    for name, value in before.items():
        np.testing.assert_array_equal(found[name], value, err_msg=f"{name} before step {step}")
    for name, value in zip(("loss", "h"), given):
        np.testing.assert_array_equal(dbg.value(name, step=step).array, value)
