"""What the user calls parameters and tensors: dotted names of modules, names of globals and locals."""
from __future__ import annotations

import sys
from collections.abc import Iterator
from traceback import walk_stack, walk_tb
from typing import Any

import torch

from .record import is_leaf, is_library, storage_of


def user_names(namespace: dict[str, Any], error: BaseException | None = None) -> dict[str, Any]:
    """What the script can see by name now: its globals, and the locals of the functions it stands in, or that an error
    has passed."""
    frames = [frame for frame, _ in walk_stack(sys._getframe(1))][::-1]
    frames += [frame for frame, _ in walk_tb(error.__traceback__)] if error is not None else []
    found = {name: value for name, value in namespace.items() if not name.startswith("__")}
    for frame in frames:
        if not is_library(frame.f_code.co_filename) and frame.f_code.co_name != "<module>":
            found.update(frame.f_locals)
    return found


def modules_in(names: dict[str, Any]) -> dict[str, Any]:
    """The modules that have parameters, by name; no parts of others. Those that are attributes of objects too."""
    found: dict[str, Any] = {}
    for name, value in names.items():
        if isinstance(value, torch.nn.Module):
            found.setdefault(name, value)
        elif type(value).__module__ == "__main__" and not isinstance(value, type):
            for key, item in vars(value).items() if hasattr(value, "__dict__") else ():
                if isinstance(item, torch.nn.Module):
                    found.setdefault(f"{name}.{key}", item)
    parts = {id(part) for module in found.values() for part in list(module.modules())[1:]}
    kept: dict[int, str] = {}
    for name, module in found.items():
        if id(module) not in parts and next(module.parameters(), None) is not None:
            kept.setdefault(id(module), name)
    return {name: found[name] for name in kept.values()}


def parameters_in(names: dict[str, Any]) -> dict[str, Any]:
    """Parameters by their dotted names; the module's own name stands before where there are several modules."""
    modules = modules_in(names)
    found: dict[str, Any] = {}
    for name, module in modules.items():
        for inner, parameter in module.named_parameters():
            found.setdefault(f"{name}.{inner}" if len(modules) > 1 else inner, parameter)
    known = {id(parameter) for parameter in found.values()}
    for name, tensor in _bare(names):
        if id(tensor) not in known and tensor.requires_grad and is_leaf(tensor):
            known.add(id(tensor))
            found.setdefault(name, tensor)
    return found


def _bare(names: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Tensors that have a name of their own, or one in a list or dict that has."""
    for name, value in names.items():
        if isinstance(value, torch.Tensor):
            yield name, value
        elif isinstance(value, (list, tuple, torch.nn.ParameterList)) and len(value) < 1000:
            yield from ((f"{name}.{i}", item) for i, item in enumerate(value) if isinstance(item, torch.Tensor))
        elif isinstance(value, (dict, torch.nn.ParameterDict)) and len(value) < 1000:
            yield from ((f"{name}.{key}", item) for key, item in value.items() if isinstance(item, torch.Tensor))


def data_names(names: dict[str, Any]) -> dict[int, str]:
    """Names of the script's tensors, by their identity, and of data by their memory too, for parts of them."""
    found = list(_bare(names))[::-1]
    return {storage_of(t): name for name, t in found if not t.requires_grad} | {id(t): name for name, t in found}
