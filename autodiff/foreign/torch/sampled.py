"""Draws of a distribution that let no gradient through, where the loss has its mean on another way, as in a KL term."""
from __future__ import annotations

from collections.abc import Sequence

from ...debug.analysis.findings import Finding
from .graph import name_of
from .record import Call, Entry, place_of_frames, tensors_in

CUT = "sample cut"


def sampled(entries: Sequence[Entry], used: Sequence[Entry]) -> list[Finding]:
    """What is drawn by sample() where rsample() is meant. entries: all since the last step; used: those of the loss.

    A draw that meets its own mean again is weighed by its log_prob, as an action is.
    """
    ids = [{id(t) for t in tensors_in((each.args, each.kwargs))} for each in used]
    for draw in used:
        if draw.drawn is None or isinstance(draw.op, Call) or name_of(draw.op)[0] != "normal" or draw.has_grad:
            continue
        given = {id(t) for t in tensors_in((draw.args, draw.kwargs))}
        before = [each for each in entries if not each.has_grad and given & {id(t) for t in tensors_in(each.result)}]
        own = {id(t) for each in (draw, *before) for t in tensors_in((each.args, each.kwargs)) if t.requires_grad}
        made = {id(t) for t in tensors_in(draw.result)}
        takers = [each for each, taken in zip(used, ids) if taken & made and each is not draw]
        beside = [each for each, taken in zip(used, ids) if taken & own and each.has_grad]
        if takers and beside and all(each.has_grad for each in takers) and not any(
                taken & own and taken & made for taken in ids):
            return [Finding(64, CUT, "", "", "", "what sample() draws carries no gradient: the mean and deviation that "
                            "it is drawn by learn by the other parts of the loss alone, and not by what is made of the "
                            "draw", "draw by rsample(), which lets the gradient through", "doctor",
                            place_of_frames(draw.frames))]
    return []
