"""Tools of the optimizers: settings as tensors, and the op of one step on one variable."""
from __future__ import annotations

from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import float32
from ...core.graph import Tensor
from ...core.op import OPS, build
from ..math.casts import in_dtype
from ..variables.variable import Variable


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
