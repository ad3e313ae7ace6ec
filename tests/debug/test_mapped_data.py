"""nan and inf that a dataset's map function makes: the op that made them is told, and kept from it by its line."""

from pathlib import Path

import numpy as np
import pytest

from cli.language.interpreter import execute
from cli.view.render import plain

from .test_mistakes import trained

FUNCTIONS = {
    "a log": ("""
def made(given, answer):
    return given / 9.0, tf.log(answer)
""", "log at", "return given / 9.0, tf.log(answer + 1.0)"),
    "a ratio": ("""
def made(given, answer):
    return given / tf.reduce_sum(given), answer
""", "realdiv at", "return given / (tf.reduce_sum(given) + 1e-08), answer"),
    "a deviation": ("""
def made(given, answer):
    mean, spread = tf.nn.moments(given, [0])
    return (given - mean) / tf.sqrt(spread), answer
""", "realdiv at", "return (given - mean) / tf.sqrt(spread + 1e-5), answer"),
    "a constant column": ("""
rows[:, 2] = 9
least, DEVIATION = rows.min(0), rows.std(axis=0)

def made(given, answer):
    return (given - 9.0) / DEVIATION, answer
""", "realdiv at", "return tf.div_no_nan(given - 9.0, DEVIATION), answer"),
}
DATA = """
rows, answers = 9 + rng.rand(120, 4).astype(np.float32), 3 + rng.rand(120, 1).astype(np.float32)
rows[70], answers[70] = 0, 0
"""
TAKEN = """
data = tf.data.Dataset.from_tensor_slices((rows, answers)).map(made).repeat().batch(12)
given, answer = data.make_one_shot_iterator().get_next()
step = adam(.01).minimize(tf.reduce_mean(tf.square(dense(given, 1) - answer)))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(12):
        session.run(step)
"""
FITTED = """
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model.compile("adam", "mse")
data = tf.data.Dataset.from_tensor_slices((rows, answers)).map(made).repeat().batch(12)
model.fit(data, steps_per_epoch=6, epochs=2, verbose=0)
"""


@pytest.mark.parametrize("rest", [TAKEN, FITTED], ids=["session", "keras"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_op_of_a_map_function_is_told_and_mended(name: str, rest: str, tmp_path: Path,
                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    function, op, line = FUNCTIONS[name]
    shell = trained(DATA + function + rest, tmp_path)
    told = " ".join(plain(execute("why nan", shell)).split())
    assert f"its map function computes {op} model.py:" in told.partition("remedy")[0]
    assert ("(DEVIATION at model.py:38 is 0 at [2], as that column never changes)" in told) == ("column" in name)
    execute("fix 1 --write --yes", shell)
    shell.close()
    written = (tmp_path / "model.py").read_text()
    assert line in written
    mended = trained(DATA + written.partition(DATA)[2], tmp_path)
    assert "every tensor that matters is finite" in plain(execute("why nan", mended))
    mended.close()


def test_what_a_map_function_draws_is_the_same_where_one_element_is_looked_into() -> None:
    import autodiff as tf

    drawn = []
    for bad in (1.0, 0.0):
        tf.reset_default_graph()
        tf.set_random_seed(3)
        data = tf.data.Dataset.from_tensor_slices(np.array([2.0, bad, 5.0], np.float32)).map(
            lambda x: (tf.log(x), tf.random_uniform([])))
        following = data.make_one_shot_iterator().get_next()
        with tf.Session() as session:
            drawn.append([session.run(following)[1] for _ in range(3)])
    assert drawn[0] == drawn[1]
