"""Programs of JAX as they are stored: equations as plain data, what JAX gives for them, and how ours are compared."""
from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

import autodiff as tf
from autodiff.core.site import Site
from autodiff.foreign.jax import primitives  # noqa: F401  fills the table
from autodiff.foreign.jax.data import Equation, Literal, Program, Variable
from autodiff.foreign.jax.primitives.walk import build_program

TOLERANCE = {"float32": (2e-4, 2e-5), "float64": (1e-8, 1e-9)}


def weights(shape):
    """What an output is weighted with before it is summed: no symmetry hides an error."""
    return np.cos(0.7 * np.arange(int(np.prod(shape, dtype=int))) + 0.3).reshape(shape)


def judge(row):
    """The first difference between a stored program, built with our ops, and what JAX gave for it; or None."""
    program, inputs = loaded(row["program"]), [array(x) for x in row["inputs"]]
    outputs = [array(y) for y in row["outputs"]]
    gradients = {int(i): array(g) for i, g in row["gradients"].items()}
    rtol, atol = TOLERANCE[outputs[0].dtype.name if outputs[0].dtype.name in TOLERANCE else "float32"]
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        xs = [tf.placeholder(x.dtype, x.shape) for x in inputs]
        ys = build_program(program, xs)
        found = tf.gradients(ys[0], [xs[i] for i in gradients],
                             grad_ys=[tf.constant(weights(outputs[0].shape).astype(outputs[0].dtype))])
        dxs = [tf.zeros_like(xs[i]) if g is None else tf.convert_to_tensor(g) for i, g in zip(gradients, found)]
        got = session.run([*ys, *dxs], dict(zip(xs, inputs)))
    wanted = [(f"output {i}", y) for i, y in enumerate(outputs)]
    wanted += [(f"gradient {i}", g) for i, g in gradients.items()]
    for value, (name, want) in zip(got, wanted):
        if value.shape != want.shape or value.dtype != want.dtype:
            return f"{name} is {value.dtype}{list(value.shape)}, expected {want.dtype}{list(want.shape)}"
        size = max(1.0, float(np.max(np.abs(want[np.isfinite(want)]), initial=0.0))) if want.dtype.kind in "fc" else 1.0
        if not np.allclose(value, want, rtol=rtol, atol=atol * size, equal_nan=True):
            return f"{name} is {value.ravel()[:6]}, expected {want.ravel()[:6]}"
    return None


def dumped(function, arguments, outputs, gradients):
    """A row: the program of function(*arguments), with the gradients of equations that the reader asks for."""
    import jax

    from autodiff.foreign.jax.program import array_of, trace

    program = trace(function, arguments)
    with tf.Graph().as_default():
        xs = [tf.placeholder(v.dtype, v.shape) for v in program.inputs]
        tf.gradients(build_program(program, xs)[0], [xs[int(i)] for i in gradients])
    row = {"program": _dump(program), "inputs": [_array(array_of(x)) for x in jax.tree.leaves(arguments)],
           "outputs": [_array(np.asarray(y)) for y in outputs],
           "gradients": {str(i): _array(g) for i, g in gradients.items()}}
    return json.loads(json.dumps(row))


def store(path, rows):
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        file.write(json.dumps(rows, separators=(",", ":")).encode())


def stored(path):
    return json.loads(gzip.decompress(Path(path).read_bytes()))


# ---- arrays and programs as JSON ------------------------------------------------------------------

def _array(x: Any) -> Any:
    x = np.asarray(x)
    return {"array": base64.b64encode(x.tobytes()).decode(), "dtype": x.dtype.name, "shape": list(np.shape(x))}


def array(kept: Any) -> np.ndarray:
    return np.frombuffer(base64.b64decode(kept["array"]), kept["dtype"]).reshape(kept["shape"])


def _dump(program: Program, *around: dict[Variable, int]) -> Any:
    """around: the numbers of the variables of the programs that it stands in, from the inside out."""
    numbers: dict[Variable, int] = {}

    def atom(v: Any) -> Any:
        if isinstance(v, Literal):
            return _array(v.value)
        return [numbers.setdefault(v, len(numbers)), v.dtype, list(v.shape)]

    def equation(e: Equation) -> Any:
        kept = {"op": e.primitive, "in": [*map(atom, e.inputs)], "out": [*map(atom, e.outputs)],
                "params": {k: _plain(v, numbers, *around) for k, v in e.params.items()}}
        if e.pullback is not None and e.pullback.cache_info().currsize:  # the reader has asked for it
            kept["pullback"] = _dump(e.pullback(), numbers, *around)
        return kept

    def constant(c: Any) -> Any:
        if not isinstance(c, Variable):
            return _array(c)
        return next([depth, known[c]] for depth, known in enumerate(around) if c in known)

    return {"program": program.name, "inputs": [*map(atom, program.inputs)],
            "dead": [*map(equation, program.dead)],
            "constants": [[atom(v), constant(c)] for v, c in program.constants],
            "equations": [*map(equation, program.equations)], "outputs": [*map(atom, program.outputs)]}


def _plain(value: Any, *around: dict[Variable, int]) -> Any:
    if isinstance(value, Program):
        return _dump(value, *around)
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, tuple):
        return [_plain(part, *around) for part in value]
    return {k: _plain(v, *around) for k, v in value.items()} if isinstance(value, dict) else value


def loaded(kept: Any, *around: dict[int, Variable]) -> Program:
    known: dict[int, Variable] = {}

    def atom(v: Any) -> Any:
        if isinstance(v, dict):
            return Literal(array(v))
        return known.setdefault(v[0], Variable(v[1], tuple(v[2])))

    def atoms(vs: Any) -> Any:
        return tuple(map(atom, vs))

    def equation(e: Any) -> Equation:
        pullback = e.get("pullback")
        return Equation(
            e["op"], atoms(e["in"]), atoms(e["out"]), {k: value(v) for k, v in e["params"].items()},
            (Site("stored.py", 1, "f"),), None if pullback is None else lambda: loaded(pullback, known, *around))

    def value(kept: Any) -> Any:
        if isinstance(kept, dict):
            if "program" in kept:
                return loaded(kept, known, *around)
            return array(kept) if "array" in kept else {k: value(v) for k, v in kept.items()}
        return tuple(map(value, kept)) if isinstance(kept, list) else kept

    dead = tuple(map(equation, kept.get("dead", ())))
    constants = tuple((atom(v), around[c[0]][c[1]] if isinstance(c, list) else array(c)) for v, c in kept["constants"])
    return Program(atoms(kept["inputs"]), constants, tuple(map(equation, kept["equations"])), atoms(kept["outputs"]),
                   kept["program"], dead=dead)

