"""However a plan is run, its values are those of the plain interpreter, bit for bit."""

import importlib
import runpy
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.graph import Operation, Tensor
from autodiff.core.indexed_slices import dense
from autodiff.core.op import build
from autodiff.ops.common.threads import as_kernels_run
from autodiff.runtime import program as program_module
from autodiff.runtime import session as session_module
from autodiff.runtime.compiled import fusion_groups, tiled_execution
from autodiff.runtime.compiled.buffers import entry_reads, observe, specialize
from autodiff.runtime.compiled.codegen import Generated
from autodiff.runtime.fetch import AsRead
from autodiff.runtime.plan.interpreter import Loop, interpret
from autodiff.runtime.plan.passes import optimize
from autodiff.runtime.plan.plan import Plan, compile_plan
from autodiff.runtime.plan.state import Run
from autodiff.runtime.program import HOT, Program

from ..expect import expect_each
from ..ops.built import KNOWN, SIZES_UNKNOWN, Built
from ..ops.case import Case
from ..ops.op_cases import CASES

GOOD = [case for case in CASES if case.fails is None]
ROWS = {case.op: [other for other in GOOD if other.op == case.op] for case in GOOD}


def first_run(session: Any) -> Run:
    """A run in which random operations draw for the first time."""
    session.draws = {}
    return Run(session, 1)


def plain(plan: Plan, session: Any, fed: Sequence[Any]) -> list[Any]:
    return interpret(plan, first_run(session), fed)


def optimized(plan: Plan, session: Any, fed: Sequence[Any]) -> list[Any]:
    return interpret(optimize(plan), first_run(session), fed)


def loop(plan: Plan, session: Any, fed: Sequence[Any]) -> list[Any]:
    return Loop(optimize(plan))(first_run(session), fed)


def generated(plan: Plan, session: Any, fed: Sequence[Any]) -> list[Any]:
    plan = optimize(plan)
    before = dict(session.variables)
    shapes = (*[value.shape for value in fed], *[session.variables[name].shape for name in entry_reads(plan)])
    layouts = observe(plan, first_run(session), fed)[1]
    program = Generated(specialize(plan, shapes, layouts), Loop(plan), threads=2)
    for _ in range(2):  # the second time the buffers hold what the first left behind
        session.variables.clear()
        session.variables.update(before)
        values = program(first_run(session), fed)
    return values


def tiled(plan: Plan, session: Any, fed: Sequence[Any]) -> list[Any]:
    """The generated function with groups of the smallest arrays, in the smallest tiles, on two threads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fusion_groups, "SMALLEST", 1)
        patch.setattr(fusion_groups, "FEWEST", 1)
        for name in ("SMALLEST_TILE", "LARGEST_TILE", "THREADED_TILE", "THREADED"):
            patch.setattr(tiled_execution, name, 1)
        return generated(plan, session, fed)


WAYS: list[Callable[[Plan, Any, Sequence[Any]], list[Any]]] = [optimized, loop, generated, tiled]


def same_bits(a: Any, b: Any) -> bool:
    """Equal bit for bit; any nan is equal to any other, as which of two a sum takes over is left to the processor."""
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same_bits, a, b))
    a, b = (np.asarray(x, object if isinstance(x, bytes) else None) for x in (a, b))
    if a.dtype.kind in "fc":
        a, b = (np.where(np.isnan(x), x.dtype.type(np.nan), x) for x in (a, b))
    equal = a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()
    return a.dtype == b.dtype and a.shape == b.shape and equal


def assert_every_way_agrees(session: Any, fetches: Sequence[Tensor], targets: Sequence[Operation],
                            feeds: dict[Tensor, Any]) -> None:
    before = dict(session.variables)
    fed = [np.ascontiguousarray(v) if np.ndim(v) else np.asarray(v) for v in feeds.values()]

    def values(way: Callable[..., list[Any]]) -> tuple[list[Any], dict[str, Any]]:
        session.variables.clear()
        session.variables.update(before)
        with np.errstate(all="ignore"):
            found = [np.array(v, copy=True) if isinstance(v, np.ndarray) else v
                     for v in way(compile_plan(fetches, targets, tuple(feeds)), session, fed)]
        return found, dict(session.variables)

    expected, state = values(plain)
    for way in WAYS:
        found, after = values(way)
        for tensor, a, b in zip(fetches, expected, found, strict=True):
            assert same_bits(a, b), f"{way.__name__}: {tensor.describe()} differs: {a} and {b}"
        assert state.keys() == after.keys()
        assert all(same_bits(state[name], after[name]) for name in state), way.__name__
    session.variables.clear()
    session.variables.update(before)


def gradients_of(row: Built) -> list[Tensor]:
    ys, xs = row.float_outputs(), [row.inputs[i] for i in row.float_inputs()]
    if not ys or not xs or row.definition.stateful or row.definition.no_rule is not None:
        return []
    with row.graph.as_default():
        grad_ys = [build.OnesLike(y) for y in ys]
        return [dense(g) for g in tf.gradients(ys, xs, grad_ys) if g is not None]


@pytest.mark.parametrize("name", sorted(ROWS))
def test_every_op_and_its_gradient(name: str) -> None:
    expect_each((f"{case.name}, {mode}", partial(every_way_agrees_on, case, mode))
                for case in ROWS[name] for mode in (KNOWN, SIZES_UNKNOWN))


def every_way_agrees_on(case: Case, mode: str) -> None:
    row = Built(case, mode)
    with row.graph.as_default():
        after = [build.Add(build.Mul(y, y), y) for y in row.outputs if y.dtype.base_dtype in (tf.float32, tf.float64)]
    gradients = gradients_of(row)
    feeds = row.feeds()
    assert_every_way_agrees(row.session, [*row.outputs, *after, *gradients], [row.op], feeds)
    assert_every_way_agrees(row.session, [*after, *gradients], [row.op], feeds)


@pytest.mark.parametrize("name", sorted(ROWS))
def test_the_cursor_gives_what_run_gives(name: str) -> None:
    expect_each((case.name, partial(the_cursor_agrees_on, case)) for case in ROWS[name])


def the_cursor_agrees_on(case: Case) -> None:
    row = Built(case)
    before = dict(row.session.variables)
    row.session.entropy, row.session.draws = 1, {}
    expected = row.run(row.outputs)
    row.session.variables.clear()
    row.session.variables.update(before)
    row.session.draws = {}
    found = row.session.start(row.outputs, row.feeds()).finish()
    assert same_bits(expected, found)


# ---- small random graphs ----------------------------------------------------------------

UNARY = ("Tanh", "Neg", "Identity", "StopGradient", "Square", "Abs", "ZerosLike", "Exp", "Sigmoid")
BINARY = ("Add", "Sub", "Mul", "Maximum")


def random_graph(rng: np.random.Generator, x: Tensor, v: Tensor, size: int) -> list[Tensor]:
    """Tensors of shape [3, 3]: arithmetic, views of each other, constants, and a variable that changes on the way."""
    made = [x, build.Identity(v)]
    for _ in range(size):
        a, b = (made[int(i)] for i in rng.integers(0, len(made), 2))
        kind = int(rng.integers(0, 8))
        if kind <= 2:
            made.append(build.__getattr__(str(rng.choice(BINARY)))(a, b))
        elif kind <= 4:
            made.append(build.__getattr__(str(rng.choice(UNARY)))(a))
        elif kind == 5:
            made.append(build.Reshape(build.Reshape(a, [9]), [3, 3]))
        elif kind == 6:
            made.append(build.Transpose(a, [1, 0]))
        else:
            with x.graph.control_dependencies([build.Assign(v, build.Mul(build.Tanh(a), 0.5))]):
                made.append(build.Add(build.Identity(v), b))
    return made


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 3])
        v = build.VariableV2(shape=[3, 3], dtype=tf.float32, name="v")
        made = random_graph(rng, x, v, 25)
        session = tf.Session()
        session.variables["v"] = rng.standard_normal((3, 3)).astype(np.float32)
        picked = [made[int(i)] for i in rng.choice(len(made), 4, replace=False)]
        gradients = [g for g in tf.gradients(picked[0], [x]) if g is not None]
        value = rng.standard_normal((3, 3)).astype(np.float32)
        assert_every_way_agrees(session, [*picked, *gradients], [], {x: value})


@pytest.mark.parametrize("seed", range(10))
def test_many_runs_of_a_session_equal_many_runs_of_the_interpreter(seed: int) -> None:
    """Through heat, shapes that change, and fetched arrays that the user keeps and writes to."""
    rng = np.random.default_rng(seed)
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 3])
        v = build.VariableV2(shape=[3, 3], dtype=tf.float32, name="v")
        made = random_graph(rng, x, v, 20)
        picked = list(dict.fromkeys(made[int(i)] for i in rng.choice(len(made), 4)))
        hot, cold = tf.Session(), tf.Session()
        for session in (hot, cold):
            session.variables["v"] = np.full((3, 3), 0.25, np.float32)
        kept: list[tuple[np.ndarray, np.ndarray]] = []
        for _ in range(HOT + 8):
            value = rng.standard_normal((3, 3)).astype(np.float32)
            found = hot.run(AsRead(picked), {x: value})
            expected = [np.array(e) for e in plain(compile_plan(picked, (), (x,)), cold, [value])]
            assert all(same_bits(a, b) for a, b in zip(found, expected, strict=True))
            assert same_bits(hot.variables["v"], cold.variables["v"])
            assert all(same_bits(a, b) for a, b in kept), "a value that was handed out has changed"
            kept = [(a, a.copy()) for a in found[1:]]
            found[0][...] = 77  # the user's own: nothing else may change with it


@pytest.mark.parametrize("order", [[2, 0, 1], [2, 1, 0], [0, 2, 1], [0, 1, 2]])
@pytest.mark.parametrize("axis", [0, 1, 2, [0, 2]])
def test_a_sum_of_what_lies_otherwise_in_memory(order: list[int], axis: Any) -> None:
    """In which order terms are added depends on how they lie: as the interpreter has them, whatever is left out."""
    shape = (20, 30, 12)
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, shape)
        y = tf.transpose(tf.tanh(x), order)
        ones = tf.ones(y.shape, tf.float32)
        centered = y - tf.reduce_mean(y, axis, keepdims=True)
        z = tf.reduce_mean(tf.square(centered), axis)
        values = [tf.reduce_sum(y * ones, axis), tf.reduce_sum(tf.transpose(tf.ones(shape) * 3.0, order) * y, axis), z]
        feeds = {x: np.random.default_rng(0).standard_normal(shape).astype(np.float32)}
        for fetches in (values, values[:1], values[1:2], values[2:], [*values, centered, tf.gradients(z, x)[0]]):
            assert_every_way_agrees(tf.Session(), fetches, [], feeds)


# ---- arrays large enough for tiles --------------------------------------------------------

def long_chain(x: Tensor, y: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    """Values of different shapes on the way, and their gradients; sums of them."""
    a = tf.sqrt(tf.square(x) + 1.0) * y
    b = tf.where(a > 1.5, tf.exp(-a), a * a) + tf.erf(x)
    c = tf.pow(b, 3.0) / (1.0 + tf.abs(y))
    loss = tf.reduce_sum(c) + tf.reduce_mean(a)
    return [loss, b], [g for g in tf.gradients(loss, [x, y]) if g is not None]


@pytest.mark.parametrize(("x_shape", "y_shape"), [
    ((300_001,), (300_001,)), ((300_001,), ()), ((600, 501), (501,)), ((600, 501), (600, 1)), ((3, 200, 601), (601,)),
    ((1, 300_000), (1, 300_000))])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_arrays(x_shape: tuple[int, ...], y_shape: tuple[int, ...], dtype: type) -> None:
    rng = np.random.default_rng(0)
    with tf.Graph().as_default():
        x, y = tf.placeholder(dtype, x_shape), tf.placeholder(dtype, y_shape)
        values, gradients = long_chain(x, y)
        feeds = {t: np.asarray(rng.uniform(0.5, 2, s), dtype) for t, s in ((x, x_shape), (y, y_shape))}
        assert_every_way_agrees(tf.Session(), [*values, *gradients], [], feeds)


@pytest.mark.parametrize("size", [1000, 4097, 65_536, 299_993])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_sum_over_tiles_is_the_sum_over_all(size: int, dtype: type) -> None:
    values = np.random.default_rng(size).standard_normal(size).astype(dtype)
    for largest in (256, 1000, 8192):
        bounds = [*tiled_execution.leaves(0, size, largest), size]
        parts = {low: np.add.reduce(values[low:high]) for low, high in zip(bounds, bounds[1:])}
        assert tiled_execution.tree_sum(parts, 0, size) == np.add.reduce(values)


# ---- single numbers -------------------------------------------------------------------------

@pytest.mark.parametrize("value", [0.3, 0.0, -0.0, -2.5, 1e-320, 1e300, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_single_numbers(value: float, dtype: type) -> None:
    """What Python's floats refuse (1 / 0, log 0, sin inf, e^1000) included."""
    with tf.Graph().as_default():
        x, y = tf.placeholder(dtype, []), tf.placeholder(dtype, [])
        values: list[Tensor] = [x, y, tf.reduce_sum(tf.ones([2], dtype) * x)]
        for f in (tf.sin, tf.cos, tf.exp, tf.log, tf.sqrt, tf.tanh, tf.square, tf.negative, tf.log1p):
            values += [f(values[-1]), f(x) * y - values[-2] / (x + 2.0)]
        values += [g for g in tf.gradients(values[-1], [x, y]) if g is not None]
        with np.errstate(over="ignore", under="ignore"):
            feeds = {x: np.asarray(value).astype(dtype), y: np.asarray(0.7, dtype)}
        for fetches in (values, values[-3:], values[5:7]):
            assert_every_way_agrees(tf.Session(), fetches, [], feeds)


def test_many_single_numbers_are_done_by_a_few_names() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float64, [])
        y = x
        for i in range(60):
            y = tf.sin(y) * 1.5 if i % 2 else y + 0.25
        plan = optimize(compile_plan([y, *tf.gradients(y, [x])], (), [x]))
        seen = observe(plan, Run(tf.Session(), 1), [np.asarray(0.5)])[1]
        source = Generated(specialize(plan, [()], seen), Loop(plan)).source
        assert source.count("float64") == 0 and " = float(s0)" in source
        assert source.count(" = None") <= 2, "names of floats are used again without being emptied"


@pytest.mark.parametrize("function", [tf.sin, tf.cos, tf.sinh])
def test_slopes_of_a_chain_of_float32_numbers_are_taken_together(function: Callable[..., Tensor]) -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [])
        ys = [x]
        for _ in range(12):
            ys.append(function(ys[-1] * 0.5) + 0.25)
        fetches = [ys[-1], ys[4], *tf.gradients(ys[-1], [x])]
        plan = optimize(compile_plan(fetches, (), [x]))
        seen = observe(plan, Run(tf.Session(), 1), [np.asarray(0.5, np.float32)])[1]
        lines = Generated(specialize(plan, [()], seen), Loop(plan)).source.splitlines()
        assert [line.count(",") for line in lines if line.count(",") > 2] == [23], "12 names, 12 numbers and their type"
        for value in (0.3, -0.0, 1e-40, 1e30, np.inf, np.nan):
            assert_every_way_agrees(tf.Session(), fetches, [], {x: np.asarray(value, np.float32)})


# ---- the bundled models -----------------------------------------------------------------------

MODELS = Path(__file__).parents[2] / "scripts" / "models"
SCRIPTS = sorted(path for path in MODELS.glob("*.py") if "Session" in path.read_text())
COMPARED = 40  # runs of each program: hot by then


class Compared:
    """A program that runs as the interpreter does first, and compares values and variables."""

    aliases = ()

    def __init__(self, plan: Plan) -> None:
        self._plan, self._program = plan, Program(plan, threads=2)
        self._left = COMPARED

    def __getattr__(self, name: str) -> Any:
        return getattr(self._program, name)

    def __call__(self, run: Run, fed: Sequence[Any]) -> list[Any]:
        if not self._left:
            return self._program(run, fed)
        self._left -= 1
        before = dict(run.variables)
        with np.errstate(all="ignore"):
            expected = [np.array(v) for v in plain_like(self._plan, run, fed)]
        state = dict(run.variables)
        run.variables.clear()
        run.variables.update(before)
        found = self._program(run, fed)
        assert all(same_bits(a, b) for a, b in zip(expected, found, strict=True))
        assert all(same_bits(state[name], run.variables[name]) for name in state)
        return found


def plain_like(plan: Plan, run: Run, fed: Sequence[Any]) -> list[Any]:
    again = Run(run.session, run.number)
    again.drawn = run.drawn
    with as_kernels_run(1):
        return interpret(plan, again, fed)


@pytest.mark.parametrize("script", SCRIPTS, ids=[path.stem for path in SCRIPTS])
def test_every_model_script(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "Program", lambda plan, threads, **_: Compared(plan))
    monkeypatch.setattr(program_module, "HOT", 3)
    monkeypatch.syspath_prepend(str(MODELS))
    with tf.Graph().as_default():
        monkeypatch.setattr(sys, "argv", [str(script)])
        runpy.run_path(str(script), run_name="__main__")


@pytest.mark.parametrize("workload", [
    "scalars.graph_float64", "perceptron.graph", "elementwise.graph_chain", "elementwise.graph_price", "lstm.graph",
    "transformer.graph", "models.graph_rows", "models.graph_loop", "models.graph_block"])
def test_the_workloads_of_the_benchmark(workload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, _, function = workload.partition(".")
    monkeypatch.syspath_prepend(str(MODELS.parent))
    with tf.Graph().as_default():
        fetches, feeds, setup = getattr(importlib.import_module(f"workloads.{module}"), function)(tf)
        session = tf.Session()
        if setup is not None:
            session.run(setup)
        tensors = [f for f in fetches if isinstance(f, Tensor)]
        targets = [f for f in fetches if isinstance(f, Operation)]
        plan = compile_plan(tensors, targets, tuple(feeds))
        fed = [np.asarray(value, tensor.dtype.as_numpy_dtype) for tensor, value in feeds.items()]
        before = dict(session.variables)
        with np.errstate(all="ignore"), as_kernels_run(1):  # as runs have it
            expected = [np.array(v) for v in plain(plan, session, fed)]
            state = dict(session.variables)
            session.variables.clear()
            session.variables.update(before)
            found = generated(plan, session, fed)
        assert all(same_bits(a, b) for a, b in zip(expected, found, strict=True))
        assert all(same_bits(state[name], session.variables[name]) for name in state)
