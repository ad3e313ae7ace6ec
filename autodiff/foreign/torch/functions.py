"""Uses of autograd.Functions, whose forward and backward are the script's own."""
from __future__ import annotations

import inspect
import linecache
import os
from typing import Any

import torch

from ...ops.common.instead import instead
from .record import Call, Entry, Recorder, tensors_in, user_frames


class Calls:
    """Context: uses of autograd.Functions are recorded, with what their backward does.

    recorder: what sees their ops. A use becomes an Entry after those of its forward.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._known: dict[int, Call] = {}
        self._older: dict[int, Call] = {}

    def __enter__(self) -> Calls:
        function, backward = torch.autograd.Function, torch.autograd.function.BackwardCFunction
        self._saved = function.__dict__["apply"], backward.apply
        forward, calls = function.apply.__func__, self

        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            return calls._used(cls, args, lambda: forward(cls, *args, **kwargs))

        def apply_backward(node: Any, *dys: Any) -> Any:
            return calls.differentiated(node, dys, lambda: calls._saved[1](node, *dys))

        function.apply, backward.apply = classmethod(apply), apply_backward
        return self

    def __exit__(self, *_: Any) -> None:
        torch.autograd.Function.apply, torch.autograd.function.BackwardCFunction.apply = self._saved

    def _used(self, cls: Any, args: Any, run: Any) -> Any:
        """What a Function gives; its ops are recorded as those of the call, if it is differentiated."""
        recorder = self._recorder
        if recorder.paused:
            return run()
        call, outside = Call(cls), recorder.entries
        with instead([(recorder, "entries", call.body)]):
            result = run()
        call.node = next((t.grad_fn for t in tensors_in(result) if t.grad_fn is not None), None)
        if call.node is None:
            outside += call.body
        else:
            self._known[id(call.node)] = call
            outside.append(Entry(call, args, {}, result, user_frames(), torch.is_grad_enabled()))
        return result

    def differentiated(self, node: Any, dys: tuple[Any, ...], run: Any) -> Any:
        """What a Function's backward gives; its ops are recorded as those of the call."""
        call = self._known.get(id(node)) or self._older.get(id(node))
        if call is None or call.slopes:
            return run()
        recorder = self._recorder
        with instead([(recorder, "entries", call.entries), (recorder, "paused", False)]):
            found = run()
        call.dys, call.slopes = dys, tuple(found) if isinstance(found, (list, tuple)) else (found,)
        return found

    def turn(self) -> None:
        """Begin a new step: forget the uses before the last."""
        self._older, self._known = self._known, {}


def lines_of(function: Any, title: str) -> tuple[str, ...]:
    """The lines of a function's body, as `title at file.py:12: code`."""
    code = inspect.unwrap(function).__code__
    numbers = sorted({line for _, _, line in code.co_lines() if line is not None and line > code.co_firstlineno})
    file = os.path.basename(code.co_filename)
    found = ((n, linecache.getline(code.co_filename, n).strip()) for n in numbers)
    return tuple(f"{title} at {file}:{n}: {text}" for n, text in found if text and not text.startswith(("def ", "@")))
