"""tensorflow.compat.v2: what libraries that speak both versions take from it. The rest is TensorFlow 1's."""
from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ... import nn as nn  # noqa: PLC0414
from ...api.arrays.sorting import argsort as argsort  # noqa: PLC0414
from ...api.math.selection import where_v2 as where  # noqa: F401
from ...api.train.optimizer import Optimizer
from ...core.dtypes import int32, int64
from . import version_2

# ---- how version 2 is called ------------------------------------------------------------

def _reducing(input_tensor: Any, axis: Any = None, keepdims: Any = False, name: Any = None) -> None: ...
def _like(input: Any, dtype: Any = None, name: Any = None) -> None: ...  # noqa: A002
def _arg(input: Any, axis: Any = None, output_type: Any = int64, name: Any = None) -> None: ...  # noqa: A002
def _expand(input: Any, axis: Any, name: Any = None) -> None: ...  # noqa: A002
def _squeeze(input: Any, axis: Any = None, name: Any = None) -> None: ...  # noqa: A002
def _size(input: Any, out_type: Any = int32, name: Any = None) -> None: ...  # noqa: A002
def _norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: Any = None, name: Any = None) -> None: ...  # noqa: A002
def _pad(tensor: Any, paddings: Any, mode: Any = "CONSTANT", constant_values: Any = 0, name: Any = None) -> None: ...
def _gather(params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: Any = 0,
            name: Any = None) -> None: ...


_ARGUMENTS: dict[Callable[..., None], str] = {  # how version 2 is called -> the functions
    _reducing: "reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum reduce_logsumexp",
    _like: "ones_like zeros_like", _arg: "argmax argmin", _expand: "expand_dims", _squeeze: "squeeze", _norm: "norm",
    _size: "shape size",
    _pad: "pad", _gather: "gather",
}
_RENAMED = {"ones_like": {"input": "tensor"}, "zeros_like": {"input": "tensor"}}  # what version 1 calls an argument


def _called_so(function: Callable[..., Any], like: Callable[..., None], renamed: dict[str, str]) -> Callable[..., Any]:
    """Version 1's function, with the arguments of version 2 in their order."""
    signature = inspect.signature(like)

    @functools.wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        given = signature.bind(*args, **options).arguments
        return function(**{renamed.get(name, name): value for name, value in given.items()})

    called.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[each.replace(annotation=each.empty) for each in signature.parameters.values()],
        return_annotation=signature.empty)
    return called


for _like_it, _names in _ARGUMENTS.items():
    for _name in _names.split():
        globals()[_name] = _called_so(getattr(sys.modules["autodiff"], _name), _like_it, _RENAMED.get(_name, {}))


def __getattr__(name: str) -> Any:
    return getattr(version_2, f"{name}_v2")  # of another signature than version 1's


optimizers = SimpleNamespace(Optimizer=Optimizer)  # what libraries derive from; Keras's own are not here


def enable_v2_behavior() -> Any:
    """Refused: raises RuntimeError."""
    raise RuntimeError("gradbg speaks TensorFlow 1: TensorFlow 2's behavior cannot be enabled")
