#!/usr/bin/env python3
"""Compare values and derivatives of random graphs here and in TensorFlow's compat.v1.

    python scripts/differential.py --graphs 10000 --tf PATH_OF_A_PYTHON_WITH_TENSORFLOW [--seed 0]

Each graph is a short script that both libraries execute; a disagreement is shrunk to the fewest
statements that still disagree, and printed. Exit code 1 if any is left.
"""
from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[1]))

from random_graphs import Program, random_program, without  # noqa: E402

TOLERANCE = {"float64": (1e-7, 1e-9), "float32": (2e-3, 2e-4)}  # relative, absolute: of the largest element


@dataclass
class Outcome:
    """What one library made of a script: arrays by name, or the error it raised."""

    values: dict[str, Any]
    error: str | None


def evaluate(tf: Any, script: str) -> Outcome:
    """Execute a script in a fresh graph; gives its `result`, a dict of arrays and Nones."""
    space: dict[str, Any] = {"tf": tf, "np": np}
    try:
        with tf.Graph().as_default():
            exec(compile(script, "<random graph>", "exec"), space)
    except Exception as error:  # whatever a library raises is its answer
        return Outcome({}, f"{type(error).__name__}: {str(error)[:300]}")
    return Outcome(space["result"], None)


class Reference:
    """TensorFlow in a process of its own, asked over a pipe."""

    def __init__(self, python: str) -> None:
        quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "TF_ENABLE_ONEDNN_OPTS": "0"}
        self.process = subprocess.Popen([python, __file__, "--worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env={**os.environ, **quiet})

    def evaluate(self, script: str) -> Outcome:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(script) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("the TensorFlow process ended")
        answer = json.loads(line)
        return Outcome({k: None if v is None else np.array(v["data"], v["dtype"]).reshape(v["shape"])
                        for k, v in answer["values"].items()}, answer["error"])

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def worker() -> None:
    """Serve scripts with TensorFlow: one JSON string a line in, one JSON object a line out."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever TensorFlow prints goes elsewhere
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    for line in sys.stdin:
        outcome = evaluate(tf, json.loads(line))
        values = {k: None if v is None else {"data": np.asarray(v).ravel().tolist(), "dtype": np.asarray(v).dtype.name,
                                             "shape": np.shape(v)} for k, v in outcome.values.items()}
        answers.write(json.dumps({"values": values, "error": outcome.error}) + "\n")
        answers.flush()


def difference(ours: Outcome, theirs: Outcome, *, loops: bool = False) -> str | None:
    """The first point in which two outcomes disagree, or None.

    What TensorFlow cannot do is not compared: scripts that only it refuses, and second derivatives
    of scripts with loops, of which it silently leaves out the loop's part (tests/test_control_flow.py
    holds ours against central differences).
    """
    if theirs.error is None and ours.error is not None:
        return f"here {ours.error}; TensorFlow no error"
    for name, expected in theirs.values.items():
        found = ours.values.get(name)
        if name.startswith("d2y") and loops:
            continue
        if (found is None) != (expected is None):
            return f"{name}: here {found!r}; TensorFlow {expected!r}"
        if expected is not None and (text := _unlike(np.asarray(found), expected)):
            return f"{name}: {text}"
    return None


def compared(tf: Any, program: Program, theirs: Outcome) -> str | None:
    """How this library's outcome differs from TensorFlow's for a program, or None."""
    script = program.script()
    loops = any(word in script for word in ("while_loop", "map_fn", "scan"))
    return difference(evaluate(tf, script), theirs, loops=loops)


def _unlike(found: np.ndarray, expected: np.ndarray) -> str | None:
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return f"here {found.dtype}{list(found.shape)}; TensorFlow {expected.dtype}{list(expected.shape)}"
    if expected.dtype.kind != "f":
        return None if np.array_equal(found, expected) else f"here {found.tolist()}; TensorFlow {expected.tolist()}"
    relative, absolute = TOLERANCE[expected.dtype.name]
    finite = np.isfinite(expected)
    scale = max(1.0, float(np.abs(expected[finite]).max(initial=0.0)))
    if not np.allclose(found, expected, relative, absolute * scale, equal_nan=True):
        return f"here {found.ravel()[:6].tolist()}; TensorFlow {expected.ravel()[:6].tolist()}"
    return None


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
    parser.add_argument("--graphs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the first graph; the others follow")
    parser.add_argument("--tf", default=sys.executable, help="a Python that has TensorFlow")
    parser.add_argument("--stop-after", type=int, default=20, help="disagreements to show before giving up")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker()
        return 0
    import autodiff as tf

    reference = Reference(options.tf)
    disagreements = errors = 0
    try:
        for seed in range(options.seed, options.seed + options.graphs):
            program = random_program(seed)
            theirs = reference.evaluate(program.script())
            errors += theirs.error is not None
            if compared(tf, program, theirs) is None:
                continue
            disagreements += 1
            small = shrink(program, lambda p: compared(tf, p, reference.evaluate(p.script())))
            text = compared(tf, small, reference.evaluate(small.script()))
            print(f"---- graph {seed}: {text}\n{small.script()}", flush=True)
            if disagreements >= options.stop_after:
                break
    finally:
        reference.close()
    print(f"{seed - options.seed + 1} graphs, {disagreements} disagreements, {errors} refused by TensorFlow")
    return 1 if disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
