"""What every row of the op table promises: shapes, derivatives, batching, errors, completeness."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import pytest
from autodiff.errors import AutodiffError, NoGradientError

import autodiff as tf
from autodiff.core.convert import to_tensor
from autodiff.core.graph import Tensor
from autodiff.core.indexed_slices import dense
from autodiff.core.op import OPS, OpDef, blocked
from autodiff.core.shapes import compatible
from autodiff.gradients.batching import vectorize
from autodiff.gradients.blocked_reasons import blocked_reason, no_gradient_reason

from ..central import central, checked_elements, weighted
from ..expect import expect_each
from .built import KNOWN, MODES, RANK_UNKNOWN, SIZES_UNKNOWN, Built, built, types_in
from .case import Case, array
from .op_cases import CASES

ROWS = {name: [case for case in CASES if case.op == name] for name in OPS}
RTOL, ATOL = 1e-5, 1e-7  # of central differences; see central.py


@dataclass(frozen=True)
class Promise:
    """What the rows that it is about must keep. modes: in which it is checked, () if in one that it chooses."""

    check: Callable[..., None]
    is_about: Callable[[Case], bool]
    modes: tuple[str, ...]


PROMISES: list[Promise] = []


def promise(is_about: Callable[[Case], bool], *modes: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorator: a check of each row, in each mode."""

    def noted(check: Callable[..., None]) -> Callable[..., None]:
        PROMISES.append(Promise(check, is_about, modes))
        return check

    return noted


def is_good(case: Case) -> bool:
    return case.fails is None


def kept_by(case: Case) -> Iterator[tuple[str, Callable[[], None]]]:
    """The checks of one row. A row that cannot even be built is left for the check to show."""
    for one in PROMISES:
        try:
            if not one.is_about(case):
                continue
        except Exception:
            if not is_good(case):
                continue
        for mode in one.modes:
            yield f"{one.check.__name__} of {case.name}, {mode}", partial(one.check, case, mode)
        if not one.modes:
            yield f"{one.check.__name__} of {case.name}", partial(one.check, case)


@pytest.mark.parametrize("name", sorted(OPS))
def test_every_op_keeps_its_promises(name: str) -> None:
    assert missing_of(OPS[name], CASES) == []
    expect_each(check for case in ROWS[name] for check in kept_by(case))
    forget_rows()


def forget_rows() -> None:
    """Rows of another op are not needed again, and Python would go through their graphs in search of garbage."""
    built.cache_clear()
    first_slopes.cache_clear()


# ---- shapes and dtypes ------------------------------------------------------------------

@promise(is_good, *MODES)
def inferred_dtype_and_shape_are_the_real_ones(case: Case, mode: str) -> None:
    row = built(case, mode)
    for tensor, value in zip(row.outputs, row.values(), strict=True):
        found = f"{case.name} ({mode}): promised {tensor.describe()}, found {np.asarray(value).dtype}{np.shape(value)}"
        if tensor.dtype is tf.resource:
            continue  # fetching a variable's handle reads the variable
        if tensor.dtype.kind != "O":
            assert getattr(value, "dtype", None) == tensor.dtype.base_dtype.as_numpy_dtype, found
        assert compatible(tensor.dims, np.shape(value)), found


def takes_float32(case: Case) -> bool:
    if not is_good(case) or case.through is not None:
        return False
    return bool(built(case).float_inputs()) and tf.float32 in built(case).definition.dtypes


@promise(takes_float32)
def float32_in_gives_float32_out(case: Case) -> None:
    row = built(case, KNOWN, np.float32)
    wide = [tensor.dtype for tensor in built(case).outputs]
    for tensor, value, was in zip(row.outputs, row.values(), wide, strict=True):
        assert tensor.dtype.kind == "O" or value.dtype == tensor.dtype.base_dtype.as_numpy_dtype
        if was is tf.float64 and row.definition.parameters[0].kind.shared and not case.attrs:
            assert tensor.dtype.base_dtype is tf.float32


@promise(lambda case: is_good(case) and bool(case.inputs))
def a_kernel_leaves_its_inputs_alone(case: Case) -> None:
    row = built(case)
    fed = [i for i, tensor in enumerate(row.inputs) if tensor.op.type == "Placeholder"]
    _, _, found = row.run([row.outputs, row.op, [row.inputs[i] for i in fed]])
    for i, value in zip(fed, found, strict=True):
        np.testing.assert_array_equal(value, row.arrays[i], err_msg=f"input {i}")


@promise(lambda case: is_good(case) and OPS[case.op].takes_out and case.through is None)
def out_gives_what_a_fresh_array_would(case: Case) -> None:
    definition, arrays = built(case).definition, built(case).arrays
    fresh = np.asarray(definition.kernel(*arrays, **case.attrs))
    buffer = np.full(fresh.shape, 7, fresh.dtype)
    result = definition.kernel(*arrays, **case.attrs, out=buffer)
    assert result is buffer
    np.testing.assert_array_equal(result, fresh)


# ---- gradients --------------------------------------------------------------------------

def wanted_inputs(case: Case, row: Built) -> list[int]:
    return row.float_inputs() if case.differentiable is None else list(case.differentiable)


def differentiates(case: Case) -> bool:
    if not is_good(case):
        return False
    row = built(case)
    return bool(row.float_outputs() and wanted_inputs(case, row) and row.is_pure) and row.definition.no_rule is None


def weights_like(values: list[np.ndarray], seed: int) -> list[np.ndarray]:
    return [array(*np.shape(v), seed=seed).astype(np.asarray(v).dtype) for v in values]


def first_gradients(case: Case, row: Built) -> dict[int, Tensor]:
    """Input index -> gradient of the weighted sum of the outputs. Each None is checked to have a reason."""
    ys, wanted = row.float_outputs(), wanted_inputs(case, row)
    weights = weights_like(row.run(ys), seed=1)
    with row.graph.as_default():
        found = tf.gradients(ys, [row.inputs[i] for i in wanted], grad_ys=[tf.convert_to_tensor(w) for w in weights])
        gradients = {i: dense(g) for i, g in zip(wanted, found) if g is not None}
    for i in wanted:
        if i not in gradients:
            assert case.differentiable is None, f"no gradient of {case.name} for input {i}, which the row asks for"
            assert no_gradient_reason(row.op) or blocked_reason(row.op, i), f"input {i} of {case.name}: None, no reason"
    return gradients


@cache
def first_slopes(case: Case, index: int) -> np.ndarray:
    """Central differences of the weighted sum of the outputs by one input."""
    row = built(case)
    ys = row.float_outputs()
    weights = weights_like(row.run(ys), seed=1)
    return central(lambda xs: weighted(weights, row.run(ys, xs)), row.arrays, index)


def lacks_a_rule(case: Case) -> bool:
    return is_good(case) and built(case).definition.no_rule is not None and bool(built(case).float_outputs())


@promise(lacks_a_rule)
def asking_for_a_gradient_without_rule_is_a_lookup_error(case: Case) -> None:
    row = built(case)
    with pytest.raises(NoGradientError, match=re.escape(row.definition.no_rule or "")):
        tf.gradients(row.float_outputs(), [row.inputs[i] for i in row.float_inputs()])


@promise(differentiates, KNOWN, SIZES_UNKNOWN, RANK_UNKNOWN)
def first_derivative_is_the_central_difference(case: Case, mode: str) -> None:
    row = Built(case, mode)
    gradients = first_gradients(case, row)
    for i, gradient in gradients.items():
        assert gradient.dtype.base_dtype == row.inputs[i].dtype.base_dtype
        value = np.asarray(row.run(gradient))
        assert value.shape == row.arrays[i].shape
        assert value.dtype == row.arrays[i].dtype
        np.testing.assert_allclose(value.flat[checked_elements(value)], first_slopes(case, i), RTOL, ATOL,
                                   err_msg=f"input {i}")


@promise(lambda case: case.second and differentiates(case))
def second_derivative_is_the_central_difference_of_the_first(case: Case) -> None:
    row = Built(case)
    gradients = first_gradients(case, row)
    targets = list(gradients.values())
    weights = weights_like(row.run(targets), seed=2)
    with row.graph.as_default():
        xs = [row.inputs[i] for i in gradients]
        second = tf.gradients(targets, xs, grad_ys=[tf.convert_to_tensor(w) for w in weights])
        second = [None if g is None else dense(g) for g in second]
    for i, gradient in zip(gradients, second):
        value = np.zeros_like(row.arrays[i]) if gradient is None else np.asarray(row.run(gradient))
        slopes = central(lambda arrays: weighted(weights, row.run(targets, arrays)), row.arrays, i)
        np.testing.assert_allclose(value.flat[checked_elements(value)], slopes, RTOL, ATOL, err_msg=f"input {i}")


# ---- batching ---------------------------------------------------------------------------

def slices_of(value: np.ndarray, count: int) -> np.ndarray:
    """`count` variations inside the domain of one input, all different where it has numbers to vary."""
    if value.dtype.kind in "fc":
        return np.stack([value * (1 + 1e-3 * i) for i in range(count)])
    return np.stack([np.roll(value, i) for i in range(count)])


def batch_size(row: Built) -> int:
    sizes = {size for a in row.arrays for size in a.shape} | {s for t in row.outputs for s in t.dims or ()}
    return next(n for n in range(5, 100) if n not in sizes)


def batched_subsets(case: Case) -> list[tuple[int, ...]]:
    inputs = tuple(built(case).float_inputs() if case.batch is None else case.batch)
    return list(dict.fromkeys([inputs, *[(i,) for i in inputs]])) if inputs else []


@promise(lambda case: is_good(case) and bool(batched_subsets(case)) and built(case).is_pure)
def batching_is_a_loop_over_slices(case: Case) -> None:
    subsets = batched_subsets(case)
    row = Built(case)
    count = batch_size(row)
    for subset in subsets:
        stacks = {i: slices_of(row.arrays[i], count) for i in subset}
        with row.graph.as_default():
            replaced = {row.inputs[i]: to_tensor(row.graph, stack, None, "stack") for i, stack in stacks.items()}
            outputs = vectorize(row.outputs, replaced, count)
        found = row.run(outputs)
        loop = [row.values([stacks[k][i] if k in stacks else a for k, a in enumerate(row.arrays)])
                for i in range(count)]
        for k, (tensor, value) in enumerate(zip(outputs, found)):
            expected = np.stack([values[k] for values in loop])
            about = f"output {k}, batched inputs {subset}"
            assert value.dtype == expected.dtype and compatible(tensor.dims, value.shape), about
            np.testing.assert_allclose(value, expected, 1e-9, 1e-12, err_msg=about)


# ---- rows that must fail ----------------------------------------------------------------

@promise(lambda case: not is_good(case))
def a_bad_row_fails_with_its_class_and_says_why(case: Case) -> None:
    mode = RANK_UNKNOWN if case.at_run else KNOWN
    assert case.fails is not None
    with pytest.raises(case.fails) as caught:
        row = Built(case, mode)
        assert case.at_run, f"{case.name} was built, expected {case.fails.__name__}"
        row.values()
    error = caught.value
    assert isinstance(error, AutodiffError), f"{type(error).__name__} is no expected failure: {error}"
    lines = error.message.splitlines()
    assert lines and not lines[0].endswith("."), error.message
    assert f"in {case.op}" in error.message or "in tested" in error.message, f"the message names no op: {error.message}"
    assert "written at" in error.message, f"the message names no line: {error.message}"


# ---- completeness -----------------------------------------------------------------------

def missing_of(definition: OpDef, cases: list[Case]) -> list[str]:
    """What a declared op still lacks."""
    missing = []
    own = [case for case in cases if case.op == definition.name]
    if not own:
        missing.append("a row in tests/ops/rows/<family>.py")
    if definition.gradient_rule is None and definition.no_grad is None and definition.no_rule is None:
        missing.append("a gradient rule, or no_grad / no_rule with the reason")
    batchable = bool(definition.parameters) and not definition.stateful
    if batchable and definition.batching_rule is None and not definition.elementwise:
        missing.append("a batching rule")
    if not definition.doc.strip() or not definition.doc.strip().splitlines()[0].rstrip().endswith("."):
        missing.append("a docstring whose first line is a sentence")
    return missing


def test_an_incomplete_op_is_noticed() -> None:
    bare = OpDef("Bare", lambda x: x, parameters=OPS["Identity"].parameters, keyword_only=(), infer=lambda x: x,
                 build=lambda *_: None, elementwise=False, dtypes=(tf.float32,), stateful=False, no_grad=None,
                 no_rule=None, batching_rule=None)
    assert len(missing_of(bare, CASES)) == 4


def test_row_names_are_unique_and_name_an_op() -> None:
    names = [case.name for case in CASES]
    assert sorted({name for name in names if names.count(name) > 1}) == []
    assert sorted({case.op for case in CASES if case.op not in OPS}) == []


@promise(lambda case: is_good(case) and case.through is not None)
def a_row_that_goes_through_other_ops_has_its_own(case: Case) -> None:
    assert case.op in types_in(built(case).op)


def test_reasons_are_said() -> None:
    """`no_grad`, `no_rule` and `blocked` carry words, not flags."""
    assert blocked("a shape is made of integers").reason
    empty = [d.name for d in OPS.values() if d.no_grad is not None and len(d.no_grad.split()) < 3]
    assert empty == []


def test_each_check_that_fails_is_told() -> None:
    with pytest.raises(ExceptionGroup) as caught:
        expect_each([("one", lambda: 1 / 0), ("two", lambda: None), ("three", lambda: OPS["NoSuchOp"])])
    assert [error.__notes__ for error in caught.value.exceptions] == [["in one"], ["in three"]]
