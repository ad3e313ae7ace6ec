"""Every command has an example that runs on the bundled model, JSON that fits the published schema, completion."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.commands import motion
from cli.language.argument_kinds import FloatKind, IntKind, Kind, RangesKind, RawKind, RegexKind, SliceKind
from cli.language.command import COMMANDS, Parameter, verbs
from cli.language.complete import complete
from cli.language.interpreter import execute
from cli.language.tokens import statements
from cli.model.results import Error, error_in
from cli.model.shell import Shell
from cli.view.render import plain, to_json

from .json_schema import faults

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "cli" / "schema.json").read_text())

LOOP = "load scripts/models/digits_loop.py"
IN_A_FUNCTION = f"{LOOP}; break digits.py:19; continue"
# what an example needs to be true before it runs
BEFORE = {"delete": "watch loss", "enable": "watch loss", "disable": "watch loss", "ignore": "watch loss",
          "condition": "watch loss", "commands": "break step 40", "undo": "set hidden1/biases = hidden1/biases * 0",
          "undisplay": "display hidden1/biases[0:4]", "@": "print hidden1/biases",
          "fix": "load scripts/models/nan_log.py; run -f nan; why nan",
          "detach": LOOP, "bt": LOOP, "frame": IN_A_FUNCTION, "until": LOOP, "info locals": LOOP, "up": IN_A_FUNCTION,
          "finish": IN_A_FUNCTION, "down": f"{IN_A_FUNCTION}; up", "rc": "watch loss if step >= 4; next; next; next"}


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """digits_graph.py after three steps, in a directory that may be written to."""
    for name in ("scripts", "cli"):
        os.symlink(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(motion, "FOREVER", 300)  # `run -f nan` never meets one here
    made = Shell(known_verbs=verbs())
    for line in ("load scripts/models/digits_graph.py", "train loss --lr 0.1", "next 3"):
        assert not isinstance(execute(line, made), Error), line
    yield made
    made.close()


def check(line: str, text: str) -> None:
    """A line of JSON must be strict, and fit the schema with all of its parts."""
    def refuse(constant: str) -> None:
        raise ValueError(f"{line}: {constant} is no JSON")
    body = json.loads(text, parse_constant=refuse)
    assert list(faults(body, SCHEMA, SCHEMA)) == [], line
    for part in (body["data"] or {}).get("parts", ()) if body["kind"] == "group" else ():
        if part["kind"] not in ("group", "error"):
            assert list(faults(part["data"], SCHEMA["$defs"][part["kind"]], SCHEMA)) == [], line


@pytest.mark.parametrize("name", COMMANDS)
def test_its_example_runs_and_fits_the_schema(name: str, shell: Shell) -> None:
    if name in BEFORE:
        for line in statements(BEFORE[name]):
            assert error_in(execute(line, shell)) is None, line
    for example in COMMANDS[name].examples:
        result = execute(example, shell)
        check(example, to_json(example, result))
        found = error_in(result)
        assert found is None, (example, found)
        assert plain(result, 80).isprintable() or "\n" in plain(result, 80)


@pytest.mark.parametrize("line", ["nonsense", "print nothing_like_it", "expect loss > 99", "print loss / 0",
                                  "info nans", "x/4 hidden1/weights", "print hidden1/weights --where '>0'",
                                  "print 'text'", "plot", "print 1j * loss", "define twice = print 1; print 2",
                                  "twice", "help", "info", ""])
def test_other_lines_fit_the_schema_too(line: str, shell: Shell) -> None:
    check(line, to_json(line, execute(line, shell)))


def test_the_schema_refuses_what_does_not_fit() -> None:
    body = json.loads(to_json("x", execute("help", Shell())))
    for change in ({"schema": 2}, {"ok": 1}, {"kind": "poem"}, {"data": {"text": 3, "mood": ""}}, {"more": 1},
                   {"error": {"code": "x"}}):
        assert list(faults({**body, **change}, SCHEMA, SCHEMA)), change


# ---- completion -----------------------------------------------------------------------------
NO_WORDS = (IntKind, FloatKind, RangesKind, SliceKind, RegexKind, RawKind)  # numbers, patterns, free text


def completes(kind: Kind) -> bool:
    return type(kind).complete is not Kind.complete


@pytest.mark.parametrize("name", COMMANDS)
def test_its_arguments_complete(name: str) -> None:
    """A kind of argument that stands for something there is offers it; the others are numbers, patterns or free."""
    def is_free(parameter: Parameter) -> bool:
        kind = parameter.kind
        return kind is None or isinstance(kind, NO_WORDS) or type(kind) is Kind or kind.introducer == "/"
    assert [p.name for p in COMMANDS[name].parameters if not is_free(p) and not completes(p.kind)] == []  # type: ignore[arg-type]


@pytest.mark.parametrize(("line", "word"), [
    ("gra", "grads"), ("print hidd", "hidden1"), ("print norm(hidden2/wei", "norm(hidden2/weights:0"),
    ("print loss --wh", "--where"), ("train loss --optimizer ad", "adam"), ("load scripts/mod", "scripts/models/"),
    ("help wh", "where"), ("watch loss if n", "nan"), ("info te", "tensors"),
    ("info op hidden1/Mat", "hidden1/MatMul:0"), ("grad loss hidden1/wei", "hidden1/weights:0"),
    ("print h1wei", "hidden1/weights:0"), ("export d", "dot"), ("set hidden1/bi", "hidden1/biases:0"),
    ("list pl", "plan"), ("list plan hidden1/Re", "hidden1/Relu:0")])
def test_what_completes(line: str, word: str, shell: Shell) -> None:
    assert word in [candidate.text for candidate in complete(line, shell)]
