"""import_graph_def: names, mapped inputs, returned elements and refusals as TensorFlow 1.15 has them."""

import numpy as np
import pytest

import autodiff as tf


def stored():
    """x times a constant matrix, doubled, as a GraphDef."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        y = tf.matmul(x, tf.constant([[1.0], [2.0]], name="w"), name="y")
        tf.identity(y * 2, name="z")
    return graph.as_graph_def()


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_names_and_elements(graph):
    x = tf.constant([[3.0, 4.0]], name="given")
    z, y = tf.import_graph_def(stored(), input_map={"x:0": x}, return_elements=["z:0", "y"], name="net")
    assert (z.name, y.name, y.type) == ("net/z:0", "net/y", "MatMul")
    assert [op.name for op in graph.get_operations()] == ["given", "net/x", "net/w", "net/y", "net/mul/y", "net/mul",
                                                          "net/z"]
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(z), [[22.0]])
        np.testing.assert_array_equal(session.run(tf.gradients(z, x)[0]), [[2.0, 4.0]])


def test_the_scope_is_import_and_made_unique(graph):
    assert tf.import_graph_def(stored()) is None
    tf.import_graph_def(stored())
    assert {"import/z", "import_1/z"} <= set(graph.operations)


def test_control_inputs_and_branches_come_along():
    with tf.Graph().as_default() as other:
        x = tf.placeholder(tf.float32, [], name="x")
        with tf.control_dependencies([tf.no_op(name="first")]):
            sign = tf.is_finite(x, name="sign")
        tf.cond(sign, lambda: x * 3, lambda: -x, name="choice")
    given = tf.constant(2.0)
    op, sign = tf.import_graph_def(other.as_graph_def(), {"x": given}, ["choice/If", "sign"], name="again")
    assert [c.name for c in sign.control_inputs] == ["again/first"]
    with tf.Session() as session:
        assert session.run(op.outputs[0]) == 6.0


@pytest.mark.parametrize(("options", "error", "text"), [
    ({"return_elements": ["q:0"]}, ValueError, "'q' not found"),
    ({"return_elements": ["q"]}, ValueError, "'q' not found"),
    ({"return_elements": ["y:1"]}, ValueError, "no output 1"),
    ({"return_elements": [3]}, TypeError, "list of names"),
    ({"input_map": {"q:0": 1.0}}, ValueError, "not found in graph_def: q:0"),
    ({"input_map": [1]}, TypeError, "dictionary"),
])
def test_refusals(options, error, text):
    with pytest.raises(error, match=text):
        tf.import_graph_def(stored(), **options)


def test_other_things_are_refused():
    with pytest.raises(TypeError, match="must be a GraphDef"):
        tf.import_graph_def("abc")
    tf.import_graph_def(stored(), name="")
    with pytest.raises(ValueError, match="has an operation 'x' already"):
        tf.import_graph_def(stored(), name="")
