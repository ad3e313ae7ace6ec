"""Ops that read or write files, checkpoints and examples first; and those that are only in stored graphs."""

from . import bytes, checkpoints, examples, stored_graphs  # noqa: F401  importing a family declares its ops
