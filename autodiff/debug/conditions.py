"""Conditions of stops: `nan or norm(.) > 1e3 and step >= 10`, parsed without eval."""
from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import ArgumentError
from ..names import did_you_mean
from .records import Stats

_WORDS = ("nan", "inf", "nonfinite", "harmful", "none", "zero", "changed")
_MEASURES = ("norm", "max", "min", "mean", "absmax", "ratio", "nans", "infs", "zeros")
_COUNTERS = ("step", "loss")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, "<": operator.lt,
    "=": operator.eq}
_TOKEN = re.compile(r"\s*(?:(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<word>[A-Za-z_]+)"
                    r"|(?P<mark>>=|<=|==|!=|[><=()·.]))")


@dataclass(frozen=True, slots=True)
class Seen:
    """What a condition is asked about: one tensor's value or gradient in one run.

    stats: None where there is no gradient. previous: of the run before. ratio: norm of a variable's update over the
    variable's norm. loss: None where unknown. harmful: asked only if something is non-finite.
    """

    stats: Stats | None
    step: int
    loss: float | None = None
    previous: Stats | None = None
    ratio: float | None = None
    harmful: Callable[[], bool] = lambda: True


@dataclass(frozen=True, slots=True)
class Condition:
    """A parsed condition. words: those it uses. is_alarm: whether it can hold only of what is not finite.

    is_global: whether it is about the step and the loss only, not about a tensor.
    """

    text: str
    words: frozenset[str]
    is_alarm: bool
    is_global: bool
    _holds: Callable[[Seen], bool]

    def holds(self, seen: Seen) -> bool:
        """Whether it holds of what was seen."""
        return self._holds(seen)


def parse_condition(text: str) -> Condition:
    """Raises ArgumentError, with the place, for what is no condition."""
    parser = _Parser(text)
    holds = parser.either()
    if parser.kind:
        parser.refuse("the end, 'and' or 'or'")
    used = frozenset(parser.used)
    is_alarm = used <= {"nan", "inf", "nonfinite", "harmful"} and not re.search(r"\bnot\b", text)
    return Condition(text.strip(), used, is_alarm, used <= {"step", "loss"}, holds)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text, self.used = text, set[str]()
        self.end = 0
        self.advance()

    def advance(self) -> str:
        value = getattr(self, "value", "")
        self.start = self.end
        match = _TOKEN.match(self.text, self.end)
        if match is None:
            if self.text[self.end:].strip():
                self.kind, self.value = "mark", self.text[self.end:].strip()[0]
                self.refuse("a condition")
            self.kind = self.value = ""
            return value
        self.kind, self.value, self.end = str(match.lastgroup), match[str(match.lastgroup)], match.end()
        return value

    def refuse(self, wanted: str) -> None:
        found = repr(self.value) if self.kind else "the end"
        hint = did_you_mean(self.value, (*_WORDS, *_MEASURES, *_COUNTERS)) if self.kind == "word" else ""
        raise ArgumentError(f"expected {wanted}, found {found} at column {self.start + 1} of the condition "
                            f"{self.text!r}"
                            ).explain(hint, f"conditions are made of: {', '.join(_WORDS)}, norm(.) > 1e3, max(.) > 10, "
                                            "ratio(.) > 0.1, step >= 10, loss > 5, and, or, not, ( )")

    def either(self) -> Callable[[Seen], bool]:
        parts = [self.both()]
        while self.kind == "word" and self.value == "or":
            self.advance()
            parts.append(self.both())
        return parts[0] if len(parts) == 1 else lambda seen: any(part(seen) for part in parts)

    def both(self) -> Callable[[Seen], bool]:
        parts = [self.negated()]
        while self.kind == "word" and self.value == "and":
            self.advance()
            parts.append(self.negated())
        return parts[0] if len(parts) == 1 else lambda seen: all(part(seen) for part in parts)

    def negated(self) -> Callable[[Seen], bool]:
        turns = 0
        while self.kind == "word" and self.value == "not":
            self.advance()
            turns += 1
        inner = self.single()
        return inner if turns % 2 == 0 else lambda seen: not inner(seen)

    def single(self) -> Callable[[Seen], bool]:
        if self.kind == "mark" and self.value == "(":
            self.advance()
            inner = self.either()
            self.expect(")")
            return inner
        if self.kind != "word":
            self.refuse("a condition")
        word = self.value
        if word in _WORDS:
            self.used.add(self.advance())
            return lambda seen: _word(word, seen)
        if word not in _MEASURES and word not in _COUNTERS:
            self.refuse("a condition")
        self.used.add(self.advance())
        if word in _MEASURES and self.value == "(":
            self.advance()
            if self.value in ("·", "."):
                self.advance()
            self.expect(")")
        return self.comparison(word)

    def comparison(self, word: str) -> Callable[[Seen], bool]:
        if self.value not in _COMPARE:
            self.refuse(f"a comparison after {word!r}")
        compare = _COMPARE[self.advance()]
        if self.kind != "number":
            self.refuse("a number")
        bound = float(self.advance())

        def holds(seen: Seen) -> bool:
            value = measure(word, seen)
            return value is not None and compare(value, bound)

        return holds

    def expect(self, mark: str) -> None:
        if self.value != mark:
            self.refuse(repr(mark))
        self.advance()


def _word(word: str, seen: Seen) -> bool:
    stats = seen.stats
    if word == "none":
        return stats is None
    if stats is None:
        return False
    if word == "nan":
        return stats.nans > 0
    if word == "inf":
        return stats.infs > 0
    if word == "nonfinite":
        return stats.nonfinite > 0
    if word == "harmful":
        return stats.nonfinite > 0 and seen.harmful()
    if word == "zero":
        return stats.count > 0 and stats.zeros == stats.count
    return seen.previous is not None and _figures(stats) != _figures(seen.previous)


def _figures(stats: Stats) -> Any:
    return (stats.shape, stats.nans, stats.infs, stats.zeros, stats.minimum, stats.maximum, stats.mean, stats.norm)


def measure(word: str, seen: Seen) -> float | None:
    """A number that conditions compare, or None if there is none."""
    if word == "step":
        return seen.step
    if word == "loss":
        return seen.loss
    if word == "ratio":
        return seen.ratio
    stats = seen.stats
    if stats is None:
        return None
    return {"norm": stats.norm, "max": stats.maximum, "absmax": stats.max_abs, "min": stats.minimum, "mean": stats.mean,
            "nans": stats.nans, "infs": stats.infs, "zeros": stats.zeros}[word]
