#!/usr/bin/env python3
"""Compare random programs here and in TensorFlow 1.15: values, derivatives, refusals, shapes and names.

    python scripts/differential.py --programs 20000 --tf PATH_OF_A_PYTHON_WITH_TENSORFLOW [--families loops,names]

Each program is a short script that both libraries execute, TensorFlow in a process of its own with Grappler off
(`worker`). Of the family `graphs` (`random_graphs`) a disagreement is shrunk to the fewest statements that still
disagree; those of the others (`families`) are short. Exit code 1 if any is left. What TensorFlow does not do rightly
is listed in docs/tensorflow_differences.md.
"""
from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[1]))

from families import FAMILIES  # noqa: E402
from random_graphs import Program, random_program, without  # noqa: E402
from worker import decoded, evaluate  # noqa: E402

# relative, and absolute as a part of the largest element
TOLERANCE = {"float16": (4e-3, 2e-3), "float32": (1e-4, 2e-5), "float64": (1e-7, 1e-9), "complex64": (1e-4, 2e-5),
             "complex128": (1e-7, 1e-9)}
_LOOPS = ("while_loop", "map_fn", "scan")
# What only one of the two refuses, on purpose: docs/tensorflow_differences.md says why.
_REFUSED_THERE = re.compile("|".join((
    "not in list of allowed values", "has no attribute", "None values not supported", "No gradient defined",
    "type float(32|64) that does not match", "paddings must be less than", "not implemented", "empty output shape",
    "do not yet support", "No OpKernel was registered", "not supported", "Currently there is no way",
    "Incompatible shapes between op input and calculated", "Requires delta != 0", r"is not in \[0, 0\)",
    "params is empty", "Unhandled input dimensions: 0", "Cannot take the length of shape with unknown rank",
    "Duplicate node name", "Could not flatten dictionary", "Bad: indices",
    r"Cannot reshape a tensor with \d+ elements to shape \[0[,\]].*DynamicPartition")))
_REFUSED_HERE = re.compile("|".join((
    r"grad_ys\[\d\] has shape",
    r"axis (= )?-?\d+ (is out of range|not in)", "aggregation_method is 3", "expected int32",
    "Negative dimension size", "expected floats, found", "expected strings alone", "shapes differ",
    "Dimensions must be equal", "'' is not a valid scope name", "not in list of allowed values",
    "a string that is not empty", "integer division by zero", "rows of equal length", "found None")))
# What only one of the two gets right, or neither promises: a pattern of the script, and the values that it excuses.
_FAULTS_THERE = [(re.compile(script, re.S), re.compile(values, re.S)) for script, values in (
    (r"nan.*(max|min|sort|top_k|asinh)", ""), (r"(inf|nan).*moments", "nan"), (r"reduce_prod", r"TensorFlow \[.*nan"),
    (r"(nan|inf).*(abs|sign|huber_loss|absolute_difference)", "nan"), (r"polygamma|zeta", "nan|inf"),
    (r"complex.*(div|xdivy)", "nan|inf"), (r"\(0, \d+, \d+, \d+\).*depthwise_conv2d", r"here \[0\.0"))]


@dataclass
class Outcome:
    """What one library made of a script: arrays, texts and Nones by name, or the error it raised."""

    values: dict[str, Any]
    error: str | None


class Reference:
    """TensorFlow in a process of its own, asked over a pipe."""

    def __init__(self, python: str) -> None:
        quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "TF_ENABLE_ONEDNN_OPTS": "0"}
        worker = str(Path(__file__).parent / "worker.py")
        outside = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        self.process = subprocess.Popen([python, "-W", "ignore", worker], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env={**outside, **quiet})

    def evaluate(self, script: str) -> Outcome:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(script) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the TensorFlow process ended at\n{script}")
        values, error = json.loads(line)
        return Outcome({k: decoded(v) for k, v in values.items()}, error)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def difference(ours: Outcome, theirs: Outcome, script: str = "") -> str | None:
    """The first point in which two outcomes disagree, or None.

    What TensorFlow cannot do is not compared: scripts that only it refuses, and second derivatives
    of scripts with loops, of which it silently leaves out the loop's part (tests/api/test_control_flow.py
    holds ours against central differences).
    """
    loops = any(word in script for word in _LOOPS)
    if theirs.error is None and ours.error is not None:
        return f"here {ours.error}; TensorFlow no error"
    for name, expected in theirs.values.items():
        if name.startswith("d2y") and loops:
            continue
        found = ours.values.get(name)
        if name == "shape" and _is_more_precise(str(found), str(expected)):
            continue
        if text := _unlike(found, expected):
            if not any(a.search(script) and b.search(text) for a, b in _FAULTS_THERE):
                return f"{name}: {text}"
    return None


def _is_more_precise(found: str, expected: str) -> bool:
    """Whether a shape is the other with more sizes known."""
    pattern = re.escape(expected).replace(r"\?", r"(\?|\d+)")
    return bool(re.fullmatch(pattern, found))


def compared(tf: Any, program: Program | str, theirs: Outcome) -> str | None:
    """How this library's outcome differs from TensorFlow's for a program, or None."""
    script = program if isinstance(program, str) else program.script()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return difference(Outcome(*evaluate(tf, script)), theirs, script)


def _unlike(found: Any, expected: Any) -> str | None:
    refused = [isinstance(v, str) and v.startswith("refused") for v in (found, expected)]
    if all(refused) or refused[1] and _REFUSED_THERE.search(expected) or refused[0] and _REFUSED_HERE.search(found):
        return None
    if isinstance(found, np.ndarray) and found.dtype.kind in "SU":
        found = found.astype(object)
    if refused[1] and isinstance(found, np.ndarray) and not found.size:
        return None  # of no elements: TensorFlow looks at indices that nothing uses
    if any(refused) or not isinstance(expected, np.ndarray) or not isinstance(found, np.ndarray):
        same = type(found) is type(expected) and not isinstance(found, np.ndarray) and found == expected
        return None if same else f"here {found!s:.300}; TensorFlow {expected!s:.300}"
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return f"here {found.dtype}{list(found.shape)}; TensorFlow {expected.dtype}{list(expected.shape)}"
    if _is_close(found, expected):
        return None
    return f"here {found.ravel()[:8].tolist()}; TensorFlow {expected.ravel()[:8].tolist()}"


def _is_close(found: np.ndarray, expected: np.ndarray) -> bool:
    if found.dtype == object:
        return [v.decode("latin1") if isinstance(v, bytes) else v for v in found.ravel()] == expected.ravel().tolist()
    if expected.dtype.name not in TOLERANCE:
        return np.array_equal(found, expected)
    relative, absolute = TOLERANCE[expected.dtype.name]
    finite = np.abs(expected[np.isfinite(expected)])
    with np.errstate(all="ignore"):
        least = absolute * max(1.0, float(finite.max(initial=0.0)))
        return np.allclose(found, expected, relative, least, equal_nan=True)


def shrink(program: Program, disagrees: Any) -> Program:
    """The program without every statement that the disagreement can do without."""
    changed = True
    while changed:
        changed = False
        for i in reversed(range(len(program.statements))):
            smaller = without(program, i)
            if smaller is not None and disagrees(smaller):
                program, changed = smaller, True
                break
    return program


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the others follow")
    parser.add_argument("--families", default=",".join(["graphs", *FAMILIES]), help="by default all")
    parser.add_argument("--tf", default=sys.executable, help="a Python that has TensorFlow")
    parser.add_argument("--stop-after", type=int, default=20, help="disagreements to show before giving up")
    options = parser.parse_args()
    import autodiff as tf

    reference, families = Reference(options.tf), options.families.split(",")
    counts = {family: [0, 0] for family in families}
    try:
        for seed in range(options.seed, options.seed + options.programs):
            family = families[seed % len(families)]
            program = random_program(seed) if family == "graphs" else FAMILIES[family](np.random.default_rng(seed))
            text = _disagreement(tf, reference, program)
            counts[family][0] += 1
            if text is not None:
                counts[family][1] += 1
                print(f"---- {family} {seed}: {text}", flush=True)
            if sum(wrong for _, wrong in counts.values()) >= options.stop_after:
                break
    finally:
        reference.close()
    for family, (made, wrong) in counts.items():
        print(f"{family:12} {made:6} programs {wrong:4} disagreements")
    return 1 if any(wrong for _, wrong in counts.values()) else 0


def _disagreement(tf: Any, reference: Reference, program: Program | str) -> str | None:
    """How a program's outcomes differ, and the script, as short as it can be."""
    def differs(small: Program | str) -> str | None:
        return compared(tf, small, reference.evaluate(small if isinstance(small, str) else small.script()))

    text = differs(program)
    if text is None or isinstance(program, str):
        return None if text is None else f"{text}\n{program}"
    small = shrink(program, differs)
    return f"{differs(small)}\n{small.script()}"


if __name__ == "__main__":
    sys.exit(main())
