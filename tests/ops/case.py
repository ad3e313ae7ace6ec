"""A row of the op table: an op, inputs inside its domain, and what may be asked of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Case:
    """`Case("Tanh", (array(2, 3),))`: one op on example inputs, all dimensions different.

    inputs: arrays (or Python values) in the order of the op's parameters; float64 where the op
    differentiates, so that central differences mean something. attrs: attributes. id: tells rows of
    one op apart. differentiable: indices of the inputs to check gradients of; None takes every
    float input that the op's rule does not block. second: check the second derivative too.
    static: indices of inputs that must stay constants (axes, shapes) when the others' dims are made
    unknown. batch: indices of inputs that get a leading axis in the batching check; None takes all
    float inputs. fails: the error class that building (or, with at_run, running) must raise. through:
    a function of the inputs, as tensors, whose result is checked in place of the op's own: for ops on
    lists, functions and other values that are no arrays. The op must be in the graph it makes.
    """

    op: str
    inputs: tuple[Any, ...] = ()
    attrs: dict[str, Any] = field(default_factory=dict)
    id: str = ""
    differentiable: tuple[int, ...] | None = None
    second: bool = True
    static: tuple[int, ...] | None = None
    batch: tuple[int, ...] | None = None
    fails: type[Exception] | None = None
    at_run: bool = False
    through: Callable[..., Any] | None = None

    @property
    def name(self) -> str:
        return f"{self.op}-{self.id}" if self.id else self.op


def array(*shape: int, low: float = -1.0, high: float = 1.0, seed: int = 0, dtype: Any = np.float64) -> np.ndarray:
    """Reproducible numbers in [low, high), no two alike. shape: sizes, none for a scalar."""
    numbers = np.random.default_rng(seed + 7919 * len(shape) + sum(shape)).uniform(low, high, shape)
    return np.asarray(numbers, dtype=dtype)
