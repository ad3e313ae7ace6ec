"""Parameters that no module keeps, lists that hide layers, tables that are frozen unasked, optimizers that never
step."""
from __future__ import annotations

import ast
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ...core.site import Site, resolve
from ...debug.analysis.findings import Finding
from ...debug.facts.records import Place
from ...debug.facts.roles import as_place, at_line
from ..new_lines import scaled_inside
from ..script_lines import assigned_on, on_lines
from .graph import array_of
from .names import modules_in
from .record import Entry, RawFrames, place_of_frames, tensors_in

_MISSED = 10  # backwards for an optimizer, from which on a step of its own is missed


class Unkept:
    """Parameters of which the line that made them made something else."""

    def __init__(self) -> None:
        self._places: dict[int, tuple[Any, Place]] = {}

    def note(self, unnamed: Iterable[Any], entries: Sequence[Entry]) -> None:
        """Look at leaves that no module has, and at the ops that take them."""
        for p in unnamed:
            for entry in entries if isinstance(p, torch.nn.Parameter) and id(p) not in self._places else ():
                place = place_of_frames(entry.frames)
                if any(t is p for t in tensors_in(entry.args)) and place and scaled_inside(place.file, place.line):
                    self._places[id(p)] = p, place

    def findings(self) -> list[Finding]:
        """The first line of these."""
        places = [place for _, place in self._places.values()]
        return [Finding(93, "not in the optimizer", "", "", "", f"what is made of an nn.Parameter{at_line(place)} is "
                        "none itself: no module and no optimizer has it, and it is never updated", "compute its first "
                        "value inside: nn.Parameter(torch.randn(…) * scale)", "doctor", place) for place in places[:1]]


class Unstepped:
    """Optimizers that have never stepped, while others do. optimizers: that there are. made: as of fixed_tables."""

    def __init__(self, optimizers: Iterable[Any], made: Mapping[int, RawFrames]) -> None:
        self._optimizers, self._made = optimizers, made
        self._zeroed, self._stepped = weakref.WeakSet[Any](), weakref.WeakSet[Any]()  # zeroed: since the last backward
        self._missed: weakref.WeakKeyDictionary[Any, tuple[int, Any, Any, RawFrames]] = weakref.WeakKeyDictionary()
        # how many backwards were for each, a parameter, what that was at the first of them, and where the last was

    def zeroed(self, optimizer: Any) -> None:
        """Note a zero_grad()."""
        self._zeroed.add(optimizer)

    def stepped(self, optimizer: Any) -> None:
        """Note a step()."""
        self._stepped.add(optimizer)
        self._missed.pop(optimizer, None)

    def note(self, given: Mapping[int, Any], frames: RawFrames) -> None:
        """A backward. given: the parameters that it gave gradients, by identity; frames: where it was."""
        for optimizer in (each for each in self._optimizers if each not in self._stepped):
            own = {id(p) for group in optimizer.param_groups for p in group["params"]}
            if own & given.keys() and (optimizer in self._zeroed or own >= given.keys()):  # for it, and for no other
                one = given[min(own & given.keys())]
                count, p, first, _ = self._missed.get(optimizer, (0, one, array_of(one).copy(), ()))
                self._missed[optimizer] = count + 1, p, first, frames
        self._zeroed.clear()

    def findings(self) -> list[Finding]:
        """Those whose parameters are as they were."""
        found = []
        for optimizer, (count, p, first, frames) in self._missed.items():
            place, made = place_of_frames(frames), place_of_frames(self._made.get(id(optimizer), ()))
            if count > _MISSED and self._stepped and place and np.array_equal(array_of(p), first):
                names = assigned_on(made.file, made.line) if made and ";" not in made.text and made.function in (
                    "<module>", place.function) else []
                kind = type(optimizer).__name__
                found.append(Finding(92, "never stepped", "".join(names[:1]), kind, "", f"{count} loss.backward(), such"
                                     f" as{at_line(place)}, gave gradients to the parameters of {kind}"
                                     f"{' made' * bool(made)}{at_line(made)}, but its step() is never called: others "
                                     "step, and these parameters stay as they are", "call its step() after that "
                                     "loss.backward()", "doctor", place))
        return found


def fixed_tables(names: dict[str, Any], made: Mapping[int, RawFrames]) -> list[Finding]:
    """Embeddings that are not trained, as nobody has said whether they are to be. made: where modules were."""
    found = [(f"{name}.{inner}" if inner else name, place) for name, module in modules_in(names).items()
             for inner, part in module.named_modules() if isinstance(part, torch.nn.Embedding)
             and not part.weight.requires_grad and (place := place_of_frames(made.get(id(part), ())))
             and "from_pretrained" in place.text and "freeze" not in place.text]
    return [Finding(30, "frozen embeddings", name, "", "", f"{name} is never trained: nn.Embedding.from_pretrained "
                    "freezes its table where it is not told otherwise", "freeze=False, if it is to be trained",
                    "doctor", place) for name, place in found]


def all_frozen(optimizers: Iterable[Any], place_of: Callable[[Any], Place | None]) -> list[Finding]:
    """Optimizers that have frozen parameters alone. place_of: where one was frozen."""
    for optimizer in optimizers:
        held = [p for group in optimizer.param_groups for p in group["params"]]
        stepped = getattr(optimizer, "state", {})  # as that of an adversary, which is frozen by turns
        if held and not any(p.requires_grad or p.grad is not None or p in stepped for p in held):
            return [Finding(94, "frozen parameters", "", "", "", f"the {len(held)} parameters that "
                            f"{type(optimizer).__name__} was given are all frozen, by requires_grad = False: its steps "
                            "change nothing", "requires_grad = True of those that are to be trained", "doctor",
                            place_of(held[-1]))]
    return []


def list_of(made: Place | None) -> Place | None:
    """Where the list begins that a line appends to; the line itself if it appends to none."""
    statement = on_lines(made.file).get(made.line) if made else None
    call = statement.value if isinstance(statement, ast.Expr) else None
    if made is None or not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
                            and call.func.attr == "append"):
        return made
    name = ast.unparse(call.func.value)
    lines = [line for line, node in on_lines(made.file).items() if line < made.line and isinstance(
        node, ast.Assign) and ast.unparse(node.targets[0]) == name]
    return as_place(Site(made.file, max(lines), made.function)) if lines else made


def parted(first: RawFrames, *others: RawFrames) -> tuple[Site, Site] | None:
    """The line of a function that made one thing, and the last one there that made others after it; None for none."""
    found = []
    for then in others:
        pair = next(((a, b) for a, b in zip(first[::-1], then[::-1]) if a != b), None)
        found += [resolve(pair)] if pair is not None and pair[0][0] is pair[1][0] else []
    late = [(each[0], each[1]) for each in found if each[0] == found[0][0] and each[0].line < each[1].line]
    return max(late, key=lambda each: each[1].line, default=None)
