"""Names of operations and scopes: legal forms, uniqueness, suggestions."""
from __future__ import annotations

import re
from collections.abc import Iterable

from .errors import ArgumentError

_OP_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\\-/]*\Z")
_SCOPE_NAME = re.compile(r"[A-Za-z0-9_.\\\-/]*\Z")


class UniqueNames:
    """Names given so far, shared by operations and scopes; case does not distinguish."""

    def __init__(self) -> None:
        self._count: dict[str, int] = {}

    def take(self, name: str, *, mark: bool = True) -> str:
        """`name`, or `name_1`, `name_2`, … if taken. mark=False only asks."""
        key = name if name.islower() else name.lower()  # one text less to keep
        count = self._count.get(key, 0)
        if mark:
            self._count[key] = count + 1
        if count == 0:
            return name
        while (found := f"{key}_{count}") in self._count:
            count += 1
        if mark:
            self._count[found] = 1
        return found if key is name else f"{name}_{count}"


def check_op_name(name: str) -> None:
    """Raises ArgumentError unless `name` is legal for an operation."""
    if not _OP_NAME.match(name):
        raise ArgumentError(f"{name!r} is not a valid scope name: expected letters, digits and _.\\-/ after a letter, "
                            "digit or dot")


def check_scope_name(name: str, *, top: bool) -> None:
    """Raises ArgumentError unless `name` is legal for a name scope."""
    if not (_OP_NAME if top else _SCOPE_NAME).match(name):
        raise ArgumentError(f"{name!r} is not a valid scope name: expected letters, digits and _.\\-/"
                            + (" after a letter, digit or dot" if top else ""))


def did_you_mean(name: str, candidates: Iterable[str], likeness: float = 0.5) -> str:
    """A line that names up to three near candidates, or an empty text. likeness: from 0 to 1, the least that counts."""
    import difflib  # only for a message

    close = difflib.get_close_matches(name, list(candidates), n=3, cutoff=likeness)
    return f"did you mean {' or '.join(map(repr, close))}?" if close else ""
