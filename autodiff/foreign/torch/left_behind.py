"""Where the way from a parameter to the loss ends, when torch gives it no gradient, or one of its ways; copies of
modules that a step makes and computes a loss with."""
from __future__ import annotations

import ast
import copy
import sys
import weakref
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import torch

from ...core.site import Site, resolve
from ...debug.analysis.advice import Remark
from ...debug.analysis.findings import Finding
from ...debug.facts.roles import as_place, at_line
from ..idle_layers import idle
from ..new_calls import calls_on
from ..new_lines import replaced
from ..script_lines import holding, on_lines
from ..steps import not_used
from .graph import name_of, sliced
from .record import (
    Call,
    Entry,
    RawFrames,
    is_leaf,
    numbers_of,
    place_of_frames,
    storage_of,
    tensors_in,
    user_frames,
)
from .uncut import redrawn, unrecorded

_STAY = "compute with the tensors themselves, by torch.stack or torch.cat where there are several"
_MANY, _USUAL = 10000, {0.0, 1.0, -1.0}  # numbers that are compared; those that say nothing
_CHOICES = ("bernoulli", "multinomial", "binomial", "poisson", "geometric")  # draws of what is no continuous number
_DRAWS = ("normal", *_CHOICES)
_ENDS = {"_local_scalar_dense": ".item() makes a number of it, which carries no gradient",
         "detach": ".detach(), .tolist() or .numpy() takes its numbers, which carry no gradient",
         "lift_fresh": "a new tensor is made of its numbers"}


def left_before(parameter: Any, older: Sequence[Entry], used: Sequence[Entry]) -> Remark | None:
    """Where the way from a parameter ended before this step, the numbers of which the loss then takes; None if it did
    not."""
    ids, ends = {id(parameter)}, dict[int, Entry]()
    for entry in older:
        taken = entry.given
        given = [t for t in taken if id(t) in ids]
        made, before = entry.made, next((ends[id(t)] for t in taken if id(t) in ends), None)
        end = entry if any(t.requires_grad for t in given) else before
        if end is not None and not any(t.requires_grad for t in made):
            ends.update(dict.fromkeys(map(id, made), end))
        elif given:
            ids.update(map(id, made))
    reached = (ends.get(id(t)) for e in used for t in e.given)
    return next((_end_of(entry) for entry in reached if entry is not None), None)


def to_numbers(entries: Sequence[Entry]) -> list[Entry]:
    """Those that led to a tensor, of more than one number, without the gradient of what it was made of."""
    ends = [t for e in entries if any(t.requires_grad for t in e.given)
            for t in e.made if not t.requires_grad and t.is_floating_point() and t.numel() > 1]
    return sliced(entries, ends) if ends else []


def remark_on(parameter: Any, entries: Sequence[Entry], used: Sequence[Entry],
              assigned: Mapping[int, tuple[Any, RawFrames]], made: RawFrames = ()) -> Remark | None:
    """Why a parameter does not reach the loss; None if it does, so that the graph tells what cuts the gradient off.

    entries: all since the last step; used: those of the loss; assigned: what was given to `.data`. made: where
    it was made.
    """
    ids, storages, last = {id(parameter)}, {storage_of(parameter)}, None
    of_loss = set(map(id, used))
    for entry in entries:
        given = [t for t in entry.given if id(t) in ids or storage_of(t) in storages]
        if not given or not any(t.requires_grad for t in given) and _name_of(entry) == "detach":  # made, by Parameter()
            continue
        is_draw = _cuts(entry)
        if is_draw or id(entry) not in of_loss and (last is None or any(t.requires_grad for t in given)):
            last = entry
        if is_draw:
            continue
        results = [*entry.made, *entry.written]
        ids.update(map(id, results))
        storages.update(map(storage_of, results))
    copied = next((frames for key, (_, frames) in assigned.items() if key in ids), None)
    if copied is not None:
        return Remark("the way to the loss ends: .data = takes the numbers only, which carry no gradient",
                      place_of_frames(copied), _STAY)
    if (leaf := _made_leaf(parameter, ids, entries, used)) is not None:
        return leaf
    if used and any(id(t) in ids for t in tensors_in(used[-1].result)):
        return None
    if last is None:
        return idle(made) or Remark("nothing in this step uses it", None, "use it for the loss, or drop it")
    if (remade := _remade(ids, entries, used)) is not None:
        return remade
    fresh = [e for e in used if "lift_fresh" in str(e.op)]
    own = {id(t) for e in fresh for t in e.made}
    if fresh and last.drawn is None and not any(t.requires_grad and id(t) not in own for e in used for t in e.given):
        last = fresh[-1]  # made of numbers that torch.tensor() has read, unseen
    return _end_of(last)


def _remade(ids: Collection[int], entries: Sequence[Entry], used: Sequence[Entry]) -> Remark | None:
    """The call, as of torch.tensor(), that makes a tensor of the numbers of others, whose gradient is left behind.

    Nothing but the numbers tells: all of it are those of tensors that were computed. ids: as of `_made_leaf`.
    """
    known = {float(t.detach()) for e in entries for t in e.made if id(t) in ids and t.requires_grad and t.numel() == 1}
    for entry in used if known else ():
        for tensor in (*entry.made, *entry.given) if "lift_fresh" in str(entry.op) else entry.given:
            numbers = {*numbers_of(tensor).ravel().tolist()} if not tensor.requires_grad and (
                tensor.is_floating_point() and tensor.numel() <= _MANY) else set()
            if numbers - _USUAL and numbers <= known:
                return Remark(f"the way to the loss ends: {_ENDS['lift_fresh']}", place_of_frames(entry.frames), _STAY)
    return None


def _made_leaf(parameter: Any, ids: Collection[int], entries: Sequence[Entry], used: Sequence[Entry]) -> Remark | None:
    """The call, as of nn.Parameter(), that makes a leaf of what was computed of a parameter, which the loss then takes.

    No op does it. ids: of what was made of the parameter.
    """
    own = storage_of(parameter)
    makers = {storage_of(t): e for e in entries if e.has_grad and not e.written and any(
        id(t) in ids for t in e.given) for t in e.made if t.requires_grad and not is_leaf(t) and storage_of(t) != own}
    given = (t for e in used if e.has_grad for t in e.given if t.requires_grad and is_leaf(t) and t is not parameter)
    maker = next((makers[storage_of(t)] for t in given if storage_of(t) in makers), None) if makers else None
    for site in resolve(maker.frames[:1]) if maker is not None else ():
        scope = [*(node for node in holding(site.file, site.line) if isinstance(node, ast.FunctionDef))][-1:]
        for at in sorted(n for n in on_lines(site.file) if n >= site.line and (not scope or n <= (
                scope[0].end_lineno or n))):
            for node in calls_on(site.file, at, "Parameter", "Variable"):
                call = f"{ast.unparse(node.func)}()"
                return Remark(f"the way to the loss ends: {call} makes a new leaf of the numbers it is given, which "
                              "lets no gradient through", as_place(Site(site.file, at, site.function)),
                              f"leave {call} away there, and compute with the tensor itself")
    return None


def sampled(entries: Sequence[Entry], used: Sequence[Entry]) -> list[Finding]:
    """What is drawn by sample() where rsample() is meant, as the loss has its mean on another way, as in a KL term.

    A draw that meets its own mean again is weighed by its log_prob, as an action is. entries, used: as of `remark_on`.
    """
    draws = [e for e in used if e.drawn is not None and not e.has_grad and not isinstance(e.op, Call)
             and name_of(e.op)[0] == "normal"]
    ids = [{id(t) for t in each.given} for each in used] if draws else []
    for draw in draws:
        given = {id(t) for t in draw.given}
        before = [each for each in entries if not each.has_grad and given & {id(t) for t in each.made}]
        own = {id(t) for each in (draw, *before) for t in each.given if t.requires_grad}
        made = {id(t) for t in draw.made}
        takers = [each for each, taken in zip(used, ids) if taken & made and each is not draw]
        beside = [each for each, taken in zip(used, ids) if taken & own and each.has_grad]
        if takers and beside and all(each.has_grad for each in takers) and not any(
                taken & own and taken & made for taken in ids):
            return [Finding(64, "sample cut", "", "", "", "what sample() draws carries no gradient: the mean and "
                            "deviation that it is drawn by learn by the other parts of the loss alone, and not by what "
                            "is made of the draw", "draw by rsample(), which lets the gradient through", "doctor",
                            place_of_frames(draw.frames))]
    return []


def lacks(parameter: Any, used: Sequence[Entry]) -> bool:
    """Whether torch has given a parameter no gradient, or the zeros that it gives what numbers are drawn by."""
    return parameter.grad is None or not numbers_of(parameter.grad).any() and any(map(_cuts, used))


def _cuts(entry: Entry) -> bool:
    """Whether an op draws numbers that carry no gradient to what they are drawn by: torch gives zeros, or none."""
    return entry.drawn is not None and (_name_of(entry).strip("_") in _DRAWS or not any(
        t.requires_grad for t in entry.made))


def of_draw(entry: Entry, entries: Sequence[Entry] = ()) -> Remark | None:
    """What is said of a draw, or of an op that leads to one in the same call of sample(); None of any other."""
    sites, place = resolve(entry.frames), place_of_frames(entry.frames)
    own = place is not None and not entry.has_grad and any(calls_on(place.file, place.line, "sample")) and unrecorded(
        sites) is None  # no_grad is torch's, inside of sample()
    draw = next((e for e in (entry, *(e for e in entries if own and e.frames == entry.frames)) if e.drawn is not None
                 and e.given), None)
    if draw is None and not own:
        return None
    name, what = _name_of(draw).strip("_") if draw is not None else "", "sample()" if own else _name_of(entry)
    lines = redrawn(place.file, place.line) if place is not None and name not in _CHOICES else {}
    noise = any("randn_like" in text for text in lines.values())
    instead = "mean + std * torch.randn_like(mean)" if noise else "draw by rsample()"
    return Remark(f"the way to the loss ends: what {what} draws of it carries no gradient", place,
                  "weigh the log_prob of what is drawn by its loss; or F.gumbel_softmax in place of the draw"
                  if name in _CHOICES else f"{instead}, which lets the gradient through; or weigh the log_prob of what "
                  "is drawn by its loss", lines)


def _end_of(last: Entry) -> Remark:
    """What is said of the last op on a way that does not reach the loss."""
    name, place = _name_of(last), place_of_frames(last.frames)
    if (drawn := of_draw(last)) is not None:
        return drawn
    if not last.has_grad and (around := unrecorded(resolve(last.frames))) is not None:
        what = type(last.module).__name__ if last.module is not None else name
        return Remark(f"the way to the loss ends: {what}{at_line(place)} is computed under no_grad, which lets no "
                      "gradient through", around, "compute it with gradients: without no_grad there, and detached "
                      "where a loss is not to train it")
    if name == "detach" and place is not None and ".detach()" in place.text:
        return Remark("the way to the loss ends: .detach() lets no gradient through", place,
                      "take .detach() away there, and give it to a loss alone that is not to train this")
    return Remark(f"the way to the loss ends: {_ENDS[name]}", place, _STAY) if name in _ENDS else not_used(name, place)


def _name_of(entry: Entry) -> str:
    return entry.op.name() if isinstance(entry.op, Call) else name_of(entry.op)[0]


class Copies:
    """Copies of parameters that copy.deepcopy made since the last step: each with what it is of, where, and whether it
    is a part of a module. optimized: gives the identities of what optimizers have."""

    def __init__(self, optimized: Callable[[], set[int]]) -> None:
        self._optimized = optimized
        self._noted: list[tuple[Any, Any, RawFrames, bool]] = []
        self._kin: dict[int, tuple[weakref.ref[Any], int]] = {}  # of all copies by identity: itself, and of what it is
        self._fleeting: dict[int, tuple[RawFrames, bool]] = {}  # by identity of what was copied

    def note(self, made: Any, parameter: Any, *_: Any) -> None:
        """Keep a copy."""
        frame, whole = sys._getframe(1), None
        while frame is not None:
            whole = frame.f_locals.get("x") if frame.f_code is copy.deepcopy.__code__ else whole
            frame = frame.f_back  # type: ignore[assignment]
        self._noted.append((made, parameter, user_frames(), isinstance(whole, torch.nn.Module)))
        self._kin[id(made)] = weakref.ref(made), id(parameter)

    def turn(self) -> None:
        """Begin a new step."""
        self._noted = []

    def fleeting(self, entries: Sequence[Entry], had: set[int]) -> set[int]:
        """The identities of copies that a step made, of what an optimizer has in their place and never had a gradient
        of. had: what optimizers had gradients of."""
        own, storages = self._optimized(), {storage_of(t) for e in entries for t in e.made} if self._noted else set()
        found = [(made, of, *rest) for made, of, *rest in self._noted if storage_of(made) in storages and (
            id(made) not in own and id(of) in own - had)]
        self._fleeting = {id(of): (frames, is_part) for _, of, frames, is_part in found}
        return {id(made) for made, *_ in found}

    def idle(self, parameters: Iterable[Any], given: set[int]) -> set[int]:
        """Those of parameters that a loss does without, and that are copies no optimizer has, as of the best ones so
        far, or that it has trained copies of in their place, as meta-learning has. given: what its ops took."""
        self._kin = {key: kin for key, kin in self._kin.items() if kin[0]() is not None}
        own = self._optimized()
        replaced_by = {of for key, (_, of) in self._kin.items() if key in given & own}
        return {id(p) for p in parameters if id(p) not in given and (
            id(p) in self._kin and id(p) not in own or id(p) in replaced_by)}

    def remark(self, parameter: Any) -> Remark | None:
        """Why a parameter has no gradient, if a step computes with a copy of it alone."""
        frames, is_part = self._fleeting.get(id(parameter), ((), False))
        if (place := place_of_frames(frames)) is None:
            return None
        call = next((node for node in calls_on(place.file, place.line, "deepcopy") if len(node.args) == 1), None)
        name = ast.unparse(call.args[0]) if call is not None else "module"
        new = f"deepcopy({name}, {{id(p): p.clone() for p in {name}.parameters()}})"
        return Remark("copy.deepcopy makes parameters of its own, of the numbers alone: the loss is computed with that "
                      "copy, and no gradient gets to what was copied", place, "let the copy have clones that gradients "
                      f"pass: copy.{new}; or use {name} itself", replaced(place.file, call, ast.unparse(
                          call.func).removesuffix("deepcopy") + new) if call is not None and is_part else {})
