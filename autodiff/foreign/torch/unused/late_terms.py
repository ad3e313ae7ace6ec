"""Terms of a loss that train nothing: added when it is differentiated already, or numbers, as .item() gives them."""
from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from ....debug.analysis.findings import Finding
from ....debug.facts.roles import at_line
from ..graph import packet_of, sliced
from ..record import Entry, RawFrames, Recorder, is_source, place_of_frames

_ADDED = ("add", "sub", "add_", "sub_")
_SUMS = (*_ADDED, "rsub")


class LateTerms:
    """Sums of a loss and of what is trained, made after backward() and before the next."""

    def __init__(self) -> None:
        self._loss: weakref.ref[Any] | None = None
        self._at = RawFrames()
        self._used: set[int] = set()  # the identities of what the last loss is made of, which the recorder keeps
        self._found: list[tuple[RawFrames, RawFrames, float, float]] = []

    def note(self, loss: Any, recorder: Recorder, used: Sequence[Entry], frames: RawFrames) -> None:
        """A backward(), at `frames`. recorder: has what came before it; used: what its loss is made of."""
        last = self._loss() if self._loss is not None else None
        mine = set(map(id, used))
        for entry in recorder.entries:
            if last is None or not any(t is last for t in entry.given) or id(entry) in mine or not entry.has_grad or (
                    packet_of(entry) not in _ADDED):
                continue
            for term in (t for t in entry.given if t is not last and t.requires_grad and not t.dim()):
                made = [e for e in sliced([*recorder.older, *recorder.entries], [term]) if e.has_grad and not any(
                    id(t) in self._used for t in e.made)]
                if any(is_source(t) for e in made for t in e.given):
                    self._found.append((entry.frames, self._at, float(term.detach()), float(last.detach())))
        self._loss, self._at = weakref.ref(loss), frames
        self._used = {id(t) for e in used if e.has_grad for t in e.made}

    def findings(self) -> list[Finding]:
        """The last one, if there were more."""
        return [Finding(86, "added after backward", "", "", "", f"a term, {term:.3g} in the last step, is added to the "
                        f"loss, {loss:.3g}, only after its backward(){at_line(place_of_frames(at))}, in "
                        f"{len(self._found)} steps: it is in what is told, and trains nothing",
                        "add it before the backward()", "doctor", place_of_frames(frames))
                for frames, at, term, loss in self._found[-1:] if len(self._found) > 1]


def numbers_added(entries: Sequence[Entry], used: Sequence[Entry]) -> list[Finding]:
    """The first number of what is trained that a loss has as a term. entries: of a step; used: those of its loss."""
    read = [e for e in entries if isinstance(e.result, float) and any(t.requires_grad for t in e.given)]
    for entry in used if read else ():
        if packet_of(entry) not in _SUMS or any(t.dim() for t in entry.made):
            continue
        numbers = [n for n in entry.args if isinstance(n, float)] + [
            float(t) for t in entry.given if not t.requires_grad and not t.dim()]
        for each in read:
            place = place_of_frames(each.frames)
            is_there = place == place_of_frames(entry.frames)
            terms = [n for n in numbers if is_there or abs(n) == abs(each.result)]
            if any(terms):
                return [Finding(66, "term cut off", "", "", "", f"a part of the loss, {terms[0]:.3g} of "
                                f"{float(used[-1].made[0]):.3g}, is a number{at_line(place)}, as .item() gives it, "
                                "which carries no gradient: that part trains nothing", "add the tensor itself, without "
                                ".item()", "doctor", place, confidence="certain")]
    return []
