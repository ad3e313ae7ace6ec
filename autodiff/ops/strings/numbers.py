"""Numbers as strings and back."""

import numpy as np

from ...core.dtypes import COMPLEX, FLOATS, as_dtype, bool_, int8, int16, int32, int64, string
from ...core.errors import InvalidArgumentError
from ...core.op import Spec
from ..common.texts import Text, each, text_op


@text_op("AsString", infer=lambda input, **_: Spec(string, input.dims),
    dtypes=(int8, int16, int32, int64, *COMPLEX, *FLOATS[1:], bool_))
def as_string(input, *, precision=-1, scientific=False, shortest=False, width=-1, fill=""):
    """As C prints it, with %f for floats, %e if scientific and %g if shortest. input: number[...] -> string[...]."""
    kind, name = input.dtype.kind, input.dtype.name
    if kind in "ib" and (scientific or shortest):
        raise InvalidArgumentError(f"scientific and shortest format not supported for datatype {name}")
    if kind in "ib" and precision >= 0:
        raise InvalidArgumentError(f"precision not supported for datatype {name}")
    if len(fill) > 1:
        raise InvalidArgumentError("Fill string must be one or fewer characters")
    if scientific and shortest:
        raise InvalidArgumentError("Cannot select both scientific and shortest notation")
    if fill not in ("", " ", "+", "-", "0", "#"):
        raise InvalidArgumentError(f'Fill argument not supported: "{fill}"')
    letter = "d" if kind == "i" else "g" if shortest else "e" if scientific else "f"
    form = f"%{fill}{width if width > -1 else ''}{f'.{precision}' if precision > -1 else ''}{letter}"
    if kind == "b":
        return each(lambda flag: b"true" if flag else b"false", input)
    if kind == "c":
        return each(lambda number: f"({form % number.real},{form % number.imag})".encode(), input)
    return each(lambda number: (form % number).encode(), input)


@text_op("StringToNumber", infer=lambda string_tensor, *, out_type: Spec(as_dtype(out_type), string_tensor.dims))
def string_to_number(string_tensor: Text, *, out_type):
    """The numbers that strings are, white space around them or not. string_tensor: string[...] -> out_type[...]."""
    dtype = as_dtype(out_type)

    def number(text):
        try:
            found = int(text) if dtype.is_integer else float.fromhex(text.decode()) if b"x" in text else float(text)
        except ValueError:
            found = None
        if found is None or b"_" in text or dtype.is_integer and not dtype.min <= found <= dtype.max:
            raise InvalidArgumentError("StringToNumberOp could not correctly convert string: "
                                       f"{text.decode(errors='replace')}")
        return found

    with np.errstate(over="ignore"):  # a number beyond float32 is infinite
        return each(number, string_tensor, dtype=dtype.as_numpy_dtype)
