"""Control flow contexts, as TensorFlow's own code enters them: here a branch or loop is a graph of its own."""
from __future__ import annotations


class ControlFlowContext:
    """A block that operations are made in; they are the same inside and outside."""

    outer_context, name = None, ""

    def Enter(self) -> None:  # noqa: N802
        """Nothing changes."""

    Exit = Enter


XLAControlFlowContext = ControlFlowContext
