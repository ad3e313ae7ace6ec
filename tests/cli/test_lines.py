"""Stops at lines of the script: break, tbreak, conditions, until, finish; and its frames: bt, up, down, locals."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.language.interpreter import execute
from cli.model.results import Source, Table, error_in
from cli.model.shell import Shell
from cli.view.render import plain

LOOP = """\
import numpy as np
import tensorflow.compat.v1 as tf

def build(x):
    w = tf.Variable([1.0, 2.0], name="w")
    h = tf.exp(w * x, name="h")
    return w, tf.reduce_sum(h, name="loss")

def double(i):
    factor = 2
    return inner(i, factor)

def inner(i, by):
    # nothing is done on this line
    return i * by

w, loss = build(1.0)
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(5):
        seen = double(i)
        value = session.run([loss, step])[0]
done = True
"""


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    (tmp_path / "model.py").write_text(LOOP)
    made = Shell()
    execute(f"load '{tmp_path / 'model.py'}'", made)
    yield made
    made.close()
    assert sys.gettrace() is None


def typed(shell: Shell, line: str) -> str:
    result = execute(line, shell)
    assert error_in(result) is None, plain(result)
    return plain(result)


def locals_of(shell: Shell) -> dict[str, str]:
    table = execute("info locals", shell)
    assert isinstance(table, Table)
    return {name: value for name, _, value in table.rows}


def test_a_line_stops_the_script_before_it_runs_with_the_tensors_at_hand(shell: Shell) -> None:
    assert "breakpoint 1 before line model.py:23" in typed(shell, "b model.py:23 if i == 2")
    said = typed(shell, "run")
    assert "before line model.py:23: value = session.run([loss, step])[0]" in said and "stop: breakpoint 1" in said
    assert shell.script is not None and shell.script.namespace["i"] == 2
    assert len(shell.dbg.records) == 3 and "3.9" not in typed(shell, "print loss")
    assert shell.dbg.evaluate("i * 10").array == 20
    assert shell.dbg.grad("w").array is not None
    assert "ended" in typed(shell, "continue")
    assert len(shell.dbg.records) == 6


def test_the_first_line_stop_says_what_next_and_step_do(shell: Shell) -> None:
    typed(shell, "b 22")
    assert "next and step keep their meaning" in typed(shell, "continue")
    assert "next and step" not in typed(shell, "continue")
    before = len(shell.dbg.records)
    assert f"step {before}" in typed(shell, "next") and len(shell.dbg.records) == before + 1
    typed(shell, "continue")
    typed(shell, "delete")
    assert "op 1 of" in typed(shell, "step")


def test_a_line_without_code_stands_for_the_next_and_functions_have_a_line(shell: Shell) -> None:
    assert "before line model.py:15" in typed(shell, "b model.py:14")
    assert "before line model.py:10" in typed(shell, "tbreak double")
    assert "model.py:10 in double" in typed(shell, "run")
    assert "model.py:15 in inner" in typed(shell, "continue")
    assert "tbreak" not in typed(shell, "info breaks")
    assert "no code at line 99" in plain(execute("b 99", shell))
    assert error_in(execute("b nowhere.py:3", shell)) is not None


def test_frames_and_their_locals(shell: Shell) -> None:
    typed(shell, "b inner")
    typed(shell, "run")
    rows = execute("bt", shell).rows  # type: ignore[attr-defined]
    assert [(row[2], row[3]) for row in rows] == [
        ("inner", "model.py:15"), ("double", "model.py:11"), ("<module>", "model.py:22")]
    assert locals_of(shell) == {"i": "0", "by": "2"}
    assert "#1 double at model.py:11" in typed(shell, "up")
    assert locals_of(shell) == {"i": "0", "factor": "2"}
    assert shell.dbg.evaluate("factor + 1").array == 3
    assert error_in(execute("print by", shell)) is not None
    listed = execute("list --function", shell)
    assert isinstance(listed, Source) and (listed.first, len(listed.lines), listed.current) == (9, 3, 11)
    typed(shell, "up 5")
    assert "outermost" in plain(execute("up", shell))
    assert locals_of(shell)["loss"] == "loss:0 float32[]"
    typed(shell, "down 2")
    assert shell.dbg.evaluate("by").array == 2
    assert "innermost" in plain(execute("down", shell))


def test_objects_whose_own_code_raises_disturb_nothing(tmp_path: Path) -> None:
    odd = """
class Odd(dict):
    def __getattr__(self, name):
        raise KeyError(name)
    __repr__ = __len__ = __bool__ = lambda self: self.anything

class Bare(Odd):
    __slots__ = ()

odd, bare = Odd(), Bare()
"""
    (tmp_path / "model.py").write_text(odd + LOOP.replace("for i in", "odd.__dict__['w'] = w\n    for i in"))
    shell = Shell()
    typed(shell, f"load '{tmp_path / 'model.py'}'")
    typed(shell, "next 2")
    assert locals_of(shell)["odd"] == "its __repr__ raises KeyError"
    assert "float32[2]" in typed(shell, "print odd.w")
    assert "model.py ended" in typed(shell, "run")
    shell.close()


def test_until_and_finish(shell: Shell) -> None:
    typed(shell, "tbreak inner")
    typed(shell, "run")
    assert "before line model.py:23" in typed(shell, "finish")
    assert "model.py:15 in inner" in typed(shell, "until 15")
    assert "model.py:23" in typed(shell, "until")
    assert len(shell.dbg.records) == 2
    assert "model.py:24: done = True" in typed(shell, "until")
    assert len(shell.dbg.records) == 6
    assert "ended" in typed(shell, "until")
    assert error_in(execute("until", shell)) is not None


def test_line_stops_are_numbered_ignored_disabled_and_have_commands(shell: Shell) -> None:
    typed(shell, "break loss if nan")
    typed(shell, "b 22")
    typed(shell, "ignore 2 2")
    typed(shell, "commands 2 print i")
    assert "i  int64" in typed(shell, "run")
    assert shell.dbg.evaluate("i").array == 2
    typed(shell, "condition 2 i == 4 and norm(w) < 10")
    typed(shell, "continue")
    assert shell.dbg.evaluate("i").array == 4, "what is no Python is a predicate, and one that fails stops"
    typed(shell, "disable 2")
    typed(shell, "tbreak 24")
    kinds = [row[1] for row in execute("info breaks", shell).rows]  # type: ignore[attr-defined]
    assert kinds == ["break", "break", "tbreak"]
    assert "model.py:24" in typed(shell, "continue")
    assert [row.number for row in shell.dbg.stops()] == [1, 2]


def test_breakpoints_inside_of_runs_and_at_lines_take_turns(shell: Shell) -> None:
    typed(shell, "break h")
    typed(shell, "b 22 if i == 1")
    assert "forward: h (Exp)" in typed(shell, "run")
    assert "before line model.py:22" in typed(shell, "continue")
    assert "forward: h (Exp)" in typed(shell, "continue")
    typed(shell, "delete")
    assert "ended" in typed(shell, "continue")
    assert len(shell.dbg.records) == 6


def test_tracing_is_there_only_while_a_line_stop_is(shell: Shell) -> None:
    execute("python import sys; seen_trace = []; real = double\n", shell)
    execute("python exec('def double(i):\\n    import sys\\n    seen_trace.append(sys.gettrace())\\n    return i', "
            "globals())", shell)
    typed(shell, "next 2")
    assert shell.script is not None and shell.script.namespace["seen_trace"] == [None, None]
    typed(shell, "b 24")
    typed(shell, "continue")
    assert all(shell.script.namespace["seen_trace"][2:])


def test_where_no_script_is_there_are_no_frames() -> None:
    for line in ("bt", "up", "info locals", "until 3", "finish"):
        error = error_in(execute(line, Shell()))
        assert error is not None and error.code == "wrong_moment", line
    assert "no script" in plain(execute("b 12", Shell()))
