"""Each ONNX op against what onnx's reference gives: values, and gradients by differences, in float64 and float32."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import autodiff as tf
from autodiff.foreign import from_onnx
from autodiff.foreign.onnx.reader import onnx

from ..expect import expect_none
from .onnx_rows import ROWS, Row, cast, model_of, weights

ROWLESS = {  # op -> where it is tested, or why it is not
    **dict.fromkeys(("If", "Loop", "Scan"), "test_onnx_control"),
    **dict.fromkeys(("SequenceEmpty", "SequenceConstruct", "SequenceInsert", "SequenceErase", "SequenceAt",
                     "SequenceLength", "SequenceMap", "ConcatFromSequence", "SplitToSequence"), "test_onnx_control"),
    **dict.fromkeys(("Optional", "OptionalGetElement", "OptionalHasElement"), "test_onnx_control"),
    **dict.fromkeys(("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli"),
                    "test_onnx_control"),
    "Scatter": "the old name of ScatterElements, which the reference has not",
    "GlobalLpPool": "the reference has none",
}


def _known() -> dict[str, np.ndarray]:
    with np.load(Path(__file__).parent / "onnx_values.npz") as kept:
        shapes = [tuple(map(int, text.split())) for text in kept["shapes"]]
        parts = np.split(kept["values"], np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1])
        return {str(name): part.reshape(shape) for name, part, shape in zip(kept["names"], parts, shapes)}


KNOWN = _known()


def computed(row: Row, dtype: str, *, fed: bool) -> dict[str, np.ndarray]:
    """Outputs, and gradients of the first one weighted, under the names in the file."""
    model = from_onnx(model_of(row, dtype, fed=fed))
    with model.graph.as_default(), tf.Session() as session:
        first = model.outputs[0]
        feeds = {model.inputs[f"in{k}"]: cast(x, dtype) for k, x in enumerate(row.inputs)
                 if f"in{k}" in model.inputs}
        found = {f"output {k}": y for k, y in enumerate(session.run(list(model.outputs), feeds))}
        if first.dtype.is_floating:
            xs = {f"gradient {k}": model.inputs[f"in{k}"] for k in row.floats()}
            dy = tf.constant(weights(found["output 0"].shape).astype(dtype))
            made = tf.gradients(first, list(xs.values()), grad_ys=[dy])
            dxs = [tf.zeros_like(x) if dx is None else tf.convert_to_tensor(dx) for x, dx in zip(xs.values(), made)]
            found.update(zip(xs, session.run(dxs, feeds)))
    return found


@pytest.mark.parametrize(("dtype", "fed"), [("float64", True), ("float32", False)])
@pytest.mark.parametrize("number", range(len(ROWS)), ids=[f"{k}-{row.op}" for k, row in enumerate(ROWS)])
def test_an_op_is_what_the_reference_gives(number: int, dtype: str, fed: bool) -> None:
    row = ROWS[number]
    prefix = f"{number} {row.op} "
    expected = {name.removeprefix(prefix): array for name, array in KNOWN.items() if name.startswith(prefix)}
    found = computed(row, dtype, fed=fed)
    assert sorted(found) == sorted(expected)
    is_fine = dtype == "float64" and row.is_exact
    for name, array in expected.items():
        is_gradient = name.startswith("gradient")  # of differences, whose error is that of their step
        rtol = (1e-6 if is_gradient else 1e-7) if is_fine else 2e-3 if is_gradient else 2e-5
        scale = max(1.0, float(np.abs(array).max(initial=0)))
        np.testing.assert_allclose(found[name], array, rtol, rtol * scale, err_msg=name)


def test_every_op_has_a_row_or_is_tested_elsewhere() -> None:
    expect_none(op for op in onnx.ops if op not in ROWLESS and op not in {row.op for row in ROWS})
    expect_none(op for op in ROWLESS if op not in onnx.ops)


def test_the_file_has_values_for_these_rows_alone() -> None:
    expect_none(name for name in KNOWN if not name.startswith(f"{name.split()[0]} {ROWS[int(name.split()[0])].op} "))
