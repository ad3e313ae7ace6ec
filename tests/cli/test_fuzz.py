"""Command lines made by chance: none ends in a bug or an exception, and the session lives on."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.language.command import COMMANDS, verbs
from cli.language.complete import complete
from cli.language.interpreter import execute
from cli.model.results import Error, Group, Result
from cli.model.shell import Shell
from cli.view.render import plain, to_json

MODEL = """
import autodiff as tf
import numpy as np
x = tf.placeholder(tf.float32, [None, 3], name="x")
with tf.name_scope("hidden"):
    w = tf.Variable(tf.ones([3, 2]) * 0.3, name="w")
    b = tf.Variable(tf.zeros([2]), name="b")
    h = tf.nn.relu(tf.matmul(x, w) + b)
unused = tf.Variable(1, name="unused")
bad = tf.log(h - 0.4, name="bad")
loss = tf.reduce_mean(tf.square(h - 1.0), name="loss")
def feeds():
    r = np.random.default_rng(0)
    while True:
        yield {x: r.random((4, 3))}
"""
TARGETS = ["loss", "w", "b", "h", "bad", "x", "unused", "hidden/w:0", "hidden/MatMul", "%3", "g3", "%999", "$1", "$99",
           "/hidden.*/", "/(/", "nope", "hiden/w", "w[0:2]", "w[9,9]", "loss:7", "1", "-1", "0", "1e309", "nan", "inf",
           "none", "zero", "step", "if", "nan or", "norm(.) > 1", "loss>", "not", "=", "w * 2", "norm(w)", "w @ b", "'",
           '"', "[", "]", "(", ")", "{", "\\", "$", "`", "!", "^", "~", "é", "\x1b[31m", "\u202e", "\x00", "\t", ";",
           "#", "--", "-", "---x", "0:2", "2:", ":", "a:b", "10,1", "1,", "sgd", "adam", "5",
           "np.zeros(3)", "[1,2,3]", "lambda: 0", "__import__('os')", "w.__class__", "w" * 300, "((((((((((1))))))))))",
           "> out.txt", ">", ">>", "|", "| cat", "| no_such_program", "out.npz", "end", "$arg0", "$argc", "/h", "/999"]
QUIET = {"run": "run -t 2", "continue": "next", "python": "python 1 +", "source": "source nothing",
         "load": "load nothing.py"}  # what would take long, or is the user's own code


def lines(seed: int, count: int) -> Iterator[str]:
    """Lines of all shapes: proper beginnings with anything after, and sheer noise."""
    chance = random.Random(seed)
    options = {name: [p.option for p in command.options] for name, command in COMMANDS.items()}
    for _ in range(count):
        verb = chance.choice([*COMMANDS, *verbs()])
        words = [QUIET.get(verb, verb)]
        for _ in range(chance.choice((0, 1, 1, 2, 2, 3, 5))):
            known = options.get(verb, [])
            words.append(chance.choice(known) if known and chance.random() < 0.3 else chance.choice(TARGETS))
        line = chance.choice((" ", " ", " ", "", "  ")).join(words)
        if chance.random() < 0.1:
            at = chance.randrange(len(line) + 1)
            line = line[:at] + chance.choice("\0\n/'\"[]()$%>|#;é\x7f ") + line[at:]
        if chance.random() < 0.05:
            letters = "abcxyz019 _/:.$%[](){}'\"=<>#;,+-*\\\t~!@é"
            line = "".join(chance.choice(letters) for _ in range(chance.randrange(60)))
        if line.split()[:1] and line.split()[0].partition("/")[0] not in ("r", "run", "c", "continue", "py", "python"):
            yield line


def bugs(result: Result) -> list[Result]:
    if isinstance(result, Group):
        return [bug for part in result.parts for bug in bugs(part)]
    return [result] if isinstance(result, Error) and result.code == "bug" else []


def run(seed: int, count: int, directory: Path) -> None:
    """Execute, render and complete `count` lines; then the session must still work."""
    script = directory / "model.py"
    script.write_text(MODEL)
    shell = Shell(known_verbs=verbs())
    for line in (f"load {script}", "train loss", "next 2"):
        assert not isinstance(execute(line, shell), Error)
    for number, line in enumerate(lines(seed, count)):
        result = execute(line, shell)
        assert bugs(result) == [], repr(line)
        assert isinstance(plain(result, 80), str)
        assert to_json(line, result).isascii()
        if number % 7 == 0:
            complete(line.replace("\n", " "), shell)
        if number % 25 == 0:
            shell.defining = None
            shell.aliases.clear()
            shell.defined.clear()
    shell.defining = None
    shell.aliases.clear()
    shell.defined.clear()
    for line in ("delete", f"load {script}", "train loss", "next 2", "grads", "print loss"):
        assert not isinstance(execute(line, shell), Error), line
    shell.close()


def test_lines_made_by_chance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(1, 600, tmp_path)


@pytest.mark.slow
def test_ten_thousand_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(2, 10_000, tmp_path)
