"""tf_debug.GradientsDebugger's own example, up to the tensor whose gradient is wanted."""
import tensorflow as tf

x = tf.Variable(1.0)
y = tf.add(x, x)
