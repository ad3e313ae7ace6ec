"""A plan for given shapes: sizes folded to constants, and results written into buffers shared by lifetime.

The ops' own `infer`, called on stand-ins of the fed shapes, tells which results have the same shape in each run. One
measured run (`observe`) tells how results lie in memory, and whether kernels write into `out` as they should. A value
that leaves the run (fetched, given to a variable, py_func or sub-graph) gets no buffer.
"""
from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...core.constant_value import static_value
from ...core.convert import constant_in
from ...core.dtypes import DType, as_dtype, variant
from ...core.function_graph import is_repeatable
from ...core.graph import Graph, Tensor
from ...core.op import OPS, Ref, Spec
from ...core.shapes import Dims
from ..plan.interpreter import starting_slots, steps_with_values
from ..plan.kernel_traits import direct_ufunc, passes_on
from ..plan.passes import drop_unused, fold_constants, is_pure
from ..plan.plan import Buffer, Plan, Step, last_uses, reads_item
from ..plan.state import Run
from ..plan.zero_padding import parts_of_paddings
from .fusion_groups import gathered, with_outputs
from .lowering import Form, is_ordered, lowered
from .matmul_rewrites import Columns, Stack, columns_read, reassociated
from .memory import RECYCLED, early_sums
from .rematerialize import recomputed


class Strided(NamedTuple):
    """The shape of an array that does not lie in C order."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]


MOST_COMPARED, LARGEST_KEPT = 1 << 20, 1 << 25  # bytes at a time; of a fetched result that is kept for the next run too


class Observed(NamedTuple):
    """Results of one run. layouts: slot -> how an array of its own lies in memory; written: those `out` can hold.

    ordered: those whose axes lie in memory as in their shape, views too. items: of lists. numbers: NumPy's scalars.
    """

    layouts: dict[int, Buffer]
    written: set[int]
    ordered: set[int]
    items: dict[int, Buffer]
    numbers: set[int]


def observe(plan: Plan, run: Run, fed: Sequence[Any]) -> tuple[list[Any], Observed]:
    """Run the plan once; gives the fetched values and the layouts of the results."""
    seen, leaving = Observed({}, set(), set(), {}, set()), _leaving(plan)
    slots = starting_slots(plan, fed)
    for step, args in steps_with_values(plan, run, slots):
        pure = is_pure(step)
        seen.ordered.update(slot for slot in step.outputs if pure and is_ordered(slots[slot]))
        if pure and len(step.outputs) == 1:
            result = slots[step.outputs[0]]
            if isinstance(result, np.generic) and not passes_on(step.op):
                seen.numbers.add(step.outputs[0])
            if reads_item(step):
                if isinstance(result, (np.ndarray, np.generic)):
                    seen.items[step.outputs[0]] = Buffer(-1, result.shape, result.strides, result.dtype)
            elif _is_dense(result):
                seen.layouts[step.outputs[0]] = Buffer(-1, result.shape, result.strides, result.dtype)
                is_kept = result.nbytes <= LARGEST_KEPT or step.outputs[0] not in leaving
                if step.op.definition.takes_out and is_kept and _writes_out(step, args, result):
                    seen.written.add(step.outputs[0])
        args.clear()  # held until the next step has run, a variable's value could not be updated in place
    return [slots[i] for i in plan.fetches], seen


def _leaving(plan: Plan) -> set[int]:
    """The results that the caller gets, or may get a view of."""
    found = set(plan.fetches)
    for step in reversed(plan.steps):
        if not step.op.definition.takes_out and not found.isdisjoint(step.outputs):
            found.update(step.inputs)
    return found


def _is_dense(result: Any) -> bool:
    return (isinstance(result, np.ndarray) and result.ndim > 0 and result.dtype != object and result.base is None)


def _writes_out(step: Step, args: list[Any], result: np.ndarray) -> bool:
    """Whether the kernel gives the same bits, of its own, when it is handed a buffer."""
    if any(result is arg for arg in args):
        return False
    out = np.empty_like(result)
    again = step.op.definition.kernel(*args, out=out, **step.op.attrs)
    if again is not out or out.strides != result.strides:
        return False
    rows = max(MOST_COMPARED * len(out) // max(out.nbytes, 1), 1)
    return all(out[i:i + rows].tobytes() == result[i:i + rows].tobytes() for i in range(0, len(out), rows))


def specialize(plan: Plan, shapes: Sequence[tuple[int, ...] | Strided | None], seen: Observed, *, relaxed: bool = False,
               inner: bool = False) -> Plan:
    """The plan for feeds and entry reads of these shapes; seen: from `observe` with the same shapes.

    A feed whose shape is None is no array. relaxed: products may be rewritten, with other bits.
    inner: it is called many times in a run, and what it gives lives on: none of that has memory in a buffer.
    """
    items = seen.items if all(step.reads is not None or is_repeatable(step.op) for step in plan.steps) else {}
    stand_ins = _StandIns(plan, shapes, items)
    constants = {**plan.constants, **stand_ins.folded}
    steps = [s for s in plan.steps if not (s.outputs and all(o in constants for o in s.outputs))]
    plan = drop_unused(fold_constants(replace(plan, steps=steps, constants=constants)))
    ordered = seen.ordered.union([slot for slot, shape in zip(plan.feeds, shapes) if type(shape) is tuple],
                                 *[step.outputs for step in plan.steps if step.reads is not None])
    plan, forms = lowered(plan, stand_ins.forms(), ordered)
    own = {slot for slot, layout in seen.layouts.items() if layout.strides == _in_order(layout.shape, layout.dtype)}
    known = set(forms)
    plan, forms = reassociated(plan, forms) if relaxed else columns_read(plan, forms, own)
    if relaxed:
        ordered |= forms.keys() - known  # stacks and their products are arrays of the plan's own
    plan = early_sums(plan, forms)
    plan, forms = recomputed(gathered(plan, forms, forms.keys() - ordered), forms)
    plan = replace(with_outputs(plan), expected=items, forms=forms)
    return _Assignment(plan, _steady(plan, forms, seen, ordered), seen.numbers, inner).assigned()


def _in_order(shape: tuple[int, ...], dtype: np.dtype) -> tuple[int, ...]:
    """Strides of an array in C order."""
    sizes = [dtype.itemsize, *shape[:0:-1]] if shape else []
    return tuple(np.cumprod(sizes, dtype=np.int64)[::-1].tolist())


def _steady(plan: Plan, forms: dict[int, Form], seen: Observed, ordered: set[int]) -> dict[int, Buffer]:
    """The results that may have a buffer: of the same shape in each run, and written where `out` says."""
    steady = {}
    for step in plan.steps:
        for slot in step.outputs:
            form, layout = forms.get(slot), seen.layouts.get(slot)
            if form is None or not form.shape or (step.call is None and slot not in seen.written) \
                    or isinstance(step.call, Columns) or reads_item(step):
                continue
            if layout is None and step.call is not None and slot in ordered:
                layout = Buffer(-1, form.shape, _in_order(*form), form.dtype)
            if layout is not None and layout.shape == form.shape:
                steady[slot] = layout
    return steady


def entry_reads(plan: Plan) -> list[str]:
    """Variables that are read before the plan itself gives them a value."""
    found: dict[str, None] = {}
    written: set[str] = set()
    for step in plan.steps:
        if step.reads is not None and step.reads not in written:
            found[step.reads] = None
        written.update(name for name in step.inputs if isinstance(name, str))
    return list(found)


class _StandIns:
    """The plan's ops built once more in a scratch graph, from inputs of the known shapes.

    folded: slot -> value, for whole numbers that depend on the shapes alone.
    """

    def __init__(self, plan: Plan, shapes: Sequence[tuple[int, ...] | Strided | None],
                 items: dict[int, Buffer]) -> None:
        self.folded: dict[int, Any] = {}
        self._graph = Graph()
        self._entry = dict(zip(entry_reads(plan), shapes[len(plan.feeds):]))
        self._written: set[str] = set()
        fed = {slot: tensor.dtype.base_dtype for tensor, slot in plan.slots.items() if slot in plan.feeds}
        self._items = items
        known = [shape.shape if isinstance(shape, Strided) else shape for shape in shapes]
        self._tensors = {slot: self._opaque(fed.get(slot, variant), shape) for slot, shape in zip(plan.feeds, known)}
        for slot, value in plan.constants.items():
            self._tensors[slot] = constant_in(self._graph, np.asarray(value), "c")
        for step in plan.steps:
            tensors = [self._read(step)] if step.reads is not None else self._outputs(step)
            for slot, tensor in zip(step.outputs, tensors):
                self._tensors[slot] = self._known(slot, tensor) if is_pure(step) else tensor

    def forms(self) -> dict[int, Form]:
        """Shape and dtype of the values whose shape is the same in each run with the known shapes."""
        return {slot: Form(t.dims, np.dtype(t.dtype.as_numpy_dtype)) for slot, t in self._tensors.items()
                if t.dims is not None and None not in t.dims and t.dtype.name not in ("resource", "variant")}

    def _opaque(self, dtype: DType, dims: Dims | None) -> Tensor:
        spec = Spec(dtype, dims)
        return self._graph.add(OPS["Placeholder"], (), {"dtype": dtype, "shape": dims}, (spec,), "x").outputs[0]

    def _read(self, step: Step) -> Tensor:
        tensor, attrs = step.op.outputs[0], step.op.attrs
        dtype = as_dtype(attrs["dtype"]) if tensor.dtype.name == "resource" else tensor.dtype.base_dtype
        return self._opaque(dtype, None if step.reads in self._written else self._entry[step.reads])  # type: ignore[index]

    def _outputs(self, step: Step) -> Sequence[Tensor]:
        if reads_item(step):
            form = self._items.get(step.outputs[0])
            return [self._opaque(variant, None) if form is None else self._opaque(as_dtype(form.dtype), form.shape)]
        names = [i for i in step.inputs if isinstance(i, str)]
        self._written.update(names)
        inputs = tuple([self._tensors[i] for i in step.inputs if not isinstance(i, str)])
        try:
            specs: Any = step.op.definition.infer(*inputs, **step.op.attrs) if not names else None
        except Exception:  # what cannot be inferred gets no buffer
            specs = None
        if specs is None:
            return [self._opaque(t.dtype.base_dtype, None) for t in step.op.outputs]
        specs = (specs,) if isinstance(specs, Spec) else specs
        return self._graph.add(step.op.definition, inputs, step.op.attrs, specs, "x").outputs

    def _known(self, slot: int, tensor: Tensor) -> Tensor:
        value = static_value(tensor, 2)  # inputs that are known have become constants: no need to look further
        if value is None:
            return tensor
        constant = constant_in(self._graph, value, "c")
        self.folded[slot] = constant.op.attrs["value"]
        return constant


class _Assignment:
    """Gives results their blocks, walking the steps once; a block is free again after its value's last reader.

    steady: the results that may have a buffer. An op without `out` may return a view of an input, so its result keeps
    the buffers of its inputs alive, but for `numbers`.
    """

    def __init__(self, plan: Plan, steady: dict[int, Buffer], numbers: set[int], inner: bool) -> None:
        self._plan, self._steady, self._numbers = plan, steady, numbers
        self._holds: dict[int, frozenset[int]] = {}  # slot -> steady slots whose memory it may share
        self._last = last_uses(plan)
        for step in plan.steps:
            self._follow(step)
        for slot in frozenset().union(*[self._holds.get(i, ()) for i in plan.fetches]) - {*plan.fetches}:
            if slot in steady and (inner or _bytes(steady[slot]) >= RECYCLED):  # the caller gets a view of it
                del steady[slot]
        layouts = {slot: self._steady.pop(slot) for slot in dict.fromkeys(plan.fetches) if slot in self._steady}
        self._given = {slot: layout for slot, layout in layouts.items()
                       if layout.strides == _in_order(layout.shape, layout.dtype) and _bytes(layout) >= RECYCLED}
        for slot, root in [(slot, root) for slot, held in self._holds.items() for root in held]:
            self._last[root] = max(self._last[root], self._last[slot])
        stacks = self._parts_of_stacks()
        self._stacks = {stack for stack, _ in stacks.values()}
        self._parts = {**parts_of_paddings(plan.steps, self._steady, {*stacks, *self._stacks}), **stacks}
        self._sizes: list[int] = []
        self._free: list[int] = []
        self._ends: dict[int, list[int]] = {}  # step -> slots whose blocks are free after it

    def _follow(self, step: Step) -> None:
        held = frozenset().union(*[self._holds.get(i, ()) for i in step.inputs])
        if _keeps_arguments(step):
            for slot in held:
                self._steady.pop(slot, None)
        for slot in step.outputs:
            own = (slot,) if slot in self._steady else ()
            self._holds[slot] = frozenset(own) if own or slot in self._numbers else held

    def _parts_of_stacks(self) -> dict[int, tuple[int, int]]:
        """Slot -> the stack that it is a part of, and at which byte, for stacks that need no copy."""
        parts: dict[int, tuple[int, int]] = {}
        for step in self._plan.steps:
            own = [self._steady.get(i) for i in step.inputs]
            if not isinstance(step.call, Stack) or None in own or not parts.keys().isdisjoint(step.inputs) \
                    or len(set(step.inputs)) < len(own) or step.outputs[0] not in self._steady \
                    or any(b.strides != _in_order(b.shape, b.dtype) for b in own if b):
                continue
            stack, offset = step.outputs[0], 0
            for slot in step.inputs:
                parts[slot] = stack, offset
                offset += _bytes(self._steady[slot])
                self._last[stack] = max(self._last[stack], self._last[slot])
        return parts

    def assigned(self) -> Plan:
        """The plan with buffers."""
        buffers: dict[int, Buffer] = {}
        for i, step in enumerate(self._plan.steps):
            for slot in step.outputs:
                layout = self._steady.get(slot)
                if layout is None or slot in buffers:
                    continue
                if slot in self._parts:
                    stack, offset = self._parts[slot]
                    if stack not in buffers and stack not in self._stacks:  # a Padding: its zeros stay
                        self._sizes.append(_bytes(self._steady[stack]))
                        buffers[stack] = self._steady[stack]._replace(block=len(self._sizes) - 1)
                    elif stack not in buffers:
                        buffers[stack] = self._steady[stack]._replace(block=self._block(self._steady[stack]))
                        self._ends.setdefault(self._last[stack], []).append(stack)
                    buffers[slot] = layout._replace(block=buffers[stack].block, offset=offset)
                    continue
                block = self._in_place(i, step, layout, buffers)
                block = self._block(layout, lives_long=self._last[slot] - i > LONG) if block is None else block
                buffers[slot] = layout._replace(block=block)
                self._ends.setdefault(max(self._last[slot], i), []).append(slot)
            self._free += [buffers[slot].block for slot in self._ends.pop(i, ())]
        steps = [step for step in self._plan.steps if self._stacks.isdisjoint(step.outputs)]
        return replace(self._plan, steps=steps, buffers=buffers, blocks=tuple(self._sizes), given=self._given)

    def _in_place(self, index: int, step: Step, layout: Buffer, buffers: dict[int, Buffer]) -> int | None:
        """The block of an input that nothing reads after this step, if the kernel is one elementwise ufunc."""
        function, ending = step.call or getattr(direct_ufunc(step.op), "ufunc", None), self._ends.get(index, [])
        if not isinstance(function, np.ufunc) or function.signature is not None:
            return None
        for slot in step.inputs:
            others = frozenset().union(*[self._holds.get(i, ()) for i in step.inputs if i != slot])
            if slot in ending and slot not in others and buffers[slot][1:] == layout[1:]:
                ending.remove(slot)
                return buffers[slot].block
        return None

    def _block(self, layout: Buffer, *, lives_long: bool = False) -> int:
        need = _bytes(layout)
        most = need + need // 4 if lives_long and need >= RECYCLED else sys.maxsize  # larger ones are for others
        fitting = [b for b in reversed(self._free) if need <= self._sizes[b] <= most]  # the last freed is in the cache
        if fitting:
            block = min(fitting, key=self._sizes.__getitem__)
        elif self._free and most == sys.maxsize:
            block = max(self._free, key=self._sizes.__getitem__)
            self._sizes[block] = need
        else:
            self._sizes.append(need)
            return len(self._sizes) - 1
        self._free.remove(block)
        return block


LONG = 64  # steps that a value lives from which on its block should not be much larger


def _bytes(layout: Buffer) -> int:
    return int(np.prod(layout.shape)) * layout.dtype.itemsize


def _keeps_arguments(step: Step) -> bool:
    """Whether the kernel's inputs may live on after the run: in a variable, in a user's function, in a sub-run.

    Updates of a variable make a new array of their own.
    """
    definition = step.op.definition
    is_update = bool(definition.parameters) and definition.parameters[0].kind is Ref
    return definition.takes_run and (not is_update or step.op.type in ("Assign", "AssignVariableOp"))
