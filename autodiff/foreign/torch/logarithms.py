"""Losses of logarithms of probabilities, and what a script gives them in their place."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ...debug.analysis.findings import Finding
from ...debug.facts.records import Place
from .graph import array_of
from .record import Recorder, place_of_frames, user_frames

_OF_LOGARITHMS = {  # losses, what they are given in the place of logarithms, and what to give them
    "kl_div": ("probabilities, which sum to 1 in each row", "give it F.log_softmax(logits, -1) in place of a softmax"),
    "nll_loss": ("numbers whose exponentials do not sum to 1",
                 "give it F.log_softmax(logits, 1), or the logits to F.cross_entropy"),
    "ctc_loss": ("numbers whose exponentials do not sum to 1", "give it F.log_softmax(logits, -1)")}


class Logarithms:
    """Looks at what such losses are given, unseen by the recorder. are_shares: that was probabilities."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._seen: tuple[str, Place | None] | None = None  # the loss that was given no logarithms last, and where
        self.are_shares = False

    def watch(self, noting: Callable[[Any, str, Callable[..., None]], None]) -> None:
        """Look at them from now on."""
        for name in _OF_LOGARITHMS:
            noting(torch.nn.functional, name, functools.partial(self._given, name))

    def _given(self, name: str, _: Any, given: Any, *__: Any) -> None:
        saved, self._recorder.paused = self._recorder.paused, True
        rows = np.atleast_1d(array_of(given))
        self._recorder.paused = saved
        axis = 1 if name == "nll_loss" and rows.ndim > 1 else -1
        are_shares = bool((rows >= 0).all() and np.allclose(rows.sum(axis), 1, atol=1e-3))
        with np.errstate(over="ignore"):
            sums = np.exp(rows).sum(axis)
        if are_shares if name == "kl_div" else np.isfinite(sums).all() and not np.allclose(sums, 1, atol=1e-3):
            self._seen, self.are_shares = (name, place_of_frames(user_frames())), are_shares

    def findings(self) -> list[Finding]:
        """What is wrong about them."""
        if self._seen is None:
            return []
        name, place = self._seen
        given, remedy = _OF_LOGARITHMS[name]
        return [Finding(85, "no logarithms", "", "", "", f"{name} is given {given}, where it takes logarithms of "
                        "probabilities: what it gives may fall below 0, and means nothing", remedy, "doctor", place)]
