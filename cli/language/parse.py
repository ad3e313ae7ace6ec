"""parse: a typed line becomes a Parsed, by the signature of its command, in one pass."""
from __future__ import annotations

import os
import re
import shutil
from typing import NamedTuple

from autodiff.core.names import did_you_mean

from ..model.shell import Shell
from ..model.usage_error import UsageError
from .argument_kinds import IntKind
from .command import COMMANDS, SIGNS, Alias, Command, Parameter, find, topics
from .other_words import TOPICS
from .parsed import Argument, Output, Parsed
from .tokens import Word, split

OPERATORS = {"and", "or", "not", "<", "<=", "==", "!=", ">=", "+", "-", "*", "/", "in"}
ASSIGNS = re.compile(r"(?<![=<>!])=(?!=)")


class _Text(NamedTuple):
    """A line with its aliases spelled out. body: where the command's own words begin; columns of the line typed are
    those of the text less `shift`, and before `body` the verb's."""

    line: str
    verb: Word
    text: str
    body: int

    def span(self, start: int, end: int) -> tuple[int, int]:
        shift = len(self.text) - len(self.line)
        return max(start - shift, self.verb.start), max(end - shift, self.verb.end)


def parse(line: str, shell: Shell) -> Parsed:
    """What a line says. A mistake does not raise: it is in `fault`, with all that could be read."""
    verb = _verb(line)
    if not verb.text:
        return Parsed(line, verb)
    try:
        command, alias, text = _spelled_out(line, verb, shell)
    except UsageError as error:
        error.span = (verb.start, verb.end)
        return Parsed(line, verb, words=tuple(split(line, verb.end)[0]), fault=error)
    if command is None:
        return Parsed(line, verb, own=alias.words, words=tuple(split(line, verb.end)[0]))
    return _Reader(command, alias, text).read()


def _verb(line: str) -> Word:
    start = len(line) - len(line.lstrip())
    if start == len(line) or line[start] == "#":
        return Word("", start, start)
    end = start + 1
    if line[start] not in SIGNS:
        stops = "" if line[start] == "." else "/=>|\"'[("
        while end < len(line) and not line[end].isspace() and line[end] not in stops:
            end += 1
    return Word(line[start:end], start, end)


def _spelled_out(line: str, verb: Word, shell: Shell) -> tuple[Command | None, Alias, _Text]:
    """The command of a line, None for the user's own; the user's aliases and the built-in ones are spelled out."""
    text, word = line, verb
    for _ in range(10):
        if word.text not in shell.aliases:
            break
        text = text[:word.start] + shell.aliases[word.text] + text[word.end:]
        word = _verb(text)
    else:
        raise UsageError(f"the alias {verb.text!r} stands for itself", f"alias {verb.text} =")
    if word.text in shell.defined:
        return None, Alias(word.text), _Text(line, verb, text, word.end)
    command, alias = find(word.text)
    text = text[:word.start] + alias.words + text[word.end:]
    command, end = _of_topic(command, text, word.start + len(command.name))
    return command, alias, _Text(line, verb, text, end)


def _of_topic(command: Command, text: str, end: int) -> tuple[Command, int]:
    """The command of two words that a line begins with, where there is one, and the end of these words."""
    known = topics(command.name)
    match = re.compile(r"\s+([\w-]+)").match(text, end) if known else None
    if match is None:
        return command, end
    word = TOPICS.get(match[1], match[1])
    near = [topic for topic in known if topic.startswith(word)]
    is_typed = match.end() == len(text) and word not in known  # it may become another topic yet
    if word in known or len(near) == 1 and not is_typed:
        return COMMANDS[f"{command.name} {word if word in known else near[0]}"], match.end()
    return command, end


class _Reader:
    """Reads the words of one line into arguments."""

    def __init__(self, command: Command, alias: Alias, at: _Text) -> None:
        self.command, self.alias, self.at = command, alias, at
        self.arguments: list[Argument] = []
        self.output = Output()
        self.pending: Parameter | None = None
        self.words, self.fault = split(at.text, at.body)
        if self.fault is not None and self.fault.span is not None:
            self.fault.span = at.span(*self.fault.span)

    def read(self) -> Parsed:
        words = self.words
        if self.command.is_raw:
            self.fault = None
        if not self.command.keeps_marks:
            words = self._redirected(words)
        if self.command.is_raw:
            self._take(self.command.arguments[0], words)
        else:
            self._positional(self._options(self._introduced(words)))
        given = {argument.parameter.name for argument in self.arguments}
        for parameter in self.command.arguments:
            if not parameter.optional and parameter.name not in given:
                need = f"{parameter.kind.introducer} {parameter.kind.metavar}".strip() if parameter.kind else ""
                self._refuse(f"{self.command.name} needs {need}", None)
                break
        typed = (Word(word.text, *self.at.span(word.start, word.end), word.quoted) for word in self.words)
        arguments = sorted(self.arguments, key=lambda argument: argument.start)
        return Parsed(self.at.line, self.at.verb, self.command,
                      words=tuple(word for word in typed if word.end > self.at.verb.end),
                      arguments=tuple(arguments), output=self.output, pending=self.pending, fault=self.fault)

    def _refuse(self, what: str, word: Word | None, *, expected: str = "", hint: str = "") -> None:
        """Note a mistake, the first one only; word: where, None for the end of the line."""
        if self.fault is None:
            end = len(self.at.line.rstrip())
            self.fault = UsageError(what, hint or f"usage: {self.command.synopsis}", expected=expected,
                                    span=self.at.span(word.start, word.end) if word else (end, end + 1))

    def _give(self, parameter: Parameter, text: str, start: int, end: int) -> None:
        self.arguments.append(Argument(parameter, text, *self.at.span(start, end)))

    def _take(self, parameter: Parameter, words: list[Word]) -> None:
        """All of these words, as they stand in the line; what was taken out between them is left out."""
        if not words:
            return
        text = self.at.text[words[0].start:words[0].end]
        for before, word in zip(words, words[1:]):
            between = self.at.text[before.end:word.start]
            text += (between if between.isspace() else " ") + self.at.text[word.start:word.end]
        self._give(parameter, text, words[0].start, words[-1].end)

    def _introduced(self, words: list[Word]) -> list[Word]:
        """Take `/FMT` at the front, and `= EXPR` or `if PREDICATE` up to the end or the next option."""
        for parameter in self.command.arguments:
            introducer = parameter.kind.introducer if parameter.kind else ""
            if introducer == "/" and words and (match := re.fullmatch(r"/(\w+)", words[0].text)):
                self._give(parameter, match[1], words[0].start + 1, words[0].end)
                words = words[1:]
            elif introducer == "=":
                words = self._assigned(parameter, words)
            elif introducer not in ("", "/"):
                words = self._after(parameter, introducer, words)
        return words

    def _assigned(self, parameter: Parameter, words: list[Word]) -> list[Word]:
        for i, word in enumerate(words):
            match = None if word.quoted else ASSIGNS.search(word.text)
            if match is None:
                continue
            at = word.start + match.start()
            before = [Word(word.text[:match.start()], word.start, at)] if match.start() else []
            after = [Word(word.text[match.end():], at + 1, word.end)] if match.end() < len(word.text) else []
            value = [*after, *words[i + 1:]]
            if value:
                self._give(parameter, self.at.text[value[0].start:value[-1].end], value[0].start, value[-1].end)
            else:
                self.pending = parameter
                self._give(parameter, "", word.end, word.end)
            return [*words[:i], *before]
        return words

    def _after(self, parameter: Parameter, introducer: str, words: list[Word]) -> list[Word]:
        for i, word in enumerate(words):
            if word.text != introducer or word.quoted:
                continue
            end = next((j for j, w in enumerate(words) if j > i and w.text.startswith("--") and not w.quoted),
                       len(words))
            if end > i + 1:
                self._give(parameter, self.at.text[words[i + 1].start:words[end - 1].end], words[i + 1].start,
                           words[end - 1].end)
            else:
                self.pending = parameter
                self._refuse("", word, expected=f"{parameter.kind.metavar} after {introducer!r}")  # type: ignore[union-attr]
            return words[:i] + words[end:]
        return words

    def _options(self, words: list[Word]) -> list[Word]:
        """Take options and their values; gives the words left."""
        left: list[Word] = []
        rest = iter(words)
        for word in rest:
            if word.quoted or not word.text.startswith("-") or word.text == "-":
                left.append(word)
                continue
            if word.text == "--":
                return [*left, *rest]
            name, equals, value = word.text.partition("=")
            parameter, fixed = self._option(name, word)
            if parameter is None:
                left += [word] if fixed is None else []
            elif fixed:
                self._give(parameter, fixed, word.start, word.end)
            elif parameter.kind is None:
                self._give(parameter, "", word.start, word.end)
                if equals:
                    self._refuse(f"{parameter.option} takes no value, found {value!r}", word)
            elif equals:
                self._give(parameter, value, word.start + len(name) + 1, word.end)
            elif (following := next(rest, None)) is not None:
                self._give(parameter, following.text, following.start, following.end)
            else:
                self.pending = parameter
                self._refuse(f"{parameter.option} needs a value: {parameter.kind.metavar}", word)
        return left

    def _option(self, name: str, word: Word) -> tuple[Parameter | None, str | None]:
        """The option that a word is, and the value it stands for by itself.

        (None, None): no option, such as -1 or `- x` in an expression. (None, ""): a mistake, noted.
        """
        known = {**self.command.shorts, **self.alias.options}
        full = known.get(name, name if name.startswith("--") else None)
        if full == "":
            return None, ""  # what this option asks for is always shown
        if full is not None and full.startswith("?"):
            self._refuse(f"{name} is another debugger's option", word, hint=full[1:])
            return None, ""
        if full is None:
            strict = self.alias.options and len(name) == 2 or not self.command.takes_expression
            if name[1].isalpha() and strict:
                self._unknown(name, word)
                return None, ""
            return None, None
        full, _, fixed = full.partition(" ")
        if full.startswith("/"):
            return next(p for p in self.command.arguments if p.kind and p.kind.introducer == "/"), full[1:]
        exact = [p for p in self.command.options if p.option == full]
        near = exact or [p for p in self.command.options if p.option.startswith(full)]
        if len(near) == 1:
            return near[0], fixed
        if near:
            self._refuse(f"{name} could be {' or '.join(p.option for p in near)}", word)
        else:
            self._unknown(name, word)
        return None, ""

    def _unknown(self, name: str, word: Word) -> None:
        known = [p.option for p in self.command.options]
        self._refuse(f"{self.at.verb.text if self.alias.options else self.command.name} has no option {name}", word,
                     hint=did_you_mean(name, known))

    def _positional(self, words: list[Word]) -> None:
        """Share words among the arguments: required ones first, then optional ones from the left."""
        plain = [p for p in self.command.arguments if p.kind and not p.kind.introducer]
        spare = len(words) - sum(not p.optional for p in plain)
        at = 0
        for parameter in plain:
            if at >= len(words) or parameter.optional and spare <= 0:
                continue
            if parameter.takes_many and not parameter.variadic:
                count = len(words) - at
                self._take(parameter, words[at:])
            else:
                count = len(words) - at if parameter.variadic else 1
                for word in words[at:at + count]:
                    self._give(parameter, word.text, word.start, word.end)
            at += count
            spare -= count if parameter.optional else 0
        if at < len(words):
            self._refuse(f"{self.command.name} takes no further argument {words[at].text!r}", words[at],
                         hint=self._in_quotes() or self._as_option(words[at].text))

    def _as_option(self, word: str) -> str:
        """The line with a number that was given without the name of the option that takes one, where one does."""
        options = [p for p in self.command.options if isinstance(p.kind, IntKind)] if word.isdecimal() else ()
        return f"{self.command.name} {options[0].option} {word}" if len(options) == 1 else ""

    def _in_quotes(self) -> str:
        """The line with quotes around what belongs together, where an operator stands behind an option's value."""
        line = self.at.line.rstrip()
        apart = (a for a in self.arguments if a.parameter.is_option and line[a.end:].partition(" ")[0] == ""
                 and OPERATORS.intersection(line[a.end:].split()[:1]))
        return next((f"{line[:a.start]}'{line[a.start:]}'" for a in apart), "")

    def _redirected(self, words: list[Word]) -> list[Word]:
        """Take `> FILE`, `>> FILE` or `| PROGRAM` at the end."""
        found = _redirection(words, self.at.text)
        if found is None or self.command.takes_expression and not _is_output(found[1]):
            return words
        count, self.output, word = found
        if not self.output.to:
            what, instance = ("a program after |", "| less") if self.output.kind == "|" \
                else ("a file name after >", "> grads.txt")
            self._refuse("", word, expected=what, hint=f"for instance {instance}")
        self.output = self.output._replace(start=self.at.span(self.output.start, self.output.start)[0])
        return words[:count]


def _redirection(words: list[Word], text: str) -> tuple[int, Output, Word] | None:
    """How many words are left before the redirection of a line, and the word that is its mark."""
    for i, word in enumerate(words):
        if word.text == "|" and not word.quoted:
            return i, Output("|", text[word.end:].strip(), word.end), word
    for i in (len(words) - 1, len(words) - 2):
        if i >= 0 and words[i].text in (">", ">>") and not words[i].quoted:
            to = words[i + 1] if i + 1 < len(words) else None
            start = to.start if to else len(text)
            return i, Output(words[i].text, to.text if to else "", start), words[i]
    last = words[-1] if words else None
    if last and not last.quoted and last.text[0] == ">" and last.text.strip("=>"):
        mark = ">>" if last.text.startswith(">>") else ">"
        return len(words) - 1, Output(mark, last.text[len(mark):], last.start + len(mark)), last
    return None


def _is_output(output: Output) -> bool:
    """Whether `> X` or `| X` is a redirection, where it might be part of an expression."""
    if output.kind == "|":
        return shutil.which((output.to.split() or [""])[0]) is not None
    try:
        float(output.to)
        return False
    except ValueError:
        return not output.to or "." in output.to or os.sep in output.to
