"""The surroundings of an op: a tree of its producers or consumers; and which files of the script made ops."""
from __future__ import annotations

from dataclasses import dataclass

from .answers import OpRow


@dataclass(frozen=True)
class OpTree:
    """An op with what it takes, or who takes its outputs, and so on. is_control: it is only waited for.

    again: what hangs below it stands elsewhere in the tree. cut: how many are left out below it.
    """

    op: OpRow
    children: tuple["OpTree", ...] = ()
    is_control: bool = False
    again: bool = False
    cut: int = 0


@dataclass(frozen=True)
class SourceFile:
    """A file of the script's with how many ops and tensors its lines made. line: the first that made any."""

    file: str
    ops: int
    tensors: int
    line: int
