"""Where an error was raised: the frames that it has passed, the script's line, and what was recorded before it."""
from __future__ import annotations

import ast
from traceback import walk_tb
from typing import Any

import torch

from ...new_lines import last_name
from ..graph import sliced
from ..habits import Habits
from ..record import Recorder, is_library, tensors_in


class Scene:
    """An error and what there was of the script when it was raised. line: the script's innermost one."""

    def __init__(self, error: BaseException, recorder: Recorder, habits: Habits) -> None:
        self.said, self.habits = str(error), habits
        self.entries, self.all = recorder.entries, [*recorder.older, *recorder.entries]
        self.frames = [*walk_tb(error.__traceback__)]
        self.frame, self.line = [part for part in self.frames if not is_library(part[0].f_code.co_filename)][-1]
        self.file = self.frame.f_code.co_filename

    def named(self, text: str) -> Any:
        """What a name, or attributes of one, stand for on the line."""
        first, *rest = text.split(".")
        found = {**self.frame.f_globals, **self.frame.f_locals}.get(first)
        for attribute in rest:
            found = getattr(found, attribute, None)
        return found

    def calls(self, layer: Any, function: ast.expr) -> bool:
        """Whether what is called on the line is a layer, or a module that has it."""
        if isinstance(function, ast.Call):  # nn.BCELoss()(x, y)
            return last_name(function.func) == type(layer).__name__
        found = self.named(ast.unparse(function))
        return layer in [*found.modules()] if isinstance(found, torch.nn.Module) else found is layer

    def op_arguments(self) -> tuple[Any, ...]:
        """What the op that raised the error was given."""
        return next((tuple(args) for frame, _ in reversed(self.frames) if frame.f_code.co_name == "__call__" and
                     isinstance(args := frame.f_locals.get("args"), (tuple, list)) and [*tensors_in(args)]), ())

    def layers(self) -> list[list[Any]]:
        """torch's layers that the error has passed, the innermost first, each with the tensors that it was given.

        A loss that is called as a function, after them.
        """
        found = []
        for frame, _ in reversed(self.frames):
            layer, *given = (frame.f_locals.get(name) for name in ("self", "input", "target"))
            if given[1] is not None and not isinstance(layer, torch.nn.Module):
                layer = getattr(torch.nn.functional, frame.f_code.co_name, None)
            if layer is not None and isinstance(given[0], torch.Tensor):
                found.append([layer, *(t for t in given if isinstance(t, torch.Tensor))])
        return sorted(found, key=lambda each: not isinstance(each[0], torch.nn.Module))

    def modules(self) -> list[Any]:
        """Those that the functions which the error has passed belong to, with all that they hold, and those called."""
        found = [frame.f_locals.get("self") for frame, _ in self.frames] + [e.module for e in self.all]
        return [*{id(part): part for module in {id(each): each for each in found}.values() if isinstance(
            module, torch.nn.Module) for part in module.modules()}.values()]

    def maker(self, x: Any) -> Any:
        """The innermost module that made a tensor, or what it is a view of; None if there is none."""
        return next((e.module for e in reversed(sliced(self.all, [x])) if e.module is not None), None)


def shown(tensors: Any) -> str:
    """'float32[10, 4] and int64[10]'."""
    return " and ".join(f"{str(t.dtype)[6:]}{list(t.shape)}" for t in tensors)
