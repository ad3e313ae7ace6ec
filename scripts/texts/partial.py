"""tf.gradients' example of partial and total derivatives, and a quadratic form in two variables."""
import tensorflow as tf

a = tf.constant(0.0)
b = 2 * a
c = a + b

u = tf.Variable([1.0, 2.0])
v = tf.Variable(3.0)
q = tf.reduce_sum(u * u) * v + v ** 3
