"""The order of steps: a sum is computed as soon as its terms are there, so that they need not wait in memory."""
from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import prod

import numpy as np

from ..plan.passes import is_pure
from ..plan.plan import Plan, Step
from .lowering import Form


def early_sums(plan: Plan, forms: dict[int, Form]) -> Plan:
    """The plan in which each step that frees more memory than it takes follows right after its last input.

    The gradients of a weight that is used at each of many times are made one after the other, and added at
    the end: added at once they take the memory of two, which stays in the cache.
    """
    readers = Counter([i for step in plan.steps for i in step.inputs] + list(plan.fetches))
    made = {slot for step in plan.steps for slot in step.outputs}
    missing = {i: len(made.intersection(step.inputs)) for i, step in enumerate(plan.steps)
               if _shrinks(step, forms, readers, made)}
    waiting = {slot: i for i in missing for slot in plan.steps[i].inputs if slot in made and readers[slot] == 1}
    steps: list[Step] = []
    for i, step in enumerate(plan.steps):
        ready = [step] if i not in missing else []
        while ready:
            current = ready.pop()
            steps.append(current)
            for slot in current.outputs:
                reader = waiting.get(slot)
                if reader is not None:
                    missing[reader] -= 1
                    ready += [plan.steps[reader]] if not missing[reader] else []
    return replace(plan, steps=steps)


def _shrinks(step: Step, forms: dict[int, Form], readers: Counter, made: set[int]) -> bool:
    """Whether the step is the only reader of its inputs, gives fewer bytes than it takes, and cannot fail."""
    own = [i for i in step.inputs if i in made]
    if not isinstance(step.call, np.ufunc) or not is_pure(step) or len(own) < 2 \
            or any(readers[i] != 1 for i in own) or any(i not in forms for i in (*own, *step.outputs)):
        return False
    return sum(_bytes(forms[i]) for i in own) > sum(_bytes(forms[i]) for i in step.outputs)


def _bytes(form: Form) -> int:
    return prod(form.shape) * form.dtype.itemsize
