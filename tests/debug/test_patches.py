"""A remedy as a change of the user's file: where it goes, what is kept, and what is never written."""

import os
import sysconfig
from pathlib import Path

import pytest

from autodiff.core.errors import ArgumentError
from autodiff.debug.analysis.edits.in_source import ClipGradients, LowerRate, rewritten
from autodiff.debug.engine.questions.patches import _is_own
from cli.language.interpreter import execute, typed
from cli.model.results import Patch, error_in
from cli.view.json_text import data
from cli.view.render import plain

from .pains import START
from .test_trials import loaded, said

HEAD = "# café ☕\n" + START
TAIL = """
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run([step, loss])
"""
# what the script computes -> the text that takes its place, or why nothing does
WRITTEN = {
    "loss = tf.reduce_sum(  tf.log(  w*0.0 ))  # 'é'": ("tf.log(  w*0.0 )", "tf.log(  tf.maximum(w*0.0, 1e-12) )"),
    "s = 'ü☕'; loss = tf.sqrt(w[0] * 0.0)": ("tf.sqrt(w[0] * 0.0)", "tf.sqrt((w[0] * 0.0) + 1e-12)"),
    "h = w * 0.0\nloss = tf.reduce_sum(tf.where(h > 0,\n    h / h,   # ratio\n    w))":
        ("    h / h,", "    h / tf.where(h > 0, h, tf.ones_like(h)),"),
    "loss = tf.norm(\n    w * 0.0,\n    axis=0, name='n')":
        ("tf.norm(\n    w * 0.0,\n    axis=0, name='n')", "tf.sqrt(tf.reduce_sum(tf.square(w * 0.0), axis=0) + 1e-12)"),
    "z = w * 200.0\np = tf.nn.softmax(z)\nloss = -tf.reduce_sum(tf.log(p))":
        ("tf.log(p)", "tf.nn.log_softmax(z)"),
    "y = [[0.0, 1.0]]\np = tf.nn.softmax(tf.layers.dense(w[None] * 9e3, 2))\n"
    "loss = -tf.reduce_mean(tf.reduce_sum(y * tf.log(p), axis=1))":
        ("p = tf.nn.softmax(tf.layers.dense(w[None] * 9e3, 2))\n"
         "loss = -tf.reduce_mean(tf.reduce_sum(y * tf.log(p), axis=1))",
         "logits = tf.layers.dense(w[None] * 9e3, 2)\np = tf.nn.softmax(logits)\n"
         "loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits))"),
    "logits = 2.0\nfor i in range(1): p = tf.nn.softmax(tf.nn.relu(w * 200.0))\nloss = -tf.reduce_sum(tf.log(p))":
        ("tf.log(p)", "tf.nn.log_softmax(tf.nn.relu(w * 200.0))"),
    "logits = 2.0\nfor i in range(1):\n  p = tf.nn.softmax(tf.nn.relu(w * 200.0))\n  loss = -tf.reduce_sum(tf.log(p))":
        ("p = tf.nn.softmax(tf.nn.relu(w * 200.0))\n  loss = -tf.reduce_sum(tf.log(p)",
         "logits1 = tf.nn.relu(w * 200.0)\n  p = tf.nn.softmax(logits1)\n  loss = -tf.reduce_sum(tf.nn.log_softmax("
         "logits1)"),
    "import random\nif True:\n  p = tf.nn.softmax(w[:, None] * tf.layers.dense(w[None] * 2e4, 2))\n"
    "loss = -tf.reduce_sum(tf.log(p))": "would be made twice",
    "def f(z):\n    return tf.log(1 + tf.exp(z))\nloss = tf.reduce_sum(f(w * 200.0) + f(w * 200.0))":
        ("tf.log(1 + tf.exp(z))", "tf.nn.softplus(z)"),
    "h = tf.layers.dense(w[:, None] * 0.0, 2, bias_initializer=tf.constant_initializer(-1.0))\n"
    "loss = tf.reduce_sum(tf.log(h))":
        ("tf.layers.dense(w[:, None] * 0.0, 2, bias_initializer=tf.constant_initializer(-1.0))",
         "tf.nn.softplus(tf.layers.dense(w[:, None] * 0.0, 2, bias_initializer=tf.constant_initializer(-1.0)))"),
    "low = float('-inf')  # a mask\nloss = tf.reduce_sum(tf.nn.softmax(w * 0.0 + low)) + w[0]":
        ("float('-inf')", "-1e+09"),
    "z = w * 200.0\np = tf.nn.softmax(z)\nz = w\nloss = -tf.reduce_sum(tf.log(p))": "'z' is something else there",
    "def p():\n    return tf.nn.softmax(w * 200.0)\nloss = -tf.reduce_sum(tf.log(p()))": "in another function",
    "args = (w * 0.0,)\nloss = tf.reduce_sum(tf.log(*args))": "not written one by one",
    "loss = w[0] * 0.0\nloss /= w[0] * 0.0": "no expression there surely is",
}


@pytest.mark.parametrize("computed", WRITTEN)
def test_the_expression_is_found_and_all_else_kept(computed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                   ) -> None:
    wanted = WRITTEN[computed]
    text = f"{HEAD}w = tf.Variable([1.0, -2.0], name='w')\n{computed}{TAIL}"
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite", "why nan") as shell:
        found = shell.dbg.edits.patch(1)
        shown = said("fix 1 --write", shell)
    assert (tmp_path / "model.py").read_text() == text
    if isinstance(wanted, str):
        assert wanted in found.why and shown.startswith("nothing is written: model.py:") and "by hand: tf." in shown
        return
    assert not found.why, found.why
    assert found.new.decode() == text.replace(*wanted, 1) and found.new.decode() != text
    assert shown.startswith("--- model.py +++ model.py @@")
    assert shown.endswith("not written: fix 1 --write --yes writes it")


def test_what_is_written_keeps_ends_of_lines_encoding_rights_and_the_old_text(tmp_path: Path,
                                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    script = "# -*- coding: latin-1 -*-\n# é\n" + START + "w = tf.Variable(1.0)\nloss = tf.sqrt(w - w)" + TAIL
    data_before = script.replace("\n", "\r\n").encode("latin-1")
    with loaded(script, tmp_path, monkeypatch, "run -f nonfinite", "why nan") as shell:
        target = tmp_path / "model.py"
        target.write_bytes(data_before)
        target.chmod(0o750)
        (tmp_path / "link.py").symlink_to(target)
        (tmp_path / "model.py~").write_text("older")
        result = execute("fix 1 --write --yes", shell)
        assert error_in(result) is None, plain(result)
        again = said("fix 1 --write", shell)
    assert target.read_bytes() == data_before.replace(b"w - w", b"(w - w) + 1e-12")
    assert (tmp_path / "model.py~1").read_bytes() == data_before and (tmp_path / "model.py~").read_text() == "older"
    assert {oct(path.stat().st_mode & 0o777) for path in (target, tmp_path / "model.py~1")} == {"0o750"}
    assert "model.py is written; what it was is in model.py~1" in plain(result)
    assert "cannot be edited surely" in again  # it is not what the program ran any more


def test_yes_as_the_next_line_confirms_and_anything_else_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                                  ) -> None:
    text = START + "w = tf.Variable(1.0)\nloss = tf.log(w - w)" + TAIL
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite", "why nan") as shell:
        assert not shell.offered
        shell.interactive = True
        for answers in (["", "yes"], ["info vars", "y"], ["n", "y"], ["y"]):
            result = execute(typed("fix 1 --write", shell), shell)
            assert "yes or no" in plain(result) and (tmp_path / "model.py").read_text() == text
            lines = [typed(answer, shell) for answer in answers]
            assert lines[0] != "n"  # an answer, and not `next`
        shown = data(result.parts[0])
        execute(lines[-1], shell)
    assert lines == ["fix 1 --write --yes"] and isinstance(result.parts[0], Patch)
    assert shown == {"file": "model.py", "diff": shown["diff"], "backup": ""}
    assert "tf.log(tf.maximum(w - w, 1e-12))" in (tmp_path / "model.py").read_text()


def test_a_file_that_is_not_the_users_is_never_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    script = str(tmp_path / "model.py")
    assert _is_own(script, script) and _is_own(str(tmp_path / "part" / "net.py"), script)
    assert not _is_own(str(tmp_path / "env" / "site-packages" / "net.py"), script)
    assert not _is_own(os.path.join(sysconfig.get_paths()["stdlib"], "random.py"), script)
    assert not _is_own(str(tmp_path.parent / "net.py"), script) and not _is_own("<prompt>", "")


def test_a_learning_rate_is_lowered_where_it_is_written_once() -> None:
    text = "RATE = 0.5\nstep = tf.train.AdamOptimizer(\n    learning_rate=RATE).minimize(loss)\n"
    assert rewritten(text, [LowerRate(0.5, 0.05)]) == text.replace("RATE = 0.5", "RATE = 0.05")
    assert "RATE = 0.01" in rewritten(text.replace("0.5", "0.1"), [LowerRate(0.10000000149, 0.01)])
    with pytest.raises(ArgumentError, match="in no places"):
        rewritten(text.replace("0.5", "1 / 2"), [LowerRate(0.5, 0.05)])


def test_a_momentum_is_lowered_where_it_is_written() -> None:
    text = "t = tf.train.MomentumOptimizer(1.1, 1.1, use_nesterov=True)"
    assert "(1.1, 0.9, use" in rewritten(text, [LowerRate(1.1, 0.9, "momentum")])
    assert "momentum=0.9)" in rewritten("t = tf.train.RMSPropOptimizer(2.0, momentum=2.0)", [
        LowerRate(2.0, 0.9, "momentum")])


@pytest.mark.parametrize(("before", "after"), [
    ("    self.step = opt.minimize(\n        loss, gs, var_list=some)  # here\n",
     "    gradients, variables = zip(*opt.compute_gradients(loss, var_list=some))\n"
     "    gradients, _ = tf.clip_by_global_norm(gradients, 1.0)\n"
     "    self.step = opt.apply_gradients(zip(gradients, variables), global_step=gs)  # here\n"),
    ("    a = 1; t = Adam(0.1).minimize(loss=a, name='n')\n",
     "    a = 1; optimizer = Adam(0.1); gradients, variables = zip(*optimizer.compute_gradients(a)); "
     "gradients, _ = tf.clip_by_global_norm(gradients, 1.0); "
     "t = optimizer.apply_gradients(zip(gradients, variables), name='n')\n"),
])
def test_gradients_are_clipped_where_they_are_applied(before: str, after: str) -> None:
    head = "import tensorflow as tf\nif True:\n"
    assert rewritten(head + before, [ClipGradients(1.0)]) == head + after
    for text, about in ((before * 2, "in 2 places"), ("    f(*x.minimize(*y))\n", "not written one by one"),
                       ("    if o.minimize(y): pass\n", "within another statement")):
        with pytest.raises(ArgumentError, match=about):
            rewritten(head + text, [ClipGradients(1.0)])
