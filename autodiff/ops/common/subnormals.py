"""Subnormal numbers, the smallest of all, as 0 while kernels run: so TensorFlow and XLA have them on a processor.

exp(-95) is then 0 in float32 and its log -inf, where IEEE 754 has 5.5e-42. It is a switch of the processor's, for each
thread, which the C library sets.
"""
from __future__ import annotations

import ctypes
import platform
import sys
import threading
from collections.abc import Callable

import numpy as np

_SIZE = 64  # bytes, more than any fenv_t
_PLACES = {"x86_64": (28, 0x8040), "aarch64": (0, 1 << 24)}  # in Linux's fenv_t: where the switch stands, and its bits
_own = threading.local()  # switches: of this thread


def switches() -> tuple[Callable[[], object], Callable[[], object]]:
    """What flushes subnormal numbers in this thread, and what brings back the state that it was in when first asked.

    Both do nothing where the switch is not known.
    """
    try:
        return _own.switches  # type: ignore[no-any-return]
    except AttributeError:
        _own.switches = _switches()
        return _own.switches  # type: ignore[no-any-return]


def _switches() -> tuple[Callable[[], object], Callable[[], object]]:
    if sys.platform != "linux" or platform.machine() not in _PLACES:
        return _nothing, _nothing
    try:
        library = ctypes.CDLL(None)  # Python's own is loaded with it
        before, now = ctypes.create_string_buffer(_SIZE), ctypes.create_string_buffer(_SIZE)
        offset, bits = _PLACES[platform.machine()]
        library.fegetenv(before)
        library.fegetenv(now)
        ctypes.c_uint32.from_buffer(now, offset).value |= bits
        flush, leave = (_setting(library.fesetenv, state) for state in (now, before))
    except (OSError, AttributeError):
        return _nothing, _nothing
    flush()
    product = np.full(3, 1e-30, np.float32) * np.float32(1e-10)
    leave()
    return (_nothing, _nothing) if product.any() else (flush, leave)


def _nothing() -> None:
    pass


def _setting(set_state: Callable[[object], int], state: object) -> Callable[[], object]:
    return lambda: set_state(state)
