"""Plans: what they leave out, what they keep, and how results share memory."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.graph import Tensor
from autodiff.core.op import build
from autodiff.runtime.compiled import buffers, fusion_groups
from autodiff.runtime.compiled.buffers import observe, specialize
from autodiff.runtime.compiled.lowering import exact_product
from autodiff.runtime.compiled.memory import allocate
from autodiff.runtime.plan.interpreter import interpret
from autodiff.runtime.plan.kernel_traits import direct_ufunc, passes_on, views_of
from autodiff.runtime.plan.op_outcomes import KINDS, op_outcomes
from autodiff.runtime.plan.passes import optimize
from autodiff.runtime.plan.plan import Plan, called, compile_plan, inner_steps
from autodiff.runtime.plan.state import Run, handed_out
from autodiff.runtime.program import HOT

pytestmark = pytest.mark.usefixtures("own_graph")


def types(plan: Plan) -> list[str]:
    return ["read" if step.reads is not None else step.op.type for step in plan.steps]


def planned(*fetches: Tensor, feeds: Sequence[Tensor] = ()) -> Plan:
    return optimize(compile_plan(fetches, (), feeds))


def with_buffers(fetches: Sequence[Tensor], feeds: dict[Tensor, Any]) -> Plan:
    plan = planned(*fetches, feeds=tuple(feeds))
    values = [np.asarray(v, np.float32) for v in feeds.values()]
    layouts = observe(plan, Run(tf.Session(), 1), values)[1]
    return specialize(plan, [v.shape for v in values], layouts)


# ---- pruning and passes -----------------------------------------------------------------

def test_only_what_is_needed_is_run() -> None:
    x = tf.placeholder(tf.float32, [])
    build.Exp(x)
    y = build.Tanh(build.Neg(x))
    assert types(planned(y, feeds=[x])) == ["Neg", "Tanh"]
    assert types(planned(y, feeds=[y.op.inputs[0]])) == ["Tanh"]
    assert types(planned(y, feeds=[y])) == []


def test_constants_are_folded_identities_elided_equal_steps_merged() -> None:
    x = tf.placeholder(tf.float32, [3])
    folded = build.Tanh(tf.constant(2.0) * 3.0)
    same = build.StopGradient(build.Identity(x))
    y = build.Mul(build.Square(same), folded) + build.Square(x)
    plan = planned(y, feeds=[x])
    assert types(plan) == ["Square", "Mul", "AddV2"]
    assert plan.slots[same] == plan.slots[x]
    assert folded.name in {t.name for t, slot in plan.slots.items() if slot in plan.constants}


def test_a_large_result_is_not_folded() -> None:
    assert types(planned(build.Fill([1000, 1000], 1.0))) == ["Fill"]


def test_a_constant_that_fails_fails_in_the_run() -> None:
    plan = planned(build.Reshape(tf.constant([1.0, 2.0]), build.Fill(tf.constant([1]), 2)))
    assert types(plan) == []
    bad = build.Reshape(tf.constant([1.0, 2.0]), tf.placeholder(tf.int32, [1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="in Reshape"):
        tf.Session().run(bad, {bad.op.inputs[1]: [3]})


def test_steps_with_an_effect_stay_apart() -> None:
    v = build.VariableV2(shape=[], dtype=tf.float32, name="v")
    one = tf.constant(1.0)
    first, second = build.AssignAdd(v, one), build.AssignAdd(v, one)
    with tf.get_default_graph().control_dependencies([first]):
        between = build.Identity(v)
    with tf.get_default_graph().control_dependencies([second, between]):
        after = build.Identity(v)
    assert types(planned(between, after)) == ["AssignAdd", "AssignAdd", "read", "read"]
    draws = [build.RandomUniform([2], seed=1) for _ in range(2)]
    assert types(planned(*draws)) == ["RandomUniform"] * 2


def test_what_only_computes_is_not_run_for_others_to_wait_for() -> None:
    x = tf.placeholder(tf.float32, [])
    unused = build.Exp(x)
    with tf.get_default_graph().control_dependencies([unused]):
        y = build.Neg(x)
    assert types(planned(y, feeds=[x])) == ["Neg"]
    assert types(optimize(compile_plan([y], [unused.op], [x]))) == ["Exp", "Neg"]


def test_attributes_tell_steps_apart() -> None:
    x = tf.placeholder(tf.float32, [2, 2])
    plan = planned(build.MatMul(x, x), build.MatMul(x, x, transpose_a=True), build.MatMul(x, x), feeds=[x])
    assert types(plan) == ["MatMul", "MatMul"]


@pytest.mark.parametrize(("stride", "is_swapped"), [(2, True), (1, False)])
def test_a_gradient_is_rectified_before_pooling_spreads_it(stride: int, is_swapped: bool) -> None:
    x, weights = (tf.placeholder(tf.float32, [2, 5, 6, 3]) for _ in range(2))
    h = tf.nn.relu(x)
    y = tf.nn.max_pool(h, [1, 2, 2, 1], [1, stride, stride, 1], "SAME")
    dx, = tf.gradients(y * tf.nn.max_pool(weights, [1, 2, 2, 1], [1, stride, stride, 1], "SAME"), x)
    plan = planned(dx, feeds=[x, weights])
    order = [kind for kind in types(plan) if kind in ("ReluGrad", "MaxPoolGrad")]
    assert order == (["ReluGrad", "MaxPoolGrad"] if is_swapped else ["MaxPoolGrad", "ReluGrad"])
    assert types(planned(dx, dx.op.inputs[0], feeds=[x, weights]))[-2:] == ["MaxPoolGrad", "ReluGrad"]
    values = np.random.default_rng(0).integers(-2, 3, (2, 2, 5, 6, 3)).astype(np.float32)
    values[values == 2] = np.nan
    values[:, 0, :2] = np.inf
    fed = [*values]
    with np.errstate(invalid="ignore"):
        found, expected = (interpret(p, Run(tf.Session(), 1), fed)[0]
                           for p in (plan, compile_plan([dx], (), [x, weights])))
    assert found.tobytes() == expected.tobytes()


# ---- what kernels are made of -----------------------------------------------------------

def test_a_kernel_of_one_ufunc_is_found() -> None:
    x = tf.placeholder(tf.float32, [2])
    assert direct_ufunc(build.Add(x, x).op).ufunc is np.add  # type: ignore[union-attr]
    assert direct_ufunc(build.Identity(x).op) is None
    assert direct_ufunc(build.AddN(x, x, x).op) is None
    assert direct_ufunc(build.Sum(x, [0]).op) is None
    assert passes_on(build.Identity(x).op) and not passes_on(build.Neg(x).op)


def test_only_a_view_whatever_the_values_counts_as_one() -> None:
    x = tf.placeholder(tf.float32, [2, 3])
    value = np.ones((2, 3), np.float32)
    shape = np.array([3, 2], np.int32)
    reshape = build.Reshape(x, [3, 2]).op
    views = views_of(reshape, [value, shape], [False, True])
    assert views is not None and np.shares_memory(views[0], value) and type(views[0]) is np.ndarray
    assert views_of(reshape, [value, shape], [False, False]) is None
    assert views_of(build.Neg(x).op, [value], [False]) is None


# ---- memory -----------------------------------------------------------------------------

def test_a_chain_runs_in_one_block() -> None:
    x = tf.placeholder(tf.float32, [4])
    y = x
    for _ in range(5):
        y = build.Tanh(y)
    plan = with_buffers([y], {x: np.ones(4)})
    assert [b.block for b in plan.buffers.values()] == [0, 0, 0, 0], "all but the fetched one, in place"
    assert plan.blocks == (16,)


def test_a_view_keeps_its_buffer_alive() -> None:
    x = tf.placeholder(tf.float32, [4])
    first = build.Tanh(x)
    view = build.Reshape(first, [2, 2])
    other = build.Neg(build.Exp(x))
    y = build.Reshape(other, [2, 2]) + view
    plan = with_buffers([y], {x: np.ones(4)})
    assert plan.buffers[plan.slots[first]].block != plan.buffers[plan.slots[other]].block


def test_what_leaves_the_run_has_no_buffer() -> None:
    x = tf.placeholder(tf.float32, [4])
    v = build.VariableV2(shape=[4], dtype=tf.float32, name="v")
    fetched, assigned, kept = build.Tanh(x), build.Exp(x), build.Neg(x)
    with tf.get_default_graph().control_dependencies([build.Assign(v, assigned)]):
        y = build.Square(kept) + 1.0
    plan = with_buffers([fetched, y], {x: np.ones(4)})
    assert plan.slots[kept] in plan.buffers
    assert plan.slots[fetched] not in plan.buffers and plan.slots[assigned] not in plan.buffers


def test_buffers_are_never_anyones_own() -> None:
    x = tf.placeholder(tf.float32, [4, 2])
    plan = with_buffers([build.Neg(build.Tanh(x))], {x: np.ones((4, 2))})
    for array in allocate(plan).values():
        assert array.base is not None and array.ctypes.data % 64 == 0


def test_sizes_that_follow_from_the_feeds_are_folded() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    y = build.Tanh(build.Reshape(x, [build.Shape(x)[1], build.Shape(x)[0]]))
    assert "StridedSlice" in types(planned(y, feeds=[x]))
    assert types(with_buffers([y], {x: np.ones((2, 3))})) == ["Reshape", "Tanh"]


def test_a_shape_that_depends_on_values_gets_no_buffer() -> None:
    n = tf.placeholder(tf.int32, [])
    x = tf.placeholder(tf.float32, [4])
    y = build.Neg(build.Tanh(x[:n]))
    session = tf.Session()
    for i in [2] * (HOT + 4) + [3, 1, 4, 2]:
        assert session.run(y, {n: i, x: np.ones(4)}).shape == (i,)
    assert {b.dtype for b in session.plan(y, [n, x]).buffers.values()} == {np.dtype(np.int32)}  # where the slice ends


def test_a_program_follows_changing_shapes() -> None:
    x = tf.placeholder(tf.float32, [None])
    y = build.Tanh(x * 2.0) + x
    session = tf.Session()
    for size in [3] * (HOT + 4) + [5] * (HOT + 4) + [3, 5, 1, 0] * 3:
        value = np.linspace(-1, 1, size, dtype=np.float32)
        assert (session.run(y, {x: value}) == np.tanh(value * np.float32(2)) + value).all()


def test_a_variable_may_change_its_shape() -> None:
    v = build.VariableV2(shape=None, dtype=tf.float32, name="v")
    new = tf.placeholder(tf.float32)
    change = build.Assign(v, new, validate_shape=False)
    with tf.get_default_graph().control_dependencies([change]):
        after = build.Neg(build.Tanh(build.Identity(v)))
    session = tf.Session()
    for size in [3] * (HOT + 4) + [5, 2, 3]:
        assert session.run(after, {new: np.zeros(size)}).shape == (size,)
        assert session.run(build.Identity(v)).shape == (size,)


def test_a_fetched_array_is_used_again_only_when_nobody_holds_it() -> None:
    x = tf.placeholder(tf.float32, [1 << 15])
    y = build.Tanh(x) * 2.0
    session = tf.Session()
    for _ in range(HOT + 1):
        session.run(y, {x: np.zeros(1 << 15)})
    kept = [session.run(y, {x: np.full(1 << 15, i)}) for i in range(5)]
    views = [session.run(y, {x: np.full(1 << 15, i)})[3:5] for i in range(5)]
    for i in range(5):
        assert (kept[i] == kept[i][0]).all() and kept[i][0] == np.tanh(np.float32(i)) * 2 == views[i][1]
    held = session.run(y, {x: np.ones(1 << 15)})
    held.flags.writeable = False
    where = held.ctypes.data
    del held
    assert session.run(y, {x: np.ones(1 << 15)}).flags.writeable
    found = {session.run(y, {x: np.ones(1 << 15)}).ctypes.data for _ in range(6)}
    assert len(found - {where}) <= 2


# ---- the table --------------------------------------------------------------------------

def test_a_plan_prints_as_a_table() -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    y = build.Neg(build.Tanh(x, name="t"), name="n")
    session = tf.Session()
    assert str(session.plan(y, [x])) == """\
step  operation  type  inputs  outputs  alive  buffer
0     t          Tanh  s0      s1       0-1
1     n          Neg   s1      s2       1-end"""
    for _ in range(HOT + 1):
        session.run(y, {x: [1, 2]})
    assert str(session.plan(y, [x])) == """\
step  operation  type           inputs  outputs  alive  buffer
0     t          Tanh: tanh     s0      s1       0-1    #0 float32[2]
1     n          Neg: negative  s1      s2       1-end"""


def test_a_plan_says_what_became_of_every_operation() -> None:
    x = tf.placeholder(tf.float32, [1 << 19], name="x")
    ones = build.OnesLike(x, name="ones")
    y = build.Square(build.Tanh(build.Identity(x, name="same"), name="t"), name="q") * ones
    z = build.Neg(build.Mul(y, y, name="yy"), name="z")
    plan = with_buffers([z], {x: np.ones(1 << 19)})
    assert [len(plan.steps), len(plan.buffers)] == [1, 0]
    told = [(f.op.name, f.kind, f.steps, [o.name for o in f.others])
            for f in op_outcomes(compile_plan([z], (), [x]), plan)]
    assert told == [
        ("x", "fed", (), []), ("ones", "dead", (), []), ("same", "same", (), ["x"]), ("t", "tiles", (0,), []),
        ("q", "tiles", (0,), []), ("mul", "same", (), ["q"]), ("yy", "tiles", (0,), []), ("z", "tiles", (0,), [])]


def test_fates_name_twins_constants_variables_and_whose_memory_is_written_over() -> None:
    x = tf.placeholder(tf.float32, [4], name="x")
    v = build.VariableV2(shape=[], dtype=tf.float32, name="v")
    two = build.Exp(tf.constant(0.5, name="half"), name="two")
    first, twin = build.Tanh(x, name="first"), build.Tanh(x, name="twin")
    wide = build.BroadcastTo(two, [4], name="wide")
    y = build.Neg(build.Mul(first, wide, name="m") + twin, name="y")
    update = build.AssignAdd(v, 1.0, name="up")
    session = tf.Session()
    session.run(build.Assign(v, 0.0))
    for _ in range(HOT + 1):
        session.run([y, update], {x: np.ones(4)})
    before = compile_plan([y, update], (), [x])
    told = {f.op.name: f for f in op_outcomes(before, session.plan([y, update], [x]))}
    assert {f.kind for f in told.values()} <= set(KINDS)
    assert [told[name].kind for name in ("x", "v", "half", "two", "first", "twin", "y", "up")] == [
        "fed", "variable", "constant", "constant", "calls", "merged", "calls", "computed"]
    assert told["twin"].others == (first.op,) and told["first"].calls == ("tanh",)
    assert told["up"].others == (v.op,)
    assert told["add"].others == (told["m"].op,) and told["add"].block == told["m"].block is not None


# ---- calls in place of kernels ------------------------------------------------------------

def test_a_kernel_is_taken_apart_and_equal_calls_are_made_once() -> None:
    y, dy = tf.placeholder(tf.float32, [4]), tf.placeholder(tf.float32, [4])
    plan = with_buffers([build.TanhGrad(y, dy), build.TanhGrad(y, build.Neg(dy))], {y: np.ones(4), dy: np.ones(4)})
    assert [called(s) for s in plan.steps] == ["square", "subtract", "multiply", "negative", "multiply"]


def test_products_with_numbers_are_one_where_that_is_exact() -> None:
    x = tf.placeholder(tf.float32, [3])
    calls = [called(step) for step in with_buffers([tf.negative(4.0 * (-(3.0 * x)))], {x: np.ones(3)}).steps]
    assert calls == ["multiply"]
    calls = [called(step) for step in with_buffers([x + tf.negative(x * x), tf.negative(-x)], {x: np.ones(3)}).steps]
    assert calls == ["square", "subtract"]
    tiny, half, third = np.float32(1e-45), np.float32(0.5), np.float32(1) / np.float32(3)
    values = np.concatenate([tiny * np.arange(9), np.float32(10.0) ** np.arange(-44, 39), [np.inf]]).astype(np.float32)
    for first, second in product([2, -1, half, third, 3, 1.5, 100, 2.0 ** 100, 1e-30], repeat=2):
        a, b = np.float32(first), np.float32(second)
        total = exact_product(a, b)
        with np.errstate(all="ignore"):
            assert total is None or (values * a * b).tobytes() == (values * total).tobytes(), (a, b)
    assert exact_product(np.float32(3), np.float32(2)) == 6 and exact_product(np.float32(3), np.float32(5)) is None


def test_what_repeats_a_number_is_not_made() -> None:
    x = tf.placeholder(tf.float32, [5, 4])
    y = build.Mul(build.Neg(build.Fill([5, 4], 2.0)), x)
    same = build.Mul(build.BroadcastTo(tf.constant([1.0]), [5, 4]), x)
    plan = with_buffers([y, same], {x: np.ones((5, 4))})
    assert [called(s) for s in plan.steps] == ["multiply"] and plan.slots[same] == plan.slots[x]


def test_a_group_waits_for_what_it_needs_and_effects_keep_their_order() -> None:
    x = tf.placeholder(tf.float32, [1 << 19])
    v = build.VariableV2(shape=[], dtype=tf.float32, name="v")
    early = build.Square(build.Tanh(x)) + 1.0
    total = build.Sum(early, [0])
    with tf.get_default_graph().control_dependencies([build.Assign(v, total)]):
        late = build.Exp(build.Neg(early)) * build.Identity(v)
    plan = with_buffers([late], {x: np.ones(1 << 19)})
    assert [(s.op.type, len(inner_steps(s))) for s in plan.steps] == [
        ("Sum", 4), ("Assign", 0), ("VariableV2", 0), ("Neg", 0), ("Exp", 0), ("Mul", 0)]


def test_chains_that_have_nothing_in_common_are_groups_of_their_own():
    """Blocks of rows of a Hessian are such: in one group all would be in memory at once."""
    with pytest.MonkeyPatch.context() as patch, tf.Graph().as_default(), tf.Session() as session:
        patch.setattr(fusion_groups, "SMALLEST", 16)
        xs = [tf.placeholder(tf.float32, [4, 8]) for _ in range(3)]
        values = [np.full((4, 8), i, np.float32) for i in range(3)]
        ys = [tf.reduce_sum(tf.exp(tf.sin(x) * tf.cos(x)) + 1.0, 1) for x in xs]
        plan = optimize(compile_plan([tf.concat(ys, 0)], (), xs))
        layouts = observe(plan, Run(session, 1), values)[1]
        found = specialize(plan, [v.shape for v in values], layouts)
    groups = [step for step in found.steps if inner_steps(step)]
    assert [len(inner_steps(step)) for step in groups] == [5, 5, 5]
    sums = [i for i, step in enumerate(found.steps) if step.op.type == "Sum"]
    assert sums[0] < found.steps.index(groups[1]), "the first chain ends before the second begins"


def test_a_large_fetched_result_is_not_kept_beside_the_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.placeholder(tf.float32, [300, 100])
    inner = tf.exp(x)
    fetched = tf.reshape(tf.sin(inner), [-1])
    value = np.ones((300, 100), np.float32)
    plan = planned(fetched, feeds=(x,))
    for largest, kept in ((1 << 25, ["Exp", "Sin"]), (1000, ["Exp"])):
        monkeypatch.setattr(buffers, "LARGEST_KEPT", largest)
        written = observe(plan, Run(tf.Session(), 1), [value])[1].written
        assert [step.op.type for step in plan.steps if not written.isdisjoint(step.outputs)] == kept


def test_a_fetched_view_of_an_array_of_its_own_is_not_copied():
    whole, other = np.zeros((2, 3)), np.zeros((2, 3))
    alone, shared, part = whole.reshape(6), other.reshape(6), np.zeros(9)[:6]
    owner = id(whole)
    del whole
    found = handed_out([alone, shared, part])
    assert id(found[0].base) == owner and found[1].base is None and found[2].base is None
