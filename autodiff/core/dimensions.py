"""One size of a shape, known or not."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import KindError, ShapeError


def _arithmetic(operation: str, *, swapped: bool = False) -> Callable[["Dimension", Any], Any]:
    def made(self: "Dimension", other: Any) -> Any:
        if isinstance(other, (list, tuple)):
            return NotImplemented  # a list times a size is a longer list
        a, b = self.value, dimension_value(other)
        if a is None or b is None:
            return Dimension(None)
        return Dimension(getattr(b, operation)(a) if swapped else getattr(a, operation)(b))

    return made


def _comparison(operation: str) -> Callable[["Dimension", Any], bool | None]:
    return lambda self, other: self._compare(other, operation)


class Dimension:
    """One size of a TensorShape, known or not. Arithmetic with an unknown size is unknown."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: int | None = dimension_value(value)

    def __int__(self) -> int:
        if self.value is None:
            raise KindError(expected="a known dimension", found="an unknown one")
        return self.value

    __index__ = __int__

    def __reduce__(self) -> tuple[Any, ...]:
        return Dimension, (self.value,)

    def __hash__(self) -> int:
        return hash(self.value)

    def is_compatible_with(self, other: Any) -> bool:
        size = dimension_value(other)
        return self.value is None or size is None or self.value == size

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises ShapeError for a size known to be another."""
        if not self.is_compatible_with(other):
            raise ShapeError(f"Dimensions {self} and {Dimension(other)} are not compatible")

    def merge_with(self, other: Any) -> "Dimension":
        return Dimension(merge_sizes(self.value, dimension_value(other)))

    __add__ = __radd__ = _arithmetic("__add__")
    __sub__, __rsub__ = _arithmetic("__sub__"), _arithmetic("__sub__", swapped=True)
    __mul__ = __rmul__ = _arithmetic("__mul__")
    __floordiv__ = __div__ = _arithmetic("__floordiv__")
    __rfloordiv__ = _arithmetic("__floordiv__", swapped=True)
    __mod__, __rmod__ = _arithmetic("__mod__"), _arithmetic("__mod__", swapped=True)

    def __truediv__(self, other: Any) -> Any:
        raise KindError(f"unsupported operand type(s) for /: 'Dimension' and '{type(other).__name__}', please use // "
                        "instead")

    def __rtruediv__(self, other: Any) -> Any:
        raise KindError(f"unsupported operand type(s) for /: '{type(other).__name__}' and 'Dimension', please use // "
                        "instead")

    def _compare(self, other: Any, operation: str) -> bool | None:
        a, b = self.value, dimension_value(other)
        return None if a is None or b is None else getattr(a, operation)(b)

    def __eq__(self, other: object) -> bool | None:  # type: ignore[override]
        try:
            return self._compare(other, "__eq__")
        except (TypeError, ValueError):
            return NotImplemented

    def __ne__(self, other: object) -> bool | None:  # type: ignore[override]
        try:
            return self._compare(other, "__ne__")
        except (TypeError, ValueError):
            return NotImplemented

    __lt__, __le__ = _comparison("__lt__"), _comparison("__le__")
    __gt__, __ge__ = _comparison("__gt__"), _comparison("__ge__")

    def __str__(self) -> str:
        return "?" if self.value is None else str(self.value)

    def __repr__(self) -> str:
        return f"Dimension({self.value})"


def dimension_value(value: Any) -> int | None:
    """The int or None inside a Dimension, something equal to an int (2.0, "12") or None. ShapeError if negative."""
    if value is None:
        return None
    if isinstance(value, Dimension):
        return value.value
    try:
        size = int(value) if isinstance(value, (str, bytes, float)) else value.__index__()
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise KindError(expected="a dimension (an int or None)", found=repr(value)) from None
    if isinstance(value, float) and size != value:
        raise ShapeError(f"Ambiguous dimension: {value!r}")
    if size < 0:
        raise ShapeError(expected="a dimension >= 0", found=size)
    return size


def merge_sizes(a: int | None, b: int | None) -> int | None:
    """The size that agrees with both. Raises ShapeError if they contradict."""
    if a is None or a == b:
        return b
    if b is None:
        return a
    raise ShapeError(f"Dimensions {a} and {b} are not compatible")
