"""A recurrent net as a tf.while_loop: its gradient grows with every iteration that it goes back through.

What is wrong: the state is multiplied by the same matrix twenty times, and the largest singular value of that matrix
is far above 1; the first update throws the weights away, and the loss jumps.

    watch step/state
    next                          the watched tensor and its gradient, iteration by iteration
    print step/state[-1]          its value in the last iteration
    why step/state                by how much the gradient grows in each, and what to do
"""

import numpy as np

import autodiff as tf

LENGTH, WIDTH, STEPS = 20, 16, 10

generator = np.random.default_rng(0)

sequence = tf.placeholder(tf.float32, [LENGTH, WIDTH], name="sequence")
target = tf.placeholder(tf.float32, [WIDTH], name="target")
weights = tf.Variable(generator.normal(0, 0.5, [WIDTH, WIDTH]), dtype=tf.float32, name="weights")


def recur(i: tf.Tensor, state: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """One step in time: the input comes in, the state is mixed."""
    mixed = tf.linalg.matvec(weights, state) + 0.01 * sequence[i]
    return i + 1, tf.identity(mixed, name="state")


_, last = tf.while_loop(lambda i, state: i < LENGTH, recur, [0, tf.zeros([WIDTH])], name="step")
loss = tf.reduce_mean(tf.square(last - target), name="loss")
train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for number in range(STEPS):
        feeds = {sequence: generator.normal(size=[LENGTH, WIDTH]), target: generator.normal(size=[WIDTH])}
        value, _ = session.run([loss, train_op], feeds)
        print(f"step {number + 1}: loss {value:.3g}")
