"""Words of gdb, pdb and tfdbg, flags included, do what they did there; the others are answered with what to type."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.language.command import COMMANDS, find
from cli.language.interpreter import execute
from cli.language.other_words import INSTEAD
from cli.model.results import Array, Source, Table, Tree, error_in
from cli.model.shell import Shell
from cli.model.usage_error import UsageError
from cli.view.render import plain

MODEL = """\
import numpy as np
import tensorflow.compat.v1 as tf

x = tf.placeholder(tf.float32, [None, 3], name="x")
with tf.name_scope("hidden"):
    w = tf.Variable(tf.ones([3, 2]), name="w")
    h = tf.nn.relu(tf.matmul(x, w), name="h")
bad = tf.log(h - 3.0, name="bad")
loss = tf.reduce_mean(tf.square(h - 1.0), name="loss")
step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(6):
        fetched = [step, loss] if i < 4 else [step, loss, bad]
        session.run(fetched, {x: np.arange(6.0).reshape(2, 3)})
"""


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    made = Shell()
    for line in ("load model.py", "next 2"):
        assert error_in(execute(line, made)) is None
    yield made
    made.close()


@pytest.mark.parametrize(("theirs", "ours"), [
    ("lt", "info tensors"), ("lt -n hidden", "info tensors --name hidden"),
    ("lt -n hidden -t MatMul", "info tensors --name hidden --type MatMul"),
    ("lt -s dump_size -r", "info tensors --sort size --reverse"),
    ("lt -f has_inf_or_nan -fenn bad", "info tensors --where has_inf_or_nan --exclude bad"),
    ("list_tensors -n h", "info tensors --name h"), ("pt loss -s", "print/s loss"),
    ("pt hidden/w -a", "print/a hidden/w"),
    ("pt hidden/w[0,:] -r [0,1]", "print hidden/w[0,:] --range 0,1"),
    ("ni -a -d -t hidden/h", "info op hidden/h"),
    ("li -r -d 2 -c loss", "info inputs loss --recursive --depth 2 --control"),
    ("lo -t hidden/h", "info outputs hidden/h"), ("ls -p model -n hidden", "info files --path model --name hidden"),
    ("ps model.py -b 8", "list model.py --line 8"), ("ps model.py -b 8 -t", "list model.py --line 8 --tensors"),
    ("ev `hidden/w:0` * 2", "print `hidden/w:0` * 2"), ("eval np.sum(`hidden/w:0`) -a", "print/a np.sum(`hidden/w:0`)"),
    ("ri", "info run"), ("mouse off", "set mouse off"), ("a", "info locals"), ("backtrace", "bt"), ("pp i", "print i"),
    ("info args", "info locals"), ("info breakpoints", "info breaks"), ("info variables", "info vars"),
    ("pt --numeric_summary loss", "print/s loss"), ("lt --sort_by tensor_name", "info tensors --sort name"),
    ('eval "np.sum(`hidden/w:0`)" -a', "print/a 'np.sum(`hidden/w:0`)'"), ("pt hidden/h -n 0", "print hidden/h"),
    ("cl", "delete"), ("list 3,6", "list model.py:3,6"), ("l 3, 6", "list 3,6"), ("list 4,+2", "list 4,6"),
    ("l 4,3", "list 4,7"), ("list ,13", "list 3,13"), ("list 5,", "list 5,15"),
    ("f", "frame 0"), ("bt 1", "bt"), ("bt -5", "bt"), ("watch -l w", "watch w"),
    ("h lt", "help info tensors"), ("! i + 1", "python i + 1"), ("!i + 1", "python i + 1")])
def test_another_word_for_a_command(theirs: str, ours: str, shell: Shell) -> None:
    def said(line: str) -> str:
        result = execute(line, shell)
        assert error_in(result) is None, plain(result)
        own = re.compile(r"\$.*|watch \d+|^.*np.sum.*$")
        return "\n".join(own.sub("", text) for text in plain(result).splitlines())
    assert said(theirs) == said(ours)


def names(result: Any) -> list[str]:
    assert isinstance(result, Table), plain(result)
    return [row[0] for row in result.rows]


def test_lists_are_filtered_and_sorted(shell: Shell) -> None:
    assert names(execute("lt -n den/h", shell)) == [], "the regex is that of the whole name, from its beginning"
    assert names(execute("lt -n hidden/h", shell)) == ["hidden/h:0"]
    assert {row[2] for row in execute("lt -t Mat", shell).rows} == {"MatMul"}  # type: ignore[attr-defined]
    found = names(execute("lt -s tensor_name", shell))
    assert found == sorted(found)
    assert names(execute("lt -f norm(.)>4 -n hidden/h", shell)) == ["hidden/h:0"]
    assert names(execute("lt -f norm(.)<4 -n hidden/h", shell)) == []


def test_trees_of_inputs_show_each_op_once(shell: Shell) -> None:
    tree = execute("li -r loss", shell)
    assert isinstance(tree, Tree) and tree.label == "loss (Mean)"
    text = plain(tree)
    assert text.count("hidden/w (VariableV2)") == 1
    flat = execute("li loss", shell)
    assert isinstance(flat, Tree) and all(not child.children for child in flat.children)
    assert "Square (Square), … 1 more" in plain(flat)
    assert "GradientDescent" in plain(execute("lo -c -r hidden/w", shell))


def test_run_stops_where_tfdbgs_filter_passes_with_names_left_out(shell: Shell) -> None:
    assert "bad" in plain(execute("run -f has_inf_or_nan", shell)) and len(shell.dbg.records) == 6
    for line in ("load model.py", "run -f has_inf_or_nan -fenn bad"):
        said = plain(execute(line, shell))
    assert "ended" in said and shell.dbg.stops() == ()
    assert "run -f nan -fenn bad" in plain(execute("run -fenn bad", shell))
    execute("load model.py", shell)
    execute("run -t 3", shell)
    assert len(shell.dbg.records) == 3
    execute("run -n", shell)
    assert len(shell.dbg.records) == 4


def test_runs_filters_say_which_tensors_are_asked(shell: Shell) -> None:
    for filters in ("--node_name_filter hidden.*", "--op_type_filter MatMul|Relu", "--tensor_dtype_filter int"):
        assert "ended" in plain(execute(f"run -f has_inf_or_nan {filters}", shell)), filters
    for filters in ("--node_name_filter b.*", "--types Log", "--dtypes float"):
        assert "stop: bad:0" in plain(execute(f"run -f has_inf_or_nan {filters}", shell)), filters
        execute("load", shell)
    assert error_in(execute("run -p", shell)).hint.startswith("list plan shows")  # type: ignore[union-attr]
    for line, quoted in (("run -f nan or inf", "run -f 'nan or inf'"), ("lt -f max(.) < 3", "lt -f 'max(.) < 3'")):
        assert error_in(execute(line, shell)).hint == quoted  # type: ignore[union-attr]


def test_a_turn_of_a_loop_is_printed_by_its_number(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        "import tensorflow as tf\nw = tf.constant(3.0, name='w')\n"
        "_, out = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf.multiply(s, w, name='grown')), [0, 1.0])\n"
        "with tf.Session() as session:\n    session.run(out)\n")
    shell = Shell()
    for line in (f"load '{tmp_path / 'model.py'}'", "next"):
        execute(line, shell)
    assert [execute(f"pt grown -n {turn}", shell).value for turn in range(3)] == [3, 9, 27]  # type: ignore[attr-defined]
    assert error_in(execute("pt grown -n 3", shell)) is not None
    assert "one value in a run" in plain(execute("pt w -n 1", shell))
    shell.close()


def test_frames_displays_and_stops_are_taken_by_number(shell: Shell) -> None:
    for line in ("display i", "display norm(w)"):
        assert "shown at each stop" in plain(execute(line, shell))
    assert "1: i\n\ni  int64[]\n1\n2: norm(w)\n" in plain(execute("display", shell))
    assert plain(execute("undisplay 1", shell)) == "1 display forgotten\n"
    assert error_in(execute("undisplay i", shell)) is not None
    assert (plain(execute("undisplay", shell)), shell.displays) == ("1 display forgotten\n", [])
    assert "local" in plain(execute("bt full", shell))
    assert "there are frames 0 to 0" in plain(execute("frame 1", shell))
    for line in ("break loss if nan", "break step 9", "disable", "enable 2"):
        execute(line, shell)
    assert [row.enabled for row in shell.dbg.stops()] == [False, True]
    before = plain(execute("print w", shell)).splitlines()[-1]
    execute("set var w = w + 1", shell)
    assert plain(execute("print w", shell)).splitlines()[-1] != before


def test_a_value_is_written_and_marked(shell: Shell, tmp_path: Path) -> None:
    assert "float32[3, 2], 24 bytes" in plain(execute("pt hidden/w -w w.npy", shell))
    np.testing.assert_array_equal(np.load(tmp_path / "w.npy"), shell.dbg.value("hidden/w").array)
    marked = execute("pt x:0 -r [[0,1],[4,inf]]", shell)
    assert isinstance(marked, Array) and marked.marked is not None
    assert marked.marked.tolist() == [[True, True, False], [False, True, True]]
    assert "has no option -q" in plain(execute("pt loss -q", shell))
    assert "$" in plain(execute("pf x:0[0,:]", shell)) and "fed" not in plain(execute("pf x:0", shell))


def test_grad_stands_for_the_gradient_everywhere(shell: Shell) -> None:
    def value(line: str) -> np.ndarray:
        result = execute(line, shell)
        assert isinstance(result, Array), plain(result)
        return result.value
    gradient = shell.dbg.grad("hidden/w").array
    np.testing.assert_array_equal(value("print grad(w)"), gradient)
    np.testing.assert_allclose(value("p norm(grad(`hidden/w`)) + grad(w)[0, 0]"),
                               np.linalg.norm(gradient) + gradient[0, 0], rtol=1e-6)
    assert "there is no gradient" in plain(execute("p grad(bad)", shell))
    assert error_in(execute("p grad(w", shell)) is not None
    assert error_in(execute("expect norm(grad(w)) > 0", shell)) is None
    # the value of w has a larger norm than 1e9 never, its gradient neither; asked of the gradient alone it is smaller
    high = float(np.linalg.norm(gradient)) * 4
    assert "gradients" in plain(execute(f"watch grad(/hidden.w/) if norm(.) > {high}", shell))
    assert "stop" not in plain(execute("next", shell))
    execute("delete", shell)
    execute("watch grad(w) if norm(.) > 0", shell)
    assert "gradient of hidden/w:0" in plain(execute("next", shell))


def test_a_watch_on_values_is_not_asked_of_gradients_alone(shell: Shell) -> None:
    size = float(np.linalg.norm(shell.dbg.value("hidden/w").array))
    gradient = float(np.linalg.norm(shell.dbg.grad("hidden/w").array))
    between = f"{min(size, gradient) + abs(size - gradient) / 2}"
    sign = ">" if size > gradient else "<"
    execute(f"watch w if norm(.) {sign} {between}", shell)
    assert "stop: hidden/w:0" in plain(execute("next", shell))
    execute("delete", shell)
    execute(f"watch grad(w) if norm(.) {sign} {between}", shell)
    assert "stop" not in plain(execute("next", shell))


@pytest.mark.parametrize("word", INSTEAD)
def test_other_words_are_answered_with_what_to_type(word: str) -> None:
    with pytest.raises(UsageError) as caught:
        find(word)
    assert caught.value.hint == INSTEAD[word]
    assert caught.value.hint.split()[0] in COMMANDS or " " in caught.value.hint


def test_interact_is_for_a_terminal(shell: Shell) -> None:
    assert "! CODE" in plain(execute("interact", shell))


def test_list_shows_a_file_to_its_last_line(tmp_path: Path) -> None:
    (tmp_path / "graph.py").write_text("import autodiff as tf\n" + "x = tf.constant(1.0)\n" * 16)
    shell = Shell()
    execute(f"load '{tmp_path / 'graph.py'}'", shell)
    shown = []
    for _ in range(2):
        listed = execute("list", shell)
        assert isinstance(listed, Source)
        assert listed.current == 0  # the script is at its end, which is none of its lines
        shown += range(listed.first, listed.first + len(listed.lines))
    assert shown == list(range(1, 18))
    assert "no line after line 17" in plain(execute("list", shell))
    shell.close()


def test_why_alone_takes_what_the_last_stop_was_about(shell: Shell) -> None:
    assert plain(execute("why", shell)).startswith("nothing looks wrong so far")
    execute("break loss if loss > 0", shell)
    execute("next", shell)
    assert plain(execute("why", shell)) == plain(execute("why loss", shell))
    execute("delete", shell)
    execute("break if nan or inf", shell)
    execute("continue", shell)
    assert "= nan in bad" in plain(execute("why", shell))


def test_why_alone_explains_what_run_was_asked_to_stop_at(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL.replace("tf.square(h - 1.0)", "tf.sqrt(tf.square(h * 0.0))"))
    shell = Shell()
    execute(f"load '{tmp_path / 'model.py'}'", shell)
    stopped = plain(execute("run -f nan", shell))
    assert "stop: nan holds" in stopped
    assert "is nan" not in stopped  # the loss is finite, its gradient is not
    assert plain(execute("why", shell)) == plain(execute("why nan", shell))
    shell.close()


def test_the_loss_is_nan_since_the_step_where_it_became_nan(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL.replace("[step, loss, bad]", "[step, loss, w.assign(w * np.nan)]").replace(
        "range(6)", "range(9)"))
    shell = Shell()
    execute(f"load '{tmp_path / 'model.py'}'", shell)
    first = next(said for said in (plain(execute("next", shell)) for _ in range(9)) if "is nan" in said)
    assert "since" not in first
    number = first.split()[1]
    assert f"loss is nan since step {number}:" in plain(execute("next", shell))
    shell.close()


def test_a_wide_breakpoint_names_the_first_op_in_order_of_computing(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL.replace(
        "loss = tf.reduce_mean(tf.square(h - 1.0), name=\"loss\")",
        "later = tf.identity(bad * 2.0, name='a_later')\nloss = tf.reduce_mean(later * 3.0, name=\"loss\")"))
    shell = Shell()
    for line in (f"load '{tmp_path / 'model.py'}'", "next", "break if nonfinite"):
        assert error_in(execute(line, shell)) is None
    execute("python session.run(w.assign(tf.zeros([3, 2])))", shell)
    said = plain(execute("next", shell))
    shell.close()
    assert "stop: bad:0: nonfinite" in said, said


def test_doctor_says_once_what_it_finds_at_several_ops(tmp_path: Path) -> None:
    (tmp_path / "deep.py").write_text("""\
import tensorflow.compat.v1 as tf
h = tf.ones([2, 3])
for i in range(3):
    h = tf.sqrt(tf.nn.relu(tf.matmul(h, tf.Variable(tf.ones([3, 3]))) - 5.0))
loss = tf.reduce_mean(tf.square(h), name="loss")
""")
    shell = Shell()
    execute(f"load '{tmp_path / 'deep.py'}'", shell)
    result = execute("doctor --static", shell)
    shell.close()
    assert isinstance(result, Table) and result.title.startswith("1 finding: ")
    assert "; the same of Sqrt_1 (deep.py:4), Sqrt_2 (deep.py:4)" in result.rows[0][5]


def test_an_operand_of_which_no_number_is_known_is_named_alone(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        "import tensorflow.compat.v1 as tf\nw = tf.Variable(tf.fill([4, 4], 1e20), name='w')\n"
        "_, out = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf.linalg.matvec(w, s)), [0, tf.ones([4])])\n"
        "loss = tf.reduce_mean(out, name='loss')\n")
    shell = Shell()
    for line in (f"load '{tmp_path / 'model.py'}'", "run"):
        execute(line, shell)
    said = plain(execute("why nan", shell))
    assert "read_in" in said
    assert "= ," not in said
    shell.close()
