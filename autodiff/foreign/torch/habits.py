"""Habits of PyTorch programs that no graph shows: gradients that pile up, optimizers that lack a parameter or never
step, layers in the wrong mode, parameters that are frozen."""
from __future__ import annotations

import functools
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
import torch.utils.checkpoint
from torch.nn.modules import module as nn_module
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from ...core.graph import Graph
from ...core.site import Site, resolve
from ...debug.analysis.advice import Remark
from ...debug.analysis.findings import Finding
from ...debug.facts.records import Place
from ...debug.facts.roles import as_place, at_line
from ..flags import Flags
from ..script_lines import on_lines
from .between import MODAL, Between
from .derivatives.piled import Piled
from .derivatives.second import SecondDerivatives
from .given import Lent
from .graph import array_of
from .hooks import Hooks
from .left_behind import Copies
from .logarithms import Logarithms
from .names import modules_in
from .rates import Rates
from .record import Entry, RawFrames, Recorder, is_leaf, numbers_of, place_of_frames, user_frames
from .unkept import Unkept, Unstepped, all_frozen, fixed_tables, list_of, parted
from .unused.dropped import Dropped
from .unused.late_terms import LateTerms, numbers_added
from .written import Known, lists_layers

PATIENCE = 3  # backwards in a row without a step after which one is missed


class Habits:
    """Context: watches optimizers and modules. Optimizers' own ops pass unseen by the recorder.

    made: where optimizers, modules and parameters were made. rates, hooks: of its steps, on gradients. assigned: by
    identity, what was given to `.data` since the last step, and where. given: parameters that have had gradients,
    moved: those that were stepped since a backward, both by identity, and where; last_step: where the last were.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.made: dict[int, RawFrames] = {}
        self._labels: dict[int, str] = {}
        self._counts: Counter[str] = Counter()
        self.optimizers: "weakref.WeakKeyDictionary[Any, None]" = weakref.WeakKeyDictionary()  # as they were made
        self._evaluated: dict[int, RawFrames] = {}
        self._frozen: dict[int, RawFrames] = {}
        self._waiting = 0  # backwards since the last step, with gradients that were zeroed in between
        self._slopes: list[weakref.ref[Any]] = []  # the last gradients
        self._is_within = False  # whether a step is under way that calls backward itself
        self._piled = Piled()
        self._cleared: tuple[RawFrames, bool] = ((), False)  # last zero_grad, whether after the last backward
        self._in_vain: Place | None = None  # the zero_grad before the last step that had nothing to do
        self._at: Place | None = None
        self._undo: list[Callable[[], None]] = []
        self.lent = Lent(recorder)
        self._again: RawFrames = ()  # where the step asked for something to be computed again in backward
        self.rates = Rates(self.optimizers, self.made)
        self.hooks, self.flags = Hooks(), Flags(torch.Tensor, array_of, "{}.float()", "torch.as_tensor({}).float()")
        self.between, self.logarithms = Between(self.made, recorder, self.optimized), Logarithms(recorder)
        self.assigned: dict[int, tuple[Any, RawFrames]] = {}
        self._older: dict[str, weakref.ref[Any]] = {}  # leaves that backwards saw
        self.asked: set[int] = set()  # what the script differentiated by on the way to a loss: no weights, but data
        self._remade: set[str] = set()  # names of those that steps make anew
        self.moved, self.given, self.last_step = dict[int, RawFrames](), set[int](), RawFrames()
        self.unkept, self.copies, self.dropped = Unkept(), Copies(self.optimized), Dropped()
        self.late_terms, self._numbers = LateTerms(), list[Finding]()
        self.second = SecondDerivatives(recorder, torch.autograd.grad, self.optimized)
        self.unstepped = Unstepped(self.optimizers, self.made)
        self._late: tuple[Site | None, bool] = None, False  # as of Known
        self._called: dict[int, RawFrames] = {}  # by identity: where a module was called last for a training
        self._backward, self._untrained = RawFrames(), RawFrames()  # where a module in eval mode was called

    def __enter__(self) -> "Habits":
        saved: list[bool] = []

        def begin(optimizer: Any, args: Any, kwargs: Any) -> None:
            saved.append(self._recorder.paused)
            self._is_within = bool(args[1:] or kwargs)
            self.unstepped.stepped(optimizer)
            if not self._is_within:  # a closure is the user's own, with a forward pass in it
                self._recorder.paused = True
                self._before_step(optimizer)

        def end(*_: Any) -> None:
            self._recorder.paused = saved.pop()
            self._is_within, self._waiting = False, 0

        def enter(module: Any, _: Any) -> None:
            if not self._recorder.modules and torch.is_grad_enabled():
                self._called[id(module)] = user_frames()
            self._recorder.modules.append(module)

        def leave(module: Any, given: Any, found: Any) -> None:  # what it returned would take the place of the result
            self._recorder.modules.pop()
            self.between.left(module, given, found)

        self._undo += [handle.remove for handle in (
            register_optimizer_step_pre_hook(begin), register_optimizer_step_post_hook(end),
            nn_module.register_module_parameter_registration_hook(self._registered),
            nn_module.register_module_forward_pre_hook(enter),
            nn_module.register_module_forward_hook(leave, always_call=True))]
        self._noting(torch.optim.Optimizer, "__init__", lambda _, optimizer, *__: self._made(optimizer))
        self._noting(torch.optim.Optimizer, "zero_grad", self._zeroed)
        self._noting(torch.nn.Module, "__init__", lambda _, module, *__: self._made(module))
        self._noting(torch.nn.Module, "eval", lambda module, *_: self._evaluated.update({id(module): user_frames()}))
        self._noting(torch.Tensor, "requires_grad_", lambda _, tensor, on=True: self._switched(tensor, on))
        for watcher in (self.rates, self.between, self.logarithms):
            watcher.watch(self._noting)
        self._undo += self.hooks.watched()
        self._noting(torch.nn.Parameter, "__deepcopy__", self.copies.note)
        self._noting(torch.utils.checkpoint, "checkpoint", self._checkpointed)
        self._noting(torch.Tensor, "numpy", self.lent.note)
        self._watch("requires_grad", self._switched)
        self._watch("data", self._assigned)
        return self

    def __exit__(self, *_: Any) -> None:
        self.between.tested()
        for undo in reversed(self._undo):
            undo()
        self._undo = []

    def _noting(self, owner: Any, name: str, note: Callable[..., Any]) -> None:
        """Note what each call of a method or function gave, and was given."""
        real = getattr(owner, name)

        @functools.wraps(real)
        def method(*args: Any, **kwargs: Any) -> Any:
            found = real(*args, **kwargs)
            note(found, *args, *kwargs.values())
            return found

        own = name in vars(owner)
        setattr(owner, name, method)
        self._undo.append(lambda: setattr(owner, name, real) if own else delattr(owner, name))

    def _watch(self, name: str, note: Callable[[Any, Any], None]) -> None:
        """Note what a script gives to an attribute of a tensor, as in `tensor.requires_grad = False`."""
        held = getattr(torch._C.TensorBase, name)

        def assign(tensor: Any, value: Any) -> None:
            note(tensor, value)
            held.__set__(tensor, value)

        setattr(torch.Tensor, name, property(held.__get__, assign))
        self._undo.append(lambda: delattr(torch.Tensor, name))

    def _assigned(self, tensor: Any, made: Any) -> None:
        if isinstance(made, torch.Tensor) and made.requires_grad and not is_leaf(made):
            self.assigned[id(made)] = made, user_frames()
        if not tensor.requires_grad:
            self._recorder.unmade(tensor)

    def _switched(self, tensor: Any, on: bool) -> None:
        if not on and is_leaf(tensor):
            self._frozen[id(tensor)] = user_frames()

    def _made(self, thing: Any) -> None:
        self.made[id(thing)] = user_frames()
        if isinstance(thing, torch.optim.Optimizer):
            self.optimizers.setdefault(thing)

    def _registered(self, module: Any, name: str, parameter: Any) -> None:
        if parameter is not None and id(parameter) not in self.made:
            self._made(parameter)
            label = f"{type(module).__name__}.{name}"
            self._counts[label] += 1
            self._labels[id(parameter)] = label + f"_{self._counts[label]}" * (self._counts[label] > 1)

    def _checkpointed(self, *_: Any) -> None:
        self._again = user_frames()

    def _zeroed(self, _: Any, optimizer: Any, *__: Any) -> None:
        self._cleared = user_frames(), True
        self.unstepped.zeroed(optimizer)

    def _before_step(self, optimizer: Any) -> None:
        self.rates.before_step(optimizer)
        frames, is_after = self._cleared
        given = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        has_none = not any(bool(numbers_of(p.grad).any()) for p in given)
        self._in_vain = place_of_frames(frames) if is_after and has_none and self._waiting else None
        self._piled.stepped(own := set(map(id, given)), is_first=not self._backward)
        self.given |= own
        self.last_step = user_frames()
        self.moved.update(dict.fromkeys(own, self.last_step))
        self._waiting = 0

    def before_backward(self, parameters: dict[str, Any], frames: RawFrames) -> None:
        """Look at the gradients that a backward will add to."""
        self._at, self._backward = place_of_frames(frames), frames
        self.rates.is_due, self._cleared = True, ((), False)
        self.hooks.changing.clear()
        self._remade |= {n for n, p in parameters.items() if n in self._older and self._older[n]() is not p}
        self._older.update({name: weakref.ref(p) for name, p in parameters.items()})
        piled = self._piled.before_backward(parameters, by_hand=not self.optimizers)
        is_taken = self._is_within or bool(self._waiting and self.last_step) and self._takes_gradients()
        self._waiting = 0 if is_taken else 1 if piled else self._waiting + 1

    def _takes_gradients(self) -> bool:
        """Whether the script has made something of the last gradients itself, as of a Fisher matrix, and no number."""
        slopes = {id(t) for ref in self._slopes if (t := ref()) is not None}
        return any(id(t) in slopes and made is not t and made.shape == t.shape
                   for e in self._recorder.entries for t in e.given for made in e.made)

    def turn(self) -> None:
        """Begin a new step."""
        for seen in (self.assigned, self.moved, self.lent.arrays):
            seen.clear()
        self._again = ()
        self.copies.turn()

    def has_moved(self, entry: Entry) -> bool:
        """Whether an op of the last step took a parameter that is another by now: what it made is a number for good."""
        return any(id(t) in self.moved for t in entry.given)

    def made_at(self, thing: Any) -> str:
        """` made at train.py:12`; "" if it is not known."""
        at = at_line(place_of_frames(self.made.get(id(thing), ())))
        return f" made{at}" if at else ""

    def label(self, parameter: Any) -> str:
        """What a parameter is called that the script has no name for."""
        return self._labels.setdefault(id(parameter), f"parameter_{len(self._labels)}")

    def frozen(self, parameter: Any) -> Place | None:
        """Where a parameter was told not to require a gradient."""
        return place_of_frames(self._frozen.get(id(parameter), ()))

    def suspects(self) -> list[Remark]:
        """What may make torch's gradient another than that of the ops."""
        return self.hooks.remarks() + [Remark(
            "torch.utils.checkpoint computes again in backward, which gives something else than forward did, as with "
            "preserve_rng_state=False, where other random numbers are drawn", place_of_frames(self._again))
            for _ in range(bool(self._again))] + self.lent.suspects()

    def optimized(self) -> set[int]:
        """The identities of the parameters that optimizers have."""
        return {id(p) for optimizer in self.optimizers for group in optimizer.param_groups for p in group["params"]}

    def not_given(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """The parameters that no optimizer has; none where there is no optimizer."""
        known = self.optimized()
        return {name: p for name, p in parameters.items() if known and id(p) not in known}

    def known(self, graph: Graph) -> Known:
        """What remedies are written by."""
        stepped, called, backward = (next(iter(resolve(frames[:1])), None) for frames in (
            self.last_step, self._untrained, self._backward))
        rate = self.rates.rate()
        rated = Site(*rate.place[:3]) if rate is not None and rate.place is not None else None
        return Known(graph, stepped, called, backward, rated, self.logarithms.are_shares, *self._late)

    def note(self, loss: Any, built: Any, used: Sequence[Entry], parameters: Iterable[Any]) -> None:
        """A step. built: its loss in the graph; used: what it is made of. parameters: all that it has."""
        self.dropped.note(loss, self._recorder.entries, parameters)
        self.between.note(loss, built, self._recorder.entries, used)
        self.late_terms.note(loss, self._recorder, used, user_frames())
        self._numbers = numbers_added(self._recorder.entries, used)

    def findings(self, names: dict[str, Any], parameters: dict[str, Any]) -> list[Finding]:
        """What is wrong beside the graph, after a backward. parameters: all that the loss has, by name."""
        self._slopes = [weakref.ref(p.grad) for p in parameters.values() if p.grad is not None]
        return [*self._piled.findings(parameters, self._at), *(self._idle() or self.unstepped.findings()),
                *self._left_out(parameters), *self._modes(names), *self.unkept.findings(),
                *fixed_tables(names, self.made), *all_frozen(self.optimizers, self.frozen),
                *self.logarithms.findings(), *self.hooks.findings(),
                *self.dropped.findings(), *self.late_terms.findings(), *self.second.findings(), *self._numbers,
                *self.rates.findings(self.rates.rate())]

    def _idle(self) -> list[Finding]:
        """Steps that are missed, or had nothing to do."""
        if self._in_vain is not None:
            return [Finding(92, "nothing to step by", "", "", "", "zero_grad() is called between loss.backward() and "
                            "optimizer.step(), which then has no gradients: no parameter is ever updated",
                            "call zero_grad() before loss.backward(), or after optimizer.step()", "doctor",
                            self._in_vain)]
        if len(self.optimizers) and self._waiting > PATIENCE:
            return [Finding(92, "never stepped", "", "", "", f"the last {self._waiting} loss.backward() had no "
                            "optimizer.step() after them: no parameter is updated", "call optimizer.step() after "
                            "loss.backward()", "doctor", self._at)]
        return []

    def _left_out(self, parameters: dict[str, Any]) -> list[Finding]:
        missing = {name: p for name, p in self.not_given(parameters).items() if p.requires_grad and p.grad is not None
                   and (isinstance(p, torch.nn.Parameter) or name not in self._remade and id(p) not in self.asked)}
        if not missing:
            return []
        first, parameter = next(iter(missing.items()))
        listed = ", ".join(list(missing)[:4]) + (" …" if len(missing) > 4 else "")
        beside = {id(p) for name, p in parameters.items() if name.partition(".")[0] == first.partition(".")[0]}
        last = sorted(self.optimizers, key=lambda o: any(id(p) in beside for g in o.param_groups for p in g["params"])
                      )[-1]
        at, frames = place_of_frames(self.made.get(id(last), ())), self.made.get(id(parameter), ())
        places = [list_of(as_place(site)) for site in resolve(frames)]  # a list may be of layers made of layers
        kept = next((p for p in places if p and lists_layers(on_lines(p.file).get(p.line))), None)
        made, at = (kept, kept) if kept else (list_of(place_of_frames(frames)), at)
        pair = None if kept else parted(*(self.made.get(id(p), ()) for p in (last, *missing.values())))
        inner, at = at, as_place(pair[0]) if pair else at
        self._late = (pair[1], (inner, made) != (at, as_place(pair[1]))) if pair else (None, False)
        behind = f": line {pair[0].line} belongs behind line {pair[1].line}" if pair and self._late[1] else ""
        return [Finding(91, "not in the optimizer", first, "", first,
                        f"{listed} get gradients, but no optimizer was given them: they are never updated"
                        + (f"; {first} was made{at_line(made)}" if made else ""),
                        f"make {type(last).__name__} after {first}, which is made{at_line(made)}{behind}" if pair else
                        f"give {type(last).__name__} their parameters too; modules in a plain list are not "
                        "found: nn.ModuleList", f"why {first}", at)]

    def _modes(self, names: dict[str, Any]) -> list[Finding]:
        """Layers that act otherwise in training, and are not in training."""
        modules, found = modules_in(names), []
        self.given |= {id(p) for each in modules.values() for p in each.parameters() if p.grad is not None}
        for name, module in modules.items():
            meant = {inner for part in module.modules() if (own := list(part.parameters())) and not any(
                p.requires_grad and (id(p) in self.given or not self.given) for p in own)
                for inner in part.modules()}  # what is frozen, or not trained, is left in eval mode
            layers = [(inner, layer) for inner, layer in module.named_modules() if isinstance(layer, MODAL)
                      and not layer.training and layer not in meant]
            if layers:
                (inner, layer), self._untrained = layers[0], self._called.get(id(module), ())
                frames = next((self._evaluated[id(m)] for m in (module, layer) if id(m) in self._evaluated), ())
                found.append(Finding(70, "eval mode", f"{name}.{inner}" if inner else name, type(layer).__name__, "",
                                     f"{name} is trained in eval mode: {len(layers)} layers, such as {inner or name} "
                                     f"({type(layer).__name__}), act as in a test", f"call {name}.train() before the "
                                     "training loop, and after each test", "doctor", place_of_frames(frames)))
        return found
