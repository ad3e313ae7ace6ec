"""tf.train.Checkpoint: objects are saved by their places, and given back to objects of the same places."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.train.objects.object_graph import object_metadata
from autodiff.runtime.eager import eager_mode

K = tf.keras


class Net(K.Model):
    """Layers in attributes, also private ones and in a list, and a variable of its own in a dict."""

    def __init__(self) -> None:
        super().__init__()
        self._first = K.layers.Dense(2)
        self.rest = [K.layers.Dense(1, use_bias=False)]
        self.table = {"scale": tf.Variable(3.0, name="scale")}

    def call(self, x: Any) -> Any:
        return self.rest[0](self._first(x)) * self.table["scale"]


def net_and_optimizer() -> tuple[Net, Any, tf.train.Checkpoint]:
    net, optimizer = Net(), tf.train.AdamOptimizer(0.1)
    return net, optimizer, tf.train.Checkpoint(net=net, optimizer=optimizer)


def eager_step(net: Net, optimizer: Any) -> None:
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(net(tf.ones([4, 3])))
    variables = net.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))


END = "/.ATTRIBUTES/VARIABLE_VALUE"
PLACES = ["net/_first/kernel", "net/_first/bias", "net/rest/0/kernel", "net/table/scale"]


def test_what_is_saved_has_tensorflows_keys_and_message(tmp_path: Path) -> None:
    with eager_mode():
        net, optimizer, checkpoint = net_and_optimizer()
        eager_step(net, optimizer)
        path = checkpoint.save(tmp_path / "ck")
    assert path == str(tmp_path / "ck-1") == tf.train.latest_checkpoint(str(tmp_path))
    slots = [f"{place}/.OPTIMIZER_SLOT/optimizer/{slot}" for place in PLACES for slot in "mv"]
    keys = [*PLACES, *slots, "optimizer/beta1_power", "optimizer/beta2_power", "save_counter"]
    assert [name for name, _ in tf.train.list_variables(path)] == sorted(
        ["_CHECKPOINTABLE_OBJECT_GRAPH", *(key + END for key in keys)])
    nodes = object_metadata(path).nodes
    assert [child.local_name for child in nodes[0].children] == ["net", "optimizer", "save_counter"]
    assert "net/dense/kernel" in [each.full_name for node in nodes for each in node.attributes]


def test_variables_that_are_made_after_a_restore_get_their_values(tmp_path: Path) -> None:
    with eager_mode():
        net, optimizer, checkpoint = net_and_optimizer()
        eager_step(net, optimizer)
        path = checkpoint.save(tmp_path / "ck")
        fresh, other, checkpoint = net_and_optimizer()
        status = checkpoint.restore(path)
        with pytest.raises(AssertionError, match="Unresolved object in checkpoint"):
            status.assert_consumed()
        for file in tmp_path.glob("ck-1.*"):  # as a manager does, which keeps the latest ones
            file.unlink()
        fresh(tf.ones([1, 3]))
        for mine, theirs in zip(fresh.weights, net.weights):
            np.testing.assert_array_equal(mine.numpy(), theirs.numpy())
        before = optimizer.get_slot(net._first.kernel, "m").numpy()
        other.apply_gradients([(tf.zeros_like(v), v) for v in fresh.trainable_variables])
        np.testing.assert_allclose(other.get_slot(fresh._first.kernel, "m").numpy(), 0.9 * before, rtol=1e-6)
        assert status.assert_consumed() is status
        assert int(checkpoint.save_counter.numpy()) == 1


def test_a_graph_restores_in_a_session(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v, lone = tf.get_variable("v", initializer=[1.0, 2.0]), tf.Variable(5.0)
        session.run(tf.global_variables_initializer())
        path = tf.train.Checkpoint(part=[v]).save(tmp_path / "ck")
        session.run(v.assign([7.0, 8.0]))
        status = tf.train.Checkpoint(part=[v], lone=lone).restore(path)
        status.initialize_or_restore(session)
        assert session.run([v[0], lone]) == [1.0, 5.0]
        with pytest.raises(AssertionError, match="Object not assigned a value from checkpoint"):
            status.assert_existing_objects_matched()
        with pytest.raises(AssertionError, match="No checkpoint specified"):
            tf.train.Checkpoint(v=v).restore(None).run_restore_ops(session)


def test_checkpoints_of_names_and_of_objects_are_read_by_each_other(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=4.0)
        session.run(v.initializer)
        named = tf.train.Saver().save(session, str(tmp_path / "named"))
        placed = tf.train.Checkpoint(x=v).save(tmp_path / "placed")
        for restore in (lambda: tf.train.Checkpoint(x=v).restore(named).assert_consumed().run_restore_ops(session),
                        lambda: tf.train.Saver().restore(session, placed)):
            session.run(v.assign(0.0))
            restore()
            assert session.run(v) == 4.0


def test_attributes_of_modules_wait_too(tmp_path: Path) -> None:
    with eager_mode():
        root = tf.Module()
        root.v = tf.Variable(2.0)
        path = tf.train.Checkpoint(root=root).write(tmp_path / "ck")
        fresh = tf.Module()
        tf.train.Checkpoint(root=fresh).restore(path)
        fresh.v = tf.Variable(0.0)
        assert fresh.v.numpy() == 2.0


def test_a_manager_keeps_the_latest(tmp_path: Path) -> None:
    with eager_mode():
        checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        tmp_path /= "new"
        manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=2)
        paths = [manager.save() for _ in range(3)]
        assert manager.checkpoints == paths[1:]
        assert manager.latest_checkpoint == paths[2]
        assert [tf.train.checkpoint_exists(path) for path in paths] == [False, True, True]
        later = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=1, keep_checkpoint_every_n_hours=1e-9)
        assert later.checkpoints == paths[1:]
        last = later.save(checkpoint_number=9)
        assert last == str(tmp_path / "ckpt-9")
        assert tf.train.checkpoint_exists(paths[2])
        with pytest.raises(ValueError, match="positive integer"):
            tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=0)


def test_weights_of_models_are_written_by_place(tmp_path: Path) -> None:
    with eager_mode():
        model = K.Sequential([K.layers.Dense(2, input_shape=(3,))])
        model.save_weights(tmp_path / "w")
        assert ("layer_with_weights-0/kernel" + END, [3, 2]) in tf.train.list_variables(str(tmp_path / "w"))
        other = K.Sequential([K.layers.Dense(2)])
        other.load_weights(tmp_path / "w")
        other(tf.ones([1, 3]))
        np.testing.assert_array_equal(other.weights[0].numpy(), model.weights[0].numpy())


def test_variables_and_layers_in_attributes_of_a_layer_are_trained() -> None:
    class Scaled(K.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.scale, self.inner = tf.Variable(3.0), K.layers.Dense(2)
            self.kept = [tf.Variable(1.0, trainable=False)]

        def call(self, x: Any) -> Any:
            return self.inner(x) * self.scale

    with tf.Graph().as_default():
        layer = Scaled()
        layer(tf.ones([2, 3]))
        assert layer.trainable_variables == [layer.scale, layer.inner.kernel, layer.inner.bias]
        assert layer.non_trainable_variables == layer.kept


def test_variables_of_keras_layers_are_resources_in_a_scope_of_their_layers_name() -> None:
    class Own(K.layers.Layer):
        def build(self, input_shape: Any) -> None:
            self.w = self.add_weight("w", [3])

        def call(self, x: Any) -> Any:
            return x * self.w

    with tf.Graph().as_default():
        with tf.GradientTape() as tape:
            model = K.Sequential([Own(), K.layers.Dense(1), K.layers.Dense(1)])
            model(tf.ones([2, 3]))
        assert [v.op.name for v in tape.watched_variables()] == [
            "sequential/own/w", *(f"sequential/{dense}/{part}" for dense in ("dense", "dense_1")
                                  for part in ("kernel", "bias"))]
        model.add(K.layers.Dense(2))
        assert model(tf.ones([2, 3])).shape == [2, 2]
        assert Own.from_config(model.layers[0].get_config()).name == "own"
