"""Errors begin with TensorFlow's sentence, which scripts and tests match; ours follows."""

from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.runtime.eager import eager_mode


@pytest.fixture(autouse=True)
def _fresh() -> None:
    tf.reset_default_graph()


def ones(*shape: int) -> Any:
    return tf.ones(shape)


def in_scope(name: str, build: Any) -> Any:
    with tf.name_scope(name):
        return build()


def free(dtype: Any = tf.float32) -> Any:
    return tf.placeholder_with_default(np.ones((2, 3), dtype.as_numpy_dtype), None)


BUILT = [  # (error class, TensorFlow's words, what is built)
    (ValueError, r"axis 0 specified more than once", lambda: tf.reverse(ones(2, 3), [0, -2])),
    (ValueError, r"should be a \(batch\) matrix", lambda: tf.matrix_transpose(ones(2))),
    (ValueError, r"Dimensions must be equal, but are 3 and 2 for 'add' \(op: 'AddV2'\) with input shapes: \[3\], \[2\]",
     lambda: ones(3) + ones(2)),
    (ValueError, r"caused by subtracting 3 from 2 for 'c/max_pool' \(op: 'MaxPool'\) with input shapes: \[1,2,2,1\]\.",
     lambda: in_scope("c", lambda: tf.nn.max_pool(ones(1, 2, 2, 1), 3, 1, "VALID", name="max_pool"))),
    (ValueError, r"'image' \(shape \(2, 2\)\) must be at least three-dim", lambda: tf.image.flip_up_down(ones(2, 2))),
    (ValueError, r"Dimensions must be equal, but are 3 and 2", lambda: tf.matmul(ones(1, 3), ones(2, 2))),
    (ValueError, r"Can not squeeze dim\[1\], expected a dimension of 1, got 3", lambda: tf.squeeze(ones(2, 3), [1])),
    (ValueError, r"Cannot reshape a tensor with 6 elements to shape \[4\]", lambda: tf.reshape(ones(2, 3), [4])),
    (TypeError, "tensor_dtype is .*int32.*, but input is of type float32", lambda: tf.accumulate_n(
        [ones(2)], tensor_dtype=tf.int32)),
    (ValueError, r"must be evenly divisible by 4", lambda: tf.reshape(ones(2, 3), [4, -1])),
    (ValueError, r"Shapes must be equal rank, but are 1 and 2", lambda: tf.add_n([ones(2), ones(2, 2)])),
    (ValueError, r"Dimension 0 in both shapes must be equal, but are 2 and 3", lambda: tf.add_n([ones(2), ones(3)])),
    (ValueError, r"Can't concatenate scalars \(use tf\.stack instead\)", lambda: tf.concat([1.0, 2.0], 0)),
    (ValueError, r"Shape must be at least rank 2 but is rank 1", lambda: tf.gather(ones(2), 0, axis=1)),
    (ValueError, r"Cannot bitcast due to shape", lambda: tf.bitcast(tf.zeros([1, 1], tf.int8), tf.int32)),
    (ValueError, r"seq_dim must be < input rank", lambda: tf.reverse_sequence(ones(2, 3), [1, 1], 2)),
    (ValueError, r"^num_split is required", lambda: tf.sparse_split(sp_input=tf.SparseTensor([[0]], [1], [2]), axis=0)),
    (ValueError, r"Argument must be a dense tensor", lambda: tf.constant([[1, 2], [3]])),
    (tf.errors.UnimplementedError, r"exactly one of pooling across depth", lambda: tf.nn.max_pool(
        ones(1, 2, 2, 4), [1, 2, 2, 2], [1, 1, 1, 2], "SAME")),
    (TypeError, r"'DynamicStitch' Op have types \['float32', 'float64'\] that don't all match",
     lambda: tf.dynamic_stitch([[0], [1]], [ones(1), tf.ones([1], tf.float64)])),
    (ValueError, r"mask cannot be scalar", lambda: tf.boolean_mask(ones(2), True)),
    (ValueError, r"Unknown padding mode: WEIRD", lambda: tf.pad(ones(2), [[1, 1]], "WEIRD")),
    (ValueError, r"Paddings must be non-negative", lambda: tf.pad(ones(2), [[-1, 1]])),
    (ValueError, r"must be at most rank 1", lambda: tf.reduce_sum(ones(2, 3), [[0], [1]])),
    (ValueError, r"Negative dimension size caused by", lambda: tf.nn.max_pool(ones(1, 2, 2, 1), [1, 3, 3, 1], [1] * 4,
                                                                             "VALID")),
    (ValueError, r"'ord' must be a supported vector norm", lambda: tf.norm(ones(2), "fro")),
    (ValueError, r"Rank mismatch: Rank of labels",
     lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[1]], logits=[[1.0, 2.0]])),
    (ValueError, r"The outer 1 dimensions of indices.shape=\[1,1\] must match",
     lambda: tf.scatter_nd([[0]], ones(2, 2), [3, 2])),
    (ValueError, r"must have rank at least 2\. Received rank 1", lambda: tf.assert_rank_at_least(ones(2), 2)),
    (ValueError, r"enters the loop with shape \(1,\), but has shape \(2,\) after one iteration",
     lambda: tf.while_loop(lambda x: True, lambda x: tf.concat([x, [1.0]], 0), [ones(1)])),
    (TypeError, r"Input 'y' of 'AddV2' Op has type int32 that does not match type float32 of argument 'x'",
     lambda: tf.constant(1.0) + tf.constant(1)),
    (TypeError, r"^Input 'y' of 'AddV2' Op has type float32 that does not match type int32 of argument 'x'\. "
     r"Expected int32, got 1.5 of type 'float' instead\.", lambda: tf.constant([1], tf.int32) + [[1, 1.5]]),
    (TypeError, r"^Expected int32, got 4.5 of type 'float' instead\.", lambda: tf.constant([1, 4.5], tf.int32)),
    (ValueError, r"^No variables to save", lambda: tf.train.Saver([])),
    (ValueError, r"^Depth of input \(2\) is not a multiple of input depth of filter \(3\)",
     lambda: tf.nn.conv2d(ones(1, 3, 3, 2), ones(2, 2, 3, 1), [1, 1, 1, 1], "SAME")),
    (ValueError, r"^Only call `softmax_cross_entropy_with_logits` with named arguments",
     lambda: tf.nn.softmax_cross_entropy_with_logits(ones(2, 3), ones(2, 3))),
    (ValueError, r"The last dimension of the inputs to `Dense` should be defined\. Found `None`\.",
     lambda: tf.layers.dense(tf.placeholder(tf.float32, [None, None]), 3)),
    (ValueError, r"Dimension must be 2 but is 3", lambda: tf.transpose(ones(2, 3), [0, 1, 2])),
    (ValueError, r"Shape must be rank 1 but is rank 2", lambda: tf.tile(ones(2), [1, 1])),
    (ValueError, r"can't split axis of size 5 into pieces of size \[2, 2\]", lambda: tf.split(ones(5), [2, 2])),
    (ValueError, r"Shape \(3, 2\) must have rank at least 3",
     lambda: tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(3), ones(2, 3), dtype=tf.float32)),
    (ValueError, r"If there is no initial_state, you must give a dtype",
     lambda: tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(3), ones(2, 3, 4))),
    (ValueError, r"Too many elements provided\. Needed at most 2, but received 3",
     lambda: tf.constant([1, 2, 3], shape=[2])),
    (ValueError, r"as_list\(\) is not defined on an unknown TensorShape", lambda: tf.TensorShape(None).as_list()),
    (TypeError, r"Cannot convert value 'nope' to a TensorFlow DType", lambda: tf.as_dtype("nope")),
    (ValueError, r"Tensor conversion requested dtype int32 for Tensor with dtype float32: <tf.Tensor 'ones:0'",
     lambda: tf.convert_to_tensor(ones(2), tf.int32)),
    (ValueError, r"Cannot evaluate tensor using `eval\(\)`: No default session is registered", lambda: ones(2).eval()),
    (ValueError, r"rate must be a scalar tensor or a float in the range \[0, 1\), got -0\.5",
     lambda: tf.nn.dropout(ones(2), 1.5)),
    (ValueError, r"Outputs of true_fn and false_fn must have the same type: int32, float32",
     lambda: tf.cond(tf.constant(True), lambda: 1, lambda: 2.0)),
    (ValueError, r"Variable v already exists, disallowed\. Did you mean to set reuse=True or reuse=tf\.AUTO_REUSE in V",
     lambda: [tf.get_variable("v", [2]) for _ in range(2)]),
    (TypeError, r"^Expected float32, got 'a' of type 'str' instead\.", lambda: tf.constant(["a"], tf.float32)),
    (TypeError, r"passed to 'values' of 'ConcatV2' Op have types \[int32, float32\] that don't all match",
     lambda: tf.concat([tf.constant([1]), ones(1)], 0)),
    (TypeError, r"len is not well defined for symbolic Tensors\. \(ones:0\)", lambda: len(ones(2))),
    (TypeError, r"invalid keyword arguments for this function: axis, sum",
     lambda: tf.einsum("i->", ones(2), sum=1, axis=0)),
    (ValueError, "Unable to statically infer ellipsis axes",
     lambda: tf.einsum("...i->...", tf.placeholder(tf.float32))),
    (TypeError, r"^graph must be a tf\.Graph, but got <class 'int'>", lambda: tf.Session(graph=37)),
    (ValueError, r"rate must be a scalar", lambda: tf.nn.dropout(ones(2), [0.0, 1.0])),
    (TypeError, r"'features' has DataType int32 not in list of allowed values",
     lambda: tf.nn.softplus(tf.constant(1))),
    (TypeError, r"pred must not be a Python bool", lambda: tf.cond(True, lambda: 1, lambda: 2)),
    (TypeError, r'to be a "proper" iterable', lambda: tf.debugging.assert_proper_iterable("text")),
    (TypeError, r"iterating over `tf.Tensor`", lambda: list(ones(2))),
    (ValueError, r"axis = 2 not in \[-1, 1\): it is out of valid range", lambda: tf.reverse(ones(2), [2])),
    (ValueError, r"Cannot infer num from shape <unknown>", lambda: tf.unstack(free())),
    (ValueError, r"Cannot infer num from shape", lambda: tf.split(ones(4), tf.placeholder(tf.int32, [None]))),
    (ValueError, r"Number of ways to split should evenly divide", lambda: tf.split(ones(4), 3)),
    (ValueError, r"Unable to broadcast tensor of shape \[2\] to", lambda: tf.broadcast_to(ones(2), [2, 1])),
    (ValueError, r"0 is missing", lambda: tf.transpose(ones(2, 3), [1, 1])),
    (ValueError, r"must have last dimension >= k = 4", lambda: tf.nn.top_k(ones(2), 4)),
    (ValueError, r"Shape must be at most rank 1 but is rank 2", lambda: tf.roll(ones(2), [[1]], 0)),
    (ValueError, r"Dimension must be 2 but is 3", lambda: tf.histogram_fixed_width([1.0], [0.0, 1.0, 2.0])),
    (ValueError, r"setting an array element with a sequence", lambda: tf.constant([[1], [2, 3]])),
    (ValueError, r"not defined on an unknown TensorShape", lambda: len(tf.TensorShape(None))),
    (ValueError, r"Shapes \(2,\) and \(3,\) are incompatible", lambda: ones(2).shape.assert_is_compatible_with([3])),
    (ValueError, r"both shapes must be equal, but are 2 and 3", lambda: tf.assign(tf.Variable(ones(2)), ones(3))),
    (ValueError, r"No gradients provided for any variable",
     lambda: tf.train.AdamOptimizer().minimize(ones(), [tf.Variable(1.0)])),
    (TypeError, r"target must be a string", lambda: tf.Session(3)),
]


@pytest.mark.parametrize(("kind", "words", "make"), BUILT, ids=[row[1][:30] for row in BUILT])
def test_of_a_build(kind: type[Exception], words: str, make: Any) -> None:
    with pytest.raises(kind, match=words):
        make()


def loose(value: Any) -> Any:
    return tf.placeholder_with_default(np.array(value), None)


RUN = [
    (r"Concat axis tensor should be a scalar integer", lambda: tf.concat([[2], [3]], loose([0]))),
    (r"dims must be a vector", lambda: tf.fill(loose(2), 3)),
    (r"value must be a scalar", lambda: tf.fill([2], loose([3]))),
    (r"limit must be a scalar", lambda: tf.range(0, loose([3]), 2)),
    (r"output_shape should be a vector", lambda: tf.sparse_to_dense(1, loose(4), 7)),
    (r"Expected multiples to be 1-D", lambda: tf.tile([7], loose(2))),
    (r"num_segments should be a scalar", lambda: tf.unsorted_segment_sum(7, 1, loose([4]))),
    (r"shape must be a vector", lambda: tf.random_uniform(loose(3))),
    (r"input must be 1-D or higher", lambda: tf.roll(loose(7), 1, 0)),
    (r"axis must be a scalar or a 1-D vector", lambda: tf.roll(ones(2, 2), 1, loose([[0, 1]]))),
    (r"shift and axis must have the same size", lambda: tf.roll(ones(2, 2), loose([1]), [0, 1])),
    (r"indices\[0\] = \[7\] does not index into shape \[6\]",
     lambda: tf.scatter_nd(tf.placeholder_with_default([[7]], None), [1], [6])),
    (r"input must be at least 2-dim", lambda: tf.matrix_diag_part(tf.placeholder_with_default(1.0, None))),
    (r"Concat dim is out of range: 4 vs. 3", lambda: tf.raw_ops.ConcatOffset(4, [[2, 3, 5], [2, 7, 5]])),
    (r"should contain 3 elem", lambda: tf.raw_ops.ConcatOffset(1, [[2, 3, 5], [2, 7]])),
    (r"All dimensions except 1 must match", lambda: tf.raw_ops.ConcatOffset(1, [[2, 3, 5], [2, 7, 9]])),
    (r"Incompatible shapes: \[2,3\] vs. \[2\]", lambda: free() + tf.placeholder_with_default([1.0, 2.0], None)),
    (r"indices\[1\] = 5 is not in \[0, 2\)", lambda: tf.gather(ones(2, 2), tf.placeholder_with_default([0, 5], None))),
    (r"indices\[0,1\] = \[7\] does not index into param shape \[3\]",
     lambda: tf.gather_nd(ones(3), tf.placeholder_with_default([[[0], [7]]], None))),
    (r"Shape of tensor x \[2,3\] is not compatible with expected shape \[\?,3,3\] ",
     lambda: tf.ensure_shape(tf.placeholder_with_default(np.ones((2, 3)), None, name="x"), [None, 3, 3])),
    (r"Indices and updates specified for empty output", lambda: tf.raw_ops.TensorScatterAdd(
        tf.zeros([0, 2]), loose([[0]]), loose(np.float32([[1, 2]])))),
    (r"Requested more than 0 entries, but params is empty", lambda: tf.gather_nd(tf.zeros([0, 3]), loose([[0]]))),
    (r"Need minval < maxval, got 3 >= 3", lambda: tf.random_uniform([2], 3, loose(np.int32(3)), tf.int32)),
    (r"Expected `serialized` to be a scalar, got shape: \[1\]",
     lambda: tf.io.parse_tensor(loose(np.array([b""], object)), tf.int32)),
    (r"basename must be a scalar", lambda: tf.raw_ops.ShardedFilename(loose(np.array(["a"], object)), 0, 1)),
    (r"batch_dim == seq_dim", lambda: tf.reverse_sequence(tf.zeros([2, 2]), loose([1, 1]), seq_axis=0)),
    (r"Reduction axis 0 is empty in shape \[0\]", lambda: tf.argmin(tf.zeros([0]), 0)),
    (r"Expected axis in the range \[-1, 1\), but got 2", lambda: tf.gather(loose([1, 2]), 0, axis=2)),
    (r"labels must be 1-D", lambda: tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits([[1.0]], loose(0))),
    (r"diagonal must be at least 1-dim", lambda: tf.matrix_set_diag(ones(2, 2), loose(np.float32(1)))),
    (r"Need k >= 0, got -7", lambda: tf.nn.top_k(ones(3), loose(np.int32(-7)))),
    (r"num_classes should be positive", lambda: tf.multinomial(tf.zeros([2, 0]), 1)),
    (r"Integer division by zero", lambda: tf.constant(1) // tf.constant(0)),
    (r"Could not parse serialized proto", lambda: tf.deserialize_many_sparse([["a", "b", "c"]], tf.int32)),
    (r"Requested SparseTensor of type int64 but SparseTensor\[0\]\.values\.dtype\(\) == int32",
     lambda: tf.deserialize_many_sparse([tf.serialize_sparse(tf.SparseTensor([[0]], [1], [2]))], tf.int64)),
    (r"Rank must be a scalar", lambda: tf.assert_rank(ones(2), loose(np.int32([1, 2])))),
    (r"Rank must be a scalar", lambda: tf.assert_rank_in(ones(2), [loose(np.int32(1)), loose(np.int32([2, 1]))])),
    (r"partitions\[2\] = 9 is not in \[0, 2\)", lambda: tf.dynamic_partition([1, 2, 3], [0, 1, 9], 2)),
    (r"You must feed a value for placeholder tensor 'Placeholder' with dtype float and shape \[\?,3\]",
     lambda: tf.placeholder(tf.float32, [None, 3])),
    (r"Input is not invertible\.", lambda: tf.matrix_inverse(ones(2, 2))),
    (r"Input matrix is not invertible\.", lambda: tf.matrix_solve(ones(2, 2), ones(2, 1))),
    (r"Cholesky decomposition was not successful\. The input might not be valid", lambda: tf.cholesky(-tf.eye(2))),
    (r"Input error: None of conditions evaluated as True", lambda: tf.case([(tf.constant(False), lambda: 1)])),
    (r"weights can not be broadcast to values",
     lambda: tf.losses.compute_weighted_loss(free(), tf.placeholder_with_default([1.0, 2.0], None))),
]


@pytest.mark.parametrize(("words", "make"), RUN, ids=[row[0][:30] for row in RUN])
def test_of_a_run(words: str, make: Any) -> None:
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=words):
        session.run(make())


def test_words_and_losses_of_shapes_that_only_a_run_knows() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.placeholder(tf.float32)
        loss = tf.losses.mean_pairwise_squared_error(given, given * 2.0)
        rows = tf.constant([[1.0, 2.0], [3.0, 5.0]])
        known = tf.losses.mean_pairwise_squared_error(rows, rows * 2.0)
        assert len({*session.run([loss, known], {given: [[1.0, 2.0], [3.0, 5.0]]})}) == 1
    with eager_mode(), pytest.raises(tf.errors.InvalidArgumentError, match=r"=  \[0. 1.\] y"):
        t = tf.constant([[0.0, 1.0], [2.0, 3.0]])
        tf.debugging.assert_none_equal(t, t, summarize=2)
