"""tf_debug.GradientsDebugger's example of names: the forward graph is complete."""
import tensorflow as tf

x = tf.Variable(1.0, name="x")
y = tf.add(x, x, name="y")
z = tf.square(y)
