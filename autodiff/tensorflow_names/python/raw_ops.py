"""tensorflow.python.ops.gen_*: each op of the table as a function, under its name in small letters."""
from __future__ import annotations

import re
from typing import Any

from ...api.raw_ops import raw_op
from ...core.op import OPS


def __getattr__(name: str) -> Any:
    for op in OPS:
        if _snake(op) == name.lstrip("_"):
            return raw_op(op)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _snake(name: str) -> str:
    words = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z\d])([A-Z])", r"\1_\2", words).lower()
