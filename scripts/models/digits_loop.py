"""A healthy network on handwritten digits, trained by Session.run in a loop.

Nothing is wrong here: it is the place to look around. The debugger stops at its runs without any
change to this file. To see it work:

    next 20                       twenty training steps
    grads                         the gradient of every variable
    print loss                    and the loss itself
    why hidden1/weights           why a gradient is as it is
"""

import digits
import numpy as np

import autodiff as tf

STEPS, BATCH = 300, 64

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
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)


def accuracy(session: tf.Session) -> float:
    """The part of all digits that the network names rightly, 0 to 1."""
    every_image, every_label = digits.load()
    answers = np.argmax(session.run(logits, {images: every_image}), axis=1)
    return float(np.mean(answers == every_label))


with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step, (some_images, some_labels) in zip(range(STEPS + 1), digits.batches(BATCH)):
        value, _ = session.run([loss, train_op], {images: some_images, labels: some_labels})
        if step % 100 == 0:
            print(f"step {step}: loss {value:.3f}")
    print(f"accuracy {accuracy(session):.3f}")
