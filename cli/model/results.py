"""What a command returns: data without any layout, so that screen, pipe, JSON and tests read the same thing."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np

Cell = Any  # str, int, float, bool, None or a tuple of floats (drawn as a sparkline)
Shown = Literal["text", "prose", "name", "number", "count", "bad", "percent", "spark", "place"]


@dataclass(frozen=True)
class Result:
    """The common root. exit_code: what batch mode ends with if this is the worst result."""

    @property
    def exit_code(self) -> int:
        return 0


@dataclass(frozen=True)
class Text(Result):
    """Lines of prose. mood: "", "good", "warning" or "quiet" colors it; the words must do without."""

    text: str = ""
    mood: str = ""


@dataclass(frozen=True)
class Column:
    """One column. shown: how its cells are written ("bad" is a count that should be 0; "prose" is broken into lines).

    keep: columns with the lowest number are left out first where the screen is too narrow.
    """

    name: str
    shown: Shown = "text"
    keep: int = 9


class TreeBranch(NamedTuple):
    """Where a row hangs in a tree. depth: 0 for the trunk. begins: the first of its branch. joins: the branch's last,
    which leads to another row."""

    depth: int
    begins: bool = False
    joins: bool = False


@dataclass(frozen=True)
class Table(Result):
    """Rows of raw values under named columns. notes: lines below, such as what is missing and why.

    branches_drawn: of a tree, one for each row, drawn before its first cell; else empty. prose: rows are read like
    sentences, so each becomes a paragraph. sections: rows before which a new part of the table begins.
    """

    columns: tuple[Column, ...]
    rows: Sequence[tuple[Cell, ...]]
    title: str = ""
    notes: tuple[str, ...] = ()
    branches_drawn: tuple[TreeBranch, ...] = ()
    prose: bool = False
    sections: tuple[int, ...] = ()


@dataclass(frozen=True)
class Tree(Result):
    """A label with branches below it. place: the user's line, or empty."""

    label: str
    children: tuple["Tree", ...] = ()
    place: str = ""


@dataclass(frozen=True, eq=False)
class Array(Result):
    """A value. ref: its name in the value history (`$3`). marked: bool like value, elements to stand out, or None.

    form: "" for the elements, "s" statistics alone, "f" NumPy's digits, "h" heatmap, "d" distribution. whole: no
    summary, however big. window: flat index of the first element shown and how many, each line with its index.
    """

    name: str
    value: np.ndarray
    ref: str = ""
    marked: np.ndarray | None = None
    mark: str = ""
    form: str = ""
    whole: bool = False
    notes: tuple[str, ...] = ()
    window: tuple[int, int] | None = None

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Array) and (self.name, self.ref) == (other.name, other.ref)
                and self.value.dtype == other.value.dtype and self.value.shape == other.value.shape
                and self.value.tobytes() == other.value.tobytes())

    __hash__ = None  # type: ignore[assignment]


class Axis(NamedTuple):
    """A variable along a side of a Hessian: its name and shape."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))


@dataclass(frozen=True, eq=False)
class Hessian(Array):
    """Second derivatives, float[rows, n]. axes: the variables along the columns, in order.

    first: number of the first row.     asymmetry: largest |H - H'|, or None.
    """

    axes: tuple[Axis, ...] = ()
    first: int = 0
    asymmetry: float | None = None


@dataclass(frozen=True)
class Plot(Result):
    """Curves over steps. series: name, steps, values; a value is None where it is not known. log: logarithmic.

    height: lines of a curve.
    """

    series: tuple[tuple[str, tuple[int, ...], tuple[float | None, ...]], ...]
    title: str = ""
    log: bool = False
    notes: tuple[str, ...] = ()
    height: int = 6


@dataclass(frozen=True)
class Source(Result):
    """Lines of a file. first: number of lines[0]. current: the line to point at, 0 for none. gutter: line -> remark.

    cause: the line that is to blame, 0 for none. armed: lines that something stops at. is_cut: long lines end in `…`,
    as a pane has no room to break them.
    """

    file: str
    first: int
    lines: tuple[str, ...]
    current: int = 0
    gutter: dict[int, str] = field(default_factory=dict, hash=False)
    cause: int = 0
    armed: frozenset[int] = frozenset()
    is_cut: bool = False


@dataclass(frozen=True)
class Patch(Result):
    """A change of a file, as a unified diff. backup: where its old text went, "" if it was not written."""

    file: str
    diff: str
    backup: str = ""


@dataclass(frozen=True)
class Error(Result):
    """An expected failure. code: one word for programs. hint: the next thing to type. trace: only for bugs.

    fields: the parts of the message by name (what, expected, found, node, line), as far as they are known. typed, span:
    the line that was typed, and its columns where the mistake is; "" and None where it is not in the line.
    status: the exit code it stands for: 1 a command failed, 3 an expectation, 4 the model script.
    """

    message: str
    code: str = "usage"
    hint: str = ""
    status: int = 1
    trace: str = ""
    fields: dict[str, str] = field(default_factory=dict, hash=False)
    typed: str = ""
    span: tuple[int, int] | None = None

    @property
    def exit_code(self) -> int:
        return self.status


@dataclass(frozen=True)
class Stop(Result):
    """Where the program stands after a motion. hit: a stop condition was met (exit code 3 in batch).

    asks: the command that explains it, or empty.
    """

    reason: str
    data: dict[str, Any] = field(default_factory=dict, hash=False)
    lines: tuple[str, ...] = ()
    hit: bool = False
    asks: str = ""

    @property
    def exit_code(self) -> int:
        return 3 if self.hit else 0


@dataclass(frozen=True)
class Group(Result):
    """Several results, one below the other."""

    parts: tuple[Result, ...]

    @property
    def exit_code(self) -> int:
        return next((part.exit_code for part in self.parts if part.exit_code), 0)


@dataclass(frozen=True)
class Card(Group):
    """Several results that are one thing: drawn in a frame with its title."""

    title: str = ""


@dataclass(frozen=True)
class Leave(Result):
    """The user leaves."""

    text: str = ""


def located(result: Result, file: str, number: int, line: str) -> Result:
    """A result of a line of a command file; an Error says which."""
    if not isinstance(result, Error):
        return result
    return replace(result, message=f"{result.message}\nin {file}, line {number}: {line.strip()}")


def first_in(result: Result, kind: type[Result], *, from_the_end: bool = False) -> Any:
    """The first result of a kind inside of one, from its end the last; None if there is none."""
    if isinstance(result, kind):
        return result
    parts = result.parts if isinstance(result, Group) else ()
    inside = (first_in(part, kind, from_the_end=from_the_end) for part in (reversed(parts) if from_the_end else parts))
    return next((found for found in inside if found is not None), None)


def error_in(result: Result) -> Error | None:
    """The first Error inside a result, or None."""
    return first_in(result, Error)


def leaves(result: Result) -> bool:
    """Whether the terminal is left after a result."""
    return first_in(result, Leave) is not None


def question_in(result: Result) -> str:
    """The command that explains a stop inside a result; empty if there is nothing to explain."""
    if isinstance(result, Stop):
        return result.asks
    if isinstance(result, Group):
        return next((asks for asks in map(question_in, result.parts) if asks), "")
    return ""
