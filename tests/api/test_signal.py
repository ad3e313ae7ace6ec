"""Fourier transforms: their definition, each other's inverse, types and lengths as TensorFlow 1.15 has them."""

from typing import Any

import numpy as np
import pytest

import autodiff as tf

RNG = np.random.default_rng(2)
Z = RNG.normal(size=(2, 3, 4, 5)) + 1j * RNG.normal(size=(2, 3, 4, 5))
X = RNG.normal(size=(2, 3, 4, 5))


def run(fetched: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetched)


@pytest.fixture(autouse=True)
def a_graph() -> Any:
    with tf.Graph().as_default():
        yield


def test_a_transform_is_the_sum_it_says() -> None:
    k = np.arange(5)
    matrix = np.exp(-2j * np.pi * np.outer(k, k) / 5)
    np.testing.assert_allclose(run(tf.fft(tf.constant(Z))), Z @ matrix, atol=1e-12)
    np.testing.assert_allclose(run(tf.signal.rfft(tf.constant(X))), (X @ matrix)[..., :3], atol=1e-12)


@pytest.mark.parametrize("rank", ["", "2d", "3d"])
def test_inverses_undo(rank: str) -> None:
    there, back = getattr(tf.signal, f"fft{rank}"), getattr(tf.spectral, f"ifft{rank}")
    np.testing.assert_allclose(run(back(there(tf.constant(Z)))), Z, atol=1e-12)
    there, back = getattr(tf.spectral, f"rfft{rank}"), getattr(tf.signal, f"irfft{rank}")
    sizes = X.shape[-int(rank[:1] or 1):]
    np.testing.assert_allclose(run(back(there(tf.constant(X)), sizes)), X, atol=1e-12)


def test_a_length_cuts_or_pads() -> None:
    x = tf.constant(X)
    np.testing.assert_allclose(run(tf.signal.rfft(x, [8])), np.fft.rfft(X, 8), atol=1e-12)
    np.testing.assert_allclose(run(tf.signal.rfft2d(x, [2, 3])), np.fft.rfft2(X, (2, 3)), atol=1e-12)
    assert tf.signal.irfft(tf.constant(Z)).shape.as_list() == [2, 3, 4, 8]
    assert tf.signal.irfft(tf.constant(Z), [9]).shape.as_list() == [2, 3, 4, 9]


def test_lengths_of_unknown_shapes_are_found_in_the_run() -> None:
    x = tf.placeholder(tf.float64, [None, None])
    y = tf.signal.irfft(tf.signal.rfft(x))
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(y, {x: X[0, 0, :, :4]}), X[0, 0, :, :4], atol=1e-12)


def test_types() -> None:
    assert tf.fft([1.0, 2.0]).dtype is tf.complex64
    assert tf.signal.rfft(X).dtype is tf.complex64
    assert tf.signal.irfft(tf.constant(Z)).dtype is tf.float64
    with pytest.raises(TypeError):
        tf.fft(tf.constant(X))


def test_the_middle_of_frequencies() -> None:
    for axes in (None, [1, 3], -1):
        np.testing.assert_array_equal(run(tf.signal.fftshift(X, axes)), np.fft.fftshift(X, axes))
        np.testing.assert_array_equal(run(tf.signal.ifftshift(X, axes)), np.fft.ifftshift(X, axes))
