"""Lines by chance: as the grammar of the commands has them, with anything in the places; and sheer noise."""
from __future__ import annotations

import random
from collections.abc import Callable

from autodiff.debug.language.conditions import MEASURES, WORDS
from autodiff.debug.language.expressions import FUNCTIONS
from cli.language.command import COMMANDS, Parameter, verbs

MODEL = """
import numpy as np
import autodiff as tf
x = tf.placeholder(tf.float32, [None, 3], name="x")
with tf.name_scope("hidden"):
    w = tf.Variable(tf.ones([3, 2]) * 0.3, name="w")
    b = tf.Variable(tf.zeros([2]), name="b")
    h = tf.nn.relu(tf.matmul(x, w) + b)
unused = tf.Variable(1, name="unused")
flag = tf.Variable(True, name="flag", trainable=False)
rows = tf.Variable(tf.ones([4, 2]), name="rows")
words = tf.constant([b"a", b"b"], name="words")
empty = tf.zeros([0, 2], name="empty")
waves = tf.complex(h, h, name="waves")
choice = tf.argmax(h, 1, name="choice")
branch = tf.cond(tf.reduce_sum(h) > 0.0, lambda: h * 2.0, lambda: tf.sin(h), name="branch")
looped = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.sin(v) + 0.1), [0, branch], name="looped")[1]
bad = tf.log(h - 0.4, name="bad")
looked_up = tf.reduce_sum(tf.nn.embedding_lookup(rows, [1, 3, 1]))
loss = tf.add(tf.reduce_mean(tf.square(looped - 1.0)), looked_up, name="loss")
def feeds():
    r = np.random.default_rng(0)
    while True:
        yield {x: r.random((4, 3))}
"""
TARGETS = ["loss", "w", "b", "h", "bad", "x", "unused", "flag", "rows", "words", "empty", "waves", "choice", "branch",
           "looped", "hidden/w:0", "hidden/MatMul", "hidden", "looped/while", "%3", "g3", "$1", "/hidden.*/", "w[0:2]",
           "w[1,1]", "h[:,0]", "grad(w)", "train", "feeds", "looped/body/Sin", "gradients/AddN"]
WRONG = ["%999", "$99", "/(/", "nope", "hiden/w", "w[9,9]", "loss:7", "1e309", "w * 2", "norm(w)", "'", '"', "[", "(",
         "{", "\\", "$", "`", "!", "é", "\x1b[31m", "\u202e", "\x00", "\t", ";", "#", "--", "-", "---x", ":", "a:b",
         "= 3", "if", "((((((((((1))))))))))", "w" * 300, "> out.txt", ">> out.txt", ">", "|", "| cat",
         "| no_such_program", "$arg0", "> /dev/full", "> .", "lambda: 0", "__import__('os')", "w.__class__", "$argc",
         "end", "step", "-1", "1,", "5"]
NUMBERS = ["0", "1", "2", "3", "-1", "5", "0.5", "1e3", "-0.0", "nan", "inf", "1e309", "99999999999999999999", "1_0"]
COUNTS = ["0", "1", "2", "3", "-1", "5", "0.5", "1e3", "nan", "1_0", "0x10"]  # of steps: those are really made
SHAPES = ["(2, 3)", "(3,)", "()", "(0,)", "(-1, 2)", "[[1, 2], [3]]", "[1, 2, 3]", "None", "True", "1j", "'text'",
          "slice(1)", "(1, 'a')", "[]", "range(3)", "{}", "{1}", "w", "x.shape", "float32", "np.float32", "'float32'",
          "int64", "-1"]
FILES = ["out.txt", "out.npz", "no/such", ".", "/dev/null", "/dev/full", "model.py", "rec", "'a b'", "~", ""]
QUIET = {"run": "run -t 2", "continue": "next", "python": "python 1 +", "source": "source nothing",
         "load": "load nothing.py"}  # what would take long, or is the user's own code


def expression(chance: random.Random, deep: int = 3) -> str:
    """A NumPy expression that parses, of whatever types."""
    def one() -> str:
        return expression(chance, deep - 1)

    def called() -> str:
        return ", ".join(chance.choice((one, lambda: chance.choice(SHAPES)))() for _ in range(chance.randrange(4)))

    if not deep or chance.random() < 0.2:
        return chance.choice((*TARGETS, *TARGETS, *NUMBERS, *SHAPES, chance.choice(WRONG)))
    signs, ends = "+ - * / // % ** @ & | ^ < > == != and or in << if".split(), (":, 0", "...", "::-1", "None")
    parts = "T shape size dtype sum() mean(0) astype(int) reshape(-1) name item() x".split()
    makers: list[Callable[[], str]] = [
        lambda: f"np.{chance.choice(FUNCTIONS)}({called()})", lambda: f"{chance.choice(FUNCTIONS)}({one()})",
        lambda: f"{chance.choice(FUNCTIONS)}({one()}, axis={chance.choice(NUMBERS + SHAPES)})",
        lambda: f"({one()} {chance.choice(signs)} {one()})",
        lambda: f"{chance.choice(('-', '~', 'not ', '+'))}{one()}",
        lambda: f"{one()}[{chance.choice((one(), *ends))}]", lambda: f"{one()}.{chance.choice(parts)}",
        lambda: f"({one()}, {one()})", lambda: f"grad({chance.choice(TARGETS)})", lambda: f"[{one()}, {one()}]"]
    return chance.choice(makers)()


def condition(chance: random.Random, deep: int = 2) -> str:
    """A predicate of watches and breakpoints."""
    target = chance.choice((".", chance.choice(TARGETS), f"grad({chance.choice(TARGETS)})", chance.choice(WRONG)))
    compared = f"{chance.choice(('<', '>', '>=', '==', '!=', '='))} {chance.choice(NUMBERS)}"
    if deep and chance.random() < 0.3:
        return f"{condition(chance, deep - 1)} {chance.choice(('and', 'or', 'and not'))} {condition(chance, deep - 1)}"
    return chance.choice((f"{chance.choice(MEASURES)}({target}) {compared}", chance.choice(WORDS),
                          f"{chance.choice(WORDS)}({target})", f"{chance.choice(('step', 'loss', 'lr'))} {compared}",
                          expression(chance, 1)))


def value(parameter: Parameter, chance: random.Random) -> str:
    """Something where a parameter stands; mostly of its kind."""
    kind = type(parameter.kind).__name__.removesuffix("Kind")
    if chance.random() < 0.1:
        return chance.choice(WRONG)
    choices = getattr(parameter.kind, "choices", ())
    if kind in ("Expression", "Expressions", "Assigned", "Asserted"):
        text = expression(chance)
        return f"= {text}" if kind == "Assigned" else text
    if kind in ("Predicate", "Condition", "NumberedCondition"):
        return f"{parameter.kind.introducer if parameter.kind else ''} {condition(chance)}"
    if kind in ("Int", "Float", "StopNumber"):
        return chance.choice(NUMBERS if kind == "Float" else COUNTS)
    if choices:
        return str(chance.choice(tuple(choices)))
    pools = {"Slice": ["0:2", "2:", ":", "-1:", "1:0", "3"], "Ranges": ["-1,1", "[[0,1],[2,3]]", "inf,nan", "1,0"],
             "Regex": ["/w/", ".*", "(", "hidden", "[a-"], "Format": ["/s", "/a", "/h", "/f", "/d", "/sh", "/x"],
             "File": FILES, "Optimizer": ["sgd", "adam", "momentum(momentum=0.5)", "adam(x=1)", "1+", "ftrl",
                                          "tf.train.AdamOptimizer(0.1)", "rmsprop(decay='a')"],
             "Setting": ["rows", "mouse", "w", "h", "ring.disk", "nope", "editing"], "SettingValue": [
                 "on", "off", "5", "-1", "1GB", "nan", "vi"], "Command": list(COMMANDS),
             "Raw": [f"{chance.choice(TARGETS)} = {chance.choice(verbs())}", expression(chance)]}
    return chance.choice(pools.get(kind, TARGETS))


def spoken(chance: random.Random) -> str:
    """A line as the grammar has it."""
    command = chance.choice(list(COMMANDS.values()))
    if command.name in QUIET:
        return QUIET[command.name]
    words = [command.name]
    for parameter in command.arguments:
        if not parameter.optional or chance.random() < 0.6:
            words += [value(parameter, chance) for _ in range(chance.choice((1, 2)) if parameter.variadic else 1)]
    for parameter in command.options:
        if chance.random() < 0.35:
            words += [parameter.option] if parameter.kind is None else [parameter.option, value(parameter, chance)]
    return " ".join(words)


def noise(chance: random.Random) -> str:
    """The beginning of a line with anything after it, or no line at all."""
    verb = chance.choice([*COMMANDS, *verbs()])
    words = [QUIET.get(verb, verb)]
    known = [p.option for p in COMMANDS[verb].parameters] if verb in COMMANDS else []
    for _ in range(chance.choice((0, 1, 1, 2, 2, 3, 5))):
        words.append(chance.choice(known) if known and chance.random() < 0.3 else chance.choice(TARGETS + WRONG))
    line = chance.choice((" ", " ", " ", "", "  ")).join(words)
    if chance.random() < 0.1:
        at = chance.randrange(len(line) + 1)
        line = line[:at] + chance.choice("\0\n/'\"[]()$%>|#;é\x7f ") + line[at:]
    if chance.random() < 0.05:
        letters = "abcxyz019 _/:.$%[](){}'\"=<>#;,+-*\\\t~!@é"
        line = "".join(chance.choice(letters) for _ in range(chance.randrange(60)))
    return line


def line(chance: random.Random) -> str:
    """One line that runs nothing of the user's, and ends soon."""
    while True:
        found = chance.choice((spoken, spoken, noise))(chance)
        verb = found.split()[0].partition("/")[0] if found.split() else ""
        long = "r run c continue py python detach history source . shell quit q exit".split()
        piped = "|" in found and not found.endswith(("| cat", "| no_such_program"))
        if not piped and (verb not in long or found in QUIET.values()):
            return found
