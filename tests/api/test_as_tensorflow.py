"""Small differences from TensorFlow 1.15.5 that scripts met: each once, with what it gives there."""

import re
import threading
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.op import build
from autodiff.runtime.eager import EagerContext

pytestmark = pytest.mark.usefixtures("own_graph")


def run(fetches: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return session.run(fetches, feeds)


def test_types_and_sizes_compare_as_there() -> None:
    assert [tf.int32 == int, tf.int32 == 3, tf.int32 == "int32", tf.float32 == np.float32] == [False, True, True, True]  # noqa: E721
    with pytest.raises(TypeError, match="Cannot convert value <class 'int'> to a TensorFlow DType."):
        tf.as_dtype(int)
    assert tf.Dimension(12) == "12"
    assert (tf.Dimension(None) == 3) is None
    assert tf.TensorShape([1, None]) != tf.TensorShape([1, None])
    assert tf.TensorShape([2.0, 3.0]).as_list() == [2, 3]


def test_tensor_arrays() -> None:
    written = tf.TensorArray(tf.float32, size=1, element_shape=[None, 10]).write(0, tf.ones([50, 10]))
    assert written.element_shape.as_list() == written.read(0).shape.as_list() == [50, 10]
    x = tf.constant([1.0, 2.0, 3.0])
    parts = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(x, [2, 1])
    turned = tf.TensorArray(tf.float32, size=2, infer_shape=False).write(0, parts.read(1)).write(1, parts.read(0))
    joined = turned.concat()
    found, slope = run([joined, tf.gradients(joined * [1.0, 10.0, 100.0], x)[0]])
    assert (found.tolist(), slope.tolist()) == ([3, 1, 2], [10, 100, 1])


def test_values_that_were_refused() -> None:
    half = tf.constant([1.0, 2.0, 3.1], tf.float16)
    mean, variance = tf.nn.weighted_moments(half, [0], tf.constant([1.0, 2.0, 3.0], tf.float16))
    normed = tf.nn.fused_batch_norm(tf.ones([1, 2, 2, 3], tf.float16), tf.ones([3]), tf.ones([3]))
    assert [t.dtype for t in normed] == [tf.float16, tf.float32, tf.float32]
    assert run([mean, variance]) == [np.float16(2.383), np.float16(0.6245)]
    assert run(tf.gather(tf.constant([[1, 2], [3, 4]]), tf.constant([[0], [1]]), batch_dims=-1)).tolist() == [[1], [4]]
    assert run(tf.reshape(tf.ones([0, 6]), [0, -1, 3])).shape == (0, 2, 3)
    assert run(abs(tf.constant(3 + 4j))) == 5
    assert run(tf.constant(-float("inf"), shape=[0])).shape == (0,)


def test_einsum_of_a_repeated_letter_takes_the_diagonal() -> None:
    x = np.arange(18.0).reshape(3, 2, 3)
    assert run(tf.einsum("ii", x[:, 0])) == np.einsum("ii", x[:, 0])
    assert run(tf.einsum("iji->j", x)).tolist() == np.einsum("iji->j", x).tolist()


@pytest.mark.parametrize(("weights", "words"), [
    ([2], r"weights can not be broadcast to values. values.rank=2. weights.rank=1. values.shape=\(3, 2\)"),
    ([4, 2], r"weights can not be broadcast to values. Mismatch at dim 0.")])
def test_weights_that_do_not_fit(weights: list[int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        tf.losses.mean_squared_error(tf.ones([3, 2]), tf.ones([3, 2]), weights=tf.ones(weights))
    if len(weights) == 2:
        with pytest.raises(ValueError, match=words):
            tf.metrics.mean(tf.ones([3, 2]), weights=tf.ones(weights))


def test_weights_of_a_metric_with_a_last_axis_of_one() -> None:
    _, update = tf.metrics.accuracy(tf.constant([1, 0, 1]), tf.constant([1, 1, 1]),
                                    weights=tf.constant([[1.0], [0.0], [1.0]]))
    assert run(update) == 1.0


@pytest.mark.parametrize(("build", "words"), [
    (lambda: tf.diag(1.0), "Shape must be at least rank 1 but is rank 0"),
    (lambda: tf.ensure_shape(tf.ones([2]), [2, 1]), "Shape must be rank 2 but is rank 1"),
    (lambda: tf.roll(tf.ones([3, 2]), [1], [0, 1]), "Dimension 0 in both shapes must be equal, but are 1 and 2.")])
def test_what_is_refused_while_the_graph_is_built(build: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        build()


def test_an_assertion_of_one_thing_with_itself_is_no_check() -> None:
    assert tf.assert_equal(1, 1).type == "NoOp"


def test_eager_variables_are_numbers() -> None:
    with EagerContext().as_default():
        step = tf.train.get_or_create_global_step()
        v = tf.Variable([1.0, 2.0])
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(v * v)
            optimizer.apply_gradients(zip(tape.gradient(loss, [v]), [v]), global_step=step)
        assert int(step) == 2
        assert float(step) == 2.0
        np.testing.assert_allclose(v.numpy(), [0.46, 0.92], rtol=1e-6)


def test_integers_beyond_a_type_wrap() -> None:
    assert run(tf.constant([-1, 300], tf.uint8)).tolist() == [255, 44]
    assert run([tf.constant(-1, tf.uint64), tf.constant(2**40, tf.int32), tf.constant([1], tf.uint8) - 2]) == [
        2**64 - 1, 0, 255]
    assert run(tf.constant([], shape=[2])).tolist() == [0, 0]


def test_trained_and_cached_variables() -> None:
    on_read = tf.VariableSynchronization.ON_READ
    assert [tf.get_variable("a", [2], synchronization=on_read).trainable,
            tf.get_variable("b", [2], synchronization=on_read, trainable=True).trainable] == [False, True]
    assert [v.name for v in tf.trainable_variables()] == ["b:0"]
    v = tf.get_variable("v", [2], caching_device="/cpu:0", use_resource=True)
    assert (v.value().name, v.value().device, (v + 1).op.inputs[0].name) == (
        "v/Read/Identity:0", "/device:CPU:0", "v/Read/Identity:0")


def test_devices_by_function_and_beside_others() -> None:
    with tf.device("/job:w"), tf.device(lambda op: "/task:3" if op.type == "Const" else ""):
        a = tf.constant(1.0)
        b = a * 2
        with tf.device("/gpu:1"):
            c = a * 3
    assert [a.device, b.device, c.device] == ["/job:w/task:3", "/job:w", "/job:w"]
    with tf.device("/cpu:0"), tf.colocate_with(a):
        assert tf.constant(1.0).device == "/job:w/task:3"
    with pytest.raises(TypeError, match="name of a device"), tf.device(3):
        pass


def test_scopes_belong_to_a_thread() -> None:
    graph, names = tf.get_default_graph(), []

    def build() -> None:
        with graph.as_default(), tf.name_scope("in"), tf.variable_scope("vs"):
            names.append([tf.constant(1.0).name, tf.get_variable("v", [1]).name])

    with tf.name_scope("outer"), tf.variable_scope("ov"):
        thread = threading.Thread(target=build)
        thread.start()
        thread.join(60)
    assert names == [["in/vs/Const:0", "vs/v:0"]]


def test_a_slash_is_no_name_at_the_top() -> None:
    with pytest.raises(ValueError, match="'/' is not a valid scope name"), tf.name_scope("/"):
        pass
    with tf.name_scope("a"), tf.name_scope("/") as scope:
        assert (scope, tf.constant(1.0).name) == ("/", "Const:0")


def test_collections_of_a_graph_are_its_keys() -> None:
    tf.Variable(1.0)
    assert tf.get_default_graph().collections == ["variables", "trainable_variables"]


def test_rows_of_a_resource_are_gathered_behind_its_handle() -> None:
    v = tf.Variable([[1.0], [2.0], [3.0]], use_resource=True)
    rows = tf.gather(v, [0, 2])
    assert [rows.op.type, rows.op.inputs[0].op.type, rows.name] == ["Identity", "ResourceGather", "Identity:0"]
    slope = tf.gradients(rows * [[2.0], [3.0]], v)[0]
    assert run([rows, tf.convert_to_tensor(slope)])[1].tolist() == [[2], [0], [3]]
    assert isinstance(slope, tf.IndexedSlices)
    assert tf.gather(v, [0], axis=1).op.type == "GatherV2"


@pytest.mark.parametrize(("build", "kind", "words"), [
    (lambda: tf.sparse_segment_sum(tf.ones([3, 2]), [0, 1, 2], [1, 0, 1]), tf.errors.InvalidArgumentError,
     "segment ids are not increasing"),
    (lambda: tf.sparse_segment_mean(tf.ones([3, 2]), [0, 1, 2], [-1, 0, 1]), tf.errors.InvalidArgumentError,
     r"Segment id -1 out of range \[0, 2\)"),
    (lambda: tf.segment_sum(tf.ones([3, 2]), [0, 0, -1]), tf.errors.InvalidArgumentError, "segment ids must be >= 0"),
    (lambda: tf.segment_sum(tf.ones([3, 2]), [0, 1]), tf.errors.InvalidArgumentError,
     "segment_ids should be the same size as dimension 0 of input"),
    (lambda: tf.unsorted_segment_sum(tf.ones([2]), [0, 3], 2), tf.errors.InvalidArgumentError,
     r"segment_ids\[1\] = 3 is out of range \[0, 2\)"),
    (lambda: tf.unsorted_segment_sum(tf.ones([3]), [1, 0, 1], -3), ValueError, "must be non-negative"),
    (lambda: tf.roll(tf.ones([3, 2]), 1, [0, 1]), ValueError, "Shapes must be equal rank, but are 0 and 1"),
    (lambda: tf.assert_rank_in(tf.ones([2]), (1, .5)), TypeError, "must be of type <dtype: 'int32'>"),
    (lambda: tf.assert_rank(tf.ones([2]), [1]), ValueError, "Rank must be a scalar"),
    (lambda: tf.cast(tf.ones([2]), tf.string), tf.errors.UnimplementedError, "Cast float32 to string"),
    (lambda: tf.scatter_nd([[0]], [1.0], [0]), ValueError, "specified for empty output shape"),
    (lambda: tf.map_fn(lambda x: [x, x], tf.ones([2]), dtype=(tf.float32,) * 2), TypeError, "same nested structure"),
    (lambda: tf.map_fn(lambda x: x, tf.ones([2]), dtype=(tf.float32,)), ValueError, "same nested structure"),
    (lambda: tf.scan(lambda a, x: (a[0], x), tf.ones([2]), initializer=[0.0, 0.0]), TypeError, "same nested"),
    (lambda: tf.map_fn(lambda x: x, tf.constant(1.0)), ValueError, "elems must be a 1\\+ dimensional Tensor"),
    (lambda: tf.TensorArray(tf.float32, -1).size(), tf.errors.InvalidArgumentError, "Size should be >= 0"),
    (lambda: tf.TensorArray(tf.float32, 0).stack(), tf.errors.UnimplementedError, "TensorArray has size zero"),
    (lambda: tf.TensorArray(tf.float32, 2).unstack(tf.ones([3])).size(), tf.errors.InvalidArgumentError,
     "index 2 is out of range"),
    (lambda: tf.TensorArray(tf.float32, 2).scatter([0, 0], tf.ones([2])).size(), tf.errors.InvalidArgumentError,
     "written already")])
def test_what_is_refused(build: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        run(build())


def test_an_element_of_a_tensor_array_is_read_once() -> None:
    x = tf.constant([1.0, 2.0])
    array = tf.TensorArray(tf.float32, 2).unstack(x)
    first, again, whole = array.read(0), array.read(0), array.stack()
    assert run(first) + run(again) == 2
    for both in ([first, again], [whole, again]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Could not read index 0 twice because it was cleared"):
            run(both)
    kept = tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack(x)
    assert run(tf.gradients(kept.read(0) * kept.read(0), x)[0]).tolist() == [2, 0]


def test_elements_that_were_not_written_are_zeros() -> None:
    array = tf.TensorArray(tf.float32, 3).write(0, [1.0, 2.0])
    assert run(array.read(1)).tolist() == [0, 0]
    assert run(array.concat()).tolist() == [1, 2, 0, 0, 0, 0]


def test_tensordot_of_what_only_a_run_knows() -> None:
    x, y, axes = tf.placeholder(tf.float32), tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    a, b = np.arange(30.0).reshape(2, 5, 3), np.arange(12.0).reshape(3, 4)
    for how in (1, [[-1], [0]], axes):
        product = tf.tensordot(x, y, how)
        found, slope = run([product, tf.gradients(product, y)[0]], {x: a, y: b, axes: [[2], [0]]})
        assert product.shape.ndims is None
        assert found.tolist() == np.tensordot(a, b, 1).tolist()
        assert slope.tolist() == np.tensordot(a, np.ones((2, 5, 4)), [[0, 1], [0, 1]]).tolist()
    with pytest.raises(ValueError, match="expected as many axes of a as of b"):
        tf.tensordot(tf.ones([2, 3]), tf.ones([4, 4]), [[0, 1], [0]])


def test_the_slope_of_gamma_numbers_by_their_form() -> None:
    alpha, beta = tf.constant([1.0, 2.0, 0.5]), tf.constant(2.0)
    numbers = tf.random_gamma([5], alpha, beta, seed=3)
    drawn, *slopes = run([numbers, *tf.gradients(numbers, [alpha, beta])])
    np.testing.assert_allclose(slopes[1], -drawn.sum() / 2, rtol=1e-6)
    slope = build.RandomGammaGrad(tf.constant([1.0, 2.0, 0.5, 10.0, 100.0]), tf.constant([0.3, 1.0, 0.1, 9.0, 120.0]))
    np.testing.assert_allclose(run(slope), [0.59578, 0.75078, 0.50977, 0.96418, 1.09575], atol=6e-6)  # of TensorFlow


def test_sparse_values_in_loops_and_branches() -> None:
    v = tf.Variable([1.0, 2.0])
    sparse = tf.SparseTensor([[0, 0], [1, 2]], v, [3, 4])
    squared = tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s.with_values(s.values * s.values)), [0, sparse])
    assert run(tf.gradients(squared[1].values, v)[0]).tolist() == [4, 32]
    longer = tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, tf.sparse_concat(0, [s, s])), [0, sparse],
                           shape_invariants=[tf.TensorShape([]), tf.TensorShape([2])])[1]
    assert run(longer).dense_shape.tolist() == [12, 4]
    with pytest.raises(ValueError, match="Expected a shape with 1 dimension"):
        tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s), [0, sparse],
                      shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, None])])
    rows = tf.IndexedSlices(v, tf.constant([0, 1]))
    for result in (tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, tf.IndexedSlices(s.values * 2, s.indices)),
                                 [0, rows])[1],
                   tf.cond(tf.constant(True), lambda: tf.IndexedSlices(rows.values * 4, rows.indices), lambda: rows)):
        assert isinstance(result, tf.IndexedSlices)
        assert run(result).values.tolist() == [4, 8]
    with pytest.raises(ValueError, match="don't have the same nested structure"):
        tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s.values), [0, rows])


def test_rows_of_a_variable_stay_rows_in_a_body() -> None:
    w = tf.Variable([[1.0], [2.0]])

    def body(i: Any, total: Any) -> Any:
        return i + 1, total + tf.reduce_sum(tf.gradients(tf.nn.embedding_lookup(w, [0, 0]), w)[0].values)

    assert run(tf.while_loop(lambda i, a: i < 2, body, [0, 0.0])[1]) == 4


def test_static_shapes_of_transposed_placeholders() -> None:
    x = tf.placeholder(tf.float32)
    assert [tf.transpose(x, [0]).shape.ndims, tf.transpose(x, [1, 0]).shape.ndims] == [None, 2]


def test_empty_rows_are_gathered_and_their_gradients() -> None:
    x, v = tf.zeros([1, 0]), tf.Variable(tf.zeros([1, 0]), use_resource=True)
    for params in (x, v):
        slope = tf.gradients(tf.gather(params, np.zeros(0, np.int32)), params)[0]
        assert run(tf.convert_to_tensor(slope)).shape == (1, 0)
    images = tf.nn.depthwise_conv2d(tf.zeros([0, 3, 3, 2]), tf.ones([1, 1, 2, 2]), [1] * 4, "VALID")
    assert run(images).shape == (0, 3, 3, 4)
    assert run(tf.diag_part(tf.zeros([0, 0]))).shape == (0,)


def test_names_in_a_scope_may_begin_as_they_like() -> None:
    with pytest.raises(ValueError, match="'-q' is not a valid scope name"):
        tf.placeholder(tf.float32, name="-q")
    with tf.name_scope("b"):
        assert tf.placeholder(tf.float32, name="-q").name == "b/-q:0"


def test_an_array_is_one_value_for_a_tuple_of_feeds() -> None:
    x = tf.placeholder(tf.float32, [2])
    assert run(x, {(x,): np.array([1.0, 2.0])}).tolist() == [1, 2]
    with pytest.raises(ValueError, match="expected 2 values"):
        run(x, {(x, x): np.array([1.0, 2.0])})


def test_a_permutation_is_a_vector() -> None:
    with pytest.raises(ValueError, match="Shape must be rank 1 but is rank 2"):
        tf.invert_permutation([[0]])


def test_a_shape_is_made_of_integers() -> None:
    assert run(tf.constant([1, 2]) + tf.TensorShape([3, 4])).tolist() == [4, 6]
    with pytest.raises(TypeError, match="Cannot convert a TensorShape"):
        tf.constant([1.0, 2.0]) + tf.TensorShape([3, 4])


def test_an_axis_may_be_named_twice() -> None:
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    for axes in ([0, 0], [0, -2]):
        assert run([tf.reduce_sum(x, axes), tf.gradients(tf.reduce_sum(x, axes), x)[0]])[0].tolist() == [5, 7, 9]
    with pytest.raises(ValueError, match="Invalid reduction dimension 5|axis = 5 not in"):
        tf.reduce_sum(x, [0, 5])


def test_no_segments_are_made_of_no_rows() -> None:
    none = np.zeros(0, np.int32)
    assert run(tf.sparse_segment_sum(tf.ones([3, 2]), none, none)).shape == (0, 2)


def test_a_masked_logit_spoils_the_loss_of_soft_labels() -> None:
    loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=[[0.0, 1.0], [0.5, 0.5]],
                                                      logits=[[-np.inf, 1.0], [1.0, 1.0]])
    np.testing.assert_allclose(run(loss), [np.nan, np.log(2.0)], rtol=1e-6)


def test_realdiv_of_integers_is_an_integer_and_complex_numbers_are_not_rounded() -> None:
    with tf.Session() as session:
        found = session.run([tf.realdiv([127, -7], [2, 2]), tf.realdiv(1.0, [4.0]), tf.truediv(7, 2)])
    assert [value.tolist() for value in found] == [[63, -3], [0.25], 3.5] and found[0].dtype == "int32"
    with pytest.raises(TypeError, match="complex128"):
        tf.round(tf.constant([1.5 + 2.5j]))


def test_values_that_random_programs_found() -> None:
    x = tf.constant(np.arange(6.0).reshape(1, 2, 3))
    empty = tf.zeros([2, 0])
    found = [tf.squeeze(x, [0, -3]), tf.nn.moments(x, [0, -3])[1], tf.unsorted_segment_sum(empty, [1, 2], 0),
             tf.nn.in_top_k(tf.zeros([1, 0]), [2], 1)]
    with tf.Session() as session:
        assert [value.shape for value in session.run(found)] == [(2, 3), (2, 3), (0, 0), (1,)]
        for bad in tf.matrix_band_part(x, 3, 0), tf.matrix_band_part(empty, 0, 1):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"num_\w+ must be negative or less or equal to"):
                session.run(bad)
    wanted = tf.shape(tf.placeholder(tf.float32, [3, 1, None]))
    assert tf.broadcast_to(tf.placeholder(tf.float32, [None, 1, 2]), wanted).shape.as_list() == [3, 1, 2]


@pytest.mark.parametrize(("value", "kind", "words"), [
    ([[1, 2]], ValueError, r"Cannot feed value of shape \(1, 2\) for Tensor 'x:0', which has shape '\(\?,\)'"),
    ([[1], [2, 3]], ValueError, "expected rows of equal length"), (["a"], ValueError, "expected numbers"),
    ([1, object()], TypeError, "expected numbers"), (1j, TypeError, "expected numbers"), (None, ValueError, "None"),
    (tf.constant, TypeError, "expected numbers")])
def test_values_that_cannot_be_fed(value: Any, kind: type[Exception], words: str) -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    with tf.Session() as session, pytest.raises(kind, match=words) as caught:
        session.run(x, {x: value})
    with tf.Session() as session, pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor"):
        session.run(x, {"nothing:0": value})
    assert not re.search("array element|invalid literal|could not convert|argument must be", str(caught.value))


def test_complex_numbers_are_true_by_their_real_part_and_strings_have_no_conjugate() -> None:
    with tf.Session() as session:
        assert session.run(tf.cast([1j, 1.0, 3.0 - 2j], tf.bool)).tolist() == [False, True, True]
        picture = tf.ones([1, 1, 1, 1])
        assert session.run(tf.gradients(tf.nn.lrn(picture, 5), picture)[0]).shape == (1, 1, 1, 1)
    for value in [True], ["a"]:
        with pytest.raises(TypeError, match="Expected numeric or variant tensor"):
            tf.conj(tf.constant(value))


def test_stateless_draws_are_the_numbers_of_tensorflow() -> None:
    logits, draws = [[0.1, 0.5, -1.0], [0.0, float("-inf"), 2.0]], tf.random
    found = run([draws.stateless_uniform([2], [1, 2]), draws.stateless_normal([2], [1, 2], dtype=tf.float64),
                 draws.stateless_truncated_normal([5], [3, -2]), draws.stateless_uniform([2], [1, 2], dtype=tf.float16),
                 draws.stateless_uniform([5], [1, 2], -3, 1000, tf.int64),
                 draws.stateless_categorical(logits, 6, [1, 2])])
    wanted: list[Any] = [[0.8440604, 0.19204533], [-0.14231181, 0.740607246],
                         [-0.67160225, -0.12687948, -0.13475409, 0.77155805, -0.009694883], [0.54296875, 0.2353515625],
                         [928, 223, 146, 184, 767], [[1, 2, 0, 1, 1, 1], [2, 2, 2, 2, 2, 2]]]
    for value, numbers in zip(found, wanted, strict=True):
        np.testing.assert_allclose(value, numbers, 1e-5)


def test_arrays_of_another_type_are_cast_where_one_type_is_meant() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    found = run([tf.where(np.array([1, 0, 2]), x, -x), tf.logical_not(np.array([0.5, 0.0])),
                 tf.reduce_sum(x, np.array([0.0])), tf.reshape(x, np.array([3.0, 1.0])),
                 tf.tile(x, np.array([2], np.uint8)), tf.concat([x, x], np.float64(0))])
    wanted: list[Any] = [[1, -2, 3], [False, True], 6, [[1], [2], [3]], [1, 2, 3, 1, 2, 3], [1, 2, 3, 1, 2, 3]]
    assert [value.tolist() for value in found] == wanted
    for call in (lambda: tf.gather(x, np.array([1.0])), lambda: tf.reshape(x, np.array([1.5, 2.0])),
                 lambda: tf.logical_not([1, 0])):
        with pytest.raises(TypeError):
            call()


def test_parts_of_unknown_size_are_looked_up_contiguously() -> None:
    parts = [tf.placeholder_with_default(rows, [None]) for rows in ([0.0, 1.0, 2.0], [3.0, 4.0])]
    for ids in ([4, 0, 3, 2], np.array([4, 0, 3, 2])):
        found = tf.nn.embedding_lookup(parts, ids, partition_strategy="div")
        assert run(found).tolist() == [4.0, 0.0, 3.0, 2.0]


def test_eager_dependencies_may_be_one_tensor() -> None:
    with (context := EagerContext()).as_default(), context.control_dependencies(tf.constant(1)):
        assert int(tf.constant(2)) == 2


def test_uniform_halves_stay_below_one() -> None:
    numbers = run(tf.random_uniform([20_000], dtype=tf.float16, seed=3))
    assert numbers.max() == 1 - 2**-10 and numbers.min() == 0
