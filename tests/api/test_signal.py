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


pytestmark = pytest.mark.usefixtures("own_graph")


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


def test_frames_and_their_sum() -> None:
    x = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0])
    assert run(tf.signal.frame(x, 3, 2)).tolist() == [[1, 2, 3], [3, 4, 5]]
    padded = tf.signal.frame(x, 3, 2, pad_end=True, pad_value=9.0)
    assert run(padded).tolist() == [[1, 2, 3], [3, 4, 5], [5, 9, 9]]
    assert run(tf.gradients(padded, x)[0]).tolist() == [1, 1, 2, 1, 2]
    assert run(tf.signal.overlap_and_add(padded, 2)).tolist() == [1, 2, 6, 4, 10, 9, 9]
    free, step = tf.placeholder_with_default(np.arange(12).reshape(2, 6), None), tf.placeholder_with_default(3, [])
    assert run(tf.signal.frame(free, 4, step, pad_end=True)).tolist() == [
        [[0, 1, 2, 3], [3, 4, 5, 0]], [[6, 7, 8, 9], [9, 10, 11, 0]]]
    assert tf.signal.frame(tf.zeros([1, 5, 3]), 2, 2, axis=1).shape.as_list() == [1, 2, 2, 3]
    assert run(tf.signal.overlap_and_add(tf.signal.frame(free, 4, step), step)).tolist() == [[0, 1, 2, 3], [6, 7, 8, 9]]
    for wrong in (lambda: tf.signal.frame(1.0, 1, 1), lambda: tf.signal.frame([1.0], [1], 1),
                  lambda: tf.signal.overlap_and_add([[1.0]], 1.5)):
        with pytest.raises(ValueError):
            wrong()


def test_transforms_of_frames_and_back() -> None:
    signal = RNG.normal(size=(2, 64)).astype(np.float32)
    windowed = run(tf.signal.stft(signal, 12, 6))
    frames = np.stack([signal[:, i:i + 12] for i in range(0, 53, 6)], 1) * run(tf.signal.hann_window(12))
    np.testing.assert_allclose(windowed, np.fft.rfft(frames, 16), atol=1e-5)
    back = run(tf.signal.inverse_stft(windowed, 12, 6, window_fn=tf.signal.inverse_stft_window_fn(6)))
    np.testing.assert_allclose(back[:, 6:-6], signal[:, 6:54], atol=1e-5)


def test_windows() -> None:
    np.testing.assert_allclose(run(tf.signal.hann_window(4)), [0, 0.5, 1, 0.5], atol=1e-7)  # as TensorFlow 1.15
    np.testing.assert_allclose(run(tf.signal.hamming_window(4, periodic=False)), [0.08, 0.77, 0.77, 0.08], atol=1e-6)
    assert run(tf.signal.hann_window(1)).tolist() == [1.0]


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_cosine_transforms_are_their_sums(kind):
    n = 5
    x = np.random.default_rng(0).normal(size=(2, n)).astype(np.float32)
    j, k = np.indices((n, n))
    cosines = {1: np.cos(np.pi * j * k / (n - 1)), 2: np.cos(np.pi * k * (2 * j + 1) / (2 * n)),
               3: np.cos(np.pi * j * (2 * k + 1) / (2 * n))}[kind]
    weights = np.full((n, 1), 2.0) if kind == 2 else np.where((j == 0) | (kind == 1) & (j == n - 1), 1.0, 2.0)
    unknown = tf.placeholder_with_default(x, [2, None])
    found = [tf.signal.dct(x, kind), tf.signal.dct(unknown, kind), tf.signal.dct(x[:, :3], kind, n=n),
             tf.signal.idct(tf.signal.dct(x, kind), kind), tf.signal.dct(np.eye(n), 1 + kind % 2 + 1, norm="ortho")]
    with tf.Session() as session:
        own, other, padded, back, orthogonal = session.run(found)
    np.testing.assert_allclose(own, x @ (weights * cosines), atol=1e-5)
    np.testing.assert_allclose(other, own, atol=1e-5)
    np.testing.assert_allclose(padded, (x * (np.arange(n) < 3)) @ (weights * cosines), atol=1e-5)
    np.testing.assert_allclose(back, x * 2 * (n - (kind == 1)), atol=1e-5)
    np.testing.assert_allclose(orthogonal @ orthogonal.T, np.eye(n), atol=1e-6)
    for error, options in (ValueError, {"type": 4}), (ValueError, {"type": 1, "norm": "ortho"}), (
            ValueError, {"norm": "bad"}), (NotImplementedError, {"axis": 0}), (ValueError, {"n": 0}):
        with pytest.raises(error):
            tf.signal.dct(x, **options)


def test_mel_bands_are_triangles_and_their_coefficients_cosines():
    bands = tf.signal.linear_to_mel_weight_matrix(3, 9, tf.constant(8000), 0.0, 4000.0)
    with tf.Session() as session:
        weights, coefficients = session.run([bands, tf.signal.mfccs_from_log_mel_spectrograms(tf.ones([1, 8]))])
    np.testing.assert_allclose(weights, [  # TensorFlow 1.15.5's
        [0, 0, 0], [0.8677956, 0.13220443, 0], [0.13615012, 0.8638499, 0], [0, 0.59455997, 0.40544003],
        [0, 0.1643732, 0.8356268], [0, 0, 0.80748725], [0, 0, 0.50252086], [0, 0, 0.23626882], [0, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(coefficients, [[4.0, *[0] * 7]], atol=1e-6)
    for options in ({"num_mel_bins": 0}, {"sample_rate": 0.0}, {"upper_edge_hertz": 5000.0}, {"dtype": tf.int32},
                    {"sample_rate": tf.placeholder(tf.float32)}):
        with pytest.raises(ValueError):
            tf.signal.linear_to_mel_weight_matrix(**options)
