"""tensorflow.python.framework.errors_impl and error_codes_pb2: errors by TensorFlow's numbers."""
from __future__ import annotations

import warnings
from typing import Any

from ....core import errors

_NUMBERS = {name: number for name, number in vars(errors).items() if name.isupper() and isinstance(number, int)}
DO_NOT_USE_RESERVED_FOR_FUTURE_EXPANSION_USE_DEFAULT_IN_SWITCH_INSTEAD_ = 20
globals().update(_NUMBERS)


class Code:
    """The numbers of errors."""

    values = staticmethod(lambda: list(_NUMBERS.values()))


def _make_specific_exception(node_def: Any, op: Any, message: Any, error_code: int) -> errors.OpError:
    """The error of a number; one that nobody knows warns and makes an UnknownError."""
    if error_code in _NUMBERS.values():
        return errors.exception_type_from_error_code(error_code)(node_def, op, message)
    warnings.warn(f"Unknown error code: {error_code}", stacklevel=2)
    return errors.UnknownError(node_def, op, message)


def error_code_from_exception_type(cls: Any) -> Any:
    """The number of an error class; for what is none warns and gives an UnknownError, as TensorFlow does."""
    if not hasattr(cls, "error_code"):
        warnings.warn("Unknown class exception", stacklevel=2)
    return getattr(cls, "error_code", None) or errors.UnknownError(None, None, "Unknown class exception")
