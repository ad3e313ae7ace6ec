"""Habits of PyTorch programs that no graph shows: gradients that pile up, optimizers that lack a parameter, layers that
are in the wrong mode."""
from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from ...core.site import Site, resolve
from ...debug.analysis.findings import Finding
from ...debug.facts.records import Place
from ...debug.facts.roles import as_place
from .names import modules_in
from .record import RawFrames, Recorder, user_frames

MODAL = (torch.nn.modules.batchnorm._BatchNorm, torch.nn.modules.dropout._DropoutNd, torch.nn.AlphaDropout)


class Habits:
    """Context: watches optimizers and modes of modules. Their own ops pass unseen by the recorder."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._made: "weakref.WeakKeyDictionary[Any, RawFrames]" = weakref.WeakKeyDictionary()
        self._evaluated: "weakref.WeakKeyDictionary[Any, RawFrames]" = weakref.WeakKeyDictionary()
        self._steps = 0  # of optimizers, since the last backward
        self._backwards = 0
        self._piled: tuple[list[str], Place | None, int] = ([], None, 0)
        self._undo: list[Callable[[], None]] = []

    def __enter__(self) -> "Habits":
        saved: list[bool] = []

        def begin(*_: Any) -> None:
            saved.append(self._recorder.paused)
            self._recorder.paused = True

        def end(*_: Any) -> None:
            self._recorder.paused = saved.pop()
            self._steps += 1

        handles = register_optimizer_step_pre_hook(begin), register_optimizer_step_post_hook(end)
        self._undo += [handle.remove for handle in handles]
        self._noting(torch.optim.Optimizer, "__init__", self._made)
        self._noting(torch.nn.Module, "eval", self._evaluated)
        return self

    def __exit__(self, *_: Any) -> None:
        for undo in self._undo:
            undo()
        self._undo = []

    def _noting(self, owner: Any, name: str, into: Any) -> None:
        """Note the line of each call of a method, by the object it is called on."""
        real = getattr(owner, name)

        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            found = real(self, *args, **kwargs)
            into[self] = user_frames()
            return found

        setattr(owner, name, method)
        self._undo.append(lambda: setattr(owner, name, real))

    def before_backward(self, parameters: dict[str, Any], frames: RawFrames) -> None:
        """Look at the gradients that a backward will add to."""
        piled = [name for name, p in parameters.items() if p.grad is not None and bool(p.grad.count_nonzero())]
        if self._steps and piled and self._backwards:
            self._piled = piled, _place(frames), self._piled[2] + 1
        else:
            self._piled = [], None, 0
        self._steps, self._backwards = 0, self._backwards + 1

    def findings(self, names: dict[str, Any], parameters: dict[str, Any]) -> list[Finding]:
        """What is wrong beside the graph, after a backward."""
        return [*self._pile(), *self._left_out(parameters), *self._modes(names)]

    def _pile(self) -> list[Finding]:
        piled, place, times = self._piled
        if not piled:
            return []
        more = f" and {len(piled) - 1} more" if len(piled) > 1 else ""
        return [Finding(92, "gradients accumulate", piled[0], "", piled[0],
                        f"loss.backward() adds to gradients that optimizer.step() has used already, in {piled[0]}{more}"
                        f", {times} times in a row: zero_grad() is not called in between", "call optimizer.zero_grad() "
                        "before loss.backward()", f"why {piled[0]}", place)]

    def _left_out(self, parameters: dict[str, Any]) -> list[Finding]:
        if not self._made:
            return []
        known = {id(p) for optimizer in self._made for group in optimizer.param_groups for p in group["params"]}
        missing = [name for name, p in parameters.items() if id(p) not in known and p.requires_grad
                   and p.grad is not None]
        if not missing:
            return []
        optimizer, frames = next(iter(self._made.items()))
        listed = ", ".join(missing[:4]) + (" …" if len(missing) > 4 else "")
        return [Finding(91, "not in the optimizer", missing[0], "", missing[0],
                        f"{listed} get gradients, but no optimizer was given them: they are never updated",
                        f"give {type(optimizer).__name__} their parameters too", f"why {missing[0]}", _place(frames))]

    def _modes(self, names: dict[str, Any]) -> list[Finding]:
        """Layers that act otherwise in training, and are not in training."""
        found = []
        for name, module in modules_in(names).items():
            layers = [(inner, layer) for inner, layer in module.named_modules() if isinstance(layer, MODAL)
                      and not layer.training]
            if layers:
                frames = next((self._evaluated[m] for m in (module, layers[0][1]) if m in self._evaluated), ())
                inner, layer = layers[0]
                found.append(Finding(70, "eval mode", f"{name}.{inner}" if inner else name, type(layer).__name__, "",
                                     f"{name} is trained in eval mode: {len(layers)} layers, such as {inner or name} "
                                     f"({type(layer).__name__}), act as in a test", f"call {name}.train() before the "
                                     "training loop, and after each test", "doctor", _place(frames)))
        return found


def _place(frames: RawFrames) -> Place | None:
    sites: tuple[Site, ...] = resolve(frames[:1])
    return as_place(sites[0]) if sites else None
