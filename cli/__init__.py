"""The terminal of gradbg: commands, prompt, batch, and the running of model scripts."""

from . import commands

__all__ = ["commands"]
