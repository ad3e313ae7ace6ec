"""Graph-mode automatic differentiation with TensorFlow 1.x names, on NumPy alone.

This module is the namespace `tf`: what is public at its top, and in which room each namespace below it lives.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from . import ops
from .api import debugging, linalg, math, random
from .api.arrays import shaping
from .api.arrays.shaping import *
from .api.common import unsupported
from .api.common.public_paths import PublicPaths
from .api.control import dependencies
from .api.control.control_flow import case, cond, switch_case, while_loop
from .api.control.custom import *
from .api.control.dependencies import *
from .api.control.tensor_array import TensorArray
from .api.debugging import *
from .api.linalg import *
from .api.math import *
from .api.math.histograms import *
from .api.random import *
from .api.signal import *
from .api.sparse.arithmetic import *
from .api.sparse.rearrange import *
from .api.variables import initializers, variable
from .api.variables.assignment import *
from .api.variables.initializers import *
from .api.variables.variable import *
from .api.variables.variable_scope import *
from .core import errors, nest
from .core.collections import *
from .core.convert import convert_to_tensor
from .core.defaults import get_default_session
from .core.dtypes import (
    DType,
    as_dtype,
    bool_,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from .core.errors import OpError, UnsupportedError
from .core.graph import Graph, Operation, Tensor, get_default_graph, reset_default_graph
from .core.indexed_slices import IndexedSlices, IndexedSlicesValue
from .core.shapes import Dimension, TensorShape
from .core.sparse_tensor import SparseTensor, SparseTensorValue
from .gradients.aggregate import AggregationMethod
from .gradients.backprop import UnconnectedGradients, gradients
from .gradients.tape import GradientTape
from .runtime.config import *
from .runtime.eager import disable_eager_execution, disable_v2_behavior, enable_eager_execution, executing_eagerly
from .runtime.session import InteractiveSession, Session

__version__ = "1.15.5"
newaxis = None
vars()["bool"] = bool_  # tf.bool, without hiding Python's from readers of this file

# Namespace of `tf` -> the module that is it. One that is not imported above is read when a script first enters it.
NAMESPACES = {
    **{name: f"api.{name}" for name in (
        "app", "compat", "contrib", "data", "debugging", "distributions", "flags", "gfile", "image", "keras", "layers",
        "linalg", "logging", "losses", "math", "metrics", "mnist", "nn", "random", "signal", "sparse", "spectral",
        "summary", "test", "train")},
    "debug": "debug", "errors": "core.errors", "initializers": "api.variables.initializers", "nest": "core.nest",
}
# Names at the top that live in modules which few scripts need.
ELSEWHERE = {
    **dict.fromkeys(("GraphDef", "NodeDef"), "core.graph_def"),
    **dict.fromkeys(("HistogramProto", "Summary"), "ops.common.summary_messages"),
    **dict.fromkeys(("_hessian_vector_product", "hessian_vector_product", "hessians"), "gradients.higher_order"),
    **dict.fromkeys(("foldl", "foldr", "map_fn", "scan"), "api.control.map_and_scan"),
    "extract_image_patches": "api.image.boxes", "import_graph_def": "api.import_graph",
    "make_template": "api.variables.template",
}

# `import autodiff.nn` is `import autodiff.api.nn`: a namespace is one module, by whichever path it is imported.
sys.meta_path.insert(0, PublicPaths(__name__, NAMESPACES))


def __getattr__(name: str) -> Any:
    if name in NAMESPACES:
        return import_module(f"{__name__}.{NAMESPACES[name]}")
    if name in ELSEWHERE:
        return getattr(import_module(f"{__name__}.{ELSEWHERE[name]}"), name)
    if name.startswith("__"):  # what Python itself looks for
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise unsupported.unsupported_name("tf", name, __dir__())


def __dir__() -> list[str]:
    """What scripts may use: the namespaces that TensorFlow has too, and names that are no modules."""
    return sorted({*(n for n, v in globals().items() if not isinstance(v, ModuleType)), *NAMESPACES, *ELSEWHERE})
