"""A loss on the answers rather than on the scores: no gradient comes back.

What is wrong: argmax gives an integer, and nothing differentiable leads from it to the weights.
`weights` and `biases` get None; only `factor`, which comes after the cut, is trained. Take the loss
of the scores: tf.nn.sparse_softmax_cross_entropy_with_logits.

    next 5                        the initializer, then four training steps
    grads                         two gradients are missing, with the reason
    why weights                   where the path from loss is cut, and on which line
"""

import digits

import autodiff as tf

STEPS = 50

tf.set_random_seed(5)

images = tf.placeholder(tf.float32, [None, 64], name="images")
labels = tf.placeholder(tf.int32, [None], name="labels")

weights = tf.Variable(tf.random_normal([64, 10], stddev=0.1), name="weights")
biases = tf.Variable(tf.zeros([10]), name="biases")
factor = tf.Variable(1.0, name="factor")

scores = tf.matmul(images, weights) + biases
answers = tf.cast(tf.argmax(scores, axis=1), tf.float32, name="answers")
wanted = tf.cast(labels, tf.float32)
loss = tf.reduce_mean(tf.square(factor * answers - wanted), name="loss")
train_op = tf.train.GradientDescentOptimizer(0.001).minimize(loss)

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    before = session.run(weights)
    for _, (some_images, some_labels) in zip(range(STEPS), digits.batches(64)):
        session.run(train_op, {images: some_images, labels: some_labels})
    moved = abs(session.run(weights) - before).max()
    print(f"after {STEPS} steps the weights have moved by {moved}")
