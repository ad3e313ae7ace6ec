"""The operation that a loaded SavedModel runs first."""
from __future__ import annotations

from typing import Any

from ..control.dependencies import control_dependencies, group
from ..variables.assignment import global_variables_initializer, local_variables_initializer, tables_initializer


def main_op() -> Any:
    """An operation that initializes all variables and tables."""
    return group(global_variables_initializer(), local_variables_initializer(), tables_initializer())


def main_op_with_restore(restore_op_name: str) -> Any:
    """An operation that initializes, and then restores."""
    with control_dependencies([main_op()]):
        return group(restore_op_name)
