"""tensorflow.python.framework.dtypes: the element types under the names that references to them have."""
from __future__ import annotations

from typing import Any

from ....core.dtypes import as_dtype

_TYPE_TO_STRING = {number: as_dtype(number).name for base in (0, 100) for number in range(base + 1, base + 24)}


def __getattr__(name: str) -> Any:
    if not name.endswith("_ref"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return as_dtype(name)
