"""tf.metrics against sums made by NumPy, over two runs; which weights fit; labels as sets, dense and sparse."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.common.ranks import assert_broadcastable

RANDOM = np.random.RandomState(3)
LABELS, SAID = RANDOM.randint(0, 2, (2, 12)), RANDOM.random_sample((2, 12)).astype(np.float32)
CLASSES, SCORES = RANDOM.randint(0, 4, (2, 6)), RANDOM.random_sample((2, 6, 4)).astype(np.float32)
WEIGHTS = RANDOM.random_sample((2, 12)).astype(np.float32)


def streamed(make: Callable[..., Any], *batches: Any, **fixed: Any) -> Any:
    """The value of a metric after a run for each batch; it is also what the last update gave."""
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.placeholder(batch.dtype, batch.shape[1:]) for batch in batches]
        value, update = make(*inputs, **fixed)
        session.run(tf.local_variables_initializer())
        for rows in zip(*batches):
            last = session.run(update, dict(zip(inputs, rows)))
        found = session.run(value)
        assert np.array_equal(found, session.run(value))
        if np.shape(last) == np.shape(found):
            np.testing.assert_allclose(last, found, rtol=1e-6)
        return found


def counts(threshold: float, weights: Any = 1.0) -> tuple[float, ...]:
    above, true = threshold < SAID, LABELS.astype(bool)
    return tuple(float((hit * weights).sum()) for hit in (above & true, above & ~true, ~above & ~true, ~above & true))


def test_means() -> None:
    x = WEIGHTS
    np.testing.assert_allclose(streamed(tf.metrics.mean_tensor, x), x.mean(0), rtol=1e-6)
    assert streamed(tf.metrics.percentage_below, x, threshold=0.5) == pytest.approx((x < 0.5).mean())
    relative = streamed(lambda a, b, n: tf.metrics.mean_relative_error(a, b, n), SAID, WEIGHTS, SAID)
    assert relative == pytest.approx((np.abs(SAID - WEIGHTS) / SAID).mean(), rel=1e-5)
    unit = SCORES / np.linalg.norm(SCORES, axis=-1, keepdims=True)
    assert streamed(tf.metrics.mean_cosine_distance, unit, unit, dim=1) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("weights", [1.0, 0.5])
def test_counts_and_rates_at_thresholds(weights: float) -> None:
    levels = [0.2, 0.6]
    each = np.array([counts(level, weights) for level in levels]).T
    for name, expected in zip(("true_positives", "false_positives", "true_negatives", "false_negatives"), each):
        make = getattr(tf.metrics, f"{name}_at_thresholds")
        np.testing.assert_allclose(streamed(make, LABELS, SAID, thresholds=levels, weights=weights), expected)
    tp, fp, _, fn = each
    for name, expected in (("precision", tp / (tp + fp)), ("recall", tp / (tp + fn))):
        make = getattr(tf.metrics, f"{name}_at_thresholds")
        found = streamed(make, LABELS, SAID, thresholds=levels, weights=weights)
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_areas_and_operating_points() -> None:
    levels = np.array([-1e-7, *(np.arange(1, 199) / 199), 1 + 1e-7])
    tp, fp, tn, fn = np.array([counts(level) for level in levels]).T
    recall, false_rate = tp / (tp + fn), fp / (fp + tn)
    assert streamed(tf.metrics.auc, LABELS, SAID) == pytest.approx(
        np.sum((false_rate[:-1] - false_rate[1:]) * (recall[:-1] + recall[1:]) / 2), abs=1e-4)
    lower = streamed(tf.metrics.auc, LABELS, SAID, curve="PR", summation_method="minoring")
    between = streamed(tf.metrics.auc, LABELS, SAID, curve="PR", summation_method="careful_interpolation")
    upper = streamed(tf.metrics.auc, LABELS, SAID, curve="PR", summation_method="majoring")
    assert lower < between < upper < lower + 0.2
    at = np.abs(tn / (tn + fp) - 0.7).argmin()
    assert streamed(tf.metrics.sensitivity_at_specificity, LABELS, SAID, specificity=0.7) == pytest.approx(recall[at])
    at = 199 - np.abs(recall - 0.7)[::-1].argmin()
    assert streamed(tf.metrics.specificity_at_sensitivity, LABELS, SAID, sensitivity=0.7) == pytest.approx(
        (tn / (tn + fp))[at])
    for wrong in ({"curve": "X"}, {"summation_method": "x"}):
        with pytest.raises(ValueError, match=r"must be either|Invalid"):
            streamed(tf.metrics.auc, LABELS, SAID, **wrong)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"predictions must be in \[0, 1\]"):
        streamed(tf.metrics.auc, LABELS, SAID + 1)


def test_classes() -> None:
    said = SCORES.argmax(-1)
    matrix = np.zeros((5, 5))
    np.add.at(matrix, (CLASSES.ravel(), said.ravel()), 1)
    union = matrix.sum(0) + matrix.sum(1) - np.diag(matrix)
    assert streamed(tf.metrics.mean_iou, CLASSES, said, num_classes=5) == pytest.approx(
        (np.diag(matrix)[union > 0] / union[union > 0]).mean())
    right = np.diag(matrix) / np.maximum(matrix.sum(1), 1)
    assert streamed(tf.metrics.mean_per_class_accuracy, CLASSES, said, num_classes=5) == pytest.approx(right.mean())


def test_the_first_k_classes() -> None:
    order = (-SCORES).argsort(-1)
    hit = (order[..., :2] == CLASSES[..., None]).any(-1)
    assert streamed(tf.metrics.recall_at_k, CLASSES, SCORES, k=2) == pytest.approx(hit.mean())
    assert streamed(tf.metrics.precision_at_k, CLASSES, SCORES, k=2) == pytest.approx(hit.mean() / 2)
    rank = (order == CLASSES[..., None]).argmax(-1)
    assert streamed(tf.metrics.average_precision_at_k, CLASSES, SCORES, k=3) == pytest.approx(
        np.where(rank < 3, 1 / (rank + 1), 0).mean())
    of_one = CLASSES == 1
    assert streamed(tf.metrics.recall_at_k, CLASSES, SCORES, k=2, class_id=1) == pytest.approx(hit[of_one].mean())


def test_labels_are_sets_and_may_be_sparse() -> None:
    said = np.array([[[0, 1, 1]]])  # 1 counts once
    dense = streamed(tf.metrics.precision_at_top_k, np.array([[[1, 2, 2]]]), said)
    assert dense == pytest.approx(1 / 2)

    def of_sparse(predictions: Any) -> Any:
        labels = tf.SparseTensor([[0, 0], [0, 1]], np.array([1, 2]), [1, 2])
        return tf.metrics.recall_at_top_k(labels, predictions)

    assert streamed(of_sparse, said) == pytest.approx(1 / 2)


def test_weights_fit_or_are_refused() -> None:
    values = np.ones((2, 3, 4), np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        for shape in ((), (1, 3, 1), (3, 4), (3, 3)):
            free = tf.placeholder(tf.float32)
            check = assert_broadcastable(free, tf.placeholder_with_default(values[0], None))
            if shape in ((), (3, 4)):
                session.run(check, {free: np.ones(shape)})
                continue
            with pytest.raises(tf.errors.InvalidArgumentError, match="weights can not be broadcast to values"):
                session.run(check, {free: np.ones(shape)})
        with pytest.raises(ValueError, match="weights can not be broadcast to values"):
            tf.metrics.mean(values[0], np.ones((3, 3)))
