"""The terminal of gradbg: commands, prompt, batch, and the running of model scripts.

It asks autodiff/debug and shows the answers. Start with main.py.
"""

from typing import Any

from . import commands

__all__ = ["commands", "load_ipython_extension"]


def load_ipython_extension(kernel: Any) -> None:
    """`%load_ext cli` in a notebook: %gradbg asks the debugger."""
    from .notebook import Asked

    Asked.of(kernel)
