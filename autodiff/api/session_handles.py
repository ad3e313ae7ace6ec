"""Values that stay where they are between runs: tf.get_session_handle and what takes its handles."""
from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import as_dtype, string
from ..core.errors import KindError
from ..core.function_graph import taking_anew
from ..core.graph import Operation, Tensor, get_default_graph
from ..core.op import build
from ..runtime.fetch import register_session_run_conversion_functions
from .arrays.creation import placeholder
from .control.custom import py_func

_HELD: dict[bytes, np.ndarray] = {}  # handle -> its value, until the TensorHandle goes or is deleted
_COUNT = itertools.count(1)


class TensorHandle:
    """What a run gives for get_session_handle: a value that later runs are fed, by `handle` or as a value itself."""

    def __init__(self, handle: bytes) -> None:
        self._handle, self._goes = handle, True

    @property
    def handle(self) -> str:
        return self._handle.decode()

    def eval(self) -> np.ndarray:
        """The value. Raises KindError (TypeError) once it was deleted."""
        if self._handle not in _HELD:
            raise KindError(f"Persistent tensor {self.handle} may have already been deleted.")
        return _HELD[self._handle]

    to_numpy_array = eval

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        return self.eval()

    def delete(self) -> None:
        """Forget the value. Raises KindError (TypeError) if it is forgotten."""
        self.eval()
        del _HELD[self._handle]

    def get_raw_handle(self) -> str:
        """The handle, of a value that stays until delete_session_tensor, whatever becomes of this object."""
        self._goes = False
        return self.handle

    def __del__(self) -> None:
        if self._goes:
            _HELD.pop(self._handle, None)

    def __str__(self) -> str:
        return self.handle


class SessionHandle:
    """The tensor of a handle in the graph, string[]; a run gives a TensorHandle for it."""

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor

    def _as_graph_element(self) -> Tensor:
        return self._tensor

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tensor, name)


def get_session_handle(data: Any, name: str | None = None) -> SessionHandle:
    """Keep a value of a run. data: any[...] -> string[], for which a run gives a TensorHandle."""
    def keep(value: Any) -> bytes:
        handle = b"GetSessionHandle;%d" % next(_COUNT)
        _HELD[handle] = np.array(value)
        return handle

    return SessionHandle(_called(keep, convert_to_tensor(data), string, name or "GetSessionHandle"))


def get_session_tensor(handle: Any, dtype: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(placeholder, tensor): fed a handle, string[], the tensor has its value, `dtype`[...]. handle: any such."""
    holder = placeholder(string, [], name="get_session_tensor/handle")
    return holder, _called(lambda key: _borrowed(key).eval(), holder, dtype, name or "GetSessionTensor")


def delete_session_tensor(handle: Any, name: str | None = None) -> tuple[Tensor, Operation]:
    """(placeholder, operation): fed a handle, the operation forgets its value."""
    holder = placeholder(string, [], name="delete_session_tensor/handle")

    def delete(key: Any) -> np.bool_:
        _borrowed(key).delete()
        return np.bool_(True)

    done = _called(delete, holder, "bool", name)
    with get_default_graph().control_dependencies([done]):
        return holder, build.NoOp(name="DeleteSessionTensor")


def _called(function: Any, value: Tensor, dtype: Any, name: str | None) -> Tensor:
    return py_func(taking_anew(function), [value], as_dtype(dtype), name=name)


def _borrowed(key: Any) -> TensorHandle:
    found = TensorHandle(np.asarray(key, object).item())
    found._goes = False
    return found


register_session_run_conversion_functions(
    SessionHandle, lambda handle: ([handle._as_graph_element()], lambda values: TensorHandle(values[0])))
