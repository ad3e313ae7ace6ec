"""GraphDefs: names, mapped inputs and refusals as TensorFlow 1.15 has them; what it wrote computes what it computed."""

from pathlib import Path

import numpy as np
import pytest

import autodiff as tf
from autodiff.files.op_table import op_schema
from autodiff.files.protobuf_text import parse_message

from ..expect import expect_none
from ..ops.built import Built
from ..ops.op_cases import CASES


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
    ({"return_elements": ["q:0"]}, ValueError, "Requested return tensor 'q:0' not found"),
    ({"return_elements": ["q:0:0"]}, ValueError, "Cannot convert 'q:0:0' to a tensor name"),
    ({"return_elements": ["q"]}, ValueError, "'q' not found"),
    ({"return_elements": ["y:1"]}, ValueError, "Invalid return output 1 of node 'y'"),
    ({"return_elements": [3]}, TypeError, "list of strings"),
    ({"input_map": {"q:0": 1.0}}, ValueError, "not found in graph_def: q:0"),
    ({"input_map": [1]}, TypeError, "dictionary"),
])
def test_refusals(options, error, text):
    with pytest.raises(error, match=text):
        tf.import_graph_def(stored(), **options)


def test_other_things_are_refused():
    with pytest.raises(TypeError, match="must be a GraphDef"):
        tf.import_graph_def("abc")
    for node, text in (("node {name: 'a' op: 'NoOp'} node {name: 'a' op: 'NoOp'}", "Node 'a' is not unique"),
                       ("node {name: 'b' op: 'NoOp' attr {key: '_class' value {list {s: 'loc:@a'}}}}",
                        "Node 'b' expects to be colocated with unknown node 'a'"),
                       ("versions {producer: -1}", "below min producer 0"),
                       ("versions {min_consumer: 1000}", "above current version 134")):
        with pytest.raises(ValueError, match=text):
            tf.import_graph_def(parse_message(node, tf.GraphDef(), "text"))


def test_a_graph_is_imported_again_under_other_names_and_stands_where_it_is_told():
    tf.import_graph_def(stored(), name="")
    again, = tf.import_graph_def(stored(), name="", return_elements=[b"x"])
    assert again.name == "x_1"
    text = """node {name: 'a' op: 'NoOp' device: '/job:w'} versions {producer: 27 min_consumer: 12}
              node {name: 'b' op: 'NoOp' attr {key: '_class' value {list {s: 'loc:@a'}}}}"""
    with tf.device("/task:1"):
        a, b = tf.import_graph_def(parse_message(text, tf.GraphDef(), "text"), return_elements=["a", "b"], name="s")
    assert (a.device, b.device) == ("/job:w/task:1", "/job:w/task:1") and b.colocation_groups() == [b"loc:@s/a"]
    assert b.node_def.attr["_class"].list.s == [b"loc:@s/a"]
    versions = tf.get_default_graph().as_graph_def().versions
    assert (versions.producer, versions.min_consumer) == (27, 12)


# ---- what TensorFlow 1.15.5 wrote, and computed -----------------------------------------

GRAPHS = Path(__file__).parents[1] / "files" / "fixtures" / "graphs"
NAMES = ["loop", "branch", "nested", "recurrent", "convolution"]


def foreign(name):
    """A GraphDef of TensorFlow's, what to feed, and what it gives."""
    with np.load(GRAPHS / f"{name}.npz") as archive:
        feeds = {f"{key[5:]}:0": archive[key] for key in archive.files if key.startswith("feed_")}
        fetches = {f"{key}:0": archive[key] for key in archive.files if not key.startswith("feed_")}
    return tf.GraphDef.FromString((GRAPHS / f"{name}.pb").read_bytes()), feeds, fetches


@pytest.mark.parametrize("name", NAMES)
def test_it_computes_what_tensorflow_computed(name):
    graph_def, feeds, fetches = foreign(name)
    tf.import_graph_def(graph_def, name="")
    with tf.Session() as session:
        for fetch, expected in fetches.items():
            np.testing.assert_allclose(session.run(fetch, feeds), expected, rtol=2e-5, atol=1e-6, err_msg=fetch)


@pytest.mark.parametrize(("name", "y"), [("loop", "a:0"), ("branch", "z_1:0"), ("convolution", "loss:0")])
def test_our_gradient_is_the_stored_one(name, y, graph):
    graph_def, feeds, fetches = foreign(name)
    tf.import_graph_def(graph_def, name="")
    gradient = tf.gradients(graph.get_tensor_by_name(y), graph.get_tensor_by_name("x:0"))[0]
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(gradient, feeds), fetches["dx:0"], rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_once_more_computes_the_same(name, graph):
    """Binary and as text: loops and branches are functions then."""
    graph_def, feeds, fetches = foreign(name)
    tf.import_graph_def(graph_def, name="")
    written = graph.as_graph_def()
    again = tf.GraphDef.FromString(written.SerializeToString())
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(again, name="")
        for fetch, expected in fetches.items():
            if fetch != "dx:0":
                np.testing.assert_allclose(session.run(fetch, feeds), expected, rtol=2e-5, atol=1e-6, err_msg=fetch)


def test_an_op_that_is_not_served_fails_when_it_runs_and_not_before():
    given = tf.NodeDef(name="read", op="DecodeWav", input=["text"], attr={"desired_channels": tf.AttrValue(i=2)})
    text = tf.NodeDef(name="text", op="Placeholder", attr={"dtype": tf.AttrValue(type=7)})
    tf.import_graph_def(tf.GraphDef(node=[text, given]), name="")
    with tf.Session() as session, pytest.raises(tf.errors.UnimplementedError, match="the op 'DecodeWav'"):
        session.run("read:0", {"text:0": b"x"})
    again = tf.get_default_graph().as_graph_def().node[1]
    assert (again.op, again.attr["desired_channels"].i, list(again.input)) == ("DecodeWav", 2, ["text"])


@pytest.mark.parametrize(("nodes", "text"), [
    ([("a", "NoSuchOp", [])], "Op type not registered 'NoSuchOp'"),
    ([("a", "Identity", ["b"])], "Unknown input node 'b'"),
    ([("a", "Identity", ["b"]), ("b", "Identity", ["a"])], "2 node.s. in a cycle"),
    ([("a", "NoOp", []), ("a", "NoOp", [])], "not unique"),
    ([("a", "Exit", ["b"]), ("b", "NoOp", [])], "an Exit that is in no loop"),
    ([("a", "MatMul", [])], "NodeDef expected inputs 'T, T' do not match 0 inputs specified: MatMul takes 2 inputs"),
])
def test_graphs_that_cannot_be_are_refused(nodes, text):
    made = tf.GraphDef(node=[tf.NodeDef(name=n, op=op, input=inputs) for n, op, inputs in nodes])
    with pytest.raises(ValueError, match=text):
        tf.import_graph_def(made)


def test_an_input_of_another_type_is_refused_in_tensorflows_words():
    with tf.Graph().as_default():
        graph_def = tf.constant(1.0, name="a").graph.as_graph_def()
        graph_def.node.add(name="b", op="LogicalNot", input=["a"])
    with pytest.raises(ValueError, match="Input 0 of node import/b was passed float from import/a:0 incompatible with "
                                         "expected bool."):
        tf.import_graph_def(graph_def, name="import")


# ---- every op ---------------------------------------------------------------------------

# their attributes hold Python's functions; and what is a part of a loop is read as that loop alone
KEPT_BESIDE = {"EachSlice", "PyFunc", "Print", "PrintV2", "Enter", "Exit", "LoopCond", "NextIteration"}


def test_every_op_is_written_and_read():
    """The first row of each op, as bytes and back: the same operations with the same types."""
    rows = {case.op: case for case in reversed(CASES) if not case.fails and case.op not in KEPT_BESIDE}
    lost = []
    for name, case in rows.items():
        graph = Built(case).graph
        data = graph.as_graph_def(add_shapes=True).SerializeToString()
        with tf.Graph().as_default() as other:
            tf.import_graph_def(tf.GraphDef.FromString(data), name="")
        for op in graph.get_operations():
            if op.name not in other.operations:
                lost.append(f"{name}: {op.name}")
                continue
            found = [t.dtype for t in other.operations[op.name].outputs][:len(op.outputs)]
            if found != [t.dtype for t in op.outputs] and op.type != "While":  # whose captures go around the loop then
                lost.append(f"{name}: {op.name} has other types")
    expect_none(lost)


def _loop(x):
    return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * v * x), [0, x])[1]


def _loop_in_loop(x):
    return tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, tf.while_loop(
        lambda j, u: j < 2, lambda j, u: (j + 1, u * x + v), [0, v])[1]), [0, x])[1]


def _loop_in_branch(x):
    return tf.cond(x > 0, lambda: _loop(x), lambda: x * 3)


def _scan(x):
    return tf.reduce_sum(tf.scan(lambda a, b: a * b + x, tf.constant([1.0, 2.0, 3.0])))


def _draws(x):
    return tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, v + tf.cond(
        x > 0, lambda: tf.reduce_sum(tf.nn.dropout(x * tf.ones([9]), 0.5)), lambda: x)), [0, 0.0])[1]


def _arrays(x):
    rows = tf.stack([x, x * x, x + 1])
    grown = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, rows[i] * x)), [
        0, tf.TensorArray(tf.float32, size=0, dynamic_size=True)])[1]
    put = tf.TensorArray(tf.float32, size=3).scatter([2, 0, 1], rows)
    pieces = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(rows, [1, 2])
    return tf.reduce_sum(grown.stack()) + tf.reduce_sum(put.gather([1, 2]) * x) + tf.reduce_sum(pieces.concat() ** 2)


def _swish_in_branch(x):
    return tf.cond(x > 0, lambda: tf.nn.swish(x), lambda: x)


@pytest.mark.parametrize("model", [_loop, _loop_in_loop, _loop_in_branch, _scan, _draws, _arrays, _swish_in_branch])
def test_gradients_of_loops_and_branches_come_back(model):
    """Twice, of ops that TensorFlow has: what was read is written again.

    A value that is drawn in each run is told by its gradient.
    """
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        y = model(x)
        slope = tf.gradients(y, x)[0]
        names = [(y - slope * x if model is _draws else y).name, slope.name]
        expected = None if model is _draws else tf.Session().run(names, {x: 1.3})
    for _ in range(2):
        written = graph.as_graph_def(add_shapes=True)
        nodes = [*written.node, *(node for function in written.library.function for node in function.node_def)]
        expect_none(sorted({node.op for node in nodes if op_schema(node.op) is None}))
        expect_none([node.name for node in written.node if node.op == "While" and not len(node.attr["T"].list.type) == (
            len(node.input)) == len(node.attr["_output_shapes"].list.shape)])
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(tf.GraphDef.FromString(written.SerializeToString()), name="")
            found = tf.Session().run(names, {"x:0": 1.3})
            assert abs(found[0]) < 1e-4 if expected is None else found == pytest.approx(expected)


def test_what_branches_and_loops_read_is_frozen_too():
    with tf.Graph().as_default(), tf.Session() as session:
        x, flag = tf.placeholder(tf.float32, [3], name="x"), tf.placeholder_with_default(True, [], name="flag")
        w = tf.get_variable("w", initializer=[1.0, 2.0, 3.0], use_resource=True)

        def body(i, v):
            return i + 1, v * w + tf.cond(flag, lambda: tf.gather(w, [2, 0, 0]), lambda: w)

        out = tf.identity(tf.while_loop(lambda i, v: i < 2, body, [0, x])[1] + w, name="out")
        session.run(tf.global_variables_initializer())
        expected = [session.run(out, {x: np.ones(3), flag: each}) for each in (True, False)]
        frozen = tf.graph_util.convert_variables_to_constants(session, session.graph.as_graph_def(), ["out"])
    frozen = tf.GraphDef.FromString(frozen.SerializeToString())
    assert not {"VarHandleOp", "ReadVariableOp"} & {node.op for node in frozen.node}
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(frozen, name="")
        found = [session.run("out:0", {"x:0": np.ones(3), "flag:0": each}) for each in (True, False)]
        np.testing.assert_array_equal(found, expected)


def test_what_stands_for_an_older_op_has_its_name():
    definition = tf.GraphDef()
    definition.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
    definition.node.add(name="inverse", op="Inv", input=["x"]).attr["T"].type = 1
    for name in ("", "net"):
        tf.import_graph_def(definition, name=name)
    with tf.Session() as session:
        assert session.run(["inverse:0", "net/inverse:0"], {"x:0": 4.0, "net/x:0": 2.0}) == [0.25, 0.5]


def test_what_a_loop_or_branch_assigns_is_the_variable_itself():
    """TensorFlow's functions take no reference: they are written as Switch, Merge and Enter, and read as they were."""
    with tf.Graph().as_default() as graph:
        x, v = tf.placeholder(tf.float32, [], name="x"), tf.Variable(0.0, name="v")

        def body(i, s):
            with tf.control_dependencies([i]):  # an argument, which has no node of its own
                grown = tf.cond(tf.equal(i % 2, 0), lambda: tf.assign_add(v, s) * x, lambda: tf.constant(2.0) * s * s)
            return i + 1, grown + s

        y = tf.while_loop(lambda i, s: i < 4, body, [0, x])[1]
        names = [y.name, tf.gradients(y, x)[0].name]
        with tf.Session() as session:
            session.run(v.initializer)
            expected = [*session.run(names, {x: 0.7}), session.run(v)]
    written = graph.as_graph_def()
    assert {"RefEnter", "RefSwitch"} <= {node.op for node in written.node}
    expect_none([node.name for f in written.library.function for node in f.node_def if node.op == "AssignAdd"])
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(written, name="")
        session.run("v/Assign")
        assert [*session.run(names, {"x:0": 0.7}), session.run("v:0")] == pytest.approx(expected)
