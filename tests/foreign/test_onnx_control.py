"""ONNX's control flow, sequences, optional values and random numbers, against numbers by hand or of NumPy."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.foreign import Model, from_onnx

from .onnx_made import graph, model, node, value


def read(nodes: Sequence[Any], inputs: Mapping[str, Any], outputs: Sequence[str],
         known: Mapping[str, Any] | None = None, **options: Any) -> Model:
    """A model of these nodes; inputs: name -> (dtype, shape)."""
    infos = [value(name, *info) for name, info in inputs.items()]
    return from_onnx(model(graph(nodes, infos, [value(name) for name in outputs], known), **options))


def run(made: Model, **feeds: Any) -> list[Any]:
    """Its outputs, then the gradient of the sum of the first by each float input."""
    xs = [x for x in made.inputs.values() if x.dtype.is_floating]
    with made.graph.as_default(), tf.Session() as session:
        dxs = [dx for dx in tf.gradients(made.outputs[0], xs) if dx is not None] \
            if made.outputs[0].dtype.is_floating else []
        session.run(tf.global_variables_initializer())
        return session.run([*made.outputs, *dxs], {made.inputs[name]: array for name, array in feeds.items()})


FLOATS = (np.float64, (3,))


def types(made: Model) -> set[str]:
    return {op.type for op in made.graph.get_operations()}


def test_if_runs_one_branch_and_differentiates_it() -> None:
    branches = {"then_branch": graph([node("Exp", ["x"], ["a"])], [], [value("a")]),
                "else_branch": graph([node("Mul", ["x", "x"], ["c"])], [], [value("c")])}
    made = read([node("If", ["cond"], ["y"], **branches)], {"cond": (np.bool_, ()), "x": FLOATS}, ["y"])
    assert "If" in types(made)
    x = np.array([1.0, 2.0, 3.0])
    for cond, y, dx in ((True, np.exp(x), np.exp(x)), (False, x * x, 2 * x)):
        np.testing.assert_allclose(run(made, cond=cond, x=x), [y, dx])


def test_a_known_condition_makes_no_if() -> None:
    branches = {"then_branch": graph([node("Exp", ["x"], ["a"])], [], [value("a")]),
                "else_branch": graph([node("Reshape", ["x", "no"], ["c"])], [], [value("c")])}
    made = read([node("If", ["cond"], ["y"], **branches)], {"x": FLOATS}, ["y"], {"cond": np.array(True)})
    assert "If" not in types(made)


def _power(limit: Any) -> list[Any]:
    """state = state * x, `limit` times or while it is below 20; each state is stacked."""
    body = graph([node("Mul", ["state", "x"], ["next"]), node("Less", ["next", "most"], ["each"]),
                  node("ReduceMin", ["as_int"], ["all_int"], keepdims=0), node("Cast", ["each"], ["as_int"], to=7),
                  node("Cast", ["all_int"], ["go"], to=9), node("Identity", ["next"], ["seen"])],
                 [value("i", np.int64, ()), value("cond", np.bool_, ()), value("state", np.float64, (3,))],
                 [value("go", np.bool_, ()), value("next", np.float64, (3,)), value("seen", np.float64, (3,))])
    body.node.insert(2, body.node.pop(3))
    return [node("Loop", [limit, "", "x"], ["y", "all"], body=body)]


@pytest.mark.parametrize(("limit", "times"), [("limit", 2), ("", 4)])
def test_loop_ends_by_its_limit_or_its_condition(limit: str, times: int) -> None:
    made = read(_power(limit), {"x": FLOATS}, ["y", "all"], {"limit": np.array(2, np.int64), "most": np.array(20.0)})
    assert "While" in types(made)
    x = np.array([1.0, 1.5, 2.0])
    y, seen, dx = run(made, x=x)
    np.testing.assert_allclose(y, x ** (times + 1))
    np.testing.assert_allclose(seen, [x ** n for n in range(2, times + 2)])
    np.testing.assert_allclose(dx, (times + 1) * x ** times)


def test_a_loop_may_change_shapes_and_leave_types_open() -> None:
    body = graph([node("Concat", ["state", "x"], ["next"], axis=0), node("ReduceSum", ["next"], ["total"], keepdims=0)],
                 [value("i"), value("cond"), value("state")], [value("cond"), value("next"), value("total")])
    made = read([node("Loop", ["limit", "", "x"], ["y", "totals"], body=body)], {"x": FLOATS}, ["y", "totals"],
                {"limit": np.array(2, np.int64)})
    x = np.array([1.0, 2.0, 3.0])
    y, totals, dx = run(made, x=x)
    np.testing.assert_allclose(y, np.tile(x, 3))
    np.testing.assert_allclose(totals, [12, 18])
    np.testing.assert_allclose(dx, [3, 3, 3])


def test_scan_takes_slices_from_either_end_of_any_axis() -> None:
    body = graph([node("Add", ["state", "slice"], ["next"]), node("Identity", ["next"], ["seen"])],
                 [value("state", np.float64, (2,)), value("slice", np.float64, (2,))],
                 [value("next", np.float64, (2,)), value("seen", np.float64, (2,))])
    made = read([node("Scan", ["zero", "x"], ["y", "sums"], body=body, num_scan_inputs=1, scan_input_axes=[1],
                      scan_input_directions=[1], scan_output_axes=[-1])],
                {"x": (np.float64, (2, 3))}, ["y", "sums"], {"zero": np.zeros(2)})
    x = np.arange(6.0).reshape(2, 3)
    y, sums, dx = run(made, x=x)
    np.testing.assert_allclose(y, x.sum(1))
    np.testing.assert_allclose(sums, np.cumsum(x[:, ::-1], 1))
    np.testing.assert_allclose(dx, np.ones((2, 3)))


def test_an_old_scan_has_a_batch_of_its_own() -> None:
    body = graph([node("Add", ["state", "slice"], ["next"]), node("Identity", ["next"], ["seen"])],
                 [value("state", np.float64, ()), value("slice", np.float64, ())],
                 [value("next", np.float64, ()), value("seen", np.float64, ())])
    scan = node("Scan", ["", "zero", "x"], ["y", "sums"], body=body, num_scan_inputs=1, directions=[1])
    made = read([scan], {"x": (np.float64, (2, 3))}, ["y", "sums"], {"zero": np.zeros(2)}, version=8)
    x = np.arange(6.0).reshape(2, 3)
    y, sums, dx = run(made, x=x)
    np.testing.assert_allclose(y, x.sum(1))
    np.testing.assert_allclose(sums, np.cumsum(x[:, ::-1], 1))
    np.testing.assert_allclose(dx, np.ones((2, 3)))
    with pytest.raises(ValueError, match="version_converter"):
        read([scan], {"x": (np.float64, ("n", 3)), "zero": (np.float64, ("n",))}, ["y", "sums"], version=8)


def test_a_function_is_mapped_over_a_sequence() -> None:
    body = graph([node("Mul", ["item", "x"], ["made"])], [value("item"), value("x")], [value("made")])
    nodes = [node("SplitToSequence", ["x"], ["s"], axis=0), node("SequenceMap", ["s", "x"], ["t"], body=body),
             node("ConcatFromSequence", ["t"], ["y"], axis=0)]
    x = np.array([1.0, 2.0, 3.0])
    y, dx = run(read(nodes, {"x": FLOATS}, ["y"]), x=x)
    np.testing.assert_allclose(y, np.outer(x, x).ravel())
    np.testing.assert_allclose(dx, np.full(3, 2 * x.sum()))


def test_sequences_are_lists_while_the_graph_is_built() -> None:
    nodes = [node("SplitToSequence", ["x"], ["s"], axis=1, keepdims=0), node("SequenceAt", ["s", "one"], ["b"]),
             node("SequenceErase", ["s", "one"], ["t"]), node("SequenceInsert", ["t", "b"], ["u"]),
             node("ConcatFromSequence", ["u"], ["y"], axis=-1, new_axis=1), node("SequenceLength", ["u"], ["n"]),
             node("SequenceEmpty", [], ["e"]), node("SequenceInsert", ["e", "b"], ["e1"]),
             node("SequenceConstruct", ["b", "b"], ["two"]), node("ConcatFromSequence", ["two"], ["z"], axis=0),
             node("ConcatFromSequence", ["e1"], ["w"], axis=0)]
    made = read(nodes, {"x": (np.float64, (2, 3))}, ["y", "n", "z", "w"], {"one": np.array(1, np.int64)})
    x = np.arange(6.0).reshape(2, 3)
    y, n, z, w, dx = run(made, x=x)
    np.testing.assert_allclose(y, x[:, [0, 2, 1]])
    assert n == 3
    np.testing.assert_allclose(z, np.tile(x[:, 1], 2))
    np.testing.assert_allclose(w, x[:, 1])
    np.testing.assert_allclose(dx, np.ones((2, 3)))


def test_a_split_with_lengths_keeps_its_axis() -> None:
    nodes = [node("SplitToSequence", ["x", "lengths"], ["s"], axis=0), node("SequenceAt", ["s", "last"], ["y"])]
    made = read(nodes, {"x": FLOATS}, ["y"], {"lengths": np.array([1, 2], np.int64), "last": np.array(-1, np.int64)})
    np.testing.assert_allclose(run(made, x=np.array([1.0, 2.0, 3.0]))[0], [2, 3])


def test_an_optional_value_is_the_value_itself() -> None:
    nodes = [node("Optional", ["x"], ["o"]), node("OptionalGetElement", ["o"], ["y"]),
             node("OptionalHasElement", ["o"], ["has"]), node("OptionalHasElement", [], ["no"])]
    y, has, no, _ = run(read(nodes, {"x": FLOATS}, ["y", "has", "no"]), x=np.ones(3))
    assert (y.tolist(), has, no) == ([1, 1, 1], True, False)


def test_softmax_before_version_13_sees_a_matrix() -> None:
    x = np.arange(12.0).reshape(2, 3, 2)
    for op, of in (("Softmax", lambda p: p), ("LogSoftmax", np.log)):
        made = read([node(op, ["x"], ["y"])], {"x": (np.float64, (2, 3, 2))}, ["y"], version=11)
        flat = np.exp(x.reshape(2, 6))
        np.testing.assert_allclose(run(made, x=x)[0], of(flat / flat.sum(1, keepdims=True)).reshape(x.shape))


@pytest.mark.parametrize(("made", "version", "expected"), [
    (node("Resize", ["x", "scales"], ["y"]), 10, np.repeat),
    (node("Upsample", ["x"], ["y"], scales=[1.0, 2.0]), 7, np.repeat),
    (node("Pad", ["x"], ["y"], pads=[0, 1, 0, 0], value=7.0), 2, lambda x, *_: np.pad(x, [(0, 0), (1, 0)],
                                                                                   constant_values=7)),
    (node("Slice", ["x"], ["y"], starts=[1], ends=[9], axes=[1]), 1, lambda x, *_: x[:, 1:]),
    (node("TopK", ["x"], ["y", "places"], k=2), 1, lambda x, *_: -np.sort(-x)[:, :2]),
    (node("Reshape", ["x"], ["y"], shape=[3, -1], consumed_inputs=[0]), 1, lambda x, *_: x.reshape(3, 2)),
    (node("Unsqueeze", ["x"], ["y"], axes=[0, 3]), 1, lambda x, *_: x[None, :, :, None]),
    (node("ReduceSum", ["x"], ["y"], axes=[0], keepdims=0), 1, lambda x, *_: x.sum(0)),
    (node("Clip", ["x"], ["y"], min=1.0, max=3.0), 6, lambda x, *_: np.clip(x, 1, 3)),
    (node("Split", ["x"], ["y", "z"], axis=1, split=[2, 1]), 2, lambda x, *_: x[:, :2]),
    (node("Dropout", ["x"], ["y"], ratio=0.5), 7, lambda x, *_: x)])
def test_what_are_inputs_today_were_attributes(made: Any, version: int, expected: Any) -> None:
    x = np.array([[5.0, 0.0, 3.0], [1.0, 4.0, 2.0]])
    known = {"scales": np.array([1, 2], np.float32)}
    read_in = read([made], {"x": (np.float64, (2, 3))}, ["y"], known, version=version)
    assert "PyFunc" not in types(read_in)
    np.testing.assert_allclose(run(read_in, x=x)[0], expected(x, 2, 1))


def test_a_group_had_one_scale_before_version_21() -> None:
    made = read([node("GroupNormalization", ["x", "s", "b"], ["y"], num_groups=2)], {"x": (np.float64, (1, 4, 3))},
                ["y"], {"s": np.array([2.0, 3.0]), "b": np.array([0.5, 1.0])}, version=18)
    x = np.arange(12.0).reshape(1, 4, 3) ** 1.5
    parts = x.reshape(2, 6)
    normal = (parts - parts.mean(1, keepdims=True)) / np.sqrt(parts.var(1, keepdims=True) + 1e-5)
    expected = normal * [[2], [3]] + [[0.5], [1]]
    np.testing.assert_allclose(run(made, x=x)[0], expected.reshape(1, 4, 3))


@pytest.mark.parametrize(("op", "others", "slopes"), [
    ("Max", {"z": np.zeros(3)}, [0, 0.5, 1]), ("Min", {"z": np.zeros(3)}, [1, 0.5, 0]), ("Relu", {}, [0, 0, 1]),
    ("Abs", {}, [-1, 0, 1]), ("PRelu", {"z": np.full(3, 0.25)}, [0.25, 0.25, 1]), ("LeakyRelu", {}, [0.01, 0.01, 1]),
    ("Clip", {"z": np.array(0.0)}, [0, 1, 1]), ("Elu", {}, [np.exp(-2), 1, 1])])
def test_slopes_at_kinks_are_those_of_pytorch(op: str, others: dict[str, Any], slopes: list[float]) -> None:
    made = read([node(op, ["x", *others], ["y"])], {"x": FLOATS}, ["y"], others)
    np.testing.assert_allclose(run(made, x=np.array([-2.0, 0.0, 3.0]))[1], slopes)


def test_random_numbers_have_their_shapes_types_and_ranges() -> None:
    nodes = [node("RandomUniform", [], ["a"], shape=[50, 40], low=2.0, high=3.0, dtype=11),
             node("RandomUniformLike", ["x"], ["b"], low=-1.0, high=0.0), node("RandomNormal", [], ["c"], shape=[2000]),
             node("RandomNormalLike", ["x"], ["d"], mean=5.0, scale=0.1), node("Bernoulli", ["p"], ["e"], dtype=6)]
    made = read(nodes, {"x": (np.float64, (2000,)), "p": (np.float64, (2000,))}, ["a", "b", "c", "d", "e"])
    a, b, c, d, e, *_ = run(made, x=np.zeros(2000), p=np.full(2000, 0.25))
    assert a.shape == (50, 40)
    assert a.dtype == np.float64
    assert 2 <= a.min() < 2.1 < 2.9 < a.max() < 3
    assert -1 <= b.min() < b.max() < 0
    assert c.dtype == np.float32
    assert abs(c.mean()) < 0.1 < 0.9 < c.std() < 1.1
    assert abs(d.mean() - 5) < 0.02
    assert e.dtype == np.int32
    assert 0.2 < e.mean() < 0.3


def test_dropout_in_training_keeps_the_mean() -> None:
    made = read([node("Dropout", ["x", "ratio", "training"], ["y", "mask"], seed=3)],
                {"x": (np.float64, (4000,)), "ratio": (np.float64, ()), "training": (np.bool_, ())}, ["y", "mask"])
    y, mask, *_ = run(made, x=np.ones(4000), ratio=0.25, training=True)
    np.testing.assert_allclose(y, mask / 0.75)
    assert 0.7 < mask.mean() < 0.8
    assert run(made, x=np.ones(4000), ratio=0.25, training=False)[1].all()
