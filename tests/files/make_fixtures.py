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


if __name__ == "__main__":
    import tensorflow

    (FOLDER / "old_checkpoint").mkdir(parents=True, exist_ok=True)
    for make in (checkpoint, old_checkpoint, events, records):
        make(tensorflow)
