"""Kinds of argument: each knows how it is written, what it means and how it completes itself.

Here is what they have in common, and those that need nothing of the model: numbers, choices, files.
"""
from __future__ import annotations

import glob
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from autodiff.core.names import did_you_mean

from ..model.shell import Shell
from ..model.usage_error import UsageError
from .name_search import MOST


class Kind:
    """A kind of argument: itself one word, or several in quotes. metavar: its name in a synopsis.

    introducer: the word that must stand before it (`if`, `=`), or "". rest: takes all words that are left, as
    one text. expression: `>` and `|` may be part of it. keeps_marks: they always are. role: how it is highlighted.
    """

    metavar = "TEXT"
    introducer = ""
    rest = False
    expression = False
    keeps_marks = False
    role = ""

    def __init__(self, metavar: str = "") -> None:
        self.metavar = metavar or self.metavar

    def parse(self, text: str, shell: Shell) -> Any:
        """What `text` stands for. Raises UsageError with expected and found."""
        return text

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        """Words that `text` could become."""
        return ()


class IntKind(Kind):
    """A whole number, at least `least`."""

    role = "number"

    def __init__(self, least: int = 0, metavar: str = "N") -> None:
        super().__init__(metavar)
        self.least = least

    def parse(self, text: str, shell: Shell) -> int:
        try:
            value = int(text)
        except ValueError:
            raise UsageError(expected=f"a whole number for {self.metavar}", found=repr(text),
                             code="bad_value") from None
        if value < self.least:
            raise UsageError(expected=f"{self.metavar} of at least {self.least}", found=str(value), code="bad_value")
        return value


class FloatKind(Kind):
    """A number."""

    metavar = "X"
    role = "number"

    def parse(self, text: str, shell: Shell) -> float:
        try:
            return float(text)
        except ValueError:
            raise UsageError(expected=f"a number for {self.metavar}", found=repr(text), code="bad_value") from None


class ChoiceKind(Kind):
    """One of a few words; a unique beginning is enough."""

    role = "choice"

    def __init__(self, *choices: str, synonyms: dict[str, str] | None = None) -> None:
        self.choices, self.synonyms = choices, synonyms or {}
        self.metavar = "|".join(choices)

    def parse(self, text: str, shell: Shell) -> str:
        text = self.synonyms.get(text, text)
        if text in self.choices:
            return text
        near = [choice for choice in self.choices if choice.startswith(text.lower())]  # TensorFlow's are in capitals
        near = [text.lower()] if text.lower() in near else near
        if len(near) == 1:
            return near[0]
        raise UsageError(expected=f"one of {', '.join(self.choices)}", found=repr(text),
                         hint=did_you_mean(text, self.choices), code="bad_value")

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        return [choice for choice in self.choices if choice.startswith(text)]


class WorkersKind(Kind):
    """Where something is computed; what it means is up to Debugger.workers."""

    metavar = "threads:N|processes:N|dask://HOST:PORT"
    role = "choice"

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        return [form for form in ("threads:", "processes:", "dask://") if form.startswith(text)]


class RegexKind(Kind):
    """A regular expression, with or without slashes."""

    metavar = "REGEX"

    def parse(self, text: str, shell: Shell) -> str:
        bare = text[1:-1] if len(text) > 1 and text[0] == text[-1] == "/" else text
        check_regex(bare)
        return bare


class SliceKind(Kind):
    """Rows `A:B` of a matrix; either end may be left out."""

    metavar = "A:B"

    def parse(self, text: str, shell: Shell) -> slice:
        match = re.fullmatch(r"(-?\d*):(-?\d*)|(\d+)", text)
        if not match or text in ("-:", ":-", "-:-"):
            raise UsageError(expected="rows as A:B", found=repr(text), hint="for instance 0:8", code="bad_slice")
        if match[3]:
            return slice(int(match[3]), int(match[3]) + 1)
        return slice(*(int(end) if end else None for end in match.group(1, 2)))


class RangesKind(Kind):
    """`LO,HI`, or several of them as `[[LO,HI],[LO,HI]]`; inf and -inf are allowed."""

    metavar = "LO,HI"

    def parse(self, text: str, shell: Shell) -> tuple[tuple[float, float], ...]:
        try:
            ends = [float(end) for end in re.split(r"[\[\](),\s]+", text) if end]
            if not ends or len(ends) % 2:
                raise ValueError
        except ValueError:
            raise UsageError(expected="a range as LO,HI", found=repr(text), hint="for instance -1,1",
                             code="bad_value") from None
        return tuple(zip(ends[::2], ends[1::2]))


class FormatKind(Kind):
    """`/FMT` right behind the verb: /s statistics, /a all elements, /f NumPy digits, /h heatmap, /d distribution."""

    introducer = "/"

    def __init__(self, letters: str, metavar: str = "/FMT") -> None:
        self.letters, self.metavar = letters, metavar

    def parse(self, text: str, shell: Shell) -> str:
        if set(text) - set(self.letters):
            raise UsageError(expected=f"a format of the letters {', '.join(self.letters)}", found=f"/{text}",
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
    """The name of a command, of one or two words."""

    rest = True
    metavar = "COMMAND"

    def complete(self, text: str, shell: Shell) -> Iterable[str]:
        return [name for name in shell.verbs() if name.startswith(text)]


class RawKind(Kind):
    """Everything up to the end of the line, untouched."""

    rest = True
    keeps_marks = True


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """A regular expression that somebody typed; what Python may read otherwise one day is no matter at a prompt."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return re.compile(text, flags)


def check_regex(text: str) -> None:
    """Raises UsageError, with the place of the mistake, unless `text` is a regular expression."""
    try:
        pattern(text)
    except re.error as error:
        place = f" at column {error.pos + 1}" if error.pos is not None else ""
        raise UsageError(f"not a regular expression: /{text}/: {error.msg}{place}",
                         f"to match the text itself: /{re.escape(text)}/", code="bad_regex") from None


Count = Annotated[int, IntKind(1)]
Float = Annotated[float, FloatKind()]
Regex = Annotated[str, RegexKind()]
Workers = Annotated[str, WorkersKind()]
Slice = Annotated[slice, SliceKind()]
FileName = Annotated[str, FileKind()]
CommandName = Annotated[str, CommandKind()]
Word = Annotated[str, Kind()]
