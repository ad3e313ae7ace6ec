"""Names of operations and scopes: legal forms, uniqueness, suggestions."""
from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from .errors import ArgumentError, KindError, UnknownNameError

_OP_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\\-/]*\Z")


Leaves = dict[str, int]  # the last parts of the names in one scope -> how often each was asked for
_OF_RULE = "_grad"  # how the scope ends that a gradient rule builds in


class UniqueNames:
    """Names given so far, shared by operations and scopes; case does not distinguish.

    The scopes of gradient rules hold few names each, and many hold the same: these are kept once, as leaves.
    """

    def __init__(self) -> None:
        self._count: dict[str, int | Leaves] = {}  # leaves: of a scope that was taken once
        self._open: dict[str, Leaves] = {}
        self._alike: dict[tuple[tuple[str, int], ...], Leaves] = {}
        self._beside: set[str] = set()  # scopes in which names were given otherwise

    def open(self, scope: str) -> Leaves | None:
        """Where `leaf` counts the names in a rule's scope, just taken, until `close`; None if `take` gives them."""
        if not scope.endswith(_OF_RULE):
            return None
        key = scope if scope.islower() else scope.lower()
        return None if key in self._beside else self._open.setdefault(key, {})

    def close(self, scope: str, leaves: Leaves) -> None:
        """Keep the leaves of a scope with those like them."""
        key = scope if scope.islower() else scope.lower()
        if self._open.pop(key, None) is leaves:
            kept = tuple(leaves.items())
            self._count[key] = self._alike.get(kept) or self._alike.setdefault(kept, leaves)

    def take(self, name: str, *, mark: bool = True) -> str:
        """`name`, or `name_1`, `name_2`, … if taken. mark=False only asks."""
        key = name if name.islower() else name.lower()  # one text less to keep
        counts = self._count
        if _OF_RULE + "/" in key:
            self._take_apart(key.rpartition("/")[0])
        count = counts.get(key)
        if count is None:
            count = 1 if key[-1:].isdigit() and self._is_implied(key) else 0
        elif not isinstance(count, int):
            self._take_apart(key)
            count = 1
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

    def _take_apart(self, scope: str) -> None:
        """Before a name is given otherwise than by `leaf`: keep those of a rule's scope like all others."""
        if not scope.endswith(_OF_RULE):
            return
        self._beside.add(scope)
        leaves, known = self._open.pop(scope, None), self._count.get(scope)
        if leaves is None and isinstance(known, dict):
            leaves, self._count[scope] = dict(known), 1
        if leaves is not None:
            self._count.update({f"{scope}/{name}": count for name, count in leaves.items()})
            leaves[_TAKEN_APART] = 1

    def _is_implied(self, key: str) -> bool:
        """Whether `x_2` was given as the third `x`: that it was is not kept, as there are as many as operations."""
        base, _, number = key.rpartition("_")
        count = self._count.get(base, 0)
        return number.isdecimal() and number[0] != "0" and isinstance(count, int) and int(number) < count

    def literal(self, name: str) -> str:
        """The name of an operation whose maker has chosen all of it."""
        return name


_TAKEN_APART = "/"  # no leaf has it


def leaf(name: str, leaves: Leaves) -> str | None:
    """The last part of a name, made unique among the leaves; None if `take` is to give it."""
    key = name if name.islower() else name.lower()
    count = leaves.get(key, 0)
    if _TAKEN_APART in leaves or not count and "/" in key:
        return None
    leaves[key] = count + 1
    if not count:
        return name
    while f"{key}_{count}" in leaves:
        count += 1
    leaves[f"{key}_{count}"] = 1
    return sys.intern(f"{name}_{count}")


def is_op_name(name: str) -> bool:
    """Whether an operation may have this whole name."""
    return bool(_OP_NAME.match(name))


@functools.lru_cache(1 << 10)
def checked_op_name(name: str, scope: str) -> str:
    """`name`, which may end in `/`. Raises ArgumentError (ValueError) unless an operation in this scope may have it."""
    name = name.decode() if isinstance(name, bytes) else name
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
