"""The signature is the grammar: what is typed becomes arguments, or an error with the next thing to type."""

from pathlib import Path
from typing import Annotated, Any

import pytest

import autodiff as tf
from autodiff.debug.debugger import Debugger
from cli.language.argument_kinds import ChoiceKind, Count, Float, FormatKind, RangesKind, Slice, Word
from cli.language.command import COMMANDS, Command, command, find
from cli.language.complete import complete
from cli.language.interpreter import bind, execute
from cli.language.parse import parse
from cli.language.target_kinds import Assigned, Expression, Predicate, Target, X, Y
from cli.model.results import Error, Text
from cli.model.shell import Shell
from cli.model.usage_error import UsageError

ROOT = Path(__file__).parents[2]
Kind = Annotated[str, ChoiceKind("adam", "adagrad", "sgd")]
Ranges = Annotated[tuple, RangesKind()]
Letters = Annotated[str, FormatKind("sf")]


def declared(run: Any) -> Command:
    """A command made of `run`, not kept."""
    command("probe", group="Shell")(run)
    return COMMANDS.pop("probe")


def bound(run: Any, line: str) -> tuple[list[Any], dict[str, Any]]:
    command("probe", group="Shell")(run)
    try:
        return bind(parse(f"probe {line}", Shell()), Shell())
    finally:
        del COMMANDS["probe"]


def variadic(shell: Shell, *targets: Target, when: Predicate = "", every: Count = 1, loud: bool = False) -> None:
    """Probe."""


def leading(shell: Shell, y: Y | None, x: X, *, rows: Slice | None = None, lr: Float = 0.1, kind: Kind = "sgd") -> None:
    """Probe."""


def expression(shell: Shell, form: Letters = "", value: Expression = "", *, range: Ranges | None = None) -> None:
    """Probe."""


def assigning(shell: Shell, target: Target, value: Assigned) -> None:
    """Probe."""


def trailing(shell: Shell, first: Word, second: Count | None) -> None:
    """Probe."""


@pytest.mark.parametrize(("run", "line", "positional", "named"), [
    (variadic, "a b", ["a", "b"], {"when": "", "every": 1, "loud": False}),
    (variadic, "a if norm(a) > 3 --every 2 --loud", ["a"], {"when": "norm(a) > 3", "every": 2, "loud": True}),
    (variadic, "--ev=2 /a b/", ["/a b/"], {"when": "", "every": 2, "loud": False}),
    (leading, "w", [None, "w"], {"rows": None, "lr": 0.1, "kind": "sgd"}),
    (leading, "loss w --rows 2:5", ["loss", "w"], {"rows": slice(2, 5), "lr": 0.1, "kind": "sgd"}),
    (leading, "w --rows :3 --lr 1e-3 --kind adam", [None, "w"], {"rows": slice(None, 3), "lr": 1e-3, "kind": "adam"}),
    (leading, "w --kind sg --rows 4", [None, "w"], {"rows": slice(4, 5), "lr": 0.1, "kind": "sgd"}),
    (expression, "/s W[0:3, :] + 1 --range -1,inf", ["s", "W[0:3, :] + 1"], {"range": ((-1.0, float("inf")),)}),
    (expression, "a - -1", ["", "a - -1"], {"range": None}),
    (expression, "", ["", ""], {"range": None}),
    (assigning, "w = a == 3", ["w", "a == 3"], {}),
    (assigning, "w=a<=3", ["w", "a<=3"], {}),
    (trailing, "step 40", ["step", 40], {}),
    (trailing, "loss", ["loss", None], {}),
])
def test_binding(run: Any, line: str, positional: list[Any], named: dict[str, Any]) -> None:
    assert bound(run, line) == (positional, named)


@pytest.mark.parametrize(("run", "line", "message"), [
    (leading, "", "probe needs X"),
    (leading, "a b c", "probe takes no further argument 'c'"),
    (leading, "w --rows a:b", "expected rows as A:B, found 'a:b'"),
    (leading, "w --lr fast", "expected a number for X, found 'fast'"),
    (leading, "w --kind ad", "expected one of adam, adagrad, sgd, found 'ad'"),
    (leading, "w --speed 3", "probe has no option --speed"),
    (leading, "w --rows", "--rows needs a value: A:B"),
    (variadic, "a --every 0", "expected N of at least 1, found 0"),
    (variadic, "/a(/", "not a regular expression: /a(/: missing ), unterminated subpattern at column 2"),
    (variadic, "/a", "expected a closing / after '/a'"),
    (variadic, "W[0:3]", "a slice does not fit here: 'W[0:3]'"),
    (variadic, "a if", "expected PREDICATE after 'if'"),
    (expression, "/q W", "expected a format of the letters s, f, found /q"),
    (expression, "W --range 3", "expected a range as LO,HI, found '3'"),
    (assigning, "w", "probe needs = EXPR"),
])
def test_bad_lines_say_what_was_expected_and_the_next_thing_to_type(run: Any, line: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        bound(run, line)
    assert caught.value.sentence == message
    assert caught.value.hint


def test_synopsis_comes_from_the_signature() -> None:
    assert declared(variadic).synopsis == "probe [TARGET…] [if PREDICATE] [--every N] [--loud]"
    assert declared(leading).synopsis == "probe [Y] X [--rows A:B] [--lr X] [--kind adam|adagrad|sgd]"
    assert declared(expression).synopsis == "probe [/FMT] [EXPR] [--range LO,HI]"
    assert declared(assigning).synopsis == "probe TARGET = EXPR"


def test_exact_names_come_before_aliases_and_unique_beginnings() -> None:
    assert find("next")[0].name == "next"
    assert find("n")[0].name == "next"
    assert find("wat")[0].name == "watch"
    assert find("lt")[1].words == "info tensors"


@pytest.mark.parametrize(("line", "code", "text"), [
    ("he", "ambiguous_command", "'he' could be hessian or help"),
    ("wach loss", "unknown_command", "unknown command 'wach'"),
])
def test_other_verbs_are_refused_with_candidates(line: str, code: str, text: str) -> None:
    result = execute(line, Shell())
    assert isinstance(result, Error)
    assert (result.code, result.message) == (code, text)
    assert result.hint


def test_a_tensor_where_a_command_is_expected_is_printed_by_the_hint() -> None:
    with tf.Graph().as_default() as graph:
        tf.constant([1.0], name="loss")
    found = execute("loss[0] * 2", Shell(Debugger(graph)))
    assert (getattr(found, "message", ""), getattr(found, "hint", "")) == (
        "'loss' is a tensor, not a command", "print loss[0] * 2")


def test_a_guess_is_made() -> None:
    assert "'watch'" in getattr(execute("wach loss", Shell()), "hint", "")
    assert getattr(execute("run 20", Shell()), "hint", "") == "run --times 20"


@pytest.mark.parametrize("line", ["", "   ", "# a comment"])
def test_nothing_gives_nothing(line: str) -> None:
    assert execute(line, Shell()) == Text()


def test_the_users_own_words() -> None:
    shell = Shell()
    execute("alias again = help", shell)
    assert execute("again list", shell) == execute("help list", shell)
    execute("alias a = b", shell)
    execute("alias b = a", shell)
    assert "stands for itself" in getattr(execute("a", shell), "message", "")


def test_completion_of_verbs_options_choices_and_topics() -> None:
    shell = Shell()
    assert [c.text for c in complete("gra", shell)] == ["grad", "grads", "gradient_tensor", "gradient_tensors"]
    assert [c.text for c in complete("train loss --o", shell)] == ["--optimizer"]
    assert [c.text for c in complete("train loss --optimizer ad", shell)] == ["adadelta", "adagrad", "adagradda",
                                                                              "adam"]
    assert "tensors" in [c.text for c in complete("info ", shell)]
    assert [c.text for c in complete("info w", shell)] == ["watches"]
    assert complete("nonsense x", shell) == []


@pytest.mark.parametrize(("line", "candidate", "note"), [
    ("grad loss weigh", "weights1", "float32[64,32]  digits_graph.py:24  VariableV2"),
    ("grad loss hidden1/Mat", "hidden1/MatMul:0", "float32[?,32]  digits_graph.py:26  MatMul"),
    ("print 2*weigh", "2*weights1", "float32[64,32]  digits_graph.py:24  VariableV2"),
    ("hessian --di", "--diag", "only its diagonal"), ("gra", "grads", "Table of the gradients"),
    ("set auto", "auto-why", "whether a stop at nan, inf or none is explained at once")])
def test_completion_says_what_each_thing_is(line: str, candidate: str, note: str) -> None:
    shell = Shell()
    execute(f"load {ROOT / 'scripts' / 'models' / 'digits_graph.py'}", shell)
    notes = {found.text: found.note for found in complete(line, shell)}
    assert notes[candidate].startswith(note)
    shell.close()


def test_the_layout_is_a_setting() -> None:
    shell = Shell()
    assert execute("layout source", shell) == Text("layout source", "quiet")
    assert shell.settings["layout"] == "source"
    assert isinstance(execute("layout nowhere", shell), Error)


def test_choices_may_be_typed_in_capitals_as_tensorflow_writes_them() -> None:
    kind = ChoiceKind("add_n", "experimental_tree")
    assert [kind.parse(text, Shell()) for text in ("ADD_N", "EXPERIMENTAL_TREE", "exp")] == [
        "add_n", "experimental_tree", "experimental_tree"]
