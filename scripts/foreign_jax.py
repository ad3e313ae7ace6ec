"""Compare JAX's primitives with ours, live, and store them for the tests: values and gradients of float32 and float64.

foreign_jax.py [--only REGEX] [--store FILE]      # with a Python that has jax; what FILE has of others stays
Each case is a function and the shapes of its float arguments (or arrays); its jaxpr is stored as plain data beside what
JAX gives for it, so that the tests need no jax. `tests/foreign/test_jax_rows.py` reads the file.
"""

import argparse
import re
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1])]
from scripts.jax_cases import CASES  # noqa: E402
from tests.foreign.jax_rows import dumped, judge, store, stored, weights  # noqa: E402


def arguments_of(given, low, high, dtype):
    rng = np.random.RandomState(len(given))
    return [
        jnp.asarray(
            rng.uniform(low, high, a) if isinstance(a, tuple) else a,
            dtype if isinstance(a, tuple) or a.dtype.kind == "f" else a.dtype,
        )
        for a in given
    ]


def expected(function, arguments):
    def flat(*xs):
        return jax.tree.leaves(function(*xs))

    outputs = [np.asarray(y) for y in flat(*arguments)]
    moving = [i for i, x in enumerate(arguments) if jnp.issubdtype(x.dtype, jnp.floating)]
    pattern = weights(outputs[0].shape).astype(outputs[0].dtype)
    gradients = jax.grad(lambda *xs: (flat(*xs)[0] * pattern).sum(), argnums=moving)(*arguments)
    return outputs, {i: np.asarray(g) for i, g in zip(moving, gradients)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--store")
    options = parser.parse_args()
    rows, bad, tried = {}, 0, 0
    for name, (function, given, low, high, types) in CASES.items():
        for dtype in types:
            if not re.search(options.only, name):
                continue
            jax.config.update("jax_enable_x64", dtype == "float64")
            arguments = arguments_of(given, low, high, dtype)
            try:
                row = dumped(function, arguments, *expected(function, arguments))
                wrong = judge(row)
            except Exception as error:
                row, wrong = None, f"{type(error).__name__}: {str(error)[:300]}"
            if options.store and row is not None and not wrong:
                rows[f"{name} {dtype}"] = row
            tried += 1
            jax.clear_caches()
            bad += bool(wrong)
            if wrong:
                print(f"{name} {dtype}: {wrong}", flush=True)
    print(f"{tried - bad} of {tried} the same as JAX")
    if options.store:
        kept = stored(options.store) if Path(options.store).exists() else {}
        store(options.store, {name: row for name, row in {**kept, **rows}.items() if name.split()[0] in CASES})
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
