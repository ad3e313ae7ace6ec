"""Hooks on gradients: which of them change what they are given."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ...debug.analysis.advice import Remark
from ...debug.analysis.findings import Finding
from ...debug.facts.roles import at_line
from .graph import array_of
from .record import RawFrames, place_of_frames, user_frames

_REGISTER = ((torch.Tensor, "register_hook"), (torch.nn.Module, "register_full_backward_hook"),
             (torch.nn.Module, "register_full_backward_pre_hook"))


class Hooks:
    """changing: where the hooks were registered that gave another gradient than they were given, since it was empty,
    and whether it points the other way."""

    def __init__(self) -> None:
        self.changing: dict[RawFrames, bool] = {}

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
                    self.changing[frames] = found is not None and _is_turned(_tensors(given), _tensors((found,)))
                return found

            return real(thing, seen, *args, **kwargs)

        setattr(owner, name, register)
        return lambda: setattr(owner, name, real)

    def remarks(self) -> list[Remark]:
        """A sentence for each hook that changed a gradient."""
        return [Remark("a hook changes the gradient on its way", place_of_frames(frames)) for frames in self.changing]

    def findings(self) -> list[Finding]:
        """Of hooks that turn a gradient round."""
        places = [place_of_frames(frames) for frames, is_turned in self.changing.items() if is_turned]
        return [Finding(72, "gradient turned", "", "", "", f"a hook registered{at_line(place)} turns the gradient round"
                        ": what it is of is moved uphill, so that the loss rises", "return the gradient with its sign; "
                        "where two parts work against each other, say so by a torch.autograd.Function", "check", place)
                for place in places]


def _is_turned(given: list[Any], found: list[Any]) -> bool:
    """Whether the first of the gradients points the other way."""
    if not given or not found or given[0].shape != found[0].shape:
        return False
    before, after = array_of(given[0]).ravel(), array_of(found[0]).ravel()
    return float(before @ after) < -0.5 * float(np.linalg.norm(before) * np.linalg.norm(after))


def _tensors(given: Any) -> list[Any]:
    parts = [p for g in given for p in (g if isinstance(g, tuple) else (g,))]
    return [p for p in parts if isinstance(p, torch.Tensor)]
