"""Sparse tensors: the class, feeding and fetching, functions of entries; numbers are TensorFlow 1.15.5's."""

from typing import Any

import numpy as np
import pytest
from autodiff.errors import InvalidArgumentError

import autodiff as tf
from autodiff.core.graph import Graph
from autodiff.debug import Debugger

VALUE = tf.SparseTensorValue([[0, 0], [1, 2]], [1.0, 2.0], [3, 4])
DENSE = [[1, 0, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0]]


@pytest.fixture(autouse=True)
def graph() -> Any:
    with Graph().as_default() as fresh:
        yield fresh


def sparse(values: Any = (1.0, 2.0)) -> tf.SparseTensor:
    return tf.SparseTensor([[0, 0], [1, 2]], list(values) if isinstance(values, tuple) else values, [3, 4])


def run(fetches: Any, feed_dict: Any = None) -> Any:
    with tf.Session() as session:
        return session.run(fetches, feed_dict)


def same(found: Any, expected: Any) -> None:
    """Whether arrays, or the parts of sparse tensors, agree."""
    if hasattr(expected, "dense_shape"):
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, 1e-6)
    else:
        np.testing.assert_allclose(found, expected, 1e-6)


# ---- the class --------------------------------------------------------------------------

def test_parts_have_names_types_and_shapes() -> None:
    s = sparse()
    assert [(t.name, t.dtype.name, t.shape.as_list()) for t in (s.indices, s.values, s.dense_shape)] == [
        ("SparseTensor/indices:0", "int64", [2, 2]), ("SparseTensor/values:0", "float32", [2]),
        ("SparseTensor/dense_shape:0", "int64", [2])]
    assert s.shape.as_list() == s.get_shape().as_list() == [3, 4]
    assert s.dtype is tf.float32 and s.op is s.values.op and s.graph is tf.get_default_graph()
    assert {s: 1}[s] == 1


@pytest.mark.parametrize(("parts", "error"), [
    (([0, 1], [1.0, 2.0], [3]), ValueError), (([[0, 1]], [[1.0]], [3, 4]), ValueError),
    (([[0, 1]], [1.0], 3), ValueError), (([[0, 1]], [1.0, 2.0], [3, 4]), ValueError),
    (([[0, 1]], [1.0], [3, 4, 5]), ValueError), (([[0.0, 1.0]], [1.0], [3, 4]), TypeError),
    (([[0, 1]], [1.0], [None, 4]), TypeError),
])
def test_parts_that_do_not_fit_are_refused(parts: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        tf.SparseTensor(*parts)


def test_from_value_takes_sparse_things_alone() -> None:
    same(run(tf.SparseTensor.from_value(VALUE)), VALUE)
    with pytest.raises(TypeError):
        tf.SparseTensor.from_value([1])


@pytest.mark.parametrize("use", [tf.convert_to_tensor, tf.identity, tf.reduce_sum, tf.exp, lambda s: s + s,
                                 lambda s: s * s, lambda s: 2.0 * s, lambda s: tf.gradients(s.values, s)])
def test_a_sparse_tensor_is_no_tensor(use: Any) -> None:
    with pytest.raises(TypeError):
        use(sparse())


# ---- feeding and fetching ---------------------------------------------------------------

def test_fetching_gives_a_value_in_any_structure() -> None:
    found = run({"a": sparse(), "b": [sparse().values]})
    assert type(found["a"]) is tf.SparseTensorValue
    same(found["a"], VALUE)
    with tf.Session().as_default():
        same(sparse().eval(), VALUE)


@pytest.mark.parametrize("value", [VALUE, tuple(VALUE), list(VALUE), tf.SparseTensorValue(*map(np.array, VALUE))])
@pytest.mark.parametrize("shape", [None, [None, 4], [3, 4]])
def test_a_placeholder_is_fed_its_three_parts(shape: Any, value: Any) -> None:
    p = tf.sparse_placeholder(tf.float32, shape, name="p")
    assert [p.indices.name, p.values.name, p.dense_shape.name] == ["p/indices:0", "p/values:0", "p/shape:0"]
    same(run(tf.sparse_tensor_to_dense(p), {p: value}), DENSE)
    same(run(p, {p.indices: VALUE[0], p.values: VALUE[1], p.dense_shape: VALUE[2]}), VALUE)


def test_a_known_shape_need_not_be_fed() -> None:
    p = tf.sparse_placeholder(tf.float32, [3, 4])
    assert p.shape.as_list() == [3, 4]
    same(run(p, {p: VALUE[:2]}), VALUE)


@pytest.mark.parametrize(("value", "error"), [
    (None, TypeError), (np.ones((3, 4)), ValueError), (np.ones(3), ValueError), (VALUE[:2], InvalidArgumentError),
    (([0, 0], [1.0, 2.0], [3, 4]), ValueError), (([[0, 0, 0]], [1.0], [3, 4, 5]), ValueError),
])
def test_what_cannot_be_fed_is_refused(value: Any, error: type[Exception]) -> None:
    p = tf.sparse_placeholder(tf.float32, [None, 4])
    with pytest.raises(error):
        run(p, {p: value})


def test_a_sparse_tensor_may_be_an_argument_of_a_callable() -> None:
    p = tf.sparse_placeholder(tf.float32)
    with tf.Session() as session:
        same(session.make_callable(tf.sparse_tensor_to_dense(p), [p])(VALUE), DENSE)


# ---- dense ones of them, and products ---------------------------------------------------

def test_making_it_dense() -> None:
    dense = tf.sparse_tensor_to_dense(sparse())
    assert dense.name == "SparseToDense:0" and dense.shape.as_list() == [3, 4]
    same(run(dense), DENSE)
    assert run(tf.sparse.to_dense(sparse(), default_value=7.0)).sum() == 73
    assert run(tf.sparse_to_dense([0, 2], [5], 3)).tolist() == [3, 0, 3, 0, 0]
    assert run(tf.sparse_to_dense([3], [5], "a", "b")).tolist() == [b"b", b"b", b"b", b"a", b"b"]
    assert run(tf.sparse_to_dense([3, 3], [5], [1, 2], validate_indices=False)).tolist() == [0, 0, 0, 2, 0]


@pytest.mark.parametrize("arguments", [
    ([0, 2], [2, 3], 1), ([[0, 2]], [5], 1), ([0, 1, 2], [5], [1, 2]), ([7], [5], 1), ([-1], [5], 1), ([3, 1], [5], 1),
    ([3, 3], [5], 1), ([1], [5], 1, [0]), ([7], [5], 1, 0, False),
])
def test_entries_that_do_not_fit_fail_in_the_run(arguments: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        run(tf.sparse_to_dense(*arguments))


def test_the_product_with_a_dense_matrix_and_its_gradients() -> None:
    v, d = tf.constant([1.0, 2.0, 3.0]), tf.reshape(tf.range(12.0), [3, 4])
    s = tf.SparseTensor([[0, 0], [1, 2], [1, 3]], v, [3, 4])
    y = tf.sparse_tensor_dense_matmul(s, d, adjoint_b=True)
    assert y.name == "SparseTensorDenseMatMul/SparseTensorDenseMatMul:0"
    same(run(y), [[0, 4, 8], [13, 33, 53], [0, 0, 0]])
    first = tf.gradients(y ** 2.0, [v, d])
    second = run(tf.gradients(first, [v, d]))
    same(second[0], [208, 974, 1082])
    same(second[1], [[2, 0, 66, 86], [18, 0, 138, 174], [34, 0, 210, 262]])


def test_the_product_of_adjoints_of_complex_matrices() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=(3, 4)) + 1j * rng.normal(size=(3, 4)) for _ in range(2))
    s = tf.SparseTensor(np.argwhere(a), a.ravel(), [3, 4])
    same(run(tf.sparse_tensor_dense_matmul(s, tf.constant(b), adjoint_a=True)), a.conj().T @ b)
    same(run(tf.sparse_tensor_dense_matmul(s, tf.constant(b), adjoint_b=True)), a @ b.conj().T)


@pytest.mark.parametrize(("b", "error"), [(np.ones((3, 2), "f"), ValueError), (np.ones(4, "f"), ValueError),
                                          (np.ones((4, 2)), TypeError), ([[1], [2], [3], [4]], TypeError)])
def test_matrices_that_do_not_fit_are_refused(b: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        tf.sparse.sparse_dense_matmul(sparse(), b)
    with pytest.raises(TypeError):
        tf.sparse_tensor_dense_matmul(np.ones((3, 4), "f"), np.ones((4, 2), "f"))


# ---- arithmetic with dense tensors ------------------------------------------------------

def test_entries_times_and_by_dense_elements() -> None:
    row = tf.constant([1.0, 2.0, 3.0, 4.0])
    for product in (sparse() * row, row * sparse()):
        same(run(product), VALUE._replace(values=[1, 6]))
    assert (sparse() * 2.0).values.op.name == "mul_2"
    same(run(sparse() / row), VALUE._replace(values=[1, 2 / 3]))
    same(run(tf.SparseTensor([[0]], [7], [3]) / 2), tf.SparseTensorValue([[0]], [3.5], [3]))
    with pytest.raises(InvalidArgumentError):
        run(sparse() * tf.ones([5]))
    with pytest.raises(ValueError):
        sparse() * tf.constant(2)


# ---- functions: (made of `s` and `t`) -> TensorFlow's value ---------------------------------

def three(values: Any = (1.0, 2.0, 3.0)) -> tf.SparseTensor:
    return tf.SparseTensor([[0, 0], [1, 2], [1, 3]], tf.constant(list(values)), [3, 4])


def two() -> tf.SparseTensor:
    return tf.SparseTensor([[0, 0], [1, 1]], [10.0, 20.0], [3, 4])


def unordered() -> tf.SparseTensor:
    return tf.SparseTensor([[1, 2], [0, 0]], [1.0, 2.0], [3, 4])


V = tf.SparseTensorValue
AT = [[0, 0], [1, 2], [1, 3]]


@pytest.mark.parametrize(("make", "expected"), [
    (lambda: tf.sparse_add(three(), two()), V([[0, 0], [1, 1], [1, 2], [1, 3]], [11, 20, 2, 3], [3, 4])),
    (lambda: tf.sparse_add(three(), two(), 5.0), V([[0, 0], [1, 1], [1, 2], [1, 3]], [11, 20, 2, 3], [3, 4])),
    (lambda: tf.sparse_add(three(), two(), 15.0), V([[1, 1], [1, 2], [1, 3]], [20, 2, 3], [3, 4])),
    (lambda: tf.sparse_add(tf.ones([3, 4]), three()), [[2, 1, 1, 1], [1, 1, 3, 4], [1, 1, 1, 1]]),
    (lambda: tf.sparse_maximum(three(), two()), V([[0, 0], [1, 1], [1, 2], [1, 3]], [10, 20, 2, 3], [3, 4])),
    (lambda: tf.sparse_minimum(three(), two()), V([[0, 0], [1, 1], [1, 2], [1, 3]], [1, 0, 0, 0], [3, 4])),
    (lambda: tf.sparse_reduce_sum(three()), 6),
    (lambda: tf.sparse_reduce_sum(three(), 1), [1, 5, 0]),
    (lambda: tf.sparse_reduce_sum(three(), [-2], keepdims=True), [[1, 0, 2, 3]]),
    (lambda: tf.sparse_reduce_sum(three(), reduction_axes=[1, 1]), [1, 5, 0]),
    (lambda: tf.sparse_reduce_max(three(), 1), [1, 3, 0]),
    (lambda: tf.sparse_reduce_sum_sparse(three(), 0), V([[0], [2], [3]], [1, 2, 3], [4])),
    (lambda: tf.sparse_reduce_sum_sparse(three(), 0, keepdims=True), V([[0, 0], [0, 2], [0, 3]], [1, 2, 3], [1, 4])),
    (lambda: tf.sparse_reduce_max_sparse(three()), V(np.zeros((1, 0)), [3], [])),
    (lambda: tf.sparse_softmax(three()), V(AT, [1, 0.26894143, 0.7310586], [3, 4])),
    (lambda: tf.sparse_reorder(unordered()), V([[0, 0], [1, 2]], [2, 1], [3, 4])),
    (lambda: tf.sparse_retain(three(), [True, False, True]), V([[0, 0], [1, 3]], [1, 3], [3, 4])),
    (lambda: tf.sparse_transpose(three()), V([[0, 0], [2, 1], [3, 1]], [1, 2, 3], [4, 3])),
    (lambda: tf.sparse_reshape(three(), [2, -1]), V([[0, 0], [1, 0], [1, 1]], [1, 2, 3], [2, 6])),
    (lambda: tf.sparse_slice(three(), [1, 0], [9, 3]), V([[0, 2]], [2], [2, 3])),
    (lambda: tf.sparse_slice(three(), [-1, 0], [3, 3]), V([[1, 0], [2, 2]], [1, 2], [3, 3])),
    (lambda: tf.sparse_concat(1, [three(), unordered()]),
     V([[0, 0], [0, 4], [1, 2], [1, 3], [1, 6]], [1, 2, 2, 3, 1], [3, 8])),
    (lambda: tf.sparse_concat(0, [tf.SparseTensor([[0, 0]], [1.0], [3, 5]), three()], expand_nonconcat_dim=True),
     V([[0, 0], [3, 0], [4, 2], [4, 3]], [1, 1, 2, 3], [6, 5])),
    (lambda: tf.sparse_split(sp_input=three(), num_split=3, axis=1)[0], V([[0, 0]], [1], [3, 2])),
    (lambda: tf.sparse_split(sp_input=three(), num_split=3, axis=1)[2], V([[1, 0]], [3], [3, 1])),
    (lambda: tf.sparse_fill_empty_rows(three(), 9.0)[0], V([*AT, [2, 0]], [1, 2, 3, 9], [3, 4])),
    (lambda: tf.sparse_fill_empty_rows(three(), 9.0)[1], [False, False, True]),
    (lambda: tf.sparse_reset_shape(three()), V(AT, [1, 2, 3], [2, 4])),
    (lambda: tf.sparse_reset_shape(three(), [3, 5]), V(AT, [1, 2, 3], [3, 5])),
    (lambda: tf.sparse.from_dense([[0.0, 1.0], [2.0, 0.0]]), V([[0, 1], [1, 0]], [1, 2], [2, 2])),
    (lambda: tf.sparse.expand_dims(three(), 1), V([[0, 0, 0], [1, 0, 2], [1, 0, 3]], [1, 2, 3], [3, 1, 4])),
    (lambda: tf.sparse.expand_dims(three(), tf.constant(1)),
     V([[0, 0, 0], [1, 0, 2], [1, 0, 3]], [1, 2, 3], [3, 1, 4])),
    (lambda: tf.sparse.eye(tf.constant(2), tf.constant(3)), V([[0, 0], [1, 1]], [1, 1], [2, 3])),
    (lambda: tf.sparse.eye(2, 3), V([[0, 0], [1, 1]], [1, 1], [2, 3])),
    (lambda: tf.sparse_to_indicator(tf.SparseTensor([[0, 0], [1, 0], [1, 1]], np.array([4, 2, 0]), [2, 4]), 5),
     [[0, 0, 0, 0, 1], [1, 0, 1, 0, 0]]),
    (lambda: tf.sparse_mask(tf.IndexedSlices(tf.range(6.0), tf.constant([0, 1, 5, 3, 4, 2])), [1, 5]).values,
     [0, 3, 4, 5]),
])
def test_functions_give_what_tensorflow_gives(make: Any, expected: Any) -> None:
    made = make()
    same(run(made), expected)
    if isinstance(made, tf.SparseTensor):
        assert made.shape.is_compatible_with(run(made).dense_shape)


@pytest.mark.parametrize(("make", "error"), [
    (lambda: tf.sparse_add(three(), tf.SparseTensor([[0, 0]], [1.0], [3, 5])), ValueError),
    (lambda: tf.sparse_add(three(), tf.ones([3, 1])), InvalidArgumentError),
    (lambda: tf.sparse_add(tf.ones([2]), tf.ones([2])), TypeError),
    (lambda: tf.sparse_maximum(three(), tf.SparseTensor([[0, 0]], [1.0], [3, 5])), InvalidArgumentError),
    (lambda: tf.sparse_maximum(three(), tf.SparseTensor([[0]], [1.0], [3])), InvalidArgumentError),
    (lambda: tf.sparse_reduce_sum(three(), 5), InvalidArgumentError),
    (lambda: tf.sparse_retain(three(), [True, False]), ValueError),
    (lambda: tf.sparse_reshape(three(), [5, 5]), ValueError),
    (lambda: tf.sparse_slice(three(), [1], [9]), InvalidArgumentError),
    (lambda: tf.sparse_concat(0, [tf.SparseTensor([[0, 0]], [1.0], [3, 5]), three()]), InvalidArgumentError),
    (lambda: tf.sparse_concat(0, three()), TypeError),
    (lambda: tf.sparse_concat(0, []), ValueError),
    (lambda: tf.sparse_split(sp_input=three(), num_split=9, axis=1)[0], InvalidArgumentError),
    (lambda: tf.sparse_fill_empty_rows(three(), [9.0])[0], ValueError),
    (lambda: tf.sparse_reset_shape(three(), [2, 3]), ValueError),
    (lambda: tf.sparse_reset_shape(tf.sparse_placeholder(tf.float32), tf.placeholder_with_default([2], [1])),
     InvalidArgumentError),
    (lambda: tf.sparse_transpose(three(), [1, 0, 2]), ValueError),
    (lambda: tf.sparse_softmax(tf.SparseTensor([[0], [2]], [1.0, 2.0], [4])), InvalidArgumentError),
    (lambda: tf.sparse_to_indicator(tf.SparseTensor([[0, 0]], np.array([9]), [2, 4]), 5), InvalidArgumentError),
    (lambda: tf.sparse_tensor_to_dense(unordered()), InvalidArgumentError),
    (lambda: tf.sparse_tensor_to_dense(tf.ones([3])), TypeError),
])
def test_bad_input_fails_as_in_tensorflow(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        run(make())


def test_gradients_of_functions_are_tensorflows() -> None:
    v, w, row = tf.constant([1.0, 2.0, 3.0]), tf.constant([10.0, 20.0]), tf.constant([1.0, 2.0, 3.0, 4.0])
    s, t = tf.SparseTensor(AT, v, [3, 4]), tf.SparseTensor([[0, 0], [1, 1]], w, [3, 4])
    for y, xs, expected in [
        (tf.sparse_softmax(s).values * row[:3], [v], [[0, -0.19661194, 0.19661193]]),
        (tf.sparse_fill_empty_rows(s, w[0])[0].values * row, [v, w], [[1, 2, 3], [4, 0]]),
        (tf.sparse_reduce_sum(s, 1) * row[:3], [v], [[1, 2, 2]]),
        (tf.sparse_slice(s, [1, 0], [2, 3]).values, [v], [[0, 1, 0]]),
        (tf.sparse_add(s, t).values * row, [v, w], [[1, 3, 4], [1, 2]]),
        ((s / row).values, [v, row], [[1, 1 / 3, 0.25], [-1, 0, -2 / 9, -3 / 16]]),
        (tf.sparse_transpose(s).values * row[:3], [v], [[1, 2, 3]]),
    ]:
        for found, wanted in zip(run(tf.gradients(y, xs)), expected, strict=True):
            same(found, wanted)
    retained = run(tf.gradients(tf.sparse_retain(s, [True, False, True]).values, v))[0]
    assert (retained.indices.tolist(), retained.values.tolist()) == ([0, 2], [1, 1])
    assert tf.gradients(tf.sparse_concat(0, [s, t]).values, [v]) == [None]
    with pytest.raises(LookupError):
        tf.gradients(tf.sparse_reduce_max(s, 1), v)


# ---- embeddings of sparse ids -----------------------------------------------------------

PLACES = [[0, 0], [0, 2], [1, 0], [3, 1]]


def table() -> Any:
    return tf.constant(np.arange(12.0, dtype="f").reshape(6, 2))


def ids(values: Any = (1, 3, 1, 5)) -> tf.SparseTensor:
    return tf.SparseTensor(PLACES, np.array(values, np.int64), [4, 3])


def weights() -> tf.SparseTensor:
    return tf.SparseTensor(PLACES, [0.5, 2.0, 1.0, 4.0], [4, 3])


@pytest.mark.parametrize(("combiner", "weighted", "expected"), [
    ("sum", False, [[8, 10], [2, 3], [0, 0], [10, 11]]), ("mean", False, [[4, 5], [2, 3], [0, 0], [10, 11]]),
    ("sqrtn", False, [[5.656854, 7.071068], [2, 3], [0, 0], [10, 11]]),
    ("sum", True, [[13, 15.5], [2, 3], [0, 0], [40, 44]]),
    ("mean", True, [[5.2, 6.2], [2, 3], [np.nan, np.nan], [10, 11]]),
    ("sqrtn", True, [[6.305926, 7.518604], [2, 3], [np.nan, np.nan], [10, 11]]),
])
def test_rows_of_sparse_ids_are_combined(combiner: str, weighted: bool, expected: Any) -> None:
    by = weights() if weighted else None
    found = tf.nn.embedding_lookup_sparse(table(), ids(), by, combiner=combiner)
    assert found.op.name == "embedding_lookup_sparse" and found.shape.as_list() == [None, 2]
    same(run(found), expected)
    for strategy in ("mod", "div"):
        parts = [table()[::2], table()[1::2]] if strategy == "mod" else [table()[:3], table()[3:]]
        same(run(tf.nn.embedding_lookup_sparse(parts, ids(), by, strategy, combiner=combiner)), expected)
    safe = tf.nn.safe_embedding_lookup_sparse([table()], ids(), by, combiner=combiner)
    assert safe.shape.as_list() == [4, 2]
    same(run(safe), np.nan_to_num(expected))


def test_the_gradient_of_the_table_has_each_id_once() -> None:
    t, w = table(), weights()
    plain, by_table = run([tf.gradients(tf.nn.embedding_lookup_sparse(t, ids(), None, combiner="sum"), t)[0],
                           tf.gradients(tf.nn.embedding_lookup_sparse(t, ids(), w, combiner="sum"), [t, w.values])])
    assert plain.indices.tolist() == [1, 3, 5]
    same(plain.values, [[2, 2], [1, 1], [1, 1]])
    same(by_table[0].values, [[1.5, 1.5], [2, 2], [4, 4]])
    same(by_table[1], [5, 13, 5, 21])


def test_bad_ids_and_weights_are_left_out_safely() -> None:
    bad = ids((1, -3, -1, 5))
    same(run(tf.nn.safe_embedding_lookup_sparse([table()], bad)), [[2, 3], [0, 0], [0, 0], [10, 11]])
    same(run(tf.nn.safe_embedding_lookup_sparse([table()], bad, default_id=2)), [[2, 3], [4, 5], [4, 5], [10, 11]])
    by = tf.SparseTensor(PLACES, [0.5, 2.0, -1.0, 4.0], [4, 3])
    same(run(tf.nn.safe_embedding_lookup_sparse([table()], ids(), by)), [[5.2, 6.2], [0, 0], [0, 0], [10, 11]])
    cube = tf.SparseTensor([[0, 0, 0], [0, 1, 1], [1, 1, 0]], np.array([1, 3, 2]), [2, 2, 3])
    same(run(tf.nn.safe_embedding_lookup_sparse([table()], cube)), [[[2, 3], [6, 7]], [[0, 0], [4, 5]]])


@pytest.mark.parametrize(("make", "error"), [
    (lambda: tf.nn.embedding_lookup_sparse(table(), ids(), None, combiner="max"), ValueError),
    (lambda: tf.nn.embedding_lookup_sparse(table(), [1, 2], None), TypeError),
    (lambda: tf.nn.embedding_lookup_sparse(table(), ids(), [1.0]), TypeError),
    (lambda: tf.nn.embedding_lookup_sparse(table(), ids(), tf.SparseTensor([[0, 0]], [1.0], [4, 3])), ValueError),
    (lambda: tf.nn.embedding_lookup_sparse(table(), ids((1, 3, 17, 5)), None), InvalidArgumentError),
    (lambda: tf.nn.embedding_lookup_sparse(table(), ids((1, -3, 1, 5)), None), InvalidArgumentError),
    (lambda: tf.nn.embedding_lookup_sparse(table(), unordered_ids(), None), InvalidArgumentError),
    (lambda: tf.nn.safe_embedding_lookup_sparse([], ids()), ValueError),
    (lambda: tf.nn.safe_embedding_lookup_sparse(None, ids()), ValueError),
])
def test_bad_lookups_fail_as_in_tensorflow(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        run(make())


def unordered_ids() -> tf.SparseTensor:
    return tf.SparseTensor([[1, 0], [0, 0]], np.array([1, 2]), [4, 3])


def test_training_a_table_by_sparse_ids() -> None:
    v = tf.Variable(np.arange(12.0, dtype="f").reshape(6, 2))
    loss = tf.reduce_sum(tf.nn.embedding_lookup_sparse(v, ids(), None, combiner="sum") ** 2.0)
    step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            session.run(step)
        same(session.run(v), [[0, 1], [1.6112, 2.4944], [4, 5], [5.6872, 6.6092], [8, 9], [9.604, 10.5644]])


# ---- where tensors go -------------------------------------------------------------------

def test_functions_of_numbers_keep_a_tensor_sparse() -> None:
    for function, expected in [(tf.square, [1, 4]), (tf.negative, [-1, -2]), (tf.abs, [1, 2]), (tf.sign, [1, 1]),
                               (tf.sqrt, [1, 2 ** 0.5]), (tf.tanh, np.tanh([1, 2])), (tf.to_int32, [1, 2])]:
        same(run(function(sparse())), VALUE._replace(values=expected))
    assert tf.cast(sparse(), tf.int64).dtype is tf.int64
    assert run([tf.shape(sparse()), tf.size(sparse()), tf.rank(sparse())])[1:] == [12, 2]


def test_branches_and_loops_pass_sparse_tensors_on() -> None:
    chosen = tf.cond(tf.constant(False), sparse, lambda: sparse((3.0, 4.0)))
    same(run(chosen), VALUE._replace(values=[3, 4]))
    pair = tf.cond(tf.constant(True), lambda: [tf.constant(1), sparse()], lambda: [tf.constant(2), sparse()])
    same(run(pair[1]), VALUE)
    v = tf.constant([1.0, 2.0])
    count, s = tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s * 2.0), (tf.constant(0), sparse(v)))
    assert run(count) == 2
    same(run(s), VALUE._replace(values=[4, 8]))
    same(run(tf.gradients(s.values, v))[0], [4, 4])
    same(run(tf.while_loop(lambda s: tf.reduce_sum(s.values) < 5.0, lambda s: s * 2.0, [sparse()])),
         VALUE._replace(values=[2, 4]))


def test_a_debugger_runs_what_is_fed_and_fetched_sparsely() -> None:
    p = tf.sparse_placeholder(tf.float32, name="p")
    loss = tf.reduce_sum(tf.sparse_tensor_dense_matmul(p, tf.ones([4, 2])), name="loss")
    with tf.Session() as session:
        debugger = Debugger(session.graph, session)
        value, _ = debugger.on_run(session, [p, loss], {p: VALUE})
        same(value[0], VALUE)
        same(debugger.value("p/values").array, VALUE.values)


def test_edits_are_counted_along_the_last_axis() -> None:
    guess = tf.SparseTensor([[0, 0, 0], [1, 0, 0], [1, 0, 1]], ["a", "b", "c"], [2, 1, 2])
    truth = tf.SparseTensor([[0, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]], ["a", "b", "c", "d"], [2, 2, 2])
    shares, counts = tf.edit_distance(guess, truth), tf.edit_distance(guess, truth, normalize=False, name="counts")
    assert (shares.name, shares.shape, counts.name) == ("edit_distance:0", [2, 2], "counts:0")
    assert [v.tolist() for v in run([shares, counts])] == [[[np.inf, 1], [1, 1]], [[1, 1], [1, 2]]]
    numbers = [tf.SparseTensor([[0, 0], [0, 1], [0, 2], [1, 0], [2, 0]], [1, 2, 3, 4, 5], [3, 3]),
               tf.SparseTensor([[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]], [2, 3, 4, 5, 6], [3, 3])]
    same(run(tf.edit_distance(*numbers)), [0.5, 2 / 3, np.inf])
    for pair, words in (((guess, 1), "Truth must be a SparseTensor"), ((1, truth), "Hypothesis must be a SparseTensor"),
                        ((numbers[0], truth), "does not match")):
        with pytest.raises((TypeError, ValueError), match=words):
            tf.edit_distance(*pair)
