"""tensorflow.python.ops.gen_*: each op of the table as a function, under its name in small letters."""
from __future__ import annotations

import functools
import re
from typing import Any

from ...api import raw_ops
from ...core.op import OPS


@functools.cache
def _by_name(count: int) -> dict[str, str]:
    """Name in small letters -> op, of so many ops: more are declared when their rooms are loaded."""
    return {_snake(op): op for op in reversed(dir(raw_ops))}


def __getattr__(name: str) -> Any:
    known, plain = _by_name(len(OPS)), name.lstrip("_")
    if name in known.values():
        return getattr(raw_ops, name)
    for form in (plain, f"{plain}_v2", plain.removeprefix("resource_")):  # an op for handles is the one for references
        if form in known:
            return getattr(raw_ops, known[form])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _snake(name: str) -> str:
    words = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z\d])([A-Z])", r"\1_\2", words).lower()
