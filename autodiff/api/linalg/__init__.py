"""Linear algebra on matrices in the last two axes: the namespace tf.linalg, and many names at the top of tf.

Each function builds ops of autodiff/ops/linalg. Start with products.py; this module gathers the others. Operators that
are known by what they do are a room of their own, operators/.
"""
from __future__ import annotations

from importlib import import_module
from typing import Any

from ..arrays.rearrange import diag as tensor_diag
from ..arrays.rearrange import diag_part as tensor_diag_part
from ..arrays.rearrange import eye, matrix_transpose
from ..arrays.rearrange import matrix_band_part as band_part
from ..arrays.rearrange import matrix_diag as diag
from ..arrays.rearrange import matrix_diag_part as diag_part
from ..arrays.rearrange import matrix_set_diag as set_diag
from ..common.unsupported import refusing
from ..math.norms import *
from ..math.norms import l2_normalize, normalize
from ..math.special import cross
from .decompositions import *
from .products import *
from .products import matvec
from .solvers import *

transpose = matrix_transpose

_refuse = refusing("tf.linalg", __name__)


def __getattr__(name: str) -> Any:
    if name.startswith("LinearOperator"):  # loaded when a script first uses one
        return getattr(import_module(f"{__name__}.operators"), name, None) or _refuse(name)
    return _refuse(name)
