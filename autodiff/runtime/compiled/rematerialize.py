"""Cheap results that a later group of tiles needs are computed again there, so that they need no memory between.

The gradient of a chain reads nearly all that the chain computed. A sum or a product costs less in the cache
than writing its result to memory, and reading it again.
"""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from ..plan.plan import Plan, Step, inner_steps
from .fusion_groups import Tiles
from .lowering import Form

CHEAP = frozenset((np.add, np.subtract, np.multiply, np.negative, np.square))
LONGEST = 3  # calls to compute one result again


def recomputed(plan: Plan, forms: dict[int, Form]) -> tuple[Plan, dict[int, Form]]:
    """The plan with fewer arrays between its groups of tiles, and the forms of all values known then."""
    readers = Counter([i for step in plan.steps for i in step.inputs] + list(plan.fetches))
    made: dict[int, Step] = {}
    forms, size, steps = dict(forms), plan.size, []
    for step in plan.steps:
        inner = inner_steps(step)
        again = _Again(step, made, forms, readers).chosen() if inner else {}
        if again:
            fresh = {slot: size + i for i, slot in enumerate(again)}
            forms.update({new: forms[old] for old, new in fresh.items()})
            size += len(fresh)
            step = _computing(step, again, fresh)
        steps.append(step)
        made.update({s.outputs[0]: s for s in inner})
    return replace(plan, steps=steps, size=size), forms


def _computing(step: Step, again: dict[int, Step], fresh: dict[int, int]) -> Step:
    """The group with other steps, each before the first that needs it, their results under fresh numbers."""
    inner: list[Step] = []
    added: set[int] = set()

    def add(current: Step) -> None:
        for slot in current.inputs:
            if slot in again and slot not in added:
                added.add(slot)
                add(again[slot])
        inner.append(replace(current, inputs=tuple([fresh.get(i, i) for i in current.inputs]),
                             outputs=tuple([fresh.get(o, o) for o in current.outputs])))

    for current in inner_steps(step):
        add(current)
    own = {o for s in inner for o in s.outputs}
    inputs = dict.fromkeys(i for s in inner for i in s.inputs if i not in own)
    tiles: Tiles = step.call
    return replace(step, inputs=tuple(inputs), call=replace(tiles, steps=tuple(inner)))


@dataclass
class _Again:
    """The values of earlier groups that one group should compute again. made: slot -> the step of a group."""

    step: Step
    made: dict[int, Step]
    forms: dict[int, Form]
    readers: Counter

    def __post_init__(self) -> None:
        self._at_hand = set(self.step.inputs)
        self._chosen: set[int] = set()

    def chosen(self) -> dict[int, Step]:
        """Slot -> its step, in order."""
        left = [i for i in self.step.inputs if i in self.made and self.readers[i] == 1]
        while left:
            chains = {slot: self._chain(slot) for slot in left}
            source, slots = self._best(chains)
            if not slots:
                break
            for slot in slots:
                chain = chains[slot]
                self._chosen.update(chain[:chain.index(source)])  # type: ignore[arg-type]
                left.remove(slot)
            if source is not None:
                self._at_hand.add(source)
        return {slot: step for slot, step in self.made.items() if slot in self._chosen}

    def _best(self, chains: dict[int, list[int | None]]) -> tuple[int | None, list[int]]:
        """The value to start from that saves most, and the steps from it. None: the inputs at hand are enough."""
        complete = [slot for slot, chain in chains.items() if chain[-1] is None]
        if complete:
            return None, complete[:1]
        counts = Counter([slot for chain in chains.values() for slot in chain])
        source, count = counts.most_common(1)[0]
        return source, [slot for slot, chain in chains.items() if source in chain] if count > 1 else []

    def _chain(self, slot: int) -> list[int | None]:
        """The slot, the slot it is computed from, and so on; None at the end if the inputs at hand are enough."""
        chain: list[int | None] = [slot]
        while len(chain) <= LONGEST:
            step = self.made.get(chain[-1])  # type: ignore[arg-type]
            if step is None or step.call not in CHEAP or not self._is_flat(step):
                break
            new = {i for i in step.inputs if i not in self._at_hand and i not in self._chosen and self._is_large(i)}
            if len(new) > 1:
                break
            chain.append(new.pop() if new else None)
            if chain[-1] is None:
                break
        return chain

    def _is_large(self, slot: int) -> bool:
        return self.forms[slot].shape == self.step.call.shape

    def _is_flat(self, step: Step) -> bool:
        return self._is_large(step.outputs[0]) and all(
            self._is_large(i) or int(np.prod(self.forms[i].shape)) == 1 for i in step.inputs)
