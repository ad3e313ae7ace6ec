"""First derivatives of several answers at once, where one is meant; and where the sum of all is right."""

from pathlib import Path

import pytest

from .test_mistakes import findings, trained

_KIND = "derivatives added up"
_PROGRAM = """
both, flow = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 1])
h = dense(p, 16, tf.nn.tanh)
uv = dense(h, 2)
u = uv[:, 0:1]
slope = tf.gradients(OF, p)[0]
loss = tf.reduce_mean(tf.square(uv - both)) + tf.reduce_mean(tf.square(REST))
def each(i):
    k = rng.randint(0, 300, 32)
    return {p: points[k], both: points[k, :2] ** 2, flow: np.sin(points[k, :1])}
fit([adam(.02).minimize(loss), loss], each)
"""
_EQUATION = "slope[:, 0:1] + u - flow"
QUIET = {
    "one": ("u", _EQUATION), "a norm": ("uv", "tf.norm(slope + 1e-9, axis=1) - 1."),
    "what is looked at": ("tf.nn.log_softmax(uv)", "flow * slope"),
    "a norm of columns": ("uv", "tf.sqrt(slope[:, 0] ** 2 + slope[:, 1] ** 2 + 1e-6) - 1."),
    "of each number alone": ("tf.sin(p * tf.Variable([1., 2., 3.]))", _EQUATION),
    "held against the same of another": ("uv", "slope - tf.gradients(dense(tf.tanh(dense(p, 8)), 2), p)[0]"),
}


@pytest.mark.parametrize("of, rest", [("uv", _EQUATION), ("tf.reduce_sum(uv)", "flow - u * slope[:, 1:2]")])
def test_a_derivative_of_all_columns_is_told_and_one_is_written(of: str, rest: str, tmp_path: Path) -> None:
    shell = trained(_PROGRAM.replace("OF", of).replace("REST", rest), tmp_path)
    first, *_ = shell.dbg.doctor().findings
    assert (first.kind, first.level) == (_KIND, "error") and "of all 2 columns of dense_1/BiasAdd:0" in first.text
    assert "the loss so mended goes from " in first.remedy
    assert "slope = tf.gradients(uv[:, 0], p)[0]" in shell.dbg.edits.patch(1).new.decode()
    shell.close()


@pytest.mark.parametrize("name", QUIET)
def test_where_a_sum_or_one_alone_is_meant_nothing_is_told(name: str, tmp_path: Path) -> None:
    of, rest = QUIET[name]
    assert _KIND not in [f.kind for f in findings(_PROGRAM.replace("OF", of).replace("REST", rest), tmp_path)]
