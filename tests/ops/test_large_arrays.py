"""Ways that only large arrays go: bits in place of branches, products with ones in place of sums."""

import itertools

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.op import OPS
from autodiff.ops.arrays import partition
from autodiff.ops.common import threads
from autodiff.ops.math.comparison import choose
from autodiff.ops.math.reductions import summed
from autodiff.ops.state import optimizer_steps
from autodiff.ops.state.optimizer_steps import adam_step
from autodiff.runtime.plan.state import Run

SIZE = 3 * 5000
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45]


def _numbers(dtype: type = np.float32) -> np.ndarray:
    values = np.random.default_rng(0).standard_normal(SIZE).astype(dtype)
    values[:7] = SPECIAL if np.issubdtype(dtype, np.floating) else 3
    return values


def _bits(x: np.ndarray) -> bytes:
    return np.where(np.isnan(x), np.nan, x).astype(x.dtype).tobytes()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64, np.uint8])
def test_choosing_by_bits_is_choosing(dtype: type) -> None:
    x = _numbers(dtype)
    y = x[::-1].copy()
    for mask, a, b in ((x > 0, x, y), (np.zeros(SIZE, bool), x, y), (x > 0, x, np.array(2, dtype)),
                       (x[:3] > 0, x.reshape(-1, 3), y.reshape(-1, 3))):
        expected = np.where(mask, a, b)
        out = np.empty_like(expected)
        assert choose(mask, a, b, out) is out
        assert out.tobytes() == choose(mask, a, b).tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.complex64])
def test_choosing_whole_rows_is_choosing(dtype: type) -> None:
    x = _numbers(dtype).reshape(-1, 3)
    y = np.asfortranarray(x[::-1])
    for mask in (x[:, 0].real > 0, np.zeros(len(x), bool), np.ones(len(x), bool)):
        found = OPS["Select"].kernel(mask, x, y)
        assert found.tobytes() == np.where(mask[:, None], x, y).tobytes() and found.flags.c_contiguous


@pytest.mark.parametrize("alpha", [0.0, 0.2, 1.0, 1.5, -0.5])
def test_leaky_relu_is_a_choice(alpha: float) -> None:
    x = _numbers()
    with np.errstate(all="ignore"):
        found, expected = OPS["LeakyRelu"].kernel(x, alpha=alpha), np.where(x > 0, x, x * np.float32(alpha))
    assert _bits(found) == _bits(expected)


@pytest.mark.parametrize("axes", [axes for count in (0, 1, 2, 3) for axes in itertools.combinations(range(3), count)])
def test_sums_as_products_are_sums(axes: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal((40, 30, 20))
    for array, places in itertools.product((x, x.transpose(2, 0, 1)), (axes, tuple(a - 3 for a in axes))):
        for keep_dims in (False, True):
            expected = array.sum(places, keepdims=keep_dims)
            out = np.empty_like(expected)
            found = summed(array, places, out if expected.ndim else None, keep_dims)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
            assert found.shape == expected.shape
            assert found is out or not expected.ndim
    x[1, 2, 3] = np.nan
    assert (np.isnan(summed(x, axes)) == np.isnan(x.sum(axes))).all()


@pytest.mark.parametrize("low, high", [(0, 1), (0, 40), (-128, 128), (2**31 - 90, 2**31), (-2**62, 2**62)])
def test_distinct_numbers_by_a_table_are_those_by_sorting(low: int, high: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(1).integers(low, high, 500)
    x = x.astype(np.int8 if high == 128 else np.int32 if high == 2**31 else np.int64)
    found = OPS["UniqueWithCounts"].kernel(x)
    monkeypatch.setattr(partition, "_WIDEST", -2**63)  # no table is small enough
    expected = OPS["UniqueWithCounts"].kernel(x)
    assert [(a.dtype, a.tolist()) for a in found] == [(a.dtype, a.tolist()) for a in expected]


@pytest.mark.parametrize("classes", [7, 40])  # few are added up side by side
def test_cross_entropies_of_logits_that_lie_by_columns_are_those_of_rows(classes: int) -> None:
    x = np.random.default_rng(2).standard_normal((300, classes)).astype(np.float32)
    labels = np.arange(300, dtype=np.int32) % classes
    kernel = OPS["SparseSoftmaxCrossEntropyWithLogits"].kernel
    for found, expected in zip(kernel(np.asfortranarray(x), labels), kernel(x, labels)):
        assert found.tobytes() == expected.tobytes()
    loss, backprop = kernel(x, labels)
    p = np.exp(x.astype(np.float64)) / np.exp(x.astype(np.float64)).sum(1, keepdims=True)
    np.testing.assert_allclose(loss, -np.log(p[np.arange(300), labels]), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(backprop, p - np.eye(classes)[labels], rtol=1e-5, atol=1e-6)


def test_a_training_step_in_pieces_has_the_bits_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    given = [_numbers()[:3000].reshape(30, 100) + i for i in range(4)]
    with np.errstate(all="ignore"):
        whole = adam_step(*given[:3], 0.1, 0.9, 0.999, 1e-8, given[3], False)
        for name in ("PIECE", "LARGE"):
            monkeypatch.setattr(threads, name, 70)
        pieces = threads.in_pieces(adam_step, *given[:3], 0.1, 0.9, 0.999, 1e-8, given[3], False)
    assert [a.tobytes() for a in pieces] == [a.tobytes() for a in whole]


def test_variables_are_stepped_in_place_where_nobody_holds_them_with_the_same_bits(monkeypatch: pytest.MonkeyPatch
                                                                                   ) -> None:
    def stepped(optimizer: tf.train.Optimizer) -> list[bytes]:
        tf.reset_default_graph()
        w = tf.Variable(np.sin(np.arange(3000, dtype=np.float32)).reshape(30, 100))
        train = optimizer.minimize(tf.reduce_sum(tf.square(w)))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            seen = [session.run([w, train])[0] for _ in range(3)]
            kept = [value.tobytes() for value in seen]
            session.run(train)
            assert [value.tobytes() for value in seen] == kept
            return [*kept, session.run(w).tobytes()]

    owned: list[int] = []
    own = Run.own
    monkeypatch.setattr(Run, "own", lambda run, names: owned.append(len(own(run, names))) or own(run, names))
    for make in (tf.train.AdamOptimizer, lambda: tf.train.MomentumOptimizer(0.1, 0.9),
                 lambda: tf.train.GradientDescentOptimizer(0.1)):
        monkeypatch.setattr(optimizer_steps, "IN_PLACE", 1 << 40)
        expected = stepped(make())
        monkeypatch.setattr(optimizer_steps, "IN_PLACE", 0)
        assert stepped(make()) == expected
    assert {3, 2, 1} <= {*owned}


@pytest.mark.parametrize("segments", [40, 900, 5000])  # many rows each, few, one or none
def test_sums_of_long_rows_by_segment_are_those_of_one_after_the_other(segments: int) -> None:
    rows = np.random.default_rng(4).standard_normal((2000, 33)).astype(np.float32)
    ids = np.random.default_rng(5).integers(-1, segments, 2000)
    expected = np.zeros((segments, 33), np.float64)
    np.add.at(expected, ids[ids >= 0], rows[ids >= 0].astype(np.float64))
    found = OPS["UnsortedSegmentSum"].kernel(rows, ids, np.int64(segments))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    products = OPS["UnsortedSegmentProd"].kernel(rows, ids, np.int64(segments))
    assert (products[np.setdiff1d(np.arange(segments), ids)] == 1).all()
