"""Follow the regularized leader."""
from __future__ import annotations

from typing import Any

from ...core.errors import ArgumentError
from ..variables.initializers import Constant
from .one_op import OneOpOptimizer


class FtrlOptimizer(OneOpOptimizer):
    """The variable computed anew from sums of past gradients, small ones at exactly zero.

    learning_rate_power: <= 0; -0.5 divides by the root of the squares. l1, l2: penalties; l2_shrinkage: one on
    magnitude that does not enter the sum of squares. Raises ArgumentError (ValueError) for negative penalties, a
    negative initial accumulator or a positive power. Source: McMahan et al. (2013), algorithm 1.
    """

    def __init__(self, learning_rate: Any, learning_rate_power: float = -0.5, initial_accumulator_value: float = 0.1,
                 l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
                 use_locking: bool = False, name: str = "Ftrl", accum_name: str | None = None,
                 linear_name: str | None = None, l2_shrinkage_regularization_strength: float = 0.0) -> None:
        penalties = {"l1_regularization_strength": l1_regularization_strength,
                     "l2_regularization_strength": l2_regularization_strength,
                     "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength}
        for what, value in {"initial_accumulator_value": initial_accumulator_value, **penalties}.items():
            if value < 0.0:
                raise ArgumentError(expected=f"{what} >= 0", found=value)
        if learning_rate_power > 0.0:
            raise ArgumentError(expected="learning_rate_power <= 0", found=learning_rate_power)
        if not l2_shrinkage_regularization_strength:
            del penalties["l2_shrinkage_regularization_strength"]
        super().__init__(use_locking, name, "FtrlV2" if l2_shrinkage_regularization_strength else "Ftrl",
                         {"accum": Constant(initial_accumulator_value), "linear": None},
                         {"learning_rate": learning_rate, **penalties, "learning_rate_power": learning_rate_power},
                         before=0, scopes={"accum": accum_name, "linear": linear_name})
