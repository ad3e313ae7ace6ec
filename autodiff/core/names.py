"""Names of operations and scopes: legal forms, uniqueness, suggestions."""
from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any

from .errors import ArgumentError, KindError, UnknownNameError

_OP_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\\-/]*\Z")


class UniqueNames:
    """Names given so far, shared by operations and scopes; case does not distinguish."""

    def __init__(self) -> None:
        self._count: dict[str, int] = {}

    def take(self, name: str, *, mark: bool = True) -> str:
        """`name`, or `name_1`, `name_2`, … if taken. mark=False only asks."""
        key = name if name.islower() else name.lower()  # one text less to keep
        counts = self._count
        count = counts.get(key)
        if count is None:
            count = 1 if key[-1:].isdigit() and self._is_implied(key) else 0
        if mark:
            counts[key] = count + 1
        if count == 0:
            return name
        found = f"{key}_{count}"
        if found in counts:
            while (found := f"{key}_{count}") in counts:
                count += 1
            if mark:
                counts[found] = 1
        return found if key is name else f"{name}_{count}"

    def _is_implied(self, key: str) -> bool:
        """Whether `x_2` was given as the third `x`: that it was is not kept, as there are as many as operations."""
        base, _, number = key.rpartition("_")
        return number.isdecimal() and number[0] != "0" and int(number) < self._count.get(base, 0)

    def literal(self, name: str) -> str:
        """The name of an operation whose maker has chosen all of it."""
        return name


@functools.lru_cache(1 << 10)
def checked_op_name(name: str, scope: str) -> str:
    """`name`, which may end in `/`. Raises ArgumentError (ValueError) unless an operation in this scope may have it."""
    check_scope_name(name.removesuffix("/") if isinstance(name, str) else name, top=not scope)
    return name


def check_scope_name(name: str, *, top: bool) -> None:
    """Raises ArgumentError unless `name` is legal for a name scope, KindError (TypeError) if it is no string."""
    if not isinstance(name, str):
        raise KindError("a name is no string", expected="a string", found=repr(name))
    if not name or not _OP_NAME.match(name if top else f"x{name}"):  # below the top any of the letters may begin it
        raise ArgumentError(f"{name!r} is not a valid scope name: expected letters, digits and _.\\-/"
                            + (" after a letter, digit or dot" if top else ""))


def did_you_mean(name: str, candidates: Iterable[str], likeness: float = 0.5) -> str:
    """A line that names up to three near candidates, or an empty text. likeness: from 0 to 1, the least that counts."""
    import difflib  # only for a message

    close = difflib.get_close_matches(name, list(candidates), n=3, cutoff=likeness)
    return f"did you mean {' or '.join(map(repr, close))}?" if close else ""


_FORM = 'Tensor names must be of the form "<op_name>:<output_index>".'


def element_named(name: str, operations: Mapping[str, Any], *, allow_tensor: bool, allow_operation: bool) -> Any:
    """The operation or tensor of this name.

    Raises ArgumentError (ValueError) for a name of the wrong form, UnknownNameError (KeyError) for an unknown one.
    """
    if ":" in name and allow_tensor:
        op_name, _, slot = name.partition(":")
        if not slot.isdigit():
            raise ArgumentError(f"The name {name!r} looks a like a Tensor name, but is not a valid one. {_FORM}")
        op = operations.get(op_name)
        if op is None:
            raise UnknownNameError(f"The name {name!r} refers to a Tensor which does not exist. The operation, "
                                   f"{op_name!r}, does not exist in the graph.").explain(
                                       hint=did_you_mean(op_name, operations))
        if int(slot) >= len(op.outputs):
            raise UnknownNameError(f"The name {name!r} refers to a Tensor which does not exist. The operation, "
                                   f"{op_name!r}, exists but only has {len(op.outputs)} outputs.")
        return op.outputs[int(slot)]
    if ":" in name:
        raise ArgumentError(f"Name {name!r} appears to refer to a Tensor, not a Operation.")
    op = operations.get(name)
    if op is not None and allow_operation:
        return op
    if op is not None:
        raise ArgumentError(f"The name {name!r} refers to an Operation, not a Tensor. {_FORM}", hint=f"{name}:0")
    if not allow_operation:
        raise ArgumentError(f"The name {name!r} looks like an (invalid) Operation name, not a Tensor. {_FORM}")
    raise UnknownNameError(f"The name {name!r} refers to an Operation not in the graph.").explain(
        hint=did_you_mean(name, operations))
