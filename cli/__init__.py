"""The terminal of gradbg: commands, prompt, batch, and the running of model scripts.

It asks autodiff/debug and shows the answers. Start with main.py.
"""

from . import commands

__all__ = ["commands"]
