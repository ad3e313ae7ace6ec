"""From ops to ufuncs: each kernel is replaced by its calls, and calls are saved, with the same bits.

A call on values that only repeat a smaller one (broadcasts, fills) is made on the smaller one; a
product with one is its other factor; products with several numbers are one where that is exact; equal
calls are made once. x * x is np.square, bit for bit.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ...ops.math.reductions import ones_for
from ..plan.passes import drop_unused, is_pure, merge_equal, rewired
from ..plan.plan import Plan, Step
from ..plan.zero_padding import padded
from .tracing import Reduction, Traced, trace

LARGEST_SHARED = 256  # bytes of a constant that is looked for among those the plan has
LARGEST_REPEATED = 1 << 16  # bytes of a constant that may turn out to be one number, repeated


class Form(NamedTuple):
    """Shape and dtype of a value, the same in each run."""

    shape: tuple[int, ...]
    dtype: np.dtype


@dataclass(frozen=True, eq=False)
class RowSum:
    """The sum of the rows of matrices of one shape. ones: as many as there are rows."""

    ones: np.ndarray
    __name__ = "dot"

    def __call__(self, x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        return np.dot(self.ones, x, out)


def lowered(plan: Plan, forms: dict[int, Form], ordered: set[int]) -> tuple[Plan, dict[int, Form]]:
    """The plan with calls of ufuncs for kernels that consist of them, and the forms of all values known then.

    forms: of the values whose shape and dtype are the same in each run. ordered: the slots in C order; new ones are
    added. The bits of a sum depend on the order of its terms in memory.
    """
    writer = _Writer(plan, forms, ordered)
    for step in plan.steps:
        writer.add(step)
    plan = replace(plan, steps=writer.steps, constants=writer.constants, size=writer.size)
    return drop_unused(merge_equal(rewired(plan, writer.renamed))), writer.forms


def is_ordered(result: Any) -> bool:
    """Whether a ufunc of this array alone gives an array in C order."""
    if not isinstance(result, np.ndarray):
        return True
    strides = [abs(stride) for stride, size in zip(result.strides, result.shape) if size > 1 and stride]
    return strides == sorted(strides, reverse=True)


def exact_product(first: Any, second: Any) -> Any:
    """The number that does what multiplying by `first` and then by `second` does to each value; None if there is none.

    That is so for a sign, and for powers of two, which only move the point, unless a value gets so small
    in between that digits are lost: not if both are at least one and the first keeps those values whole.
    """
    with np.errstate(all="ignore"):
        total = first * second
    if not np.isfinite(total):
        return None
    if abs(first) == 1 or abs(second) == 1:
        return total
    small_stay_whole = _is_power_of_two(first) or _is_power_of_two(second) and first == np.floor(first)
    return total if small_stay_whole and abs(first) >= 1 and abs(second) >= 1 else None


def _is_power_of_two(number: Any) -> bool:
    return bool(abs(np.frexp(number)[0]) == 0.5)


class _Writer:
    """Appends steps. small: slot -> slot of a value that, repeated, is the same; renamed: slot -> the same value."""

    def __init__(self, plan: Plan, forms: dict[int, Form], ordered: set[int]) -> None:
        self._ordered = ordered
        self.steps: list[Step] = []
        self.constants = dict(plan.constants)
        self.size = plan.size
        self.renamed: dict[int, int] = {}
        self.forms = dict(forms)
        self.forms.update({slot: Form(np.shape(v), v.dtype) for slot, v in plan.constants.items()})
        ordered.update(slot for slot, value in plan.constants.items() if is_ordered(value))
        self._small: dict[int, int] = {}
        self._multiples: dict[int, tuple[int, Any]] = {}  # slot -> (slot, number) whose product it is
        self._shared: dict[Any, int] = {}

    def add(self, step: Step) -> None:
        """Append a step, as calls where its kernel makes some."""
        step = replace(step, inputs=tuple([self.renamed.get(i, i) for i in step.inputs]))
        repeats = _REPEATS.get(step.op.type) if is_pure(step) else None
        if step.call is not None:
            self.steps.append(step)
        elif repeats is not None:
            self._repeat(step, repeats(self, step))
        elif not self._calls(step):
            self.steps.append(padded(self._row_sum(step), self.constants))

    def _repeat(self, step: Step, source: int | None) -> None:
        if source is not None and self.forms.get(source) and self.forms.get(step.outputs[0]):
            source = self._small.get(source, source)
            if self.forms[source].dtype == self.forms[step.outputs[0]].dtype:
                self._small[step.outputs[0]] = source
        self.steps.append(step)

    def _row_sum(self, step: Step) -> Step:
        """The step; a sum of the rows of a matrix is bound to the vector of ones that its kernel makes each time."""
        if step.op.type != "SumTo" or step.inputs[0] not in self.forms or step.inputs[1] not in self.constants:
            return step
        ones = ones_for(*self.forms[step.inputs[0]], tuple(self.constants[step.inputs[1]].tolist()))
        return step if ones is None else replace(step, inputs=step.inputs[:1], call=RowSum(ones))

    def _calls(self, step: Step) -> bool:
        """Append the calls that the step's kernel makes; False if it is not made of calls alone."""
        if not is_pure(step) or len(step.outputs) != 1 or any(i not in self.forms for i in step.inputs):
            return False
        result = self.forms.get(step.outputs[0])
        if result is None:
            return False
        found = trace(step.op.definition, [self.constants.get(i, self.forms[i]) for i in step.inputs], step.op.attrs)
        if found is None or Form(found[1][-1].value.shape, found[1][-1].value.dtype) != result:
            return False
        slots: dict[int, int] = {}
        for stand_in, slot in zip(found[0], [i for i in step.inputs if i not in self.constants]):
            slots[id(stand_in)] = slot
        for entry in found[1]:
            operands = tuple([slots[id(x)] if isinstance(x, Traced) else self._constant(x) for x in entry.operands])
            out = step.outputs[0] if entry is found[1][-1] else self._slot(Form(entry.value.shape, entry.value.dtype))
            slots[id(entry.value)] = out
            self._call(replace(step, inputs=operands, outputs=(out,), call=entry.function))
        return True

    def _call(self, step: Step) -> None:
        """Append one call, or find that it needs not be made."""
        out, = step.outputs
        operands = tuple([self.renamed.get(i, i) for i in step.inputs])
        in_order = len(self.forms[out].shape) < 2 or self._ordered.issuperset(operands)
        if in_order:
            self._ordered.add(out)
        if not isinstance(step.call, Reduction) and in_order:
            small = tuple([self._small.get(i, i) for i in operands])
            shape = np.broadcast_shapes(*[self.forms[i].shape for i in small])
            if shape == self.forms[out].shape:
                operands = small
            else:
                self._call_small(step, small, shape)
        same = self._factor(step, operands) if in_order else None
        if same is not None:
            self.renamed[out] = same
            return
        function: Any = step.call
        if function is np.add:
            function, operands = self._difference(operands)
        elif function is np.multiply and operands[0] == operands[1]:
            function, operands = np.square, operands[:1]
        elif function in (np.multiply, np.negative):
            function, operands = self._multiple(function, operands, out)
        if function is None:
            self.renamed[out] = operands[0]
        else:
            self.steps.append(replace(step, call=function, inputs=operands))

    def _difference(self, operands: tuple[int, ...]) -> tuple[Any, tuple[int, ...]]:
        """a + -b is a - b."""
        for place in (1, 0):
            base, number = self._multiples.get(operands[place], (None, 0))
            if base is not None and number == -1:
                return np.subtract, (operands[1 - place], base)
        return np.add, operands

    def _multiple(self, function: Any, operands: tuple[int, ...], out: int) -> tuple[Any, tuple[int, ...]]:
        """A product with a number, merged with an earlier one if that is exact; without function, the value itself."""
        dtype = self.forms[out].dtype
        base, number = operands[0], dtype.type(-1) if function is np.negative else None
        for i, other in zip(operands, operands[::-1]):
            constant = self.constants.get(i)
            if function is np.multiply and constant is not None and constant.ndim == 0 and constant.dtype == dtype:
                base, number = other, constant[()]
        if number is None or dtype.kind != "f" or self.forms[base] != self.forms[out]:
            return function, operands
        inner, first = self._multiples.get(base, (base, dtype.type(1)))
        total = exact_product(first, number)
        if total is None or inner == base:
            self._multiples[out] = base, number
            return function, operands
        self._multiples[out] = inner, total
        if total == 1:
            return None, (inner,)
        return (np.negative, (inner,)) if total == -1 else (np.multiply, (inner, self._constant(np.asarray(total))))

    def _call_small(self, step: Step, small: tuple[int, ...], shape: tuple[int, ...]) -> None:
        """Call it on the smaller value that repeats; the call on the whole is dropped later if nothing reads it."""
        out = step.outputs[0]
        if all(i in self.constants for i in small):
            with np.errstate(all="ignore"):
                self._small[out] = self._constant(np.asarray(step.call(*[self.constants[i] for i in small])))
            return
        slot = self._slot(Form(shape, self.forms[out].dtype))
        self._call(replace(step, inputs=small, outputs=(slot,)))
        self._small[out] = self.renamed.get(slot, slot)

    def _factor(self, step: Step, operands: tuple[int, ...]) -> int | None:
        """The operand that a product with ones, or a quotient by ones, is equal to."""
        places = {np.multiply: (0, 1), np.divide: (1,)}.get(step.call, ())
        for place in places:
            other = operands[1 - place]
            ones = self.constants.get(operands[place])
            if ones is not None and self.forms[other] == self.forms[step.outputs[0]] and ones.dtype.kind in "fc" \
                    and ones.size <= LARGEST_SHARED and (ones == 1).all():
                return other
        return None

    def _slot(self, form: Form) -> int:
        self.forms[self.size] = form
        self.size += 1
        return self.size - 1

    def _constant(self, value: np.ndarray) -> int:
        key = (value.dtype.str, value.shape, value.tobytes()) if value.nbytes <= LARGEST_SHARED else id(value)
        slot = self._shared.get(key)
        if slot is None:
            slot = self._shared[key] = self._slot(Form(value.shape, value.dtype))
            value.setflags(write=False)
            self.constants[slot] = value
            self._ordered.add(slot)
            if value.dtype.kind == "f" and 1 < value.size and value.nbytes <= LARGEST_REPEATED \
                    and value.tobytes() == value.flat[0].tobytes() * value.size:
                self._small[slot] = self._constant(np.asarray(value.flat[0]))
        return slot

    def broadcast(self, step: Step) -> int | None:
        return step.inputs[0]

    def fill(self, step: Step) -> int | None:
        return step.inputs[1] if self.forms.get(step.inputs[1], Form((1,), np.dtype(bool))).shape == () else None

    def like(self, step: Step) -> int | None:
        form = self.forms.get(step.outputs[0])
        if form is None or form.dtype.kind not in "fiubc":
            return None
        return self._constant(np.full((), step.op.type == "OnesLike", form.dtype))

    def rearranged(self, step: Step) -> int | None:
        """A single number stays one however it is arranged."""
        source = self._small.get(step.inputs[0], -1)
        return source if source >= 0 and self.forms[source].shape == () else None


_REPEATS: dict[str, Callable[[_Writer, Step], int | None]] = {
    "BroadcastTo": _Writer.broadcast, "Fill": _Writer.fill, "OnesLike": _Writer.like, "ZerosLike": _Writer.like,
    "Reshape": _Writer.rearranged, "ExpandDims": _Writer.rearranged, "Transpose": _Writer.rearranged}
