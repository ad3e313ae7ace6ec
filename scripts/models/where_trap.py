"""A guard by tf.where that guards the value, but not the gradient.

What is wrong: x log x is 0 at 0, and the guard makes the loss finite. The gradient goes through both
branches all the same: log at 0 has an infinite slope, tf.where multiplies it by 0, and 0 * inf is
NaN. From then on nothing counts as ink, and the loss is a contented 0. Guard the input of the
logarithm too: tf.log(tf.where(is_ink, ink, tf.ones_like(ink))).

    next 2                        the initializer, then one training step
    grads                         scale has NaN, although loss is finite
    why scale                     names the branch that was not taken
"""

import digits

import autodiff as tf

STEPS = 3

images = tf.placeholder(tf.float32, [None, 64], name="images")

scale = tf.Variable(tf.ones([64]), name="scale")
ink = images * scale
is_ink = ink > 0
surprise = tf.where(is_ink, -ink * tf.log(ink), tf.zeros_like(ink), name="surprise")
loss = tf.reduce_mean(tf.reduce_sum(surprise, axis=1), name="loss")
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step, (some_images, _) in zip(range(STEPS), digits.batches(64)):
        value, _ = session.run([loss, train_op], {images: some_images})
        print(f"step {step}: loss {value:.3f}, scale {session.run(scale)[:3]}")
