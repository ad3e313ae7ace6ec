"""tf.io.decode_csv: lines of fields to tensors of numbers and strings, a tensor for each field."""
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import float32, float64, int32, int64, string
from ..core.errors import ArgumentError, DTypeError, InvalidArgumentError
from ..core.graph import Tensor
from .control.custom import py_func

_FIELD = r'"((?:[^"]|"")*)"(?=%s|$)|([^%s"\r\n]*)(?=%s|\r?\n?$)'


def decode_csv(records: Any, record_defaults: Sequence[Any], field_delim: str = ",", use_quote_delim: bool = True,
               name: str | None = None, na_value: str = "", select_cols: Sequence[int] | None = None) -> list[Tensor]:
    """The fields of lines: for each default a tensor of its dtype and of the shape of records.

    A default of one element stands for a missing field, or one that says na_value; with none, shape [0], the run fails.
    Raises ArgumentError (ValueError) for a delimiter of several letters, or other columns than defaults; DTypeError
    (TypeError) for a dtype that is neither string nor a number of 32 or 64 bits.
    """
    lines = convert_to_tensor(records, string, name="records")
    defaults = [convert_to_tensor(d, None) for d in record_defaults]
    for default in defaults:
        if default.dtype.base_dtype not in (float32, float64, int32, int64, string):
            raise DTypeError("the defaults of fields", expected="float32, float64, int32, int64 or string",
                             found=default.dtype.name)
    if len(field_delim) != 1:
        raise ArgumentError("field_delim should be only 1 char", found=repr(field_delim))
    if select_cols is not None and len(select_cols) != len(defaults):
        raise ArgumentError("select_cols should match output size", expected=len(defaults), found=len(select_cols))
    if select_cols is not None and list(select_cols) != sorted(set(select_cols)):
        raise ArgumentError("select_cols should be strictly increasing indices", found=list(select_cols))
    delimiter = re.escape(field_delim)
    pattern = re.compile(_FIELD % ((delimiter,) * 3) if use_quote_delim else rf"(?!)()|([^{delimiter}\r\n]*)", re.ASCII)

    def decode(texts: np.ndarray, *given: np.ndarray) -> list[np.ndarray]:
        columns: list[list[Any]] = [[] for _ in given]
        for number, line in enumerate(np.ravel(texts)):
            fields = _fields(line.decode(), pattern, field_delim, number)
            if select_cols is None and len(fields) != len(given):
                raise InvalidArgumentError(f"Expect {len(given)} fields but have {len(fields)} in record {number}")
            for column, default, at in zip(columns, given, select_cols or range(len(given))):
                if at >= len(fields):
                    raise InvalidArgumentError(f"Expect {len(given)} fields but have {len(fields)} in record {number}")
                column.append(_value(fields[at], default, na_value, at, number))
        return [np.array(column, d.dtype).reshape(np.shape(texts)) for column, d in zip(columns, given)]

    tensors = py_func(decode, [lines, *defaults], [d.dtype.base_dtype for d in defaults], name=name or "DecodeCSV")
    for tensor in tensors:
        tensor.set_shape(lines.shape)
    return list(tensors)


def _fields(line: str, pattern: re.Pattern[str], delimiter: str, number: int) -> list[str]:
    found, at = [], 0
    while True:
        match = pattern.match(line, at)
        if match is None:
            raise InvalidArgumentError(f"Unquoted fields cannot have quotes/CRLFs inside, or a quote has no end: "
                                       f"record {number}")
        found.append(match[2] if match[1] is None else match[1].replace('""', '"'))
        at = match.end()
        if line[at:at + 1] != delimiter:
            return found
        at += 1


def _value(field: str, default: np.ndarray, missing: str, at: int, number: int) -> Any:
    if field in ("", missing):
        if not default.size:
            raise InvalidArgumentError(f"Field {at} is required but missing in record {number}!")
        return np.ravel(default)[0]
    if default.dtype == object:
        return field.encode()
    try:
        return default.dtype.type(field)
    except ValueError:
        raise InvalidArgumentError(f"Field {at} in record {number} is not a valid {default.dtype}: {field}") from None
