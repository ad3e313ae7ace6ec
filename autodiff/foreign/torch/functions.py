"""Uses of autograd.Functions, whose forward and backward are the script's own; and what a backward leaves out."""
from __future__ import annotations

import ast
import contextlib
import inspect
import linecache
import os
import textwrap
from typing import Any

import torch

from ...core.site import Site
from ...debug.analysis.advice import Remark
from ...debug.facts.roles import as_place, at_line
from ...ops.common.instead import instead
from ..new_lines import NewLines, replaced, tight
from ..script_lines import on_lines
from .record import Call, Entry, Recorder, tensors_in, user_frames

_STEP, _NEAR = 1e-2, 0.05  # of the size of what is moved; share by which two slopes may differ


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


def left_out(entry: Entry, used: list[Entry]) -> Remark | None:
    """The gradient of a result that the backward of a Function never uses; None where it uses all. used: what led to
    what it gave."""
    call, function = entry.op, inspect.unwrap(entry.op.backward())
    known = {id(t) for e in used for t in e.given} | {id(s) for s in call.slopes}
    lost = [i for i, dy in enumerate(call.dys) if isinstance(dy, torch.Tensor) and id(dy) not in known]
    names = [*inspect.signature(function).parameters][1:]
    file, start = inspect.getsourcefile(function), function.__code__.co_firstlineno
    if not lost or lost[0] >= len(names) or not any(isinstance(s, torch.Tensor) for s in call.slopes) or not file:
        return None
    name = names[lost[0]]
    nodes = ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function))))
    returns = [start + node.lineno - 1 for node in nodes if isinstance(node, ast.Return)]
    place = as_place(Site(file, returns[-1] if returns else start, function.__name__))
    lines: NewLines = {}
    if len(call.dys) == 1 and len(returns) == 1:
        with contextlib.suppress(Exception):  # of a forward that cannot be done again
            lines = _weighed(entry, name, file, returns[0])
    return Remark(f"; {function.__name__} never uses {name}, the gradient that arrives{at_line(place)}: what it gives "
                  "is the same whatever the result is taken for", place, f"multiply what it returns by {name}", lines)


def _weighed(entry: Entry, name: str, file: str, line: int) -> NewLines:
    """What is returned times the gradient that arrives, where that is the slope of the forward; {} where it is not."""
    call, dy = entry.op, entry.op.dys[0]
    value = getattr(on_lines(file).get(line), "value", None)
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    given = [i for i, slope in enumerate(call.slopes) if isinstance(slope, torch.Tensor)]
    if len(given) != 1 or len(parts) != len(call.slopes):
        return {}
    slope, part = call.slopes[given[0]], parts[given[0]]
    more = slope.dim() - dy.dim() if slope.shape[:dy.dim()] == dy.shape else 0
    text = f"{name}.reshape({', '.join(['-1'] + ['1'] * more)})" if more and dy.dim() == 1 else name
    times = slope * dy.reshape(*dy.shape, *[1] * more)
    if times.shape != slope.shape or not isinstance(part, ast.expr) or not _is_slope(entry, given[0], times):
        return {}
    return replaced(file, part, f"{tight(part, ast.unparse(part))} * {text}")


def _is_slope(entry: Entry, place: int, slope: Any) -> bool:
    """Whether that is what central differences of the forward, weighed by the gradient that arrives, say."""
    x, dy = entry.args[place].detach(), entry.op.dys[0]
    direction = torch.ones_like(x) * torch.linspace(0.5, 1.5, x.numel()).reshape(x.shape)
    step = _STEP * max(float(x.abs().mean()), 1e-3)
    ends = []
    with torch.no_grad():
        for sign in (1, -1):
            args = [*entry.args]
            args[place] = x + sign * step * direction
            ends.append(next(iter(tensors_in(entry.op.function.apply(*args)))))
        found = float(((ends[0] - ends[1]) / (2 * step) * dy).sum())
        said = float((slope * direction).sum())
    return abs(found - said) <= _NEAR * max(abs(found), abs(said)) > 0
