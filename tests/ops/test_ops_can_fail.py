"""The checks of the op table notice what they are for: a wrong kernel, shape, rule or batching is found."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from autodiff.errors import AutodiffError, ShapeError

from autodiff.core.op import OPS, Spec, blocked

from . import test_ops as checks
from .built import KNOWN, SIZES_UNKNOWN
from .case import Case, array

WRONG = [  # what is wrong with Tanh, the field that says so, and the check that must notice
    ("a rank too few", "infer", lambda x: Spec(x.dtype, x.dims and x.dims[1:]),
     lambda case: checks.inferred_dtype_and_shape_are_the_real_ones(case, KNOWN)),
    ("a size that is not known yet", "infer", lambda x: Spec(x.dtype, x.dims and tuple(d or 1 for d in x.dims)),
     lambda case: checks.inferred_dtype_and_shape_are_the_real_ones(case, SIZES_UNKNOWN)),
    ("another dtype", "kernel", lambda x: np.tanh(x).astype(np.float64), checks.float32_in_gives_float32_out),
    ("a Python number", "kernel", lambda x: float(np.tanh(x).sum()),
     lambda case: checks.inferred_dtype_and_shape_are_the_real_ones(case, KNOWN)),
    ("writes into its input", "kernel", lambda x: np.tanh(x, out=x), checks.a_kernel_leaves_its_inputs_alone),
    ("does not fill its buffer", "kernel", lambda x, out=None: np.tanh(x),
     checks.out_gives_what_a_fresh_array_would),
    ("a wrong factor", "gradient_rule", lambda node, dy: (dy * (2.0 - node.outputs[0] * node.outputs[0]),),
     lambda case: checks.first_derivative_is_the_central_difference(case, KNOWN)),
    ("a path left out of the second derivative", "gradient_rule",
     lambda node, dy: (dy * OPS["StopGradient"](1.0 - node.outputs[0] * node.outputs[0]),),
     checks.second_derivative_is_the_central_difference_of_the_first),
    ("blocked without a reason", "gradient_rule", lambda node, dy: (blocked(""),),
     lambda case: checks.first_derivative_is_the_central_difference(case, KNOWN)),
    ("each slice the same", "batching_rule", lambda node, args, batched: OPS["OnesLike"](args[0]),
     checks.batching_is_a_loop_over_slices),
]


@pytest.mark.parametrize(("field", "wrong", "check"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_what_is_wrong_is_noticed(monkeypatch: pytest.MonkeyPatch, field: str, wrong: Any,
                                  check: Callable[[Case], None]) -> None:
    check(Case("Tanh", (array(2, 3),)))
    monkeypatch.setattr(OPS["Tanh"], field, wrong)
    if field == "infer":  # a rule of one's own is not known to keep shapes
        monkeypatch.setattr(OPS["Tanh"], "keeps_shape", False)
    with pytest.raises((AssertionError, AutodiffError)):
        check(Case("Tanh", (array(2, 3),)))


def test_a_bad_row_that_is_built_is_noticed() -> None:
    with pytest.raises(AssertionError, match="Tanh was built"):
        checks.a_bad_row_fails_with_its_class_and_says_why(Case("Tanh", (array(2, 3),), fails=ShapeError))
