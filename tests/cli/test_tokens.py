"""A command line cut into words, parted from its redirection."""

import pytest

from cli.language.tokens import Output, redirection, split, without_comment
from cli.model.usage_error import UsageError


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
    assert [word.text for word in split(line)] == words


@pytest.mark.parametrize("line", ["print W[0:3", "print 'open", "print (a"])
def test_open_brackets_and_quotes_are_refused_with_a_hint(line: str) -> None:
    with pytest.raises(UsageError) as caught:
        split(line)
    assert caught.value.hint
    assert split(line, open_end=True)


@pytest.mark.parametrize(("line", "rest", "output"), [
    ("grads > out.txt", "grads", Output(">", "out.txt")),
    ("grads >out.txt", "grads", Output(">", "out.txt")),
    ("grads >> out.txt", "grads", Output(">>", "out.txt")),
    ("grads | head -3", "grads", Output("|", "head -3")),
    ("grads >", "grads", Output(">", "")),
    ("print 'a > b'", "print 'a > b'", Output()),
    ("print x[y > 3]", "print x[y > 3]", Output()),
    ("watch loss if loss>=3", "watch loss if loss>=3", Output()),
])
def test_redirection(line: str, rest: str, output: Output) -> None:
    assert redirection(line) == (rest, output)


def test_comments_go() -> None:
    assert without_comment("  next 3  # on we go") == "next 3"
    assert without_comment("print '#'") == "print '#'"
