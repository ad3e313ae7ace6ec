"""Ops that read or write files: checkpoints."""

from . import checkpoints  # noqa: F401  importing a family declares its ops
