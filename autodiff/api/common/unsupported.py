"""The error for a TensorFlow name that is not supported, and the advice what to use instead."""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

from ...core.errors import UnsupportedError
from ...core.names import did_you_mean

# Name below `tf.`, which stands for all that go on after it with a dot or underscore -> what to do; the longest counts.
ADVICE = {
    "distribute": "there is one CPU: tf.distribute.Strategy is the one of this machine",
    "contrib.learn": "write the loop out in a tf.Session; MNIST is tensorflow.examples.tutorials.mnist.input_data",
    "contrib.slim": "use tf.layers, or tf.contrib.layers, with tf.contrib.framework.arg_scope",
    "contrib.seq2seq": "attention is Luong's and Bahdanau's; a decoder of your own is a tf.contrib.seq2seq.Decoder",
    "contrib.legacy_seq2seq": "decode with embedding_rnn_decoder or rnn_decoder, over one table and encoder",
    "contrib.distributions": "tf.distributions has the univariate ones; put others together with its bijectors",
    "contrib.image": "images are turned, moved and transformed here: do the rest with NumPy before feeding",
    "contrib.opt": "tf.train's optimizers are supported, and kinds of Adam and SciPy's minimizers here",
    "contrib.cudnn_rnn": "there is no GPU: use tf.nn.rnn_cell with tf.nn.dynamic_rnn",
    "contrib": "look for the name in tf, tf.nn, tf.layers or tf.train",
    "distributions": "write other densities out of tf ops",
    "sparse": "make it dense with tf.sparse_tensor_to_dense, or work on sparse.indices and sparse.values",
    "strings": "work on strings in Python before feeding",
    "train.SyncReplicasOptimizer": "there is one worker: use the optimizer itself",
    "parse": "read the records in Python and feed NumPy arrays",
    "decode": "decode in Python before feeding", "image": "prepare images with NumPy before feeding",
    "profiler": "the prompt's `profile` command times each op of a run",
    "lite": "gradbg only runs and explains graphs", "quantize": "gradbg computes in floating point",
    "fake_quant": "gradbg computes in floating point",
    "signal": "Fourier and cosine transforms, frames, windows and mel weights are supported: build others of them",
    "debugging": "the checks are there under their own names: tf.assert_equal, tf.check_numerics, tf.Assert",
    "compat.v2": "gradbg speaks TensorFlow 1: use tf.compat.v1, which is tf itself",
    "raw_ops": "use the function of the public name",
    "load_op_library": "declare the function with tf.py_func or tf.custom_gradient",
    "app": "tf.app.run and tf.app.flags are supported",
    "python": "import the public name in its place, of tf, tf.nn, tf.keras or tf.train"}

# Names that TensorFlow 1.0 took away -> what they are since.
RENAMED = dict(pair.split("=") for pair in (
    "audio_summary=summary.audio histogram_summary=summary.histogram image_summary=summary.image "
    "merge_all_summaries=summary.merge_all merge_summary=summary.merge scalar_summary=summary.scalar "
    "train.SummaryWriter=summary.FileWriter batch_cholesky=cholesky batch_matmul=matmul batch_matrix_inverse="
    "matrix_inverse complex_abs=abs inv=reciprocal listdiff=setdiff1d mul=multiply neg=negative pack=stack "
    "select=where sub=subtract unpack=unstack nn.rnn=nn.static_rnn nn.bidirectional_rnn=nn.static_bidirectional_rnn "
    "nn.seq2seq=contrib.legacy_seq2seq").split())


def advice(name: str) -> str:
    """The advice for a name below `tf.`; empty if there is none."""
    fitting = [key for key in ADVICE if name == key or name.startswith((key + ".", key + "_"))]
    return ADVICE[max(fitting, key=len)] if fitting else ""


def unsupported_name(room: str, name: str, available: Iterable[str]) -> UnsupportedError:
    """The error for a name that is not supported. room: `tf` or `tf.nn`; available: the names that are there."""
    full = f"{room}.{name}"
    below = full.removeprefix("tf.")
    if below in RENAMED:
        module = "tensorflow" + room.removeprefix("tf").replace(".", "._api.v1.", 1)
        return UnsupportedError(f"module {module!r} has no attribute {name!r}",
                                hint=f"it is tf.{RENAMED[below]} since TensorFlow 1.0")
    public = [n for n in available if not n.startswith("_")]
    near = did_you_mean(name, public, likeness=0.7)
    return UnsupportedError("\n".join(line for line in (
        f"gradbg does not support the TensorFlow name {full!r}", near, advice(below)) if line))


def refusing(room: str, module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module that stands for `room`: each name that is missing is refused in one way."""

    def refuse(name: str) -> Any:
        if name.startswith("__"):  # what Python itself looks for
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        raise unsupported_name(room, name, vars(sys.modules[module]))

    return refuse
