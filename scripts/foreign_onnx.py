"""Store what onnx's reference gives for the rows of the tests: outputs, and gradients by central differences.

foreign_onnx.py        # with a Python that has onnx; writes tests/foreign/onnx_values.npz
Everything is computed in float64, where the reference does so; gradients are those of the first output, weighted.
"""
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT)]
from tests.foreign.onnx_rows import ROWS, Row, cast, model_of, weights  # noqa: E402

FINE, COARSE = 1e-6, 1e-2  # steps of the differences; coarse where the reference computes in float32


def evaluated(row: Row, inputs: list, run: ReferenceEvaluator) -> list:
    """All outputs for these inputs."""
    return run.run(None, {f"in{k}": x for k, x in enumerate(inputs) if x is not None})


def gradient(row: Row, inputs: list, k: int, run: ReferenceEvaluator) -> np.ndarray:
    """Central differences of the weighted sum of the first output, by each element of input k."""
    step = FINE if row.is_exact else COARSE
    found = np.zeros(inputs[k].shape)
    for at in np.ndindex(found.shape):
        sums = []
        for sign in (1, -1):
            moved = [x if j != k else x.copy() for j, x in enumerate(inputs)]
            moved[k][at] += sign * step
            y = np.asarray(evaluated(row, moved, run)[0], float)
            sums.append((y * weights(y.shape)).sum())
        found[at] = (sums[0] - sums[1]) / (2 * step)
    return found


def stored(row: Row) -> dict[str, np.ndarray]:
    """What the file has of a row, by name."""
    dtype = "float64" if row.is_exact else "float32"
    run = ReferenceEvaluator(onnx.load_from_string(model_of(row, dtype, fed=True)))
    inputs = [cast(x, dtype) for x in row.inputs]
    outputs = evaluated(row, inputs, run)
    found = {f"output {k}": np.asarray(y).astype(float) for k, y in enumerate(outputs)}
    if np.asarray(outputs[0]).dtype.kind == "f":
        found |= {f"gradient {k}": gradient(row, inputs, k, run) for k in row.floats()}
    return found


def main() -> None:
    """Write the file: all arrays in one, with their names and shapes."""
    arrays = {}
    for number, row in enumerate(ROWS):
        try:
            arrays |= {f"{number} {row.op} {name}": array for name, array in stored(row).items()}
        except Exception as error:
            error.add_note(f"in row {number}, {row.op}")
            raise
    shapes = [" ".join(map(str, array.shape)) for array in arrays.values()]
    values = np.concatenate([array.ravel() for array in arrays.values()])
    path = ROOT / "tests" / "foreign" / "onnx_values.npz"
    np.savez_compressed(path, names=list(arrays), shapes=shapes, values=values)
    print(f"{len(ROWS)} rows, {len(arrays)} arrays, {len(values)} numbers")


if __name__ == "__main__":
    main()
