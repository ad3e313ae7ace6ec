"""gradbg as a program: arguments, pipes, JSON, exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import autodiff
from cli.language.command_line import Arguments, BadUsage, parse

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "scripts" / "models"
GRAPH = str(MODELS / "digits_graph.py")
LOOP = str(MODELS / "digits_loop.py")


def gradbg(*words: str, typed: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run gradbg in a process of its own, without any terminal."""
    plain = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "GRADBG_TRACE")}
    return subprocess.run([sys.executable, "-m", "cli", "-nx", *words], input=typed, text=True, capture_output=True,
                          env={**plain, "PYTHONPATH": str(ROOT), **environment}, timeout=120, check=False)


def test_the_arguments() -> None:
    assert parse(["-q", "-x", "a", "-ex", "b c", "--batch", "m.py", "-q", "--json"]) == Arguments(
        script="m.py", arguments=["-q", "--json"], steps=[("x", "a"), ("ex", "b c")], batch=True, quiet=True)
    assert parse(["--json", "-m", "pkg.train", "--lr", "3"]) == Arguments(
        script="pkg.train", as_module=True, json=True, arguments=["--lr", "3"])
    assert parse(["--", "-odd.py"]).script == "-odd.py"
    assert parse(["--command=a", "--ui=line"]).steps == [("x", "a")]


@pytest.mark.parametrize("words", [["--what"], ["-x"], ["--ui", "curses"], ["--batch=3"]])
def test_bad_arguments(words: list[str]) -> None:
    with pytest.raises(BadUsage):
        parse(words)


def test_bad_usage_is_two() -> None:
    for words in (["--what"], ["-x", "no-such-file", GRAPH], ["--batch", "no_such_script.py"]):
        done = gradbg(*words)
        assert done.returncode == 2, words
        lines = (done.stdout + done.stderr).splitlines()
        assert len(lines) == len(set(lines)) <= 3


def test_help_in_a_pipe() -> None:
    done = gradbg(typed="help\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert "grads" in done.stdout
    assert "\x1b" not in done.stdout
    assert "(gradbg)" not in done.stdout


def test_the_issues_batch_prints_the_table() -> None:
    done = gradbg("--batch", "-ex", "watch /hidden.*/", "-ex", "train loss", "-ex", "next 20", "-ex", "grads", GRAPH)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("variable"))
    assert "norm" in lines[head]
    assert [line.split()[0] for line in lines[head + 1:head + 7]] == [
        f"{layer}/{kind}:0" for layer in ("hidden1", "hidden2", "output") for kind in ("weights", "biases")]


def test_the_issues_batch_in_json_parses() -> None:
    done = gradbg("--batch", "--json", "-ex", "watch /hidden.*/", "-ex", "train loss", "-ex", "next 20", "-ex",
                  "grads", GRAPH)
    assert done.returncode == 0
    bodies = [json.loads(line) for line in done.stdout.splitlines()]
    assert [body["cmd"] for body in bodies] == ["watch /hidden.*/", "train loss", "next 20", "grads"]
    assert all(body["ok"] and body["schema"] == 1 and body["error"] is None for body in bodies)
    assert len(bodies[3]["data"]["rows"]) == 6


def test_a_wrong_name_is_helped_and_fails() -> None:
    done = gradbg("--batch", "-q", "-ex", "grad loss hiden1/weights", "-ex", "print 1", GRAPH)
    assert done.returncode == 1
    assert "hidden1/weights" in done.stderr
    assert "print" not in done.stdout
    kept = gradbg("--batch", "-q", "--keep-going", "-ex", "grad loss hiden1/weights", "-ex", "print 1 + 1", GRAPH)
    assert kept.returncode == 1
    assert kept.stdout.splitlines()[-1] == "2"


def test_expectations_and_stops_are_three() -> None:
    assert gradbg("--batch", "-ex", "train", "-ex", "next", "-ex", "expect loss < 100", GRAPH).returncode == 0
    assert gradbg("--batch", "-ex", "train", "-ex", "next", "-ex", "expect loss > 100", GRAPH).returncode == 3
    done = gradbg("--batch", "-ex", "watch loss if step >= 3", "-ex", "train", "-ex", "next 20", "-ex", "print 7",
                  GRAPH)
    assert done.returncode == 3
    assert done.stdout.splitlines()[-1] == "7", "a stop does not end the batch"


def test_a_script_that_raises_is_four(tmp_path: Path) -> None:
    script = tmp_path / "bad.py"
    script.write_text("import autodiff as tf\nx = tf.zeros([2, 3])\ny = tf.matmul(x, x)\n")
    done = gradbg("--batch", "-ex", "print 1", str(script))
    assert done.returncode == 4
    assert "bad.py:3" in done.stdout
    assert "y = tf.matmul(x, x)" in done.stdout


def test_a_batch_asks_on_after_the_script_raised(tmp_path: Path) -> None:
    script = tmp_path / "bad.py"
    script.write_text("import autodiff as tf\nw = tf.Variable([0.0, 1.0], name='w')\n"
                      "y = tf.check_numerics(tf.log(w), 'log')\nwith tf.Session() as session:\n"
                      "    session.run(w.initializer)\n    session.run(y)\n")
    done = gradbg("--batch", "-ex", "run", "-ex", "why nan", str(script))
    assert done.returncode == 4
    assert "log(0) = -inf" in done.stdout, done.stdout + done.stderr
    assert "Traceback (most recent call last):" in done.stdout
    assert "cli/" not in done.stdout
    script.write_text("x = (\n")
    done = gradbg("-ex", "next", str(script))
    assert (done.returncode, done.stdout) == (4, ""), "errors of the start go to stderr, and stand alone"
    assert [line for line in done.stderr.splitlines() if "error" in line] == [done.stderr.splitlines()[0]]
    script.write_text("import nothing_of_that_name\n")
    done = gradbg("-ex", "next", str(script))
    assert (done.returncode, done.stdout.count("error: "), done.stderr) == (4, 1, "")
    assert done.stdout.splitlines()[-1] == "nothing was run: the script raised ModuleNotFoundError; load runs it again"


def test_the_session_lives_on_after_bad_input(tmp_path: Path) -> None:
    bad = tmp_path / "raises.py"
    bad.write_text("raise RuntimeError('as it is')\n")
    lines = ["load no_such_file.py", f"load '{bad}'", f"load {GRAPH}", "nonsense", "watch /(/",
             "print hidden1/weights[99,0]",
             "print hidden1/weights[", "feed images = np.zeros((2, 3))", "feed images = 'text'", "feed imags = 1",
             "print hidden1/weights", "grad loss nothing_like_it", "print 40 + 2"]
    done = gradbg("-q", typed="\n".join(lines) + "\n")
    assert done.returncode in (0, 4)
    assert done.stdout.splitlines()[-1] == "42"
    assert done.stdout.count("error: ") >= len(lines) - 3
    assert "bug in gradbg" not in done.stdout
    assert "as it is" in done.stdout


def test_a_script_in_a_loop_is_stopped_unedited() -> None:
    done = gradbg("--batch", "-q", "-ex", "next 3", "-ex", "print loss", "-ex", "where", LOOP)
    assert done.returncode == 0, done.stdout
    assert "step 0: loss" in done.stdout, "the script's own prints go through"


def test_prints_of_the_script_go_to_standard_error_with_json() -> None:
    done = gradbg("--batch", "--json", "-ex", "next 3", LOOP)
    assert "step 0: loss" in done.stderr
    assert [json.loads(line)["ok"] for line in done.stdout.splitlines()] == [True]


def test_a_closed_pipe_is_no_error() -> None:
    command = f'"{sys.executable}" -m cli -nx --batch -ex help -ex help -ex help | head -1'
    done = subprocess.run(command, shell=True, text=True, capture_output=True, check=False, timeout=60,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.stderr == ""


def test_closed_input_and_an_ascii_locale() -> None:
    done = subprocess.run(f'"{sys.executable}" -m cli -nx -ex "help grad" <&-', shell=True, text=True,
                          capture_output=True,
                          check=False, timeout=60, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert (done.returncode, done.stderr) == (0, "")
    done = gradbg("--batch", "-ex", "train", "-ex", "next", "-ex", "grads", GRAPH, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stdout.isascii()


def test_the_tour_runs_through() -> None:
    done = gradbg("--batch", "-x", str(ROOT / "scripts" / "commands" / "tour.gradbg"), GRAPH)
    assert done.returncode == 0, done.stdout
    assert "true: loss < 2.5" in done.stdout


def test_version_is_that_of_the_library() -> None:
    assert gradbg("--version").stdout == f"gradbg {autodiff.__version__}\n"


@pytest.mark.parametrize(("words", "colored"), [((), False), (("--color", "always"), True), (("--color=256",), True),
                                                (("--color", "never"), False)])
def test_colors_in_a_pipe_are_for_those_who_ask(words: tuple[str, ...], colored: bool) -> None:
    done = gradbg(*words, "--batch", "-ex", "print 1", GRAPH)
    assert ("\x1b[" in done.stdout) == colored


@pytest.mark.parametrize("words", [("--batch",), ("--json", "--batch")])
def test_a_pipe_and_json_do_without_rich(words: tuple[str, ...]) -> None:
    code = ("import sys; from cli.main import main; "
            f"main(['-nx', *{words!r}, '-ex', 'train loss', '-ex', 'next 2', '-ex', 'grads', "
            f"'-ex', 'path loss hidden1/weights', '-ex', 'hessian loss output/biases', '-ex', 'list 30', {GRAPH!r}]); "
            "sys.exit('rich' in sys.modules or 'prompt_toolkit' in sys.modules)")
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=120,
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_errors_of_batch_go_to_standard_error_with_file_and_line(tmp_path: Path) -> None:
    commands = tmp_path / "c.gradbg"
    commands.write_text("print 40 + 2\nprint nothing_like_it\nprint 1\n")
    done = gradbg("--batch", "--keep-going", "-x", str(commands), "-ex", "nonsense")
    assert "42" in done.stdout and "error" not in done.stdout
    assert f"in {commands}, line 2: print nothing_like_it" in done.stderr
    assert "unknown command 'nonsense'" in done.stderr
