"""TensorFlow's import names, and what scripts call around a model: flags, files, logs, digits, summaries, tests."""

import gzip
import struct
import sys
import unittest
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff import Summary, flags, mnist
from autodiff.tensorflow_names import alias


@pytest.fixture(autouse=True)
def _fresh() -> Any:
    tf.reset_default_graph()
    yield
    flags.FLAGS.forget()


# ---- import names -----------------------------------------------------------------------

@pytest.mark.parametrize("line", [
    "import tensorflow as tf; tf.nn.relu, tf.Session, tf.bool, tf.train.AdamOptimizer, tf.app.flags.FLAGS",
    "import tensorflow as tf; assert tf.__version__ == tf.VERSION == '1.15.5'",
    "import tensorflow.compat.v1 as tf; assert tf.__version__.startswith('1.')",
    "import tensorflow.compat.v1 as tf; tf.disable_v2_behavior(); tf.nn.relu",
    "import tensorflow.compat.v1.nn as nn; nn.relu",
    "from tensorflow.compat import v1 as tf; tf.placeholder",
    "import tensorflow as tf; tf.compat.v1.train.AdamOptimizer; tf.compat.v1.compat.v1",
    "from tensorflow.train import AdamOptimizer",
    "from tensorflow import float32, nn, train",
    "from tensorflow.examples.tutorials.mnist import input_data; input_data.read_data_sets",
    "import tensorflow.examples.tutorials.mnist.input_data as input_data; input_data.read_data_sets",
    "import tensorflow.examples.tutorials.mnist as mnist; mnist.input_data.read_data_sets",
    "from tensorflow.python.framework import ops; ops.reset_default_graph(); ops.RegisterGradient, ops.GraphKeys",
    "import tensorflow as tf; tf.python.framework.ops.reset_default_graph()",
    "from tensorflow.python.framework import dtypes, tensor_shape; dtypes.float32; tensor_shape.TensorShape",
    "from tensorflow.python.framework.errors import NotFoundError",
    "from tensorflow.python.ops import array_ops, math_ops, nn_ops; array_ops.concat; math_ops.tanh; nn_ops.softmax",
    "from tensorflow.python.ops import variable_scope as vs, init_ops; vs.get_variable; init_ops.constant_initializer",
    "from tensorflow.python.ops import gradients, rnn_cell; gradients.gradients; rnn_cell.GRUCell",
    "from tensorflow.python.ops.gradients_impl import _hessian_vector_product",
    "from tensorflow.python.ops.rnn_cell_impl import LSTMStateTuple",
    "from tensorflow.python.platform import app, flags, gfile, tf_logging; gfile.Exists, flags.FLAGS, tf_logging.info",
    "from tensorflow.python.util import nest; nest.flatten([1])",
    "from tensorflow.python.layers.core import Dense",
    "from tensorflow.python.layers import core as layers_core; layers_core.Dense",
    "from tensorflow.python.training import moving_averages; moving_averages.assign_moving_average",
    "from tensorflow.python import debug as tf_debug; tf_debug.GradientsDebugger",
    "from tensorflow.python.client import session; session.Session; session.register_session_run_conversion_functions",
    "from tensorflow.python.framework import ops; ops._default_graph_stack.reset(); ops.convert_n_to_tensor([1, 2])",
    "from tensorflow.python.framework import tensor_util; assert tensor_util.constant_value(7) == 7",
    "from tensorflow.python.framework.smart_cond import smart_cond; assert smart_cond(True, lambda: 1, lambda: 2) == 1",
    "from tensorflow.python.layers import utils; assert utils.normalize_tuple(2, 3, 'x') == (2, 2, 2)",
    "from tensorflow.python.ops import custom_gradient as m; m.custom_gradient, m.recompute_grad",
    "from tensorflow.python.ops import gen_math_ops; gen_math_ops.mat_mul([[1.0]], b=[[2.0]], transpose_a=True)",
    "from tensorflow.python.ops import math_ops as m; import tensorflow as tf; assert tf.Session().run(m."
    "sparse_segment_mean_with_num_segments([[1.0], [3.0]], indices=[0, 1], segment_ids=[0, 0], num_segments=2))[1]==0",
    "import tensorflow.python.ops.nn_grad; import tensorflow as tf; tf.raw_ops.Tanh(x=1.0)",
    "from tensorflow.python.ops.rnn_cell_impl import _zero_state_tensors; _zero_state_tensors([2, 3], 4, 'float32')",
    "from tensorflow.python.util import tf_inspect as i; assert i.getargspec(lambda a, b=1: a).defaults == (1,)",
    "from tensorflow.python.util import tf_decorator, deprecation; deprecation.deprecated(None, 'use new')(len)([])",
    "from tensorflow.python.platform import googletest as g, test; assert g.TestCase != test.TestCase",
    "from tensorflow.python.eager import context; assert not context.executing_eagerly()",
    "from tensorflow.python.framework import test_util; test_util.run_deprecated_v1(len)",
    "from tensorflow.python.ops import check_ops as c; c.assert_equal_v2([1], [1], 'message')",
    "from tensorflow.python.ops import nn_impl as n; assert n.moments_v2([[1.0]], [0], None, True)[0].shape == (1, 1)",
    "from tensorflow.python.ops import math_ops as m; m.mul(2, 3), m.floor_mod(2, 3), m.sub(2, 3)",
    "from tensorflow.python.ops import state_ops as s; s.variable_op_v2 if 0 else s.assign_add",
    "from tensorflow.python.ops.resource_variable_ops import var_handle_op; var_handle_op(dtype='int32', shape=[])",
    "from tensorflow.python.framework.dtypes import float32_ref; assert float32_ref.is_ref",
    "from tensorflow.python.framework import composite_tensor, device_spec; device_spec.DeviceSpecV2(job='ps')",
    "from tensorflow.python.util.compat import collections_abc; collections_abc.Mapping",
    "from google.protobuf import json_format",
    "from tensorflow.python.training import saver as s, tracking; s.BaseSaverBuilder.SaveableObject(None, [], 'x')",
    "from tensorflow.python.training import monitored_session as m; m._WrappedSession, m._HookedSession",
    "from tensorflow.python.training.checkpoint_management import meta_graph_filename as m; assert m('a') == 'a.meta'",
    "from tensorflow.python.framework.meta_graph import stripped_op_list_for_graph, export_scoped_meta_graph",
    "from tensorflow.python.eager import execution_callbacks as e; e.errstate(inf_or_nan=e.ExecutionCallback.RAISE)",
    "from tensorflow.compat import v2 as tf; tf.where([True], [1], [2])",
    "import tensorflow.estimator; from tensorflow import estimator; estimator.Estimator",
    "from tensorflow.python.framework.errors_impl import NotFoundError",
    "from six.moves import urllib, xrange, cPickle; assert list(xrange(2)) == [0, 1]; urllib.request, cPickle.dumps",
    "import six.moves.urllib.parse as p; assert p.quote(' ') == '%20'",
    "import tensorflow.compat.v2 as tf; assert tf.reduce_sum([1], 0, False, 'n').name == 'n:0'; tf.pad([1], [[1, 1]])",
    "import tensorflow.compat.v2 as tf; assert tf.ones_like(input=[1], dtype=tf.int32).shape == [1]; tf.norm([1.0])",
    "from tensorflow.python.util import tf_inspect; import tensorflow.compat.v2 as tf\n"
    "assert tf_inspect.getfullargspec(tf.size)[3] == (tf.int32, None)",
    "from tensorflow.python.ops import nn_grad; import tensorflow as tf; x = tf.nn.relu(tf.constant([1.0]))\n"
    "assert nn_grad._ReluGrad(x.op, x).op.type == 'ReluGrad'",
    "import tensorflow as tf; tf.enable_v2_tensorshape(); assert type(tf.ones([2]).shape[0]) is int",
    "from tensorflow.python.tpu import tpu_function, tpu_config; from tensorflow.python.tpu.ops import tpu_ops\n"
    "assert tpu_function.get_tpu_context().number_of_shards is None; tpu_config.TPUConfig",
    "from tensorflow.python.keras import backend; import tensorflow as tf; backend.track_variable(None)\n"
    "assert backend.get_value is tf.keras.backend.get_value and not tf.control_flow_v2_enabled()",
    "from tensorflow.python.framework import ops; import tensorflow as tf; v = tf.Variable([1.0], use_resource=True)\n"
    "assert ops.internal_convert_to_tensor(v, as_ref=True) is v.handle",
    "import tensorflow as tf; assert {'Relu', 'FusedBatchNorm'} <= set(dir(tf.raw_ops)); tf.raw_ops.FusedBatchNorm",
    "from tensorflow.python.ops import cond_v2; assert cond_v2.cond_v2(1 > 0 * __import__('tensorflow').ones([]), "
    "lambda: 1.0, lambda: 2.0, name='c').name == 'c/If:0'",
    "from tensorflow.python.ops import control_flow_ops as flow, control_flow_util as util\n"
    "true = flow.switch(1, True)[1]\n"
    "assert util.IsSwitch(true.op) and util.IsCondSwitch(true.op) and not util.IsLoopSwitch(true.op)\n"
    "assert not util.IsMerge(true.op) and not util.IsCondMerge(true.op) and not util.IsLoopMerge(true.op)",
    "from tensorflow.python.ops import control_flow_util as util, gen_control_flow_ops as flow\n"
    "op = flow.enter(1.0, 'f', is_constant=True).op\n"
    "assert util.IsLoopEnter(op) and not util.IsLoopExit(op)",
    "import six; assert list(six.iteritems({1: 2})) == [(1, 2)] and isinstance('', six.string_types) and six.PY3",
    "import six\nclass A(six.with_metaclass(type, int)): pass\nassert A.__mro__[1] is int",
    "import six; assert type(six.add_metaclass(type('M', (type,), {}))(type('A', (), {}))).__name__ == 'M'",
    "import six; assert (six.ensure_str(b'a'), six.ensure_binary('a'), six.int2byte(65)) == ('a', b'a', b'A')",
    "from tensorflow.keras.datasets import mnist; from tensorflow.keras.preprocessing.sequence import pad_sequences\n"
    "assert callable(mnist.load_data) and pad_sequences([[1, 2], [3]]).tolist() == [[1, 2], [0, 3]]",
    "from absl import app, flags, logging; import tensorflow as tf; app.run, logging.info; flags.DEFINE_list",
])
def test_import_names_resolve(line: str) -> None:
    with alias.standing_in(shadow=True):
        exec(line, {})


@pytest.mark.parametrize(("line", "text"), [
    ("import tensorflow.python.nonsense", "'tf.python.nonsense'"),
    ("import tensorflow.nonsense", "'tf.nonsense'"),
    ("import tensorflow.examples.image_retraining", "'tf.examples.image_retraining'"),
])
def test_import_names_that_are_not_supported_say_what_to_use(line: str, text: str) -> None:
    with alias.standing_in(shadow=True), pytest.raises(ModuleNotFoundError, match=text):
        exec(line, {})


def test_a_missing_name_is_refused_as_at_home() -> None:
    with alias.standing_in(shadow=True):
        import tensorflow
        with pytest.raises(tf.UnsupportedError, match=r"'tf.redce_mean'\ndid you mean 'reduce_mean'"):
            tensorflow.redce_mean  # noqa: B018
        with pytest.raises(tf.UnsupportedError, match=r"'tf.python.util.nothing'"):
            tensorflow.python.util.nothing  # noqa: B018


def test_modules_of_others_under_these_names_may_ask_for_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("python", "python.framework", "python.framework.ops"):
        module = ModuleType(f"tensorflow.{path}")
        monkeypatch.setitem(sys.modules, module.__name__, module)
    assert tf.python.framework.ops.reset_default_graph is tf.reset_default_graph


def test_all_is_as_before_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    real, child = ModuleType("tensorflow"), ModuleType("tensorflow.real")
    monkeypatch.setitem(sys.modules, "tensorflow", real)
    monkeypatch.setitem(sys.modules, "tensorflow.real", child)
    finders = list(sys.meta_path)
    with alias.standing_in(shadow=True):
        import tensorflow.compat.v1
        assert sys.modules["tensorflow"] is not real
        assert tensorflow.compat.v1.nn is tf.nn
    assert (sys.modules["tensorflow"], sys.modules["tensorflow.real"]) == (real, child)
    assert "tensorflow.compat.v1" not in sys.modules
    assert sys.meta_path == finders


def test_a_real_tensorflow_is_not_shadowed_unless_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "tensorflow.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(RuntimeError, match="a real TensorFlow is installed"), alias.standing_in():
        pass
    assert "tensorflow" not in sys.modules


# ---- digits -----------------------------------------------------------------------------

def test_digits_are_drawn_with_a_loud_notice(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    digits = mnist.read_data_sets(str(tmp_path), one_hot=True)
    assert "NOT MNIST" in capsys.readouterr().err
    assert [part.num_examples for part in digits] == [55000, 5000, 10000]
    assert digits.train.images.shape == (55000, 784)
    assert digits.train.images.dtype == np.float32
    assert 0 <= digits.train.images.min() < digits.train.images.max() <= 1
    assert digits.test.labels.shape == (10000, 10)
    assert digits.test.labels.sum(axis=1).tolist() == [1.0] * 10000


def test_drawn_digits_are_always_the_same_and_can_be_told_apart() -> None:
    images, labels = mnist.drawn_digits(2000, seed=1)
    again, _ = mnist.drawn_digits(2000, seed=1)
    np.testing.assert_array_equal(images, again)
    tests, wanted = mnist.drawn_digits(300, seed=2)
    flat, others = images.reshape(2000, -1).astype(float), tests.reshape(300, -1).astype(float)
    nearest = ((others ** 2).sum(1)[:, None] - 2 * others @ flat.T + (flat ** 2).sum(1)).argmin(1)
    assert 0.9 < (labels[nearest] == wanted).mean()


def test_batches_go_round_and_count_epochs() -> None:
    part = mnist.DataSet(np.arange(10, dtype=np.uint8).reshape(10, 1, 1, 1), np.arange(10), dtype=tf.uint8)
    seen = [part.next_batch(4, shuffle=False)[1].tolist() for _ in range(3)]
    assert seen == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 1]]
    assert part.epochs_completed == 1
    shuffled = mnist.DataSet(np.zeros((10, 1, 1, 1), np.uint8), np.arange(10), seed=3)
    assert sorted(np.concatenate([shuffled.next_batch(5)[1] for _ in range(2)])) == list(range(10))


def test_local_files_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, shape in zip(mnist.FILES, [(7, 2, 3), (7,), (4, 2, 3), (4,)]):
        data = struct.pack(f">BBBB{len(shape)}I", 0, 0, 8, len(shape), *shape) + bytes(range(int(np.prod(shape))))
        with gzip.open(tmp_path / (name + ".gz"), "wb") as file:
            file.write(data)
    found = mnist.read_data_sets(str(tmp_path), validation_size=2, reshape=False, dtype=tf.uint8)
    assert capsys.readouterr().err == ""
    assert found.train.images.shape == (5, 2, 3, 1)
    assert found.train.images[0].ravel().tolist() == list(range(12, 18))
    assert found.validation.labels.tolist() == [0, 1]
    (tmp_path / "bad").write_bytes(b"\0\0\x08\x01\0\0\0\x09abc")
    with pytest.raises(tf.errors.DataLossError, match="expected 9 bytes of data, found 3"):
        mnist.read_idx(str(tmp_path / "bad"))


def test_kerass_digits_and_padding_without_keras(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = {"x_train": np.zeros((2, 28, 28)), "y_train": [1, 2], "x_test": np.zeros((1, 28, 28)), "y_test": [3]}
    np.savez(tmp_path / "mnist.npz", **arrays)
    monkeypatch.chdir(tmp_path)
    (images, labels), (_, tests) = tf.keras.datasets.mnist.load_data()
    assert (images.shape, labels.tolist(), tests.tolist()) == ((2, 28, 28), [1, 2], [3])
    pad = tf.keras.preprocessing.sequence.pad_sequences
    assert pad([[1], [2, 3], [4, 5, 6]]).tolist() == [[0, 0, 1], [0, 2, 3], [4, 5, 6]]
    assert pad([[1], [4, 5, 6]], 2, padding="post", truncating="post", value=9).tolist() == [[1, 9], [4, 5]]
    assert pad([[4, 5, 6]], 2, dtype=np.float64).tolist() == [[5.0, 6.0]]


# ---- flags ------------------------------------------------------------------------------

def declared() -> Any:
    flags.DEFINE_string("name", "mnist", "the data")
    flags.DEFINE_integer("steps", 10, "how many")
    flags.DEFINE_float("rate", 0.5, "how fast")
    flags.DEFINE_boolean("train", True, "whether")
    return flags.FLAGS


@pytest.mark.parametrize(("words", "values", "left"), [
    ("", ("mnist", 10, 0.5, True), []),
    ("--steps=3 --rate 2 --notrain --name=x=y", ("x=y", 3, 2.0, False), []),
    ("-steps 0x10 --train=false pos --other=1 --odd", ("mnist", 16, 0.5, False), ["pos", "--other=1", "--odd"]),
    ("--train --rate=-1e-3 -- --steps=4", ("mnist", 10, -1e-3, True), ["--steps=4"]),
])
def test_flags_are_read_and_unknown_words_left(words: str, values: tuple, left: list[str]) -> None:
    found = declared()
    assert found(["prog", *words.split()]) == ["prog", *left]
    assert (found.name, found.steps, found.rate, found.train) == values


def test_flags_read_the_command_line_when_first_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["prog", "--steps=5", "--unknown", "1"])
    found = declared()
    assert found.steps == 5
    assert found.flag_values_dict() == {"name": "mnist", "steps": 5, "rate": 0.5, "train": True}
    assert sorted(vars(found)["__flags"]) == ["name", "rate", "steps", "train"]
    found.steps = 6
    assert found.steps == 6


def test_mistakes_in_flags_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    found = declared()
    with pytest.raises(flags.IllegalFlagValueError, match="--steps=many"):
        found(["prog", "--steps=many"])
    with pytest.raises(AttributeError, match="did you mean 'steps'"):
        found.step  # noqa: B018
    with pytest.raises(flags.DuplicateFlagError, match="'steps' is declared twice"):
        flags.DEFINE_integer("steps", 11, "how many")
    flags.DEFINE_string("data", None, "where")
    flags.mark_flag_as_required("data")
    with pytest.raises(flags.IllegalFlagValueError, match="--data must be given"):
        found(["prog"])
    flags.DEFINE_enum("size", "small", ["small", "large"])
    with pytest.raises(flags.IllegalFlagValueError, match="one of small, large"):
        found(["prog", "--size=huge", "--data=x"])


def test_app_run_calls_main_with_what_is_left() -> None:
    found, seen = declared(), []
    with pytest.raises(SystemExit) as ended:
        tf.app.run(lambda argv: seen.append((argv, found.steps)), ["prog", "--steps=2", "more"])
    assert seen == [(["prog", "more"], 2)]
    assert ended.value.code is None


# ---- files, logs, texts -----------------------------------------------------------------

def test_files_of_this_machine(tmp_path: Path) -> None:
    folder = str(tmp_path / "a" / "b")
    tf.gfile.MakeDirs(folder)
    tf.gfile.MakeDirs(folder)
    with tf.gfile.GFile(folder + "/x.txt", "w") as file:
        file.write("one\ntwo\n")
    with tf.gfile.FastGFile(folder + "/x.txt", "rb") as file:
        assert file.read() == b"one\ntwo\n"
    with tf.gfile.GFile(folder + "/x.txt") as lines:
        assert list(lines) == ["one\n", "two\n"]
    tf.gfile.Copy(folder + "/x.txt", folder + "/y.txt")
    with pytest.raises(tf.errors.AlreadyExistsError, match="overwrite=True"):
        tf.gfile.Copy(folder + "/x.txt", folder + "/y.txt")
    assert tf.gfile.ListDirectory(folder) == ["x.txt", "y.txt"]
    assert tf.gfile.Glob(folder + "/x*") == [folder + "/x.txt"]
    tf.gfile.Remove(folder + "/x.txt")
    tf.gfile.DeleteRecursively(str(tmp_path / "a"))
    assert not tf.gfile.Exists(folder)
    for act in (lambda: tf.gfile.GFile(folder).read(), lambda: tf.gfile.Remove(folder)):
        with pytest.raises(tf.errors.NotFoundError, match="No such file"):
            act()


def test_logging_goes_to_the_logger_of_that_name(caplog: pytest.LogCaptureFixture) -> None:
    tf.logging.info("not shown %d", 1)
    tf.logging.warn("shown %d", 2)
    for _ in range(5):
        tf.logging.log_every_n(tf.logging.ERROR, "each second", 2)
    assert caplog.messages == ["shown 2", *["each second"] * 3]


def test_texts_and_bytes() -> None:
    assert (tf.compat.as_bytes("ä"), tf.compat.as_text(b"\xc3\xa4"), tf.compat.as_str("x")) == (b"\xc3\xa4", "ä", "x")
    assert tf.compat.as_str_any(5) == "5"
    shape = tf.TensorShape([1, None])
    assert [tf.compat.dimension_value(d) for d in (shape[0], shape[1], 7)] == [1, None, 7]
    assert tf.compat.dimension_at_index(shape, 0).value == 1
    assert tf.errors.exception_type_from_error_code(5) is tf.errors.NotFoundError
    assert tf.errors.error_code_from_exception_type(tf.errors.NotFoundError) == 5
    assert tf.compat.v1 is tf
    with pytest.raises(TypeError, match="expected binary or unicode"):
        tf.compat.as_bytes(5)


# ---- summaries --------------------------------------------------------------------------

def test_summaries_run_and_hold_their_values() -> None:
    x = tf.placeholder(tf.float32, [3])
    with tf.name_scope("train"):
        tf.summary.scalar("loss", tf.reduce_sum(x))
    tf.summary.histogram("x values", x)
    tf.summary.image("pictures", tf.zeros([2, 4, 5, 3]))
    tf.summary.text("note", tf.constant("hello"))
    merged = tf.summary.merge_all()
    assert (merged.name, merged.dtype) == ("Merge/MergeSummary:0", tf.string)
    found = Summary.FromString(tf.Session().run(merged, {x: [1.0, -2.0, 4.0]}))
    assert [v.tag for v in found.value] == ["train/loss", "x_values", "pictures/image/0", "pictures/image/1", "note"]
    assert found.value[0].simple_value == 3.0
    histogram = found.value[1].histo
    assert (histogram.min, histogram.max, histogram.num, histogram.sum, histogram.sum_squares) == (-2, 4, 3, 3, 21)
    assert sum(histogram.bucket) == 3
    assert (found.value[2].image.height, found.value[2].image.width) == (4, 5)
    assert found.value[4].tensor.string_val == [b"hello"]


def test_summaries_need_what_they_show() -> None:
    merged = tf.summary.merge([tf.summary.scalar("x", tf.placeholder(tf.float32))])
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be fed"):
        tf.Session().run(merged)
    tf.reset_default_graph()
    assert tf.summary.merge_all() is None


def test_a_histogram_of_nan_fails() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="nan in summary histogram for: h"):
        tf.Session().run(tf.summary.histogram("h", tf.constant([1.0, np.nan])))


def test_a_message_has_protocol_buffers_bytes() -> None:
    """The bytes are those that TensorFlow 1.15 gives for the same message."""
    summary = tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)])
    assert summary.SerializeToString() == b"\n\x0b\n\x04loss\x15\x00\x00\x00?"
    summary.value.add(tag="more", simple_value=2)
    assert tf.Summary.FromString(summary.SerializeToString()) == summary
    assert summary.value[0].HasField("simple_value")
    assert not summary.value[0].HasField("histo")
    with pytest.raises(AttributeError, match="no attribute 'values'"):
        summary.values  # noqa: B018
    with pytest.raises(tf.errors.DataLossError):
        tf.Summary.FromString(b"\n\xff")


def test_a_writer_writes_what_it_takes(tmp_path: Path) -> None:
    with tf.summary.FileWriter(str(tmp_path / "logs"), tf.get_default_graph()) as writer:
        writer.add_summary(tf.Session().run(tf.summary.scalar("x", 1.0)), 3)
    assert writer.last[0] == 3
    path = next((tmp_path / "logs").iterdir())
    kinds = [event.WhichOneof("what") for event in tf.train.summary_iterator(str(path))]
    assert kinds == ["file_version", "graph_def", "meta_graph_def", "summary"]


# ---- graphs as data, test cases ---------------------------------------------------------

def test_a_graph_def_can_be_read_and_written_as_text(tmp_path: Path) -> None:
    x = tf.placeholder(tf.float32, name="x")
    u = tf.unstack(tf.zeros([2]), name="u")
    with tf.control_dependencies([x]):
        tf.identity(u[1], name="y")
    graph = tf.get_default_graph().as_graph_def()
    node = graph.node[-1]
    assert (node.name, node.op, node.input) == ("y", "Identity", ["u:1", "^x"])
    path = tf.train.write_graph(graph, str(tmp_path / "new"), "graph.pbtxt")
    assert Path(path).read_text() == str(graph)
    assert tf.GraphDef.FromString(graph.SerializeToString()) == graph


def test_a_test_case_passes_and_fails() -> None:
    class Sums(tf.test.TestCase):
        """A test case as scripts write it."""

        def test_right(self) -> None:
            with self.test_session() as session:
                x = tf.constant([1.0, 2.0])
                self.assertAllClose(x + 1, [2.0, 3.0])
                self.assertAllEqual(session.run(x), [1, 2])
                self.assertShapeEqual(np.zeros(2), x)
                self.assertLess(tf.test.compute_gradient_error(x, [2], tf.square(x), [2]), 1e-2)
                with self.assertRaisesOpError("must be fed"):
                    tf.placeholder(tf.float32).eval()

        def test_wrong(self) -> None:
            self.assertAllClose({"a": [1.0]}, {"a": [1.1]})

    result = unittest.TestResult()
    Sums("test_right").run(result)
    assert result.wasSuccessful(), result.failures + result.errors
    Sums("test_session").run(result)
    assert len(result.skipped) == 1
    Sums("test_wrong").run(result)
    assert len(result.failures) == 1
    assert not tf.test.is_gpu_available()


def test_whole_files_and_what_savers_and_hooks_find_by_themselves(tmp_path: Path) -> None:
    with alias.standing_in(shadow=True):
        from tensorflow.python.lib.io import file_io
        from tensorflow.python.training import monitored_session, training_util
    name = str(tmp_path / "a" / "x.txt")
    file_io.recursive_create_dir(str(tmp_path / "a"))
    file_io.atomic_write_string_to_file(name, "words")
    assert file_io.read_file_to_string(name, binary_mode=True) == b"words"
    with pytest.raises(tf.errors.AlreadyExistsError):
        file_io.atomic_write_string_to_file(name, "others", overwrite=False)
    tf.train.create_global_step()
    count = training_util._increment_global_step(2)
    saver = tf.train.Saver()
    again = tf.train.Saver(saver_def=saver.as_saver_def())
    hook = tf.train.CheckpointSaverHook(str(tmp_path), save_steps=4)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        hook.begin()
        with pytest.raises(RuntimeError, match="No items in collection SAVERS"):
            hook.after_create_session(session, None)
        tf.add_to_collection(tf.GraphKeys.SAVERS, again)
        hook.after_create_session(session, None)
        hooked = monitored_session._HookedSession(session, [hook])
        assert [int(hooked.run(count)) for _ in range(3)] == [2, 4, 6]
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-6")


def test_what_a_script_puts_in_the_place_of_a_name_holds_until_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    real = tf.logging.warning
    with alias.standing_in(shadow=True):
        from tensorflow.python.platform import tf_logging
        with monkeypatch.context() as patch:
            patch.setattr(tf_logging, "warning", print)
            assert tf.logging.warning is print
        assert tf.logging.warning is real
        tf_logging.warning = print
        assert tf.logging.warning is print
    assert tf.logging.warning is real


def test_import_star_gives_the_names_of_a_module() -> None:
    from autodiff.tensorflow_names.alias import module_named

    assert {"Input", "Dense", "LSTM", "concatenate"} <= {*module_named("tensorflow.keras.layers").__all__}
    assert "Adam" in module_named("tensorflow.keras.optimizers").__all__
    assert "np" not in module_named("tensorflow.keras.losses").__all__
