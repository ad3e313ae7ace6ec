"""ONNX models made of the messages that the reader reads: nodes, graphs and models, as onnx.helper makes them."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autodiff.foreign.onnx.messages import DTYPES, MESSAGES

CODES = {np.dtype(dtype): code for code, dtype in reversed(DTYPES.items())}  # dtype -> TensorProto.DataType
VERSION = 26  # of the operator set, unless a model says another


def tensor(name: str, array: Any) -> Any:
    """A TensorProto with raw data."""
    array = np.asarray(array)
    return MESSAGES["TensorProto"](name=name, dims=list(array.shape), data_type=CODES[array.dtype],
                                   raw_data=array.tobytes())


def value(name: str, dtype: Any = None, shape: Sequence[Any] | None = None) -> Any:
    """A ValueInfoProto. shape: ints, names of sizes that are not known, or None for an unknown rank."""
    info = MESSAGES["ValueInfoProto"](name=name)
    if dtype is not None:
        info.type.tensor_type.elem_type = CODES[np.dtype(dtype)]
        if shape is not None:
            info.type.tensor_type.shape.mark_set()
            for size in shape:
                info.type.tensor_type.shape.dim.add(**{"dim_param" if isinstance(size, str) else "dim_value": size})
    return info


def attribute(name: str, given: Any) -> Any:
    """An AttributeProto of the type that a value has."""
    made = MESSAGES["AttributeProto"](name=name)
    kind = type(given[0]) if isinstance(given, (list, tuple)) else type(given)
    field, code = {float: ("f", 1), int: ("i", 2), str: ("s", 3), np.ndarray: ("t", 4),
                   MESSAGES["GraphProto"]: ("g", 5)}[kind]
    if isinstance(given, (list, tuple)):
        getattr(made, {"f": "floats", "i": "ints", "s": "strings"}[field]).extend(
            part.encode() if kind is str else part for part in given)
        made.type = code + 5
        return made
    if field in ("t", "g"):
        getattr(made, field).CopyFrom(tensor("", given) if field == "t" else given)
    else:
        setattr(made, field, given.encode() if kind is str else given)
    made.type = code
    return made


def node(op: str, inputs: Sequence[str], outputs: Sequence[str], *, name: str = "", trace: str = "", domain: str = "",
         **attributes: Any) -> Any:
    """A NodeProto. trace: what torch's exporter leaves of the Python stack."""
    made = MESSAGES["NodeProto"](op_type=op, input=list(inputs), output=list(outputs), name=name, domain=domain,
                                 attribute=[attribute(key, given) for key, given in attributes.items()])
    if trace:
        made.metadata_props.add(key="pkg.torch.onnx.stack_trace", value=trace)
    return made


def graph(nodes: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any],
          initializers: Mapping[str, Any] | None = None) -> Any:
    """A GraphProto."""
    return MESSAGES["GraphProto"](name="made", node=nodes, input=inputs, output=outputs,
                                  initializer=[tensor(key, array) for key, array in (initializers or {}).items()])


def model(of: Any, *, version: int = VERSION, functions: Sequence[Any] = (), domains: Sequence[str] = ()) -> bytes:
    """A whole model, as bytes. domains: of its functions."""
    imports = [{"version": version}, *[{"domain": domain, "version": 1} for domain in domains]]
    made = MESSAGES["ModelProto"](ir_version=10, graph=of, opset_import=imports, functions=functions)
    return made.SerializeToString()
