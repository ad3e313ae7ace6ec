"""Ops that refuse to run: what they were given is told, remedies are tried, and what is fed is told where it is fed."""

from pathlib import Path

import pytest

from cli.language.interpreter import execute
from cli.model.shell import Shell
from cli.view.render import plain

START = "import autodiff as tf\nimport numpy as np\n"
FEED = "with tf.Session() as session:\n    session.run(tf.global_variables_initializer())\n    for i in range(8):\n" \
       "        session.run([step, loss], {x: data})\n"
TRAIN = 'step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)\n'
REFUSED = {
    "inverse": ('data = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 0.0]], np.float32)\n'
                'x = tf.placeholder(tf.float32, [None, 3])\nloss = tf.reduce_sum(tf.matrix_inverse(tf.matmul(x, x, '
                'transpose_a=True)))\nstep = tf.no_op()\n',
                "its row 2 is 0 throughout",
                "tf.matrix_inverse(tf.matmul(x, x, transpose_a=True) + 4e-05 * tf.eye(3))"),
    "cholesky": ('data = np.ones((2, 2))\nx = tf.placeholder(tf.float64, [None, None])\n'
                 'w = tf.Variable(np.float64(1.0))\nloss = tf.reduce_sum(tf.cholesky(x) * w)\n' + TRAIN,
                 "its rows 0 and 1 are equal",
                 "tf.cholesky(x + 1e-06 * tf.eye(tf.shape(x)[-1], dtype=tf.float64))"),
    "labels": ('data = np.array([1, 3, 2])\nx = tf.placeholder(tf.int64, [None])\nw = tf.Variable(tf.zeros([3, 3]))\n'
               'loss = tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=x, logits=w))\n' + TRAIN,
               "x holds 1 to 3, 3 first at [1], where 0 to 2 may be",
               "x - 1: they count from 0, and these from 1 at model.py:11: x: data, from 1 to 3"),
    "rows": ('data = np.array([[0, 4, 2]])\nx = tf.placeholder(tf.int64, [None, 3])\nw = tf.Variable(tf.ones([3, 3]))\n'
             'loss = tf.reduce_sum(tf.nn.embedding_lookup(w, x))\n' + TRAIN,
             "x holds 0 to 4, 4 first at [0, 1], where 0 to 2 may be",
             "give w 5 rows in place of 3 at model.py:5"),
    "row": ('data = 4\nx = tf.placeholder(tf.int64, [])\nw = tf.Variable(tf.ones([3, 3]))\n'
            'loss = tf.reduce_sum(tf.gather(w, x))\n' + TRAIN,
            "x is 4, where 0 to 2 may be", "give w 5 rows in place of 3 at model.py:5"),
}


def told(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *lines: str) -> list[str]:
    """What each line says of a script."""
    monkeypatch.chdir(folder)
    (folder / "model.py").write_text(START + text)
    shell = Shell()
    try:
        return [" ".join(plain(execute(line, shell)).split()) for line in ("load model.py", *lines)]
    finally:
        shell.close()


@pytest.mark.parametrize("case", REFUSED)
def test_what_an_op_refuses_is_told_with_remedies_that_were_tried(case: str, tmp_path: Path,
                                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    text, fault, remedy = REFUSED[case]
    _, _, doctor, why, fix, after = told(text + FEED, tmp_path, monkeypatch, "run", "doctor", "why", "fix 1", "doctor")
    assert fault in why
    assert ("of the matrix" in why) == ("matrix" in text or "cholesky" in text)
    assert "did not change" not in doctor
    assert f"; {fault}" in doctor or f": {fault}" in doctor
    assert remedy in why
    assert "instead of an error; fix 1 applies it" in why
    assert "runs compute with that from here on" in fix
    assert " mends: failed" in after


@pytest.mark.parametrize(("text", "cause"), [
    ("w = tf.Variable(1.0)\ntf.Session().run(w + 1.0)\n", "remedy: run tf.global_variables_initializer() first"),
    ("x = tf.placeholder(tf.int32, [])\ny = tf.constant(1.0) - x\n", "remedy: tf.cast(x, tf.float32)"),
    ("x, y = tf.placeholder(tf.float32, [], name='keep'), tf.Variable(1.0)\ns = tf.Session()\n"
     "s.run(y.initializer)\nprint(s.run(x * y))\n", "remedy: feed x: 1.0")])
def test_why_after_what_no_number_explains_is_what_was_raised(text: str, cause: str, tmp_path: Path,
                                                             monkeypatch: pytest.MonkeyPatch) -> None:
    _, *said = told(text, tmp_path, monkeypatch, *(["run"] if "Session" in text else []), "why")
    assert cause in said[-1] and "is finite" not in said[-1]


@pytest.mark.parametrize(("text", "remedy"), [
    ("x, y = tf.placeholder(tf.float32, []), tf.Variable(1.0)\ns = tf.Session()\ns.run(y.initializer)\n"
     "s.run(x * y, {x: 2.0})\ns.run(x * y)\n", "remedy: feed x: 2.0"),
    ("y = tf.placeholder(tf.int32, [None, 3])\n"
     "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=tf.zeros([2, 3]))\n",
     "remedy: tf.argmax(y, -1) in place of y"),
    ("y = tf.placeholder(tf.int32, [None, 1])\n"
     "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=tf.zeros([2, 3]))\n",
     "remedy: tf.squeeze(y, -1) in place of y"),
    ("for i in range(2):\n    tf.get_variable('w', [2])\n",
     "as in a loop or a notebook, after tf.reset_default_graph()"),
    ("x = tf.ones([2])\ntf.reset_default_graph()\nx * tf.ones([2])\n", "nothing before tf.reset_default_graph()"),
    ("s = tf.Session()\ns.graph.finalize()\ns.run(tf.ones([]))\n", "remedy: make it once, before the session"),
    ("x = tf.placeholder(tf.float32, [], name='x')\ntf.Session().run(x + 1.0, {'x': 1.0})\n", "remedy: say 'x:0'")])
def test_what_a_call_refused_is_told_with_a_remedy(text: str, remedy: str, tmp_path: Path,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    assert remedy in "".join(told(text, tmp_path, monkeypatch, *["run"] * ("run" in text)))


WRITTEN = {  # what `fix N --write` makes of the line
    "1": "w = tf.Variable(tf.ones([3 + 1, 3]))", "2": "session.run([step, loss], {x: data - 1})",
    "3": "session.run([step, loss], {x: np.clip(data, 0, 2)})"}


@pytest.mark.parametrize("number", WRITTEN)
def test_ids_out_of_range_have_a_remedy_each(number: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ('data = np.array([[1, 3, 2]])\nx = tf.placeholder(tf.int64, [None, 3])\nw = tf.Variable(tf.ones([3, 3]))\n'
            'loss = tf.reduce_sum(tf.nn.embedding_lookup(w, x))\n' + TRAIN)
    said = told(text + FEED, tmp_path, monkeypatch, "run", "why", f"fix {number} --write --yes", "load model.py", "run")
    assert "give w 4 rows" in said[2] and "fix 3 applies it" in said[2]
    assert WRITTEN[number] in (tmp_path / "model.py").read_text()
    assert "error" not in said[5]


def test_why_of_a_run_that_fetched_no_tensor_tells_the_op(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ('x = tf.placeholder(tf.float32, [2, 2])\n'
            'tf.Session().run(tf.Variable(tf.eye(2)).assign(tf.matrix_inverse(x)).op, {x: np.zeros((2, 2))})\n')
    assert "its smallest eigenvalue is 0" in told(text, tmp_path, monkeypatch, "run", "why")[2]


def test_why_after_a_script_without_gradients_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'w = tf.Variable([1.0, 2.0])\nloss = tf.reduce_sum(tf.round(w))\n' + TRAIN
    assert "passes Round" in told(text, tmp_path, monkeypatch, "run", "why")[2]


def test_data_that_diverge_are_told_where_they_are_fed_and_a_fix_begins_before_them(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ('data = np.array([[1000.0, 1.0], [3000.0, 2.0], [2000.0, 4.0]], np.float32)\n'
            'x = tf.placeholder(tf.float32, [None, 2])\nw = tf.Variable([[0.5], [0.5]])\n'
            'loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))\n' + TRAIN.replace("0.5", "0.1"))
    said = told(text + FEED.replace("[step, loss]", "step") + "        session.run(loss, {x: data})\n", tmp_path,
                monkeypatch, "run -f nonfinite", "why", "fix 1", "run -f nonfinite")
    assert "at model.py:11: x: data, column 0 from 1000 to 3000, column 1 from 1 to 4" in said[2]
    assert "variables are what they were before step 1" in said[3]
    assert "stop" not in said[4]


def test_doctor_judges_the_runs_that_were_made_as_the_next_would_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                                    ) -> None:
    text = ('data = np.array([[1.0, 1.0], [3.0, -2.0], [-2.0, 4.0]], np.float32)\n'
            'x = tf.placeholder(tf.float32, [None, 2])\nw = tf.Variable([[0.5], [0.5]])\n'
            'loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))\n' + TRAIN.replace("0.5", "2.0"))
    said = told(text + FEED.replace("range(8)", "range(99)"), tmp_path, monkeypatch, "run -f nonfinite", "why", "fix 1",
                "next 12", "doctor", "undo", "next 4", "doctor")
    assert "learning rate" not in said[5]
    assert "learning rate too high" in said[8] and "decayed" not in said[8]


def test_with_a_fix_a_run_beside_training_is_asked_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ('data = np.array([[100.0], [-100.0]], np.float32)\nx = tf.placeholder(tf.float32, [None, 1])\n'
            'w = tf.Variable([[5.0, -5.0]])\np = tf.nn.softmax(tf.matmul(x, w))\n'
            'loss = -tf.reduce_sum(tf.eye(2) * tf.log(p))\n' + TRAIN.replace("0.5", "0.001"))
    said = told(text + FEED + "        session.run(tf.argmax(p, 1), {x: data})\n", tmp_path, monkeypatch,
                "run -f nonfinite", "why", "fix 1", "run -f nonfinite")
    assert "stop" in said[1]
    assert "stop" not in said[4]


def test_a_part_of_a_layer_alone_is_made_positive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ('data = np.array([[1.0, -2.0], [2.0, -1.0]], np.float32)\nx = tf.placeholder(tf.float32, [None, 2])\n'
            'w = tf.Variable([[1.0, 0.0], [0.0, 1.0]])\nmean, scale = tf.split(tf.matmul(x, w), 2, axis=1)\n'
            'loss = tf.reduce_mean(tf.square(mean / scale) + tf.log(scale))\n' + TRAIN.replace("0.5", "0.01"))
    said = told(text + FEED, tmp_path, monkeypatch, "run -f nonfinite", "why", "fix 1", "run -f nonfinite")
    assert "remedy: tf.nn.softplus where it is made" in said[2]
    assert "stop" not in said[4]


@pytest.mark.parametrize(("shape", "value", "remedy"), [
    ("[None, 1]", "np.ones(5)", "np.reshape(value, (-1, 1))"), ("[None, 4]", "np.ones((5, 2, 2))", "(value, (-1, 4))"),
    ("[None, 3]", "np.array([0, 2, 1, 1])", "np.eye(3)[value]"), ("[None]", "np.eye(3)", "np.argmax(value, axis=1)"),
    ("[None, 4]", "np.ones(4)", "np.reshape(value, (-1, 4))"), ("[None, 4]", "np.ones((5, 3))", "write 3 there"),
    ("[None, 4, 2]", "np.ones((5, 3, 1))", "")])
def test_a_feed_of_another_shape_is_told_how_it_would_fit(shape: str, value: str, remedy: str, tmp_path: Path,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"x = tf.placeholder(tf.float32, {shape})\ntf.Session().run(x, {{x: {value}}})\n"
    said = told(text, tmp_path, monkeypatch, "run", "why")
    assert remedy in said[2]
    assert (f": x: {value} at model.py:4" in said[2]) == bool(remedy)
    assert (f": x: {value} at model.py:4" in said[1]) == bool(remedy)


def test_large_initial_weights_and_numbers_fed_one_by_one_are_told_before_the_rate(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = ('data = np.float32(np.random.RandomState(0).randn(8, 99))\nx = tf.placeholder(tf.float32, [None, 99])\n'
            'h = x\nfor i in range(4):\n    h = tf.nn.leaky_relu(h) @ tf.Variable(tf.random_normal([99, 99], seed=i))\n'
            'loss = tf.reduce_mean(tf.losses.sparse_softmax_cross_entropy([*range(8)], h))\n' + TRAIN)
    assert "remedy: smaller initial values" in told(deep + FEED, tmp_path, monkeypatch, "run -f nonfinite", "why")[2]
    single = ('data = 0.0\nx = tf.placeholder(tf.float32)\nw = tf.Variable(1.0)\n'
              'loss = tf.square(w * x * x - x)\n' + TRAIN)
    fed = FEED.replace("x: data", "x: 3.0 + i").replace("range(8)", "range(30)")
    said = told(single + fed, tmp_path, monkeypatch, "run -f nonfinite", "why")[2]
    assert "remedy: scale the data fed for x: x / 10, as they reach" in said


def test_what_nobody_learns_from_need_not_be_scaled_and_why_without_a_stop_tells_missing_gradients(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solved = ('data = np.float32(np.random.RandomState(0).uniform(500, 900, (40, 2)))\n'
              'x = tf.placeholder(tf.float32, [None, 2])\nloss = tf.reduce_sum(tf.matmul(x, x, transpose_a=True))\n'
              'step = tf.no_op()\n')
    assert "not scaled" not in told(solved + FEED, tmp_path, monkeypatch, "run", "doctor")[2]
    cut = ('data = 1.0\nx = tf.placeholder(tf.float32)\nv, w = tf.Variable(1.0), tf.Variable(2.0)\n'
           'loss = tf.square(v * tf.py_func(lambda a: a, [w * x], tf.float32))\n' + TRAIN)
    assert "passes PyFunc" in told(cut + FEED, tmp_path, monkeypatch, "run", "why")[2]


ROWS = ('data = np.ones((8, 2), np.float32)\nx = tf.placeholder(tf.float32, [None, 2])\n'
        'w = tf.Variable(tf.ones([2, 2]))\nstate = tf.zeros([8, 2])\n')
FEED_ROWS = FEED.replace("x: data", "x: data[3 * i:]")
RAISED = {
    "rows of a sum": (ROWS + 'loss = tf.reduce_sum(state + tf.matmul(x, w))\n' + TRAIN,
                      "because 8 rows are built in at model.py:6", "remedy: tf.shape(x)[0] in place of 8"),
    "rows of a loop": (ROWS + 'loss = tf.reduce_sum(tf.while_loop(lambda s: tf.reduce_sum(s) < 99., lambda s: s + '
                       'tf.matmul(x, w), [state], [tf.TensorShape([8, 2])]))\n' + TRAIN,
                       "because 8 rows are built in at model.py:6", "remedy: tf.shape(x)[0] of what"),
    "rows of one example": (ROWS + 'y = tf.reshape(tf.matmul(x, w), [-1, 4, 2])[-1] + tf.zeros([tf.shape(x)[0], 2])\n'
                            'loss = tf.reduce_sum(y)\n' + TRAIN, "takes one of", "remedy: take that row of each"),
    "rows of a reshape": (ROWS + 'loss = tf.reduce_sum(tf.reshape(tf.matmul(x, w), [8, 2]))\n' + TRAIN,
                          "because 8 rows are built in at model.py:7, and 5 came", "remedy: tf.reshape(x, [-1, 2])"),
    "size of rows": (ROWS + 'loss = tf.reduce_sum(tf.reshape(tf.matmul(x, w), [-1, 3]))\n' + TRAIN,
                     "because each example of tf.matmul(x, w) has 2 = 2 numbers, and not 3", "2 in place of 3"),
    "labels": (ROWS + 'loss = tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.cast(x[:, 0], '
               'tf.int32) * 3, logits=tf.matmul(x, w)))\n' + TRAIN, "where 0 to 1 may be",
               "remedy: give the logits 4 columns at model.py:7"),
    "not finite": (ROWS + 'loss = tf.check_numerics(tf.log(tf.reduce_sum(tf.matmul(x, w)) * 0.), "loss")\n' + TRAIN,
                   "log(0) = -inf", "remedy: "),
    "not begun": (ROWS + 'ds = tf.data.Dataset.from_tensor_slices(x).make_initializable_iterator()\n'
                  'loss = tf.reduce_sum(ds.get_next() * w)\n' + TRAIN, "GetNext() failed",
                  "remedy: run sess.run(iterator.initializer, {x: …}) before the first step"),
    "at its end": (ROWS + 'ds = tf.data.Dataset.from_tensor_slices(data[:3]).make_one_shot_iterator()\n'
                   'loss = tf.reduce_sum(ds.get_next() * w)\n' + TRAIN, "OutOfRangeError at model.py:13: End of",
                   "remedy: tf.data.Dataset.from_tensor_slices(data[:3]).repeat() at line 7"),
    "a taken name": (ROWS + 'loss = tf.reduce_sum(x @ w)\n' + TRAIN + "loss = 2.5\n", "Fetch argument 2.5",
                     "is given to something else at model.py:9 remedy: give that another name: loss_value"),
}


@pytest.mark.parametrize("case", RAISED)
def test_what_a_script_raised_is_told_with_its_cause_and_a_remedy(case: str, tmp_path: Path,
                                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    text, cause, remedy = RAISED[case]
    said = told(text + FEED_ROWS, tmp_path, monkeypatch, "run")[1].partition("where, list")[0]
    assert cause in said
    assert remedy in said


@pytest.mark.parametrize(("last", "loss", "remedy"), [
    ("keras.layers.Dense(3)", "categorical_crossentropy", "use loss='sparse_categorical_crossentropy'"),
    ("keras.layers.LSTM(1, return_sequences=True)", "mse", "as by return_sequences=False"),
    ("keras.layers.Dense(2)", "mse", "gives [4, 2] for each example, the targets have [1]")])
def test_targets_that_do_not_fit_a_keras_loss_are_refused(last: str, loss: str, remedy: str, tmp_path: Path,
                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    text = (f'keras = tf.keras\nm = keras.Sequential([keras.layers.Reshape((4, 2), input_shape=(8,)), {last}])\n'
            f'm.compile("sgd", "{loss}")\nm.fit(np.ones((6, 8)), np.arange(6) % 3, verbose=0)\n')
    if "categorical" in loss:
        text = text.replace("Reshape((4, 2)", "Reshape((8,)")
    said = told(text, tmp_path, monkeypatch)[0]
    assert "at model.py:6: " in said
    assert remedy in said.partition("remedy: ")[2]


def test_a_gradient_too_large_for_float16_is_of_a_mean_in_place_of_a_sum(tmp_path: Path,
                                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    text = ('data = np.float16(np.random.RandomState(0).rand(400, 3))\nx = tf.placeholder(tf.float16, [None, 3])\n'
            'b = tf.Variable(tf.zeros([3], tf.float16))\n'
            'loss = tf.reduce_sum(tf.square(tf.cast(x * 2 + b - 300, tf.float32)))\n' + TRAIN.replace("0.5", "1e-6"))
    said = told(text + FEED, tmp_path, monkeypatch, "run -f nonfinite", "why", "fix 1", "run -f nonfinite")
    assert "the sum is too large for the type" in said[2]
    assert "remedy: tf.reduce_mean in place of tf.reduce_sum" in said[2]
    assert "stop" not in said[4]


FOCAL = ('data = np.float32(np.random.RandomState(0).randn(40, 3))\nx = tf.placeholder(tf.float32, [None, 3])\n'
         'w = tf.Variable(tf.ones([3, 3]) * [[50.0, -50.0, 0.0]])\np = tf.nn.softmax(tf.matmul(x, w))\n'
         'y = tf.placeholder(tf.float32, [None, 3])\nright = tf.reduce_sum(y * p, 1)\n'
         'loss = tf.reduce_mean(-(1 - right) ** 2 * tf.log(right))\n' + TRAIN)


def test_a_focal_loss_is_told_of_its_softmax_and_trains_no_critic(tmp_path: Path,
                                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    fed = FEED.replace("x: data", "x: data, y: np.eye(3)[np.arange(40) % 3]")
    said = told(FOCAL + fed, tmp_path, monkeypatch, "run -f nonfinite", "why", "doctor")
    assert "was fed for 'Placeholder_1'" not in said[2]
    assert "= 0 beside" in said[2]
    assert "critic" not in said[3]


@pytest.mark.parametrize(("text", "because", "remedy"), [
    ('data, y = np.ones((4, 8, 8, 3), np.float32), np.eye(2)[[0, 1, 1, 0]]\n'
     'x, t = tf.placeholder(tf.float32, [None, 8, 8, 3]), tf.placeholder(tf.float32, [None, 2])\n'
     'w = tf.Variable(tf.ones([48, 2]))\nz = tf.matmul(tf.reshape(x, [-1, 48]), w)\n',
     "each example of x has 8 * 8 * 3 = 192 numbers, and not 48", "remedy: 192 in place of 48"),
    ('data, y = np.ones((4, 3), np.float32), [0, 1, 1, 0]\nx = tf.placeholder(tf.float32, [None, 3])\n'
     't = tf.placeholder(tf.int32, [None], name="ids")\nw = tf.Variable(tf.ones([3, 2]))\nz = tf.matmul(x, w)\n',
     "for each a probability of each of the 2 classes is wanted", "tf.one_hot(t, 2) in place of t")])
def test_rows_that_do_not_meet_the_labels_are_told_where_they_came_from(
        text: str, because: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text += "loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=t, logits=z))\n" + TRAIN
    raised, why = told(text + FEED.replace("x: data", "x: data, t: y"), tmp_path, monkeypatch, "run", "why")[1:]
    assert because in raised and because in why
    assert remedy in raised and remedy in why


def test_beside_a_fix_doctor_tells_what_it_mends_and_explain_whose_factors_it_has(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ('data = np.array([[100.0], [-100.0]], np.float32)\nx = tf.placeholder(tf.float32, [None, 1])\n'
            'w = tf.Variable([[5.0, -5.0]])\np = tf.nn.softmax(tf.matmul(x, w))\n'
            'loss = -tf.reduce_sum(tf.eye(2) * tf.log(p))\n' + TRAIN.replace("0.5", "0.001"))
    said = told(text + FEED, tmp_path, monkeypatch, "run -f nonfinite", "doctor", "why", "fix 2", "run --times 3",
                "doctor", "explain w", "undo", "explain w")
    assert "log of softmax" in said[2]
    assert "mends: " in said[6] and "log of softmax" in said[6].partition("mends: ")[2]
    assert "masked nan" not in said[6].partition("mends: ")[2].partition(")")[2]
    assert "factors of what the fix replaces are of the script as it is written" in said[7]
    assert "factors of what the fix" not in said[9]


@pytest.mark.parametrize(("text", "remedy"), [
    ('z = tf.zeros([4, 7, 7, 3])\ntf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1, 2, 0], logits=z)\n',
     "remedy: the logits have shape [4,7,7,3]: one row an example is wanted"),
    ('y = tf.placeholder(tf.float32, [None], name="y")\n'
     'tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=tf.zeros([4, 3]))\n',
     "remedy: tf.cast(y, tf.int64)"),
    ('tf.get_variable("v", [2])\ntf.get_variable("v", [2])\n', "remedy: to share it: with tf.variable_scope"),
    ('with tf.Graph().as_default():\n    v = tf.zeros([2])\ntf.Session().run(v)\n',
     "remedy: the model is in another tf.Graph")])
def test_what_is_refused_while_a_graph_is_built_has_a_remedy(text: str, remedy: str, tmp_path: Path,
                                                            monkeypatch: pytest.MonkeyPatch) -> None:
    assert remedy in " ".join(told(text, tmp_path, monkeypatch, "run"))


def test_what_moves_an_index_is_asked_of_its_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = ("w = tf.Variable([[1.0, 2.0], [0.5, 0.1]])\nx = tf.placeholder(tf.float32, [None, 2], name='x')\n"
             "best = tf.argmax(tf.matmul(x, w), axis=1)\nfound = tf.gradients(best, x)[0]\n"
             "with tf.Session() as session:\n    session.run(tf.global_variables_initializer())\n"
             "    session.run(found, {x: [[1.0, 2.0]]})\n")
    assert "take the gradient of the score in place of its index: tf.reduce_max(scores, axis=1)" in " ".join(
        told("import tensorflow as tf\n" + model, tmp_path, monkeypatch, "run")[-1].split())
