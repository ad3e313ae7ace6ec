"""What an error of torch's is about: the line to change, and how, by what was recorded before it."""
from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ....core.site import resolve
from ....debug.analysis.advice import Remark
from ....debug.facts.roles import as_place, at_line, place_on
from ...new_lines import after, before, in_place, last_name, nodes_on, out_of_place, replaced, scaled_inside, value
from ...own_gradients import of_function
from ...script_lines import assigned_on, loop_around, loops_around, names_between, nodes_in, on_lines, read_by
from ...thresholds import unchosen, ungated
from ..graph import name_of, sliced
from ..habits import Habits
from ..left_behind import left_before, of_draw, remark_on
from ..record import Call, Entry, Recorder, is_leaf, is_library, place_of_frames, tensors_in
from ..two_losses import TwoLosses
from ..uncut import connected
from ..written import thawed
from . import in_python, misfits
from .held import cut_off, detached, holder_of, stored_at
from .scene import Scene


class PostMortem(Scene):
    """What there is when the script ends with an error. losses: what was differentiated before, and last.

    earlier: what led to numbers that were taken two steps ago.
    """

    def __init__(self, error: BaseException, recorder: Recorder, habits: Habits, losses: tuple[Any, Any],
                 parameters: Mapping[str, Any], *, earlier: Sequence[Entry] = ()) -> None:
        super().__init__(error, recorder, habits)
        (self._before, self._loss), self._earlier, self._parameters = losses, earlier, parameters
        self._slopes = [e for e in self.all if any(t.requires_grad for t in e.made)]

    def remark(self) -> Remark | None:
        """The cause, its line and what to do; None where torch's own words are all there is."""
        for pattern, finder in {"does not require grad": self._cut, "a second time": self._freed,
                                "modified by an inplace": self._changed,
                                "returned an invalid gradient": lambda: next(of_function(
                                    e.op.function.forward, e.op.backward(), e.args, e.op.slopes, e.op.dys)
                                    for e in reversed(self.all) if isinstance(e.op, Call) and e.op.slopes)}.items():
            if re.search(pattern, self.said):
                return finder()
        has_none = re.search(r"\bNone(Type)?\b", self.said)
        return (self._no_slope() if has_none else None) or in_python.remark_on(self) or misfits.remark_on(self)

    def _no_slope(self) -> Remark | None:
        """Of `w.grad` on the line: why w has none."""
        names = [ast.unparse(node.value) for node in ast.walk(on_lines(self.file)[self.line])
                 if isinstance(node, ast.Attribute) and node.attr == "grad"]
        name, x = next(((n, x) for n in names if isinstance(x := self.named(n), torch.Tensor) and (
            not is_leaf(x) or x.grad is None)), ("", None))
        if x is None:
            return None
        what, place, has_grad = self._made(x)
        if not is_leaf(x):
            return self._no_leaves(name, what, place)
        if not x.requires_grad:
            how = f", as {what} made it anew{at_line(place)}{'' if has_grad else ' under no_grad'}" if what else ""
            return Remark(f"{name}.grad is None: {name} does not require a gradient{how}", place,
                          f"change it in place: {name} -= …, which keeps it the leaf" if what else
                          f"requires_grad=True where {name} is made")
        used = sliced(self.all, [self._loss])
        found = left_before(x, self._earlier, used) or remark_on(x, self.all, used, {}, self.habits.made.get(id(x), ()))
        return self._of_named(x, found) if found is not None else None

    def _of_named(self, x: Any, found: Remark) -> Remark:
        """What is said of a parameter without a gradient, with the names of it and others; and new lines."""
        lacking = {n: p for n, p in self._parameters.items() if p.requires_grad and is_leaf(p) and p.grad is None}
        names = sorted((n for n in lacking), key=lambda n: lacking[n] is not x)
        many = f" and {len(names) - 1} more have" if names[1:] else " has"
        text = f"{names[0]}{many} no gradient: {found.text}" if names and lacking[names[0]] is x else found.text
        lines = connected(found.place.file, found.place.line) if found.place and "gradient" in found.text else {}
        return found._replace(text=text, lines=found.lines or lines)

    def _made(self, x: Any) -> tuple[str, Any, bool]:
        return next((_described(e) for e in reversed(self.all) if not e.written and any(
            t is x for t in e.made)), ("", None, True))

    def _no_leaves(self, name: str, what: str, place: Any) -> Remark:
        """Of what was made of leaves, and of all else that the file asks the same of."""
        named = {ast.unparse(node.value) for statement in on_lines(self.file).values() for node in ast.walk(statement)
                 if isinstance(node, ast.Attribute) and node.attr == "grad"}
        named |= {part.id for loop in loops_around(self.file, self.line) if isinstance(loop, ast.For) and ast.unparse(
            loop.target) == name for part in getattr(loop.iter, "elts", ()) if isinstance(part, ast.Name)
            and self.named(part.id) is not self.named(name)}
        others = {n: self._made(x)[1] for n in sorted(named - {name}) if isinstance(x := self.named(n), torch.Tensor)
                  and not is_leaf(x)}
        lines = [value(at.file, at.line, "({}).detach().requires_grad_()") for at in (place, *others.values()) if at]
        more = "".join(f"; and so is {n}, made{at_line(at)}" for n, at in others.items())
        return Remark(f"{name}.grad stays None: {name} is no leaf, as {what or 'an op'} made it{at_line(place)} of "
                      f"what requires a gradient{more}", place, "make the result the leaf: "
                      f"{name} = (…).detach().requires_grad_(){at_line(place)}",
                      {at: text for each in lines for at, text in each.items()})

    def _cut(self) -> Remark | None:
        """A loss that nothing differentiable made: where the way from the parameters ends, and what mends it."""
        found = self._kept_no_graph() or self._ended()
        if found is None or found.place is None or found.lines:
            return found
        return found._replace(lines=connected(found.place.file, found.place.line))

    def _kept_no_graph(self) -> Remark | None:
        """A gradient that is differentiated again, and was asked for without its graph."""
        of = next((frame.f_locals.get("t_outputs") for frame, _ in self.frames if frame.f_code.co_name == "grad"
                   and is_library(frame.f_code.co_filename)), None) or ()
        calls = [node for node in ast.walk(ast.Module([*on_lines(self.file).values()], []))
                 if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("autograd.grad")]
        lacking = {node.lineno: node for node in calls if "create_graph" not in [word.arg for word in node.keywords]}
        if len(lacking) != 1 or not of or any(t.requires_grad for t in of):
            return None
        (line, call), = lacking.items()
        place, last = place_on(self.file, line), [*call.args, *(word.value for word in call.keywords)][-1]
        return Remark(f"it is the gradient that torch.autograd.grad gave{at_line(place)}, which has no graph to be "
                      "differentiated again", place, "create_graph=True in that call", replaced(
                          self.file, last, "{}, create_graph=True"))

    def _ended(self) -> Remark | None:
        used = sliced(self.entries, [self._loss])
        for entry in reversed(used):
            if any(t.requires_grad for t in entry.given) and not any(
                    t.requires_grad for t in entry.made) and not entry.written:
                what, place, has_grad = _described(entry)
                if lines := {} if has_grad or place is None else in_place(place.file, place.line):
                    return Remark(f"{what} made a new tensor{at_line(place)} under no_grad, which requires no gradient",
                                  place, "change the leaf in place: w -= … for w = w - …", lines)
                if (drawn := of_draw(entry, self.all)) is not None:
                    return drawn
                if not has_grad:
                    return Remark(f"it is computed under torch.no_grad(), {what}{at_line(place)} for one", place,
                                  "compute the loss outside of no_grad(), which is for tests")
                text = f"the way from the parameters ends in {what}{at_line(place)}, which gives no gradient"
                if place is not None and (found := ungated(place.file, place.line, self.line)) is not None:
                    return Remark(f"{text}: a threshold is flat", place, f"give the loss {found.scores} itself"
                                  f"{at_line(place)}, and keep the threshold for metrics", found.lines)
                if place is not None and (found := unchosen(place.file, place.line, self.line)) is not None:
                    return Remark(text, place, f"give the loss {found.scores} itself, and keep {what} for metrics",
                                  found.lines)
                return Remark(text, place, "keep it out of the loss: a loss of the scores themselves, as "
                              "F.cross_entropy")
        trained = [p for p in self._parameters.values() if p.requires_grad]
        for p in [] if trained else self._parameters.values():
            given = [id(each) for o in self.habits.optimizers for group in o.param_groups for each in group["params"]]
            made = [place_of_frames(self.habits.made.get(id(o), ())) for o in self.habits.optimizers]
            return Remark(f"requires_grad of all {len(self._parameters)} parameters is False", self.habits.frozen(p),
                          "freeze those alone that are not to be trained, and set requires_grad = True of the others",
                          thawed(self.habits.frozen(p), made if len(given) < len(self._parameters) else []))
        remarks = (remark_on(p, self.entries, used, self.habits.assigned) for p in trained)
        return next((remark for remark in remarks if remark is not None and remark.place is not None), None)

    def _two_losses(self) -> TwoLosses:
        step, moved = self._here(self.habits.last_step), self.habits.moved
        optimizers = [{id(p) for group in o.param_groups for p in group["params"]} for o in self.habits.optimizers]
        return TwoLosses(self.file, self.line, step if moved else 0, lambda name: self._leaves(self.named(name)),
                         moved, optimizers)

    def _leaves(self, value: Any) -> set[int]:
        """The parameters that a value is made of, by identity."""
        known = {id(p) for p in self._parameters.values() if p.requires_grad}
        return {id(t) for t in tensors_in(value) if t.requires_grad for e in sliced(self._slopes, [t])
                for t in e.given if id(t) in known}

    def _in_both(self) -> Any:
        """The last that both losses are made of, of what has a name; the loss itself if there is none."""
        first = set(map(id, sliced(self._slopes, [self._before]))) if self._before is not None else set()
        both = {id(t) for e in sliced(self._slopes, [self._loss]) if id(e) in first for t in e.made}
        named = {id(value): value for value in {**self.frame.f_globals, **self.frame.f_locals}.values()
                 if isinstance(value, torch.Tensor) and id(value) in both}
        ids = [id(t) for e in self._slopes for t in e.made if id(t) in named]
        return named[ids[-1]] if ids else self._loss

    def _freed(self) -> Remark | None:
        """What an earlier backward has freed, and this one uses again."""
        made = {id(t) for e in self.entries for t in e.made}
        uses = [(t, e.frames) for e in sliced(self.entries, [self._loss]) for t in e.given]
        tensor, frames = next((t, frames) for t, frames in [*uses, (self._loss, ())]
                              if t.requires_grad and not is_leaf(t) and id(t) not in made)
        tensor = self._in_both() if tensor is self._loss and self._before is not self._loss else tensor
        use, line = self._here(frames) or self.line, next((self._here(e.frames) for e in reversed(
            self.all) if any(t is tensor for t in e.made)), 0)
        names = {**self.frame.f_globals, **self.frame.f_locals}
        own = [*(n for n in names_between(self.file, line, use) if line < use or detached(n, self.named(n))),
               *(n for n, each in names.items() if each is tensor)]
        if not own and line >= use and (kept := self._held(tensor)) is not None:
            return kept
        name = own[0] if own else "what it uses"
        place, at = place_on(self.file, use), at_line(place_on(self.file, line)) * (line > 0)
        inner = next((resolve(e.frames[:1])[0] for e in self._slopes if any(t is tensor for t in e.made)), None)
        if inner is not None and (lines := scaled_inside(inner.file, inner.line)):
            return Remark(f"what is made of an nn.Parameter{at_line(as_place(inner))} is none itself: it has the graph "
                          "of that one line, which the first backward() has freed", as_place(inner),
                          "compute its first value inside: nn.Parameter(torch.randn(…) * scale)", lines)
        if line not in (loop_around(self.file, self.line) or ()):
            return Remark(f"{name} was computed{at} once, before the loop, and the first backward() has freed what its "
                          f"gradient needs", place, f"compute {name}{at} in each step, inside the loop; or {name}."
                          "detach() if nothing before it is trained")
        if line < use:
            how = "shares ops with another loss" if tensor is self._loss else "is in two losses"
            is_same = tensor is self._loss and self._before is self._loss
            how = "has had its backward() already" if is_same else how
            mended = self._two_losses().shared(name, use, self._leaves(self._before), is_same)
            return Remark(f"{name}, made{at}, {how}" + (", which" if is_same else ", and the backward() of the first")
                          + " has freed what its gradient needs", place, mended.words or "one backward() of the sum, "
                          "(loss1 + loss2).backward(); or retain_graph=True in the first", mended.lines)
        carried = [(n, text) for n in self._carried(name, line, use) or own[:1] if self._may_give(n) and (
            text := detached(n, self.named(n)))]
        name = " and ".join(n for n, _ in carried) or name
        cut = f"{', '.join(n for n, _ in carried)} = {', '.join(text for _, text in carried)}" if carried else ""
        is_none = any(isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and own[0] in map(
            ast.unparse, node.targets) for node in on_lines(self.file).values()) if cut else False
        place, put, when = (place_on(self.file, self.line), after, "behind the backward()") if is_none else (
            place, before, "before it is used again")
        return Remark(f"{name} {'come' if carried[1:] else 'comes'} from the step before, made{at}, with that step's "
                      "graph, which its backward() has freed", place, f"cut it off {when}{at_line(place)}"
                      + f": {cut}" * bool(cut), put(*place[:2], cut) if cut else {})

    def _held(self, tensor: Any) -> Remark | None:
        """Of what an object of the script's keeps; it has what this step has made of it in its place by now."""
        again, of_it, user = [tensor], {id(tensor)}, (self.file, self.line)
        for e in self.entries:
            if of_it & set(map(id, e.given)):
                of_it |= set(map(id, e.made))
                again += [t for t in e.made if t.shape == tensor.shape]
        if (found := holder_of(again, {**self.frame.f_globals, **self.frame.f_locals})) is None:
            return None
        sites = resolve(next((e.frames for e in reversed(self.all) if any(t is tensor for t in e.made)), ()))
        inner = [site.function for site in sites].index(self.frame.f_code.co_name) + 1
        stores = stored_at(found, (self.file, *(site.file for site in sites)))
        at = place_on(stores[0][0], stores[0][1].lineno) if len(stores) == 1 else None
        if lines := cut_off(found, *stores[0], sites[:inner], user) if at is not None else {}:
            how = f"where it is kept{at_line(at)}: {next(iter(lines.values())).split(chr(10))[-1].strip()}"
        else:
            cut = f"{found.path} = {detached(found.path, found.value)}"
            how, lines = f"behind the backward(){at_line(place_on(*user))}: {cut}", after(*user, cut)
        return Remark(f"{found.path} comes from the step before, made{at_line(as_place(sites[0]))}" + (
            f", kept{at_line(at)}" if at else "") + ", with that step's graph, which its backward() has freed",
            at or place_on(*user), f"cut it off {how}", lines)

    def _may_give(self, name: str) -> bool:
        """Whether the function that failed may give a name another value, and has it already."""
        is_global = name in self.frame.f_globals and any(isinstance(node, ast.Global) and name in node.names
                                                         for node in nodes_in(self.file))
        return is_global or self.frame.f_code.co_name == "<module>" or name in self.frame.f_code.co_varnames

    def _carried(self, name: str, line: int, use: int) -> list[str]:
        """A name, and others that carry a state with it: given values on its line, and read in the step after it."""
        reading = on_lines(self.file).get(use)
        read = read_by(reading) if reading is not None else set()
        return [n for n in assigned_on(self.file, line) if n == name or n in read and isinstance(
            x := self.named(n), torch.Tensor) and x.requires_grad and not is_leaf(x)]

    def _changed(self) -> Remark | None:
        """Which write has changed what a gradient needs."""
        found = re.search(r"\[[\w.]+ \[([\d, ]*)\]", self.said)
        shape = [int(n) for n in found[1].split(",") if n.strip()] if found else []
        moved, own = self.habits.moved, {id(t) for e in sliced(self._slopes, [self._loss]) for t in e.given}
        for name, p in sorted(self._parameters.items(), key=lambda pair: id(pair[1]) not in own):
            if id(p) in moved and list(p.shape) in (shape, shape[::-1]):
                self._step_back()
                place, mended = place_of_frames(moved[id(p)]), self._two_losses().mended()
                step = next((ast.unparse(node) for node in nodes_on(place.file, place.line) if isinstance(
                    node, ast.Call) and last_name(node.func) == "step"), "optimizer.step()") if place else ""
                made = next((self._here(e.frames) for e in reversed(self._slopes) if any(
                    t is self._loss for t in e.made)), 0)
                loss = next((each for each in assigned_on(self.file, made) if self.named(each) is self._loss), "")
                old = f"{loss or 'this loss'} was computed" + at_line(place_on(self.file, made)) * bool(loss)
                return Remark(f"{step}{at_line(place)} changes {name} in place, with whose old value {old}", place,
                              mended.words or "compute what this loss is made of after the step"
                              f"{at_line(place)}, with another forward pass; or call every backward() before the "
                              "first step()", mended.lines)
        wholes = [(e, t, getattr(t, "_base", None)) for e in reversed(self.all) for t in e.written]
        entry = next(e for e, t, base in wholes if shape in (list(t.shape), list((t if base is None else base).shape)))
        what, place, _ = _described(entry)
        written = [out_of_place(site.file, site.line) for frames in (entry.frames, self.habits.made.get(
            id(entry.module), ())) for site in resolve(frames[:1])]
        node = on_lines(place.file).get(place.line) if place is not None else None
        for part in (each for each in getattr(node, "targets", ()) if isinstance(each, ast.Subscript)):
            what = f"{ast.unparse(part)} = …, a write to a part of {ast.unparse(part.value)},"
        return Remark(f"{what} changes in place{at_line(place)} what an op before it keeps for its gradient", place,
                      f"make a new tensor{at_line(place)}: x = x + y for x += y, torch.stack of a list for writes to "
                      "parts, inplace=False; or write to x.clone()", next(filter(None, written), {}))

    def _step_back(self) -> None:
        """Look at it from the innermost function that has called both the last step() and, later, what failed."""
        innermost = self.file, self.frame, self.line
        for frame, line in reversed(self.frames):
            self.frame, self.line = frame, line
            self.file = self.frame.f_code.co_filename
            if not is_library(self.file) and 0 < self._here(self.habits.last_step) < self.line:
                return
        self.file, self.frame, self.line = innermost

    def _here(self, frames: Any) -> int:
        """The line of the function that failed, of an op's frames."""
        return next((site.line for site in resolve(frames) if (site.file, site.function) == (
            self.file, self.frame.f_code.co_name)), 0)


def _described(entry: Entry) -> tuple[str, Any, bool]:
    """The name of what was done, its line, and whether autograd was on."""
    name = entry.op.name() if isinstance(entry.op, Call) else name_of(entry.op)[0]
    return name, place_of_frames(entry.frames), entry.has_grad
