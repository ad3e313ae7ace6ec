"""Programs without a mistake that something was once said against: nothing above a remark may be found in them."""

RIGHT: dict[str, str] = {
    "experts that a softmax mixes": '''
share, experts = dense(p, 4, tf.nn.softmax), dense(p, 4)
loss = tf.losses.mean_squared_error(q, tf.reduce_sum(share * experts, 1, keepdims=True))
fit([adam(.02).minimize(loss), loss], near)
''',
    "two losses share the work": '''
with tf.variable_scope("a"):
    chance = tf.nn.softmax(dense(p, 2))
with tf.variable_scope("b"):
    value = dense(p, 1)
play = adam(.01).minimize(tf.reduce_mean(chance[:, :1] * tf.stop_gradient(q - value)))
judge = adam(.01).minimize(tf.reduce_mean(tf.square(q - value)))
fit([judge, play], near, 8)
''',
    "a narrow code": '''
code = dense(dense(x, 12, tf.nn.relu), 3)
loss = tf.losses.mean_squared_error(x, dense(code, 36, tf.sigmoid))
fit([adam(.01).minimize(loss), loss])
''',
    "averages that warm up": '''
loss = tf.losses.mean_squared_error(x, dense(dense(x, 8, tf.sigmoid), 36, tf.sigmoid))
fit([tf.train.RMSPropOptimizer(.001).minimize(loss), loss], steps=29)
''',
    "weights in bounds, and a bias that cancels": '''
with tf.variable_scope("critic", reuse=tf.AUTO_REUSE):
    scores = [dense(dense(v, 8, tf.nn.relu, name="a"), 1, name="b") for v in (p, -p)]
loss = tf.reduce_mean(scores[0]) - tf.reduce_mean(scores[1])
train = adam(.01).minimize(loss)
bound = [v.assign(tf.clip_by_value(v, -.1, .1)) for v in tf.trainable_variables()]
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(10):
        session.run([train, loss], near(i))
        session.run(bound)
''',
}
