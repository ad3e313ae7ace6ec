"""Tapes while a graph is built: one inside of the other, weights for what comes in, structures, a Jacobian."""
import tensorflow as tf

x = tf.constant([1.0, 2.0], name="x")
w = tf.Variable([3.0, 4.0], use_resource=True, name="w")
with tf.GradientTape(persistent=True) as g:
    g.watch(x)
    with tf.GradientTape() as gg:
        gg.watch(x)
        y = tf.reduce_sum(x * x * x, name="y")
    dy_dx = gg.gradient(y, x)
    v = tf.multiply(w, x, name="v")
d2y_dx2 = g.gradient(dy_dx, x)
weighted = g.gradient(v, x, output_gradients=tf.constant([10.0, 1.0]))
both = g.gradient({"v": v, "y": y}, {"x": x, "w": [w]})
jacobian = g.jacobian(v, x)
