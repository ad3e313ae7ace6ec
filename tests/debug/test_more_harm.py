"""Harmful and masked, in whole programs: `break if harmful` stops for the one, not for the other."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.language.interpreter import execute
from cli.model.shell import Shell
from cli.view.render import plain

from .more_harm import HARMFUL, MASKED
from .pains import START


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    monkeypatch.chdir(tmp_path)
    shell = Shell()
    yield shell
    shell.close()


def asked(shell: Shell, script: str) -> tuple[str, str]:
    """What `run` says with the breakpoint set, and `why nan` after it."""
    Path("model.py").write_text(START + script)
    said = [plain(execute(line, shell)) for line in ("load model.py", "break if harmful", "run", "why nan")]
    assert "error" not in said[0] + said[2], said
    return said[2], said[3]


def test_there_are_twenty_of_each() -> None:
    assert (len(HARMFUL), len(MASKED)) == (20, 20)


@pytest.mark.parametrize("name", HARMFUL)
def test_harm_stops_the_run_and_is_explained(name: str, shell: Shell) -> None:
    script, says = HARMFUL[name]
    ran, why = asked(shell, script)
    assert "stop: " in ran and "harmful" in ran
    for text in says:
        assert text in ran + why, f"{text!r} is missing in:\n{ran}{why}"
    assert "model.py:" in why


@pytest.mark.parametrize("name", MASKED)
def test_what_is_masked_lets_the_script_run_to_its_end(name: str, shell: Shell) -> None:
    ran, why = asked(shell, MASKED[name])
    assert "stop: " not in ran and "model.py ended" in ran
    assert "is finite" in why, why


def test_of_several_losses_those_that_the_run_computed_count(shell: Shell) -> None:
    """The actor's loss is nan and its gradients are not; the critic's, differentiated last, is well."""
    ran, why = asked(shell, """
x = tf.placeholder(tf.float32, []); a = tf.Variable(-1.0, name="a"); c = tf.Variable(3.0, name="c")
actor, critic = tf.log(a) * x, tf.square(c - x)
steps = [tf.train.GradientDescentOptimizer(.1).minimize(y, var_list=[v]) for y, v in ((actor, a), (critic, c))]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(6): sess.run([steps[1 - i % 2], (critic, actor)[i % 2]], {x: 1.0})
""")
    assert "step 2" in ran and "stop: " in ran
    assert why.startswith("log(-1) = nan") and "instead of nan" in why
