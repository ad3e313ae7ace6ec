"""A command line cut into words, and a Parsed made of it: arguments, output, mistakes, each with its columns."""

import pytest

from cli.language.command import COMMANDS, verbs
from cli.language.interpreter import execute
from cli.language.parse import parse
from cli.language.parsed import Output
from cli.language.tokens import split
from cli.model.results import Error
from cli.model.shell import Shell
from cli.screen.lexer import highlight, styled
from cli.view.render import plain


@pytest.mark.parametrize(("line", "words"), [
    ("watch a  b", ["watch", "a", "b"]),
    ("print W[0:3, :] + 1", ["print", "W[0:3, :]", "+", "1"]),
    ("watch /hid den.*/ if nan", ["watch", "/hid den.*/", "if", "nan"]),
    ("print /s loss", ["print", "/s", "loss"]),
    ("info tensors /a b/ # all", ["info", "tensors", "/a b/"]),
    ("load 'my model.py' x#y", ["load", "my model.py", "x#y"]),
    (r"echo 'it\'s'", ["echo", "it's"]),
    ("p f(a, (b, c))", ["p", "f(a, (b, c))"]),
    ("# nothing", []),
    ("", []),
])
def test_words(line: str, words: list[str]) -> None:
    assert [word.text for word in split(line)[0]] == words


@pytest.mark.parametrize(("line", "start"), [("print W[0:3", 6), ("print 'open", 6), ("print (a", 6)])
def test_open_brackets_and_quotes_are_mistakes_with_a_hint(line: str, start: int) -> None:
    words, error = split(line)
    assert len(words) == 2 and error is not None
    assert error.hint and error.span == (start, len(line))


@pytest.mark.parametrize(("line", "given", "output"), [
    ("grads > out.txt", [], Output(">", "out.txt", 8)),
    ("grads >out.txt", [], Output(">", "out.txt", 7)),
    ("grads loss >> out.txt", ["loss"], Output(">>", "out.txt", 14)),
    ("grads | head -3", [], Output("|", "head -3", 7)),
    ("grads >", [], Output(">", "", 7)),
    ("print 'a > b'", ["'a > b'"], Output()),
    ("print x[y > 3]", ["x[y > 3]"], Output()),
    ("print x > 3", ["x > 3"], Output()),
    ("print x > y.txt", ["x"], Output(">", "y.txt", 10)),
    ("expect x > y.txt", ["x > y.txt"], Output()),
    ("watch loss if loss>=3", ["loss", "loss>=3"], Output()),
])
def test_redirection(line: str, given: list[str], output: Output) -> None:
    parsed = parse(line, Shell())
    assert ([argument.text for argument in parsed.arguments], parsed.output) == (given, output)


def test_arguments_have_the_columns_of_the_line_that_was_typed() -> None:
    shell = Shell(aliases={"gn": "grads --sort norm"})
    for line in ("watch h  /a b/ if nan or inf --every 3  # now", "gn loss --by scope", "print/s W[0, 1] + 2",
                 "lt /hidden/ --stats", "set w=W * 2", "  train loss --lr=0.1"):
        parsed = parse(line, shell)
        assert parsed.fault is None, line
        texts = {line[a.start:a.end] for a in parsed.arguments if a.parameter.kind is not None}
        assert {a.text for a in parsed.arguments if a.end > parsed.verb.end and a.parameter.kind is not None} <= texts


def test_comments_go() -> None:
    assert [a.text for a in parse("  next 3  # on we go", Shell()).arguments] == ["3"]
    assert [a.text for a in parse("print '#'", Shell()).arguments] == ["'#'"]


@pytest.mark.parametrize(("line", "columns"), [
    ("train loss --optimzer adam", (11, 21)), ("watch a --every 0", (16, 17)), ("path a b c", (9, 10)),
    ("watch W[0:3]", (6, 12)), ("print (1", (6, 8)), ("grad /(/", (5, 8)), ("hessian w --rows a:b", (17, 20)),
    ("grad", (4, 5)), ("nonsense a", (0, 8))])
def test_a_caret_shows_the_mistake(line: str, columns: tuple[int, int]) -> None:
    error = execute(line, Shell())
    assert isinstance(error, Error)
    assert error.span == columns
    caret = next(text for text in plain(error).splitlines() if set(text.strip()) == {"^"})
    assert (caret.index("^") - 2, caret.rindex("^") - 1) == columns


@pytest.mark.parametrize(("line", "roles"), [
    ("watch h if nan --every 3 ", "command target expression option number"),
    ("lt /h/ ", "command target"), ("wach h ", "error"), ("wach", ""),
    ("train l --optimzer 3 ", "command target error"),
    ("grads --of loss > a.txt", "command option target"), ("", "")])
def test_highlighting(line: str, roles: str) -> None:
    shell = Shell(known_verbs=verbs())
    assert " ".join(piece.role for piece in highlight(line, shell)) == roles


def test_the_command_line_is_drawn_in_those_roles() -> None:
    line = "watch h --every 3 "
    fragments = styled(line, Shell())
    assert "".join(text for _, text, *_ in fragments) == line
    assert [text for style, text, *_ in fragments if style] == ["watch", "h", "--every", "3"]


def test_what_commands_say_goes_to_a_file_unless_their_text_is_anybodys() -> None:
    kept = {name for name, command in COMMANDS.items() if command.keeps_marks}
    assert kept == {"commands", "alias", "define", "/", "@", "python", "expect"}
