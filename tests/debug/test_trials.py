"""Remedies are tried on the remembered steps before they are told; what does not help is not told."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cli.language.interpreter import execute
from cli.model.results import error_in
from cli.model.shell import Shell
from cli.view.render import plain

from .pains import PAINS, START

HELPS = {12: "safe = tf.where(ok, x, tf.ones_like(x)), then tf.log(safe)", 14: "tf.sqrt(x + 1e-12)",
         15: "tf.pow(tf.maximum(x, 1e-12), p)", 17: "tf.pow(tf.maximum(x, 1e-12), p)",
         19: "tf.nn.log_softmax(logits)", 20: "", 21: "tf.sqrt(tf.maximum(x, 1e-12))",
         22: "tf.log(tf.maximum(x, 1e-12))", 25: "tf.div_no_nan(x, y)",
         28: "tf.sqrt(tf.maximum(x, 1e-12))"}
FED = START + """
x = tf.placeholder(tf.float32, [None, 2], name="x")
w = tf.Variable([[0.5], [0.5]], name="w")
p = tf.nn.sigmoid(tf.matmul(x, w))[:, 0]
loss = -tf.reduce_mean([1.0, 0.0] * tf.log(p) + [0.0, 1.0] * tf.log(1.0 - p), name="loss")
step = tf.train.AdamOptimizer(0.05).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(8):
        session.run([step, loss], {x: [[1.0, i], [-1.0, i]] if i < 5 else [[-300.0, 0.0], [300.0, 0.0]]})
"""
GROWS = START + """
w = tf.Variable([[0.5]], name="w")
loss = tf.reduce_sum(tf.square(w * 30.0 - 3.0), name="loss")
step = tf.train.GradientDescentOptimizer(300.0).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(30):
        session.run([step, loss])
"""


@contextmanager
def loaded(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *moves: str) -> Iterator[Shell]:
    """A script at the end of `moves`."""
    monkeypatch.chdir(folder)
    (folder / "model.py").write_text(text)
    shell = Shell()
    try:
        for line in ("load model.py", *moves):
            result = execute(line, shell)
            assert error_in(result) is None, plain(result)
        yield shell
    finally:
        shell.close()


def said(line: str, shell: Shell) -> str:
    return " ".join(plain(execute(line, shell)).split())


@pytest.mark.parametrize("number", HELPS)
def test_what_helps_is_told_first(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pain = next(pain for pain in PAINS if pain.number == number)
    with loaded(pain.text, tmp_path, monkeypatch, *pain.moves) as shell:
        text = said("why nan", shell)
    first, tried, _ = text.partition(" tried: step 1 gives loss ")
    assert bool(tried) == bool(HELPS[number]), text
    assert not tried or first.endswith(f"remedy: {HELPS[number]} at model.py:{pain.line}"), text


def test_edits_of_two_ops_are_tried_together_over_the_steps_before(tmp_path: Path,
                                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither logarithm alone is enough; over the steps before it nothing is changed."""
    with loaded(FED, tmp_path, monkeypatch, "run -f nan") as shell:
        names = list(shell.dbg.graph.operations)
        text = said("why nan", shell)
        remedies = [remedy for remedy, *_ in shell.dbg.trials.tried]
        assert list(shell.dbg.graph.operations) == names
    assert "remedy: tf.log_sigmoid(x); tf.log_sigmoid(-x) at model.py:7" in text
    assert "instead of inf; steps 1-6 replayed with it stay finite, their losses as they were" in text
    assert remedies[0].change < 1e-6 and len(remedies) == 1


def test_a_training_that_diverges_is_tried_with_clipped_gradients(tmp_path: Path,
                                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    with loaded(GROWS, tmp_path, monkeypatch, "run -f nan") as shell:
        text = said("why nan", shell)
        assert not shell.dbg.records[-1].error
    assert "remedy: clip the gradients" in text and "instead of inf" in text


def test_a_fix_is_in_force_until_undo_and_each_step_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with loaded(FED, tmp_path, monkeypatch, "run -f nan", "why nan", "fix 1") as shell:
        dbg = shell.dbg
        assert dbg.session.variables["w"] == pytest.approx(dbg.state.moments[-1].variables["w"])
        assert "with the fix tf.log_sigmoid(x); tf.log_sigmoid(-x)" in said("run -t 1", shell)
        fixed = dbg.records[-1]
        after = dbg.session.variables["w"].copy()
        assert fixed.loss == pytest.approx(float(dbg.value("loss").array))
        assert [t.name for t in dbg.state.fed_last()] == ["x:0"]
        at = dbg.state.moments[-1]
        assert (dbg.state.replayer.after(at, at.variables)["w"] == after).all()  # made again, exactly
        assert "taken back: fix tf.log_sigmoid" in said("undo", shell)
        said("run -t 1", shell)
        assert dbg.records[-1] is not fixed and not dbg.records[-1].notes
        assert "no remedy 9" in said("fix 9", shell)
