"""Hooks on gradients: which of them change what they are given."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from ...debug.analysis.advice import Remark
from .record import RawFrames, place_of_frames, user_frames

_REGISTER = ((torch.Tensor, "register_hook"), (torch.nn.Module, "register_full_backward_hook"),
             (torch.nn.Module, "register_full_backward_pre_hook"))


class Hooks:
    """changing: where the hooks were registered that gave another gradient than they were given, since it was empty."""

    def __init__(self) -> None:
        self.changing: dict[RawFrames, None] = {}

    def watched(self) -> list[Callable[[], None]]:
        """Look at the hooks that are registered from now on; gives what undoes it."""
        return [self._watch(owner, name) for owner, name in _REGISTER]

    def _watch(self, owner: Any, name: str) -> Callable[[], None]:
        real = getattr(owner, name)

        def register(thing: Any, hook: Any, *args: Any, **kwargs: Any) -> Any:
            frames = user_frames()

            @functools.wraps(hook, updated=())
            def seen(*given: Any) -> Any:
                versions = [g._version for g in _tensors(given)]
                found = hook(*given)
                if found is not None and found is not given[0] or versions != [g._version for g in _tensors(given)]:
                    self.changing[frames] = None
                return found

            return real(thing, seen, *args, **kwargs)

        setattr(owner, name, register)
        return lambda: setattr(owner, name, real)

    def remarks(self) -> list[Remark]:
        """A sentence for each hook that changed a gradient."""
        return [Remark("a hook changes the gradient on its way", place_of_frames(frames)) for frames in self.changing]


def _tensors(given: Any) -> list[Any]:
    parts = [p for g in given for p in (g if isinstance(g, tuple) else (g,))]
    return [p for p in parts if isinstance(p, torch.Tensor)]
