"""Cross entropy written by hand: some steps in, the loss is NaN.

What is wrong: the loss takes the logarithm of softmax's output. Once a probability is too small for
float32 it is 0, log(0) is -inf, and 0 * -inf is NaN. Softmax and logarithm belong in one op:
tf.nn.softmax_cross_entropy_with_logits.

    run -f nan                    train until the first NaN
    info nans                     which tensors have it
    why nan                       the first op that made one, and its line here
"""

import digits
import numpy as np

import autodiff as tf

STEPS = 100

images = tf.placeholder(tf.float32, [None, 64], name="images")
targets = tf.placeholder(tf.float32, [None, 10], name="targets")

weights = tf.Variable(tf.zeros([64, 10]), name="weights")
biases = tf.Variable(tf.zeros([10]), name="biases")
probabilities = tf.nn.softmax(tf.matmul(images, weights) + biases, name="probabilities")
loss = tf.reduce_mean(-tf.reduce_sum(targets * tf.log(probabilities), axis=1), name="loss")
train_op = tf.train.AdamOptimizer(1.0).minimize(loss)

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step, (some_images, some_labels) in zip(range(STEPS), digits.batches(64)):
        one_hot = np.eye(10, dtype=np.float32)[some_labels]
        value, _ = session.run([loss, train_op], {images: some_images, targets: one_hot})
        if np.isnan(value):
            print(f"loss is NaN at step {step}")
            break
