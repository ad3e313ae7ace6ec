"""Models of tf.keras with a mistake: kind -> the program, what is wrong in it, and what is right."""

KERAS = """
import tensorflow as tf
keras, layers = tf.keras, tf.keras.layers
np.random.seed(1)
draw = np.random.RandomState(3)
data = draw.randn(240, 8).astype(np.float32)
classes = data[:, :4].argmax(1)
def model(*last, hidden="relu"):
    return keras.Sequential([
        layers.Dense(16, hidden, input_shape=(8,)),
        *last])
"""

# The line that is to be blamed has a comment, #!
PROGRAMS_OF_KERAS = {
    "log of no probability": ('''
m = model(layers.Dense(4))
m.compile("adam", "sparse_categorical_crossentropy")  #!
m.fit(data, classes, 24, 2, verbose=0)
''', "Dense(4)", 'Dense(4, "softmax")'),
    "sigmoid over classes": ('''
m = model(layers.Dense(4, "sigmoid"))
m.compile("adam", "categorical_crossentropy")  #!
m.fit(data, np.eye(4)[classes], 24, 3, verbose=0)
''', "sigmoid", "softmax"),
    "one class": ('''
m = model(layers.Dense(1, "sigmoid"))
m.compile("adam", loss="categorical_crossentropy")  #!
m.fit(data, classes > 1, 40, 3, verbose=0)
''', "categorical", "binary"),
    "learning rate decayed to nothing": ('''
m = model(layers.Dense(4, "softmax"))
rule = keras.optimizers.SGD(.1, decay=10.0, momentum=.9)  #!
m.compile(rule, "sparse_categorical_crossentropy")
m.fit(data, classes, 24, 3, verbose=0)
''', "10.0", "1e-5"),
    "inputs almost zero": ('''
m = keras.Sequential([
    layers.Dense(16, "relu", input_shape=(8,)),
    layers.Dense(4, "softmax")])
m.compile("sgd", "sparse_categorical_crossentropy")
m.fit(data / 4e3, classes, 24, 3, verbose=0)  #!
''', "data / 4e3", "data"),
    "sorted by class": ('''
m = model(layers.Dense(4, "softmax"))
m.compile("adam", "sparse_categorical_crossentropy")
order = np.argsort(classes)
m.fit(data[order], classes[order], 12, 1, shuffle=False, verbose=0)  #!
''', "False", "True"),
    "learning rate too high": ('''
m = model(layers.Dense(4, "softmax"))
m.compile(loss="sparse_categorical_crossentropy", optimizer=keras.optimizers.SGD(9.))  #!
m.fit(data, classes, 24, 3, verbose=0)
''', "SGD(9.)", "SGD(.1)"),
    "targets out of range": ('''
m = model(
    layers.Dense(1, activation="tanh"))  #!
m.compile("rmsprop", "mse")
m.fit(data, 9 * data[:, 0], 40, 3, verbose=0)
''', '"tanh"', "None"),
    "no gradient": ('''
m = model(layers.Dense(4, "softmax"))
for layer in m.layers[:]:
    layer.trainable = False  #!
m.compile("adam", "sparse_categorical_crossentropy")
m.fit(data, classes, 24, 2, verbose=0)
''', "m.layers[:]", "m.layers[:0]"),
    "two losses train the same": ('''
critic, maker = model(layers.Dense(1, "sigmoid")), model(
    layers.BatchNormalization(), layers.Dense(8))
critic.compile("adam", "binary_crossentropy")
z = keras.Input((8,))
judged = critic(maker(z))
# freeze
both = keras.Model(z, judged)
both.compile("adam", "binary_crossentropy")  #!
for i in range(6):
    critic.train_on_batch(data[:32] + 3, np.ones(32))
    critic.train_on_batch(maker.predict_on_batch(data[:32]), np.zeros(32))
    both.train_on_batch(data[:32], np.ones(32))
''', "# freeze", "critic.trainable = False"),
    "dropout of the logits": ('''
z = keras.Sequential([layers.Dense(16, "relu", input_shape=(8,)), layers.Dense(4)])(x[:, :8])
z = tf.layers.dropout(z, .5, training=tf.placeholder_with_default(True, []))  #!
fit(adam(.01).minimize(tf.losses.softmax_cross_entropy(y, z)))
''', "z = tf.layers.dropout(z,", "tf.layers.dropout(z,"),
    "accuracy of a regression": ('''
m = model(layers.Dense(1))
m.compile("adam", "mse", metrics=["accuracy"])  #!
m.fit(data, np.sin(data).sum(1), 40, 2, verbose=0)
''', '"accuracy"', '"mae"'),
    "class numbers": ('''
m = model(layers.Dense(1))
m.compile("adam", "mse", metrics=["accuracy"])  #!
m.fit(data, classes, 40, 2, verbose=0)
''', '"accuracy"', '"mae"'),
    "divergence too heavy": ('''
seen = keras.Input((8,))
mean, logs = layers.Dense(2)(seen), layers.Dense(2)(seen)
code = layers.Lambda(lambda z: z[0] + tf.exp(z[1] / 2) * tf.random_normal(tf.shape(z[0])))([mean, logs])
told = layers.Dense(8)(code)
error = keras.losses.mean_squared_error(seen, told)  #!
spread = -.5 * tf.reduce_sum(1 + logs - mean ** 2 - tf.exp(logs), 1)
m = keras.Model(seen, told)
m.add_loss(tf.reduce_mean(error + spread))
m.compile(keras.optimizers.Adam(.05))
m.fit(data, epochs=4, batch_size=24, verbose=0)
''', "error =", "error = 8 *"),
    "changed after compile": ('''
m = model(layers.Dense(4, "softmax"))
m.compile("adam", "sparse_categorical_crossentropy")
m.layers[0].trainable = False  #!
# again
m.fit(data, classes, 24, 2, verbose=0)
''', "# again", 'm.compile("adam", "sparse_categorical_crossentropy")'),
    "critic told the same of both": ('''
critic, maker = model(layers.Dense(1, "sigmoid")), model(layers.Dense(8))
critic.compile("adam", "binary_crossentropy")  #!
critic.trainable = False
z = keras.Input((8,))
both = keras.Model(z, critic(maker(z)))
both.compile("adam", "binary_crossentropy")
right, made = np.ones(32), np.ones(32)
for i in range(6):
    critic.train_on_batch(data[:32] + 3, right)
    critic.train_on_batch(maker.predict_on_batch(data[:32]), made)
    both.train_on_batch(data[:32], right)
''', "made = np.ones(32), np.ones(32)", "made = np.ones(32), np.zeros(32)"),
    "unbalanced classes": ('''
m = model(layers.Dense(1, "sigmoid"))
m.compile("sgd", "binary_crossentropy")
m.fit(data, data[:, 0] > 1.9, 24, 2, verbose=0)  #!
''', "verbose=0", "verbose=0, class_weight={0: 1.0, 1: 30.0}"),
    "batch norm of one example": ('''
normal = keras.layers.BatchNormalization()
train = tf.placeholder_with_default(False, [])
h = normal(dense(x, 16), training=True)  #!
loss = tf.losses.sparse_softmax_cross_entropy(t, dense(tf.nn.relu(h), 4))
step = adam(.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(10):
        session.run([step, normal.updates], {**fed(i), train: True})
    session.run(h, {x: X[:1]})
''', "training=True)", "training=train)"),
    "not trained": ('''
head = keras.Sequential([layers.Dense(16, "relu", input_shape=(8,)), layers.Dense(4, "softmax")])
head.trainable = False  #!
m = keras.Sequential([layers.BatchNormalization(input_shape=(8,)), head])
m.compile("adam", "sparse_categorical_crossentropy")
m.fit(data, classes, 24, 3, verbose=0)
''', "trainable = False", "trainable = True"),
    "target among the inputs": ('''
wave = np.sin(np.arange(260) * .2) + .1 * draw.randn(260)
m = keras.Sequential([layers.SimpleRNN(8, input_shape=(12, 1)), layers.Dense(1)])
m.compile("adam", "mse")
seen = np.stack([wave[i:i + 12] for i in range(240)])
m.fit(seen[..., None], wave[11:251], 24, 2, verbose=0)  #!
''', "wave[11:251]", "wave[12:252]"),
    "loss weight of 0": ('''
seen = keras.Input((8,))
h = layers.Dense(16, "relu")(seen)
m = keras.Model(seen, [layers.Dense(4, "softmax")(h), layers.Dense(1)(h)])
m.compile("adam", ["sparse_categorical_crossentropy", "mse"], loss_weights=[1.0, 0.0])  #!
m.fit(data, [classes, np.sin(data).sum(1)], 24, 3, verbose=0)
''', "0.0", "0.3"),
    "class weights the wrong way round": ('''
m = model(layers.Dense(1, "sigmoid"))
m.compile("adam", "binary_crossentropy")
share = np.mean(data[:, 0] > 1)
m.fit(data, data[:, 0] > 1, 24, 3, verbose=0, class_weight={0: 1 - share, 1: share})  #!
''', "{0: 1 - share, 1: share}", "{1: 1 - share, 0: share}"),
    "averages behind": ('''
m = model(
    layers.BatchNormalization(momentum=.99),  #!
    layers.Dense(4, "softmax"), hidden=None)
m.compile(keras.optimizers.Adam(.02), "sparse_categorical_crossentropy")
m.fit(9 + 3 * data, classes, 24, 2, verbose=0)
m.predict(9 + 3 * data)
''', ".99", ".8"),
    "compiled anew": ('''
m = model(layers.Dense(4, "softmax"))
for epoch in range(4):
    if epoch >= 0:
        m.compile("adam", "sparse_categorical_crossentropy")  #!
    m.fit(data, classes, 24, verbose=0)
''', "epoch >= 0", "epoch == 0"),
    "labels do not follow from inputs": ('''
topics = draw.randint(0, 4, 1000)
words = np.concatenate([4 + 9 * topics[:, None], draw.randint(4, 40, (1000, 5))], 1)
m = keras.Sequential([layers.Embedding(40, 8, input_length=6), layers.GlobalAveragePooling1D(),
                      layers.Dense(4, "softmax")])
m.compile(keras.optimizers.Adam(.02), "sparse_categorical_crossentropy")
m.fit(draw.permutation(words), topics, 50, 4, verbose=0)  #!
''', "draw.permutation(words)", "words"),
    "better taken for worse": ('''
m = model(layers.Dense(4, "softmax"))
m.compile("adam", "sparse_categorical_crossentropy")
stop = keras.callbacks.EarlyStopping("val_loss", mode="max")  #!
m.fit(data, classes, 24, 9, validation_data=(data, classes), callbacks=[stop], verbose=0)
''', ', mode="max"', ''),
}
