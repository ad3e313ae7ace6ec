"""Handles inside of the script's objects, lists and dicts: `model.layers[0].w`."""
from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from ...core.graph import Graph, Operation, Tensor

_STEP = re.compile(r"\.(?P<attribute>\w+)|\[(?P<index>-?\d+)\]|\[(?P<quote>['\"])(?P<key>.*?)(?P=quote)\]")
_DEEPEST = 3  # steps that a completion looks into an object
_MOST = 100  # items of one object or list that it looks at
_LEAVES = (Tensor, Operation, Graph, ModuleType, type, str, bytes, int, float)


def offers(value: Any, name: str) -> bool:
    """Whether an object of the script has an attribute; none of its own code is asked, which may raise anything."""
    return inspect.getattr_static(value, name, None) is not None


def own_attributes(value: Any) -> dict[str, Any]:
    """What an object of the script holds; nothing of what is computed when it is asked for."""
    own = value.__dict__ if offers(value, "__dict__") else None
    return own if isinstance(own, dict) else {}


def value_at(handles: Mapping[str, Any], path: str) -> Any:
    """What a path leads to, from a handle on; None if it leads nowhere. Nothing of the script is called."""
    begin = re.match(r"\w+", path)
    if begin is None or begin[0] not in handles:
        return None
    value, at = handles[begin[0]], begin.end()
    while at < len(path) and value is not None:
        step = _STEP.match(path, at)
        if step is None:
            return None
        value, at = _inside(value, step), step.end()
    return value


def _inside(value: Any, step: re.Match[str]) -> Any:
    if step["attribute"]:
        return None if isinstance(value, _LEAVES) else own_attributes(value).get(step["attribute"])
    if isinstance(value, dict):
        return value.get(step["key"] if step["index"] is None else int(step["index"]))
    if isinstance(value, (list, tuple)) and step["index"] is not None:
        index = int(step["index"])
        return value[index] if -len(value) <= index < len(value) else None
    return None


def paths_into(name: str, value: Any, deepest: int = _DEEPEST) -> Iterator[tuple[str, Any]]:
    """The paths that lead on from a handle, with what is there; not through tensors, and only a few steps deep."""
    if not deepest or isinstance(value, _LEAVES) or offers(value, "handle_tensor"):
        return
    if isinstance(value, (list, tuple)):
        steps = [(f"{name}[{index}]", item) for index, item in enumerate(value[:_MOST])]
    elif isinstance(value, dict):
        steps = [(f"{name}[{key!r}]", item) for key, item in list(value.items())[:_MOST] if isinstance(key, (str, int))]
    else:
        steps = [(f"{name}.{key}", item) for key, item in list(own_attributes(value).items())[:_MOST]
                 if not key.startswith("_")]
    for path, item in steps:
        yield path, item
        yield from paths_into(path, item, deepest - 1)


def quoted_paths(text: str, is_known: Callable[[str], bool]) -> str:
    """An expression with backquotes around the paths in it that lead through a list or dict to something known."""
    found, at = "", 0
    for begin in re.finditer(r"(?<![\w.$`/])[A-Za-z_]\w*(?=[.\[])", text):
        if begin.start() < at:
            continue
        ends = [begin.end()]
        while (step := _STEP.match(text, ends[-1])) is not None:
            ends.append(step.end())
        paths = [text[begin.start():end] for end in ends[:0:-1]]
        path = next((path for path in paths if "[" in path and is_known(path)), "")
        if path:
            found += f"{text[at:begin.start()]}`{path}`"
            at = begin.start() + len(path)
    return found + text[at:]
