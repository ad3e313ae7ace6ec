"""A plan made ready to run many times: a loop at first, a generated function once it is hot."""
from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ops.common.threads import as_kernels_run
from .compiled.buffers import Strided, entry_reads, observe, specialize
from .compiled.codegen import Generated
from .compiled.memory import keep_freed_memory
from .plan.interpreter import Loop
from .plan.passes import optimize
from .plan.plan import Plan
from .plan.state import Run, handed_out
from .variable_aliases import Alias

HOT = 16  # runs with the same shapes after which a function is generated
COST = 250e-6  # seconds that a step of it takes to generate: as soon as the runs have taken that long, it pays
LONGEST = 5000  # steps: a longer function compiles slowly and runs no faster
VARIANTS = 8  # functions kept, each with its buffers

Shapes = tuple[tuple[int, ...] | Strided | None, ...]


class Program:
    """A plan of a session for one set of fetches and feeds, and the functions compiled of it.

    plan: the optimized plan. Each call picks a function made for the shapes of this run, or else
    runs the loop; the values are the same bit for bit, unless `relaxed` lets the last bits differ. aliases: the fetches
    that Session.run gives as the run left their variables.
    """

    is_inner = False  # what it gives is the caller's

    def __init__(self, plan: Plan, threads: int = 1, *, relaxed: bool = False, aliases: tuple[Alias, ...] = ()) -> None:
        self.plan, self.aliases = optimize(plan), aliases
        self._threads, self._relaxed, self._keeps_subnormals = threads, relaxed, plan.keeps_subnormals
        self.loop = Loop(self.plan)
        self._reads = entry_reads(self.plan)
        self._fixed = _fixed_shapes(self.plan) if not self._reads else None
        self._heat: dict[Shapes, tuple[int, float]] = {}  # runs so far, and the seconds they took
        self._variants: dict[Shapes, Generated] = {}
        self.used = 0  # number of the run that used it last
        self._busy = threading.Lock()  # held while buffers are in use; py_func may run the session again

    def __call__(self, run: Run, fed: Sequence[Any]) -> list[Any]:
        """The values of the fetches, for the caller to keep."""
        self.used = run.number
        shapes = self._fixed or self._shapes(run, fed)
        variant = self._variants.get(shapes) if shapes is not None else None
        with as_kernels_run(self._threads, keeps_subnormals=self._keeps_subnormals):
            if variant is not None and self._busy.acquire(False):
                try:
                    return variant(run, fed)
                finally:
                    self._busy.release()
            with np.errstate(all="ignore"):
                return handed_out(self._values(shapes, run, fed))

    @property
    def specialized(self) -> Plan:
        """The plan of the newest generated function, with its buffers; the general plan if there is none yet."""
        return next(reversed(self._variants.values())).plan if self._variants else self.plan

    def _values(self, shapes: Shapes | None, run: Run, fed: Sequence[Any]) -> list[Any]:
        if shapes is None or not self._busy.acquire(blocking=False):
            return self.loop(run, fed)
        try:
            return self._cold(shapes, run, fed)
        finally:
            self._busy.release()

    def _cold(self, shapes: Shapes, run: Run, fed: Sequence[Any]) -> list[Any]:
        """Run the loop, or make a function in the run in which the time spent so far has paid for it."""
        runs, spent = self._heat.get(shapes, (0, 0.0))
        steps = len(self.plan.steps)
        if steps <= LONGEST and runs and (runs + 1 >= HOT or spent >= steps * COST):
            self._heat[shapes] = (-LONGEST, 0.0)  # not again, should it be displaced
            return self._generate(shapes, run, fed)
        start = time.perf_counter()
        values = self.loop(run, fed)
        self._heat[shapes] = (runs + 1, spent + time.perf_counter() - start)
        return values

    def _shapes(self, run: Run, fed: Sequence[Any]) -> Shapes | None:
        """The shapes of feeds and variables, which decide all others; None if a variable is not initialized."""
        variables = run.variables
        try:
            return (*[value.shape for value in fed], *[variables[name].shape for name in self._reads])
        except KeyError:
            return None

    def _generate(self, shapes: Shapes, run: Run, fed: Sequence[Any]) -> list[Any]:
        keep_freed_memory()
        values, seen = observe(self.plan, run, fed)
        if len(self._variants) == VARIANTS:
            del self._variants[next(iter(self._variants))]
        if len(self._heat) > 16 * VARIANTS:
            self._heat.clear()
        self._variants[shapes] = Generated(
            specialize(self.plan, shapes, seen, relaxed=self._relaxed, inner=self.is_inner), self.loop, self._threads,
            relaxed=self._relaxed, inner=self.is_inner)
        return values


def _fixed_shapes(plan: Plan) -> Shapes | None:
    """The shapes of the feeds, if they are the same in all runs because the placeholders declare them."""
    found = []
    tensors = {slot: tensor for tensor, slot in plan.slots.items()}
    for slot in plan.feeds:
        tensor = tensors[slot]
        if tensor.op.type != "Placeholder" or tensor.dims is None or None in tensor.dims:
            return None
        found.append(tensor.dims)
    return tuple(found)
