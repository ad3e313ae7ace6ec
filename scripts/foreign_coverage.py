"""How much of a framework's ops the tables of autodiff.foreign serve, counted where the framework is installed.

foreign_coverage.py onnx [NAMES]   onnx's own backend node tests: those of the file NAMES, a name a line; all by default
foreign_coverage.py aten           the overloads that torch tags as core, and which of them have a row, or a test
foreign_coverage.py jax            what jax.nn, jax.numpy and jax.lax give for typical arguments, with the gradients
The last line counts; the lines before it say what is left, and why.
"""
from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT)]


def onnx_nodes(*names: str) -> Iterator[tuple[str, str]]:
    """Each node test of float numbers, and what is wrong with ours."""
    from onnx import TensorProto, numpy_helper
    from onnx.backend.test.loader import load_model_tests

    import autodiff as tf
    from autodiff.foreign import from_onnx

    wanted = {line.split()[0] for name in names for line in Path(name).read_text().splitlines() if line[:1] == "t"}

    def array(x: Any) -> Any:
        return numpy_helper.to_array(x) if isinstance(x, TensorProto) else np.asarray(x)

    def run(test: Any) -> str:
        model = from_onnx(test.model)
        for inputs, outputs in test.data_sets:
            with model.graph.as_default(), tf.Session(graph=model.graph) as session:
                session.run(tf.global_variables_initializer())
                found = session.run(list(model.outputs), dict(zip(dict(model.inputs).values(), map(array, inputs))))
            if not all(_near(a, array(b), max(test.rtol or 0, 1e-3)) for a, b in zip(found, outputs)):
                return "differs"
        return ""

    for test in load_model_tests(kind="node"):
        if not wanted or test.name in wanted:
            yield test.name, _tried(run, test)


def aten_core() -> Iterator[tuple[str, str]]:
    """Each core overload, and why it is not served."""
    import torch
    from torch._decomp import decomposition_table

    from autodiff.foreign.torch import aten  # noqa: F401  fills the table
    from autodiff.foreign.torch.aten.common import row_of
    from tests.foreign.torch_rows import ROWS

    tested = {row.op.partition(".")[0] for row in ROWS}
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        for overload in packet.overloads() if hasattr(packet, "overloads") else ():
            op = getattr(packet, overload)
            if torch.Tag.core not in op.tags:
                continue
            if row_of(name, overload):
                yield f"{name}.{overload}", "" if name in tested else "served, without a row in the tests"
            elif torch.Tag.nondeterministic_seeded in op.tags:
                yield f"{name}.{overload}", "served: what torch drew is fed"
            else:
                yield f"{name}.{overload}", "served by decomposition" if op in decomposition_table else "missing"


def jax_functions() -> Iterator[tuple[str, str]]:
    """Each public function that takes float arrays, differentiable ones with their gradients, and how ours differ."""
    import jax
    import jax.numpy as jnp

    from scripts.foreign_jax import expected
    from tests.foreign.jax_rows import dumped, judge

    square = np.array([[0.9, 0.2, 0.3], [0.2, 0.7, 0.1], [0.3, 0.1, 0.6]])
    row, other = square[0], square[1]
    tries = [(square,), (square, square + 0.1), (square, square + 0.1, square - 0.05), (row,), (row, other), (row, 1),
             (square, 1), (square, 0, 1), (square, (3, 3))]
    for place in (jax.nn, jnp, jax.lax):
        for name in dir(place):
            function = getattr(place, name)
            if name.startswith("_") or not callable(function) or inspect.isclass(function):
                continue
            for arguments, dtype in ((a, d) for a in tries for d in (np.float32, np.float64)):
                jax.config.update("jax_enable_x64", dtype is np.float64)
                moving = [jnp.asarray(x, dtype) for x in arguments if isinstance(x, np.ndarray)]
                rest = [x for x in arguments if not isinstance(x, np.ndarray)]

                def called(*xs: Any, function: Callable[..., Any] = function, rest: Any = rest) -> Any:
                    return jax.tree.leaves(function(*xs, *rest))
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        outputs, gradients = expected(called, moving)
                except Exception:  # noqa: S112  these arguments are not what it takes
                    continue
                wrong = _tried(lambda f, a=moving, y=outputs, g=gradients: judge(dumped(f, a, y, g)) or "", called)
                shapes = ", ".join(str(np.shape(x)) for x in arguments)
                yield f"{place.__name__}.{name}({shapes}) {dtype.__name__}", wrong
                if wrong or dtype is np.float64:
                    break


def _near(a: Any, b: Any, rtol: float) -> bool:
    size = float(np.max(np.abs(np.asarray(b, float)), initial=1.0)) if np.asarray(b).dtype.kind in "fiub" else 1.0
    return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=rtol, atol=1e-5 * size, equal_nan=True)


def _tried(function: Callable[..., str], *args: Any) -> str:
    try:
        return function(*args)
    except Exception as error:  # a reader may raise anything
        return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:160]}"


def main() -> int:
    """Say what is left; the number of what is wrong, at most 1."""
    which = {"onnx": onnx_nodes, "aten": aten_core, "jax": jax_functions}[sys.argv[1]]
    count = left = 0
    for name, why in which(*sys.argv[2:]):
        count, is_left = count + 1, bool(why) and not why.startswith("served")
        left += is_left
        if why:
            print(f"{name}: {why}", flush=True)
    print(f"{count - left} of {count} are served")
    return min(left, 1)


if __name__ == "__main__":
    sys.exit(main())
