"""Recordings: record."""
from __future__ import annotations

from typing import Annotated

from autodiff.debug.debugger import Debugger

from ..language.argument_kinds import FileKind, Slice, Word
from ..language.command import command
from ..model.results import Result, Text
from ..model.usage_error import UsageError
from ..view.drawn.progress import counted

Folder = Annotated[str, FileKind()]


@command("record", group="Script")
def record(dbg: Debugger, file: Folder, word: Word | None, steps: Slice | None, *, overwrite: bool = False) -> Result:
    """Write every run from now on into a folder FILE; `record off` ends it.

    `record FILE steps A:B` writes the steps A to B-1 that are kept, and the runs between them, at once. load FILE looks
    at a recording, without the script: any tensor, why, grads, path, back, diff; so does `gradbg FILE`. overwrite:
    replace the recording that is there; a folder of anything else is never touched. Where a run cannot be written,
    recording stops and says so.

    Example:  record training.rec steps 1:20
    API:      dbg.record("training.rec"), dbg.run(), dbg.recordings.stop(), dbg.open_recording("training.rec")
    """
    if file == "off":
        done = dbg.recordings.stop()
        return Text(f"{done.runs} runs are in {done.path}")
    if word is not None and (word != "steps" or steps is None):
        raise UsageError(f"expected `record FILE steps A:B`, found {word!r}", f"record {file} steps 1:20")
    wanted = 0
    with counted("runs") as report:
        def told(at: int, total: int) -> None:
            nonlocal wanted
            wanted = total
            report(at, total)
        done = dbg.record(file, steps, overwrite=overwrite, report=told)
    was = f"replaced: {done.replaced}\n" if done.replaced else ""
    return Text(was + (f"every run from now on goes into {done.path}; record off ends it" if done.goes_on
                       else f"{done.runs} runs are in {done.path}")
                + (f"\nstopped by Ctrl-C: {wanted - done.runs} more are not" if wanted > done.runs else ""))
