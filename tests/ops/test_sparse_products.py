"""Sparse products remember how entries are laid out: no bit of a result depends on it."""
import numpy as np
import pytest

import autodiff as tf
from autodiff.ops.sparse import row_layout


def entries(seed, rows=7, columns=5, count=12):
    """Places, two of them alike, values and shape."""
    rng = np.random.default_rng(seed)
    places = np.stack([rng.integers(0, rows, count), rng.integers(0, columns, count)], 1)
    places[-1] = places[0]
    return places, rng.standard_normal(count).astype(np.float32), np.array([rows, columns])


@pytest.fixture
def product():
    """A function from places, values and shape to the products with a matrix, and of the adjoint."""
    x = tf.sparse_placeholder(tf.float32)
    b = tf.constant(np.random.default_rng(9).standard_normal((7, 3)).astype(np.float32))
    both = [tf.sparse_tensor_dense_matmul(x, b[:5]), tf.sparse_tensor_dense_matmul(x, b, adjoint_a=True)]
    with tf.Session() as session:
        yield lambda *fed: [y.tobytes() for y in session.run(both, {x: fed})]


def test_a_remembered_layout_gives_the_bits_of_a_new_one(product):
    first = [product(*entries(seed)) for seed in range(12)]  # more than are remembered
    again = [product(*entries(seed)) for seed in reversed(range(12))][::-1]
    row_layout._known.clear()
    assert first == again == [product(*entries(seed)) for seed in range(12)]


def test_indices_that_are_changed_in_place_are_laid_out_anew(product):
    places, values, shape = entries(1)
    before = product(places, values, shape)
    places[:, 0] = (places[:, 0] + 1) % 7
    changed = product(places, values, shape)
    row_layout._known.clear()
    assert changed == product(places, values, shape) != before
    places[0, 0] = 7
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = \[7, \d\] is out of bounds"):
        product(places, values, shape)


def test_long_rows_are_multiplied_in_pieces_with_the_same_bits(product, monkeypatch):
    whole = product(*entries(2))
    monkeypatch.setattr(row_layout, "_TILE", 16)
    assert product(*entries(2)) == whole


def test_rows_without_entries_are_zero_and_others_meet_no_infinity():
    indices, values, shape = np.array([[0, 0], [2, 1]]), np.ones(2), np.array([4, 3])
    layout = row_layout.layout_of(indices, values, shape, adjoint=False)
    b = np.array([[1.0, 2], [3, 4], [np.inf, np.nan]])
    assert layout.product(values, b).tolist() == [[1, 2], [0, 0], [3, 4], [0, 0]]


def test_slices_are_added_in_the_order_of_the_updates_whatever_the_rank() -> None:
    draw = np.random.RandomState(3)
    for shape, depth in (((4, 5), 2), ((4, 5, 3), 2), ((4, 5, 3), 1), ((4,), 1)):
        indices = np.stack([draw.randint(0, n, (7, 2)) for n in shape[:depth]], axis=-1)
        updates = draw.randn(7, 2, *shape[depth:]).astype(np.float32) * 1e3
        expected = np.zeros(shape, np.float32)
        np.add.at(expected, tuple(np.moveaxis(indices, -1, 0)), updates)
        with tf.Graph().as_default(), tf.Session() as session:
            added = tf.scatter_nd(indices, updates, shape)
            given, back = session.run([added, tf.gather_nd(tf.transpose(added), indices[..., :1] * 0)])
            assert (given == expected).all() and back.shape[:2] == (7, 2)
            with pytest.raises(tf.errors.InvalidArgumentError, match="does not index"):
                session.run(tf.scatter_nd(indices - 9, updates, shape))
