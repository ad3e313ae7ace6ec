"""A deep network of sigmoids: the gradients of its first layers vanish.

What is wrong: the slope of a sigmoid is at most 1/4 and the weights are small, so each of the eight
layers shrinks the gradient; the first layers hardly learn, and the loss stays near ln 10 = 2.303.

    next 5
    grads --sort norm             a norm for each layer, falling by orders of magnitude
    why layer1/weights            where the gradient was lost, and what to do
    path loss layer1/weights      the gain of each op on the way
"""

import digits

import autodiff as tf

LAYERS, STEPS = 8, 50

tf.set_random_seed(2)

images = tf.placeholder(tf.float32, [None, 64], name="images")
labels = tf.placeholder(tf.int32, [None], name="labels")


def dense(x: tf.Tensor, inputs: int, outputs: int, name: str) -> tf.Tensor:
    """x W + b with small random weights. x: float[n, inputs] -> float[n, outputs]."""
    with tf.name_scope(name):
        weights = tf.Variable(tf.random_normal([inputs, outputs], stddev=0.1), name="weights")
        biases = tf.Variable(tf.zeros([outputs]), name="biases")
        return tf.matmul(x, weights) + biases


hidden = images
for number in range(1, LAYERS + 1):
    hidden = tf.sigmoid(dense(hidden, 64 if number == 1 else 32, 32, f"layer{number}"))
logits = dense(hidden, 32, 10, "output")

losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
loss = tf.reduce_mean(losses, name="loss")
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _, (some_images, some_labels) in zip(range(STEPS), digits.batches(64)):
        value, _ = session.run([loss, train_op], {images: some_images, labels: some_labels})
    print(f"loss {value:.3f} after {STEPS} steps")
