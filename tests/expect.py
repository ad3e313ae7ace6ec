"""What tests of the whole code base say when they find something: every place, one a line."""

from collections.abc import Iterable


def expect_none(found: Iterable[object], about: str = "") -> None:
    """Fail with the list of what was found, unless it is empty."""
    lines = list(dict.fromkeys(map(str, found)))
    assert not lines, "\n".join([about, *lines])
