"""Kinds of argument: each knows how it is written, what it means and how it completes itself."""
from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator
from heapq import nsmallest
from typing import Annotated, Any

from autodiff.core.names import did_you_mean
from autodiff.debug.language.conditions import MEASURES, WORDS
from autodiff.debug.language.expressions import FUNCTIONS

from ..model.shell import CHOICES, Shell
from ..model.usage_error import UsageError

MOST = 200  # candidates offered for one word
FEW = 40  # names that are offered themselves, rather than their scopes


class Kind:
    """A kind of argument. metavar: its name in a synopsis.

    introducer: the word that must stand before it (`if`, `=`), or "". rest: takes all words that are left, as
    one text. expression: `>` and `|` may be part of it.
    """

    metavar = "TEXT"
    introducer = ""
    rest = False
    expression = False

    def parse(self, text: str, shell: Shell) -> Any:
        """What `text` stands for. Raises UsageError with expected and found."""
        return text

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        """Words that `text` could become."""
        return ()


class IntKind(Kind):
    """A whole number, at least `least`."""

    metavar = "N"

    def __init__(self, least: int = 0, metavar: str = "N") -> None:
        self.least, self.metavar = least, metavar

    def parse(self, text: str, shell: Shell) -> int:
        try:
            value = int(text)
        except ValueError:
            raise UsageError(f"expected a whole number for {self.metavar}, found {text!r}", code="bad_value") from None
        if value < self.least:
            raise UsageError(f"expected {self.metavar} of at least {self.least}, found {value}", code="bad_value")
        return value


class FloatKind(Kind):
    """A number."""

    metavar = "X"

    def __init__(self, metavar: str = "X") -> None:
        self.metavar = metavar

    def parse(self, text: str, shell: Shell) -> float:
        try:
            return float(text)
        except ValueError:
            raise UsageError(f"expected a number for {self.metavar}, found {text!r}", code="bad_value") from None


class ChoiceKind(Kind):
    """One of a few words; a unique beginning is enough."""

    def __init__(self, *choices: str) -> None:
        self.choices = choices
        self.metavar = "|".join(choices)

    def parse(self, text: str, shell: Shell) -> str:
        if text in self.choices:
            return text
        near = [choice for choice in self.choices if choice.startswith(text)]
        if len(near) == 1:
            return near[0]
        raise UsageError(f"expected one of {', '.join(self.choices)}, found {text!r}",
                         did_you_mean(text, self.choices), code="bad_value")

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        return [choice for choice in self.choices if choice.startswith(text)]


class RegexKind(Kind):
    """A regular expression, with or without slashes."""

    metavar = "REGEX"

    def parse(self, text: str, shell: Shell) -> str:
        bare = text[1:-1] if len(text) > 1 and text[0] == text[-1] == "/" else text
        check_regex(bare)
        return bare


class TargetKind(Kind):
    """A tensor: name, unique suffix of one, handle of the script, short handle, `/regex/` or `$n`."""

    def __init__(self, metavar: str = "TARGET", sliced: bool = False) -> None:
        self.metavar, self.sliced = metavar, sliced

    def parse(self, text: str, shell: Shell) -> str:
        if text.startswith("/"):
            if len(text) < 3 or not text.endswith("/"):
                raise UsageError(f"expected a closing / after {text!r}", f"{text}/", code="bad_regex")
            check_regex(text[1:-1])
        elif not self.sliced and text.endswith("]"):
            name = text.partition("[")[0]
            raise UsageError(f"a slice does not fit here: {text!r}", f"print {text}, or {name} alone", code="bad_slice")
        return text

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        return matching(text, shell.names())


class StopPlaceKind(Kind):
    """Where to stop: a target, or the word `step`."""

    metavar = "TARGET"

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        return [*(word for word in ("step", "if") if text and word.startswith(text)), *matching(text, shell.names())]


class StopNumberKind(IntKind):
    """The number of a watch or breakpoint."""

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        return [number for row in shell.dbg.stops() if (number := str(row.number)).startswith(text)]


class StopKind(Kind):
    """A watch or breakpoint: its number, or a target that is watched."""

    metavar = "NUMBER|TARGET"

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        rows = shell.dbg.stops()
        return [*(number for row in rows if (number := str(row.number)).startswith(text)),
                *matching(text, dict.fromkeys(name for row in rows if row.kind == "watch" for name in row.targets))]


class SettingKind(TargetKind):
    """A tensor, or the name of a setting."""

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        return [*(name for name in shell.settings if name.startswith(text)), *super().complete(text, shell)]


class SettingValueKind(Kind):
    """What a setting can be."""

    metavar = "VALUE"

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        return [value for choices in CHOICES.values() for value in choices if value.startswith(text)]


class OpKind(Kind):
    """An operation's name, or a tensor's."""

    metavar = "OP"

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        return matching(text, shell.names())


class PlaceKind(OpKind):
    """What `list` shows: FILE:LINE, a line number, an operation, or `plan`."""

    metavar = "PLACE"

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        return ["plan"] * "plan".startswith(text) + [*super().complete(text, shell)]


class ExpressionKind(Kind):
    """A NumPy expression over tensors and values of the script; runs to the end of the line or the next option."""

    metavar = "EXPR"
    rest = True
    expression = True

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        word = re.split(r"[^\w/.:$]", text)[-1]
        lead = text[:len(text) - len(word)]
        if word.startswith("$"):
            return [f"{lead}${value.number}" for value in shell.dbg.values.kept()
                    if f"${value.number}".startswith(word)]
        functions = [f"{name}(" for name in FUNCTIONS if word and name.startswith(word)]
        return [lead + name for name in [*matching(word, shell.names()), *functions][:MOST]]


class AssignedKind(ExpressionKind):
    """`= EXPR`."""

    introducer = "="


class PredicateKind(ExpressionKind):
    """`if PREDICATE`."""

    metavar = "PREDICATE"
    introducer = "if"
    words = (*WORDS, *(f"{measure}(" for measure in MEASURES), "step>=", "loss>", "and", "or", "not")

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        return completed_condition(text, shell)


def completed_condition(text: str, shell: Shell) -> Iterable[str]:
    """What the last word of a predicate could become; a tensor where a parenthesis is open."""
    word = re.split(r"[\s(\"']", text)[-1]
    lead = text[:len(text) - len(word)]
    if text.count("(") > text.count(")") and re.search(r"\w\s*\(\s*\Z", lead):
        gradient = [] if re.search(r"grad\s*\(\s*\Z", lead) or not "grad(".startswith(word) else ["grad("]
        return [lead + name for name in [*gradient, *matching(word, shell.names())][:MOST]]
    return [lead + known for known in PredicateKind.words if known.startswith(word)]


class ConditionKind(PredicateKind):
    """A predicate as an option's value."""

    introducer = ""
    rest = False


class NumberedConditionKind(Kind):
    """The number of a watch or breakpoint, then a predicate; untouched up to the end of the line."""

    metavar = "NUMBER [PREDICATE]"
    rest = True
    expression = True

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        return completed_condition(text, shell)


class SliceKind(Kind):
    """Rows `A:B` of a matrix; either end may be left out."""

    metavar = "A:B"

    def parse(self, text: str, shell: Shell) -> slice:
        match = re.fullmatch(r"(-?\d*):(-?\d*)|(\d+)", text)
        if not match or text in ("-:", ":-", "-:-"):
            raise UsageError(f"expected rows as A:B, found {text!r}", "for instance 0:8", code="bad_slice")
        if match[3]:
            return slice(int(match[3]), int(match[3]) + 1)
        return slice(*(int(end) if end else None for end in match.group(1, 2)))


class RangeKind(Kind):
    """`LO,HI`; inf and -inf are allowed."""

    metavar = "LO,HI"

    def parse(self, text: str, shell: Shell) -> tuple[float, float]:
        try:
            low, high = (float(end) for end in text.strip("[]()").split(","))
        except ValueError:
            raise UsageError(f"expected a range as LO,HI, found {text!r}", "for instance -1,1",
                             code="bad_value") from None
        return low, high


class FormatKind(Kind):
    """`/FMT` right behind the verb: /s statistics, /a all elements, /f NumPy digits, /h heatmap, /d distribution."""

    introducer = "/"

    def __init__(self, letters: str, metavar: str = "/FMT") -> None:
        self.letters, self.metavar = letters, metavar

    def parse(self, text: str, shell: Shell) -> str:
        if set(text) - set(self.letters):
            raise UsageError(f"expected a format of the letters {', '.join(self.letters)}, found /{text}",
                             code="bad_value")
        return text


class FileKind(Kind):
    """A file name; ~ is the home directory."""

    metavar = "FILE"

    def parse(self, text: str, shell: Shell) -> str:
        return os.path.expanduser(text)

    def complete(self, text: str, shell: Shell) -> Iterator[str]:
        for name in sorted(glob.glob(glob.escape(os.path.expanduser(text)) + "*"))[:MOST]:
            yield name + os.sep * os.path.isdir(name)


class CommandKind(Kind):
    """The name of a command."""

    metavar = "COMMAND"

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        return [name for name in shell.verbs() if name.startswith(text)]


class RawKind(Kind):
    """Everything up to the end of the line, untouched."""

    rest = True
    expression = True

    def __init__(self, metavar: str = "TEXT") -> None:
        self.metavar = metavar


def check_regex(text: str) -> None:
    """Raises UsageError, with the place of the mistake, unless `text` is a regular expression."""
    try:
        re.compile(text)
    except re.error as error:
        place = f" at column {error.pos + 1}" if error.pos is not None else ""
        raise UsageError(f"not a regular expression: /{text}/: {error.msg}{place}",
                         f"to match the text itself: /{re.escape(text)}/", code="bad_regex") from None


def matching(text: str, names: Iterable[str]) -> list[str]:
    """Names that begin with `text`, then names with a part that does, else names with its letters in order.

    Where many begin with it, their scopes stand for them, as directories do for files. At most MOST.
    """
    names = list(names)
    first = [name for name in names if name.startswith(text)]
    inner = "/" + text
    later = [name for name in names if inner in name] if text and len(first) < MOST else []
    if len(first) > FEW:
        first = _scopes(first, len(text))
    return (first + later or fuzzy(text, names))[:MOST]


def _scopes(names: list[str], typed: int) -> list[str]:
    """Each scope that goes on after the text typed, once, and the names that are in none."""
    found: dict[str, list[str]] = {}
    for name in names:
        end = name.find("/", typed)
        found.setdefault(name[:end + 1] if end >= 0 else name, []).append(name)
    if len(found) == 1:
        only = next(iter(found))
        return _scopes(names, len(only)) if only.endswith("/") else names
    return [name for scope, inside in found.items() for name in ([scope] if len(inside) > 1 else inside)]


def fuzzy(text: str, names: Iterable[str]) -> list[str]:
    """Names that have the letters of `text` in order, those with the letters closest together first."""
    wanted = text.lower()
    found: list[tuple[int, int, str]] = []
    for name in names:
        lower, at, first = name.lower(), -1, -1
        for char in wanted:
            at = lower.find(char, at + 1)
            if at < 0:
                break
            first = at if first < 0 else first
        else:
            found.append((at - first, len(name), name))
    return [name for _, _, name in nsmallest(MOST, found)] if len(wanted) > 1 else []


Count = Annotated[int, IntKind(1)]
Float = Annotated[float, FloatKind()]
Regex = Annotated[str, RegexKind()]
Target = Annotated[str, TargetKind()]
Y = Annotated[str, TargetKind("Y")]
X = Annotated[str, TargetKind("X")]
OpName = Annotated[str, OpKind()]
Place = Annotated[str, PlaceKind()]
Expression = Annotated[str, ExpressionKind()]
Assigned = Annotated[str, AssignedKind()]
Predicate = Annotated[str, PredicateKind()]
Condition = Annotated[str, ConditionKind()]
Slice = Annotated[slice, SliceKind()]
Range = Annotated[tuple[float, float], RangeKind()]
FileName = Annotated[str, FileKind()]
CommandName = Annotated[str, CommandKind()]
Raw = Annotated[str, RawKind()]
Word = Annotated[str, Kind()]
StopPlace = Annotated[str, StopPlaceKind()]
StopNumber = Annotated[int, StopNumberKind(1, "NUMBER")]
AnyStop = Annotated[str, StopKind()]
Setting = Annotated[str, SettingKind()]
SettingValue = Annotated[str, SettingValueKind()]
