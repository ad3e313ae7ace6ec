"""Names of operations and scopes: legal forms, uniqueness, suggestions."""
from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any

from .errors import ArgumentError, KindError, UnknownNameError

_OP_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\\-/]*\Z")


OF_RULE = "_grad"  # how the scope ends that a gradient rule builds in


class UniqueNames:
    """Names given so far, shared by operations and scopes; case does not distinguish.

    has_rules: whether any is in a scope that ends as those of gradient rules do.
    """

    def __init__(self) -> None:
        self.has_rules = False
        self._count: dict[str, int] = {}
        self._implied: list[RuleScopes] = []

    def implies(self, rules: "RuleScopes") -> bool:
        """Whether what the rules of a sweep name is known from its operations: no other sweep is in its scope."""
        if any(rules.prefix.startswith(other.prefix) or other.prefix.startswith(rules.prefix)
               for other in self._implied):
            return False
        self._implied.append(rules)
        return True

    def take(self, name: str, *, mark: bool = True) -> str:
        """`name`, or `name_1`, `name_2`, … if taken. mark=False only asks."""
        key = name if name.islower() else name.lower()  # one text less to keep
        counts = self._count
        if OF_RULE in key:
            self._tell_like(key)
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

    def _tell_like(self, key: str) -> None:
        """Before a name is given that may be like a rule's: keep those of the sweep in whose scope it is."""
        self.has_rules = True
        if key.endswith(OF_RULE) or key.rpartition("/")[0].endswith(OF_RULE):
            for rules in [each for each in self._implied if key.startswith(each.prefix)]:
                self._implied.remove(rules)
                rules.tell()

    def _is_implied(self, key: str) -> bool:
        """Whether `x_2` was given as the third `x`: that it was is not kept, as there are as many as operations."""
        base, _, number = key.rpartition("_")
        count = self._count.get(base, 0)
        return number.isdecimal() and number[0] != "0" and int(number) < count

    def literal(self, name: str) -> str:
        """The name of an operation whose maker has chosen all of it."""
        return name


class RuleScopes:
    """The scopes `<outer>/<op>_grad` that the rules of a sweep build in, one after the other.

    Of a rule that names nothing but operations no name is kept: theirs are made late, of the operation that it is of.
    operation: this one. scope: where it builds; "" between rules, and while `take` gives all names. has_scopes:
    whether a name is not an operation's. made_from: rule -> what the graph has for operations that it makes.
    """

    __slots__ = ("graph", "outer", "prefix", "operation", "scope", "has_scopes", "made_from", "_leaves", "_are_implied",
                 "_ruled", "_innermost", "_parts")

    def __init__(self, graph: Any) -> None:
        self.graph, self.outer, self.prefix = graph, graph.scope, f"{graph.scope.lower()}/"
        self.scope, self.has_scopes, self._innermost = "", False, graph._scopes
        self.made_from: dict[Any, Any] = {}
        self._leaves = UniqueNames()  # the last parts of the names in the scope
        self._parts: dict[str, tuple[str | None, tuple[str, str]]] = {}  # as many operations share them
        self._ruled: list[Any] = []
        self._are_implied = bool(self.outer) and not graph.executing_eagerly and graph.names.implies(self)

    def open(self, operation: Any) -> str:
        """Enter the scope of an operation's rule, and give it."""
        scope, names = f"{self.outer}/{operation.name}{OF_RULE}", self.graph.names
        if not self._are_implied or names.has_rules and scope.lower() in names._count:
            scope = self.graph.unique_name(f"{operation.name}{OF_RULE}")
        else:
            self.operation, self.scope, self.has_scopes, self._leaves._count = operation, scope, False, {}
        self._innermost.value = scope
        return scope

    def close(self) -> None:
        """Leave the scope."""
        self._innermost.value = self.outer
        if self.has_scopes:
            self._keep()
        elif self.scope:
            self._ruled.append(self.operation)
        self.scope = ""

    def leaf(self, name: str) -> tuple[str, str] | None:
        """`outer` and the last part of a name, made unique in the scope; None if `take` is to give it."""
        key, found = self._parts.get(name) or self._part(name)
        known = self._leaves._count
        if key is not None and key not in known:  # as most are: `take`, of a name that it gives as it is
            known[key] = 1
            return found
        return None if "/" in name else self._part(self._leaves.take(name))[1]

    def _part(self, name: str) -> tuple[str | None, tuple[str, str]]:
        """The key of a name, None if it has a number or scopes, and the name as operations have it."""
        is_plain = "/" not in name and not name[-1:].isdigit() and OF_RULE not in name
        return self._parts.setdefault(name, (name.lower() if is_plain else None, (self.outer, name)))

    def tell(self) -> None:
        """From now on keep the names in here like all others, those given so far too."""
        self._are_implied = False
        self._keep()  # how often each was asked for is known in here only
        names = [f"{self.outer}/{operation.name}{OF_RULE}" for operation in self._ruled]
        names += [each.name for each in self.graph.operations.listed if each.origin is not None]
        self._ruled.clear()
        for key in map(str.lower, names):
            if key.startswith(self.prefix):
                self.graph.names._count.setdefault(key, 1)

    def _keep(self) -> None:
        """Keep the names in the scope like all others, and let `take` give those to come."""
        if self.scope:
            self.graph.names.has_rules = True
            for name, count in (("", 1), *self._leaves._count.items()):
                self.graph.names._count.setdefault(f"{self.scope}/{name}".lower().removesuffix("/"), count)
        self.scope = ""


@functools.lru_cache(1 << 10)
def is_op_name(name: str) -> bool:
    """Whether an operation may have this whole name."""
    return bool(_OP_NAME.match(name))


@functools.lru_cache(1 << 10)
def checked_op_name(name: str, top: bool) -> str:
    """`name`, which may end in `/`. Raises ArgumentError (ValueError) unless an operation may have it.

    top: outside of all scopes.
    """
    name = name.decode() if isinstance(name, bytes) else name
    check_scope_name(name.removesuffix("/") if isinstance(name, str) else name, top=top)
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
    near = closest(name, candidates, likeness)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else ""


def closest(name: str, candidates: Iterable[str], likeness: float = 0.5) -> list[str]:
    """Up to three near candidates, the nearest first."""
    import difflib  # only for a message

    return difflib.get_close_matches(name, list(candidates), n=3, cutoff=likeness)


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
        raise ArgumentError(f"The name {name!r} refers to an Operation, not a Tensor. {_FORM}", hint=f"say '{name}:0'")
    if not allow_operation:
        raise ArgumentError(f"The name {name!r} looks like an (invalid) Operation name, not a Tensor. {_FORM}")
    raise UnknownNameError(f"The name {name!r} refers to an Operation not in the graph.").explain(
        hint=did_you_mean(name, operations))
