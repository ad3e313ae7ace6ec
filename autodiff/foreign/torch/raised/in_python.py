"""Errors of Python's about values of torch's: a number for a loss, a tuple for a tensor, no return."""
from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

import torch

from ....core.site import source_lines
from ....debug.analysis.advice import Remark
from ....debug.facts.roles import at_line, place_on
from ...new_calls import all_calls_on
from ...new_lines import all_on, last_name, part_of, replaced, value
from ...script_lines import assigned_on, on_lines
from ...unread_names import unreturned
from .scene import Scene

_NUMBERS = ("item", "float", "numpy", "tolist", "detach", "cpu")  # what they give is no part of a graph


def remark_on(scene: Scene) -> Remark | None:
    """What made the value that Python does not take; None where that is not known."""
    return next((found for pattern, finder in _FINDERS.items() if re.search(pattern, scene.said)
                 and (found := finder(scene)) is not None), None)


def _last_given(scene: Scene, name: str) -> int:
    """The last line up to that of the error which assigns a name; 0 if none does."""
    return max((at for at in on_lines(scene.file) if at <= scene.line and name in assigned_on(scene.file, at)),
               default=0)


def _number(scene: Scene) -> Remark | None:
    """A loss that is a number already."""
    for node in all_on(scene.file, scene.line):
        if isinstance(node, ast.Attribute) and node.attr == "backward" and isinstance(node.value, ast.Name):
            at, name = _last_given(scene, node.value.id), node.value.id
            call = getattr(on_lines(scene.file).get(at), "value", None)
            inner, place, how = call, place_on(scene.file, at), ""
            while isinstance(inner, ast.Call) and (part := last_name(inner.func)) in _NUMBERS:
                inner, how = inner.func.value if isinstance(inner.func, ast.Attribute) else inner.args[0], how or part
            return Remark(f"{how}(){at_line(place)} makes {name} a number, which has no graph to be differentiated",
                          place, f"keep {name} a tensor, and take its number where it is printed or summed",
                          replaced(scene.file, call, part_of(scene.file, inner))) if call and inner and how else None
    return None


def _tuple(scene: Scene) -> Remark | None:
    """All that a recurrent layer or attention gives, for its first part."""
    for name in {node.id for node in all_on(scene.file, scene.line) if isinstance(node, ast.Name)}:
        at = _last_given(scene, name)
        call = getattr(on_lines(scene.file).get(at), "value", None)
        layer = scene.named(ast.unparse(call.func)) if isinstance(call, ast.Call) else None
        if isinstance(scene.named(name), tuple) and isinstance(layer, torch.nn.Module):
            place, kind = place_on(scene.file, at), type(layer).__name__
            gives = "its outputs and the last state" if isinstance(layer, torch.nn.RNNBase) else "several values"
            targets = [node for node in all_on(scene.file, at) if isinstance(node, ast.Name) and isinstance(
                node.ctx, ast.Store)]
            return Remark(f"{name} is all that {kind} gives{at_line(place)}: {gives}", place, f"{name}, _ = …",
                          replaced(scene.file, targets[0], "{}, _") if len(targets) == 1 and len(
                              scene.named(name)) == 2 else {})
    inner = [type(part).__name__ for module in scene.modules() if isinstance(module, torch.nn.Sequential)
             for part in module if isinstance(part, torch.nn.RNNBase)]
    return Remark(f"{inner[0]} in a Sequential hands on its outputs and the last state, a tuple", None, "call it by "
                  "itself, and give the rest its outputs: h, _ = lstm(x)") if inner else None


def _none(scene: Scene) -> Remark | None:
    """What a function without a return gives."""
    names = {node.id for node in all_on(scene.file, scene.line) if isinstance(node, ast.Name)}
    lines = [scene.line, *(_last_given(scene, name) for name in names if scene.named(name) is None)]
    for call in (call for line in lines for call in all_calls_on(scene.file, line)):
        called = scene.named(ast.unparse(call.func))
        called = getattr(type(called), "forward", None) if isinstance(called, torch.nn.Module) else called
        if (found := unreturned(called)) is not None:
            return found
    return None


def _unlisted(scene: Scene) -> Remark | None:
    """Layers in a plain list or dict, in which parameters() does not look."""
    for call in all_calls_on(scene.file, scene.line):
        module = scene.named(ast.unparse(call.func).rpartition(".parameters")[0])
        for name, kept in vars(module).items() if isinstance(module, torch.nn.Module) else ():
            parts = [*kept.values()] if isinstance(kept, dict) else kept
            if not name.startswith("_") and isinstance(parts, (list, dict)) and parts and all(
                    isinstance(part, torch.nn.Module) for part in parts):
                kind, file = "Dict" if isinstance(kept, dict) else "List", _file_of(module)
                lines = [line for line, text in enumerate(source_lines(file), 1) if re.search(
                    rf"self\.{name}\s*=", text)]
                place = place_on(file, lines[0]) if lines else None
                return Remark(f"self.{name} is a plain {type(kept).__name__} of layers{at_line(place)}, in which "
                              "parameters() does not look", place, f"nn.Module{kind}(…)", value(
                                  file, lines[0], f"torch.nn.Module{kind}({{}})") if lines else {})
    return Remark("", None, "keep layers in self.name, or an nn.ModuleList: parameters() does not look into lists")


def _file_of(module: Any) -> str:
    return str(type(module).__init__.__code__.co_filename)


def _recorded(scene: Scene) -> Remark | None:
    """numpy() of what is differentiated."""
    for call in all_calls_on(scene.file, scene.line, "numpy"):
        if isinstance(call.func, ast.Attribute):
            of = call.func.value
            return Remark(f"{ast.unparse(of)} is part of a graph", None, "take its numbers alone: detach().numpy()",
                          replaced(scene.file, of, "{}.detach()"))
    return Remark("what is made an array is part of a graph", None, "take its numbers alone: x.detach().numpy()")


_FINDERS: dict[str, Callable[[Scene], Remark | None]] = {
    "'(float|numpy).*' object has no attribute 'backward'": _number, r"\btuple\b": _tuple, r"\bNone(Type)?\b": _none,
    "empty parameter list": _unlisted, r"Can't call numpy\(\)": _recorded}
