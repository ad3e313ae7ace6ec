"""Variables as the forward ops read them, and those that count steps."""
from __future__ import annotations

from ....core.graph import Operation
from ....core.traversal import users_of
from ..update_blame import is_store


def reads_of(variable: Operation, *, whole: bool = False) -> list[Operation]:
    """The forward ops that take a variable's numbers. whole: also those of integers."""
    users = [c for c in users_of(variable) if not is_store(c) and c.outputs]
    return [c for c in users if whole or c.outputs[0].dtype.base_dtype.is_floating]


def counts_steps(variable: Operation) -> bool:
    """Whether a variable is one number that steps are added to, as a counter of them."""
    return variable.outputs[0].dims == () and any(is_store(c) and "Add" in c.type for t in variable.outputs
                                                  for c in t._consumers)
