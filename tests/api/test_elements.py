"""Tensors, operations and shapes as what they are to Python: keys, messages, pickles, errors: as TensorFlow's."""

import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.shapes import Dimension
from autodiff.tensorflow_names.python import framework_ops, gradient_checker_v2, ops, raw_ops


@pytest.fixture(autouse=True)
def _fresh() -> None:
    tf.reset_default_graph()


def test_what_stands_for_a_tensor_is_a_key() -> None:
    x, v = tf.constant(1.0), tf.Variable(2.0)
    known = {x.experimental_ref(): "x", v.experimental_ref(): "v"}
    assert (known[x.experimental_ref()], known[v.experimental_ref()]) == ("x", "v")
    assert next(iter(known)).deref() is x and x.experimental_ref() != v.experimental_ref()


def test_an_eager_tensor_is_a_constant_of_a_graph() -> None:
    with framework_ops.eager_mode():
        one = tf.constant([1.0, 2.0])
        with tf.Graph().as_default() as graph:
            total = tf.placeholder(tf.float32, [2]) + one
        assert total.graph is graph and total.op.inputs[1].op.type == "Const"


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda x: tf.convert_to_tensor(x.op), TypeError, r"Can't convert Operation 'x' to Tensor"),
    (lambda x: np.array(x), NotImplementedError, r"Cannot convert a symbolic Tensor \(x:0\)"),
    (lambda x: x.op.get_attr("no"), ValueError, r"Operation 'x' has no attr named 'no'\."),
    (lambda x: x + tf.Graph().create_op("Placeholder", attrs={"dtype": tf.float32, "shape": ()}).outputs[0], ValueError,
     "must be from the same graph"),
    (lambda x: tf.TensorShape("347"), TypeError, "A string has ambiguous TensorShape"),
    (lambda x: Dimension(3) / Dimension(2), TypeError, "please use // instead"),
])
def test_what_they_refuse(call: Any, kind: type, text: str) -> None:
    with pytest.raises(kind, match=text):
        call(tf.placeholder(tf.float32, [2], name="x"))


def test_shapes_as_messages_and_pickles() -> None:
    for shape in (tf.TensorShape([2, None]), tf.TensorShape(None), tf.TensorShape([])):
        assert tf.TensorShape(shape.as_proto()).dims_tuple == pickle.loads(pickle.dumps(shape)).dims_tuple \
            == shape.dims_tuple
    assert (7 % Dimension(4)).value == 3 and pickle.loads(pickle.dumps(Dimension(3))).value == 3


@pytest.mark.parametrize(("values", "options", "field", "listed"), [
    (10.0, {}, "float_val", [10.0]), (1 + 2j, {"dtype": tf.complex64}, "scomplex_val", [1.0, 2.0]),
    ([1.0, 2.0], {}, "tensor_content", np.float32([1, 2]).tobytes()), ([True, False], {}, "bool_val", [True, False]),
    ([10.0, 20.0], {"dtype": tf.float16}, "half_val", [18688, 19712]), (7, {"dtype": tf.int64}, "int64_val", [7]),
    (3.0, {"shape": [1, 3]}, "float_val", [3.0]), (7, {"dtype": tf.uint8}, "int_val", [7]),
])
def test_a_tensor_proto_lists_what_tensorflow_lists(values: Any, options: Any, field: str, listed: Any) -> None:
    made = tf.make_tensor_proto(values, **options)
    found = getattr(made, field)
    assert (found if isinstance(found, bytes) else list(found)) == listed
    shape = options.get("shape", np.shape(values))
    assert np.array_equal(tf.make_ndarray(made), np.broadcast_to(values, shape))


def test_names_within_scopes_and_raw_ops_by_their_own_name() -> None:
    assert framework_ops.strip_name_scope("^a/b/c", "a/b") == "^c" and framework_ops.strip_name_scope("abc/d", "a") \
        == "abc/d"
    assert framework_ops.prepend_name_scope(b"loc:@c", "a/") == "loc:@a/c"
    assert raw_ops.MatMul([[1.0]], [[2.0]]).op.type == "MatMul"
    rows = tf.IndexedSlicesValue(np.float32([[1], [2], [3]]), np.array([0, 2, 0]), np.array([3, 1]))
    assert gradient_checker_v2._to_numpy(rows).tolist() == [[4.0], [0.0], [2.0]]


def test_nested_lists_of_tensors_take_the_type_that_is_asked_for() -> None:
    i, wide = tf.constant(3), tf.constant([[1]], tf.int64)
    with tf.Session() as session:
        assert session.run(tf.concat([wide, [[i]]], 1)).tolist() == [[1, 3]]
    with pytest.raises(TypeError, match="expected parts of dtype int32"):
        tf.stack([[i, tf.constant(1.0)]])


def test_quantized_types_have_names_and_numbers_only() -> None:
    assert (tf.DType(11), tf.as_dtype("qint32_ref").as_datatype_enum, tf.quint8.is_quantized) == (tf.qint8, 113, True)
    assert not tf.qint8.is_integer and tf.DType(1) is tf.float32 and not tf.int8.is_quantized
    with pytest.raises(TypeError, match="qint8"):
        tf.placeholder(tf.qint8) + 1


def test_dependencies_before_rows_and_specs_of_loop_variables() -> None:
    v = tf.Variable([[1.0], [2.0]])
    rows = ops.with_dependencies([v.initializer], tf.IndexedSlices(v, tf.constant([1])))
    with tf.Session() as session:
        assert session.run(tf.gather(rows.values, rows.indices)).tolist() == [[2.0]]
    _, grown = tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, tf.concat([x, x], 0)), [0, tf.ones([1])],
                             shape_invariants=[tf.TensorSpec([], tf.int32), tf.TensorSpec([None])])
    assert grown.shape.as_list() == [None]


def test_what_a_session_says_of_itself() -> None:
    x = tf.constant(1.0, name="x")
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        assert [d.name[-5:] for d in session.list_devices()] == ["CPU:0", "CPU:1"]
        assert [node.name for node in session.graph_def.node] == [x.op.name]
    first = tf.InteractiveSession()
    with pytest.warns(UserWarning, match="An interactive session is already active"):
        tf.InteractiveSession().close()
    first.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tf.InteractiveSession().close()
    with pytest.raises(TypeError, match=r"config must be a tf\.ConfigProto"):
        tf.Session(config=37)


def test_operations_are_changed_after_they_were_made() -> None:
    x, y = tf.constant(1, name="x"), tf.constant(2, name="y")
    z = tf.add(x, y, name="z")
    late = tf.constant(5, name="late")
    z.op._update_input(0, late)
    z.op._add_control_inputs([x.op, x.op])
    assert list(z.op.inputs) == [late, y] and z.op.control_inputs == [x.op] and x.op._control_outputs == [z.op]
    assert x.consumers() == [] and list(tf.get_default_graph().operations) == ["x", "y", "late", "z"]
    with tf.Session() as session:
        assert session.run(z) == 7
    with pytest.raises(tf.errors.InvalidArgumentError, match="contains a cycle with 2 nodes"):
        late.op._add_control_input(z.op)
    for index, other, text in ((0, tf.constant([1, 2]), r"incompatible shapes: \[2\] and \[\]"),
                               (2, x, r"Input index \[2\] is greater than the number of total inputs \[2\]"),
                               (0, tf.constant(1.0), "was passed float32 from Const.*expected int32")):
        with pytest.raises(tf.OpError, match=text):
            z.op._update_input(index, other)
    z.op._remove_all_control_inputs()
    assert z.op.control_inputs == []


def test_attributes_are_given_later() -> None:
    x = tf.constant(2.0)
    y = tf.square(x)

    @tf.RegisterGradient("Mine")
    def _mine(op: Any, dy: Any) -> Any:
        return 100 * dy

    y.op._set_attr("_gradient_op_type", tf.AttrValue(s=b"Mine"))
    y.op._set_attr("_note", tf.AttrValue(i=7))
    assert y.op.get_attr("_note") == 7 and y.op.node_def.attr["_note"].i == 7
    with tf.Session() as session:
        assert session.run(tf.gradients(y, x)) == [100.0]
