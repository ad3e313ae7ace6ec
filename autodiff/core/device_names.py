"""Names of devices, written out and merged as TensorFlow does; there is one device, whatever they say."""
from __future__ import annotations

from .errors import ArgumentError

_FIELDS = ("job", "replica", "task")


def merged_device(outer: str, inner: str) -> str:
    """The device that `inner` names within a block of `outer`, written out: `/gpu:0` is `/device:GPU:0`.

    What `inner` leaves open is as in `outer`. Raises ArgumentError (ValueError) for a name that is none.
    """
    parts = {**_parts(outer), **_parts(inner)}
    return "".join(f"/{key}:{parts[key]}" for key in (*_FIELDS, "device") if key in parts)


def _parts(name: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in filter(None, name.split("/")):
        key, *rest = part.split(":")
        if key in _FIELDS and len(rest) == 1 and (key == "job" or rest[0].isdigit()):
            found[key] = rest[0]
        elif key.upper() in ("CPU", "GPU") and len(rest) <= 1:
            found["device"] = f"{key.upper()}:{_number(name, rest[0] if rest else '*')}"
        elif key == "device" and len(rest) in (1, 2):
            found["device"] = f"{rest[0]}:{_number(name, rest[1] if len(rest) == 2 else '*')}"
        else:
            raise ArgumentError(f"unknown part {part!r} of the device {name!r}: expected /job:NAME, /replica:N, "
                                "/task:N or /device:CPU:N")
    return found


def _number(name: str, text: str) -> str:
    if text != "*" and not text.isdigit():
        raise ArgumentError(expected="a device with a number", found=repr(name))
    return text
