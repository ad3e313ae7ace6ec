"""Second derivatives by inputs, as of a differential equation: of all columns at once, or of straight pieces."""
from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from ....debug.analysis.findings import Finding
from ....debug.analysis.mistakes.axes.second_derivatives import mixed, straight
from ....ops.common.instead import instead
from ..graph import array_of, packet_of
from ..record import Entry, RawFrames, Recorder, place_of_frames, user_frames

_CALLS = 12  # that are looked at
_STRAIGHT = ("relu", "relu_", "leaky_relu", "leaky_relu_", "threshold", "clamp_min", "hardtanh")


class SecondDerivatives:
    """Watches torch.autograd.grad with create_graph. grad: torch's own; optimized: identities of what is trained."""

    def __init__(self, recorder: Recorder, grad: Callable[..., Any], optimized: Callable[[], set[int]]) -> None:
        self._recorder, self._grad, self._optimized = recorder, grad, optimized
        self._firsts: list[tuple[weakref.ref[Any], weakref.ref[Any]]] = []  # by which, and the first derivative
        self._looks, self._mixed = 0, list[Finding]()
        self._zeros: list[tuple[int, bool, RawFrames]] = []  # how many, whether all are 0, and where
        self._piece: Entry | None = None

    def seen(self, run: Callable[[], Any], outputs: Any, inputs: Any, grad_outputs: Any = None, _: Any = None,
             create_graph: Any = False, *__: Any, **___: Any) -> Any:
        """What a call gives. run: it; the rest: what it is given."""
        found = run()
        if create_graph and not self._recorder.paused and found and found[0] is not None:
            with contextlib.suppress(Exception), instead([(self._recorder, "paused", True)]):  # the script goes on
                self._note(outputs, inputs, grad_outputs, found[0])
        return found

    def _note(self, of: Any, x: Any, weights: Any, found: Any) -> None:
        of, x, weights = (each[0] if isinstance(each, (list, tuple)) and len(each) == 1 else each
                          for each in (of, x, weights))
        if not isinstance(x, torch.Tensor) or not isinstance(of, torch.Tensor) or self._looks >= _CALLS or (
                id(x) in self._optimized()):
            return
        for first in [g for by, first in self._firsts if by() is x and (g := first()) is not None][-1:]:
            self._looks += 1
            self._look(of, x, weights, first, found)
        self._firsts = [*self._firsts[-7:], (weakref.ref(x), weakref.ref(found))]

    def _look(self, of: Any, x: Any, weights: Any, first: Any, second: Any) -> None:
        frames, zeros = user_frames(), not array_of(second).any()
        self._zeros.append((second.numel(), zeros, frames))
        pieces = [e for e in self._recorder.entries if packet_of(e) in _STRAIGHT] if zeros else []
        self._piece = next(iter(pieces), self._piece)
        if zeros or first.dim() != 2 or not 1 < first.shape[1] <= 4 or self._mixed:
            return
        said, = self._grad([of], [first], grad_outputs=None if weights is None else [weights], retain_graph=True,
                           allow_unused=True)
        weight = np.zeros(1) if said is None else array_of(said)
        if not weight.any() or np.ptp(weight):
            return  # not each column alike, as of a norm
        rows = [self._grad([first[:, i].sum()], [x], retain_graph=True, allow_unused=True)[0] if first.requires_grad
                else None for i in range(first.shape[1])]
        own = np.stack([np.zeros(len(first)) if row is None else array_of(row)[:, i] for i, row in enumerate(rows)], 1)
        told = mixed(own, array_of(second) / weight.flat[0] - own, place_of_frames(frames), "of the first steps")
        self._mixed += [told] if told is not None else []

    def findings(self) -> Sequence[Finding]:
        """What is said of them."""
        piece, place = self._piece, place_of_frames(self._piece.frames) if self._piece is not None else None
        if piece is None or place is None or not all(zeros for _, zeros, _ in self._zeros):
            return self._mixed
        told = straight(packet_of(piece), place_of_frames(self._zeros[0][2]), sum(count for count, *_ in self._zeros))
        return [replace(told, place=place)]
