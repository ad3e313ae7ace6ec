"""A line of the script that an error is to blame for: its cause and line, and the line anew, which then runs."""

from pathlib import Path

import pytest

from cli.language.interpreter import execute
from cli.model.shell import Shell
from cli.view.plain import plain

START = """\
import numpy as np
import tensorflow as tf
rows = np.arange(12, dtype=np.float32).reshape(6, 2) / 10
x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 1])
w = tf.Variable(tf.zeros([2, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
"""
SESSION = "sess = tf.Session()\nsess.run(tf.global_variables_initializer())\n"
LOOP = "for i in range(3):\n    "
FED = "{x: rows, y: rows[:, :1]}"
MORE = ("import tensorflow as tf\nx = tf.placeholder(tf.float32, [None, 4, 4])\n"
        "labels = tf.placeholder(tf.int32, [None])\n")
TWO_RNNS = (MORE + "with tf.variable_scope('a'):\n"
            "    _, end = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), x, dtype=tf.float32)\n"
            "with tf.variable_scope('b'):\n"
            "    told, last = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), x, dtype=tf.float32)\n")
KERAS = ("import numpy as np\nimport tensorflow as tf\ndata = np.ones((8, 5, 3), np.float32)\n"
         "m = tf.keras.Sequential()\n")

# the script; what is said of it; what is then in its file
RAISED = {
    "layers of one kind": (
        "import tensorflow as tf\nx = tf.placeholder(tf.float32, [None, 8])\n"
        "def block(v, name):\n    with tf.variable_scope(name):\n        return v + tf.layers.dense(v, 8)\n"
        "first = block(x, 'one')\nsecond = block(first, 'two')\nthird = block(second, 'three')\n"
        "loss = tf.reduce_mean(tf.square(tf.layers.dense(second, 1)))\nopt = tf.train.AdamOptimizer(0.01)\n"
        "step = opt.apply_gradients([(tf.clip_by_norm(g, 1.), v) for g, v in opt.compute_gradients(loss)])\n",
        "three/dense/kernel:0, three/dense/bias:0 have no gradient: loss does not depend on three/dense/kernel:0: it "
        "is in third at model.py:8, which nothing uses; loss is made of second", "tf.layers.dense(third, 1)"),
    "the real ones for those that were made": (
        "import tensorflow as tf\nx, z = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 2])\n"
        "def judged(v):\n    with tf.variable_scope('D', reuse=tf.AUTO_REUSE):\n"
        "        return tf.layers.dense(tf.layers.dense(v, 4, tf.nn.relu, name='a'), 1, name='b')[:, 0]\n"
        "def errors(z, like):\n    return tf.nn.sigmoid_cross_entropy_with_logits(logits=z, labels=like(z))\n"
        "made = tf.layers.dense(z, 3, name='G')\nof = {}\nof['real'] = judged(x)\nof['made'] = judged(made)\n"
        "of_real, of_made = errors(of['real'], tf.ones_like), errors(of['made'], tf.zeros_like)\n"
        "told_of_made = errors(of['made'], tf.zeros_like)\nfooled = errors(of['real'], tf.ones_like)\n"
        "loss = tf.reduce_mean(fooled)\n"
        "step = tf.train.AdamOptimizer(0.01).minimize(loss, var_list=tf.trainable_variables('G'))\n",
        "it is in of['made'] at model.py:11, which goes elsewhere; loss is made of of['real']",
        "fooled = errors(of['made'], tf.ones_like)"),
    "what is fed for what is computed": (
        "import tensorflow as tf\nclass Coder:\n    def build(self):\n"
        "        self.x = tf.placeholder(tf.float32, [None, 6])\n"
        "        self.fed = tf.placeholder(tf.float32, [None, 4])\n"
        "        self.code = tf.layers.dense(self.x, 4, tf.nn.tanh, name='code')\n        self.decode()\n"
        "    def decode(self):\n        self.out = tf.layers.dense(self.fed, 6)\n"
        "        self.loss = tf.losses.mean_squared_error(self.x, self.out)\n"
        "        opt = tf.train.AdamOptimizer(.01)\n"
        "        g = [tf.clip_by_norm(g, 1.) for g, v in opt.compute_gradients(self.loss)]\nCoder().build()\n",
        "code/kernel:0, code/bias:0 have no gradient: self.loss does not depend on code/kernel:0: it leads to "
        "self.code at model.py:6, which nothing uses, and self.loss is made of what is fed for self.fed",
        "self.out = tf.layers.dense(self.code, 6)"),
    "classes by number": (
        KERAS + "m.add(tf.keras.layers.Flatten())\nm.add(tf.keras.layers.Dense(4, 'softmax'))\n"
        "m.compile('adam', 'categorical_crossentropy')\n"
        "m.fit(data, np.arange(8) % 4, verbose=0)\n",
        "because the targets are numbers of classes", "'sparse_categorical_crossentropy'"),
    "a unit for all classes": (
        KERAS + "m.add(tf.keras.layers.Flatten())\nm.add(tf.keras.layers.Dense(units=1))\n"
        "m.compile('adam', 'categorical_crossentropy')\nm.fit(data, np.eye(4)[np.arange(8) % 4], verbose=0)\n",
        "because the last layer has 1 units, and each target has 4 numbers at model.py:6", "Dense(units=4)"),
    "classes by number and a squared error": (
        KERAS + "m.add(tf.keras.layers.Flatten())\nm.add(tf.keras.layers.Dense(4, 'softmax'))\n"
        "m.compile('adam', 'mse')\nm.fit(data, np.arange(8) % 4, verbose=0)\n",
        "because the last layer gives 4 probabilities", "compile('adam', 'sparse_categorical_crossentropy')"),
    "ones and zeros for numbers": (
        KERAS + "m.add(tf.keras.layers.Flatten())\nm.add(tf.keras.layers.Dense(4, 'softmax'))\n"
        "m.compile('adam', 'sparse_categorical_crossentropy')\n"
        "m.fit(data, np.eye(4)[np.arange(8) % 4], verbose=0)\n",
        "because the targets are 4 ones and zeros for each example", "compile('adam', 'categorical_crossentropy')"),
    "rows that a layer of Keras chooses": (
        KERAS + "class Nearest(tf.keras.layers.Layer):\n    def build(self, shape):\n"
        "        self.table = self.add_weight('table', (4, 3))\n    def call(self, z):\n"
        "        far = tf.reduce_sum(tf.square(z[:, None] - self.table[None]), 2)\n"
        "        q = tf.gather(self.table, tf.argmin(far, 1))\n"
        "        self.add_loss(tf.reduce_mean((tf.stop_gradient(z) - q) ** 2))\n        return q\n"
        "for layer in (tf.keras.layers.Flatten(), tf.keras.layers.Dense(3), Nearest(), tf.keras.layers.Dense(15)):\n"
        "    m.add(layer)\nm.compile('adam', 'mse')\nm.fit(data, data.reshape(8, 15), verbose=0)\n",
        "kernel:0 has no gradient: every path", "(tf.stop_gradient(z) - q) ** 2 + "
        "0.25 * (z - tf.stop_gradient(q)) ** 2))\n        return z + tf.stop_gradient(q - z)"),
    "no axis of channels": (
        KERAS + "m.add(tf.keras.layers.Conv2D(2, 2, input_shape=(5, 3, 1)))\nm.add(tf.keras.layers.Flatten())\n"
        "m.add(tf.keras.layers.Dense(1))\nm.compile('adam', 'mse')\nm.fit(data, np.ones(8), verbose=0)\n"
        "m.predict(data)\n", "because data has 3 axes, and conv2d_input takes 4",
        "m.predict(np.expand_dims(data, -1))"),
    "a shape without channels": (
        KERAS + "m.add(tf.keras.layers.Conv2D(2, 2, input_shape=(5, 3)))\nm.add(tf.keras.layers.Flatten())\n"
        "m.add(tf.keras.layers.Dense(1))\nm.compile('adam', 'mse')\nm.fit(data, np.ones(8), verbose=0)\n",
        "because its input_shape has no axis of channels at model.py:5", "m.fit(np.expand_dims(data, -1), np.ones(8)"),
    "channels in front": (
        KERAS + "m.add(tf.keras.layers.Conv2D(2, (2, 2), input_shape=(1, 5, 3)))\nm.add(tf.keras.layers.Flatten())\n"
        "m.add(tf.keras.layers.Dense(1))\nm.compile('adam', 'mse')\nm.fit(data[:, None], np.ones(8), verbose=0)\n",
        "because the channels of images come first in its input_shape", "input_shape=(5, 3, 1)"),
    "one example": (
        KERAS + "m.add(tf.keras.layers.Dense(1, input_dim=3))\nm.compile('adam', 'mse')\nm.predict(data[0, 0])\n",
        "because data[0, 0] is one example", "m.predict(np.expand_dims(data[0, 0], 0))"),
    "a loss of no such name": (
        KERAS + "m.add(tf.keras.layers.Dense(1, input_dim=3))\nm.compile('adam', loss='mean_square_error')\n"
        "m.fit(data[:, 0], np.ones(8), verbose=0)\n",
        "because no loss is called 'mean_square_error'", "loss='mean_squared_error'"),
    "classes of images that are not flattened": (
        KERAS + "m.add(tf.keras.layers.Conv1D(4, 2, input_shape=(5, 3)))\nm.add(tf.keras.layers.Dense(4, 'softmax'))\n"
        "m.compile('adam', 'sparse_categorical_crossentropy')\nm.fit(data, np.arange(8) % 4, verbose=0)\n",
        "because the dense layers are given sequences",
        "m.add(tf.keras.layers.Flatten())\nm.add(tf.keras.layers.Dense"),
    "features that are not there": (
        KERAS + "m.add(tf.keras.layers.Dense(1, input_dim=4))\nm.compile('adam', 'mse')\n"
        "m.fit(data[:, 0], np.ones(8), verbose=0)\n",
        "because the first layer is told of 4 numbers for each example, and the data have 3", "input_dim=3"),
    "a sequence of one row": (
        KERAS + "m.add(tf.keras.layers.LSTM(4, input_shape=(5, 3)))\nm.add(tf.keras.layers.LSTM(2))\n"
        "m.compile('adam', 'mse')\nm.fit(data, np.ones((8, 2)), verbose=0)\n",
        "because the recurrent layer before it gives its last output alone",
        "LSTM(4, input_shape=(5, 3), return_sequences=True)"),
    "images that are not flattened": (
        KERAS + "m.add(tf.keras.layers.Conv1D(4, 2, input_shape=(5, 3)))\nm.add(tf.keras.layers.Dense(1))\n"
        "m.compile('adam', 'mse')\nm.fit(data, np.ones((8, 1)), verbose=0)\n",
        "because the dense layers are given sequences",
        "m.add(tf.keras.layers.Flatten())\nm.add(tf.keras.layers.Dense"),
    "a key of another name": (
        KERAS + "x = tf.keras.Input((3,), name='rows')\nm = tf.keras.Model(x, tf.keras.layers.Dense(1)(x))\n"
        "m.compile('adam', 'mse')\nm.fit({'row': data[:, 0]}, np.ones(8), verbose=0)\n",
        "because the model's inputs are rows, and a key is row", "m.fit({'rows': data[:, 0]}"),
    "a row for each step of time": (
        KERAS + "m.add(tf.keras.layers.GRU(4, return_sequences=True))\nm.add(tf.keras.layers.Dense(1))\n"
        "m.compile('adam', 'mse')\nm.fit(data, data[:, 0, :1], verbose=0)\n",
        "because the last recurrent layer gives a row for each step of time", "GRU(4, return_sequences=False)"),
    "a result takes the loss's name": (
        START + SESSION + LOOP + f"_, loss = sess.run([train, loss], {FED})\n    print(loss)\n",
        "because loss stood for a tensor, and is given to something else at model.py:11", "    print(loss_value)\n"),
    "batches take the placeholders' names": (
        START + SESSION + "for x, y in [(rows, rows[:, :1])] * 3:\n    sess.run(train, feed_dict={x: x, y: y})\n",
        "because x and y stood for a tensor, and is given to something else at model.py:10",
        "{x: x_value, y: y_value}"),
    "a name that was never a tensor's": (
        START + "rate = 0.1\n" + SESSION + LOOP + "rate = rate / 2\n    sess.run(train, {x: rows, rate: 0.1})\n",
        "Cannot interpret feed_dict key as Tensor", ""),
    "an operation's None": (
        START + SESSION + LOOP + f"cost = sess.run(train, {FED})\n    print('%.3f' % cost)\n",
        "because train is an operation, of which a run gives None at model.py:11",
        "_, cost = sess.run([train, loss], "),
    "an operation's None in parts": (
        START + SESSION + LOOP + f"_, cost = sess.run(train, {FED})\n",
        "because train is an operation", "_, cost = sess.run([train, loss], "),
    "float64 data": (
        "import numpy as np\nimport tensorflow as tf\ndata = tf.constant(np.ones((3, 2)))\n"
        "tf.matmul(data, tf.Variable(tf.zeros([2, 1])))\n",
        "because data, made at model.py:3, is float64 at model.py:4 remedy: tf.cast(data, tf.float32)",
        "tf.matmul(tf.cast(data, tf.float32), "),
    "integers of an operator": (
        MORE + "x - labels\n", "because labels, made at model.py:3, is int32 at model.py:4",
        "x - tf.cast(labels, tf.float32)"),
    "an operation's None in a sum": (
        START + SESSION + "total = 0.0\n" + LOOP + f"cost = sess.run(train, {FED})\n    total += cost\n",
        "because train is an operation, of which a run gives None at model.py:12",
        "_, cost = sess.run([train, loss], "),
    "integers of a sum": (
        MORE + "x / (1 + labels)\n", "because 1 + labels is int32 at model.py:4",
        "x / (tf.cast(1 + labels, tf.float32))"),
    "a matrix of a layer's": (
        MORE + "def layer(x, shape):\n    w = tf.Variable(tf.zeros(shape))\n    return tf.matmul(x, w)\n"
        "layer(tf.ones([2, 3]), [4, 5])\n", "because w, made at model.py:7, has 4 rows, and x 3 columns",
        "tf.ones([2, 3]), [3, 5])"),
    "a matrix that is turned": (
        MORE + "w = tf.Variable(tf.zeros([5, 2]))\ntf.matmul(w, w, transpose_b=False)\n", "the inner ones of", ""),
    "a sum of a matrix": (
        MORE + "w = tf.Variable(tf.zeros([5, 2]))\ntf.add(tf.zeros([5, 3]), w)\n", "Dimensions must be equal", ""),
    "a matrix for what has no name": (
        MORE + "w = tf.Variable(tf.zeros([5, 2]))\ntf.matmul(tf.layers.flatten(x), w)\n",
        "the inner ones of [?,16] and [5,2]", ""),
    "a matrix of the columns of another": (
        "import tensorflow as tf\nx = tf.placeholder(tf.float32, [None, 16])\nw = tf.Variable(\n    tf.zeros([5, 2]))\n"
        "tf.matmul(x, w)\n",
        "because w, made at model.py:3, has 5 rows, and x 16 columns at model.py:5 remedy: [16, 2] at model.py:3",
        "tf.zeros([16, 2])"),
    "no table for a matrix": (
        MORE + "w = tf.Variable(tf.zeros([16, 2]))\ntf.matmul(x, w)\n",
        "because x has 2 axes after the first, 16 numbers together at model.py:5",
        "tf.matmul(tf.reshape(x, [-1, 16]), w)"),
    "a vector for a column": (
        START + SESSION + LOOP + "sess.run(train, {x: rows, y: rows[:, 0]})\n",
        "np.reshape(value, (-1, 1)): y: rows[:, 0] at model.py:11", "y: np.reshape(rows[:, 0], (-1, 1))}"),
    "an initializer before the optimizer": (
        START.replace("train = ", SESSION + "train = ") + LOOP + f"sess.run(train, {FED})\n",
        "because the initializer at model.py:8 was made before",
        "minimize(loss)\nsess.run(tf.global_variables_initializer())\nfor"),
    "an initializer before, and runs between": (
        START.replace("train = ", SESSION + f"print(sess.run(loss, {FED}))\ntrain = ") + f"sess.run(train, {FED})\n",
        "make it before that, line 10 before line 8",
        "minimize(loss)\nsess.run(tf.global_variables_initializer())\nprint("),
    "an initializer before, and runs between that a later op is fetched by": (
        START.replace("train = ", SESSION + f"total = tf.reduce_sum(loss)\nprint(sess.run(total, {FED}))\ntrain = ")
        + f"sess.run(train, {FED})\n",
        "run that of the new ones too", "if not sess.run(tf.is_variable_initialized(v))]))\nsess.run(train"),
    "an initializer that is never run": (
        START + "init = tf.global_variables_initializer()\nwith tf.Session() as sess:\n    for i in range(3):\n"
        f"        sess.run(train, {FED})\n", "no initializer of ", "as sess:\n    sess.run(init)\n    for"),
    "metrics' own variables": (
        START + "mean, update = tf.metrics.mean(loss)\n" + SESSION + f"sess.run(update, {FED})\n",
        "is a local variable, as metrics have",
        "sess.run(tf.group(tf.global_variables_initializer(), tf.local_variables_initializer()))"),
    "a dataset at its end": (
        "import tensorflow as tf\ndata = tf.data.Dataset.range(3).batch(2)\n"
        "x = data.make_one_shot_iterator().get_next()\nsess = tf.Session()\nfor i in range(3):\n    sess.run(x)\n",
        "is at its end after 2 elements", "x = data.repeat().make_one_shot_iterator()"),
    "a dataset at its end in a loop without one": (
        "import tensorflow as tf\nx = tf.data.Dataset.range(3).make_one_shot_iterator().get_next()\n"
        "sess = tf.Session()\nwhile True:\n    sess.run(x)\n",
        "is at its end after 3 elements",
        "try:\n    while True:\n        sess.run(x)\nexcept tf.errors.OutOfRangeError:\n"),
    "an iterator that was never initialized": (
        "import tensorflow as tf\nit = tf.data.Dataset.range(3).make_initializable_iterator()\nx = it.get_next()\n"
        "with tf.Session() as sess:\n    sess.run(x)\n",
        "it was never initialized", "sess:\n    sess.run(it.initializer)\n"),
    "a run behind the block": (
        START + "with tf.Session() as sess:\n    sess.run(tf.global_variables_initializer())\n"
        "weights = sess.run(w)\nprint(weights)\n",
        "the with block at line 8 has closed sess", "    weights = sess.run(w)\nprint"),
    "a run behind a close": (
        START + SESSION + "sess.close()\nprint(sess.run(w))\n", "sess was closed at line 10",
        "print(sess.run(w))\nsess.close()"),
    "tensors that are fed": (
        START + "data = tf.zeros([6, 2])\n" + SESSION + LOOP + "sess.run(train, {x: data, y: rows[:, :1]})\n",
        "because data is a tensor", "    data_value = sess.run(data)\n    sess.run(train, {x: data_value, y"),
    "what dropout keeps in an evaluation": (
        START.replace("x, w)", "tf.nn.dropout(x, keep), w)").replace("w = ", "keep = tf.placeholder(tf.float32)\nw = ")
        + SESSION + "sess.run(train, {x: rows, y: rows[:, :1], keep: 0.5})\nsess.run(loss, " + FED + ")\n",
        "nothing is fed for keep at model.py:5 in this run", "sess.run(loss, {x: rows, y: rows[:, :1], keep: 1.0})"),
    "all that an evaluation lacks, by their keys": (
        START + "parts = {'training': tf.placeholder(tf.bool), 'y': y}\n" + SESSION + f"sess.run(train, {FED})\n"
        "out = tf.where(parts['training'], loss, loss + 1)\nfeed = {x: rows[:3]}\nsess.run(out, feed)\n",
        "nothing is fed for", 'feed = {x: rows[:3], y: rows[:, :1][:3], parts["training"]: False}'),
    "a layer that is made twice for other data": (
        "import tensorflow as tf\ndef net(x):\n    with tf.variable_scope('net'):\n"
        "        w = tf.get_variable('w', [2, 2])\n        return tf.matmul(x, w)\n"
        "a, b = tf.ones([3, 2]), tf.ones([4, 2])\nnet(a)\nnet(b)\n",
        "net/w was made at model.py:4 for line 7", "tf.variable_scope('net', reuse=tf.AUTO_REUSE):"),
    "a layer that is made twice, one on the other": (
        "import tensorflow as tf\ndef net(x):\n    w = tf.get_variable('w', [2, 2])\n"
        "    return tf.matmul(x, w)\nh = net(tf.ones([3, 2]))\nh = net(h)\nh = net(h)\n",
        "w was made at model.py:3 for line 5", '    with tf.variable_scope(None, default_name="net"):\n        w = '),
    "two variables of one name": (
        "import tensorflow as tf\na = tf.get_variable('w', [2, 3])\nb = tf.get_variable('w', [3, 1])\n",
        "w was made at model.py:2", "b = tf.get_variable('w_2', [3, 1])"),
    "a model for each turn": (
        "import tensorflow as tf\nfor rate in (0.1, 0.2):\n    w = tf.get_variable('w', [2])\n"
        "    with tf.Session() as sess:\n        sess.run(w.initializer)\n",
        "each turn of the loop builds the model anew", "0.2):\n    tf.reset_default_graph()\n    w"),
    "an optimizer's own among what is reused": (
        "import tensorflow as tf\nwith tf.variable_scope('d'):\n    w = tf.get_variable('w', [2])\n"
        "    tf.get_variable_scope().reuse_variables()\n    tf.train.AdamOptimizer().minimize(w ** 2)\n",
        "is the optimizer's own", "get_variable_scope(), reuse=tf.AUTO_REUSE):\n        tf.train.Adam"),
    "a session of the default graph": (
        "import tensorflow as tf\ng = tf.Graph()\nwith g.as_default():\n    x = tf.ones([2])\n"
        "with tf.Session() as sess:\n    sess.run(x)\n", "the model is in g", "with tf.Session(graph=g) as sess"),
    "a placeholder in front of a graph's block": (
        "import tensorflow as tf\nx = tf.placeholder(tf.float32)\nwith tf.Graph().as_default():\n"
        "    y = tf.get_variable('w', []) * x\n", "made in front of the graph's block",
        "as_default():\n    x = tf.placeholder(tf.float32)\n"),
    "a layer's name for what it gives": (
        "import tensorflow as tf\nx = tf.layers.dense(tf.ones([2, 2]), 1, name='out')\ny = x * 2\n"
        "tf.get_default_graph().get_tensor_by_name('out:0')\n", "no tensor is called 'out:0'", "name('out/BiasAdd:0')"),
    "a variable of a loop": (
        "import tensorflow as tf\ndef body(i, h):\n    w = tf.Variable(tf.zeros([2]))\n    return i + 1, h + w\n"
        "tf.while_loop(lambda i, h: i < 3, body, [0, tf.zeros([2])])\n", "w is made in body",
        "w = tf.Variable(tf.zeros([2]))\ndef body(i, h):\n    return"),
    "a filter that fits no variable": (
        "import tensorflow as tf\nwith tf.variable_scope('generator'):\n    w = tf.get_variable('w', [2])\n"
        "mine = [v for v in tf.trainable_variables() if v.name.startswith('gen_')]\n"
        "tf.train.AdamOptimizer().minimize(w ** 2, var_list=mine)\n",
        "no variable's name has 'gen_'", "startswith('generator')"),
    "labels in a column": (
        MORE + "y = tf.placeholder(tf.int32, [None, 1])\n"
        "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x[:, 0])\n",
        "because y at model.py:4 is [?,1] for the examples", "labels=tf.squeeze(y, -1), logits"),
    "ones and zeros for classes": (
        MORE + "y = tf.placeholder(tf.int32, [None, 4])\nz = x[:, 0]\n"
        "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=z)\n",
        "the number of its class is wanted", "labels=tf.argmax(y, -1), logits"),
    "classes for probabilities": (
        MORE + "z = x[:, 0]\ntf.losses.softmax_cross_entropy(labels, z)\n",
        "a probability of each of the 4 classes", "cross_entropy(tf.one_hot(labels, 4), z)"),
    "a vector beside a column": (
        MORE + "y = tf.placeholder(tf.float32, [None])\nz = tf.layers.dense(x[:, 0], 1)\n"
        "tf.losses.mean_squared_error(y, z)\n", "a column is wanted, as z is", "error(tf.expand_dims(y, -1), z)"),
    "units of another number": (
        MORE + "y = tf.placeholder(tf.float32, [None, 3])\nz = tf.layers.dense(x[:, 0], 2)\n"
        "tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=z)\n",
        "has 2 units, and there are 3 classes", "dense(x[:, 0], 3)"),
    "a type that is not taken": (
        MORE + "tf.one_hot(x, 3)\n"
        "", "because x is float32, and tf.one_hot takes no float32", "tf.one_hot(tf.cast(x, tf.int64), 3)"),
    "a function of NumPy's": (
        "import numpy as np\n" + MORE + "np.log(x)\n", "np.log is NumPy's, and is given a tensor", "\ntf.log(x)"),
    "a vector for a matrix": (
        MORE + "w = tf.Variable(tf.zeros([4]))\ntf.matmul(x[:, 0], w)\n", "w is a vector", "tf.expand_dims(w, 1))"),
    "images without channels": (
        MORE + "tf.layers.conv2d(x, 2, 3)\n", "without an axis of channels", "conv2d(tf.expand_dims(x, -1), 2"),
    "a state of no type": (
        MORE + "tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), x)\n", "neither an initial state nor a dtype",
        "x, dtype=tf.float32)"),
    "an axis that comes first": (MORE + "tf.concat(1, [x, x])\n", "then the axis", "tf.concat([x, x], 1)"),
    "rows of another size": (
        START.replace("x, w)", "tf.reshape(tf.concat([x, x, x], 1), [-1, 2 * 2]), w)").replace("[2, 1]", "[2 * 2, 1]")
        + SESSION + f"sess.run(train, {FED})\n", "has 6 = 6 numbers, and not 4", "w = tf.Variable(tf.zeros([6, 1]))"),
    "a largest score": (
        MORE + "w = tf.Variable(tf.zeros([4, 3]))\nbest = tf.argmax(tf.matmul(x[:, 0], w), 1)\n"
        "loss = tf.reduce_mean(tf.square(tf.cast(best, tf.float32) - tf.cast(labels, tf.float32)))\n"
        "train = tf.train.AdamOptimizer().minimize(loss)\n"
        "", "w has no gradient: every path from loss to w passes ArgMax",
        "loss = tf.losses.sparse_softmax_cross_entropy(tf.cast(labels, tf.int32), tf.matmul(x[:, 0], w))"),
    "shares that a loss rounds": (
        MORE + "w = tf.Variable(tf.zeros([4, 4]))\np = tf.sigmoid(w * x)\nloss = tf.reduce_mean(tf.round(p))\n"
        "train = tf.train.AdamOptimizer().minimize(loss)\n", "passes Round", "tf.reduce_mean(p)"),
    "a step in the way": (
        MORE + "w = tf.Variable(tf.zeros([4, 4]))\np = tf.tanh(w * x)\nloss = tf.reduce_mean(tf.round(p))\n"
        "train = tf.train.AdamOptimizer().minimize(loss)\n"
        "", "w has no gradient: every path from loss to w passes Round",
        "tf.reduce_mean((p + tf.stop_gradient(tf.round(p) - p)))"),
    "integers in the way": (
        MORE + "w = tf.Variable(tf.zeros([4]))\np = tf.reduce_sum(w * x[:, 0], 1)\n"
        "error = tf.cast(p, tf.int32) - labels\n"
        "loss = tf.reduce_mean(tf.cast(error, tf.float32) ** 2)\ntrain = tf.train.AdamOptimizer().minimize(loss)\n",
        "passes Cast", "error = p - tf.cast(labels, tf.float32)"),
    "a choice in the way": (
        MORE + "w = tf.Variable(tf.zeros([4, 4]))\np = w * x\nloss = tf.reduce_mean(tf.cast(p > 0, tf.float32))\n"
        "train = tf.train.AdamOptimizer().minimize(loss)\n", "w has no gradient", "tf.reduce_mean(tf.sigmoid(p))"),
    "a choice by a bound in the way": (
        MORE + "w = tf.Variable(tf.zeros([4, 4]))\ndef above(p, least):\n"
        "    return tf.cast(tf.greater(p, least + 1), tf.float32)\nloss = tf.reduce_mean(above(w * x, 0.5))\n"
        "train = tf.train.AdamOptimizer().minimize(loss)\n", "w has no gradient", "return tf.sigmoid(p - (least + 1))"),
    "a function of Python in the way": (
        "import numpy as np\n" + MORE + "def soft(a):\n    return np.log1p(np.exp(a)).astype(np.float32)\n"
        "w = tf.Variable(tf.zeros([4, 4]))\nloss = tf.reduce_mean(tf.py_func(soft, [w], tf.float32))\n"
        "train = tf.train.AdamOptimizer().minimize(loss)\n", "passes PyFunc",
        "return tf.math.log1p(tf.exp(a))\nw = tf.Variable(tf.zeros([4, 4]))\nloss = tf.reduce_mean(soft(w))"),
    "a method of NumPy's in the way, which others call": (
        "import numpy as np\n" + MORE + "class Body:\n    def fall(self, a, n=3):\n        for _ in range(n):\n"
        "            a = a - 0.1 * np.clip(a, 0.0, 2.0)\n"
        "        return np.stack([a, np.mean(a, axis=-1, keepdims=True) + 0 * a], axis=-1).astype('f')\n"
        "body = Body()\nseen = body.fall(np.ones((3, 4, 4), 'f'))\nw = tf.Variable(tf.zeros([4, 4]))\n"
        "told = tf.py_func(func=body.fall, inp=[w * x], Tout=tf.float32)\nloss = tf.reduce_mean(told ** 2)\n"
        "train = tf.train.AdamOptimizer().minimize(loss)\n", "passes PyFunc",
        "    def fall_of_tensors(self, a, n=3):\n        for _ in range(n):\n"
        "            a = a - 0.1 * tf.clip_by_value(a, 0.0, 2.0)\n"
        "        return tf.stack([a, tf.reduce_mean(a, axis=-1, keepdims=True) + 0 * a], axis=-1)\n"
        "body = Body()\nseen = body.fall(np.ones((3, 4, 4), 'f'))\nw = tf.Variable(tf.zeros([4, 4]))\n"
        "told = body.fall_of_tensors(w * x)\n"),
    "a function that fills an array in the way": (
        "import numpy as np\n" + MORE + "def soft(a):\n    b = 0 * a\n    b[0] = np.exp(a[0])\n    return b\n"
        "w = tf.Variable(tf.zeros([4, 4]))\nloss = tf.reduce_mean(tf.py_func(soft, [w], tf.float32))\n"
        "train = tf.train.AdamOptimizer().minimize(loss)\n", "passes PyFunc", ""),
    "numbers in the way": (
        "import tensorflow as tf\nw = tf.Variable(tf.ones([2]))\nz = w * 2\nsess = tf.Session()\n"
        "sess.run(w.initializer)\n"
        "p = sess.run(z)\nloss = tf.reduce_sum(p * tf.ones([2]))\ntrain = tf.train.AdamOptimizer().minimize(loss)\n",
        "p, at line 6, is what a run gave of z: mere numbers", "\np = z\n"),
    "gradients of copies": (
        MORE + "w = tf.Variable(tf.zeros([4]))\nloss = tf.reduce_mean(w * x)\ncopy = tf.identity(w)\n"
        "g, = tf.gradients(loss, [copy])\n0.1 * g\n", "it is a copy made of", "tf.gradients(loss, [w])"),
    "the gradient of a part": (
        MORE + "w = tf.Variable(tf.zeros([4]))\nloss = tf.reduce_mean(w * x)\npart = w[:2]\n"
        "g, = tf.gradients(loss, [part])\n0.1 * g\n", "it is a copy made of", "g, = [tf.gradients(loss, w)[0][:2]]"),
    "one gradient of several": (
        MORE + "w, v = tf.Variable(tf.zeros([4])), tf.Variable(tf.zeros([4]))\nloss = tf.reduce_mean(w * x)\n"
        "optimizer = tf.train.AdamOptimizer()\npairs = optimizer.compute_gradients(loss)\n"
        "pairs = [(tf.clip_by_norm(g, 1.0), each) for g, each in pairs]\noptimizer.apply_gradients(pairs)\n",
        "v has no gradient: loss does not depend on v", "in pairs if g is not None]"),
    "one gradient of several, in pairs that are lists": (
        MORE + "w, v = tf.Variable(tf.zeros([4])), tf.Variable(tf.zeros([4]))\nloss = tf.reduce_mean(w * x)\n"
        "optimizer = tf.train.AdamOptimizer()\npairs = optimizer.compute_gradients(loss)\n"
        "clipped = [[tf.clip_by_norm(g, 1.0), each] for g, each in pairs]\noptimizer.apply_gradients(clipped)\n",
        "v has no gradient: loss does not depend on v", "in pairs if g is not None]"),
    "one gradient of several, in pairs that a function makes": (
        MORE + "w, v = tf.Variable(tf.zeros([4])), tf.Variable(tf.zeros([4]))\nloss = tf.reduce_mean(w * x)\n"
        "optimizer = tf.train.AdamOptimizer()\npairs = optimizer.compute_gradients(loss)\n"
        "clipped = [dict(g=tf.clip_by_norm(g, 1.0), v=each) for g, each in pairs]\n"
        "optimizer.apply_gradients([(each['g'], each['v']) for each in clipped])\n",
        "v has no gradient: loss does not depend on v", "in pairs if g is not None]"),
    "one gradient of several, beside the variables": (
        MORE + "w, v = tf.Variable(tf.zeros([4])), tf.Variable(tf.zeros([4]))\nloss = tf.reduce_mean(w * x)\n"
        "optimizer, bound = tf.train.AdamOptimizer(), 1.0\nfound = tf.gradients(loss, [w, v])\n"
        "clipped = [tf.clip_by_norm(g, bound) if bound else g for g in found]\n"
        "optimizer.apply_gradients(zip(clipped, [w, v]))\n", "v has no gradient: loss does not depend on v",
        "[None if g is None else tf.clip_by_norm(g, bound) if bound else g for g in found]"),
    "a function that returns nothing": (
        MORE + "def net(x):\n    h = x * 2\nz = net(x)\ntf.nn.relu(z)\n", "net returns nothing, and z is None",
        "    h = x * 2\n    return h\n"),
    "a loss of the script's that returns nothing": (
        "import numpy as np\nimport tensorflow as tf\ndef square(y, p):\n    d = y - p\n    tf.reduce_mean(d * d)\n"
        "m = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])\nm.compile('sgd', loss=square)\n"
        "m.fit(np.zeros([4, 2]), np.zeros([4, 1]))\n", "square returns nothing", "    return tf.reduce_mean(d * d)\n"),
    "no summary to merge": (
        START + "merged = tf.summary.merge_all()\n" + SESSION + f"sess.run([train, merged], {FED})\n",
        "merged is None: no summary was made before line 8", 'tf.summary.scalar("loss", loss)\nmerged'),
    "a checkpoint that lacks a variable": (
        "import tensorflow as tf\nw = tf.get_variable('w', [2])\nwith tf.Session() as sess:\n"
        "    sess.run(w.initializer)\n    path = tf.train.Saver().save(sess, './saved')\n"
        "    v = tf.get_variable('v', [2])\n"
        "    tf.train.Saver().restore(sess, path)\n    sess.run(v)\n",
        "v at model.py:6 is not in the checkpoint", "saved.get(v.op.name) == v.shape.as_list()]).restore(sess, path)"),
    "a cell in two layers": (
        MORE + "cell = tf.nn.rnn_cell.GRUCell(5)\nboth = tf.nn.rnn_cell.MultiRNNCell([cell] * 2)\n"
        "tf.nn.dynamic_rnn(both, x, dtype=tf.float32)\n", "cell is in each layer",
        "MultiRNNCell([tf.nn.rnn_cell.GRUCell(5) for _ in range(2)])"),
    "labels of a sampled loss": (
        MORE + "w, b = tf.Variable(tf.zeros([9, 4])), tf.Variable(tf.zeros([9]))\n"
        "tf.nn.nce_loss(weights=w, biases=b, labels=labels, inputs=x[:, 0], num_sampled=2, num_classes=9)\n",
        "labels is one label for each example", "labels=tf.expand_dims(labels, 1), inputs"),
    "names of operations that are fed": (
        START.replace("[None, 2])", "[None, 2], name='x')") + SESSION + "sess.run(tf.shape(x), {'x': rows})\n",
        "'x' is an operation, and what is fed is its output", "{'x:0': rows}"),
    "an eval of no session": (
        START + SESSION + "print(w.eval())\nprint(loss.eval(" + FED + "))\n", "no session is the default one",
        f"print(w.eval(session=sess))\nprint(loss.eval({FED}, session=sess))"),
    "a mean of truths": (
        MORE + "tf.reduce_mean(tf.equal(labels, 1))\n", "tf.equal(labels, 1) is bool, and tf.reduce_mean takes no bool",
        "tf.reduce_mean(tf.cast(tf.equal(labels, 1), tf.float32))"),
    "None in a shape": (
        MORE + "mean = x[:, 0]\ntf.random_normal([None, 4])\n", "how many rows there are is not known",
        "tf.random_normal([tf.shape(mean)[0], 4])"),
    "rows that are built in": (
        START.replace("x, w)", "x + tf.zeros([SIZE, 2]), w)").replace("w = ", "SIZE = 4\nw = ") + SESSION
        + f"sess.run(train, {FED})\n", "4 rows are built in at model.py:7", "tf.zeros([tf.shape(x)[0], 2])"),
    "a last batch that is smaller": (
        START.replace("[None, 2]", "[4, 2]").replace("[None, 1]", "[4, 1]") + SESSION
        + "for i in range(0, len(rows), 4):\n    sess.run(train, {x: rows[i:i + 4], y: rows[i:i + 4, :1]})\n",
        "the last batch has 2 rows", "range(0, len(rows) - 4 + 1, 4)"),
    "a size that the graph has": (
        MORE + "for t in range(tf.shape(x)[1]):\n    x[:, t]\n", "has no value while the graph is built",
        "range(int(x.shape[1]))"),
    "a table that is too short": (
        MORE + "words = 5\ntable = tf.Variable(tf.zeros([words, 2]))\nids = tf.placeholder(tf.int32, [None])\n"
        "found = tf.nn.embedding_lookup(table, ids)\n" + SESSION
        + "import numpy as np\ngiven = np.array([1, 5])\nsess.run(found, {ids: given})\n",
        "5 came where words is 5: ids go from 0 to 4", "words = 6"),
    "the score of an action": (
        MORE + "w = tf.Variable(tf.zeros([4, 4]))\nscores = tf.matmul(x[:, 0], w)\n"
        "action, told = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None])\n"
        "mine = tf.cast(tf.argmax(scores * action, 1), tf.float32)\n"
        "train = tf.train.AdamOptimizer().minimize(tf.reduce_mean(tf.square(told - mine)))\n", "w has no gradient",
        "mine = tf.reduce_sum(scores * action, axis=1)"),
    "a class among those that are allowed": (
        MORE + "w = tf.Variable(tf.zeros([4, 4]))\nscores = tf.matmul(x[:, 0], w)\n"
        "allowed = tf.placeholder(tf.float32, [None, 4])\n"
        "mine = tf.cast(tf.argmax(scores * allowed, 1), tf.float32)\n"
        "loss = tf.reduce_mean(tf.square(tf.to_float(labels) - mine))\n"
        "train = tf.train.AdamOptimizer().minimize(loss)\n", "w has no gradient",
        "loss = tf.losses.sparse_softmax_cross_entropy(tf.cast(labels, tf.int32), scores * allowed)"),
    "labels that count from 1": (
        KERAS + "def read():\n    return np.arange(12) % 3 + 1\nlabels = read()\nclasses = len(np.unique(labels))\n"
        "z, ids = tf.placeholder(tf.float32, [None, classes]), tf.placeholder(tf.int32, [None])\n"
        "loss = tf.losses.sparse_softmax_cross_entropy(ids, z)\n"
        "tf.Session().run(loss, {z: np.ones([12, 3]), ids: labels})\n",
        "labels: 1 to 3, and labels of 3 classes count from 0 at model.py:7", "labels = read() - 1\n"),
    "labels from 1, of a pair": (
        KERAS + "def read():\n    return np.ones([12, 3]), np.arange(12) % 3 + 1\ngiven, labels = read()\n"
        "classes = 3\nz, ids = tf.placeholder(tf.float32, [None, classes]), tf.placeholder(tf.int32, [None])\n"
        "loss = tf.losses.sparse_softmax_cross_entropy(ids, z)\n"
        "tf.Session().run(loss, {z: given, ids: labels})\n",
        "labels: 1 to 3, and labels of 3 classes count from 0 at model.py:7", "read()\nlabels = labels - 1\n"),
    "labels from 1, of a dataset in a function": (
        KERAS + "def read():\n    return np.ones([12, 3], np.float32), np.arange(12) % 3 + 1\n"
        "def main():\n    given, stars = read()\n"
        "    pairs = tf.data.Dataset.from_tensor_slices((given, stars)).repeat().batch(12)\n"
        "    z, ids = pairs.make_one_shot_iterator().get_next()\n"
        "    loss = tf.losses.sparse_softmax_cross_entropy(ids, z)\n    tf.Session().run(loss)\nmain()\n",
        "stars: 1 to 3, and labels of 3 classes count from 0 at model.py:8", "from_tensor_slices((given, stars - 1))"),
    "labels from 0, of one class more": (
        KERAS + "labels = np.arange(12) % 4\nclasses = 3\n"
        "z, ids = tf.placeholder(tf.float32, [None, classes]), tf.placeholder(tf.int32, [None])\n"
        "loss = tf.losses.sparse_softmax_cross_entropy(ids, z)\n"
        "tf.Session().run(loss, {z: np.ones([12, classes]), ids: labels})\n",
        "3 came where classes is 3: ids go from 0 to 2", "classes = 4\n"),
    "two tables of ids from 1 on": (
        KERAS + "given, other = np.arange(1, 5), np.arange(1, 3)\nrows = given.max()\n"
        "columns = other.max()\na = tf.gather(tf.Variable(tf.zeros([rows, 2])), given)\n"
        "b = tf.gather(tf.Variable(tf.zeros([columns, 2])), other)\n" + SESSION + "sess.run(a)\nsess.run(b)\n",
        "4 came where rows is 4: ids go from 0 to 3", "rows = given.max() + 1\ncolumns = other.max() + 1\n"),
    "rows of the state of an encoder, of a dataset": (
        KERAS + "pairs = tf.data.Dataset.from_tensor_slices(data).batch(3)\n"
        "given = pairs.make_one_shot_iterator().get_next()\ncell = tf.nn.rnn_cell.GRUCell(4)\nsize = 3\n"
        "first = cell.zero_state(size, tf.float32)\n_, end = tf.nn.dynamic_rnn(cell, given, initial_state=first)\n"
        + SESSION + LOOP + "sess.run(end)\n",
        "3 rows are built in at model.py:9, and a batch has others", "zero_state(tf.shape(given)[0], tf.float32)"),
    "rows of ones, of a dataset": (
        KERAS + "class Options:\n    rows = 3\noptions = Options()\n"
        "pairs = tf.data.Dataset.from_tensor_slices(data).batch(options.rows).repeat(2)\n"
        "loss = pairs.make_one_shot_iterator().get_next() - tf.ones([options.rows, 1, 1])\n" + SESSION + LOOP
        + "sess.run(loss)\n", "3 rows are built in at model.py:9, and a batch has others",
        ".batch(options.rows, drop_remainder=True)"),
    "a mark among labels": (
        MORE + "import numpy as np\nz = tf.layers.dense(x[:, 0], 3)\ngiven = np.array([0, 2, 255, 1])\n"
        "loss = tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=z))\n" + SESSION
        + "sess.run(loss, {x: np.ones([4, 4, 4]), labels: given})\n",
        "because 255 is no class, as the others are from 0 to 2",
        "labels=tf.boolean_mask(labels, tf.not_equal(labels, 255)), "
        "logits=tf.boolean_mask(z, tf.not_equal(labels, 255))))\n"),
    "a mark among labels of Keras": (
        KERAS + "classes = 3\nm.add(tf.keras.layers.Dense(classes, 'softmax'))\n"
        "given = np.arange(40).reshape(8, 5) % 4 - 1\n"
        "m.compile('adam', 'sparse_categorical_crossentropy', metrics=['accuracy'])\nm.fit(data, given, verbose=0)\n",
        "because -1 is no class, as the others are from 0 to 2", "m.compile('adam', masked_loss, metrics=[acc])"),
    "a scope of another name, of a method on the next line": (
        "import tensorflow as tf\nwith tf.variable_scope('disc'):\n    a = tf.Variable(1.0)\n"
        "with tf.variable_scope('gen'):\n    b = tf.Variable(1.0)\n"
        "of_a = tf.get_collection('trainable_variables', scope='discriminator')\n"
        "of_b = tf.trainable_variables(scope='generator')\n"
        "train = (tf.train.AdamOptimizer()\n         .minimize(a * b, var_list=of_a))\n",
        "no variable's name has 'discriminator': those of the loss are in disc, gen at model.py:6",
        "scope='disc')\nof_b = tf.trainable_variables(scope='gen')"),
    "an optimizer that is run": (
        START.replace("train = tf.train.MomentumOptimizer(0.1, 0.9).",
                      "optimizer = tf.train.AdamOptimizer()\ntrain = optimizer.") + SESSION
        + f"sess.run(optimizer, {FED})\n", "optimizer is an optimizer, and no operation: train is",
        "sess.run(train, {"),
    "gradients of another model": (
        MORE + "old, new = [tf.Variable(tf.zeros([4]))], [tf.Variable(tf.zeros([4]))]\n"
        "loss = tf.reduce_mean(x * new[0])\n"
        "optimizer = tf.train.AdamOptimizer()\ng = tf.gradients(loss, old)\n"
        "optimizer.apply_gradients(zip(g, old))\n", "loss is not made of old, but of new",
        "g = tf.gradients(loss, new)\noptimizer.apply_gradients(zip(g, new))"),
    "a loss of what is said of real rows alone, for the variables of a generator": (
        START + "with tf.variable_scope('generator'):\n    made = tf.layers.dense(x, 2)\ncritic = tf.layers.Dense(1)\n"
        "of = {'real': critic(x), 'made': critic(made)}\n"
        "critic_loss = tf.reduce_mean(of['made']) - tf.reduce_mean(of['real'])\n"
        "a, b = tf.trainable_variables('generator'), tf.trainable_variables('dense')\n"
        "train = tf.train.AdamOptimizer().minimize(critic_loss, var_list=b)\n"
        "each = -of['real']\nmade_loss = tf.reduce_mean(each)\n"
        "train = tf.train.AdamOptimizer().minimize(made_loss, var_list=a)\n",
        "made_loss is made of of['real'] at line 15, which does not depend on it; of['made'] does",
        "each = -of['made']\nmade_loss"),
    "a session of its own graph, where nothing is initialized": (
        "import tensorflow as tf\nclass Model:\n    def __init__(self):\n        graph = tf.Graph()\n"
        "        with graph.as_default():\n            self.w = tf.Variable(tf.zeros([2]))\n"
        "        self.session = tf.Session(graph=graph)\n    def fit(self):\n        self.session.run(self.w)\n"
        "model = Model()\nmodel.fit()\n", "no initializer of",
        'model.session.run([v.initializer for v in model.session.graph.get_collection("variables")])\nmodel.fit()'),
    "right answers that are counted": (
        MORE + "w = tf.Variable(tf.zeros([4, 3]))\nz = tf.matmul(x[:, 0], w)\n"
        "y = tf.placeholder(tf.float32, [None, 3])\n"
        "right = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(z, 1), tf.argmax(y, 1)), tf.float32))\n"
        "train = tf.train.AdamOptimizer().minimize(-right)\n", "w has no gradient",
        "minimize(tf.losses.softmax_cross_entropy(y, z))"),
    "a model for each call in a loop": (
        "import tensorflow as tf\ndef run(n):\n    w = tf.get_variable('w', [n])\n    with tf.Session() as sess:\n"
        "        sess.run(w.initializer)\nfor n in (2, 3):\n    run(n)\n",
        "each turn of the loop builds the model anew", "3):\n    tf.reset_default_graph()\n    run(n)"),
    "two cuts one behind the other": (
        MORE + "w = tf.Variable(tf.zeros([4]))\nh = tf.stop_gradient(w * x)\n"
        "loss = tf.stop_gradient(tf.reduce_sum(h))\n"
        "train = tf.train.AdamOptimizer().minimize(loss)\n", "w has no gradient: every path from loss to w passes",
        "h = w * x\nloss = tf.reduce_sum(h)"),
    "integers in two lines": (
        MORE + "w = tf.Variable(tf.zeros([4, 4]))\na, b = tf.constant([[1], [2]]), tf.constant([3, 4])\n"
        "z = w[:1, :1] * a\n"
        "error = z - b\n", "a, made at model.py:5, is int32", "* tf.cast(a, tf.float32)\n"
        "error = z - tf.cast(b, tf.float32)"),
    "two names of no tensors": (
        "import tensorflow as tf\np = tf.ones([2], name='pred')\nm = tf.zeros([2], name='mse')\n"
        "g = tf.get_default_graph()\n"
        "g.get_tensor_by_name('predict:0')\ng.get_tensor_by_name('mse')\n", "no tensor is called 'predict:0'",
        "g.get_tensor_by_name('pred:0')\ng.get_tensor_by_name('mse:0')"),
    "a state that is a tensor at first": (
        START + "state = tf.zeros([6, 2])\n" + SESSION + LOOP
        + "_, state = sess.run([train, x * 2], {x: state, y: rows[:, :1]})\n",
        "because state is a tensor before the first run", "state = sess.run(state)\nfor"),
    "a matrix that a function makes": (
        MORE + "def weight(shape):\n    return tf.Variable(tf.zeros(shape))\nw = weight([2 * 3, 2])\n"
        "h = tf.reshape(x, [-1, 16])\ntf.matmul(h, w)\n",
        "because w, made at model.py:6, has 6 rows, and h 16 columns", "w = weight([16, 2])"),
    "a layer that nothing uses": (
        MORE + "z = tf.layers.dense(x[:, 0], 4)\nh = x[:, 0]\np = tf.layers.dense(h, 1)\ns = tf.layers.flatten(x)\n"
        "loss = tf.reduce_mean(p) + tf.reduce_mean(s)\npairs = tf.train.AdamOptimizer().compute_gradients(loss)\n"
        "[tf.clip_by_norm(g, 1.0) for g, v in pairs]\n", "has no gradient: loss does not depend on",
        "s = tf.layers.flatten(z)"),
    "a decoder that forgets its encoder": (
        TWO_RNNS + "loss = tf.reduce_mean(told)\npairs = tf.train.AdamOptimizer().compute_gradients(loss)\n"
        "[tf.clip_by_norm(g, 1.0) for g, v in pairs]\n",
        "end, the last state of the dynamic_rnn at model.py:5, is used by nothing, and the dynamic_rnn at model.py:7 "
        "begins with zeros", "x, dtype=tf.float32, initial_state=end)\nloss"),
    "a decoder that is given the state and takes zeros": (
        MORE + "def encode(steps):\n    with tf.variable_scope('a'):\n"
        "        return tf.nn.static_rnn(tf.nn.rnn_cell.LSTMCell(3), steps, dtype=tf.float32)\n"
        "def decode(steps, start):\n    cell = tf.nn.rnn_cell.LSTMCell(3)\n"
        "    given = cell.zero_state(tf.shape(x)[0], tf.float32)\n"
        "    return tf.nn.static_rnn(cell, steps, initial_state=given)[0]\n"
        "def model():\n    _, thought = encode(tf.unstack(x, axis=1))\n"
        "    return tf.reduce_mean(decode(tf.unstack(x, axis=1), thought))\n"
        "loss = model()\npairs = tf.train.AdamOptimizer().compute_gradients(loss)\n"
        "[tf.clip_by_norm(g, 1.0) for g, v in pairs]\n",
        "is used by nothing, and the static_rnn at model.py:10 begins with zeros", "cell, steps, initial_state=start)"),
    "states put together, and a cell that begins with zeros": (
        MORE + "a, b, cell = (tf.nn.rnn_cell.LSTMCell(n) for n in (2, 2, 4))\n"
        "_, (one, two) = tf.nn.bidirectional_dynamic_rnn(a, b, x, dtype=tf.float32)\n"
        "both = tf.nn.rnn_cell.LSTMStateTuple(tf.concat([one.c, two.c], 1), tf.concat([one.h, two.h], 1))\n"
        "state, outputs = cell.zero_state(tf.shape(x)[0], tf.float32), []\nfor t in range(4):\n"
        "    output, state = cell(x[:, t], state)\n    outputs.append(output)\n"
        "loss = tf.reduce_mean(tf.stack(outputs))\npairs = tf.train.AdamOptimizer().compute_gradients(loss)\n"
        "[tf.clip_by_norm(g, 1.0) for g, v in pairs]\n",
        "both, a state at model.py:6, is used by nothing, and the cell at model.py:9 begins with zeros",
        "state, outputs = both, []"),
    "a copy that is not trained": (
        MORE + "def net(name):\n    with tf.variable_scope(name):\n        return tf.layers.dense(x[:, 0], 1)\n"
        "new, old = net('new'), net('old')\n"
        "of_new, of_old = (tf.trainable_variables(name) for name in ('new', 'old'))\n"
        "copy = [tf.assign(b, a) for a, b in zip(of_new, of_old)]\n"
        "loss = tf.reduce_mean(tf.square(new - tf.stop_gradient(old)))\noptimizer = tf.train.AdamOptimizer()\n"
        "[tf.clip_by_norm(g, 1.0) for g, v in optimizer.compute_gradients(loss)]\n",
        "at model.py:9, and is not to be trained itself, but compute_gradients at line 12 asks for it too",
        "compute_gradients(loss, var_list=of_new)"),
    "a second network that is held constant": (
        MORE + "def net(name):\n    with tf.variable_scope(name):\n        return tf.layers.dense(x[:, 0], 1)\n"
        "new, old = net('new'), net('old')\nloss = tf.reduce_mean(tf.square(new - tf.stop_gradient(old)))\n"
        "variables = tf.trainable_variables()\n"
        "[tf.clip_by_norm(g, 1.0) for g in tf.gradients(loss, variables)]\n",
        "it is of a second network like that of new/dense/kernel:0, held constant at model.py:8",
        'variables = tf.trainable_variables("new")'),
    "an expression that is written twice": (
        MORE + "w, around = tf.Variable(tf.ones([4])), x - 0.5\nloss = tf.reduce_mean(tf.square(w * (x - 0.5)))\n"
        "tf.sign(tf.gradients(loss, around)[0])\n",
        "loss is made of x - 0.5 at line 5, which is another tensor than around", "tf.square(w * (around))"),
    "rows chosen as the nearest, and their gradients clipped": (
        MORE + "class Coder:\n    def __init__(self):\n        self.code = self.shorter(x[:, 0])\n"
        "        _, self.chosen = self.nearest(self.code)\n        self.back = tf.layers.dense(self.chosen, 4)\n"
        "    def shorter(self, rows):\n        return tf.layers.dense(rows, 2)\n    def nearest(self, code):\n"
        "        table = tf.get_variable('table', [8, 2])\n        ids = tf.argmax(tf.matmul(code, table, "
        "transpose_b=True), 1)\n        return ids, tf.nn.embedding_lookup(table, ids)\ncoder = Coder()\n"
        "book = tf.reduce_mean(tf.square(coder.chosen - tf.stop_gradient(coder.code)))\n"
        "loss = tf.reduce_mean(tf.square(coder.back - x[:, 0]))\n"
        "[tf.clip_by_norm(g, 1.0) for g in tf.gradients(loss + book, tf.trainable_variables())]\n",
        "passes ArgMax", "dense(self.code + tf.stop_gradient(self.chosen - self.code), 4)"),
    "gradients of parts that the net does not take": (
        MORE + "x = x[:, 0]\na, b = x[:, :1], x[:, 3:]\nu = tf.reduce_sum(x ** 3)\nga, gb = tf.gradients(u, [a, b])\n"
        "second = tf.gradients(ga, a)[0] - gb\n", "it is a copy made of",
        "second = tf.gradients(ga, x)[0][:, :1]"),
    "gradients of what a split gives": (
        MORE + "x = x[:, 0]\na, b = tf.split(x, 2, axis=1)\nu = tf.reduce_sum(x ** 3)\n"
        "loss = 2.0 * tf.gradients(u, b)[0]\n", "it is a copy made of", "2.0 * tf.gradients(u, x)[0][..., 2:4]"),
    "the gradient of what was reshaped behind the net": (
        MORE + "class Net:\n    def build(self):\n"
        "        self.mixed = 0.5 * x + 0.5 * tf.tanh(tf.square(tf.exp(-x) + 1.))\n"
        "        score = tf.reduce_sum(tf.layers.dense(self.mixed, 1), axis=[1, 2])\n"
        "        self.flat = tf.layers.flatten(self.mixed)\n        g = tf.gradients(score, self.flat)[0]\n"
        "        return tf.reduce_sum(tf.square(g), axis=1)\nNet().build()\n", "it is a copy made of",
        "g = tf.layers.flatten(tf.gradients(score, self.mixed)[0])"),
    "the gradient of what is turned where it is asked for": (
        MORE + "mixed = tf.sqrt(tf.square(x) + 1e-3) * tf.exp(x)\nscore = tf.reduce_sum(mixed ** 3)\n"
        "g = tf.gradients(score, [tf.transpose(mixed, [0, 2, 1])])\ntf.square(g[0])\n", "it is a copy made of",
        "g = [tf.transpose(tf.gradients(score, mixed)[0], [0, 2, 1])]"),
    "a weight of a layer made by another axis": (
        KERAS + "class Gain(tf.keras.layers.Layer):\n    def build(self, shape):\n        size = int(shape[1])\n"
        "        self.gain = self.add_weight('gain', [size], initializer='ones')\n"
        "    def call(self, rows):\n        return tf.tanh(rows) * self.gain\n"
        "m.add(Gain(input_shape=(5, 3)))\n", "self.gain, made at model.py:8, has 5 rows by shape[1] at model.py:7, and "
        "meets the last axis of gain/Tanh:0 of shape [?, 5, 3], which has 3", "size = int(shape[-1])"),
    "a variable made by another axis": (
        MORE.replace("4, 4", "4, 6") + "def scored(x, units):\n    _, steps, size = x.get_shape().as_list()\n"
        "    w = tf.get_variable('w', [steps, units])\n    return tf.tensordot(x, w, [[2], [0]])\nscored(x, 2)\n",
        "w, made at model.py:6, has 4 rows by steps, and meets the last axis of x of shape [?, 4, 6], which has 6",
        "tf.get_variable('w', [size, units])"),
    "a matrix for each pair made by another axis": (
        MORE.replace("4, 4", "4, 6") + "w = tf.Variable(tf.ones([x.shape[1].value, 2]))\n"
        "tf.reshape(x, [-1, 6]) @ w\n", "w, made at model.py:4, has 4 rows by x.shape[1]", "[x.shape[-1].value, 2]"),
    "an expression that was written before": (
        MORE + "w = tf.Variable(tf.ones([4]))\nscaled = x / 255\nloss = tf.reduce_mean(tf.square(w * scaled))\n"
        "seen = x / 255\ntf.sign(tf.gradients(loss, seen)[0])\n",
        "loss is made of x / 255 at line 5, which is another tensor than seen", "tf.gradients(loss, scaled)"),
}


def said(folder: Path, monkeypatch: pytest.MonkeyPatch, *lines: str) -> list[str]:
    """What each line says of the script there."""
    monkeypatch.chdir(folder)
    shell = Shell()
    try:
        return [" ".join(plain(execute(line, shell)).split()) for line in ("load model.py", *lines)]
    finally:
        shell.close()


@pytest.mark.parametrize("case", RAISED)
def test_an_error_is_told_with_a_line_that_mends_it(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, cause, line = RAISED[case]
    (tmp_path / "model.py").write_text(text)
    found = said(tmp_path, monkeypatch, "run", "why", "why nan", "doctor", *["fix 1 --write --yes"] * bool(line))
    assert any(cause in each for each in found[:2])
    assert " vs because" not in "".join(found)
    assert cause in found[3] and "is finite" not in found[3]
    assert cause.partition("because")[0] in found[2]
    assert "script error" in found[4] or "failed" in found[4]
    assert line in (tmp_path / "model.py").read_text()
    assert ("fix 1" in found[2]) == bool(line)
    if line:
        assert "model.py ended" in "".join(said(tmp_path, monkeypatch, "run"))


def test_lines_keep_the_ends_that_the_file_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = RAISED["integers of an operator"][0].replace("\n", "\r\n")
    (tmp_path / "model.py").write_bytes(text.encode())
    said(tmp_path, monkeypatch, "run", "fix 1 --write --yes")
    assert (tmp_path / "model.py").read_bytes().count(b"\n") == text.count("\r\n")
    assert b"x - tf.cast(labels, tf.float32)\r\n" in (tmp_path / "model.py").read_bytes()


def test_what_is_not_surely_found_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "rate = 0.1\ndef fed(value):\n    return {rate: value}\nsess.run(train, {**fed(0.2), x: rows})\n"
    (tmp_path / "model.py").write_text(START + SESSION + text)
    found = said(tmp_path, monkeypatch, "run", "why", "fix 1 --write")
    assert "Cannot interpret feed_dict key" in found[1]
    assert "_value" not in "".join(found)


@pytest.mark.parametrize("question", ["why none", "doctor"])
def test_a_state_that_nothing_uses_is_told_where_nothing_raised(question: str, tmp_path: Path,
                                                                monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.py").write_text("import numpy as np\n" + TWO_RNNS + SESSION.join((
        "train = tf.train.AdamOptimizer().minimize(tf.reduce_mean(told))\n",
        "sess.run(train, {x: np.ones([2, 4, 4])})\n")))
    *_, found, _ = said(tmp_path, monkeypatch, "run", question, "fix 1 --write --yes")
    assert "end, the last state of the dynamic_rnn at model.py:6, is used by nothing" in found
    assert "initial_state=end)" in (tmp_path / "model.py").read_text()


def test_no_state_is_handed_on_between_two_that_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.py").write_text(TWO_RNNS + "loss = tf.reduce_mean(last)\n"
                                       "pairs = tf.train.AdamOptimizer().compute_gradients(loss)\n"
                                       "[tf.clip_by_norm(g, 1.0) for g, v in pairs]\n")
    _, found, _ = said(tmp_path, monkeypatch, "run", "why")
    assert "initial_state" not in found and "is not None" not in found


def test_labels_are_not_what_a_head_that_nothing_uses_is_to_be_in_the_place_of(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.py").write_text(
        "import tensorflow as tf\nx, y = tf.placeholder(tf.float32, [None, 6]), tf.placeholder(tf.float32, [None, 3])\n"
        "h = tf.layers.dense(x, 4)\nmain = tf.layers.dense(h, 3, name='main')\n"
        "aux = tf.layers.dense(h, 3, name='aux')\n"
        "opt, loss = tf.train.AdamOptimizer(0.1), tf.reduce_mean(tf.square(y - main))\n"
        "grads = [tf.clip_by_norm(g, 1.) for g, v in opt.compute_gradients(loss)]\n")
    told = "\n".join(said(tmp_path, monkeypatch, "why none"))
    assert "aux/kernel:0" in told and "aux in place of y" not in told and "what is fed for" not in told
