"""tensorflow.python.framework.device and device_spec: names of devices and their parts."""
from __future__ import annotations

from typing import Any

from ....core.devices import DeviceSpec, merge_device, merged_device

__all__ = ["DeviceSpec", "DeviceSpecV1", "DeviceSpecV2", "canonical_name", "check_valid", "merge_device"]
DeviceSpecV1 = DeviceSpec


class DeviceSpecV2(DeviceSpec):
    """TensorFlow 2's form, which does not change."""

    merge_from: Any = property()  # which no instance has: make_merged_spec gives another


def check_valid(spec: str) -> None:
    """Raises ArgumentError (ValueError) for a name that is none."""
    DeviceSpec.from_string(spec)


def canonical_name(device: Any) -> str:
    """A device's name with its parts in order; empty for None."""
    return merged_device("", device.to_string() if isinstance(device, DeviceSpec) else device or "")
