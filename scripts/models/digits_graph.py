"""The network of digits_loop.py as a graph only: no session, no loop, no train op.

Nothing is wrong here. The debugger trains it from its own prompt, with the batches of `feeds`:

    watch /hidden.*/              follow the hidden layers
    train loss                    make a train op under the debugger context
    feed --from feeds             take each step's batch from the generator below
    next 20                       twenty training steps
    grads                         the gradient of every variable
"""

from collections.abc import Iterator

import digits

import autodiff as tf

tf.set_random_seed(1)

images = tf.placeholder(tf.float32, [None, 64], name="images")
labels = tf.placeholder(tf.int32, [None], name="labels")

with tf.name_scope("hidden1"):
    weights1 = tf.Variable(tf.truncated_normal([64, 32], stddev=0.2), name="weights")
    biases1 = tf.Variable(tf.zeros([32]), name="biases")
    hidden1 = tf.nn.relu(tf.matmul(images, weights1) + biases1)

with tf.name_scope("hidden2"):
    weights2 = tf.Variable(tf.truncated_normal([32, 16], stddev=0.3), name="weights")
    biases2 = tf.Variable(tf.zeros([16]), name="biases")
    hidden2 = tf.nn.relu(tf.matmul(hidden1, weights2) + biases2)

with tf.name_scope("output"):
    weights3 = tf.Variable(tf.truncated_normal([16, 10], stddev=0.4), name="weights")
    biases3 = tf.Variable(tf.zeros([10]), name="biases")
    logits = tf.matmul(hidden2, weights3) + biases3

losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
loss = tf.reduce_mean(losses, name="loss")


def feeds() -> Iterator[dict]:
    """A feed_dict for each training step: 64 random digits."""
    for some_images, some_labels in digits.batches(64):
        yield {images: some_images, labels: some_labels}
