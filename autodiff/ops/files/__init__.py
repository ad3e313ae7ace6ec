"""Ops that read or write files, checkpoints first; and those that are only in stored graphs."""

from . import checkpoints, stored_graphs  # noqa: F401  importing a family declares its ops
