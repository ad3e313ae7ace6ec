"""Sessions: what is typed, and what comes back, on the bundled models."""

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.debug import Debugger
from autodiff.debug.engine.questions import hessians
from cli.language.complete import complete
from cli.language.interpreter import execute
from cli.model.results import Array, Error, Group, Leave, Result, Source, Stop, Table, Text, error_in
from cli.model.shell import Shell
from cli.view.render import plain

MODELS = Path(__file__).parents[2] / "scripts" / "models"
Type = Callable[..., Result]


@pytest.fixture
def shell() -> Iterator[Shell]:
    made = Shell()
    yield made
    made.close()


@pytest.fixture
def graph(shell: Shell) -> Shell:
    """digits_graph.py, trained for three steps by its own feeds()."""
    for line in (f"load {MODELS / 'digits_graph.py'}", "train loss --lr 0.1", "next 3"):
        assert not isinstance(execute(line, shell), Error), line
    return shell


@pytest.fixture
def loop(shell: Shell) -> Shell:
    """digits_loop.py before its first run."""
    assert not isinstance(execute(f"load {MODELS / 'digits_loop.py'}", shell), Error)
    return shell


def first(result: Result, kind: type[Result]) -> Result:
    """The first part of that kind."""
    parts = result.parts if isinstance(result, Group) else (result,)
    return next(part for part in parts if isinstance(part, kind))


def array(shell: Shell, expression: str) -> np.ndarray:
    result = execute(f"print {expression}", shell)
    assert isinstance(result, Array), result
    return result.value


def test_training_from_the_prompt_lowers_the_loss(graph: Shell) -> None:
    before = graph.dbg.records[-1].loss
    execute("next 40", graph)
    after = graph.dbg.records[-1].loss
    assert before is not None
    assert after is not None
    assert after < before


def test_grads_has_a_row_for_each_variable(graph: Shell) -> None:
    table = execute("grads", graph)
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == [f"{layer}/{kind}:0" for layer in ("hidden1", "hidden2", "output")
                                              for kind in ("weights", "biases")]


def test_values_go_into_the_history(graph: Shell) -> None:
    value = array(graph, "hidden1/weights[0:2,:]")
    assert value.shape == (2, 32)
    np.testing.assert_array_equal(array(graph, "$1 * 2"), value * 2)
    assert "$2" in plain(execute("history", graph))


def test_setting_a_variable(graph: Shell) -> None:
    execute("set hidden1/biases = hidden1/biases * 0 + 2", graph)
    assert (array(graph, "hidden1/biases") == 2).all()


def test_print_marks_what_was_asked_for(graph: Shell) -> None:
    result = execute("print hidden1/biases --where '<= 0'", graph)
    assert isinstance(result, Array)
    assert result.marked is not None
    np.testing.assert_array_equal(result.marked, result.value <= 0)
    for form in ("/s", "/h", "/d", "/a", "/f"):
        assert plain(execute(f"print {form} hidden1/weights", graph))


def test_gradient_and_hessian(graph: Shell) -> None:
    gradient = execute("grad loss hidden2/biases", graph)
    assert isinstance(gradient, Array)
    assert gradient.value.shape == (16,)
    rows = execute("hessian loss hidden2/biases --rows 2:4", graph)
    whole = execute("hessian loss hidden2/biases", graph)
    diagonal = execute("hessian loss hidden2/biases --diag", graph)
    assert isinstance(rows, Array)
    assert isinstance(whole, Array)
    assert isinstance(diagonal, Array)
    np.testing.assert_allclose(rows.value, whole.value[2:4], rtol=1e-4, atol=1e-7)  # float32
    np.testing.assert_allclose(diagonal.value, np.diag(whole.value), rtol=1e-4, atol=1e-7)


def test_rows_on_threads_and_rows_kept_after_ctrl_c(graph: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    line = "hessian loss hidden1/weights --rows 0:100 --on threads:2"
    ways = "on threads:", "budget ", "jobs "
    whole, alone, jobs = [execute(line.replace("on threads:", way), graph) for way in ways]
    assert isinstance(whole, Array)
    assert isinstance(alone, Array)
    assert isinstance(jobs, Array)
    np.testing.assert_array_equal(whole.value, alone.value)
    np.testing.assert_array_equal(jobs.value, alone.value)
    part_of = hessians.part_of

    def interrupted(sent: Any, method: str, rows: range, *more: Any) -> np.ndarray:
        if rows[0]:  # the second block
            raise KeyboardInterrupt
        return part_of(sent, method, rows, *more)

    monkeypatch.setattr(hessians, "part_of", interrupted)
    kept = execute(line, graph)
    assert isinstance(kept, Array)
    assert "stopped by Ctrl-C: 16 of 100 rows" in plain(kept)
    np.testing.assert_array_equal(kept.value, whole.value[:16])


@pytest.mark.parametrize("line", [
    "info tensors", "info tensors /hidden1/ --stats", "info ops", "info op hidden1/MatMul", "info vars", "info breaks",
    "info watches", "info nans", "info memory", "info script", "info run", "info feeds", "info", "lt", "where",
    "where hidden1/MatMul", "list plan", "list plan loss", "list plan /hidden1/", "list plan --steps", "list",
    "list hidden1/MatMul", "list 30", "path loss hidden1/weights",
    "why hidden1/weights",
    "why nan", "why none", "why zero", "feed", "set", "alias", "history", "help print", "python 1 + 1",
    "python print(loss.name)", "grads /hidden.*/", "grads --by scope", "grads --sort norm", "delete", "step 2", "watch",
    "print loss + 1", "grad weights3", "hessian loss biases3 --cost", "display loss", "expect loss < 100"])
def test_every_look_answers(graph: Shell, line: str) -> None:
    result = execute(line, graph)
    assert error_in(result) is None, result
    assert plain(result).strip()


@pytest.mark.parametrize(("line", "text"), [
    ("nonsense", "unknown command 'nonsense'"),
    ("print hiden1/weights", "hidden1"),
    ("print hidden1/weights[99,0]", "index 99"),
    ("print hidden1/weights[0:", "']'"),
    ("print hidden1/weights +", "hidden1/weights +"),
    ("grad loss nothing_like_it", "nothing_like_it"),
    ("watch /(/", "not a regular expression"),
    ("watch /no_such_thing/", "no_such_thing"),
    ("watch loss if lower", "lower"),
    ("feed images = np.zeros((2, 3))", "images:0"),
    ("feed images = 'text'", "images:0"),
    ("feed imags = 1", "imags"),
    ("feed --from nowhere", "nowhere"),
    ("hessian loss hidden1/weights --rows a:b", "A:B"),
    ("info op nothing_like_it", "nothing_like_it"),
    ("list 9999", "9999"),
    ("list loss hidden1", "one place"),
    ("list plan nothing_like_it", "nothing_like_it"),
    ("list plan /(/", "not a regular expression"),
    ("set speed 3", "'speed' is no setting"),
    ("set hidden1/biases = np.zeros(3)", "hidden1/biases"),
    ("delete 77", "77"),
    ("expect loss", "expected a comparison"),
    ("expect loss > 100", "expectation is false"),
    ("python 1 / 0", "ZeroDivisionError"),
    ("source no_such_file", "no_such_file"),
    ("load no_such_file.py", "no_such_file.py"),
    ("help nonsense", "nonsense"),
    ("grads >", "expected a file name"),
    ("grads > /no/such/folder/x.txt", "cannot write"),
    ("train loss --optimizer magic", "magic"),
])
def test_mistakes_are_one_clear_message_and_the_session_lives(graph: Shell, line: str, text: str) -> None:
    result = execute(line, graph)
    error = error_in(result)
    assert error is not None, result
    assert text in error.message + error.hint
    assert error.code != "bug", error
    assert error.hint, "the next thing to type"
    assert array(graph, "loss").shape == ()


def test_an_uninitialized_variable_is_said(shell: Shell) -> None:
    execute(f"load {MODELS / 'digits_loop.py'}", shell)
    error = error_in(execute("print weights1", shell))
    assert error is not None
    assert "not initialized" in error.message
    assert error.hint


def test_a_loop_is_stopped_at_its_runs(loop: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    assert loop.script is not None
    assert loop.script.state == "before"
    stop = first(execute("next 3", loop), Stop)
    assert isinstance(stop, Stop)
    assert stop.data["line"] == 54
    assert [run["step"] for run in stop.data["runs"]] == [0, 1, 2, 3]
    assert "step 0: loss" in capsys.readouterr().out
    assert isinstance(first(execute("where", loop), Source), Source)


def test_a_stop_holds_the_script(loop: Shell) -> None:
    execute("watch loss if loss < 1", loop)
    result = execute("continue", loop)
    assert result.exit_code == 3
    loss = loop.dbg.records[-1].loss
    assert loss is not None
    assert loss < 1
    assert loop.script is not None
    assert loop.script.is_live
    before = len(loop.dbg.records)
    execute("run -t 2 -f step>=1000", loop)
    assert before < len(loop.dbg.records) <= before + 2


def test_stepping_through_a_run_of_the_script(loop: Shell) -> None:
    execute("next 2", loop)
    execute("step 5", loop)
    cursor = loop.dbg.stepper.cursor
    assert cursor is not None
    assert cursor.position == 5
    execute("next", loop)
    assert loop.dbg.stepper.cursor is None
    assert (loop.dbg.step, len(loop.dbg.records)) == (3, 4)
    count = cursor.total
    execute(f"step {count}", loop)
    execute("step", loop)
    assert loop.dbg.step == 4
    assert loop.dbg.stepper.cursor is not None, "the second step is in a run of its own"


def test_after_the_end_the_last_run_can_be_looked_at(loop: Shell) -> None:
    execute("run", loop)
    assert loop.script is not None
    assert loop.script.state == "ended"
    assert array(loop, "weights1").shape == (64, 32)
    error = error_in(execute("next", loop))
    assert error is not None
    assert error.code == "at_end"
    execute("train loss", loop)
    assert error_in(execute("print weights1", loop)) is None


def test_post_mortem(shell: Shell, tmp_path: Path) -> None:
    script = tmp_path / "bad.py"
    script.write_text("import autodiff as tf\nx = tf.placeholder(tf.float32, [None], name='x')\ny = tf.square(x)\n"
                      "with tf.Session() as s:\n    s.run(y, {x: [1.0]})\n    s.run(y)\n")
    execute(f"load '{script}'", shell)
    result = execute("next 5", shell)
    assert result.exit_code == 4
    error = error_in(result)
    assert error is not None
    assert "bad.py:6" in error.message
    assert "Traceback (most recent call last):" in error.trace
    assert error.trace.count("File ") == 1, "the script's own frame alone"
    assert "must feed a value for placeholder tensor 'x'" in error.message
    source = first(result, Source)
    assert isinstance(source, Source)
    assert source.current == 6
    assert error_in(execute("info op Square", shell)) is None
    assert error_in(execute("where", shell)) == error


def test_output_goes_to_files(graph: Shell, tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    assert execute(f"grads > {target}", graph) == Text(f"wrote 9 lines to {target}")
    assert "hidden1/weights:0" in target.read_text()
    execute(f"grads >> {target}", graph)
    assert len(target.read_text().splitlines()) == 18
    execute(f"grads > {tmp_path / 'out.json'}", graph)
    assert (tmp_path / "out.json").read_text().startswith('{"schema": 1')
    assert isinstance(execute("print hidden1/biases > 0.5", graph), Array), "a comparison, not a file"


def test_command_files_nest_and_stop_at_a_failure(graph: Shell, tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner.gradbg", tmp_path / "outer.gradbg"
    inner.write_text("print 1 + 1\nnonsense\nprint 2 + 2\n")
    outer.write_text(f"# both\nsource '{inner}'\nprint 3 + 3\n")
    result = execute(f"source '{outer}'", graph)
    error = error_in(result)
    assert error is not None
    assert "inner.gradbg, line 2" in error.message
    assert "3 + 3" not in plain(result)
    outer.write_text(f"source '{outer}'\n")
    assert error_in(execute(f"source '{outer}'", graph)) is not None
    inner.write_text("quit\n")
    assert isinstance(first(execute(f"source '{inner}'", graph), Leave), Leave)


def test_names_of_a_script_are_shown_not_obeyed(shell: Shell, tmp_path: Path) -> None:
    script = tmp_path / "odd.py"
    script.write_text("import autodiff as tf\nraise RuntimeError('\\x1b[31m[red]\\x07')\n")
    text = plain(execute(f"load '{script}'", shell))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\\x1b[31m[red]\\x07" in text


def test_traveling_at_the_prompt(loop: Shell) -> None:
    execute("next 6", loop)
    assert "at step 4 of 6" in plain(execute("back 3", loop))
    past = array(loop, "loss")
    assert "step 4" in plain(execute("history", loop))
    assert "at step 5 of 6" in plain(execute("next", loop))
    assert "op 1 of" in plain(execute("step", loop))
    assert "hidden1" in plain(execute("goto hidden1/MatMul", loop))
    assert error_in(execute("rs 2", loop)) is None
    execute("goto step 4", loop)
    np.testing.assert_array_equal(array(loop, "loss"), past)
    assert "step 7" in plain(execute("run -t 1", loop))
    assert "step 9" in plain(execute("goto step 9", loop)), "a step to come is run to"
    assert "runs kept" in plain(execute("info memory", loop))
    assert error_in(execute("back 99", loop)) is not None
    assert error_in(execute("rc", loop)) is not None


def test_what_if_at_the_prompt(graph: Shell) -> None:
    before = array(graph, "loss")
    execute("set hidden2/Relu = 0", graph)
    assert not np.array_equal(array(graph, "loss"), before)
    assert plain(execute("undo", graph)) == "taken back: set hidden2/Relu:0\n"
    np.testing.assert_array_equal(array(graph, "loss"), before)
    old = array(graph, "hidden1/weights")
    assert "is held" in plain(execute("freeze hidden1/weights", graph))
    execute("next 2", graph)
    np.testing.assert_array_equal(array(graph, "hidden1/weights"), old)
    assert "hidden1/weights" in plain(execute("freeze", graph))


def test_what_a_script_made_before_it_raised_can_be_trained(shell: Shell, tmp_path: Path) -> None:
    script = tmp_path / "raises.py"
    script.write_text("import tensorflow as tf\nw = tf.Variable([1.0, 2.0])\nloss = tf.reduce_sum(w * w)\nundefined\n")
    execute(f"load '{script}'", shell)
    execute("run", shell)
    assert not shell.dbg.records
    execute("train loss", shell)
    execute("run --times 3", shell)
    assert len(shell.dbg.records) == 3


def test_a_search_for_garbage_passes_over_what_was_loaded() -> None:
    """It cannot be interrupted, and takes a third of a second in a large graph."""
    shell = Shell(interactive=True)
    execute(f"load {MODELS / 'digits_graph.py'}", shell)
    try:
        assert not any(found is shell.dbg.graph for found in gc.get_objects())
    finally:
        shell.close()
    assert any(found is shell.dbg.graph for found in gc.get_objects())


@pytest.mark.parametrize(("line", "first"), [
    ("break hidden1/wei", "hidden1/weights"), ("tbreak st", "step"), ("delete ", "1"), ("enable ", "1"),
    ("ignore ", "1"), ("set edit", "editing"), ("set editing ", "emacs"),
    ("grads > scripts/models/digits_l", "scripts/models/digits_loop.py")])
def test_each_argument_completes(shell: Shell, line: str, first: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(MODELS.parents[1])
    execute("load scripts/models/digits_loop.py", shell)
    execute("break loss", shell)
    assert complete(line, shell)[0].text.startswith(first)


def test_a_function_is_no_value() -> None:
    failed = error_in(execute("print ones", Shell(dbg=Debugger(tf.Graph()))))  # another test's graph may have a `ones`
    assert failed is not None
    assert "'ones' is a function" in failed.message


def test_a_regex_is_one_even_if_a_handle_is_called_so(shell: Shell) -> None:
    execute(f"load '{MODELS / 'digits_loop.py'}'", shell)
    assert plain(execute("info tensors loss", shell)).startswith("1 tensor")
    assert int(plain(execute("info tensors /loss/", shell)).split()[0]) > 1
