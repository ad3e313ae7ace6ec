"""Optimizers whose step is one op: what they keep beside a variable, their settings, and the order of both."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import float32
from ...core.errors import ArgumentError
from ...core.graph import Tensor
from ...core.indexed_slices import IndexedSlices
from ...core.op import OPS, build
from ..math.casts import in_dtype
from ..variables.initializers import Constant
from ..variables.variable import Variable
from .optimizer import Optimizer
from .slots import filled_like


class OneOpOptimizer(Optimizer):
    """An optimizer that steps by `Apply…`, and by `SparseApply…` of rows: of what is kept, settings and the gradient.

    kept: slot -> what fills it at first; None: zeros. settings: by name, the rate first. before: how many of them stand
    before the gradient, all if None. scopes: slot -> the name of its scope, where that is not the optimizer's.
    attributes: the op's.
    """

    _learning_rate_tensor: Any

    def __init__(self, use_locking: bool, name: str, op: str, kept: Mapping[str, Callable[..., Any] | None],
                 settings: Mapping[str, Any], *, before: int | None = None,
                 scopes: Mapping[str, str | None] | None = None, **attributes: Any) -> None:
        super().__init__(use_locking, name)
        self._op, self._kept, self._scopes, self._attributes = op, kept, scopes or {}, attributes
        self._given, self._before = settings, len(settings) if before is None else before
        self._learning_rate = next(iter(settings.values()))

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            for slot, first in self._kept.items():
                scope = self._scopes.get(slot) or self._name
                if first is None:
                    self._zeros_slot(var, slot, scope)
                else:
                    self._get_or_make_slot(var, filled_like(var, first, var.dtype.base_dtype), slot, scope)

    def _prepare(self) -> None:
        for name, value in self._given.items():
            setattr(self, f"_{name}_tensor", setting(value, name))  # what TensorFlow calls them: subclasses read them

    def _slots_of(self, var: Any) -> list[Any]:
        return [self.get_slot(var, slot) for slot in self._kept]

    def _step(self, kind: str, var: Any, *gradient: Any, behind: Any = ()) -> Any:
        told = [getattr(self, f"_{name}_tensor") for name in self._given]
        return step(f"{kind}{self._op}", var, *self._slots_of(var), *told[:self._before], *gradient,
                    *told[self._before:], *behind, **self._attributes)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._step("Apply", var, grad)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return self._step("SparseApply", var, grad.values, grad.indices)


def above_zero(what: str, value: float) -> Constant:
    """What fills a slot with a number. Raises ArgumentError (ValueError) unless it is positive."""
    if value <= 0.0:
        raise ArgumentError(expected=f"{what} > 0", found=value)
    return Constant(value)


def setting(value: Any, name: str) -> Tensor:
    """A number, tensor, variable or function that gives one, as a tensor of floats."""
    tensor = convert_to_tensor(value() if callable(value) else value, name=name)
    return build.Cast(tensor, dtype=float32) if tensor.dtype.is_integer else tensor


def cast_like(tensor: Tensor, var: Variable) -> Tensor:
    """A setting in the dtype of the variable."""
    return in_dtype(tensor, var.dtype)


def step(kind: str, var: Variable, *inputs: Any, **attrs: Any) -> Any:
    """One step of op `kind` on `var`: slots are given as variables, settings as tensors of any float dtype.

    The operation is named as TensorFlow names it, after the kind of variable.
    """
    given = [cast_like(x, var) if isinstance(x, Tensor) and x.dims == () and x.dtype.is_floating else x for x in inputs]
    return OPS[kind](var, *given, name=f"Resource{kind}" if var.is_resource else None, **attrs)
