"""The gradient of a loss at a variable, for some data: a script that only builds the graph."""
import tensorflow as tf

data = tf.placeholder(tf.float32)
var = tf.Variable(2.0)
loss = tf.reduce_sum(var * data)
var_grad = tf.gradients(loss, [var])[0]
