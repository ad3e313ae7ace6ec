"""Kinds of argument that stand for something of the model: targets, expressions, predicates, stops."""
from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated

from autodiff.debug.language.conditions import MEASURES, WORDS
from autodiff.debug.language.expressions import FUNCTIONS

from ..model.shell import CHOICES, Shell
from ..model.usage_error import UsageError
from .argument_kinds import IntKind, Kind, check_regex
from .name_search import MOST, matching
from .tokens import parts


class TargetKind(Kind):
    """A tensor: name, unique suffix of one, handle of the script, short handle, `/regex/` or `$n`."""

    metavar = "TARGET"
    role = "target"

    def parse(self, text: str, shell: Shell) -> str:
        if text.startswith("/"):
            if len(text) < 3 or not text.endswith("/"):
                raise UsageError(expected=f"a closing / after {text!r}", hint=f"{text}/", code="bad_regex")
            check_regex(text[1:-1])
        elif text.endswith("]") and not shell.dbg.model.targets.exact(text):
            name = text.partition("[")[0]
            raise UsageError(f"a slice does not fit here: {text!r}", f"print {text}, or {name} alone", code="bad_slice")
        return text

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        return matching(text, shell.names())


class TargetsKind(TargetKind):
    """Several tensors with commas between them."""

    def parse(self, text: str, shell: Shell) -> tuple[str, ...]:  # type: ignore[override]
        found = (text,) if text.startswith("/") else tuple(parts(text, ","))
        return tuple(TargetKind.parse(self, part, shell) for part in found)

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        before, comma, last = text.rpartition(",")
        return [before + comma + name for name in super().complete(last, shell)]


class WatchedKind(TargetKind):
    """A tensor, or `grad(TARGET)`: the gradient of the loss at it."""

    def parse(self, text: str, shell: Shell) -> str:
        inner = re.fullmatch(r"grad\s*\((.*)\)", text)
        super().parse(inner[1].strip() if inner else text, shell)
        return text

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        if text.startswith("grad("):
            return [f"grad({name})" for name in matching(text.removeprefix("grad("), shell.names())]
        return super().complete(text, shell)


class StopPlaceKind(WatchedKind):
    """Where to stop: what can be watched, a line or function of the script, or the word `step`."""

    def parse(self, text: str, shell: Shell) -> str:
        return text

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        return [*(word for word in ("step", "if") if text and word.startswith(text)), *super().complete(text, shell)]


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
    role = "target"

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
    role = "expression"

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        word = re.split(r"[^\w/.:$]", text)[-1]
        lead = text[:len(text) - len(word)]
        if word.startswith("$"):
            return [f"{lead}${value.number}" for value in shell.dbg.values.kept()
                    if f"${value.number}".startswith(word)]
        functions = [f"{name}(" for name in FUNCTIONS if word and name.startswith(word)]
        return [lead + name for name in [*matching(word, shell.names()), *functions][:MOST]]


class ExpressionsKind(ExpressionKind):
    """Several expressions with commas between them, as one word."""

    metavar = "EXPR[,EXPR…]"
    rest = expression = False

    def parse(self, text: str, shell: Shell) -> tuple[str, ...]:
        return tuple(parts(text, ","))


class AssignedKind(ExpressionKind):
    """`= EXPR`."""

    introducer = "="


class AssertedKind(ExpressionKind):
    """An expression or a predicate whose comparisons are never redirections."""

    keeps_marks = True


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


Target = Annotated[str, TargetKind()]
Y = Annotated[str, TargetKind("Y")]
X = Annotated[str, TargetKind("X")]
Ys = Annotated[tuple[str, ...], TargetsKind("Y[,Y…]")]
Targets = Annotated[tuple[str, ...], TargetsKind("TARGET[,TARGET…]")]
Expressions = Annotated[tuple[str, ...], ExpressionsKind()]
OpName = Annotated[str, OpKind()]
Place = Annotated[str, PlaceKind()]
Expression = Annotated[str, ExpressionKind()]
Assigned = Annotated[str, AssignedKind()]
Predicate = Annotated[str, PredicateKind()]
Condition = Annotated[str, ConditionKind()]
Watched = Annotated[str, WatchedKind()]
StopPlace = Annotated[str, StopPlaceKind()]
StopNumber = Annotated[int, StopNumberKind(1, "NUMBER")]
AnyStop = Annotated[str, StopKind()]
Setting = Annotated[str, SettingKind()]
SettingValue = Annotated[str, SettingValueKind()]
Asserted = Annotated[str, AssertedKind()]
