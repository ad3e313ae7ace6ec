"""tf.contrib.losses.metric_learning: values, slopes and names as TensorFlow 1.15.5 has them."""

from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.tensorflow_names.alias import standing_in

pytestmark = pytest.mark.usefixtures("own_graph")
losses = tf.contrib.losses.metric_learning
LABELS = [0, 1, 0, 2, 1, 0]
SEVERAL = (0, 1), (1, 2), (2, 4)
CASES = {
    "triplet": (lambda a, b: losses.triplet_semihard_loss(LABELS, a, 0.5), "triplet_semihard_loss:0", 69, 0.10566,
                [0.8732, 0.1981, 0.0, 0.0, -0.01, 0.0534, -0.8533, -0.3049, 0.0, 0.0, -0.01, 0.0534]),
    "lifted": (lambda a, b: losses.lifted_struct_loss(LABELS, a), "liftedstruct_loss:0", 70, 3.71937,
               [1.309, 0.8472, -0.5074, 0.5916, -0.2756, -0.2413, -0.1333, -0.8603, 0.2716, 0.8143, -0.6643, -1.1515]),
    "npairs": (lambda a, b: losses.npairs_loss(LABELS, a, b), "add_1:0", 23, 1.7525,
               [-0.0377, -0.0015, 0.0737, 0.0354, -0.1431, 0.0211, 0.1463, -0.131, 0.0943, 0.0382, -0.1506, -0.0009]),
    "contrastive": (lambda a, b: losses.contrastive_loss([0, 1, 1, 0, 0, 1.0], a, b), "contrastive_loss:0", 13, 1.28209,
                    [0.0, 0.0, 0.1136, -0.2369, -0.5477, 0.2759, 0.0, 0.0, -0.174, 0.1957, -0.584, 0.0044]),
    "several": (lambda a, b: losses.npairs_loss_multilabel(
        [tf.SparseTensor([[i], [j]], [1, 1], [5]) for i, j in SEVERAL], a[:3], b[:3]), "NpairsLossMultiLabel/add_10:0",
        2, 1.35251, [0.2228, -0.1475, 0.0192, -0.0591, -0.2079, 0.2041, 0, 0, 0, 0, 0, 0])}


@pytest.mark.parametrize("case", CASES)
def test_losses_of_embeddings(case: str) -> None:
    build, name, count, value, slopes = CASES[case]
    a, b = (tf.constant(np.reshape(x, (6, 2)), tf.float32) for x in (np.cos(range(12)), np.sin(np.arange(12) * 2)))
    loss = build(a, b)
    made = [op.name for op in tf.get_default_graph().get_operations() if "/" not in op.name]
    assert loss.name == name and len(made) - 2 == count
    with tf.Session() as session:
        found, slope = session.run([loss, tf.gradients(loss, a)[0]])
    np.testing.assert_allclose(found, value, 1e-4)
    np.testing.assert_allclose(slope.ravel(), slopes, atol=1e-4)


def test_losses_are_printed(capfd: Any) -> None:
    with tf.Session() as session:
        session.run(losses.npairs_loss([0, 1], tf.ones([2, 2]), tf.ones([2, 2]), print_losses=True))
    assert "[cross entropy:][0.693147182][l2loss:][0.002]" in capfd.readouterr().err


def test_what_losses_of_embeddings_refuse() -> None:
    with pytest.raises(ValueError, match="labels must have one axis"):
        losses.triplet_semihard_loss([[1], [2]], tf.zeros([2, 2]))
    with pytest.raises(TypeError, match="sparse_labels must be a list of SparseTensors, but got"):
        losses.npairs_loss_multilabel([[1]], tf.zeros([1, 2]), tf.zeros([1, 2]))
    with pytest.raises(AttributeError, match="tf.contrib.losses.nothing"):
        tf.contrib.losses.nothing  # noqa: B018
    with standing_in(shadow=True):
        from tensorflow.contrib.losses.python.metric_learning.metric_loss_ops import (  # type: ignore[import-not-found]
            npairs_loss,
        )
    assert npairs_loss is losses.npairs_loss
