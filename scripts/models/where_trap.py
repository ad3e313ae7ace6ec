"""A guard by tf.where that guards the value, but not the gradient.

What is wrong: sqrt is never used where its input is 0, and the loss is finite. Its gradient is
computed there all the same: the slope of sqrt at 0 is infinite, tf.where multiplies it by 0, and
0 * inf is NaN. Guard the input of sqrt too: tf.sqrt(tf.where(is_ink, brightness, ones)).

    next
    grads                         scale has NaN, although loss is finite
    why scale                     names the branch that was not taken
"""

import digits

import autodiff as tf

STEPS = 3

images = tf.placeholder(tf.float32, [None, 64], name="images")

scale = tf.Variable(tf.ones([64]), name="scale")
brightness = images * scale
is_ink = brightness > 0
contrast = tf.where(is_ink, tf.sqrt(brightness), tf.zeros_like(brightness), name="contrast")
loss = tf.reduce_mean(tf.square(contrast - 0.5), name="loss")
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step, (some_images, _) in zip(range(STEPS), digits.batches(64)):
        value, _ = session.run([loss, train_op], {images: some_images})
        print(f"step {step}: loss {value:.3f}, scale {session.run(scale)[:3]}")
