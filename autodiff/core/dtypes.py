"""Element types: TensorFlow's names over NumPy's dtypes."""
from __future__ import annotations

from typing import Any

import numpy as np

from .errors import DTypeError


class _OfNoArray(type):
    """The type of a scalar that NumPy does not have: it can be compared with, and is refused where an array is made."""

    @property
    def dtype(cls) -> None:
        raise DTypeError("gradbg has no numbers of type bfloat16: NumPy has none", hint="use tf.float32, or tf.float16")


class Bfloat16(metaclass=_OfNoArray):
    """tf.bfloat16.as_numpy_dtype."""


class DType:
    """An element type; `x_ref` types belong to variables and equal only themselves.

    name: str. as_numpy_dtype: the NumPy scalar type. base_dtype: itself without `_ref`. is_differentiable: whether a
    gradient of this type exists: floating or complex.
    """

    __slots__ = ("name", "_numpy", "base_dtype", "_ref", "kind", "is_differentiable")

    def __new__(cls, name: "str | int", numpy_type: Any = None, base: "DType | None" = None) -> "DType":
        """The type of TensorFlow's number `name`, or a new one."""
        return object.__new__(cls) if numpy_type is not None else as_dtype(name)

    def __init__(self, name: str, numpy_type: Any = None, base: "DType | None" = None) -> None:
        if numpy_type is None:
            return
        self.name, self._numpy = name, numpy_type
        self.base_dtype: DType = base or self
        self._ref: DType | None = None if base is None else self
        self.kind = np.dtype(numpy_type).kind
        self.is_differentiable = self.kind in "fc"

    @property
    def as_ref(self) -> "DType":
        """The same type as a reference that a variable's output has."""
        if self._ref is None:
            self._ref = DType(self.name + "_ref", self._numpy, self)
        return self._ref

    @property
    def as_numpy_dtype(self) -> type:
        return Bfloat16 if self.base_dtype is bfloat16 else self._numpy

    @property
    def real_dtype(self) -> "DType":
        return {"complex64": float32, "complex128": float64}.get(self.base_dtype.name, self.base_dtype)

    @property
    def word(self) -> str:
        """What TensorFlow's messages call it."""
        return {"float32": "float", "float64": "double", "float16": "half"}.get(self.name, self.name)

    @property
    def is_ref(self) -> bool:
        return self.base_dtype is not self

    _is_ref_dtype = is_ref

    @property
    def is_floating(self) -> bool:
        return self.kind == "f"

    @property
    def is_complex(self) -> bool:
        return self.kind == "c"

    @property
    def is_integer(self) -> bool:
        return self.kind in "iu"

    @property
    def is_bool(self) -> bool:
        return self.kind == "b"

    @property
    def is_unsigned(self) -> bool:
        return self.kind == "u"

    @property
    def is_quantized(self) -> bool:
        """Whether numbers of this type stand for others on a scale: there are no ops on them here."""
        return self.base_dtype in QUANTIZED

    @property
    def is_numpy_compatible(self) -> bool:
        return self.base_dtype not in (variant, resource)

    @property
    def size(self) -> int:
        """Bytes an element takes."""
        return 2 if self.base_dtype is bfloat16 else np.dtype(self._numpy).itemsize

    @property
    def min(self) -> object:
        return np.finfo(self._numpy).min if self.is_floating else np.iinfo(self._numpy).min

    @property
    def max(self) -> object:
        return np.finfo(self._numpy).max if self.is_floating else np.iinfo(self._numpy).max

    def is_compatible_with(self, other: object) -> bool:
        return self.base_dtype is as_dtype(other).base_dtype

    @property
    def as_datatype_enum(self) -> int:
        """TensorFlow's number of the type, as its files hold it; a reference's is 100 more."""
        return _NUMBERS[self.base_dtype.name] + (100 if self.is_ref else 0)

    def __eq__(self, other: object) -> bool:
        if other is None or isinstance(other, DType):
            return self is other
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple:
        return as_dtype, (self.name,)

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __repr__(self) -> str:
        return f"tf.{self.name}"


float16 = half = DType("float16", np.float16)
float32 = DType("float32", np.float32)
float64 = double = DType("float64", np.float64)
int8 = DType("int8", np.int8)
int16 = DType("int16", np.int16)
int32 = DType("int32", np.int32)
int64 = DType("int64", np.int64)
uint8 = DType("uint8", np.uint8)
uint16 = DType("uint16", np.uint16)
uint32 = DType("uint32", np.uint32)
uint64 = DType("uint64", np.uint64)
bool_ = DType("bool", np.bool_)
complex64 = DType("complex64", np.complex64)
complex128 = DType("complex128", np.complex128)
string = DType("string", np.object_)
resource = DType("resource", np.object_)
variant = DType("variant", np.object_)
bfloat16 = DType("bfloat16", np.float32)  # a name to be compared with: NumPy has no such numbers, and no op takes them
QUANTIZED = qint8, quint8, qint16, quint16, qint32 = [  # names to be compared with, too
    DType(name, np.dtype([(name, name[1:])])) for name in ("qint8", "quint8", "qint16", "quint16", "qint32")]

ALL = (float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
       bool_, complex64, complex128, string, resource, variant)
FLOATS = (float16, float32, float64)
COMPLEX = (complex64, complex128)
INTEGERS = (int8, int16, int32, int64, uint8, uint16, uint32, uint64)
INDICES = (int32, int64)
NUMBERS = FLOATS + COMPLEX + INTEGERS
REALS = FLOATS + INTEGERS

__all__ = ["DType", "as_dtype", "bfloat16", "bool_", "double", "half",  # noqa: PLE0604
           *(t.name for t in (*QUANTIZED, *ALL) if t is not bool_)]

_BY_NAME = {t.name: t for t in (*ALL, bfloat16, *QUANTIZED)} | {"float": float32, "double": float64, "half": float16}
_BY_NUMPY = {np.dtype(t.as_numpy_dtype): t for t in (*ALL, *QUANTIZED) if t.kind != "O"}
_BY_PYTHON = {float: float32, bool: bool_, complex: complex128, str: string, bytes: string, object: string}
_NUMBERS = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7, "complex64": 8,
            "int64": 9, "bool": 10, "bfloat16": 14, "uint16": 17, "complex128": 18, "float16": 19, "resource": 20,
            "variant": 21, "uint32": 22, "uint64": 23, "qint8": 11, "quint8": 12, "qint32": 13, "qint16": 15,
            "quint16": 16}  # tensorflow/core/framework/types.proto
_BY_NUMBER = {number: _BY_NAME[name] for name, number in _NUMBERS.items()}


def as_dtype(type_value: object) -> DType:
    """The DType for a DType, name (`"float32"`, `"float"`), number of TensorFlow's, NumPy dtype or Python type.

    Raises DTypeError (a TypeError) for anything else, and for Python's int, which TensorFlow takes for no one type.
    """
    if isinstance(type_value, DType):
        return type_value
    if type_value is int:
        raise DTypeError("Cannot convert value <class 'int'> to a TensorFlow DType.", hint="use tf.int32 or tf.int64")
    if type(type_value) is int and type_value % 100 in _BY_NUMBER and type_value < 200:
        numbered = _BY_NUMBER[type_value % 100]
        return numbered.as_ref if type_value > 100 else numbered
    if isinstance(type_value, str):
        if type_value.endswith("_ref") and type_value[:-4] in _BY_NAME:
            return _BY_NAME[type_value[:-4]].as_ref
        if type_value in _BY_NAME:
            return _BY_NAME[type_value]
    elif isinstance(type_value, type) and type_value in _BY_PYTHON:
        return _BY_PYTHON[type_value]
    try:
        numpy_type = np.dtype(type_value)  # type: ignore[call-overload]
    except (TypeError, ValueError):  # of what only looks like a dtype
        numpy_type = None
    if numpy_type is not None and type_value is not None:
        if numpy_type.kind in "SUO":
            return string
        found = _BY_NUMPY.get(numpy_type.newbyteorder("="))
        if found is not None:
            return found
    raise DTypeError(f"Cannot convert value {type_value!r} to a TensorFlow DType.", expected="one such as tf.float32")


def is_numpy(value: object) -> bool:
    """Whether `value` is a NumPy array or scalar."""
    return isinstance(value, (np.ndarray, np.generic))
