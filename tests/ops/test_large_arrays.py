"""Ways that only large arrays go: bits in place of branches, products with ones in place of sums."""

import itertools

import numpy as np
import pytest

from autodiff.core.op import OPS
from autodiff.ops.math.comparison import choose
from autodiff.ops.math.reductions import summed

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
