"""Control flow contexts, as TensorFlow's own code enters them: here a branch or loop is a graph of its own."""
from __future__ import annotations

from typing import Any


class ControlFlowContext:
    """A block that operations are made in; they are the same inside and outside. outer_context: the block around."""

    outer_context = grad_state = None
    name = ""

    def Enter(self) -> None:  # noqa: N802
        """Nothing changes."""

    def Exit(self) -> None:  # noqa: N802
        """Nothing changes."""

    def __enter__(self) -> ControlFlowContext:
        return self

    def __exit__(self, *raised: Any) -> None:
        """Nothing changes."""


class XLAControlFlowContext(ControlFlowContext):
    """A block for XLA: plans are made their own way."""
