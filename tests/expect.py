"""What tests of many things say when they find something: every place, each row."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from autodiff.debug import Debugger


def expect_none(found: Iterable[object], about: str = "") -> None:
    """Fail with the list of what was found, unless it is empty."""
    lines = list(dict.fromkeys(map(str, found)))
    assert not lines, "\n".join([about, *lines])


def expect_each(checks: Iterable[tuple[str, Callable[[], object]]]) -> None:
    """Do every named check, whatever became of those before it, and fail with all that failed."""
    failed = []
    for name, check in checks:
        try:
            check()
        except (Exception, pytest.fail.Exception) as error:
            error.add_note(f"in {name}")
            failed.append(error)
    if failed:
        raise BaseExceptionGroup(f"{len(failed)} checks fail", failed)


def expect_run(dbg: Debugger, run: int, before: Mapping[str, Any], given: Sequence[Any]) -> None:
    """Fail unless a past run is what it was: the variables it began with, and the loss and h that it gave."""
    found = dict(dbg.state.moment(run).variables)
    assert list(found) == list(before)
    for name, value in before.items():
        np.testing.assert_array_equal(found[name], value, err_msg=f"{name} before run {run}")
    for name, value in zip(("loss", "h"), given):
        np.testing.assert_array_equal(dbg.state.values([dbg.model.targets.one(name)], dbg.state.moment(run))[0], value)
