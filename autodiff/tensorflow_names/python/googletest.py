"""tensorflow.python.platform.googletest: a test case without a graph of its own, and the places for files."""
from __future__ import annotations

import unittest

from ...api.test.assertions import Assertions
from ...api.test.case import get_temp_dir

__all__ = ["GetTempDir", "TestCase", "main"]
main = unittest.main
GetTempDir = get_temp_dir


class TestCase(Assertions):
    """Python's own test case with the assertions of TensorFlow's; no graph is made for it."""


class StubOutForTesting:
    """Attributes replaced for a test, put back by UnsetAll."""

    def __init__(self) -> None:
        self._kept: list[tuple[object, str, object]] = []

    def Set(self, parent: object, child_name: str, new_child: object) -> None:  # noqa: N802
        """Replace an attribute."""
        self._kept.append((parent, child_name, getattr(parent, child_name)))
        setattr(parent, child_name, new_child)

    SmartSet = Set

    def UnsetAll(self) -> None:  # noqa: N802
        """Put all back."""
        while self._kept:
            setattr(*self._kept.pop())

    SmartUnsetAll = CleanUp = UnsetAll
