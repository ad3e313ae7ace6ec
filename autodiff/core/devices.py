"""Devices: there is one, the CPU, and `op.device` keeps what the script asked for."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import ArgumentError, KindError

_FIELDS = ("job", "replica", "task")
# What holds for new operations: the name of a device, or layers of names and functions, the outermost first.
Placement = str | tuple[str | Callable[[Any], str], ...]


def placement_in(outer: Placement, asked: Any) -> Placement:
    """What holds inside of a block that asks for a device; None forgets the outer blocks.

    asked: a device's name or specification, or a function from an operation to one, which is asked before the
    blocks around it. Raises ArgumentError (ValueError) for a name that is none, KindError (TypeError) for what is
    neither.
    """
    if not asked:
        return ""
    if callable(asked):
        return (*(outer if isinstance(outer, tuple) else (outer,)), asked)
    name = _name_of(asked)
    return merged_device(outer, name) if isinstance(outer, str) else (*outer, merged_device("", name))


def device_of(op: Any, placement: Placement) -> str:
    """The device of a new operation: each layer's from the innermost on; a function may replace what was found."""
    if isinstance(placement, str):
        return placement
    op.device = ""
    for layer in reversed(placement):
        op.device = _name_of(layer(op)) if callable(layer) else merged_device(layer, op.device) if layer else op.device
    return op.device


def _name_of(device: Any) -> str:
    name = device.to_string() if hasattr(device, "to_string") else device or ""
    if not isinstance(name, str):
        raise KindError(expected="the name of a device, or a function from an operation to one", found=repr(device))
    return name


def merged_device(outer: str, inner: str) -> str:
    """The device that `inner` names within a block of `outer`, written out: `/gpu:0` is `/device:GPU:0`.

    What `inner` leaves open is as in `outer`. Raises ArgumentError (ValueError) for a name that is none.
    """
    parts = {**_device_parts(outer), **_device_parts(inner)}
    return "".join(f"/{key}:{parts[key]}" for key in (*_FIELDS, "device") if key in parts)


def _device_parts(name: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in filter(None, name.split("/")):
        key, *rest = part.split(":")
        if key in _FIELDS and len(rest) == 1 and (key == "job" or rest[0].isdigit()):
            found[key] = rest[0]
        elif key.upper() in ("CPU", "GPU") and len(rest) <= 1:
            found["device"] = f"{key.upper()}:{_device_number(name, rest[0] if rest else '*')}"
        elif key == "device" and len(rest) in (1, 2):
            found["device"] = f"{rest[0]}:{_device_number(name, rest[1] if len(rest) == 2 else '*')}"
        else:
            raise ArgumentError(f"unknown part {part!r} of the device {name!r}: expected /job:NAME, /replica:N, "
                                "/task:N or /device:CPU:N")
    return found


def _device_number(name: str, text: str) -> str:
    if text != "*" and not text.isdigit():
        raise ArgumentError(expected="a device with a number", found=repr(name))
    return text
