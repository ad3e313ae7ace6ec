"""The formats of files for kernels that read or write them, loaded when such a kernel first runs: import time."""

from importlib import import_module

_ROOM = __name__.removesuffix(".ops.common.file_formats") + ".files"


def file_format(name):
    """A module of the room `files`, such as `checkpoint`."""
    return import_module(f"{_ROOM}.{name}")
