"""SavedModels and frozen graphs: TensorFlow 1.15.5's are loaded, ours come back."""

from pathlib import Path

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.saved_model import builder as builder_module
from autodiff.api.saved_model import loader

pytestmark = pytest.mark.usefixtures("own_graph")
MODEL = str(Path(__file__).parents[1] / "files" / "fixtures" / "saved_model")
X = np.float32([[1, 2], [3, 4]])
Y = [[5.5], [11.5]]  # X @ [1, 2] + 0.5


def build() -> tuple[tf.Tensor, tf.Tensor]:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", initializer=np.float32([[1], [2]]))
    return x, tf.add(tf.matmul(x, w), tf.get_variable("b", initializer=np.float32([0.5]), use_resource=True), name="y")


@pytest.mark.parametrize("scope", [None, "deep"])
def test_a_model_of_tensorflows_is_supported(scope: str | None) -> None:
    assert tf.saved_model.contains_saved_model(MODEL)
    with tf.Session() as session:
        meta = tf.saved_model.load(session, ["serve"], MODEL, import_scope=scope)
        signature = meta.signature_def[tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY]
        x, y = (tf.saved_model.get_tensor_from_tensor_info(info, import_scope=scope)
                for info in (signature.inputs["x"], signature.outputs["y"]))
        assert session.run(y, {x: X}).tolist() == Y
        gradient = tf.gradients(y, tf.trainable_variables()[0])[0]
        assert session.run(gradient, {x: X}).tolist() == [[4], [6]]


def test_our_model_comes_back_with_assets_and_its_first_op(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("some words")
    x, y = build()
    ran = tf.get_variable("ran", initializer=np.float32(0.0))
    path = tf.constant(str(tmp_path / "words.txt"), name="path")
    first = tf.assign_add(ran, 1.0).op
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        builder = tf.saved_model.Builder(str(tmp_path / "model"))
        signature = tf.saved_model.predict_signature_def({"x": x}, {"y": y})
        assert tf.saved_model.is_valid_signature(signature)
        builder.add_meta_graph_and_variables(session, ["a", "b"], {"s": signature}, assets_collection=[path],
                                             main_op=first)
        builder.add_meta_graph(["other"])
        builder.save()
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        meta = tf.saved_model.loader.load(session, {"b", "a"}, str(tmp_path / "model"))
        assert session.run("y:0", {"x:0": X}).tolist() == Y
        assert session.run("ran:0") == 1
        assert meta.signature_def["s"].outputs["y"].name == "y:0"
    assert (tmp_path / "model" / "assets" / "words.txt").read_text() == "some words"
    with pytest.raises(RuntimeError, match="associated with tags serve could not be found"):
        tf.saved_model.load(tf.Session(), ["serve"], str(tmp_path / "model"))
    with pytest.raises(AssertionError, match="already exists, and isn't empty"):
        tf.saved_model.Builder(str(tmp_path / "model"))


def test_a_directory_without_a_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="SavedModel file does not exist at"):
        tf.saved_model.load(tf.Session(), ["serve"], str(tmp_path))
    (tmp_path / "saved_model.pb").write_bytes(b"\x00\x01\x02")
    with pytest.raises(tf.errors.DataLossError, match="neither SavedModel in binary nor in text"):
        tf.saved_model.load(tf.Session(), ["serve"], str(tmp_path))


def test_a_frozen_graph_needs_no_variables() -> None:
    build()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        frozen = tf.graph_util.convert_variables_to_constants(session, tf.get_default_graph().as_graph_def(), ["y"])
        kept = tf.graph_util.convert_variables_to_constants(session, tf.get_default_graph().as_graph_def(), ["y"],
                                                            variable_names_blacklist=["w"])
    assert {node.op for node in frozen.node} == {"Placeholder", "Const", "Identity", "MatMul", "Add"}
    assert "VariableV2" in {node.op for node in kept.node}
    smaller = tf.graph_util.remove_training_nodes(frozen)
    assert "Identity" not in {node.op for node in smaller.node}
    for graph_def in (frozen, smaller):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.import_graph_def(graph_def, name="")
            assert session.run("y:0", {"x:0": X}).tolist() == Y


def test_a_part_of_a_graph_is_what_its_nodes_need() -> None:
    build()
    graph_def = tf.get_default_graph().as_graph_def()
    assert [node.name for node in tf.graph_util.extract_sub_graph(graph_def, ["MatMul"]).node] == [
        "x", "w", "w/read", "MatMul"]
    with pytest.raises(ValueError, match="none is not in graph"):
        tf.graph_util.extract_sub_graph(graph_def, ["none"])
    with pytest.raises(TypeError, match="must be a list"):
        tf.graph_util.extract_sub_graph(graph_def, "y")


def test_a_loader_loads_in_steps_and_runs_what_comes_first(tmp_path: Path) -> None:
    for kind, option in ((builder_module._SavedModelBuilder, "init_op"), (tf.saved_model.Builder, "main_op")):
        folder = str(tmp_path / option)
        with tf.Graph().as_default(), tf.Session() as session:
            v = tf.Variable(3.0, name="v")
            tf.add_to_collection("mine", v)
            first = tf.group(tf.assign(v, 7.0))
            session.run(v.initializer)
            builder = kind(folder)
            builder.add_meta_graph_and_variables(session, ["a"], **{option: first})
            if option == "init_op":
                builder.add_meta_graph(["b"], train_op=tf.assign_add(v, 1.0))
            else:
                with pytest.raises(ValueError, match="Graph already contains one or more main ops"):
                    builder.add_meta_graph(["b"], main_op=first)
            builder.save()
        model = loader.SavedModelLoader(folder)
        with tf.Graph().as_default() as graph, tf.Session() as session:
            saver, found = model.load_graph(graph, ["a"], import_scope="below", return_elements=["v:0"])
            assert found[0] is graph.get_tensor_by_name("below/v:0")
            with pytest.raises(ValueError, match="Since there are variables in the graph, a saver is required"):
                model.restore_variables(session, None)
            model.restore_variables(session, saver)
            assert session.run(tf.get_collection("mine")[0]) == 3.0
            if option == "init_op":
                with pytest.raises(tf.errors.NotFoundError, match="could not be found in the graph"):
                    model.run_init_ops(session, ["a"])
            model.run_init_ops(session, ["a"], import_scope="below")
            assert session.run("below/v:0") == 7.0
            with pytest.raises(ValueError, match="not found in graph_def"):
                model.load_graph(graph, ["a"], return_elements=["none:0"])
    with tf.Graph().as_default(), tf.Session() as session:
        trains = loader.get_train_op(tf.saved_model.load(session, ["b"], str(tmp_path / "init_op")))
        assert session.run(trains) == 4.0


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    paths = []
    for folder, text in (("1", "one"), ("2", "two"), ("3", "one")):
        (tmp_path / folder).mkdir()
        paths.append(tmp_path / folder / "words.txt")
        paths[-1].write_text(text)
    with tf.Graph().as_default(), tf.Session() as session:
        builder = tf.saved_model.Builder(str(tmp_path / "model"))
        files = [tf.constant(str(path)) for path in paths]
        builder.add_meta_graph_and_variables(session, ["a"], assets_collection=files)
        builder.save()
    with tf.Graph().as_default(), tf.Session() as session:
        meta = tf.saved_model.load(session, ["a"], str(tmp_path / "model"))
    assert [asset.filename for asset in meta.asset_file_def] == ["words.txt", "words.txt_1", "words.txt"]
    assert sorted(path.name for path in (tmp_path / "model" / "assets").iterdir()) == ["words.txt", "words.txt_1"]
    packed, asset = meta.collection_def["saved_model_assets"].any_list.value[1], type(meta.asset_file_def[0])()
    assert packed.Unpack(asset) and asset.filename == "words.txt_1"
    assert not packed.Unpack(type(meta)())


def test_signatures_are_checked(tmp_path: Path) -> None:
    utils = tf.saved_model.signature_def_utils
    x, text = tf.placeholder(tf.float32, name="x"), tf.constant("", name="text")
    info = tf.saved_model.build_tensor_info
    trained = utils.supervised_train_signature_def({"x": x}, {"loss": x}, metrics={"m": x})
    assert trained.method_name == "tensorflow/supervised/training" and sorted(trained.outputs) == ["loss", "m"]
    with pytest.raises(ValueError, match="inputs cannot be None or empty"):
        utils.supervised_eval_signature_def({}, {"loss": x})
    method = "tensorflow/serving/regress"
    assert utils.is_valid_signature(utils.build_signature_def({"inputs": info(text)}, {"outputs": info(x)}, method))
    for inputs, outputs in (({"in": info(text)}, {"outputs": info(x)}), ({"inputs": info(x)}, {"outputs": info(x)}),
                            ({"inputs": info(text)}, {"outputs": info(text)}), ({"inputs": info(text)}, {})):
        assert not utils.is_valid_signature(utils.build_signature_def(inputs, outputs, method))
    assert utils.load_op_from_signature_def(utils.op_signature_def(x.op, "key"), "key") is x.op
    nameless = utils.build_signature_def({"x": type(info(x))(dtype=1)})
    with tf.Session() as session:
        builder = tf.saved_model.Builder(str(tmp_path / "model"))
        with pytest.raises(AssertionError, match="must have the name and dtype fields set|fields set"):
            builder.add_meta_graph_and_variables(session, ["a"], {"key": nameless})
        with pytest.raises(KeyError, match="is reserved for internal use"):
            builder.add_meta_graph_and_variables(session, ["a"], {"__saved_model_init_op": trained})
        with pytest.raises(AssertionError, match="has not been saved yet"):
            builder.add_meta_graph(["a"])
