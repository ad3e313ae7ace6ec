"""Products of which some columns are read: the others are not computed, and the bits are the same."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import autodiff as tf
from autodiff.ops.common.threads import as_kernels_run
from autodiff.ops.linalg.matmul import matmul
from autodiff.runtime.compiled.buffers import observe, specialize
from autodiff.runtime.compiled.codegen import Generated
from autodiff.runtime.plan.interpreter import Loop, interpret
from autodiff.runtime.plan.passes import optimize
from autodiff.runtime.plan.plan import Plan, called, compile_plan
from autodiff.runtime.plan.state import Run

SIZES = [(32, 512, 256), (64, 300, 128), (33, 200, 333)]


@pytest.fixture(autouse=True)
def _as_in_a_run() -> Iterator[None]:
    """A run has one thread of the BLAS: with two, which thread takes what may differ between a product and its part."""
    with as_kernels_run():
        yield


def sliced(shape: tuple[int, int, int], bounds: tuple[int, int], dtype: type) -> tuple[Plan, Plan, list[np.ndarray]]:
    """tanh(x) @ w.T, some columns of it: the plan as written, the one made for the shapes, and what is fed."""
    rng = np.random.default_rng(4)
    rows, depth, columns = shape
    fed = [rng.standard_normal(s).astype(dtype) for s in ((rows, depth), (columns, depth))]
    x, w = [tf.placeholder(v.dtype, v.shape) for v in fed]
    y = tf.matmul(tf.tanh(x), w, transpose_b=True)[:, bounds[0]:bounds[1]] * 2.0
    written = compile_plan([y], (), [x, w])
    plan = optimize(written)
    with tf.Session() as session:
        return written, specialize(plan, [v.shape for v in fed], observe(plan, Run(session, 1), fed)[1]), fed


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SIZES)
@pytest.mark.parametrize("part", ["first", "last", "inside"])
def test_the_bits_are_those_of_the_interpreter(shape: tuple[int, int, int], part: str, dtype: type) -> None:
    n = shape[2]
    bounds = {"first": (0, n // 2), "last": (n - n // 2, n), "inside": (n // 4, n // 4 + n // 3)}[part]
    written, plan, fed = sliced(shape, bounds, dtype)
    program = Generated(plan, Loop(optimize(written)))
    with tf.Session() as session:
        for scale in (1, 1e-3):
            fed = [(v * scale).astype(dtype) for v in fed]
            expected = interpret(written, Run(session, 1), fed)
            assert program(Run(session, 1), fed)[0].tobytes() == expected[0].tobytes()


@pytest.mark.parametrize("shape", [(32, 512, 256), (8, 400, 401), (33, 512, 700), (16, 2048, 512)])
def test_few_rows_times_a_transposed_matrix_are_as_near_as_the_plain_product(shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(6)
    rows, depth, columns = shape
    for dtype in (np.float32, np.float64):
        x, w = rng.standard_normal((rows, depth)).astype(dtype), rng.standard_normal((columns, depth)).astype(dtype)
        out, made = np.empty((rows, columns), dtype), matmul.kernel(x, w, transpose_b=True)
        exact = x.astype(np.longdouble) @ w.T.astype(np.longdouble)
        bound = np.finfo(dtype).eps * np.abs(x) @ np.abs(w.T) * depth ** 0.5
        assert (np.abs(made - exact) <= bound).all() and made.flags.c_contiguous
        assert matmul.kernel(x, w, transpose_b=True, out=out) is out and out.tobytes() == made.tobytes()


@pytest.mark.parametrize("shape", [(257, 200, 170), (40, 300, 771), (1100, 33, 250), (61, 2000, 140)])
def test_a_product_made_whole_has_the_bits_of_its_blocks(
        shape: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    m, k, n = shape
    x, y = rng.standard_normal((m, k)).astype(np.float32), rng.standard_normal((k, n)).astype(np.float32)
    factors = [(x, y, {}), (x.T.copy(), y.T.copy(), {"transpose_a": True, "transpose_b": True})]
    with as_kernels_run(1):
        whole = [matmul.kernel(a, b, **turns).tobytes() for a, b, turns in factors]
    counts = []

    def share(work: Callable[[int], None], count: int, *_: object, **__: object) -> None:
        counts.append(count)
        for i in range(count):
            work(i)

    monkeypatch.setattr("autodiff.ops.linalg.matmul.share", share)
    with as_kernels_run(1):
        assert [matmul.kernel(a, b, **turns).tobytes() for a, b, turns in factors] == whole
    assert min(counts) > 1


def test_a_small_product_is_left_whole() -> None:
    _, plan, _ = sliced((8, 8, 8), (0, 4), np.float32)
    assert "dot" not in [called(step) for step in plan.steps]


def test_a_product_with_itself_is_left_whole() -> None:
    x = tf.placeholder(tf.float32, [300, 300])
    h = tf.tanh(x)
    fetches = [tf.matmul(h, other, transpose_b=True)[:, :150] for other in (h, tf.reshape(h, [300, 300]))]
    plan = optimize(compile_plan(fetches, (), [x]))
    value = np.random.default_rng(5).standard_normal((300, 300)).astype(np.float32)
    with tf.Session() as session:
        plan = specialize(plan, [value.shape], observe(plan, Run(session, 1), [value])[1])
    assert "dot" not in [called(step) for step in plan.steps]
