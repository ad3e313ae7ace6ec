"""Attributes of operations as AttrValues, and back."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.dtypes import DType, as_dtype
from ...core.errors import ArgumentError
from ...core.shapes import TensorShape, as_dims
from ...files.graph_messages import GRAPH_MESSAGES
from ...files.tensor_values import (
    STANDS_FOR,
    array_of_proto,
    dtype_name,
    dtype_number,
    proto_of_array,
    proto_of_shape,
    shape_of_proto,
)

AttrValue, NodeDef = GRAPH_MESSAGES["AttrValue"], GRAPH_MESSAGES["NodeDef"]

_FIELDS = {"string": "s", "int": "i", "float": "f", "bool": "b", "type": "type", "shape": "shape", "tensor": "tensor",
           "func": "func"}


def attr_of(kind: str, value: Any) -> Any:
    """The AttrValue of a Python value. kind: as ops declare it, such as `type` or `list(int)`."""
    made = AttrValue()
    if kind.startswith("list("):
        single = kind[5:-1]
        made.list.mark_set()
        getattr(made.list, _FIELDS[single]).extend(_plain(single, each) for each in value)
    elif kind in ("shape", "tensor", "func"):
        plain = _plain(kind, value)
        getattr(made, _FIELDS[kind]).CopyFrom(plain)
        getattr(made, _FIELDS[kind]).mark_set()
    else:
        setattr(made, _FIELDS[kind], _plain(kind, value))
    return made


def plain_node(name: str, op: str, inputs: Iterable[str], **attributes: tuple[str, Any]) -> Any:
    """A NodeDef. attributes: (kind, value) by name."""
    made = NodeDef(name=name, op=op, input=inputs)
    for key, (kind, value) in attributes.items():
        made.attr[key].CopyFrom(attr_of(kind, value))
    return made


def _plain(kind: str, value: Any) -> Any:
    """A value as the field of its kind holds it."""
    if kind == "string":
        return value if isinstance(value, bytes) else str(value).encode()
    if kind == "type":
        return dtype_number(as_dtype(value).name)
    if kind == "shape":
        return proto_of_shape(as_dims(value))
    if kind == "tensor":
        array = np.asarray(value)
        return proto_of_array(as_dtype(array.dtype).name, array)
    return {"int": int, "float": float, "bool": bool}.get(kind, lambda v: v)(value)


def kind_of(value: Any) -> str | None:
    """The kind of a Python value whose op is not TensorFlow's; None for what has none."""
    if isinstance(value, (tuple, list)):
        kinds = {kind_of(each) for each in value}
        kind = kinds.pop() if len(kinds) == 1 else None
        return f"list({kind})" if kind in _FIELDS else None
    for kinds_of_python, kind in ((bool, "bool"), (int, "int"), (float, "float"), ((str, bytes), "string"),
                                  (DType, "type"), (TensorShape, "shape"), (np.ndarray, "tensor")):
        if isinstance(value, kinds_of_python):
            return kind
    return None


def value_of(attr: Any, what: str) -> Any:
    """The Python value of an AttrValue: dims of a shape, an array of a tensor, a tuple of a list.

    Raises ArgumentError (ValueError) for one without a value. what: its name in errors.
    """
    kind = attr.WhichOneof("value")
    if kind is None or kind == "placeholder":
        raise ArgumentError(f"{what}: an attribute without a value")
    if kind == "list":
        field, values = next(iter(attr.list.ListFields()), (None, ()))
        return () if field is None else tuple(_python(field.name, each, what) for each in values)
    return _python(kind, getattr(attr, kind), what)


def _python(kind: str, value: Any, what: str) -> Any:
    if kind == "s":
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    if kind == "type":
        return dtype_of(value)
    if kind == "shape":
        return shape_of_proto(value)
    if kind == "tensor":
        return array_of_proto(value, what)
    return value


def dtype_of(number: int) -> DType:
    """The element type of a number in a file."""
    name = dtype_name(number)
    base = name.removesuffix("_ref")
    return as_dtype(name.replace(base, STANDS_FOR.get(base, base)))
