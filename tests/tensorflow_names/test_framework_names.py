"""tensorflow.python.framework: where operations were placed, errors that say so, side effects of tensors."""

import inspect
import os
import pickle
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.runtime.eager import eager_mode
from autodiff.tensorflow_names import alias
from autodiff.tensorflow_names.python import autograph, context, parallel_for
from autodiff.tensorflow_names.python.framework import device, error_interpolation, rewriting, subscribe

HERE = os.path.abspath(__file__)


pytestmark = pytest.mark.usefixtures("own_graph")


def _line() -> int:
    return inspect.currentframe().f_back.f_lineno  # type: ignore[union-attr]


def test_an_operation_knows_the_blocks_that_placed_it() -> None:
    first = tf.constant(1.0, name="first")
    with tf.device("/cpu"):
        around = _line() - 1
        with tf.device(_line_of_cpu):
            placed = tf.constant(1.0, name="placed")
    with tf.colocate_with(first):
        beside = tf.constant(1.0, name="beside")
    with tf.colocate_with(beside):
        last = tf.constant(1.0, name="last")
    code = _line_of_cpu.__code__
    function = f"_line_of_cpu<{HERE}, {code.co_firstlineno}>"
    assert placed.op._device_assignments == ((function, HERE, around + 2), ("/cpu", HERE, around))
    assert first.op._device_assignments == () and first.op._colocation_dict == {}
    assert list(last.op._colocation_dict) == ["beside"] and last.op.colocation_groups() == [b"loc:@first"]
    told = error_interpolation.interpolate("at {{colocation_node placed}}, {{node none}}, {{colocation_node last}}",
                                           first.graph)
    assert told.count(f"with tf.device(/cpu): <{HERE}:{around}>") == 2 and "{{node none}}" in told
    assert "with tf.colocate_with(beside)" in told
    assert "No node-device colocations were active during op 'placed'" in told


def _line_of_cpu(op: Any) -> str:
    return "/cpu:0"


def test_an_error_says_the_lines_of_an_operation_and_its_inputs() -> None:
    x = tf.constant(1.0, name="x")
    made = _line() - 1
    tf.negative(x, name="y")
    told = error_interpolation.interpolate("{{function_node f}}{{node y}}fails", x.graph)
    assert told.startswith(f"node y (defined at {HERE}:{made + 2}) fails")
    assert f"\n x (defined at {HERE}:{made})" in told


def test_attributes_of_a_block_are_its_operations() -> None:
    graph = tf.get_default_graph()
    with graph._attr_scope({"_a": tf.AttrValue(s=b"1"), "_b": tf.AttrValue(i=2)}):
        with graph._attr_scope({"_a": None, "_c": tf.AttrValue(b=True)}):
            inner = tf.constant(1.0).op
        outer = tf.constant(1.0).op
    assert (inner.get_attr("_b"), inner.get_attr("_c"), outer.get_attr("_a")) == (2, True, b"1")
    assert "_a" not in inner.node_def.attr and outer.node_def.attr["_b"].i == 2
    for op, name in ((inner, "_a"), (outer, "_c"), (tf.constant(1.0).op, "_b")):
        with pytest.raises(ValueError, match=name):
            op.get_attr(name)


def test_whatever_takes_a_subscribed_tensor_runs_the_side_effects() -> None:
    x = tf.constant(3, name="x")
    twice, seen = x * 2, []
    with tf.control_dependencies([x]):
        after = tf.constant(5)

    def note(value: Any) -> Any:
        seen.append(value)
        return value

    given = subscribe.subscribe([x, {"twice": twice}], lambda t: tf.py_func(note, [t], [t.dtype]))
    again = subscribe.subscribe(x, [lambda t: [tf.py_func(lambda v: note(-v), [t], t.dtype)]])
    assert again is given[0] and again.op.name == "x/subscription/Identity" and after.op.control_inputs == [again.op]
    with tf.Session() as session:
        assert session.run(after) == 5 and sorted(seen) == [-3, 3]
        assert session.run(given[1]["twice"] + twice) == 12 and sorted(seen) == [-3, -3, 3, 3, 6]
    assert all(isinstance(value, np.int32) for value in seen)  # a scalar comes as a number: it can be a key
    handle = tf.Variable(1.0, use_resource=True).handle
    assert subscribe.subscribe(handle, note) is handle
    with pytest.raises(TypeError, match="'x' has invalid type"):
        subscribe.subscribe("x", note)


def test_a_scope_that_is_entered_within_itself_is_left_as_often() -> None:
    foo = tf.name_scope("foo")
    with foo, foo as inner:
        assert inner == "foo/foo/"
    with foo as again:
        assert again == "foo_1/" and tf.no_op(name="x").name == "foo_1/x"
    assert tf.no_op(name="x").name == "x"


def test_whether_unknown_shapes_differ_is_not_said() -> None:
    with pytest.raises(ValueError, match="inequality of unknown TensorShapes is undefined"):
        assert tf.TensorShape(None) != tf.TensorShape([2])
    assert tf.TensorShape([2, None]) != tf.TensorShape([3, 1]) and pickle.loads(
        pickle.dumps(tf.TensorShape([2, None]))).as_list() == [2, None]


def test_what_has_an_array_of_text_is_a_tensor() -> None:
    class Words:
        def __array__(self) -> np.ndarray:
            return np.array([b"a", b"bc"])

    assert list(tf.make_tensor_proto(Words()).string_val) == [b"a", b"bc"]


def test_a_shape_is_ensured_executing_eagerly() -> None:
    with eager_mode(), pytest.raises(tf.errors.InvalidArgumentError, match="not compatible with expected shape"):
        tf.ensure_shape([[1.0]], [None])
    with eager_mode():
        x = tf.constant([1.0])
        assert x.device.endswith("/device:CPU:0") and x.device == x.backing_device


def test_checks_alone_are_left_out_of_a_graph_for_predictions() -> None:
    x = tf.constant(1.0, name="x")
    with tf.control_dependencies([tf.check_numerics(x, "x", name="check")]):
        tf.identity(tf.identity(x, name="same") + 1, name="y")
    found = tf.graph_util.remove_training_nodes(x.graph.as_graph_def(), protected_nodes=["y"])
    assert [node.name for node in found.node] == ["x", "add/y", "add", "y"]
    assert [list(node.input) for node in found.node if node.name in ("add", "y")] == [["x", "add/y"], ["add"]]


def test_what_rewrites_graphs_leaves_them() -> None:
    one = rewriting.compile(lambda x: x + 1, [1.0])
    assert isinstance(one, tuple) and one[0].shape == () and rewriting.compile(tf.no_op).type == "NoOp"
    assert rewriting.compile(lambda: {"a": one[0]})["a"] is one[0]
    meta = tf.train.export_meta_graph()
    assert rewriting.OptimizeGraph(tf.ConfigProto(), meta) == meta.graph_def


def test_rows_of_a_batch_jacobian_are_counted_in_the_run() -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    jacobian = parallel_for.batch_jacobian(tf.concat([x, x], 0), x)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
        session.run(jacobian, {x: np.ones((2, 2))})


def test_eager_execution_is_asked_for_in_known_words() -> None:
    with pytest.raises(TypeError, match="config must be a tf.ConfigProto"):
        tf.enable_eager_execution(3)
    for word in ("device_policy", "execution_mode"):
        with pytest.raises(ValueError, match=f"{word} must be one of"):
            tf.enable_eager_execution(**{word: "x"})
    called: list[int] = []
    with eager_mode(), tf.control_dependencies([lambda: called.append(1)]), tf.name_scope("a"):
        assert called and context.context().scope_name == "a/"
    with autograph.ControlStatusCtx(autograph.Status.DISABLED), pytest.raises(TypeError, match="is disabled in this"):
        bool(tf.constant(1))
    with pytest.raises(TypeError, match="not allowed in Graph execution"):
        iter(tf.constant([1]))
    assert tf.ConfigProto().session_inter_op_thread_pool.add(num_threads=2).num_threads == 2


def test_a_device_spec_of_tensorflow_2_does_not_change() -> None:
    one, other = (device.DeviceSpecV2.from_string(text) for text in ("/job:ps", "/task:1"))
    assert one.make_merged_spec(other).to_string() == "/job:ps/task:1"
    with pytest.raises(AttributeError, match="merge_from"):
        one.merge_from(other)


def test_forms_of_their_own_in_modules_of_framework_and_ops() -> None:
    with alias.standing_in(shadow=True):
        from tensorflow.python.framework import dtypes
        from tensorflow.python.ops import math_ops
    assert pickle.loads(pickle.dumps(tf.float32)) is tf.float32 and tf.float32.__reduce__()[0] is dtypes.as_dtype
    with tf.Session() as session:
        assert session.run(math_ops.inv(tf.constant([1.0, 2.0]))).tolist() == [1, 0.5]
