"""Ops on images: colors, crops, sizes, patches.

A file is a family. Start with resize.py.
"""

from . import (  # noqa: F401  importing a family declares its ops
    color,
    crop,
    patches,
    resize,
)
