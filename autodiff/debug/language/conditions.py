"""Conditions of stops: `nan or norm(.) > 1e3 and max(grad(W)) < 5`, parsed without eval."""
from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...core.errors import ArgumentError
from ...core.names import did_you_mean
from ..facts.records import Stats

WORDS = ("nan", "inf", "nonfinite", "harmful", "none", "zero", "changed")  # those that hold or do not
MEASURES = ("norm", "max", "min", "mean", "absmax", "ratio", "nans", "infs", "zeros")  # those that are compared
SYNONYMS = {"has_inf_or_nan": "nonfinite"}  # TensorFlow's name of its filter
_ALARMS = frozenset({"nan", "inf", "nonfinite", "harmful"})
_COUNTERS = ("step", "loss")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, "<": operator.lt,
    "=": operator.eq}
_MADE_OF = (f"conditions are made of: {', '.join(WORDS)}, norm(.) > 1e3, max(W) > 10, ratio(.) > 0.1, nan(grad(W)), "
            "step >= 10, loss > 5, and, or, not, ( )")
_TOKEN = re.compile(r"\s*(?:(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<word>[A-Za-z_]+)"
                    r"|(?P<mark>>=|<=|==|!=|[><=()·.]))")
_GRADIENT = re.compile(r"grad\s*\((?P<target>.*)\)\Z|g(?P<short>\d+(?::\d+)?)\Z", re.DOTALL)


class Other(NamedTuple):
    """What a condition asks of a tensor that it names. word: the question; is_gradient: of the gradient at the tensor.
    """

    word: str
    name: str
    is_gradient: bool

    def asks(self, word: str) -> bool:
        """Whether it is this question."""
        return self.word == word

    @property
    def target(self) -> str:
        """`W:0`, `grad(W:0)`."""
        return f"grad({self.name})" if self.is_gradient else self.name

    @property
    def words(self) -> str:
        """`norm(W:0)`, `max(grad(W:0))`."""
        return f"{self.word}({self.target})"


@dataclass(frozen=True, slots=True)
class Seen:
    """What a condition is asked about: one tensor's value or gradient in one run.

    stats: None where there is no gradient. previous: of the run before. ratio: norm of a variable's update over the
    variable's norm. loss: None where unknown. harmful: asked only if something is non-finite. is_result: whether it is
    a run's loss or a gradient of it, asked of the whole run: inf in these is nan in the parameters a step later, so
    `nan` holds of it too.
    """

    stats: Stats | None
    step: int
    loss: float | None = None
    previous: Stats | None = None
    ratio: float | None = None
    harmful: Callable[[], bool] = lambda: True
    elsewhere: Callable[[Other], Iterable[Seen]] = lambda other: ()
    is_result: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """A parsed condition. words: those asked of the tensor it is about, or of the run. others: of tensors it names.

    is_alarm: whether it can hold only where that tensor is not finite. is_global: whether it is about the step and the
    loss only, not about a tensor.
    """

    text: str
    words: frozenset[str]
    others: tuple[Other, ...]
    is_alarm: bool
    _holds: Callable[[Seen], bool]

    @property
    def is_global(self) -> bool:
        return not self.others and not self.asks_target

    @property
    def asks_target(self) -> bool:
        """Whether it asks anything of the tensor it is about."""
        return not self.words.issubset(_COUNTERS)

    @property
    def seeks_harm(self) -> bool:
        """Whether all that it asks is whether the tensor is harmful."""
        return self.words == {"harmful"} and not self.others

    def asks(self, word: str) -> bool:
        """Whether it asks this of any tensor."""
        return word in self.words or any(other.asks(word) for other in self.others)

    def holds(self, seen: Seen) -> bool:
        """Whether it holds of what was seen."""
        return self._holds(seen)


def parse_condition(text: str, name_of: Callable[[str, bool], str] = lambda target, is_gradient: target) -> Condition:
    """Raises ArgumentError, with the place, for what is no condition.

    name_of: the full name of a target as typed, and whether its gradient is meant; it may refuse.
    """
    parser = _Parser(text, name_of)
    holds, is_alarm = parser.either()
    if parser.kind:
        parser.refuse("the end, 'and' or 'or'")
    return Condition(text.strip(), frozenset(parser.used), tuple(dict.fromkeys(parser.others)), is_alarm, holds)


class _Part(NamedTuple):
    """A part of a condition. is_alarm: whether it can hold only where the tensor is not finite."""

    holds: Callable[[Seen], bool]
    is_alarm: bool


class _Parser:
    def __init__(self, text: str, name_of: Callable[[str, bool], str]) -> None:
        self.text, self.name_of = text, name_of
        self.used, self.others = set[str](), list[Other]()
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
        self.value = SYNONYMS.get(self.value, self.value)
        return value

    def refuse(self, wanted: str) -> None:
        found = repr(self.value) if self.kind else "the end"
        hint = did_you_mean(self.value, (*WORDS, *MEASURES, *_COUNTERS)) if self.kind == "word" else ""
        raise ArgumentError(expected=wanted, found=f"{found} at column {self.start + 1} of the condition {self.text!r}",
                            hint="\n".join(filter(None, (hint, _MADE_OF))))

    def either(self) -> _Part:
        return self._joined("or", lambda: self._joined("and", self.negated, all, any), any, all)

    def _joined(self, word: str, part: Callable[[], _Part], holds: Callable[..., bool],
                is_alarm: Callable[..., bool]) -> _Part:
        """Parts with a word between: what holds, and is an alarm, of the whole."""
        parts = [part()]
        while self.kind == "word" and self.value == word:
            self.advance()
            parts.append(part())
        return parts[0] if len(parts) == 1 else _Part(lambda seen: holds(each.holds(seen) for each in parts),
                                                      is_alarm(each.is_alarm for each in parts))

    def negated(self) -> _Part:
        turns = 0
        while self.kind == "word" and self.value == "not":
            self.advance()
            turns += 1
        inner = self.single()
        return _Part(lambda seen: not inner.holds(seen), False) if turns % 2 else inner

    def single(self) -> _Part:
        if self.kind == "mark" and self.value == "(":
            self.advance()
            inner = self.either()
            self.expect(")")
            return inner
        if self.kind != "word" or self.value not in (*WORDS, *MEASURES, *_COUNTERS):
            self.refuse("a condition")
        word = self.advance()
        other = self.other(word) if self.value == "(" and word not in _COUNTERS else None
        if other is None:
            self.used.add(word)
        asked = _is_true(word) if word in WORDS else self.comparison(word)
        if other is None:
            return _Part(asked, word in _ALARMS)
        return _Part(lambda seen: any(map(asked, seen.elsewhere(other))), False)

    def other(self, word: str) -> Other | None:
        """The tensor in parentheses, None for `.`, which stands for the one that the condition is about."""
        start, depth = self.end, 1
        while depth and self.end < len(self.text):
            depth += {"(": 1, ")": -1}.get(self.text[self.end], 0)
            self.end += 1
        if depth:
            self.end, self.kind = len(self.text), ""
            self.refuse(f"a ')' after {self.text[start:].strip() or '('!r}")
        target = self.text[start:self.end - 1].strip()
        self.advance()
        if target in ("", ".", "·"):
            return None
        if word == "none":
            self.refuse("'none' without a tensor, as it asks for the gradient at the one that the condition is about")
        gradient = _GRADIENT.match(target)
        if gradient is not None:
            target = (gradient["target"] or f"%{gradient['short']}").strip()
        made = Other(word, self.name_of(target.strip("`"), gradient is not None), gradient is not None)
        self.others.append(made)
        return made

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


def _is_true(word: str) -> Callable[[Seen], bool]:
    return lambda seen: _word(word, seen)


def _word(word: str, seen: Seen) -> bool:
    stats = seen.stats
    if word == "none":
        return stats is None
    if stats is None:
        return False
    if word == "nan":
        return (stats.nonfinite if seen.is_result else stats.nans) > 0
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


def reading(other: Other, seen: tuple[Seen, ...]) -> str:
    """The value of a tensor that a condition names, in words; "" where there is nothing to say."""
    if other.word in WORDS:
        return other.words if any(map(_is_true(other.word), seen)) else ""
    figures = [figure for one in seen if (figure := measure(other.word, one)) is not None]
    if not figures:
        return ""
    low, high = min(figures), max(figures)
    return f"{other.words} is {high:.4g}" if low == high else f"{other.words} is {low:.4g} to {high:.4g} in its turns"
