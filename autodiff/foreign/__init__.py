"""Programs of PyTorch, JAX and ONNX, read into the one graph: a reader and tables of foreign ops for each source.

None of the frameworks is a dependency: importing this package needs NumPy alone, and a reader is loaded when it is
first asked for. `from_torch(module_or_function, args, kwargs)`, `from_jax(function, *args)` and
`from_onnx(path_or_model)` give a Model, `from_tensorflow(path)` one of a frozen graph, MetaGraphDef or SavedModel.
`model.py` holds it, and how a table declares ops and says which are missing. Start with model.py.
"""
from __future__ import annotations

from importlib import import_module
from typing import Any

from .model import ForeignOp, MissingOp, MissingOpError, Model, Table, Use

__all__ = ["FRAMEWORKS", "ForeignOp", "MissingOp", "MissingOpError", "Model", "Table", "Use", "from_jax", "from_onnx",
           "from_tensorflow", "from_torch", "is_tensorflow_model", "survey"]

FRAMEWORKS = ("torch", "jax")  # whose scripts are run with a door around them
_READERS = {"from_tensorflow": "tensorflow_files", "is_tensorflow_model": "tensorflow_files",
            "from_torch": "torch.reader", "from_jax": "jax.reader", "from_onnx": "onnx.reader",
            "survey": "onnx.reader"}


def __getattr__(name: str) -> Any:
    if name in _READERS:
        return getattr(import_module(f"{__name__}.{_READERS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
