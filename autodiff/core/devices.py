"""Devices: there is one, the CPU, and `op.device` keeps what the script asked for."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Self

from .errors import ArgumentError, KindError, StateError
from .site import TraceableObject, capture, resolve

LOCAL_CPU = "/job:localhost/replica:0/task:0/device:CPU"
_FIELDS = ("job", "replica", "task")
# What holds for new operations: the name of a device, or layers of names and functions, the outermost first.
Placement = str | tuple[str | Callable[[Any], str], ...]


class Placed:
    """What holds for new operations of a graph: the blocks that say where they stand.

    asked: the devices that blocks around ask for, with their lines, the innermost first. colocated: names of the
    operations with which new ones stand. beside: of those that blocks around name -> their lines.
    """

    placement: Placement = ""
    asked: tuple[TraceableObject, ...] = ()
    colocated: tuple[str, ...] = ()
    beside: dict[str, TraceableObject] = {}

    def device(self, device: Any) -> AbstractContextManager[None]:
        """Keeps for `op.device` what is asked for: a name, or a function of the operation. None forgets the outer."""
        code = getattr(device, "__code__", None)
        text = f"{code.co_name}<{code.co_filename}, {code.co_firstlineno}>" if code else str(device)
        return self._placed(device, (_from_here(text), *self.asked))

    @contextlib.contextmanager
    def _placed(self, device: Any, asked: tuple[TraceableObject, ...] = ()) -> Iterator[None]:
        saved, inside = (self.placement, self.asked), placement_in(self.placement, device)
        self.placement, self.asked = inside, asked
        try:
            yield
        finally:
            if self.placement is not inside:
                raise StateError("Exiting device scope without proper scope nesting")
            self.placement, self.asked = saved

    def _attr_scope(self, attr_map: dict[str, Any]) -> AbstractContextManager[None]:
        """Operations made inside have these attributes, as AttrValues; None takes one of a block around away."""
        def given(op: Any) -> str:
            for name, value in attr_map.items():
                if name not in getattr(op, "_given", ()):
                    op._set_attr(name, value)
            return op.device

        return self._placed(given, self.asked)

    def colocate_with(self, op: Any, ignore_existing: bool = False) -> AbstractContextManager[None]:
        """Ops made inside have the device of this operation, tensor or variable, whatever the blocks around ask for.

        None, with ignore_existing, forgets the blocks around. Raises ArgumentError (ValueError) without it.
        """
        return self._beside(op, ignore_existing, _from_here(None))

    @contextlib.contextmanager
    def _beside(self: Any, op: Any, ignore_existing: bool, line: TraceableObject) -> Iterator[None]:
        if op is None and not ignore_existing:
            raise ArgumentError("Trying to reset colocation (op is None) but ignore_existing is not True")
        saved = self.colocated, self.beside
        names, lines = ((), {}) if ignore_existing else saved
        operation = None if op is None else self._as_operation(op)
        if operation is not None:  # eager tensors have none
            names, lines = (*names, *operation.colocated_names()), {**lines, operation.name: line}
        self.colocated, self.beside = tuple(dict.fromkeys(names)), lines
        try:
            with self._placed(None), self._placed(getattr(op, "device", None)):
                yield
        finally:
            self.colocated, self.beside = saved


def _from_here(obj: Any) -> TraceableObject:
    frames = resolve(capture()[:1])
    return TraceableObject(obj, frames[0].file, frames[0].line) if frames else TraceableObject(obj)


def placement_in(outer: Placement, asked: Any) -> Placement:
    """What holds inside of a block that asks for a device; None forgets the outer blocks.

    asked: a device's name or specification, or a function from an operation to one, which is asked before the blocks
    around it. Raises ArgumentError (ValueError) for a name that is none, KindError (TypeError) for what is neither.
    """
    if asked is None:
        return ""
    if callable(asked):
        return (*(outer if isinstance(outer, tuple) else (outer,)), asked)
    name = name_of(asked)
    return merged_device(outer, name) if isinstance(outer, str) else (*outer, merged_device("", name))


def device_of(op: Any, placement: Placement) -> str:
    """The device of a new operation: each layer's from the innermost on; a function may replace what was found.

    What takes a reference to a variable stands with it.
    """
    for tensor in op.inputs:
        if tensor.dtype.is_ref:
            return tensor.op.device
    if isinstance(placement, str):
        return placement
    op.device = ""
    for layer in reversed(placement):
        op.device = name_of(layer(op)) if callable(layer) else merged_device(layer, op.device) if layer else op.device
    return op.device


def name_of(device: Any) -> str:
    """The name of a device, or of a spec; "" for None. Raises KindError (TypeError) for anything else."""
    name = device.to_string() if hasattr(device, "to_string") else device or ""
    if not isinstance(name, str):
        raise KindError(expected="the name of a device, or a function from an operation to one", found=repr(device))
    return name


def merged_device(outer: str, inner: str) -> str:
    """The device that `inner` names within a block of `outer`, written out: `/gpu:0` is `/device:GPU:0`.

    What `inner` leaves open is as in `outer`. Raises ArgumentError (ValueError) for a name that is none.
    """
    around, parts = _device_parts(outer), _device_parts(inner)
    kind, _, number = parts.get("device", "").partition(":")
    if number == "*" and "device" in around:  # the kind is asked for, not which of them
        parts["device"] = f"{kind}:{around['device'].partition(':')[2]}"
    parts = {**around, **parts}
    return "".join(f"/{key}:{parts[key]}" for key in (*_FIELDS, "device") if key in parts)


def _device_parts(name: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in filter(None, name.split("/")):
        key, *rest = part.split(":")
        if key in _FIELDS and len(rest) == 1:
            found[key] = rest[0] if key == "job" else _number(name, rest[0])
        elif key.upper() in ("CPU", "GPU") and len(rest) <= 1 or key == "device" and len(rest) in (1, 2):
            if "device" in found:
                raise ArgumentError(f"Cannot specify multiple device types: {name}")
            kind, *number = rest if key == "device" else [key.upper(), *rest]
            found["device"] = f"{kind}:{_number(name, number[0]) if number and number[0] != '*' else '*'}"
        else:
            raise ArgumentError(f"Unknown attribute: '{key}' in the device {name!r}: expected /job:NAME, /replica:N, "
                                "/task:N or /device:CPU:N")
    return found


def _number(name: str, text: str) -> str:
    if not text.isdigit():
        raise ArgumentError(f"invalid literal for int() with base 10: {text!r} in the device {name!r}: expected a "
                            "number")
    return text


class DeviceSpec:
    """A device's name in parts: job, replica, task, device_type, device_index; None for what is left open."""

    def __init__(self, job: str | None = None, replica: int | None = None, task: int | None = None,
                 device_type: str | None = None, device_index: int | None = None) -> None:
        self.job, self.replica, self.task = job, replica, task
        self.device_type = device_type.upper() if device_type and device_type.upper() in ("CPU", "GPU") else device_type
        self.device_index = device_index

    @classmethod
    def from_string(cls, spec: str) -> Self:
        """The parts of a name. Raises ArgumentError (ValueError) for one that is none."""
        return cls().parse_from_string(spec)

    def parse_from_string(self, spec: str) -> Self:
        """Take the parts of a name in place of one's own."""
        parts = _device_parts(spec)
        kind, _, index = parts.get("device", "").partition(":")
        replica, task = (int(parts[key]) if key in parts else None for key in _FIELDS[1:])
        DeviceSpec.__init__(self, parts.get("job"), replica, task, kind or None,
                            int(index) if index.isdigit() else None)
        return self

    def replace(self, **parts: Any) -> Self:
        """One with other parts."""
        return type(self)(**{**vars(self), **parts})

    def make_merged_spec(self, dev: "DeviceSpec") -> Self:
        """One that has `dev`'s parts where it has them, else this one's."""
        return self.replace(**{key: value for key, value in vars(dev).items() if value is not None})

    def merge_from(self, dev: "DeviceSpec") -> None:
        """Take the parts that `dev` has."""
        vars(self).update(vars(self.make_merged_spec(dev)))

    def to_string(self) -> str:
        """`/job:ps/task:0/device:CPU:0`."""
        found = "".join(f"/{key}:{vars(self)[key]}" for key in _FIELDS if vars(self)[key] is not None)
        index = "*" if self.device_index is None else self.device_index
        return found if self.device_type is None else f"{found}/device:{self.device_type}:{index}"

    __str__ = to_string

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self.to_string())


def merge_device(spec: Any) -> Callable[[Any], str]:
    """A device function: what an operation's device leaves open is as in `spec`."""
    name = merged_device("", name_of(spec))
    return spec if callable(spec) else lambda op: merged_device(name, op.device or "")
