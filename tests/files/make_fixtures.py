"""Writes `fixtures`, once, by TensorFlow 1.15.5: `python make_fixtures.py` in an environment that has it."""

from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "fixtures"


def checkpoint(tf: Any) -> None:
    """One variable of each kind that a checkpoint stores in its own way, and Adam's slots of one of them."""
    with tf.Graph().as_default(), tf.Session() as session:
        w = tf.get_variable("w", initializer=np.arange(12, dtype=np.float32).reshape(3, 4) / 8)
        tf.get_variable("half", initializer=np.array([1.5, -2], np.float16))
        tf.get_variable("brain", initializer=tf.cast(tf.constant([1.5, -2.25, 3.14159]), tf.bfloat16))
        tf.get_variable("flag", initializer=np.array([True, False, True]))
        tf.get_variable("text", initializer=np.array([b"a", b"", b"h\xc3\xa9llo\x00"], object), dtype=tf.string)
        tf.get_variable("complex", initializer=np.array([1 + 2j], np.complex64))
        tf.get_variable("byte", initializer=np.array([200, 3], np.uint8))
        tf.get_variable("empty", initializer=np.zeros([0, 3], np.float32))
        tf.get_variable("resource", initializer=np.float64(2.5), use_resource=True)
        tf.get_variable("part", [7, 2], initializer=rows, partitioner=tf.fixed_size_partitioner(3))
        step = tf.train.get_or_create_global_step()
        train = tf.train.AdamOptimizer(0.25).minimize(tf.reduce_sum(w * w), step, var_list=[w])
        session.run(tf.global_variables_initializer())
        session.run(train)
        tf.train.Saver().save(session, str(FOLDER / "checkpoint" / "model"), step)


def old_checkpoint(tf: Any) -> None:
    """The version before, one file; TensorFlow 1.15 still writes it."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("w", initializer=np.arange(6, dtype=np.float32).reshape(2, 3))
        tf.get_variable("n", initializer=np.int64(9))
        tf.get_variable("flag", initializer=np.array([True, False]))
        tf.get_variable("text", initializer=np.array([b"a", b"bc"], object), dtype=tf.string)
        tf.get_variable("part", [7, 2], initializer=rows, partitioner=tf.fixed_size_partitioner(2))
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver(write_version=tf.train.SaverDef.V1)
        saver.save(session, str(FOLDER / "old_checkpoint" / "model.ckpt"), write_meta_graph=False)


def rows(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
    """0, 1, 2, … by rows, of which a part has its own."""
    begin = partition_info.var_offset[0]
    return np.arange(14, dtype=np.float32).reshape(7, 2)[begin:begin + shape[0]]


def events(tf: Any) -> None:
    """A summary of each kind, the graph, and the start of a session."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.summary.scalar("loss", tf.constant(0.5))
        tf.summary.histogram("weights", tf.constant([1.0, 2.0, 2.5]))
        tf.summary.image("picture", tf.constant(np.arange(12, dtype=np.uint8).reshape(1, 2, 2, 3)))
        tf.summary.text("note", tf.constant("hello"))
        writer = tf.summary.FileWriter(str(FOLDER / "events"), session.graph)
        writer.add_summary(session.run(tf.summary.merge_all()), 7)
        writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 7)
        writer.close()


def records(tf: Any) -> None:
    """Examples in a file that is plain, and in compressed ones; a sequence."""
    options = tf.io.TFRecordOptions
    for name, option in (("plain", None), ("gzip", options(compression_type="GZIP")),
                         ("zlib", options(compression_type="ZLIB"))):
        with tf.io.TFRecordWriter(str(FOLDER / f"{name}.tfrecord"), option) as writer:
            for i in range(3):
                writer.write(tf.train.Example(features=tf.train.Features(feature={
                    "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[bytes([i, 1, 2])])),
                    "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
                    "weights": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5] * i)),
                })).SerializeToString())


# ---- graphs: what is fed, and what TensorFlow computes, stand beside each in an archive -----

def loop(tf: Any) -> "tuple[dict, list]":
    """A loop, and its gradient with the stacks that it keeps."""
    x = tf.placeholder(tf.float32, [], name="x")
    _, a = tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a * x + 1.0), (0, tf.constant(1.0)))
    return {x: np.float32(1.5)}, [tf.identity(a, name="a"), tf.identity(tf.gradients(a, x)[0], name="dx")]


def branch(tf: Any) -> "tuple[dict, list]":
    """Two branches, one after the other, and the gradient through both."""
    x = tf.placeholder(tf.float32, [3], name="x")
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: x * x, lambda: x - 1.0, name="first")
    z = tf.cond(tf.reduce_sum(x) < 0, lambda: (tf.reduce_sum(x), y), lambda: (tf.reduce_max(x), y * 3), name="second")
    z = [tf.identity(t, name="z") for t in z]
    return {x: np.float32([1, 2, 3])}, [*z, tf.identity(tf.gradients(z[1], x)[0], name="dx")]


def nested(tf: Any) -> "tuple[dict, list]":
    """A branch and a loop inside of a loop."""
    x = tf.placeholder(tf.float32, [2], name="x")

    def body(i: Any, a: Any) -> Any:
        a = tf.cond(tf.equal(i % 2, 0), lambda: a * 2.0 + x, lambda: a - 1.0)
        return i + 1, tf.while_loop(lambda j, b: j < 2, lambda j, b: (j + 1, b + x), (0, a))[1]

    _, a = tf.while_loop(lambda i, a: i < 3, body, (0, x), name="outer")
    return {x: np.float32([1, 2])}, [tf.identity(a, name="a")]


def recurrent(tf: Any) -> "tuple[dict, list]":
    """dynamic_rnn with lengths: TensorArrays, a loop, and branches in it. Frozen."""
    x = tf.placeholder(tf.float32, [None, 3, 2], name="x")
    n = tf.placeholder(tf.int32, [None], name="n")
    out, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), x, n, dtype=tf.float32)
    feeds = {x: np.linspace(-1, 1, 12, dtype=np.float32).reshape(2, 3, 2), n: np.int32([2, 3])}
    return feeds, [tf.identity(out, name="out"), tf.identity(tf.reduce_sum(out * out), name="loss")]


def convolution(tf: Any) -> "tuple[dict, list]":
    """Layers, and the gradient down to the image, in training. Frozen."""
    x = tf.placeholder(tf.float32, [None, 6, 6, 1], name="x")
    h = tf.nn.relu(tf.layers.batch_normalization(tf.layers.conv2d(x, 2, 3), training=True, fused=True))
    h = tf.nn.lrn(tf.layers.max_pooling2d(h, 2, 2))
    y = tf.layers.dense(tf.layers.flatten(h), 2)
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(logits=y, labels=tf.one_hot([0, 1], 2)))
    feeds = {x: np.sin(np.arange(72, dtype=np.float32)).reshape(2, 6, 6, 1)}
    return feeds, [tf.identity(loss, name="loss"), tf.identity(tf.gradients(loss, x)[0], name="dx")]


def graphs(tf: Any) -> None:
    """Each graph, frozen, with what is fed and what it then gives."""
    (FOLDER / "graphs").mkdir(exist_ok=True)
    for make in (loop, branch, nested, recurrent, convolution):
        with tf.Graph().as_default() as graph, tf.Session() as session:
            tf.set_random_seed(3)
            feeds, fetches = make(tf)
            session.run(tf.global_variables_initializer())
            names = [t.op.name for t in fetches]
            frozen = tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), names)
            (FOLDER / "graphs" / f"{make.__name__}.pb").write_bytes(frozen.SerializeToString())
            np.savez(str(FOLDER / "graphs" / f"{make.__name__}.npz"),
                     **{f"feed_{t.op.name}": v for t, v in feeds.items()},
                     **dict(zip(names, session.run(fetches, feeds))))


def saved_model(tf: Any) -> None:
    """A model for serving."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.get_variable("w", initializer=np.float32([[1], [2]]))
        y = tf.add(tf.matmul(x, w), tf.get_variable("b", initializer=np.float32([0.5]), use_resource=True), name="y")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(FOLDER / "saved_model"), {"x": x}, {"y": y})


def dump(tf: Any) -> None:
    """A run that gives an infinity, as the debugger dumps it."""
    from tensorflow.python import debug

    with tf.Graph().as_default():
        session = tf.Session()
        x = tf.placeholder(tf.float32, [2], name="x")
        w = tf.get_variable("scope/w", initializer=np.float32([1, 0]))
        z = tf.reduce_sum(tf.log(x * w, name="y"), name="z")
        session.run(tf.global_variables_initializer())
        debug.DumpingDebugWrapperSession(session, str(FOLDER / "dump"), log_usage=False).run(z, {x: [1, 2]})


if __name__ == "__main__":
    import tensorflow

    (FOLDER / "old_checkpoint").mkdir(parents=True, exist_ok=True)
    for make in (checkpoint, old_checkpoint, events, records, graphs, saved_model, dump):
        make(tensorflow)
