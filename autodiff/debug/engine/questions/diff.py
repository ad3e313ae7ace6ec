"""Comparison: two steps, or a step with a file of arrays; the first tensor that differs, in the order of computing."""
from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ....core.errors import ArgumentError, AutodiffError, UnknownNameError
from ....core.graph import Tensor
from ....core.traversal import dependencies, in_order
from ....files.disk.arrays import read_arrays
from ...analysis.findings import Difference, DiffRow
from ...facts.roles import place_of
from ...history.recording import is_recording
from ..runs.effects import Effects
from ..state import State
from .record import values_in

_RUN = re.compile(r"(?P<kind>step|run)?\s*(?P<number>\d+)\Z")


class Comparison:
    """Tells where two computations part."""

    def __init__(self, state: State, effects: Effects) -> None:
        self.state, self.model, self.effects = state, state.model, effects

    def diff(self, a: str, b: str = "", *, rtol: float = 1e-5) -> Difference:
        """Compare tensor by tensor. a, b: `step 3`, `run 7`, or an .npz file whose keys are names.

        b: by default the last run. Keys that are no tensor are told. An array of a file differs when |a - b| > rtol *
        max|b| somewhere; of two runs all that both computed is compared, and what the optimizer keeps is left out.
        """
        left, right = self._side(a), self._side(b) if b else None
        if isinstance(left, dict) and isinstance(right, dict):
            return self._difference(a, b, left, right, rtol)
        if isinstance(left, dict):
            values, unmatched = self._own(left, right if isinstance(right, int) else None)
            found = self._difference(a, b or "the last run", left, values, rtol)
        elif isinstance(right, dict):
            values, unmatched = self._own(right, left)
            found = self._difference(a, b, values, right, rtol)
        else:
            return self._of_steps(a, b, left, right, rtol)
        return replace(found, unmatched=tuple(unmatched))

    def _side(self, text: str) -> int | dict[str, np.ndarray]:
        match = _RUN.match(text.strip())
        if match:
            number = int(match["number"])
            return number if match["kind"] == "run" else self.state.log.run_of(number) or 0
        if is_recording(text):
            return values_in(text)
        if not os.path.exists(text):
            raise ArgumentError(expected="`step N`, `run N` or an .npz file", found=f"{text!r}: there is no such file")
        try:
            return read_arrays(text)
        except OSError as error:
            raise ArgumentError(f"cannot read {text!r}: {error.strerror}") from None

    def _own(self, given: Mapping[str, Any], run: int | None) -> tuple[dict[str, Any], list[str]]:
        """Own values under the names of a file, and the names that mean nothing here."""
        tensors, unmatched = {}, []
        for name in given:
            try:
                tensors[name] = self.model.targets.one(name)
            except (UnknownNameError, ArgumentError):
                unmatched.append(name)
        y = self.model.default_y()
        at = self.state.moment_for([y] if y is not None else list(tensors.values()), run)
        known = self.state.values_known(dict.fromkeys(t.op for t in tensors.values()), at)
        return {name: known[t] for name, t in tensors.items() if t in known}, unmatched

    def _of_steps(self, a: str, b: str, left: int, right: int | None, rtol: float) -> Difference:
        y = self.model.default_y()
        roots = [y] if y is not None else list(self.state.last.tensors) if self.state.last is not None else []
        with contextlib.suppress(AutodiffError):
            roots = self.effects.roots()
        ops = in_order(dependencies(roots))
        one, two = self.state.moment_for(roots, left), self.state.moment_for(roots, right)
        values = [{t.name: v for t, v in self.state.values_known(ops, at).items()} for at in (one, two)]
        return self._difference(a, b or str(self.state.log.at(two.run)), values[0], values[1], rtol)

    def _difference(self, a: str, b: str, left: Mapping[str, Any], right: Mapping[str, Any], rtol: float) -> Difference:
        tensors: dict[str, Tensor | None] = {}
        for name in left:
            if name in right:
                try:
                    tensors[name] = self.model.targets.one(name)
                except AutodiffError:
                    tensors[name] = None
        order = sorted(tensors, key=lambda name: (t.op.index if (t := tensors[name]) is not None else 1 << 60, name))
        rows = tuple(_row(name, tensors[name], left[name], right[name], rtol) for name in order)
        differing = tuple(row for row in rows if row.differs)
        first = differing[0] if differing else None
        if first is None:
            text = f"{len(rows)} tensors are the same" if rows else "there is no tensor that both have"
        else:
            text = f"the first that differs is {first.name}" + (f" ({first.op_type})" if first.op_type else "")
            known = {t.name: t for t in tensors.values() if t is not None}
            same = [known[row.name] for row in rows if not row.differs and row.name in known]
            text += _equal_inputs(known.get(first.name), same)
        return Difference(a, b, rtol, differing, first, len(rows), (), text)


def _equal_inputs(tensor: Tensor | None, same: list[Tensor]) -> str:
    """`; what goes into it is the same: h:0`, as far as its inputs were compared."""
    equal = [] if tensor is None else [t.name for t in same if t in tensor.op.inputs]
    return f"; what goes into it is the same: {', '.join(equal[:4])}" if equal else ""


def _row(name: str, tensor: Tensor | None, left: Any, right: Any, rtol: float) -> DiffRow:
    op_type, place = (tensor.op.type, place_of(tensor.op)) if tensor is not None else ("", None)
    shown = tensor.name if tensor is not None else name
    a, b = np.asarray(left), np.asarray(right)
    if a.shape != b.shape:
        return DiffRow(shown, op_type, True, None, None, (), f"shapes {list(a.shape)} and {list(b.shape)}", "", place)
    if a.dtype.kind not in "biufc" or b.dtype.kind not in "biufc":
        same = bool(np.array_equal(a, b))
        return DiffRow(shown, op_type, not same, None, None, (), "", "", place)
    with np.errstate(all="ignore"):
        gap = np.abs(a.astype(np.complex128) - b.astype(np.complex128)) if "c" in (a.dtype.kind, b.dtype.kind) else \
            np.abs(a.astype(np.float64) - b.astype(np.float64))
    alike = (a == b) | (np.isnan(a) & np.isnan(b)) if a.dtype.kind in "fc" and b.dtype.kind in "fc" else a == b
    gap = np.where(alike, 0.0, np.where(np.isnan(gap), np.inf, gap))
    if not gap.size:
        return DiffRow(shown, op_type, False, 0.0, 0.0, (), "", "", place)
    finite = np.abs(b[np.isfinite(b)]) if b.dtype.kind in "fc" else np.abs(b)
    size = float(finite.max()) if finite.size else 0.0
    largest = float(gap.max())
    index = tuple(int(i) for i in np.unravel_index(int(gap.argmax()), gap.shape))
    relative = largest / size if size else (np.inf if largest else 0.0)
    return DiffRow(shown, op_type, largest > rtol * size, largest, relative, index, str(a[index]), str(b[index]), place)
