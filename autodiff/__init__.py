"""Graph-mode automatic differentiation with TensorFlow 1.x names, on NumPy alone."""

from importlib import import_module
from types import ModuleType
from typing import Any

from . import array, checks, control, errors, initializers, linalg, math, nest, ops, random, served, variables
from .array import *
from .checks import *
from .collections import *
from .control import *
from .control_flow import case, cond, switch_case, while_loop
from .convert import convert_to_tensor
from .counting import *
from .custom import *
from .dtypes import (
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
from .eager import disable_eager_execution, disable_v2_behavior, enable_eager_execution, executing_eagerly
from .errors import NotServedError, OpError
from .gradients.aggregate import AggregationMethod
from .gradients.backprop import UnconnectedGradients, gradients
from .graph import Graph, Operation, Tensor, get_default_graph, reset_default_graph
from .indexed_slices import IndexedSlices, IndexedSlicesValue
from .initializers import *
from .linalg import *
from .math import *
from .random import *
from .runtime.config import *
from .runtime.session import InteractiveSession, Session
from .shapes import Dimension, TensorShape
from .signal import *
from .sparse_math import *
from .sparse_rearranging import *
from .sparse_tensor import SparseTensor, SparseTensorValue
from .stacks import get_default_session
from .state import *
from .tape import GradientTape
from .tensor_array import TensorArray
from .variable_scope import *
from .variables import *

debugging = checks
__version__ = "1.15.5"
newaxis = None
vars()["bool"] = bool_  # tf.bool, without hiding Python's from readers of this file


# The rooms below `tf`. Those that are not here yet are read when a script first enters them.
ROOMS = frozenset({
    "app", "compat", "contrib", "data", "debug", "debugging", "distributions", "errors", "flags", "gfile", "image",
    "initializers", "keras", "layers", "linalg", "logging", "losses", "math", "metrics", "mnist", "nest", "nn",
    "random", "signal", "sparse", "spectral", "summary", "test", "train",
})
# Names at the top that live in modules which few scripts need.
ELSEWHERE = {"GraphDef": "graph_def", "HistogramProto": "messages", "NodeDef": "graph_def", "Summary": "messages",
             "_hessian_vector_product": "gradients.second", "extract_image_patches": "image_boxes",
             "import_graph_def": "import_graph", "foldl": "functional", "foldr": "functional",
             "hessian_vector_product": "gradients.second", "hessians": "gradients.second",
             "make_template": "template", "map_fn": "functional", "scan": "functional"}


def __getattr__(name: str) -> Any:
    if name in ROOMS:
        return import_module(f"{__name__}.{name}")
    if name in ELSEWHERE:
        return getattr(import_module(f"{__name__}.{ELSEWHERE[name]}"), name)
    if name.startswith("__"):  # what Python itself looks for
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise served.not_served("tf", name, __dir__())


def __dir__() -> list[str]:
    """What scripts may use: the rooms that TensorFlow has too, and names that are no modules."""
    return sorted({*(n for n, v in globals().items() if not isinstance(v, ModuleType)), *ROOMS, *ELSEWHERE})
