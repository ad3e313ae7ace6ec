"""MetaGraphDefs: TensorFlow 1.15.5's models go on here, and ours come back with variables, collections and Saver."""

from pathlib import Path

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.saved_graphs.scoped import (
    create_meta_graph_def,
    export_scoped_meta_graph,
    import_scoped_meta_graph,
)

pytestmark = pytest.mark.usefixtures("own_graph")
MODEL = str(Path(__file__).parents[1] / "files" / "fixtures" / "checkpoint" / "model-1")
W = np.arange(12, dtype=np.float32).reshape(3, 4) / 8


@pytest.mark.parametrize("scope", ["", "deep/"])
def test_a_model_of_tensorflows_is_restored_and_trained(scope: str) -> None:
    saver = tf.train.import_meta_graph(MODEL + ".meta", import_scope=scope.rstrip("/") or None)
    names = [v.name for v in tf.global_variables()]
    assert f"{scope}w:0" in names and f"{scope}resource:0" in names and f"{scope}part/part_2:0" in names
    assert tf.global_variables()[0] in tf.trainable_variables()
    session = tf.Session()
    saver.restore(session, MODEL)
    np.testing.assert_allclose(session.run(f"{scope}w:0"), W - 0.25 * np.sign(W), rtol=1e-4, atol=1e-6)
    assert session.run(f"{scope}part/part_1:0").tolist() == [[6, 7], [8, 9]]
    assert session.run(f"{scope}resource/Read/ReadVariableOp:0") == 2.5
    session.run(tf.get_collection("train_op")[0])
    assert session.run(f"{scope}global_step:0") == 2


def build() -> tuple[tf.Tensor, tf.Operation]:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", initializer=np.float32([[1.0], [2.0], [3.0]]))
    b = tf.get_variable("b", initializer=np.float32([0.5]), use_resource=True)
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b), name="loss")
    train = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step(), name="train")
    tf.add_to_collection("fetches", loss)
    tf.add_to_collection("texts", "some words")
    tf.add_to_collection("numbers", 3)
    return loss, train


@pytest.mark.parametrize("as_text", [False, True])
def test_our_model_comes_back_whole_and_trains_alike(tmp_path: Path, as_text: bool) -> None:
    feeds = {"x:0": np.float32([[1, 2, 3], [4, 5, 6]])}
    with tf.Graph().as_default(), tf.Session() as session:
        build()
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver()
        path = saver.save(session, str(tmp_path / "m"))
        if as_text:
            saver.export_meta_graph(path + ".meta", as_text=True)
        losses = [session.run(["loss:0", "train"], feeds)[0] for _ in range(3)]
    saver = tf.train.import_meta_graph(path + ".meta")
    assert tf.get_collection("fetches")[0].name == "loss:0"
    assert (tf.get_collection("texts"), tf.get_collection("numbers")) == ([b"some words"], [3])
    assert [v.name for v in tf.trainable_variables()] == ["w:0", "b:0"]
    with tf.Session() as session:
        saver.restore(session, path)
        assert [session.run(["loss:0", "train"], feeds)[0] for _ in range(3)] == losses
        again = saver.save(session, str(tmp_path / "again"), write_meta_graph=False)
        assert tf.train.load_variable(again, "global_step") == 3
        gradient = tf.gradients(tf.get_collection("fetches")[0], tf.trainable_variables()[0])[0]
        assert session.run(gradient, feeds).shape == (3, 1)


def test_the_graph_is_the_sessions_and_as_it_is_now(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        build()
        saver, session = tf.train.Saver(), tf.Session()
        session.run(tf.global_variables_initializer())
    for extra in ("one", "two"):
        with graph.as_default():
            tf.constant(1.0, name=extra)
        path = saver.save(session, str(tmp_path / extra))
        nodes = {node.name for node in tf.MetaGraphDef.FromString(Path(path + ".meta").read_bytes()).graph_def.node}
        assert {"loss", "w", extra} <= nodes


def test_what_tensorflow_does_not_have_is_written_as_what_it_has() -> None:
    """The gradient of a broadcast sum, of a lookup and of a maximum: ops of our own, made of TensorFlow's."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    b, e = tf.get_variable("b", [3]), tf.get_variable("e", [5, 3])
    rows = tf.nn.embedding_lookup(e, tf.constant([1, 3, 1]))
    y = tf.reduce_sum(tf.maximum(x + b, 0.0) * rows) + tf.reduce_sum(tf.reduce_max(x * x, 1)) + tf.reduce_prod(b)
    found = tf.gradients(y, [x, b])
    dense = tf.identity(tf.convert_to_tensor(tf.gradients(y, e)[0]), name="de")
    graph_def = tf.get_default_graph().as_graph_def()
    assert not {"SumTo", "KeepWhere", "KeptShape", "GatherOrZero", "LogOrZero"} & {node.op for node in graph_def.node}
    fetches = [t.name for t in (*found, dense)]
    feeds = {"x:0": np.float32([[1, -2, 3], [4, 5, -6], [0.5, 1, 2]])}
    init = "init"
    tf.group(tf.global_variables_initializer(), name=init)
    values = {v.name: np.linspace(-1, 1, v.shape.num_elements(), dtype=np.float32).reshape(v.shape.as_list())
              for v in tf.global_variables()}
    with tf.Session() as session:
        for variable in tf.global_variables():
            variable.load(values[variable.name], session)
        expected = session.run(fetches, feeds)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.import_graph_def(tf.GraphDef.FromString(graph_def.SerializeToString()), name="")
        for name, value in values.items():
            assign = graph.get_operation_by_name(f"{name[:-2]}/Assign")
            session.run(assign, {assign.inputs[1]: value})
        for a, b in zip(session.run(fetches, feeds), expected):
            np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize(("data", "text"), [
    (b"\x00\x01garbage", "neither MetaGraphDef in binary nor in text"), (b"node { nothing: 3 }", "expected a field of"),
    (b"", "found one without a graph")])
def test_a_file_that_is_no_meta_graph_is_refused(data: bytes, text: str, tmp_path: Path) -> None:
    (tmp_path / "x.meta").write_bytes(data)
    with pytest.raises(tf.errors.DataLossError, match=text):
        tf.train.import_meta_graph(str(tmp_path / "x.meta"))


def test_graphs_are_written_binary_and_as_text(tmp_path: Path) -> None:
    build()
    graph_def = tf.get_default_graph().as_graph_def()
    path = tf.train.write_graph(tf.get_default_graph(), str(tmp_path / "new"), "g.pb", as_text=False)
    assert tf.GraphDef.FromString(Path(path).read_bytes()) == graph_def
    path = tf.train.write_graph(graph_def, str(tmp_path), "g.pbtxt")
    assert Path(path).read_text() == str(graph_def)


def test_a_part_of_a_graph_is_put_below_another_scope() -> None:
    x = tf.constant([[1.0, 2.0]], name="x")
    with tf.name_scope("layer"):
        w = tf.Variable([[1.0], [1.0]], name="w")
        tf.add_to_collection("outputs", tf.matmul(x, w, name="y"))
    meta, found = export_scoped_meta_graph(export_scope="layer", strip_default_attrs=True)
    assert found == {"w:0": w} and "transpose_a" not in {node.name: node for node in meta.graph_def.node}["y"].attr
    assert [op.name for op in meta.meta_info_def.stripped_op_list.op][-1] == "VariableV2"
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(ValueError, match=r"Graph contains unbound inputs: \$unbound_inputs_x\."):
            import_scoped_meta_graph(meta, import_scope="new")
        other = tf.constant([[10.0, 20.0]])
        found = import_scoped_meta_graph(meta, import_scope="new", input_map={"$unbound_inputs_x": other},
                                         restore_collections_predicate=lambda key: key != "trainable_variables")
        assert found["w:0"].name == "new/w:0" and not tf.trainable_variables()
        session.run(found["w:0"].initializer)
        assert session.run(tf.get_collection("outputs")[0]) == 30.0


def test_what_an_op_is() -> None:
    op_def = tf.reshape(tf.constant([1.0]), [1]).op.op_def
    assert [each.name for each in op_def.input_arg] == ["tensor", "shape"] and op_def.output_arg[0].type_attr == "T"
    assert {each.name: each.default_value.type for each in op_def.attr}["Tshape"] == tf.int32.as_datatype_enum


def test_a_collection_of_a_librarys_own_objects_is_written_by_its_functions() -> None:
    from autodiff.api.saved_graphs.meta_graph import PROTO_FUNCTIONS
    from autodiff.tensorflow_names.python.framework_ops import register_proto_function

    register_proto_function("mine", tf.Summary, to_proto=lambda word, export_scope: tf.Summary(value=[{"tag": word}]),
                            from_proto=lambda message, import_scope: message.value[0].tag)
    tf.add_to_collection("mine", "a word")
    written = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(written)
        assert graph.get_collection("mine") == ["a word"]
    del PROTO_FUNCTIONS["mine"]


@pytest.mark.parametrize("kind", ["V2", ""])  # "": as TensorFlow before 1.0 wrote them
def test_queues_are_stored_as_tensorflows_ops(kind: str, tmp_path: Path) -> None:
    queue = tf.PaddingFIFOQueue(9, [tf.float32, tf.int32], [[None], []], name="queue")
    fill = queue.enqueue_many([[[1.0, 2.0], [3.0, 4.0]], [1, 2]], name="fill")
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [fill]))
    sums = tf.reduce_sum(queue.dequeue_many(2, name="two")[0], name="sum")
    queue.size(name="size"), queue.dequeue_up_to(3), queue.is_closed(), queue.dequeue(), queue.enqueue(([1.0], 1))
    meta = tf.train.export_meta_graph(str(tmp_path / "a.meta"))
    types = {node.name: (node.op, list(node.input)) for node in meta.graph_def.node}
    assert types["two"] == ("QueueDequeueManyV2", ["queue", "two/n"]) and sums.op.inputs[0].op.name == "two"
    assert types["fill"] == ("QueueEnqueueManyV2", ["queue", "fill/component_0", "fill/component_1"])
    assert types["queue_Dequeue"][0] == "QueueDequeueV2" and types["queue_enqueue"][0] == "QueueEnqueueV2"
    assert types["queue_Close_1"] == ("QueueCloseV2", ["queue"]) and types["size"][0] == "QueueSizeV2"
    for node in meta.graph_def.node:
        if "Queue" in node.op:
            node.op = node.op.removesuffix("V2") + kind
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(meta)
        (runner,) = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
        session.run(runner.enqueue_ops), session.run(runner.enqueue_ops)
        assert session.run("sum:0") == 10 and session.run("queue_Dequeue:1") == 1 and session.run("size:0") == 1
        session.run(runner.close_op)
        assert session.run("queue_Is_Closed:0")


def test_a_node_may_be_called_as_a_scope_was() -> None:
    with tf.name_scope("scope"):
        pass
    definition = tf.GraphDef()
    for name in ("scope", "other"):
        definition.node.add(name=name, op="NoOp")
    found = tf.import_graph_def(definition, name="", return_elements=["scope", "other"])
    assert [op.name for op in found] == ["scope", "other"]
    with tf.name_scope("full"):
        tf.no_op()
    definition.node[0].name = "full"
    assert tf.import_graph_def(definition, name="", return_elements=["full"])[0].name == "full_1"
    made = create_meta_graph_def(tf.MetaGraphDef.MetaInfoDef(meta_graph_version="3"))
    assert made.meta_info_def.meta_graph_version == "3" and len(made.graph_def.node) == 5


def test_numbers_that_stand_for_others_are_tuples_of_one() -> None:
    proto = tf.make_tensor_proto([(21,), (-2,)], tf.qint32)
    assert proto.dtype == tf.qint32.as_datatype_enum and tf.make_ndarray(proto).tolist() == [21, -2]
    for value in (3, [3]):
        with pytest.raises(TypeError, match="Expected qint8, got 3 of type 'int' instead"):
            tf.make_tensor_proto(value, tf.qint8)
    assert tf.SparseTensorSpec([5, None])._flat_tensor_specs == [tf.TensorSpec(None, tf.variant)]


def test_attributes_as_every_op_has_them_are_left_out_of_what_a_saver_writes(tmp_path: Path) -> None:
    v = tf.Variable([1.0], name="v")
    tf.complex(v, v, name="pair")
    with tf.Session() as session:
        session.run(v.initializer)
        for strip in (False, True, False):
            path = tf.train.Saver().save(session, str(tmp_path / "model"), strip_default_attrs=strip)
            meta = tf.MetaGraphDef.FromString(Path(f"{path}.meta").read_bytes())
            pair = next(node for node in meta.graph_def.node if node.name == "pair")
            assert ("Tout" not in pair.attr) == strip == meta.meta_info_def.stripped_default_attrs
            assert "Complex" in [each.name for each in meta.meta_info_def.stripped_op_list.op]
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(tf.train.export_meta_graph(graph=v.graph, strip_default_attrs=True))
        session.run("v/Assign")
        assert session.run("pair:0").tolist() == [1 + 1j]
