"""What a step is given: data cut out for it, what was made before the first step's loop, as for all later steps, and
what was written to arrays that .numpy() gave, which are the tensors' own memory.

Steps that were given other data do the same, so that one graph stands for all of them.
"""
from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from ...core.site import RawFrames, resolve
from ...debug.analysis.advice import Remark
from ...debug.facts.roles import as_place
from ..script_lines import lines_of_use, loop_around
from .graph import packet_of
from .record import BYTES, Call, Choice, Entry, Recorder, is_finite, is_leaf, storage_of, tensors_in, user_frames

_LENT = 16  # arrays of .numpy() that are kept, the last ones of a step
_PIECES = 4  # writes from which on a batch is filled piece by piece, in no order that other steps would repeat
# Ops that take a part of something, where numbers say which part, or put such parts together.
_TAKES = frozenset("gather index index_select narrow select slice split split_with_sizes stack take unbind".split())


def without_batches(entries: Sequence[Entry], parameters: Collection[object]) -> list[Entry]:
    """The entries without those that cut data, or put a batch together: no parameter is in it, detached or not."""
    own, detached = {id(p) for p in parameters}, set[int]()
    for entry in entries:
        made = entry.made
        if entry.has_grad and not any(t.requires_grad for t in made) and any(
                id(t) in own or storage_of(t) in detached for t in entry.given):
            detached.update(map(storage_of, made))
    flowing = detached | {storage_of(t) for entry in entries for t in entry.made if t.requires_grad}

    def is_data(entry: Entry) -> bool:
        return not any(t.requires_grad or id(t) in own or storage_of(t) in flowing for t in entry.given)

    filled = _filled(entries, is_data)
    entries = [e for e in entries if not filled or filled.isdisjoint(map(storage_of, e.made))]
    changed = _changed(entries)
    return [entry for entry in entries if packet_of(entry) not in _TAKES
            or not is_data(entry) or not changed.isdisjoint(map(storage_of, entry.made))]


def _filled(entries: Sequence[Entry], is_data: Callable[[Entry], bool]) -> set[int]:
    """The storages that are filled piece by piece, with data alone, before anything takes them."""
    pieces, taken, begun = Counter[int](), set[int](), set[int]()  # begun: what it was at first is not to be had later
    for entry in entries:
        written, made = (set(map(storage_of, each)) for each in (entry.written, entry.made))
        given = set(map(storage_of, entry.given))
        taken.update(given - made, () if is_data(entry) else written)
        begun |= made - given - written
        pieces.update(written & begun)
        for storage in written & taken:
            pieces[storage] = 0
    return {storage for storage, count in pieces.items() if count >= _PIECES}


def in_loop(entries: Sequence[Entry], frames: RawFrames, before: dict[int, Any]) -> list[Entry]:
    """The entries of the loop that the lines `frames` are in, and what else still tells something: of values that are
    not finite where they come from, of tensors that are changed in place, and what is differentiated. With them all
    that changes the memory of what these take or give. before: what storages held, as of Recorder; of those that none
    of these writes to, it is what they hold now."""
    loops = ((depth, loop_around(site.file, site.line)) for depth, site in enumerate(resolve(frames)))
    depth, lines = next(((depth, lines) for depth, lines in loops if lines), (0, range(0)))
    if not lines:
        return list(entries)
    code, outer = frames[depth][0], frames[depth + 1:]

    def is_inside(entry: Entry) -> bool:
        place = len(entry.frames) - len(outer) - 1
        return (place >= 0 and entry.frames[place + 1:] == outer and entry.frames[place][0] is code
                and resolve(entry.frames[place:place + 1])[0].line in lines)

    changed = _changed([e for e in entries if is_inside(e) and not _is_normalization(e)])  # which uses no averages

    def tells(entry: Entry) -> bool:
        return isinstance(entry.op, (Call, Choice)) or any(
            storage_of(t) in changed or t.requires_grad and not is_leaf(t) or not is_finite([t])
            for t in entry.made)

    inside = {id(entry) for entry in entries if is_inside(entry)}
    kept = {id(entry) for entry in entries if id(entry) not in inside and tells(entry)}
    written, count = _changed(entries), -1
    while count < len(kept):
        count = len(kept)
        touched = written & {storage_of(t) for e in entries if id(e) in kept for t in (*e.given, *e.made)}
        kept |= {id(e) for e in entries if id(e) not in inside and not touched.isdisjoint(map(storage_of, e.made))}
    entries = [entry for entry in entries if id(entry) in inside | kept]
    for storage in written - _changed(entries):
        before.pop(storage, None)
    return entries


def _is_normalization(entry: Entry) -> bool:
    return "batch_norm" in packet_of(entry)


def _changed(entries: Sequence[Entry]) -> set[int]:
    """The storages that are written to in place."""
    return {storage_of(t) for entry in entries for t in entry.written}


def reaches_back(used: Sequence[Entry], entries: Sequence[Entry], loss: Any) -> bool:
    """Whether entries differentiate what was made before they began, and do not only take its numbers."""
    made = {id(t) for e in entries for t in e.made}
    through = [e for e in used if any(t.requires_grad for t in e.made)]
    return any(t.requires_grad and not is_leaf(t) and id(t) not in made
               for t in tensors_in([loss, *((e.args, e.kwargs) for e in through)]))


class _Array(NamedTuple):
    """held: its bytes, when it was given. last: the op that was recorded last then."""

    array: np.ndarray
    held: bytes
    frames: RawFrames
    tensor: Any
    last: Entry | None


class Lent:
    """What the script got by .numpy() since the last step."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.arrays = deque[_Array](maxlen=_LENT)

    def note(self, array: np.ndarray, tensor: Any, *_: Any) -> None:
        """Keep an array that a tensor gave."""
        if not self._recorder.paused and array.nbytes <= BYTES:
            last = self._recorder.entries[-1] if self._recorder.entries else None
            self.arrays.append(_Array(array, array.tobytes(), user_frames(), tensor, last))

    def _written(self) -> Iterator[_Array]:
        return (each for each in self.arrays if each.frames and each.array.tobytes() != each.held)

    def suspects(self) -> list[Remark]:
        """The writes to these arrays."""
        return [Remark("what .numpy() gives is the tensor's own memory, which is written to, unseen by autograd: write "
                       "to a .copy() of it", as_place((lines_of_use(resolve(f)) or resolve(f))[0]))
                for _, _, f, *_ in self._written()]

    def entries(self) -> list[Entry]:
        """The recorder's, and for what was written to the memory of data a copy, after the last op that did so too."""
        found = list(self._recorder.entries)
        for _, _, frames, tensor, last in self._written():
            memory = storage_of(tensor)
            if any(t.requires_grad and storage_of(t) == memory for e in found for t in (*e.given, *e.made)):
                continue
            places = [i for i, e in enumerate(found) if e is last or memory in map(storage_of, e.written)]
            copy = Entry(torch.ops.aten.copy_.default, (tensor, tensor.detach().clone()), {}, tensor, frames, True)
            found.insert(max(places, default=-1) + 1, copy)
        return found
