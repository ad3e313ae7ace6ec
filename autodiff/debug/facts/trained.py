"""Train ops that the debugger built, as frozen answers."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Trained:
    """The train op that `train` built. watched: names whose gradients are registered; new: those that it registered
    first."""

    y: str
    optimizer: str
    train_op: str
    variables: tuple[str, ...]
    without_gradient: tuple[tuple[str, str], ...]
    watched: tuple[str, ...]
    uninitialized: int
    new: tuple[str, ...] = ()


@dataclass(frozen=True)
class TrainRow:
    """A train op that the prompt built. runs: whether `run` runs it; else a newer one updates its variables."""

    train: Trained
    runs: bool
