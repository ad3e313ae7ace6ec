"""Terms of a loss that are numbers, as .item() gives them: they carry no gradient."""
from __future__ import annotations

from collections.abc import Sequence

from ....debug.analysis.findings import Finding
from ....debug.facts.roles import at_line
from ..graph import packet_of
from ..record import Entry, place_of_frames

_ADDED = ("add", "sub", "rsub", "add_", "sub_")


def numbers_added(entries: Sequence[Entry], used: Sequence[Entry]) -> list[Finding]:
    """The first number of what is trained that a loss has as a term. entries: of a step; used: those of its loss."""
    read = [e for e in entries if isinstance(e.result, float) and any(t.requires_grad for t in e.given)]
    for entry in used if read else ():
        if packet_of(entry) not in _ADDED or any(t.dim() for t in entry.made):
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
