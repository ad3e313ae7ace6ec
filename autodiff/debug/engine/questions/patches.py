"""Patches: a remedy as a change of the user's file, shown as a diff, written when that is wanted."""
from __future__ import annotations

import difflib
import io
import linecache
import os
import re
import sysconfig
import tokenize
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ....core.errors import ArgumentError
from ....core.site import PACKAGE, source_lines
from ....files.disk.reading import read_bytes
from ....files.disk.replacing import replace_files
from ...analysis.edits.activations import Activation, named_at
from ...analysis.edits.clipping import ClipGradients, ClippedApplied
from ...analysis.edits.in_graph import Edit
from ...analysis.edits.in_numpy import InNumpy
from ...analysis.edits.in_source import Fed, Line, Number, Rewrite, Rows, anew, at_call, rewritten
from ...analysis.edits.of_givens import fed_at
from ...analysis.edits.of_keras.schedules import SetRate
from ...facts.records import Place
from ...facts.roles import PLACEHOLDERS, as_place, place_of
from ...history.replay import Moment

_MOST = 1 << 24  # bytes of a script
_UNSURE = (ArgumentError, OSError, ValueError, SyntaxError, LookupError)
_LONGEST = 140  # letters of an expression that is shown beside its remedy
_LIBRARIES = tuple(os.path.join(os.path.realpath(path), "") for path in {
    *(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")), PACKAGE})


@dataclass(frozen=True)
class Patch:
    """A change of one file. diff: unified. old, new: the file's bytes. why: instead of a change, why there is none."""

    file: str
    diff: str
    old: bytes
    new: bytes
    why: str = ""


def patch_of(edits: Sequence[Edit], script: str) -> Patch:
    """What the edits of a graph are in the user's file. script: its file, "" for a program without one.

    Never fails: says why if the line is not the user's own, or the expression is not surely found in it.
    """
    sites = [edit.op.site for edit in edits if edit.op is not None and edit.op.site is not None]
    clips = [edit.line for edit in edits if isinstance(edit.line, (ClipGradients, ClippedApplied))]
    made = [op.site.file for line in clips for op in line.updates if op.site is not None]
    file = sites[0].file if sites else next(iter(made), script) if clips else ""
    where = f"{os.path.basename(file)}:{sites[0].line}" if sites else os.path.basename(file) or "no line"
    why = "" if file else "no line of a file made what is to change"
    if not why and len({site.file for site in sites}) > 1:
        why = "it changes several files"
    if not why and any(edit.op is not None and edit.op.span is None and not isinstance(edit.line, (
            Fed, SetRate)) and getattr(edit.line, "op", edit.op) is edit.op
                       for edit in edits):
        why = f"{where} does not say which of its expressions this is"
    if not why and not _is_own(file, script):
        why = f"{where} is not in a file of yours: a library's lines are never written"
    if not why and any(edit.line is None for edit in edits):
        why = f"the remedy is more than one expression of {where}"
    try:
        if not why:
            return _patch(file, [edit.line for edit in edits if edit.line is not None])
    except _UNSURE as error:
        if (called := _at_call(edits, script)) is not None:
            return called[0]
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error).splitlines()[0]
        why = f"{where} cannot be edited surely: {said}"
    return Patch(file, "", b"", b"", why)


def called_at(edits: Sequence[Edit], script: str) -> tuple[Place, str] | None:
    """The line that calls the function that returns what an edit changes, and that call as it would be; else None."""
    found = _at_call(edits, script) if not expression_of(edits) else None
    return found[1:] if found is not None else None


def _at_call(edits: Sequence[Edit], script: str) -> tuple[Patch, Place, str] | None:
    line = at_call([edit.line for edit in edits if edit.line is not None])
    if line is None or len(edits) > 1 or not _is_own(line.file, script):
        return None
    site = line.op.traceback[line.number]
    try:
        text, _ = anew("".join(source_lines(line.file)), line)
        return _patch(line.file, [line]), as_place(site), " ".join(text.split())
    except _UNSURE:
        return None


def patch_of_lines(lines: Mapping[tuple[str, int], str], script: str) -> Patch:
    """What new lines are in the user's file, by file and number."""
    (file, _), *others = lines
    if not _is_own(file, script) or any(each != file for each, _ in others):
        return Patch(file, "", b"", b"", f"{os.path.basename(file)} is not a file of yours")
    old, now = read_bytes(file, _MOST), [*source_lines(file)]
    for (_, number), text in lines.items():
        now[number - 1] = f"{text}\n" if text else ""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(old).readline)
    text = "".join(now).replace("\n", "\r\n" if b"\r\n" in old else "\n")
    return _between(file, old, text.encode(encoding), encoding)


def expression_of(edits: Sequence[Edit], *, by_hand: bool = False) -> str:
    """The script's expression as the first of the edits makes it, in one line; "" where it is not surely found.

    by_hand: as of `anew`.
    """
    line, op = edits[0].line, edits[0].op
    if not isinstance(line, (Rewrite, Number)) or op is None or op.site is None or op.span is None:
        return ""
    try:
        file = "\n".join(map(str.rstrip, source_lines(op.site.file)))
        text, names = (" ".join(each.split()) for each in anew(file, line, by_hand=by_hand))
    except _UNSURE:
        return ""
    full = f"{text} with {names}" if text and names else text
    return next((each for each in (full, text) if len(each) <= _LONGEST * (1 + by_hand)), "")


def write(patch: Patch) -> str:
    """Put the new text in its place in one step, the old one beside it; gives that one's name. Raises OSError."""
    real = os.path.realpath(patch.file)
    backup = next(name for name in (f"{real}~{number or ''}" for number in range(1 << 16)) if not os.path.lexists(name))
    if read_bytes(real, _MOST) != patch.old:
        raise OSError(0, "the file has changed since", patch.file)
    mode = os.stat(real).st_mode & 0o7777
    replace_files({backup: lambda file: file.write(patch.old), real: lambda file: file.write(patch.new)})
    os.chmod(backup, mode)
    return backup


def _patch(file: str, lines: Sequence[Line]) -> Patch:
    old = read_bytes(file, _MOST)
    encoding, _ = tokenize.detect_encoding(io.BytesIO(old).readline)
    _, time, lines_now, _ = linecache.cache.get(file, (0, 0.0, (), ""))  # type: ignore[misc]
    text = old.decode(encoding)
    changed = rewritten("".join(lines_now) if time is None else text, lines)  # None: as fixed before
    return _between(file, old, changed.encode(encoding), encoding)


def _between(file: str, old: bytes, new: bytes, encoding: str = "utf-8") -> Patch:
    text, changed = old.decode(encoding), new.decode(encoding)
    name = os.path.relpath(file) if os.path.realpath(file).startswith(os.path.realpath(os.getcwd()) + os.sep) else file
    before, after = ([line for line in re.split("(?<=\n)|(?<=\r)(?!\n)", each) if line] for each in (text, changed))
    diff = "".join(re.sub("\r\n?|\n", "", line) + "\n" for line in difflib.unified_diff(before, after, name, name))
    return Patch(file, diff, old, new)


def _is_own(file: str, script: str) -> bool:
    """Whether a file is the user's own: below the folder of the script or the present one, and no library's."""
    real = os.path.realpath(file)
    folders = {os.path.realpath(folder) for folder in (os.path.dirname(os.path.abspath(script or "-")), os.curdir)}
    parts = real.split(os.sep)
    return (real.endswith(".py") and not real.startswith(_LIBRARIES)
            and not {"site-packages", "dist-packages"} & set(parts)
            and any(real.startswith(os.path.join(folder, "")) for folder in folders))


def site_of(edit: Edit, failed: Moment) -> tuple[Place | None, str] | None:
    """The line to change, and what stands there, where that is not where the op was made."""
    if isinstance(edit.line, (InNumpy, Rows, SetRate)):
        return edit.line.place if not isinstance(edit.line, Rows) else place_of(edit.line.op), ""
    if isinstance(edit.line, Rewrite) and edit.op is not None and edit.line.op.graph is not edit.op.graph:
        return place_of(edit.line.op), ""  # of a dataset's map function
    if isinstance(edit.line, Activation) and (named := named_at(edit.line.op)) is not None:
        return named, ""
    is_fed = edit.op is not None and edit.op.type in PLACEHOLDERS
    return fed_at(edit.op, failed.feeds.get(edit.op.outputs[0])) if edit.op is not None and is_fed else None
