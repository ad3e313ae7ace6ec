"""Where in the user's script an operation was made."""
from __future__ import annotations

import contextlib
import functools
import linecache
import os
import stat
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from types import CodeType, FrameType
from typing import Any, NamedTuple

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_PROMPT = os.path.join(os.path.dirname(os.path.dirname(PACKAGE)), "cli", "")  # what types for the user
_DOOR = os.path.join(_PROMPT, "wrap.py")  # but this, which the user's program calls
_LARGEST = 1 << 24  # bytes of a source file
DEPTH = 8  # user frames kept for each operation

RawFrames = tuple[tuple[CodeType, int], ...]


def source_lines(file: str) -> list[str]:
    """The lines of a source file; none if it cannot be read, or is too large to be one, as a device is."""
    if file not in linecache.cache:
        try:
            found = os.stat(file)
            if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
                return []
        except OSError:
            pass  # it may stand where modules are looked for
        except ValueError:
            return []  # a name with \0
    return linecache.getlines(file)


class Site(NamedTuple):
    """One line of the user's script. line counts from 1; function is `<module>` at top level."""

    file: str
    line: int
    function: str

    @property
    def text(self) -> str:
        """The source line, stripped; empty when the file cannot be read."""
        lines = source_lines(self.file)
        return lines[self.line - 1].strip() if 1 <= self.line <= len(lines) else ""

    def __str__(self) -> str:
        place = "" if self.function == "<module>" else f" in {self.function}"
        return f"{os.path.basename(self.file)}:{self.line}{place}"


class Known(NamedTuple):
    """The user's frames outside of a frame of this package: shared by all operations made from there.

    frame: None if there are no others. inner: what is known where that is so.
    """

    frame: FrameType | None
    frames: RawFrames
    inner: "Known | None" = None


def here() -> Known:
    """The frame that calls this, and the user's frames outside of it."""
    frames = capture()
    return Known(sys._getframe(1), frames, Known(None, frames))


def capture(known: Known | None = None, depth: int = 1) -> RawFrames:
    """The user's frames, innermost first, up to the script's top level.

    known: those outside of one frame. depth: how many frames up are the library's. What a command of the prompt makes
    has no line of the user's: it is said to be of `<prompt>`. Frames are kept as (code, instruction): looking up a line
    number costs more than all the rest, and most operations are never asked for theirs.
    """
    if known is not None and known.frame is None:
        return known.frames
    frame: FrameType | None = sys._getframe(depth)
    kept: list[tuple[CodeType, int]] = []
    outside: list[tuple[CodeType, int]] = []
    while frame is not None:
        code = frame.f_code
        kind = _KINDS.get(id(code)) or _kind(code)
        if kept:
            outside.append((code, frame.f_lasti))
        elif kind == _USERS and known is None:
            before, rest, found = _BEFORE[0]
            outer = frame.f_back
            for each, lasti in before:
                if outer is None or outer.f_code is not each or outer.f_lasti != lasti:
                    break
                outer = outer.f_back
            else:
                place = code, frame.f_lasti
                return found.get((id(code), place[1])) or found.setdefault((id(code), place[1]), (place, *rest))
        if kind >= _USERS:  # perhaps a body that the user wrote, and that is called from in here
            kept.append((code, frame.f_lasti))
            if kind == _USERS + _TOP or len(kept) == DEPTH:
                break
        elif kept:
            if kind != _OURS:
                break
        elif kind == _OF_PROMPT:
            return _AT_PROMPT
        elif known is not None and frame is known.frame:
            return known.frames
        frame = frame.f_back
    frames = _shared(kept)
    if frame is not None and outside and known is None:
        _BEFORE[0] = outside, frames[1:], {}
    return frames


# Of the function that made operations last: the frames outside of it; those that are kept; all of its own, by place
_BEFORE: list[Any] = [([(None, 0)], (), {})]
_SHARED: dict[tuple[int, ...], RawFrames] = {}  # operations made in one place, as in a loop, share their frames
_MOST = 1 << 14  # places; each keeps its code alive, so that no other code gets its id


def _shared(kept: list[tuple[CodeType, int]]) -> RawFrames:
    if len(_SHARED) >= _MOST:
        _SHARED.clear()
    return _SHARED.setdefault(tuple([number for code, lasti in kept for number in (id(code), lasti)]), tuple(kept))


_OURS, _TOP, _OF_PROMPT, _USERS = 1, 1, 3, 4  # _TOP is added for the code of a module


class _Whose(dict[str, int]):
    """File -> whether its code is the user's, the library's or the prompt's."""

    def __missing__(self, file: str) -> int:
        if len(self) >= _MOST:
            self.clear()
        return self.setdefault(file, _OURS if file.startswith(PACKAGE) or file == _DOOR else
                               _OF_PROMPT if file.startswith(_PROMPT) else _USERS)


_WHOSE = _Whose()
_KINDS: dict[int, int] = {}  # by id of code, as its hash is that of all its constants
_KINDS_OF: list[CodeType] = []  # that code: it is kept, so that its id stays its own


def _kind(code: CodeType) -> int:
    """Whose a code is, and whether it is a module's; kept for the first that are asked about."""
    owner = _WHOSE[code.co_filename]
    kind = owner + _TOP * (code.co_name == "<module>" and owner != _OF_PROMPT)
    if len(_KINDS_OF) < _MOST:
        _KINDS_OF.append(code)
        _KINDS[id(code)] = kind
    return kind


@contextlib.contextmanager
def made_at(graph: Any, frames: RawFrames) -> Iterator[None]:
    """Ops that are made inside, from the function that enters, are of these frames of the user's, if there are any."""
    saved = graph.made_from
    if frames:
        graph.made_from = Known(sys._getframe(2), frames)
    try:
        yield
    finally:
        graph.made_from = saved


def inside(known: Known | None, function: Any) -> Known | None:
    """What is known inside of a function: if it is the library's, no frame of the user's comes in between."""
    code = getattr(function, "__code__", None)
    if known is None or known.frame is None or code is None or _WHOSE[code.co_filename] != _OURS:
        return known
    return known.inner or Known(None, known.frames)


def frames_of(sites: Iterable[Site]) -> RawFrames:
    """The frames of lines that ran elsewhere: in a file, or in a framework, whose sites may have one, `raw`."""
    return tuple([getattr(place, "raw", None) or (_code_at(place), 0) for place in sites])


_NOTHING = (lambda: None).__code__


@functools.lru_cache(1 << 14)
def _code_at(place: Site) -> CodeType:
    return _NOTHING.replace(co_filename=place.file, co_firstlineno=place.line, co_name=place.function)


_AT_PROMPT = frames_of([Site("<prompt>", 1, "<module>")])


def resolve(frames: RawFrames) -> tuple[Site, ...]:
    """The Sites of captured frames, innermost first."""
    return tuple([_SITES.get((id(code), lasti)) or _site(code, lasti) for code, lasti in frames])


class TraceableObject(NamedTuple):
    """Something the user gave, and the line that gave it."""

    obj: Any
    filename: str | None = None
    lineno: int | None = None


class Span(NamedTuple):
    """Where an expression stands in a file. Lines count from 1, columns are bytes of UTF-8 from 0, as in `ast`."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


def span(frames: RawFrames) -> Span | None:
    """The expression of the innermost of captured frames; None if nobody knows, as of what ran elsewhere."""
    if not frames or frames[0][1] <= 0:  # lines that were read from a file are of no instruction
        return None
    code, lasti = frames[0]
    line, end_line, column, end_column = next(iter(_positions(code)[lasti // 2:lasti // 2 + 1]), (None,) * 4)
    if line is None or column is None or end_line is None or end_column is None:
        return None
    return Span(code.co_filename, line, column, end_line, end_column)


@functools.lru_cache(64)
def _positions(code: CodeType) -> tuple[tuple[int | None, ...], ...]:
    """Of each instruction where it stands: a script's are asked for again and again."""
    return tuple(code.co_positions())


_SITES: dict[tuple[int, int], Site] = {}  # `_KNOWN` keeps the code objects, so that their ids stay their own


def _site(code: CodeType, lasti: int) -> Site:
    line = _line(code, lasti)
    return _SITES.setdefault((id(code), lasti), Site(code.co_filename, line, code.co_name))


class _Lines(NamedTuple):
    """Where the lines of a code object begin. code: kept, so that its id stays its own."""

    code: CodeType
    starts: list[int]
    lines: list[int]


_KNOWN: dict[int, _Lines] = {}  # by id: the hash of a code object is that of all its constants


def _line(code: CodeType, lasti: int) -> int:
    known = _KNOWN.get(id(code))
    if known is None:
        table = [(start, line or code.co_firstlineno) for start, _, line in code.co_lines()]
        known = _KNOWN[id(code)] = _Lines(code, [start for start, _ in table], [line for _, line in table])
    return known.lines[bisect_right(known.starts, lasti) - 1] if known.lines else code.co_firstlineno
