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

# the script; what is said of it; what is then in its file
RAISED = {
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
        "layer(tf.ones([2, 3]), [4, 5])\n", "because w, made at model.py:7, has 4 rows, and x 3 columns", ""),
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
