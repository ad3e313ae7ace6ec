"""Sparse tensors: the class, feeding and fetching, functions of entries; numbers are TensorFlow 1.15.5's."""

from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.errors import InvalidArgumentError
from autodiff.graph import Graph

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
